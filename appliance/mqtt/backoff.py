"""How long to wait before the next attempt to reach the broker.

Two kinds of failure want different patience. A broker that cannot be reached at all (no network yet, no
process yet) costs nobody anything, so it is tried often enough that a score is right again within three
seconds of its return, be it gone for a moment or for a night. A broker that lets us in and throws us out
again, for example because two programs use one client id, suffers from every attempt, so those grow far
apart. Only time on a connection takes that growth back, step by step: each of two programs that throw each
other out sees its connection accepted every time, and a broker that somebody sets up, and starts anew every
half minute, must not lose us for longer each time. The two kinds are counted apart, so that a long absence
does not make the first hiccup after it a long wait.
"""

from dataclasses import dataclass

STEADY_S = 60.0
"""A connection that held this long was a good one, and so was every attempt before it."""

_STEP_S = 22.0
"""Time on a connection that takes one rejection back: as short as lets thirty attempts into ten minutes, no more."""
_FIRST_S = 0.5
_LONGEST_UNREACHABLE_S = 2.0
_LONGEST_REJECTED_S = 40.0
_JITTER = 0.25
_MOST_DOUBLINGS = 7


@dataclass(slots=True)
class Backoff:
    """The waits between attempts: each twice the last, up to the patience for that kind of failure."""

    absences: int = 0
    rejections: float = 0.0

    def next_s(self, *, reached: bool, held_s: float, random: float) -> float:
        """Seconds to wait after an attempt.

        reached: something answered, even if only to throw us out. held_s: how long the connection held, 0
        when there was none. random: 0 to 1, spreads the attempts of many tables by a quarter either way.
        """
        steps = self.rejections if held_s >= STEADY_S else held_s / _STEP_S
        self.rejections = max(0.0, self.rejections - steps)
        if reached:
            wait = min(_FIRST_S * 2**self.rejections, _LONGEST_REJECTED_S)
            self.rejections = min(self.rejections + 1, _MOST_DOUBLINGS)
            self.absences = 0
        else:
            wait = min(_FIRST_S * 2**self.absences, _LONGEST_UNREACHABLE_S)
            self.absences = min(self.absences + 1, _MOST_DOUBLINGS)
        return wait * (1 - _JITTER + 2 * _JITTER * random)
