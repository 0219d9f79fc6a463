"""Club Carrom, naively: every foul returns the fouling piece, costs one and ends the turn."""

from typing import Any

from tests.rules.reference import sides

DEFAULTS: dict[str, Any] = {
    "x.direction": "clockwise",
    "x.break_order": "rotate",
    "x.break_tries": 3,
    "x.early_queen": "lose_turn",
    "x.jump": "foul",
    "x.striker_jump": "foul",
    "cc.target": 29,
    "cc.max_boards": "none",
    "cc.queen_limit": "none",
    "cc.continue_on_own": "yes",
    "cc.own_with_foul": "stays",
    "cc.penalty_count": "per_stroke",
    "cc.queen_with_first": "return",
}


def begin(setup: dict[str, Any]) -> dict[str, Any]:
    return sides.begin(setup, DEFAULTS)


def show(table: dict[str, Any]) -> dict[str, Any]:
    return sides.show(table, "club_carrom")


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
    own, opp = found["own"], found["opp"]
    queen_fell, striker_fell = found["queen"] == 1, found["striker"] == 1
    had_right = table["right"][mine]
    owed = table["due"][mine] > 0

    flown = 0
    if options["x.jump"] == "foul":
        flown += found["jumped_own"] + found["jumped_opp"] + found["jumped_queen"]
    if options["x.striker_jump"] == "foul":
        flown += found["jumped_striker"]
    foul = striker_fell or opp > 0 or flown > 0

    # 2. The queen.
    early_queen = None
    queen_while_owing = False
    if queen_fell:
        if foul:
            pass
        elif owed:
            queen_while_owing = True
        elif had_right:
            table["queen"] = "covered" if own > 0 else "uncovered"
            table["queen_side"] = mine
        elif own > 0:
            if options["cc.queen_with_first"] == "needs_cover":
                table["queen"] = "uncovered"
                table["queen_side"] = mine
            if options["cc.queen_with_first"] == "covered":
                table["queen"] = "covered"
                table["queen_side"] = mine
        else:
            early_queen = options["x.early_queen"]
    elif table["queen"] == "uncovered":
        if own > 0 and not foul:
            table["queen"] = "covered"
        else:
            sides.queen_back(table)

    # 3. Nothing loses a board at once in this game.

    # 4. What comes back: all of the opponent's pieces, own ones by option, and an own last piece that
    #    fell before the queen was covered.
    own_stays = own
    if foul and options["cc.own_with_foul"] == "returns":
        own_stays = 0
    table["pocketed"][mine] += own_stays
    if own_stays > 0:
        table["right"][mine] = True
    own_last_foul = own_stays > 0 and table["pocketed"][mine] == 9 and table["queen"] != "covered"
    if own_last_foul:
        table["pocketed"][mine] -= 1

    # 5. New dues, then all dues that can be paid.
    kinds = [striker_fell, opp > 0, flown > 0, own_last_foul]
    if options["cc.penalty_count"] == "per_stroke":
        table["due"][mine] += 1 if any(kinds) else 0
    if options["cc.penalty_count"] == "per_kind":
        table["due"][mine] += kinds.count(True)
    if options["cc.penalty_count"] == "per_object":
        table["due"][mine] += found["striker"] + opp + flown + (1 if own_last_foul else 0)
    if early_queen == "due":
        table["due"][mine] += 1
    sides.pay_dues(table)

    # 6. The win.
    if table["pocketed"][mine] == 9 and table["queen"] == "covered":
        win(table, mine)
        return None

    # 7. The turn.
    if foul or own_last_foul or queen_while_owing:
        again = False
    elif early_queen is not None:
        again = early_queen == "continue"
    elif table["queen"] == "uncovered":
        again = True
    else:
        again = own > 0 and options["cc.continue_on_own"] == "yes"
    if not again:
        if table["queen"] == "uncovered":
            sides.queen_back(table)
        table["turn"] = sides.next_player(table, table["turn"])
    return None


def win(table: dict[str, Any], winner: str) -> None:
    options = table["options"]
    loser = sides.other(winner)
    points = 9 - table["pocketed"][loser]
    if table["queen_side"] == winner:
        limit = options["cc.queen_limit"]
        if limit == "none" or table["score"][winner] < limit:
            points += 5
    sides.end_board(table, winner, points)
    if table["score"][winner] >= options["cc.target"]:
        table["match_winner"] = winner
    elif table["score"][loser] >= options["cc.target"]:
        table["match_winner"] = loser
    elif options["cc.max_boards"] != "none" and table["board"] >= options["cc.max_boards"]:
        if table["score"]["A"] > table["score"]["B"]:
            table["match_winner"] = "A"
        elif table["score"]["B"] > table["score"]["A"]:
            table["match_winner"] = "B"
        else:
            table["match_winner"] = "draw"
    if table["match_winner"] is not None:
        table["phase"] = "match_over"
