"""Saying the first of many like things, and of the rest how many they were.

A log on a memory card must not grow as fast as somebody chooses to send nonsense.
"""

from dataclasses import dataclass

PER_MINUTE = 10
_MINUTE_NS = 60_000_000_000


@dataclass(slots=True)
class Sparing:
    """Counts like things, by a monotonic clock."""

    _minute_began_ns: int | None = None
    _said: int = 0
    _unsaid: int = 0

    def unsaid_before(self, now_ns: int) -> int | None:
        """Whether to say the thing that happens now: how many were left unsaid since the last one; None: leave it."""
        if self._minute_began_ns is None or now_ns - self._minute_began_ns >= _MINUTE_NS:
            self._minute_began_ns, self._said = now_ns, 0
        if self._said >= PER_MINUTE:
            self._unsaid += 1
            return None
        self._said += 1
        unsaid, self._unsaid = self._unsaid, 0
        return unsaid
