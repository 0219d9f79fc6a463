"""The combined strokes, cell by cell: what one stroke does in the middle of a board.

A row is a start, the stroke, and what follows in New Carrom and in Club Carrom: own and opponent's pieces
down (own dues as a negative number), the queen (`on`, `un`covered, `mine`, `theirs`), and who is next
(`again`, `pass`, `won`, `lost`). In the stroke `o` is an own piece, `x` an opponent's, `Q` the queen and
`S` the striker; capitals among the jumped ones mean the same.
"""

from typing import Any

import pytest

from tests.rules import reference

# own pieces down, opponent's pieces down, queen, own queen right
MID = (4, 4, "on", True)
NONE_YET = (0, 4, "on", False)
OWING = (-1, 4, "on", True)
COVER = (4, 4, "un", True)
LAST_MINE = (8, 4, "mine", True)
LAST_THEIRS = (8, 4, "theirs", True)
LAST_ON = (8, 4, "on", True)
LAST_COVER = (8, 4, "un", True)
THEIR_LAST_MINE = (4, 8, "mine", True)
THEIR_LAST_ON = (4, 8, "on", True)
THEIR_LAST_COVER = (4, 8, "un", True)
BOTH_MINE = (8, 8, "mine", True)
BOTH_THEIRS = (8, 8, "theirs", True)
BOTH_ON = (8, 8, "on", True)
BOTH_COVER = (8, 8, "un", True)

ROWS: list[tuple[tuple[int, int, str, bool], str, tuple[Any, ...], tuple[Any, ...]]] = [
    (MID, "", (4, 4, "on", "pass"), (4, 4, "on", "pass")),
    (MID, "o", (5, 4, "on", "again"), (5, 4, "on", "again")),
    (MID, "x", (4, 5, "on", "pass"), (3, 4, "on", "pass")),
    (MID, "ox", (5, 5, "on", "pass"), (4, 4, "on", "pass")),
    (MID, "S", (3, 4, "on", "pass"), (3, 4, "on", "pass")),
    (MID, "oS", (3, 4, "on", "again"), (4, 4, "on", "pass")),
    (MID, "ooS", (3, 4, "on", "again"), (5, 4, "on", "pass")),
    (MID, "xS", (3, 5, "on", "pass"), (3, 4, "on", "pass")),
    (MID, "oxS", (3, 5, "on", "pass"), (4, 4, "on", "pass")),
    (MID, "Q", (4, 4, "un", "again"), (4, 4, "un", "again")),
    (MID, "Qo", (5, 4, "mine", "again"), (5, 4, "mine", "again")),
    (MID, "Qx", (4, 5, "on", "pass"), (3, 4, "on", "pass")),
    (MID, "Qox", (5, 5, "mine", "pass"), (4, 4, "on", "pass")),
    (MID, "QS", (3, 4, "on", "again"), (3, 4, "on", "pass")),
    (MID, "QoS", (3, 4, "on", "again"), (4, 4, "on", "pass")),
    (MID, "QxS", (3, 5, "on", "pass"), (3, 4, "on", "pass")),
    (NONE_YET, "Q", (0, 4, "on", "pass"), (0, 4, "on", "pass")),
    (NONE_YET, "Qo", (1, 4, "un", "again"), (1, 4, "on", "again")),
    (NONE_YET, "Qoo", (2, 4, "mine", "again"), (2, 4, "on", "again")),
    (NONE_YET, "Qox", (1, 5, "on", "pass"), (0, 4, "on", "pass")),
    (NONE_YET, "Qoox", (2, 5, "mine", "pass"), (1, 4, "on", "pass")),
    (NONE_YET, "QS", (-1, 4, "on", "pass"), (-1, 4, "on", "pass")),
    (NONE_YET, "QoS", (-1, 4, "on", "again"), (0, 4, "on", "pass")),
    (OWING, "Q", (-1, 4, "on", "pass"), (-1, 4, "on", "pass")),
    (OWING, "Qoo", (1, 4, "on", "pass"), (1, 4, "on", "pass")),
    (OWING, "QooS", (-2, 4, "on", "pass"), (0, 4, "on", "pass")),
    (OWING, "QS", (-2, 4, "on", "pass"), (-2, 4, "on", "pass")),
    (OWING, "o", (0, 4, "on", "again"), (0, 4, "on", "again")),
    (COVER, "o", (5, 4, "mine", "again"), (5, 4, "mine", "again")),
    (COVER, "", (4, 4, "on", "pass"), (4, 4, "on", "pass")),
    (COVER, "x", (4, 5, "on", "pass"), (3, 4, "on", "pass")),
    (COVER, "ox", (5, 5, "mine", "pass"), (4, 4, "on", "pass")),
    (COVER, "S", (3, 4, "on", "pass"), (3, 4, "on", "pass")),
    (COVER, "oS", (3, 4, "un", "again"), (4, 4, "on", "pass")),
    (COVER, "oxS", (3, 5, "on", "pass"), (4, 4, "on", "pass")),
    (LAST_MINE, "o", (9, 4, "mine", "won"), (9, 4, "mine", "won")),
    (LAST_THEIRS, "o", (9, 4, "theirs", "won"), (9, 4, "theirs", "won")),
    (LAST_ON, "oQ", (9, 4, "mine", "won"), (9, 4, "mine", "won")),
    (LAST_ON, "oQx", (9, 5, "mine", "won"), (7, 4, "on", "pass")),
    (LAST_ON, "o", (7, 4, "on", "again"), (7, 4, "on", "pass")),
    (LAST_ON, "ox", (7, 5, "on", "pass"), (7, 4, "on", "pass")),
    (LAST_ON, "oS", (7, 4, "on", "again"), (7, 4, "on", "pass")),
    (LAST_COVER, "o", (9, 4, "mine", "won"), (9, 4, "mine", "won")),
    (LAST_MINE, "ox", (9, 5, "mine", "won"), (8, 4, "mine", "pass")),
    (LAST_MINE, "oS", (7, 4, "mine", "again"), (8, 4, "mine", "pass")),
    (THEIR_LAST_MINE, "x", (4, 9, "mine", "lost"), (3, 8, "mine", "pass")),
    (THEIR_LAST_ON, "x", (4, 9, "on", "lost"), (3, 8, "on", "pass")),
    (THEIR_LAST_ON, "xS", (4, 9, "on", "lost"), (3, 8, "on", "pass")),
    (THEIR_LAST_ON, "Qx", (4, 9, "on", "lost"), (3, 8, "on", "pass")),
    (THEIR_LAST_ON, "Qox", (5, 9, "mine", "lost"), (4, 8, "on", "pass")),
    (THEIR_LAST_COVER, "x", (4, 9, "on", "lost"), (3, 8, "on", "pass")),
    (THEIR_LAST_COVER, "oxS", (5, 9, "on", "lost"), (4, 8, "on", "pass")),
    (BOTH_MINE, "ox", (9, 9, "mine", "lost"), (8, 8, "mine", "pass")),
    (BOTH_THEIRS, "ox", (9, 9, "theirs", "lost"), (8, 8, "theirs", "pass")),
    (BOTH_COVER, "ox", (9, 9, "mine", "lost"), (7, 8, "on", "pass")),
    (BOTH_ON, "oxQ", (9, 9, "mine", "lost"), (7, 8, "on", "pass")),
    (BOTH_ON, "ox", (9, 9, "on", "lost"), (7, 8, "on", "pass")),
    (BOTH_MINE, "oxS", (9, 9, "mine", "lost"), (8, 8, "mine", "pass")),
    (BOTH_THEIRS, "oxS", (9, 9, "theirs", "lost"), (8, 8, "theirs", "pass")),
]


def one_stroke(game: str, start: tuple[int, int, str, bool], pocketed: str) -> tuple[Any, ...]:
    """Play the stroke by player 1, white, and tell what follows in the words of the table."""
    own, opp, queen, right = start
    status, side = {
        "on": ("on_board", None),
        "un": ("uncovered", "A"),
        "mine": ("covered", "A"),
        "theirs": ("covered", "B"),
    }[queen]
    position = {
        "sides": {
            "A": {"pocketed": max(own, 0), "due": max(-own, 0), "score": 0, "queen_right": right},
            "B": {"pocketed": opp, "due": 0, "score": 0},
        },
        "queen": {"status": status, "side": side},
        "turn": {"player": 1},
    }
    names = {"o": "white", "x": "black", "Q": "queen", "S": "striker"}
    stroke = {"type": "stroke", "pocketed": [names[letter] for letter in pocketed]}
    setup = {"type": "setup", "players": 2, "position": position}
    state = reference.play(game, setup, [stroke])[-1]["state"]
    a, b = state["sides"]["A"], state["sides"]["B"]
    told = {"on_board": "on", "uncovered": "un", "covered": "mine"}[state["queen"]["status"]]
    if told == "mine" and state["queen"]["side"] == "B":
        told = "theirs"
    if state["board_result"] is not None:
        following = "won" if state["board_result"]["winner"] == "A" else "lost"
    else:
        following = "again" if state["turn"]["player"] == 1 else "pass"
    assert a["pocketed"] == 0 or a["due"] == 0
    return (a["pocketed"] or -a["due"], b["pocketed"], told, following)


@pytest.mark.parametrize(("start", "pocketed", "new", "club"), ROWS)
def test_cell(start: tuple[int, int, str, bool], pocketed: str, new: tuple[Any, ...], club: tuple[Any, ...]) -> None:
    assert one_stroke("new_carrom", start, pocketed) == new
    assert one_stroke("club_carrom", start, pocketed) == club
