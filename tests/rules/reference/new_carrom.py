"""New Carrom, naively: opponent's pieces stay down and cost the turn, the striker costs pieces."""

from typing import Any

from tests.rules.reference import sides

DEFAULTS: dict[str, Any] = {
    "x.direction": "anticlockwise",
    "x.break_order": "rotate",
    "x.break_tries": 3,
    "x.early_queen": "lose_turn",
    "x.jump": "none",
    "x.striker_jump": "none",
    "nc.own_plus_opp": "lose_turn",
    "nc.queen_with_first": "icf",
    "nc.striker_with_own": "k_plus_one",
    "nc.last_before_queen": "two",
    "nc.match": "one_board",
}


def begin(setup: dict[str, Any]) -> dict[str, Any]:
    return sides.begin(setup, DEFAULTS)


def show(table: dict[str, Any]) -> dict[str, Any]:
    return sides.show(table, "new_carrom")


def observe(table: dict[str, Any], observation: dict[str, Any]) -> str | None:
    return sides.observe(table, observation, stroke)


def stroke(table: dict[str, Any], observation: dict[str, Any]) -> str | None:
    options = table["options"]

    # 1. Contents.
    found = sides.contents(table, observation)
    if found is None:
        return "impossible_count"
    table["break_open"] = False
    table["tries"] = 0
    mine = sides.side_of(table["turn"])
    theirs = sides.other(mine)
    own, opp = found["own"], found["opp"]
    queen_fell, striker_fell = found["queen"] == 1, found["striker"] == 1
    had_right = table["right"][mine]
    owed = table["due"][mine] > 0

    jump_foul = False
    if options["x.jump"] == "foul" and found["jumped_own"] + found["jumped_opp"] + found["jumped_queen"] > 0:
        jump_foul = True
    if options["x.striker_jump"] == "foul" and found["jumped_striker"] > 0:
        jump_foul = True

    # Does this stroke, queen and striker apart, cost the turn?
    lost_by_opponent = opp > 0
    if options["nc.own_plus_opp"] == "continue" and own > 0:
        lost_by_opponent = False

    # 2. The queen.
    early_queen = None
    queen_while_owing = False
    if queen_fell:
        if owed:
            queen_while_owing = True
        elif striker_fell:
            pass
        elif had_right:
            table["queen"] = "covered" if own > 0 else "uncovered"
            table["queen_side"] = mine
        elif own > 0:
            way = options["nc.queen_with_first"]
            if way == "covered" or (way == "icf" and own >= 2):
                table["queen"] = "covered"
                table["queen_side"] = mine
            elif way == "icf":
                table["queen"] = "uncovered"
                table["queen_side"] = mine
        else:
            early_queen = options["x.early_queen"]
    elif table["queen"] == "uncovered" and own > 0 and not striker_fell:
        table["queen"] = "covered"

    # 3. The opponent's last piece loses the board on the spot: all that fell stays down, nothing is owed.
    if opp > 0 and table["pocketed"][theirs] + opp == 9:
        table["pocketed"][mine] += own
        table["pocketed"][theirs] = 9
        win(table, theirs)
        return None

    # 4. What comes back, and what stays down.
    own_stays = own
    if striker_fell and options["nc.striker_with_own"] == "k_plus_one":
        own_stays = 0
    table["pocketed"][mine] += own_stays
    table["pocketed"][theirs] += opp
    if own > 0 and not striker_fell:
        table["right"][mine] = True
    if opp > 0:
        table["right"][theirs] = True

    # 5. New dues, then all dues that can be paid; then all nine down without a covered queen.
    if striker_fell:
        if own > 0 and options["nc.striker_with_own"] == "two":
            table["due"][mine] += 2
        else:
            table["due"][mine] += 1
    if jump_foul:
        table["due"][mine] += 1
    if early_queen == "due":
        table["due"][mine] += 1
    sides.pay_dues(table)
    if table["pocketed"][mine] == 9 and table["queen"] != "covered":
        if options["nc.last_before_queen"] == "lose_board":
            win(table, theirs)
            return None
        table["pocketed"][mine] = 7 if options["nc.last_before_queen"] == "two" else 6

    # 6. The win.
    if table["pocketed"][mine] == 9:
        win(table, mine)
        return None

    # 7. The turn.
    if jump_foul or lost_by_opponent or queen_while_owing:
        again = False
    elif early_queen is not None:
        again = early_queen == "continue"
    elif own > 0:
        again = True
    else:
        again = queen_fell and had_right
    if not again:
        if table["queen"] == "uncovered":
            sides.queen_back(table)
        table["turn"] = sides.next_player(table, table["turn"])
    return None


def win(table: dict[str, Any], winner: str) -> None:
    sides.end_board(table, winner, 1)
    length = table["options"]["nc.match"]
    boards = 1 if length == "one_board" else int(length.removeprefix("best_of_"))
    for side in (winner, sides.other(winner)):
        if table["match_winner"] is None and table["score"][side] > boards / 2:
            table["phase"] = "match_over"
            table["match_winner"] = side
