"""Carpetball, naively: two ends, balls in play at each, and a final throw for whoever is cleared."""

from typing import Any

DEFAULTS: dict[str, Any] = {
    "cb.max_balls": 5,
    "cb.first_throw": "north",
    "cb.mercy": "both",
    "cb.fly_penalty": "per_throw",
    "cb.self_cleared": "final_throw",
    "cb.standoff_balls": 2,
    "cb.tie_path": "restart",
    "cb.rematch_first": "loser",
}


def other(end: str) -> str:
    return "south" if end == "north" else "north"


def begin(setup: dict[str, Any]) -> dict[str, Any]:
    options = {**DEFAULTS, **setup.get("options", {})}
    table: dict[str, Any] = {
        "options": options,
        "phase": "line_up",
        "round": 1,
        "turn": options["cb.first_throw"],
        "final": False,
        "first": options["cb.first_throw"],
        "cue": options["cb.first_throw"],
        "player": {"north": 1, "south": 2},
        "balls": {"north": None, "south": None},
        "queue": list(range(3, setup.get("players", 2) + 1)),
        "winner": None,
        "standoff": 0,
    }
    position = setup.get("position")
    if position is not None:
        put(table, position)
    return table


def put(table: dict[str, Any], position: dict[str, Any]) -> None:
    """Start in the middle: what the position leaves out is as at the start of a round or a standoff."""
    options = table["options"]
    table["phase"] = position.get("phase", "round" if "ends" in position else "line_up")
    if table["phase"] == "standoff":
        table["standoff"] = 1
    if table["phase"] != "line_up":
        full = options["cb.standoff_balls"] if table["phase"] == "standoff" else options["cb.max_balls"]
        for end in ("north", "south"):
            table["balls"][end] = position.get("ends", {}).get(end, {}).get("in_play", full)
    if "turn" in position:
        table["turn"] = position["turn"]["end"]
        table["final"] = position["turn"].get("final_throw", False)
    elif "first_thrower" in position:
        table["turn"] = position["first_thrower"]
    table["first"] = position.get("first_thrower", table["turn"])
    table["cue"] = table["turn"]


def show(table: dict[str, Any]) -> dict[str, Any]:
    turn = None
    if table["turn"] is not None:
        turn = {"end": table["turn"], "final_throw": table["final"]}
    ends = {}
    for end in ("north", "south"):
        ends[end] = {"player": table["player"][end], "in_play": table["balls"][end]}
    return {
        "game": "carpetball",
        "phase": table["phase"],
        "round": table["round"],
        "turn": turn,
        "ends": ends,
        "queue": list(table["queue"]),
        "round_winner": table["winner"],
    }


def observe(table: dict[str, Any], observation: dict[str, Any]) -> str | None:
    kind = observation["type"]
    if kind == "line_up":
        return line_up(table, observation)
    if kind == "throw":
        return throw(table, observation)
    if kind == "withdraw":
        return withdraw(table, observation)
    if kind == "next_round":
        return next_round(table)
    if kind == "recount":
        return recount(table, observation)
    raise AssertionError(f"Carpetball has no observation {kind!r}")


def line_up(table: dict[str, Any], observation: dict[str, Any]) -> str | None:
    if table["phase"] != "line_up":
        return "wrong_phase"
    for end in ("north", "south"):
        if not 1 <= observation[end] <= table["options"]["cb.max_balls"]:
            return "impossible_count"
    table["phase"] = "round"
    for end in ("north", "south"):
        table["balls"][end] = observation[end]
    return None


def throw(table: dict[str, Any], observation: dict[str, Any]) -> str | None:
    options = table["options"]
    if table["phase"] not in ("round", "standoff"):
        return "wrong_phase"

    # Can it be?
    out = observation.get("out", {})
    off_table = observation.get("off_table", 0)
    for end in ("north", "south"):
        if out.get(end, 0) > table["balls"][end]:
            return "impossible_count"
    if off_table > table["balls"]["north"] + table["balls"]["south"] + 1:
        return "impossible_count"

    thrower = table["turn"]
    receiver = other(thrower)

    # The balls that are out, then the cue ball, which is at the receiver's end now.
    for end in ("north", "south"):
        table["balls"][end] -= out.get(end, 0)
    table["cue"] = receiver

    # The penalty for balls that left the table.
    if off_table > 0:
        if options["cb.fly_penalty"] == "lose_round":
            end_round(table, receiver)
            return None
        wanted = 1 if options["cb.fly_penalty"] == "per_throw" else off_table
        table["balls"][thrower] -= min(wanted, table["balls"][thrower])

    # Who is cleared?
    thrower_empty = table["balls"][thrower] == 0
    receiver_empty = table["balls"][receiver] == 0
    if table["final"]:
        if receiver_empty:
            tie(table)
        else:
            end_round(table, receiver)
    elif thrower_empty and receiver_empty:
        tie(table)
    elif receiver_empty:
        if options["cb.mercy"] == "both":
            mercy = True
        elif options["cb.mercy"] == "challenger_only":
            mercy = receiver == table["first"]
        else:
            mercy = False
        if mercy:
            table["turn"] = receiver
            table["final"] = True
        else:
            end_round(table, thrower)
    elif thrower_empty:
        cleared_itself(table, thrower)
    else:
        table["turn"] = receiver
    return None


def withdraw(table: dict[str, Any], observation: dict[str, Any]) -> str | None:
    if table["phase"] not in ("round", "standoff"):
        return "wrong_phase"
    end, balls = observation["end"], observation["balls"]
    if balls == 0 or balls > table["balls"][end]:
        return "impossible_count"
    table["balls"][end] -= balls
    if table["balls"][end] > 0:
        return None
    if table["final"] and table["options"]["cb.self_cleared"] == "final_throw":
        tie(table)
    else:
        cleared_itself(table, end)
    return None


def cleared_itself(table: dict[str, Any], end: str) -> None:
    if table["options"]["cb.self_cleared"] == "lose":
        end_round(table, other(end))
    else:
        table["turn"] = end
        table["final"] = True


def tie(table: dict[str, Any]) -> None:
    options = table["options"]
    table["final"] = False
    if table["phase"] == "round":
        table["phase"] = "standoff"
        table["standoff"] = 1
        table["balls"] = {"north": options["cb.standoff_balls"], "south": options["cb.standoff_balls"]}
        table["turn"] = table["cue"]
    elif options["cb.tie_path"] == "one_then_restart" and table["standoff"] == 1:
        table["standoff"] = 2
        table["balls"] = {"north": 1, "south": 1}
        table["turn"] = table["cue"]
    else:
        line_up_anew(table)


def line_up_anew(table: dict[str, Any]) -> None:
    table["phase"] = "line_up"
    table["standoff"] = 0
    table["balls"] = {"north": None, "south": None}
    table["turn"] = table["first"]
    table["cue"] = table["first"]
    table["final"] = False


def end_round(table: dict[str, Any], winning_end: str) -> None:
    table["phase"] = "round_over"
    table["turn"] = None
    table["final"] = False
    table["winner"] = table["player"][winning_end]


def next_round(table: dict[str, Any]) -> str | None:
    if table["phase"] != "round_over":
        return "wrong_phase"
    winning_end = "north" if table["player"]["north"] == table["winner"] else "south"
    losing_end = other(winning_end)
    if table["queue"]:
        table["queue"].append(table["player"][losing_end])
        table["player"][losing_end] = table["queue"].pop(0)
        first = losing_end
    elif table["options"]["cb.rematch_first"] == "loser":
        first = losing_end
    elif table["options"]["cb.rematch_first"] == "winner":
        first = winning_end
    else:
        first = other(table["first"])
    table["round"] += 1
    table["first"] = first
    table["winner"] = None
    line_up_anew(table)
    return None


def recount(table: dict[str, Any], observation: dict[str, Any]) -> str | None:
    if table["phase"] not in ("round", "standoff"):
        return "wrong_phase"
    if "turn" in observation and table["final"]:
        return "wrong_phase"
    for end, given in observation.get("ends", {}).items():
        if table["balls"][end] == 0:
            return "impossible_count"
        if not 1 <= given["in_play"] <= table["options"]["cb.max_balls"]:
            return "impossible_count"
    for end, given in observation.get("ends", {}).items():
        table["balls"][end] = given["in_play"]
    if "turn" in observation:
        table["turn"] = observation["turn"]["end"]
        table["cue"] = table["turn"]
    return None
