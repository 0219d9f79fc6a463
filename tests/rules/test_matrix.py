"""What one stroke does, every combination: `A` shoots, `o` own, `x` opponent's, `S` striker, `Q` queen.

Each row: pieces down of A and B before, queen and queen right before, the stroke; then pieces down, A's due,
the queen, and who plays on (`again`, `pass`), or who has the board (`won`, `lost`).
"""

import pytest

from tests.support.rules import Document, sides, stroke

ON = ("on_board", None)
OPEN = ("uncovered", "A")
MINE = ("covered", "A")
THEIRS = ("covered", "B")
OBJECTS = {"o": "white", "x": "black", "S": "striker", "Q": "queen"}

Row = tuple[tuple[int, int], tuple[str, str | None], str, str, tuple[int, int, int], tuple[str, str | None], str]

# With the right and owing nothing, unless the fourth column says "none" (no right yet) or "due" (owes one).
NEW: list[Row] = [
    ((3, 4), ON, "", "right", (3, 4, 0), ON, "pass"),
    ((3, 4), ON, "o", "right", (4, 4, 0), ON, "again"),
    ((3, 4), ON, "x", "right", (3, 5, 0), ON, "pass"),
    ((3, 4), ON, "ox", "right", (4, 5, 0), ON, "pass"),
    ((3, 4), ON, "S", "right", (2, 4, 0), ON, "pass"),
    ((3, 4), ON, "oS", "right", (2, 4, 0), ON, "again"),
    ((3, 4), ON, "ooS", "right", (2, 4, 0), ON, "again"),
    ((3, 4), ON, "xS", "right", (2, 5, 0), ON, "pass"),
    ((3, 4), ON, "oxS", "right", (2, 5, 0), ON, "pass"),
    ((3, 4), ON, "Q", "right", (3, 4, 0), OPEN, "again"),
    ((3, 4), ON, "Qo", "right", (4, 4, 0), MINE, "again"),
    ((3, 4), ON, "Qx", "right", (3, 5, 0), ON, "pass"),
    ((3, 4), ON, "Qox", "right", (4, 5, 0), MINE, "pass"),
    ((3, 4), ON, "QS", "right", (2, 4, 0), ON, "again"),
    ((3, 4), ON, "QoS", "right", (2, 4, 0), ON, "again"),
    ((3, 4), ON, "QxS", "right", (2, 5, 0), ON, "pass"),
    ((3, 4), ON, "QoxS", "right", (2, 5, 0), ON, "pass"),
    ((0, 4), ON, "Q", "none", (0, 4, 0), ON, "pass"),
    ((0, 4), ON, "Qx", "none", (0, 5, 0), ON, "pass"),
    ((0, 4), ON, "Qo", "none", (1, 4, 0), OPEN, "again"),
    ((0, 4), ON, "Qoo", "none", (2, 4, 0), MINE, "again"),
    ((0, 4), ON, "Qox", "none", (1, 5, 0), ON, "pass"),
    ((0, 4), ON, "Qoox", "none", (2, 5, 0), MINE, "pass"),
    ((0, 4), ON, "QoS", "none", (0, 4, 1), ON, "again"),
    ((0, 4), ON, "QS", "none", (0, 4, 1), ON, "pass"),
    ((0, 4), ON, "QS", "right", (0, 4, 1), ON, "again"),
    ((0, 4), ON, "Q", "due", (0, 4, 1), ON, "pass"),
    ((0, 4), ON, "Qo", "due", (0, 4, 0), ON, "pass"),
    ((0, 4), ON, "Qooo", "due", (2, 4, 0), ON, "pass"),
    ((0, 4), ON, "QooS", "due", (0, 4, 2), ON, "pass"),
    ((0, 4), ON, "QS", "due", (0, 4, 2), ON, "pass"),
    ((3, 4), OPEN, "o", "right", (4, 4, 0), MINE, "again"),
    ((3, 4), OPEN, "", "right", (3, 4, 0), ON, "pass"),
    ((3, 4), OPEN, "x", "right", (3, 5, 0), ON, "pass"),
    ((3, 4), OPEN, "ox", "right", (4, 5, 0), MINE, "pass"),
    ((3, 4), OPEN, "S", "right", (2, 4, 0), ON, "pass"),
    ((3, 4), OPEN, "oS", "right", (2, 4, 0), OPEN, "again"),
    ((3, 4), OPEN, "oxS", "right", (2, 5, 0), ON, "pass"),
    ((8, 4), MINE, "o", "right", (9, 4, 0), MINE, "won"),
    ((8, 4), THEIRS, "o", "right", (9, 4, 0), THEIRS, "won"),
    ((8, 4), OPEN, "o", "right", (9, 4, 0), MINE, "won"),
    ((8, 4), ON, "Qo", "right", (9, 4, 0), MINE, "won"),
    ((8, 4), ON, "Qox", "right", (9, 5, 0), MINE, "won"),
    ((8, 4), ON, "o", "right", (7, 4, 0), ON, "again"),
    ((8, 4), ON, "ox", "right", (7, 5, 0), ON, "pass"),
    ((8, 4), ON, "oS", "right", (7, 4, 0), ON, "again"),
    ((8, 4), MINE, "ox", "right", (9, 5, 0), MINE, "won"),
    ((8, 4), MINE, "oS", "right", (7, 4, 0), MINE, "again"),
    ((4, 8), MINE, "x", "right", (4, 9, 0), MINE, "lost"),
    ((4, 8), ON, "x", "right", (4, 9, 0), ON, "lost"),
    ((4, 8), ON, "xS", "right", (4, 9, 0), ON, "lost"),
    ((4, 8), ON, "Qox", "right", (5, 9, 0), MINE, "lost"),
    ((4, 8), ON, "QoxS", "right", (5, 9, 0), ON, "lost"),
    ((4, 8), OPEN, "x", "right", (4, 9, 0), ON, "lost"),
    ((4, 8), OPEN, "ox", "right", (5, 9, 0), MINE, "lost"),
    ((8, 8), MINE, "ox", "right", (9, 9, 0), MINE, "lost"),
    ((8, 8), OPEN, "ox", "right", (9, 9, 0), MINE, "lost"),
    ((8, 8), ON, "Qox", "right", (9, 9, 0), MINE, "lost"),
    ((8, 8), ON, "ox", "right", (9, 9, 0), ON, "lost"),
    ((8, 8), MINE, "oxS", "right", (9, 9, 0), MINE, "lost"),
    ((8, 8), THEIRS, "oxS", "right", (9, 9, 0), THEIRS, "lost"),
]

CLUB: list[Row] = [
    ((3, 4), ON, "", "right", (3, 4, 0), ON, "pass"),
    ((3, 4), ON, "o", "right", (4, 4, 0), ON, "again"),
    ((3, 4), ON, "x", "right", (2, 4, 0), ON, "pass"),
    ((3, 4), ON, "ox", "right", (3, 4, 0), ON, "pass"),
    ((3, 4), ON, "S", "right", (2, 4, 0), ON, "pass"),
    ((3, 4), ON, "oS", "right", (3, 4, 0), ON, "pass"),
    ((3, 4), ON, "xxS", "right", (2, 4, 0), ON, "pass"),
    ((3, 4), ON, "oxS", "right", (3, 4, 0), ON, "pass"),
    ((3, 4), ON, "Q", "right", (3, 4, 0), OPEN, "again"),
    ((3, 4), ON, "Qo", "right", (4, 4, 0), MINE, "again"),
    ((3, 4), ON, "Qx", "right", (2, 4, 0), ON, "pass"),
    ((3, 4), ON, "Qox", "right", (3, 4, 0), ON, "pass"),
    ((3, 4), ON, "QS", "right", (2, 4, 0), ON, "pass"),
    ((3, 4), ON, "QoS", "right", (3, 4, 0), ON, "pass"),
    ((3, 4), ON, "QxS", "right", (2, 4, 0), ON, "pass"),
    ((0, 4), ON, "Q", "none", (0, 4, 0), ON, "pass"),
    ((0, 4), ON, "Qo", "none", (1, 4, 0), ON, "again"),
    ((0, 4), ON, "Qoo", "none", (2, 4, 0), ON, "again"),
    ((0, 4), ON, "QS", "none", (0, 4, 1), ON, "pass"),
    ((0, 4), ON, "Q", "due", (0, 4, 1), ON, "pass"),
    ((0, 4), ON, "Qo", "due", (0, 4, 0), ON, "pass"),
    ((0, 4), ON, "QS", "due", (0, 4, 2), ON, "pass"),
    ((3, 4), OPEN, "o", "right", (4, 4, 0), MINE, "again"),
    ((3, 4), OPEN, "", "right", (3, 4, 0), ON, "pass"),
    ((3, 4), OPEN, "x", "right", (2, 4, 0), ON, "pass"),
    ((3, 4), OPEN, "ox", "right", (3, 4, 0), ON, "pass"),
    ((3, 4), OPEN, "S", "right", (2, 4, 0), ON, "pass"),
    ((3, 4), OPEN, "oS", "right", (3, 4, 0), ON, "pass"),
    ((8, 4), MINE, "o", "right", (9, 4, 0), MINE, "won"),
    ((8, 4), THEIRS, "o", "right", (9, 4, 0), THEIRS, "won"),
    ((8, 4), ON, "Qo", "right", (9, 4, 0), MINE, "won"),
    ((8, 4), ON, "o", "right", (7, 4, 0), ON, "pass"),
    ((8, 4), MINE, "ox", "right", (8, 4, 0), MINE, "pass"),
    ((8, 4), MINE, "oS", "right", (8, 4, 0), MINE, "pass"),
    ((4, 8), MINE, "x", "right", (3, 8, 0), MINE, "pass"),
    ((4, 8), ON, "x", "right", (3, 8, 0), ON, "pass"),
    ((4, 8), OPEN, "x", "right", (3, 8, 0), ON, "pass"),
    ((8, 8), MINE, "ox", "right", (8, 8, 0), MINE, "pass"),
    ((8, 8), OPEN, "ox", "right", (7, 8, 0), ON, "pass"),
    ((8, 8), ON, "Qox", "right", (7, 8, 0), ON, "pass"),
    ((8, 8), ON, "ox", "right", (7, 8, 0), ON, "pass"),
    ((8, 8), MINE, "oxS", "right", (8, 8, 0), MINE, "pass"),
    ((8, 8), THEIRS, "oxS", "right", (8, 8, 0), THEIRS, "pass"),
]


def told(state: Document) -> tuple[tuple[int, int, int], tuple[str, str | None], str]:
    a, b = state["sides"]["A"], state["sides"]["B"]
    if state["turn"] is None:
        went = "won" if state["board_result"]["winner"] == "A" else "lost"
    else:
        went = "again" if state["turn"]["player"] == 1 else "pass"
    return (
        (a["pocketed"], b["pocketed"], a["due"]),
        (state["queen"]["status"], state["queen"]["side"]),
        went,
    )


@pytest.mark.parametrize(
    ("game", "row"),
    [*(("new_carrom", row) for row in NEW), *(("club_carrom", row) for row in CLUB)],
    ids=lambda value: value if isinstance(value, str) else f"{value[0]}-{value[1][0]}-{value[2]}-{value[3]}",
)
@pytest.mark.parametrize("colour", ["white", "black"])
def test_cell(game: str, row: Row, colour: str) -> None:
    """Each cell for the breaker's side, and mirrored for the other one."""
    (own, other), (status, holder), letters, standing, *expected = row
    mine = {"pocketed": own, "due": int(standing == "due"), "queen_right": standing != "none"}
    yours = {"pocketed": other, "queen_right": True}
    pocketed = [OBJECTS[letter] for letter in letters]
    if colour == "white":
        state = stroke(sides(game, mine, yours, (status, holder)), *pocketed)
    else:
        swap = {"white": "black", "black": "white", "A": "B", "B": "A", 1: 2, 2: 1}
        queen = (status, swap.get(holder) if holder else None)
        board = sides(game, yours, mine, queen, player=2)
        state = stroke(board, *(swap.get(thing, thing) for thing in pocketed))
        state["sides"] = {"A": state["sides"]["B"], "B": state["sides"]["A"]}
        state["queen"]["side"] = swap.get(state["queen"]["side"])
        if state["turn"] is None:
            state["board_result"]["winner"] = swap[state["board_result"]["winner"]]
        else:
            state["turn"]["player"] = swap[state["turn"]["player"]]
    assert told(state) == tuple(expected)
