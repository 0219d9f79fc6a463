"""Money Carrom, naively: every piece is everybody's target and has a value."""

import copy
from typing import Any

DEFAULTS: dict[str, Any] = {
    "x.direction": "clockwise",
    "x.break_tries": 3,
    "mc.values": [1, 2, 5],
    "mc.striker": "skip_next",
    "mc.striker_with_piece": "keep",
    "mc.end": "all_pieces",
    "mc.tie": "shared",
}


def begin(setup: dict[str, Any]) -> dict[str, Any]:
    players = setup.get("players", 2)
    position = setup.get("position")
    table: dict[str, Any] = {
        "options": {**DEFAULTS, **setup.get("options", {})},
        "phase": "playing",
        "turn": 1,
        "score": dict.fromkeys(range(1, players + 1), 0),
        "missed": dict.fromkeys(range(1, players + 1), 0),
        "on_board": {"white": 9, "black": 9, "queen": 1},
        "winners": [],
        "queen_holder": None,
        "break_open": position is None,
        "tries": 0,
    }
    if position is not None:
        put(table, position)
    return table


def put(table: dict[str, Any], position: dict[str, Any]) -> None:
    """Write the given part of a position onto the table."""
    for place, entry in enumerate(position.get("players", [])):
        number = entry.get("player", place + 1)
        if "score" in entry:
            table["score"][number] = entry["score"]
        if "missed_turns" in entry:
            table["missed"][number] = entry["missed_turns"]
    for thing, count in position.get("on_board", {}).items():
        if thing == "queen" and count != table["on_board"]["queen"]:
            table["queen_holder"] = None
        table["on_board"][thing] = count
    if "turn" in position:
        table["turn"] = position["turn"]["player"]


def show(table: dict[str, Any]) -> dict[str, Any]:
    return {
        "game": "money_carrom",
        "phase": table["phase"],
        "board": 1,
        "turn": None if table["turn"] is None else {"player": table["turn"]},
        "players": [
            {"player": number, "score": table["score"][number], "missed_turns": table["missed"][number]}
            for number in table["score"]
        ],
        "on_board": dict(table["on_board"]),
        "match_winners": list(table["winners"]),
    }


def observe(table: dict[str, Any], observation: dict[str, Any]) -> str | None:
    kind = observation["type"]
    if table["phase"] == "match_over":
        return "wrong_phase"
    if kind == "next_board":
        return "wrong_phase"
    if kind == "no_stroke":
        return None
    if kind == "break_not_made":
        return break_not_made(table)
    if kind == "recount":
        return recount(table, observation)
    if kind == "stroke":
        return stroke(table, observation)
    raise AssertionError(f"Money Carrom has no observation {kind!r}")


def break_not_made(table: dict[str, Any]) -> str | None:
    if not table["break_open"]:
        return "wrong_phase"
    table["tries"] += 1
    if table["tries"] >= table["options"]["x.break_tries"]:
        table["tries"] = 0
        pass_turn(table)
    return None


def recount(table: dict[str, Any], observation: dict[str, Any]) -> str | None:
    for entry in observation.get("players", []):
        if entry.get("player", 1) not in table["score"]:
            return "impossible_count"
    if len(observation.get("players", [])) > len(table["score"]):
        return "impossible_count"
    trial = copy.deepcopy(table)
    put(trial, observation)
    if trial["turn"] not in trial["score"]:
        return "impossible_count"
    most = {"white": 9, "black": 9, "queen": 1}
    for thing, count in trial["on_board"].items():
        if not 0 <= count <= most[thing]:
            return "impossible_count"
    if sum(trial["on_board"].values()) == 0:
        return "impossible_count"
    table.update(trial)
    table["break_open"] = False
    table["tries"] = 0
    return None


def stroke(table: dict[str, Any], observation: dict[str, Any]) -> str | None:
    options = table["options"]
    pocketed = observation.get("pocketed", [])
    jumped = observation.get("jumped", [])

    # Can it be?
    everything = pocketed + jumped
    for thing in ("white", "black", "queen"):
        if everything.count(thing) > table["on_board"][thing]:
            return "impossible_count"
    if everything.count("striker") > 1:
        return "impossible_count"

    player = table["turn"]
    table["break_open"] = False
    table["tries"] = 0
    striker_fell = "striker" in pocketed
    pieces = [thing for thing in pocketed if thing != "striker"]

    # Pieces that come back with the striker count nothing; what jumped is put back and counts nothing.
    if striker_fell and options["mc.striker_with_piece"] == "return":
        pieces = []

    # What counts is kept.
    white_value, black_value, queen_value = options["mc.values"]
    value = {"white": white_value, "black": black_value, "queen": queen_value}
    for thing in pieces:
        table["on_board"][thing] -= 1
        table["score"][player] += value[thing]
        if thing == "queen":
            table["queen_holder"] = player

    # Is the game over?
    over = sum(table["on_board"].values()) == 0
    if options["mc.end"].startswith("first_to_"):
        enough = int(options["mc.end"].removeprefix("first_to_"))
        if table["score"][player] >= enough:
            over = True
    if over:
        finish(table)
        return None

    # Whose turn is it now?
    if striker_fell:
        if options["mc.striker"] == "skip_next":
            table["missed"][player] = 1  # a flag: a second one adds nothing
        pass_turn(table)
    elif not pieces:
        pass_turn(table)
    return None


def pass_turn(table: dict[str, Any]) -> None:
    """To the next player in order; whoever owes a missed turn is passed over and owes it no longer."""
    number = table["turn"]
    while True:
        number = number % len(table["score"]) + 1
        if table["missed"][number] == 0:
            break
        table["missed"][number] -= 1
    table["turn"] = number


def finish(table: dict[str, Any]) -> None:
    best = max(table["score"].values())
    winners = [number for number in table["score"] if table["score"][number] == best]
    if table["options"]["mc.tie"] == "queen_holder" and table["queen_holder"] in winners:
        winners = [table["queen_holder"]]
    table["phase"] = "match_over"
    table["turn"] = None
    table["winners"] = winners
    for number in table["missed"]:
        table["missed"][number] = 0
