"""New Carrom: what differs from Club, beside the numbers of its sheet.

Harsh on the opponent's last piece, mild on everything else: a striker with a piece keeps the turn, a queen
with the first pieces counts, and an opponent's piece costs nothing but the turn.
"""

from collections.abc import Mapping

from appliance.rules.carrom import SET
from appliance.rules.options import NewOptions
from appliance.rules.sides import QueenCall, Sheet, Side, Verdict, View, first_at

# N13: how many pieces come up when the last one goes down before the queen; None: the board is lost.
_LAST_BEFORE_QUEEN = {"two": 2, "last_plus_two": 3, "lose_board": None}


def judge(options: NewOptions, view: View) -> Verdict:
    """Judge one stroke of the player on turn."""
    fell, striker, owed = view.fell, view.striker, view.owed
    flown = (options.jump == "foul" and view.jumped > 0) or (options.striker_jump == "foul" and view.striker_jumped)
    # N12: an opponent's piece costs the turn.
    lost = flown or (view.other_fell > 0 and not (options.own_plus_opp == "continue" and fell > 0))
    again = fell > 0  # N3, and N7 where the striker fell too

    dues: list[tuple[str, int]] = []
    fouls: list[str] = []
    own_back = 0
    if striker:
        # N7: one piece; with own pieces they come up too (or, as agreed, just two do). N8: or it is owed.
        fouls.append("striker")
        if fell and options.striker_with_own == "two":
            dues.append(("striker", 2))
        else:
            own_back = fell
            dues.append(("striker", 1))
    if flown:
        fouls.append("jumped")
        dues.append(("jumped", 1))

    queen: QueenCall = "stays"
    reason = ""
    if view.queen:
        queen, reason = "returned", "foul"
        if owed:
            reason, lost = "due_owed", True
        elif striker:
            again = again or view.entitled  # N7: she is a piece that fell with the striker
        elif view.entitled:
            queen, again = ("covered" if fell else "uncovered"), True  # N6, N9
        elif fell:
            queen, reason = _with_first(options, fell), "too_early"
        else:
            reason = "too_early"  # N6: no right yet
            again = options.early_queen == "continue"
            if options.early_queen == "due":
                dues.append(("early_queen", 1))
    elif view.pending and not (striker and fell):
        queen, reason = ("covered", "") if fell else ("returned", "not_covered")  # N6

    again = again and not lost
    if not again and (queen == "uncovered" or (queen == "stays" and view.pending)):
        queen, reason = "returned", "turn_lost"
    return Verdict(
        queen,
        again,
        queen_reason=reason,
        own_back=own_back,
        back_reason="striker",
        fouls=tuple(fouls),
        dues=tuple(dues),
        earns=fell > 0 and not striker,
        other_earns=view.other_fell > 0,
        loses_board=view.other_fell > 0 and view.other.pocketed + view.other_fell == SET,  # N12
        if_last=_LAST_BEFORE_QUEEN[options.last_before_queen],
    )


def _with_first(options: NewOptions, fell: int) -> QueenCall:
    """The queen fell with the side's first own pieces (N6 with N9)."""
    if options.queen_with_first == "icf":
        return "covered" if fell > 1 else "uncovered"
    return "covered" if options.queen_with_first == "covered" else "returned"


def points(options: NewOptions, winner: Side, loser: Side, holds_queen: bool) -> int:
    """A board counts one: the sheet has no points."""
    return 1


def match_winner(options: NewOptions, board: int, scores: Mapping[str, int], board_winner: str) -> str | None:
    """More than half of the boards win the match."""
    boards = 1 if options.match == "one_board" else int(options.match.removeprefix("best_of_"))
    return first_at(scores, boards // 2 + 1, board_winner)


SHEET = Sheet(judge, points, match_winner, jump_to="centre")
