"""Noise: an input that changes so often that nothing it says can be believed.

A loose wire, a floating pin, sunlight or a lamp in the receiver. Over `noisy_over` pulses a second for two seconds,
or three crowds in thirty, put a beam into quarantine; three seconds of quiet let it out. So does a slower flutter
that would pass for one hand after the other, but goes on for ten seconds without a pause of `hand_gap_ns`. Pulses are
counted as the line has them, before any of them is merged. Spikes of less than 1.5 ms are none, and disturb no quiet;
that a beam's passages take longer than this (`min_dwell_ns`) says what falls there, and makes its noise no quieter. An
input that is noisy within five seconds of its first change, since the start or since it was noisy last, has been so all
the while.
"""

from collections import deque
from dataclasses import dataclass, field

from appliance.events import Chatter
from appliance.sensing.crowd import CROWD_WITHIN_NS
from appliance.sensing.debounce import SECOND, STIR_NS, DebounceSettings

PULSES_WITHIN_NS = 2 * SECOND
CROWDS = 3
CROWD_LEAST = 3
"""Four within two seconds are more."""
CROWDS_WITHIN_NS = 30 * SECOND
QUIET_NS = 3 * SECOND
FLUTTER_NS = 10 * SECOND
FLUTTER_PULSES = 20
FRESH_NS = 5 * SECOND
LAMP_HZ = (95, 125)
"""A lamp flickers with twice the mains' 50 or 60 Hz."""


@dataclass(slots=True)
class Noise:
    """How noisy one input is. Feed it every change of the line, in order."""

    settings: DebounceSettings
    passes_one_kind: bool = False
    since_ns: int | None = None
    ended_ns: int = -1
    _active_since_ns: int | None = None
    _pulses_ns: deque[int] = field(default_factory=deque)
    _breaks_ns: deque[int] = field(default_factory=lambda: deque(maxlen=2 * LAMP_HZ[1]))
    _passages_ns: list[int] = field(default_factory=list)
    _crowds_ns: list[tuple[int, int]] = field(default_factory=list)
    _last_ns: int = 0
    _flutter_since_ns: int = 0
    _flutter_pulses: int = 0
    _first_ns: int | None = None

    def edge(self, active: bool, at_ns: int) -> None:
        """The line has changed."""
        self.advance(at_ns)
        if self._first_ns is None:
            self._first_ns = at_ns
        if active:
            self._active_since_ns = at_ns
            self._breaks_ns.append(at_ns)
            return
        since_ns, self._active_since_ns = self._active_since_ns, None
        if since_ns is None or at_ns - since_ns < self._least_ns:
            return
        self._flutter(since_ns, at_ns)
        self._last_ns = at_ns
        pulses = self._pulses_ns
        pulses.append(at_ns)
        while at_ns - pulses[0] >= PULSES_WITHIN_NS:
            pulses.popleft()
        if len(pulses) > self.settings.noisy_over * (PULSES_WITHIN_NS // SECOND):
            self._begin(pulses[0])

    def passage(self, started_ns: int, now_ns: int) -> None:
        """The beam has seen one passage more."""
        passages, most = self._passages_ns, self.settings.crowd
        most = most if self.passes_one_kind else max(most, CROWD_LEAST)
        passages.append(started_ns)
        del passages[: -most - 1]
        if len(passages) <= most or started_ns - passages[0] >= CROWD_WITHIN_NS:
            return
        self._crowds_ns.append((passages[0], started_ns))
        passages.clear()
        self._crowds_ns = [crowd for crowd in self._crowds_ns if started_ns - crowd[0] < CROWDS_WITHIN_NS]
        if len(self._crowds_ns) >= CROWDS:
            self._last_ns = max(self._last_ns, now_ns)
            self._begin(self._crowds_ns[0][0])

    def advance(self, now_ns: int) -> None:
        """Let time pass: a noisy input that has been quiet is believed again. A break that goes on is no quiet yet."""
        if self.since_ns is None:
            return
        if not self.is_noisy_at(now_ns):
            self.since_ns = None
            self.ended_ns = self._last_by(now_ns) + QUIET_NS
            self._first_ns = None
            self._forget_counts()
        else:
            self._last_ns = self._last_by(now_ns)

    def is_noisy_at(self, now_ns: int) -> bool:
        """Whether it is not believed at `now_ns`, up to which time need not have passed yet."""
        if self.since_ns is None:
            return False
        may_be_a_spike = self._disturbs() and now_ns - (self._active_since_ns or 0) < self._least_ns
        return may_be_a_spike or now_ns - self._last_by(now_ns) < QUIET_NS

    def _disturbs(self) -> bool:
        """Whether a break goes on that began before it had been quiet for long enough."""
        return self._active_since_ns is not None and self._active_since_ns < self._last_ns + QUIET_NS

    def _last_by(self, now_ns: int) -> int:
        """When it was last broken for more than a spike."""
        broken_ns = self._active_since_ns
        if broken_ns is None or not self._disturbs() or now_ns - broken_ns < self._least_ns:
            return self._last_ns
        return max(self._last_ns, broken_ns)

    @property
    def quiet_since_ns(self) -> int:
        """When the last break ended that was more than a spike."""
        return self._last_ns

    def resume(self, chatter: Chatter, *, active: bool) -> None:
        """Its changes were kept as a sum: it was noisy all the while; `active`: the last of them broke it."""
        self.since_ns = chatter.noisy_ns if self.since_ns is None else min(self.since_ns, chatter.noisy_ns)
        self._last_ns = max(self._last_ns, chatter.pulse_ns)
        self._flutter_since_ns = chatter.noisy_ns
        self._active_since_ns = chatter.until_ns if active else None

    def forget(self) -> None:
        """What the line does is not known any more."""
        self._active_since_ns = None
        self._forget_counts()

    def covers(self, started_ns: int) -> bool:
        """Whether what began then is not to be believed."""
        return self.since_ns is not None or started_ns < self.ended_ns

    def breaks_in_last_second(self, now_ns: int) -> int:
        """How often the line was broken, however shortly."""
        return sum(now_ns - at_ns < SECOND for at_ns in self._breaks_ns)

    def flickers_like_a_lamp(self, now_ns: int) -> bool:
        """Whether that is as often as lamps flicker."""
        return LAMP_HZ[0] <= self.breaks_in_last_second(now_ns) <= LAMP_HZ[1]

    @property
    def _least_ns(self) -> int:
        """From which length on a pulse is more than a spike."""
        return min(STIR_NS, self.settings.min_dwell_ns)

    def _flutter(self, since_ns: int, at_ns: int) -> None:
        """Count a pulse to those before it, unless there was a pause, or it is long enough to be a block by itself."""
        if since_ns - self._last_ns >= self.settings.hand_gap_ns:
            self._flutter_since_ns, self._flutter_pulses = since_ns, 0
        if at_ns - since_ns >= self.settings.blocked_after_ns:
            self._flutter_since_ns, self._flutter_pulses = at_ns, 0
            return
        self._flutter_pulses += 1
        if self._flutter_pulses >= FLUTTER_PULSES and at_ns - self._flutter_since_ns >= FLUTTER_NS:
            self._begin(self._flutter_since_ns)

    def _begin(self, since_ns: int) -> None:
        if self.since_ns is None:
            fresh = self._first_ns is not None and since_ns - self._first_ns < FRESH_NS
            self.since_ns = self._first_ns if fresh else since_ns

    def _forget_counts(self) -> None:
        self._pulses_ns.clear()
        self._passages_ns.clear()
        self._crowds_ns.clear()
        self._flutter_pulses = 0
