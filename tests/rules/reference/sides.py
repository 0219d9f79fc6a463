"""What Club and New Carrom have in common: two sides, a queen, boards that follow each other."""

import copy
from typing import Any


def begin(setup: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    position = setup.get("position")
    table: dict[str, Any] = {
        "options": {**defaults, **setup.get("options", {})},
        "players": setup.get("players", 2),
        "phase": "playing",
        "board": 1,
        "breaker": 1,
        "turn": 1,
        "white_side": "A",
        "pocketed": {"A": 0, "B": 0},
        "due": {"A": 0, "B": 0},
        "score": {"A": 0, "B": 0},
        "right": {"A": False, "B": False},
        "queen": "on_board",
        "queen_side": None,
        "break_open": True,
        "tries": 0,
        "board_result": None,
        "match_winner": None,
    }
    if position is not None:
        table["break_open"] = False
        put(table, position)
        for side in ("A", "B"):
            given = position.get("sides", {}).get(side, {})
            if "queen_right" in given:
                table["right"][side] = given["queen_right"]
            else:
                table["right"][side] = table["pocketed"][side] > 0 or table["queen_side"] == side
    return table


def put(table: dict[str, Any], position: dict[str, Any]) -> None:
    """Write the given part of a position onto the table; the queen right is the caller's business."""
    for side, given in position.get("sides", {}).items():
        for field in ("pocketed", "due", "score"):
            if field in given:
                table[field][side] = given[field]
    if "queen" in position:
        table["queen"] = position["queen"]["status"]
        table["queen_side"] = position["queen"].get("side")
    if "turn" in position:
        table["turn"] = position["turn"]["player"]


def side_of(player: int) -> str:
    return "A" if player % 2 == 1 else "B"


def other(side: str) -> str:
    return "B" if side == "A" else "A"


def show(table: dict[str, Any], game: str) -> dict[str, Any]:
    turn = None
    if table["turn"] is not None:
        must_cover = table["queen"] == "uncovered"
        turn = {"player": table["turn"], "side": side_of(table["turn"]), "must_cover": must_cover}
    sides = {}
    for side in ("A", "B"):
        sides[side] = {
            "colour": "white" if side == table["white_side"] else "black",
            "pocketed": table["pocketed"][side],
            "due": table["due"][side],
            "score": table["score"][side],
        }
    return {
        "game": game,
        "phase": table["phase"],
        "board": table["board"],
        "turn": turn,
        "sides": sides,
        "queen": {"status": table["queen"], "side": table["queen_side"]},
        "board_result": copy.deepcopy(table["board_result"]),
        "match_winner": table["match_winner"],
    }


def observe(table: dict[str, Any], observation: dict[str, Any], stroke: Any) -> str | None:
    kind = observation["type"]
    if kind == "next_board":
        if table["phase"] != "board_over":
            return "wrong_phase"
        return next_board(table)
    if table["phase"] != "playing":
        return "wrong_phase"
    if kind == "no_stroke":
        return None
    if kind == "break_not_made":
        return break_not_made(table)
    if kind == "recount":
        return recount(table, observation)
    if kind == "stroke":
        return stroke(table, observation)
    raise AssertionError(f"no observation {kind!r} in a game of sides")


def next_player(table: dict[str, Any], player: int) -> int:
    return player % table["players"] + 1


def break_not_made(table: dict[str, Any]) -> str | None:
    if not table["break_open"]:
        return "wrong_phase"
    table["tries"] += 1
    if table["tries"] >= table["options"]["x.break_tries"]:
        table["tries"] = 0
        table["turn"] = next_player(table, table["turn"])
    return None


def recount(table: dict[str, Any], observation: dict[str, Any]) -> str | None:
    trial = copy.deepcopy(table)
    put(trial, observation)
    if not 1 <= trial["turn"] <= trial["players"]:
        return "impossible_count"
    for side in ("A", "B"):
        if not 0 <= trial["pocketed"][side] <= 8:
            return "impossible_count"
        if trial["due"][side] > 0 and trial["pocketed"][side] > 0:
            return "impossible_count"
    if trial["queen"] == "uncovered" and trial["queen_side"] != side_of(trial["turn"]):
        return "impossible_count"
    for side in ("A", "B"):
        given = observation.get("sides", {}).get(side, {})
        if "queen_right" in given:
            trial["right"][side] = given["queen_right"]
        if trial["pocketed"][side] > 0 or trial["queen_side"] == side:
            trial["right"][side] = True
    table.update(trial)
    table["break_open"] = False
    table["tries"] = 0
    return None


def next_board(table: dict[str, Any]) -> None:
    order = table["options"]["x.break_order"]
    winner = table["board_result"]["winner"]
    breaker = next_player(table, table["breaker"])
    if order == "winner":
        while side_of(breaker) != winner:
            breaker = next_player(table, breaker)
    if order == "loser":
        while side_of(breaker) == winner:
            breaker = next_player(table, breaker)
    table["board"] += 1
    table["phase"] = "playing"
    table["breaker"] = breaker
    table["turn"] = breaker
    table["white_side"] = side_of(breaker)
    table["pocketed"] = {"A": 0, "B": 0}
    table["due"] = {"A": 0, "B": 0}
    table["right"] = {"A": False, "B": False}
    table["queen"] = "on_board"
    table["queen_side"] = None
    table["break_open"] = True
    table["tries"] = 0
    table["board_result"] = None


def contents(table: dict[str, Any], observation: dict[str, Any]) -> dict[str, int] | None:
    """What the stroke held, seen by the shooter; None where the table does not hold as much."""
    mine = side_of(table["turn"])
    theirs = other(mine)
    my_colour, their_colour = ("white", "black") if table["white_side"] == mine else ("black", "white")
    pocketed = observation.get("pocketed", [])
    jumped = observation.get("jumped", [])
    found = {
        "own": pocketed.count(my_colour),
        "opp": pocketed.count(their_colour),
        "queen": pocketed.count("queen"),
        "striker": pocketed.count("striker"),
        "jumped_own": jumped.count(my_colour),
        "jumped_opp": jumped.count(their_colour),
        "jumped_queen": jumped.count("queen"),
        "jumped_striker": jumped.count("striker"),
    }
    if found["own"] + found["jumped_own"] > 9 - table["pocketed"][mine]:
        return None
    if found["opp"] + found["jumped_opp"] > 9 - table["pocketed"][theirs]:
        return None
    if found["queen"] + found["jumped_queen"] > (1 if table["queen"] == "on_board" else 0):
        return None
    if found["striker"] + found["jumped_striker"] > 1:
        return None
    return found


def queen_back(table: dict[str, Any]) -> None:
    table["queen"] = "on_board"
    table["queen_side"] = None


def pay_dues(table: dict[str, Any]) -> None:
    for side in ("A", "B"):
        paid = min(table["due"][side], table["pocketed"][side])
        table["due"][side] -= paid
        table["pocketed"][side] -= paid


def end_board(table: dict[str, Any], winner: str, points: int) -> None:
    """The board is over: open dues are written off and an uncovered queen goes back."""
    table["turn"] = None
    table["phase"] = "board_over"
    table["due"] = {"A": 0, "B": 0}
    if table["queen"] == "uncovered":
        queen_back(table)
    table["score"][winner] += points
    table["board_result"] = {"winner": winner, "points": points}
