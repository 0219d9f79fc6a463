"""Match point: which sides would win the match by winning the board that has just been set up.

Whatever the board's size: with the fewest points that a won board can bring, which is one in both sheets of
two sides. A match of a single board begins there, so nobody has come to that point and nothing is said; Money
and Carpetball have no match of several boards.
"""

from collections.abc import Mapping

from appliance.rules import GameState, club, new_carrom
from appliance.rules.options import ClubOptions
from appliance.rules.sides import SidesState

LEAST_POINTS = 1


def sides_at_match_point(state: GameState) -> tuple[str, ...]:
    """The sides ("A", "B") that any won board would make the winner; asked at the start of a board."""
    if not isinstance(state, SidesState):
        return ()
    scores = {"A": state.a.score, "B": state.b.score}
    return tuple(side for side in scores if _winner(state, {**scores, side: scores[side] + LEAST_POINTS}, side) == side)


def _winner(state: SidesState, scores: Mapping[str, int], board_winner: str) -> str | None:
    if isinstance(state.options, ClubOptions):
        return club.match_winner(state.options, state.board, scores, board_winner)
    return new_carrom.match_winner(state.options, state.board, scores, board_winner)
