"""Club Carrom: what differs from New Carrom, beside the numbers of its sheet.

Every foul ends the turn and costs penalty pieces, but own pieces that fell in it stay; an opponent's piece is a
foul and comes back, so a side can never clear the other. Boards score points, and the queen a premium.
"""

from collections.abc import Mapping

from appliance.rules.carrom import SET
from appliance.rules.options import ClubOptions
from appliance.rules.sides import QueenCall, Sheet, Side, Verdict, View, first_at

QUEEN_PREMIUM = 5  # K12, K17


def judge(options: ClubOptions, view: View) -> Verdict:
    """Judge one stroke of the player on turn."""
    fell = view.fell
    flown = (view.jumped if options.jump == "foul" else 0) + (view.striker_jumped and options.striker_jump == "foul")
    foul = view.striker or view.other_fell > 0 or flown > 0  # K18 a, b, d, e
    own_back = fell if foul and options.own_with_foul == "returns" else 0
    kept = fell - own_back
    early = view.queen and not view.owed and not view.entitled and not fell and not foul

    queen: QueenCall = "stays"
    reason = ""
    if view.queen:
        queen, reason = "returned", "foul"
        if view.owed:
            reason = "due_owed"
        elif not foul:
            reason = "too_early"  # K7
            if view.entitled:
                queen = "covered" if fell else "uncovered"  # K9
            elif fell and options.queen_with_first != "return":
                queen = "covered" if options.queen_with_first == "covered" else "uncovered"
    elif view.pending:
        queen, reason = ("covered", "") if fell and not foul else ("returned", "not_covered")  # K9, K10

    # K11, K18c: the last own piece before the queen comes back, and is a foul of its own.
    last = view.own.pocketed + kept == SET and not view.covered and queen != "covered"
    if last:
        own_back += 1
        foul = True
        if queen == "uncovered":
            queen, reason = "returned", "foul"

    dues = [("foul", _penalty(options, view, flown, last))] if foul else []
    if early and options.early_queen == "due":
        dues.append(("early_queen", 1))
    goes_on = (
        (fell > 0 and options.continue_on_own == "yes")
        or queen == "uncovered"
        or (early and options.early_queen == "continue")
    )
    return Verdict(
        queen,
        goes_on and not foul and not (view.queen and view.owed),
        queen_reason=reason,
        own_back=own_back,
        other_back=view.other_fell,  # K18b, K19
        back_reason="foul",
        fouls=_kinds(view, flown, last) if foul else (),
        dues=tuple(dues),
        earns=kept > 0,
    )


def _kinds(view: View, flown: int, last: bool) -> tuple[str, ...]:
    happened = (
        ("striker", view.striker),
        ("opponents_piece", view.other_fell > 0),
        ("jumped", flown > 0),
        ("last_before_queen", last),
    )
    return tuple(kind for kind, true in happened if true)


def _penalty(options: ClubOptions, view: View, flown: int, last: bool) -> int:
    """K19: how many penalty pieces a foul stroke costs."""
    if options.penalty_count == "per_stroke":
        return 1
    if options.penalty_count == "per_kind":
        return len(_kinds(view, flown, last))
    return view.striker + view.other_fell + flown + last


def points(options: ClubOptions, winner: Side, loser: Side, holds_queen: bool) -> int:
    """K15–K17: one for each of the loser's pieces left, and the premium for a winner who covered the queen."""
    premium = holds_queen and (options.queen_limit == "none" or winner.score < options.queen_limit)
    return SET - loser.pocketed + (QUEEN_PREMIUM if premium else 0)


def match_winner(options: ClubOptions, board: int, scores: Mapping[str, int], board_winner: str) -> str | None:
    """K13: the target at the end of a board; with a limit of boards, the higher score after the last."""
    reached = first_at(scores, options.target, board_winner)
    if reached is not None or options.max_boards == "none" or board < options.max_boards:
        return reached
    if scores["A"] == scores["B"]:
        return "draw"
    return "A" if scores["A"] > scores["B"] else "B"


SHEET = Sheet(judge, points, match_winner, jump_to="centre_circle")
