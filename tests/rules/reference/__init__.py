"""A second, naive reading of the rules: plain dictionaries, straight-line steps, no speed.

It shares no line with the product and exists to be compared with it. One file a game holds `begin`
(a set-up to a table), `observe` (one observation, changing the table in place or returning the code of
a refusal) and `show` (the state that everybody sees). What the observations may contain is not checked
here: only well-formed input is ever given.
"""

import copy
from typing import Any

from tests.rules.reference import carpetball, club, money, new_carrom

GAMES: dict[str, Any] = {
    "money_carrom": money,
    "club_carrom": club,
    "new_carrom": new_carrom,
    "carpetball": carpetball,
}


def begin(game: str, setup: dict[str, Any]) -> dict[str, Any]:
    """A match that has just been set up: the table now, and every table before it, for undo."""
    return {"game": game, "now": GAMES[game].begin(setup), "before": []}


def answer(match: dict[str, Any], observation: dict[str, Any] | None = None) -> dict[str, Any]:
    """Apply one observation to the match and tell the state after it; without one, just tell the state."""
    rules = GAMES[match["game"]]
    refused = None
    if observation is None:
        pass
    elif observation["type"] == "undo":
        if match["before"]:
            match["now"] = match["before"].pop()
        else:
            refused = "nothing_to_undo"
    else:
        table = copy.deepcopy(match["now"])
        refused = rules.observe(table, observation)
        if refused is None:
            match["before"].append(match["now"])
            match["now"] = table
    told = {"state": rules.show(match["now"])}
    if refused is not None:
        told["refused"] = {"code": refused}
    return told


def play(game: str, setup: dict[str, Any], observations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The start answer and one answer for each observation: the state and, where refused, the code."""
    match = begin(game, setup)
    return [answer(match, observation) for observation in (None, *observations)]
