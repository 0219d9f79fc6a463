"""How long to wait before the next attempt to reach the broker.

Two kinds of failure want different patience. A broker that cannot be reached at all (no network yet, no
process yet) costs nobody anything, so it is tried often enough to be found soon after it is back. A broker
that lets us in and throws us out again, for example because two programs use one client id, suffers from
every attempt, so those grow far apart. Only a connection that has held for a while ends the growth: each of
two programs that throw each other out sees its connection accepted every time.
"""

from dataclasses import dataclass

STEADY_S = 60.0
"""A connection that held this long was a good one."""

_FIRST_S = 0.5
_LONGEST_UNREACHABLE_S = 8.0
_LONGEST_REJECTED_S = 40.0
_JITTER = 0.25


@dataclass(slots=True)
class Backoff:
    """The waits between attempts: each twice the last, up to the patience for that kind of failure."""

    failures: int = 0

    def next_s(self, *, reached: bool, held_s: float, random: float) -> float:
        """Seconds to wait after an attempt.

        reached: something answered, even if only to throw us out. held_s: how long the connection held, 0
        when there was none. random: 0 to 1, spreads the attempts of many tables by a quarter either way.
        """
        if held_s >= STEADY_S:
            self.failures = 0
        longest = _LONGEST_REJECTED_S if reached else _LONGEST_UNREACHABLE_S
        wait = min(_FIRST_S * (1 << self.failures), longest)
        # The exponent stops growing where the wait does.
        self.failures = min(self.failures + 1, 10)
        return wait * (1 - _JITTER + 2 * _JITTER * random)
