"""What happened, one frozen value each: the facts that `decide` finds and `evolve` folds into the state.

An event carries everything that its folding needs, and nothing else changes a state. Sides are "A" and "B",
ends "north" and "south", players numbers from 1; counts are whole numbers of pieces or balls.
"""

from dataclasses import dataclass, fields
from typing import ClassVar

from appliance.rules.positions import Position, position_document


@dataclass(frozen=True, slots=True)
class Event:
    """One fact of a game."""

    name: ClassVar[str]

    def document(self) -> dict[str, object]:
        """Return the event as a JSON object, its name under `event`."""
        document: dict[str, object] = {"event": self.name}
        for field in fields(self):
            value = getattr(self, field.name)
            document[field.name] = list(value) if isinstance(value, tuple) else value
        return document


# Strokes of the carrom games


@dataclass(frozen=True, slots=True)
class StrokeScored(Event):
    """Pieces fell in a stroke of `player`; some of them may come back by later events of the same stroke."""

    name: ClassVar[str] = "stroke_scored"
    player: int
    white: int
    black: int
    queen: int


@dataclass(frozen=True, slots=True)
class StrokeMissed(Event):
    """No piece fell in a stroke of `player`."""

    name: ClassVar[str] = "stroke_missed"
    player: int


@dataclass(frozen=True, slots=True)
class PieceJumped(Event):
    """A piece left the table and goes back; it was never pocketed."""

    name: ClassVar[str] = "piece_jumped"
    player: int
    object: str
    count: int


@dataclass(frozen=True, slots=True)
class NoStrokeMade(Event):
    """The striker did not leave both lines; the same player goes again (N14)."""

    name: ClassVar[str] = "no_stroke"
    player: int


@dataclass(frozen=True, slots=True)
class BreakMissed(Event):
    """The striker touched nothing on the break: `tries` of `allowed` are used (N14)."""

    name: ClassVar[str] = "break_missed"
    player: int
    tries: int
    allowed: int


@dataclass(frozen=True, slots=True)
class TurnPassed(Event):
    """The turn went from player `previous` to `player`."""

    name: ClassVar[str] = "turn_passed"
    player: int
    previous: int


@dataclass(frozen=True, slots=True)
class Foul(Event):
    """A foul of `player`: what it was (`kinds`) and how many penalty pieces or balls it costs."""

    name: ClassVar[str] = "foul"
    player: int
    kinds: tuple[str, ...]
    penalty: int


@dataclass(frozen=True, slots=True)
class PieceReturned(Event):
    """Pocketed pieces of a colour (or, in Money, the queen) come back onto the board."""

    name: ClassVar[str] = "piece_returned"
    object: str
    count: int
    reason: str


# The queen, dues and boards of Club and New Carrom


@dataclass(frozen=True, slots=True)
class QueenRightEarned(Event):
    """A side may go for the queen from now on, for the rest of the board."""

    name: ClassVar[str] = "queen_right_earned"
    side: str


@dataclass(frozen=True, slots=True)
class QueenPocketed(Event):
    """The queen fell; it is not covered yet."""

    name: ClassVar[str] = "queen_pocketed"
    side: str
    player: int


@dataclass(frozen=True, slots=True)
class QueenCovered(Event):
    """The queen belongs to a side until the board ends."""

    name: ClassVar[str] = "queen_covered"
    side: str
    player: int


@dataclass(frozen=True, slots=True)
class QueenReturned(Event):
    """The queen goes back to the centre spot, free for both sides."""

    name: ClassVar[str] = "queen_returned"
    side: str
    reason: str


@dataclass(frozen=True, slots=True)
class DueOwed(Event):
    """A side owes `count` more pieces."""

    name: ClassVar[str] = "due_owed"
    side: str
    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class DuePaid(Event):
    """A side paid: `count` of its pocketed pieces (of `object`) come back onto the board."""

    name: ClassVar[str] = "due_paid"
    side: str
    object: str
    count: int


@dataclass(frozen=True, slots=True)
class BoardWon(Event):
    """A board is over: who won it, why, and what it counts; dues still open are written off."""

    name: ClassVar[str] = "board_won"
    side: str
    points: int
    reason: str


@dataclass(frozen=True, slots=True)
class BoardStarted(Event):
    """The board is set up again; `player` breaks and is white."""

    name: ClassVar[str] = "board_started"
    board: int
    player: int


@dataclass(frozen=True, slots=True)
class MatchEnded(Event):
    """The match of two sides is over: "A", "B" or "draw"."""

    name: ClassVar[str] = "match_ended"
    winner: str


# Money Carrom


@dataclass(frozen=True, slots=True)
class PointsScored(Event):
    """A player's score grew by `points`."""

    name: ClassVar[str] = "points_scored"
    player: int
    points: int


@dataclass(frozen=True, slots=True)
class TurnForfeited(Event):
    """A player will miss the next turn (M8)."""

    name: ClassVar[str] = "turn_forfeited"
    player: int


@dataclass(frozen=True, slots=True)
class TurnMissed(Event):
    """A player's turn came and was missed (M8)."""

    name: ClassVar[str] = "turn_missed"
    player: int


@dataclass(frozen=True, slots=True)
class GameEnded(Event):
    """The game of Money is over: all the winners, by number."""

    name: ClassVar[str] = "match_ended"
    winners: tuple[int, ...]


# Carpetball


@dataclass(frozen=True, slots=True)
class LinedUp(Event):
    """Both sides have lined up; the round begins."""

    name: ClassVar[str] = "lined_up"
    north: int
    south: int


@dataclass(frozen=True, slots=True)
class ThrowScored(Event):
    """Balls are out after a throw from `end`: so many of the north's and of the south's."""

    name: ClassVar[str] = "stroke_scored"
    player: int
    end: str
    north: int
    south: int
    short: bool


@dataclass(frozen=True, slots=True)
class ThrowMissed(Event):
    """No ball is out after a throw from `end`."""

    name: ClassVar[str] = "stroke_missed"
    player: int
    end: str
    short: bool


@dataclass(frozen=True, slots=True)
class BallsPaid(Event):
    """The thrower pits own balls as the penalty for balls that left the table (CS4)."""

    name: ClassVar[str] = "penalty_paid"
    player: int
    end: str
    balls: int


@dataclass(frozen=True, slots=True)
class BallsWithdrawn(Event):
    """An owner put own balls into the own pit (CS3)."""

    name: ClassVar[str] = "withdrawn"
    player: int
    end: str
    balls: int


@dataclass(frozen=True, slots=True)
class ThrowPassed(Event):
    """The throw goes to `end`."""

    name: ClassVar[str] = "turn_passed"
    player: int
    end: str


@dataclass(frozen=True, slots=True)
class FinalThrow(Event):
    """The side at `end` is cleared and has one more throw (C6); `waived`: the other side's throw falls away."""

    name: ClassVar[str] = "final_throw"
    player: int
    end: str
    waived: bool


@dataclass(frozen=True, slots=True)
class StandoffStarted(Event):
    """Both sides are empty: `balls` each, and `end`, where the cue ball lies, throws first (C8)."""

    name: ClassVar[str] = "standoff"
    player: int
    end: str
    balls: int
    number: int


@dataclass(frozen=True, slots=True)
class RoundRestarted(Event):
    """A standoff was tied: both line up anew, and `end`, which threw first in this round, does so again (C9)."""

    name: ClassVar[str] = "round_restarted"
    player: int
    end: str


@dataclass(frozen=True, slots=True)
class RoundWon(Event):
    """The round is over; `reason` says why."""

    name: ClassVar[str] = "round_won"
    player: int
    end: str
    reason: str


@dataclass(frozen=True, slots=True)
class RoundStarted(Event):
    """The next round may line up; `end` throws first (C11)."""

    name: ClassVar[str] = "round_started"
    round: int
    north: int
    south: int
    queue: tuple[int, ...]
    end: str


# All games


@dataclass(frozen=True, slots=True)
class Recounted(Event):
    """The present board was put right by hand."""

    name: ClassVar[str] = "recounted"
    position: Position

    def document(self) -> dict[str, object]:
        """Return the event with the part of the position that was set."""
        return {"event": self.name, "position": position_document(self.position)}
