"""The numbers that simulated play is drawn from: how long things take, and how often they go wrong.

The clean profile: single discs with well-formed pulses, followers far enough apart to be told from a bounce,
a strike sensor, colours told, nothing faulty. Every number of it stands here. Ranges are drawn evenly.
"""

from dataclasses import dataclass

MS = 1_000  # microseconds
S = 1_000_000

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Timing:
    """How long things take, in microseconds.

    The strokes of a script close as the players mean it only while these hold: a call upon the open stroke
    comes well within the quiet time, a call upon closed ones well after it.
    """

    quiet: int
    settle: Range = (1 * S, 3 * S)  # from the strike until everything rests
    first_fall: int = 300 * MS  # after the strike
    last_fall: int = 3 * S
    gap: int = 150 * MS  # least clear time between two falls at one place
    dwell: Range = (10 * MS, 80 * MS)
    strike_dwell: Range = (5 * MS, 20 * MS)
    aim: Range = (2 * S, 8 * S)  # from rest, or the umpire's call, to the next strike
    call: Range = (1 * S, 3_500 * MS)  # from the last thing the sensors saw to a call upon the open stroke
    after_quiet: Range = (1 * S, 3 * S)  # from the end of the quiet time to a call upon closed strokes
    set_up: Range = (6 * S, 12 * S)  # pieces or balls are placed by hand
    crowd: int = 3  # this many falls at one place may crowd together; one more spreads them over the stroke


@dataclass(frozen=True, slots=True)
class CarromOdds:
    """Chances a stroke. `(a, b)` is the chance at skill 0 and at skill 1."""

    own: tuple[float, float] = (0.26, 0.75)
    another: tuple[float, float] = (0.05, 0.20)  # one more of what was aimed at
    opponents: tuple[float, float] = (0.05, 0.01)
    striker: tuple[float, float] = (0.06, 0.02)
    jumped: tuple[float, float] = (0.025, 0.005)
    queen_early: float = 0.25  # aims at the queen while more than three own pieces are left
    queen_late: float = 0.85  # with two or three left; with one left always
    break_not_made: tuple[float, float] = (0.25, 0.02)
    striker_falls_without_break: float = 0.3
    no_stroke: tuple[float, float] = (0.015, 0.003)
    same_pocket: float = 0.35


@dataclass(frozen=True, slots=True)
class CarpetballOdds:
    """Chances a throw. `(a, b)` is the chance at skill 0 and at skill 1."""

    short: tuple[float, float] = (0.10, 0.01)
    hit: tuple[float, float] = (0.35, 0.80)
    another: float = 0.35
    own_ball: float = 0.04
    off_table: tuple[float, float] = (0.08, 0.02)
    cue_in_far_pit: float = 0.75
    cue_in_own_pit: float = 0.04
    withdraw: float = 0.03
    full_line_up: float = 0.7


CARROM = CarromOdds()
CARPETBALL = CarpetballOdds()
CARROM_TIMING = Timing(quiet=6 * S)
CARPETBALL_TIMING = Timing(quiet=5 * S, crowd=6)


def at_skill(chance: tuple[float, float], skill: float) -> float:
    """The chance of a player of `skill` (0 to 1)."""
    return chance[0] + (chance[1] - chance[0]) * skill
