"""What the three carrom sheets share: the set of pieces, counting a stroke, the break, and the order of play.

Nine white and nine black pieces and one queen (G1). Inside one stroke order does not exist, so a stroke is only
counts. The break has so many tries (N14, the other sheets being silent); a try counts when it is called, costs
nothing, and does not touch the colours. Players are numbered in order of play, so the next one is the next
number; where they sit is `x.direction`'s business and changes nothing here.
"""

from dataclasses import dataclass
from typing import Protocol, TypeVar

from appliance.rules.copying import changed
from appliance.rules.events import BreakMissed, Event, NoStrokeMade, PieceJumped
from appliance.rules.observations import Stroke
from appliance.rules.values import Instruction, Refusal, Ruling, impossible_count, wrong_phase

SET = 9  # pieces of each colour
OVER_MESSAGE = "the match is over; only undo is possible"


class CarromState(Protocol):
    """What every carrom state has; `player` is the one on turn, None once the board is over."""

    @property
    def players(self) -> int:
        """How many play."""

    @property
    def phase(self) -> str:
        """`playing`, `board_over` or `match_over`."""

    @property
    def player(self) -> int | None:
        """The player on turn."""

    @property
    def break_made(self) -> bool:
        """Whether the board's first stroke has been made."""

    @property
    def tries(self) -> int:
        """Failed tries of the player on turn to break."""


S = TypeVar("S", bound=CarromState)


@dataclass(frozen=True, slots=True)
class Tally:
    """A stroke as counts: pocketed, and jumped (`_off`)."""

    white: int
    black: int
    queen: int
    striker: int
    white_off: int = 0
    black_off: int = 0
    queen_off: int = 0
    striker_off: int = 0


def tally(stroke: Stroke) -> Tally:
    """Count what a stroke brought."""
    fell, off = stroke.pocketed, stroke.jumped
    counts = fell.count("white"), fell.count("black"), fell.count("queen"), fell.count("striker")
    if not off:
        return Tally(*counts)
    return Tally(*counts, off.count("white"), off.count("black"), off.count("queen"), off.count("striker"))


def more_than_there_are(counts: Tally, white: int, black: int, queen: int) -> Refusal | None:
    """Refuse a stroke that takes more from the board than these counts; jumped pieces are part of it."""
    for name, taken, there in (
        ("white", counts.white + counts.white_off, white),
        ("black", counts.black + counts.black_off, black),
        ("queen", counts.queen + counts.queen_off, queen),
        ("striker", counts.striker + counts.striker_off, 1),
    ):
        if taken > there:
            return impossible_count(f"{taken} × {name} left the board, but it holds only {there}")
    return None


def jumped(counts: Tally, player: int, placer: int, to: str) -> tuple[list[Event], list[Instruction]]:
    """Report the pieces that left the table, and ask for them back (N10, K19); the striker needs no asking."""
    events: list[Event] = []
    instructions: list[Instruction] = []
    for name, count in (
        ("queen", counts.queen_off),
        ("white", counts.white_off),
        ("black", counts.black_off),
        ("striker", counts.striker_off),
    ):
        if count:
            events.append(PieceJumped(player, name, count))
            if name != "striker":
                place = "centre_spot" if name == "queen" else to
                instructions.append(Instruction("return", name, count, place, placer))
    return events, instructions


def next_player(player: int, players: int) -> int:
    """Return whose turn comes after `player`'s."""
    return player % players + 1


def not_playing(state: CarromState) -> Refusal:
    """Refuse what belongs into play, because the board or the match is over."""
    if state.phase == "match_over":
        return wrong_phase(OVER_MESSAGE)
    return wrong_phase("the board is over; the next one must be set up first")


def no_stroke(state: CarromState) -> Ruling | Refusal:
    """The striker did not leave both lines (N14): the same player goes again, and nothing changes."""
    if state.player is None:
        return not_playing(state)
    return Ruling((NoStrokeMade(state.player),))


def break_not_made(state: CarromState, allowed: int, passing: tuple[Event, ...]) -> Ruling | Refusal:
    """A try to break touched nothing (N14, G3): the last one allowed brings the events `passing` the turn."""
    if state.player is None:
        return not_playing(state)
    if state.break_made:
        return wrong_phase("the break of this board has been made")
    missed = BreakMissed(state.player, state.tries + 1, allowed)
    return Ruling((missed, *passing) if missed.tries >= allowed else (missed,))


def fold_break_missed(state: S, event: BreakMissed) -> S:
    """Count the try; after the last one the count starts anew."""
    return changed(state, tries=0 if event.tries >= event.allowed else event.tries)
