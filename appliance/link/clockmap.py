"""From a board's ticks to the host's monotonic nanoseconds.

A board stamps with a resonator that may be off by half a percent and a 32-bit counter that wraps. Every
message carries the tick at which it was built, and the host notes when it arrived. A late message only says
that the tick was not later than its arrival: so the earliest arrivals are kept, and relaxed slowly enough
that seconds of late messages do no harm. From them half of the shortest round trip is taken off. A message
that echoes what the host sent after the mapped time of its tick proves the mapping wrong.

The rate comes from the lower convex hull of the arrivals in the last half minute: the line under all of
them that runs closest below their middle touches only messages that were not delayed. Corrections are
slewed, at most one percent, so that the length of a pulse across a correction stays true; only a board just
met, or an error that no drift can explain, makes the mapping step. Results never run backwards, and where the
mapping steps back they do not stand still either, or a pulse across the step would shrink to nothing: they go on
nearly as fast as the board's clock, until the mapping is level. Within a tenth of a second they may so come to lie
a little ahead of their message: two edges that a slow wire let go at the same moment have their distance all the same.

Everything is integer arithmetic. `x` is nominal nanoseconds of the board since the first sample, `y` what
has to be added to them to get the host's.
"""

from collections import deque

TICK_BITS = 32
_WRAP = 1 << TICK_BITS
_BILLION = 1_000_000_000

_BACKWARDS_TICKS = 1 << 24
"""A tick up to this far behind the one before it is a counter read that stepped back, not a wrap."""

_MAX_SKEW_PPB = 10_000_000
_HORIZON_NS = 30 * _BILLION
_MIN_SPAN_NS = _BILLION
"""No rate is believed that rests on less."""
_SPREAD_NS = 3_000_000
"""What undelayed messages may differ by: over a span, it is how far the rate may still be off."""
_MIN_LEAK_PPB = 500_000
_SETTLING_NS = 2 * _BILLION
_STEP_NS = 50_000_000
_AHEAD_NS = 100_000_000
"""What follows so soon after the one before keeps its distance from it, even beyond the arrival of its message."""
_MAX_SLEW_PPB = 10_000_000
_SLEWS_PER_S = 5


class ClockMap:
    """Maps the ticks of one boot of a board to host time.

    `tick_hz` is the board's nominal rate; no result is below `floor_ns`, the newest time that was given out
    for an earlier boot.
    """

    def __init__(self, tick_hz: int, *, floor_ns: int = 0) -> None:
        """Begin without any sample."""
        self.floor_ns = floor_ns
        self._floor_x: int | None = None
        self.skew_ppb = 0
        self._tick_hz = tick_hz
        self._newest_tick: int | None = None
        self._newest_received_ns = 0
        self._origin_tick = 0
        self._origin_ns = 0
        self._hull: deque[tuple[int, int]] = deque()
        self._earliest: tuple[int, int] | None = None
        self._round_trip: tuple[int, int] | None = None
        self._out = (0, 0)
        self._slew_ppb = 0

    def extend(self, tick32: int, received_ns: int) -> int:
        """Unwrap the tick of a message that arrived at `received_ns`.

        Messages arrive in the order in which they were built, so a tick lies ahead of the one before it; by
        how many whole wraps more, the host's clock tells. A message has to be more than 50 minutes late (at
        1 MHz) to be misplaced.
        """
        if self._newest_tick is None:
            self._newest_tick = tick32
        else:
            ahead = (tick32 - self._newest_tick) % _WRAP
            if ahead >= _WRAP - _BACKWARDS_TICKS:
                ahead -= _WRAP
            else:
                expected = (received_ns - self._newest_received_ns) * self._tick_hz // _BILLION
                ahead += max(0, (expected - ahead + _WRAP // 4) // _WRAP) * _WRAP
            self._newest_tick += ahead
        self._newest_received_ns = received_ns
        return self._newest_tick

    @staticmethod
    def before(frame_tick: int, tick32: int) -> int:
        """Unwrap the tick of an entry that was stamped before its message was built at `frame_tick`.

        Certain while the entry is younger than one wrap. One that seems to lie ahead is a counter read that
        stepped back; it counts as the message's own tick.
        """
        age = (frame_tick - tick32) % _WRAP
        return frame_tick if age >= _WRAP - _BACKWARDS_TICKS else frame_tick - age

    def sample(self, tick: int, received_ns: int, sent_ns: int | None = None) -> None:
        """Learn from a message built at `tick`; `sent_ns` is when the host sent what it echoes."""
        if not self._hull:
            self._origin_tick, self._origin_ns = tick, received_ns
        x = self._nominal_ns(tick)
        y = received_ns - self._origin_ns - x
        current = self._at(self._out, x, self._slew_ppb)
        leak_ppb = self._leak_ppb
        if self._earliest is None or y <= self._at(self._earliest, x, leak_ppb):
            self._earliest = (x, y)
        if sent_ns is not None:
            if sent_ns - self._origin_ns - x > self._at(self._earliest, x, leak_ppb):
                self._forget(x, y)
            self._learn_round_trip(x, received_ns - sent_ns)
        self._learn_rate(x, y)
        self._steer(x, y, current)

    def to_ns(self, tick: int) -> int:
        """Return the host time of an unwrapped tick; never below an earlier result."""
        x = self._nominal_ns(tick)
        ahead = x - self._out[0]
        rate = self.skew_ppb + (self._slew_ppb if ahead > 0 else 0)
        mapped_ns = self._origin_ns + x + self._out[1] + ahead * rate // _BILLION
        passed = 0 if self._floor_x is None else max(0, x - self._floor_x)
        going_on_ns = self.floor_ns + passed - passed * _MAX_SLEW_PPB // _BILLION
        latest_ns = self._newest_received_ns + (_AHEAD_NS if passed <= _AHEAD_NS else 0)
        self.floor_ns = max(self.floor_ns, mapped_ns, min(going_on_ns, latest_ns))
        self._floor_x = x
        return self.floor_ns

    @property
    def _leak_ppb(self) -> int:
        span_ns = self._hull[-1][0] - self._hull[0][0] if self._hull else 0
        return min(_MAX_SKEW_PPB, max(_MIN_LEAK_PPB, _SPREAD_NS * _BILLION // max(1, span_ns)))

    def _nominal_ns(self, tick: int) -> int:
        return (tick - self._origin_tick) * _BILLION // self._tick_hz

    def _at(self, bound: tuple[int, int], x: int, leak_ppb: int = 0) -> int:
        return bound[1] + (x - bound[0]) * (self.skew_ppb + leak_ppb) // _BILLION

    def _forget(self, x: int, y: int) -> None:
        """Start again from here: the host's clock and the board's have parted by more than drift."""
        self._hull.clear()
        self._earliest = (x, y)
        self.skew_ppb = 0

    def _learn_round_trip(self, x: int, round_trip_ns: int) -> None:
        best = self._round_trip
        if best is None or round_trip_ns <= best[1] + (x - best[0]) * _MIN_LEAK_PPB // _BILLION:
            self._round_trip = (x, round_trip_ns)

    def _learn_rate(self, x: int, y: int) -> None:
        hull = self._hull
        if hull and x <= hull[-1][0]:
            return
        while len(hull) > 1 and _above(hull[-2], hull[-1], (x, y)):
            hull.pop()
        hull.append((x, y))
        while len(hull) > 2 and hull[1][0] < x - _HORIZON_NS:
            hull.popleft()
        if x - hull[0][0] < _MIN_SPAN_NS:
            return
        middle = (hull[0][0] + x) // 2
        right = next(index for index, point in enumerate(hull) if point[0] >= middle)
        (x0, y0), (x1, y1) = hull[max(0, right - 1)], hull[max(1, right)]
        rate_ppb = (y1 - y0) * _BILLION // (x1 - x0)
        # No board runs like that: so soon after the first messages one of the two points is a late one.
        if abs(rate_ppb) <= _MAX_SKEW_PPB:
            self.skew_ppb = rate_ppb

    def _steer(self, x: int, y: int, current: int) -> None:
        """Move the mapping from `current`, its value at `x`, towards the best one, never past `y`."""
        assert self._earliest is not None
        target = self._at(self._earliest, x) - (self._round_trip[1] // 2 if self._round_trip else 0)
        error = target - current
        if x < _SETTLING_NS or abs(error) > _STEP_NS:
            current, error = target, 0
        # An error of n nanoseconds, worked off within a second, is a slew of n parts in a billion.
        self._slew_ppb = max(-_MAX_SLEW_PPB, min(_MAX_SLEW_PPB, error * _SLEWS_PER_S))
        self._out = (x, min(current, y))


def _above(left: tuple[int, int], middle: tuple[int, int], right: tuple[int, int]) -> bool:
    """Whether `middle` lies on or above the line from `left` to `right`."""
    return (middle[1] - left[1]) * (right[0] - left[0]) >= (right[1] - left[1]) * (middle[0] - left[0])
