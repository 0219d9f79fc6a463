"""From edges to pulses of one beam: asymmetric, exact, and never ahead of the line.

A break is believed once the line has stayed broken for `min_dwell_ns` without a gap; a shorter stretch is a
glitch and only counted. A believed pulse ends when the line has been clear for `min_clear_ns`; shorter gaps
belong to it. Pulses closer than `merge_gap_ns` are one passage (a disc that bounces on the rim). What would be
a passage of `blocked_after_ns` or more is a fault and no passage, whether the beam is dark all the while or
flutters; the beam is back in service after it was clear for `min_clear_ns` and then quiet for
`QUIET_BEFORE_SERVICE_NS`. Glitches disturb no quiet. `Blocked` and `InService` alternate strictly.

A passage is handed over at its clearing edge, at once, and again with a longer dwell where a later edge shows
that it had not ended: show early, judge late. All times come with the edges; nothing here reads a clock, and
late delivery gives the same answer. The numbers are those of the sensing policy; they are settings of a beam.
"""

from dataclasses import dataclass, field, replace
from enum import Enum

MS = 1_000_000
SECOND = 1_000_000_000

NEAR_MISS_NS = 300_000
STIR_NS = 1_500_000
"""Something was in the beam for that long, whatever `min_dwell_ns` says that a passage takes there."""
QUIET_BEFORE_SERVICE_NS = 1 * SECOND


@dataclass(frozen=True, slots=True)
class DebounceSettings:
    """The numbers of one beam; times in nanoseconds.

    The first four are the debouncer's. Those behind them say what a passage is worth: from which width on it may
    be two objects (None: never; `long_single_percent` is a share of the beam's own median), something that did
    not fall (`fingers_from_ns`: with another one beside it; None: no sooner than alone), or a hand; how many
    passages in 2 s are a crowd; and over how many pulses a second is noise.
    """

    min_dwell_ns: int = STIR_NS
    min_clear_ns: int = 3 * MS
    merge_gap_ns: int = 70 * MS
    blocked_after_ns: int = 5 * SECOND
    long_single_ns: int | None = 90 * MS
    long_single_percent: int | None = 170
    unclear_from_ns: int = 150 * MS
    fingers_from_ns: int | None = None
    hand_from_ns: int = 400 * MS
    hand_gap_ns: int = 300 * MS
    crowd: int = 3
    noisy_over: int = 12


CARROM_POCKET = DebounceSettings()
CARPETBALL_PIT = DebounceSettings(
    merge_gap_ns=8 * MS, long_single_ns=None, long_single_percent=None, unclear_from_ns=250 * MS, crowd=6
)
CARPETBALL_CUE = replace(
    CARPETBALL_PIT, merge_gap_ns=250 * MS, unclear_from_ns=2 * SECOND, hand_from_ns=2 * SECOND, crowd=1
)
"""What the one cue ball alone can break: a magnet is felt from afar, for long, and perhaps in pieces."""
STRIKE_SENSOR = DebounceSettings()
BUTTON = DebounceSettings(min_dwell_ns=10 * MS, min_clear_ns=20 * MS, merge_gap_ns=50 * MS)


@dataclass(frozen=True, slots=True)
class Pulses:
    """The widths in a passage of several pulses: the first, and the longest of the later ones."""

    first_ns: int
    later_ns: int


@dataclass(frozen=True, slots=True)
class Passage:
    """One debounced break and clear. `started_ns` identifies it at its beam; a longer `ended_ns` revises it.

    `merged` is there where it is more than one pulse.
    """

    started_ns: int
    ended_ns: int
    pulses: int = 1
    merged: Pulses | None = None

    @property
    def dwell_ns(self) -> int:
        """How long the beam was broken, gaps between merged pulses included."""
        return self.ended_ns - self.started_ns

    @property
    def longest_ns(self) -> int:
        """The width of its longest pulse."""
        return max(self.merged.first_ns, self.merged.later_ns) if self.merged else self.dwell_ns


@dataclass(frozen=True, slots=True)
class Blocked:
    """The beam has been broken for too long since `since_ns`."""

    since_ns: int


@dataclass(frozen=True, slots=True)
class InService:
    """A blocked beam is clear again and counts from `at_ns` on."""

    at_ns: int


Signal = Passage | Blocked | InService


class Condition(Enum):
    """What a beam is worth at the moment."""

    UNKNOWN = "unknown"  # no level has been read yet
    OK = "ok"
    BLOCKED = "blocked"
    SETTLING = "settling"  # clear again after a block, not yet quiet for long enough


_OUT_OF_SERVICE = (Condition.BLOCKED, Condition.SETTLING)


@dataclass(slots=True)
class Counters:
    """What a beam saw and what it did not count; `summed` changes are in the journal as a sum alone."""

    passages: int = 0
    glitches: int = 0
    near_misses: int = 0
    uncounted: int = 0
    summed: int = 0


@dataclass(slots=True)
class Debouncer:
    """The state of one beam. Feed it `edge`s in order and let it `advance`; it answers with signals."""

    settings: DebounceSettings
    counters: Counters = field(default_factory=Counters)
    condition: Condition = Condition.UNKNOWN
    has_been_clear: bool = False
    _known: bool = False  # whether the line's level is known
    _active: bool = False
    _changed_ns: int = 0
    _pulse_started_ns: int | None = None  # the believed or still doubtful pulse that is going on
    _pulse_own_ns: int = 0  # its own beginning, where it has become part of an older passage
    _counts: bool = True  # whether this pulse may become a passage
    _spans: bool = False  # whether a restart lies in it
    _last: Passage | None = None
    _since_ns: int = 0  # of being in service, or out of it
    _clear_since_ns: int = 0

    @property
    def known(self) -> bool:
        """Whether the level is known; if not, the next one has to be taken with `begin`."""
        return self._known

    @property
    def active(self) -> bool:
        """Whether the beam is broken now, as far as the edges told."""
        return self._active

    @property
    def changed_ns(self) -> int:
        """When the line changed last."""
        return self._changed_ns

    @property
    def since_ns(self) -> int:
        """Since when the beam is in service, or out of it."""
        return self._since_ns

    @property
    def breaking_since_ns(self) -> int | None:
        """When the pulse began that is going on and may become a passage."""
        return self._pulse_started_ns if self._active and self._counts else None

    def going_on_ns(self, now_ns: int) -> int | None:
        """When the passage began that is going on at `now_ns` and would end as one; None where it may be a glitch."""
        if self.breaking_since_ns is None or now_ns - self._changed_ns < self.settings.min_dwell_ns:
            return None
        return self._becomes_blocked()[0]

    def void(self) -> int | None:
        """Take the break that is going on for none; since when it was. None: nothing was going on that counted."""
        if self.breaking_since_ns is None:
            return None
        self._counts = False
        return self._changed_ns

    def believe(self) -> None:
        """The break that goes on was voided for nothing: take it for what it is."""
        self._counts = self.condition is Condition.OK

    def span(self) -> None:
        """A restart lies in the break that is going on, if one is: another reading of the clock tells its end.

        The two need not agree to the millisecond, so how long it was is not known; it is no spike.
        """
        self._spans = self._active

    def begin(self, active: bool, at_ns: int) -> list[Signal]:
        """Take the true level silently: a beam that is broken now is a condition, never a passage."""
        self._known = True
        self._active = active
        self._changed_ns = at_ns
        self._last = None
        self._pulse_started_ns = at_ns if active else None
        self._pulse_own_ns = at_ns
        self._counts = self._spans = False
        if active:
            return self._block(at_ns)
        self.has_been_clear = True
        if self.condition in _OUT_OF_SERVICE:
            self._begin_settling(at_ns)
        elif self.condition is Condition.UNKNOWN:
            self.condition = Condition.OK
            self._since_ns = at_ns
        return []

    def forget(self) -> None:
        """What the line does is not known any more: a pulse that is going on is void, the next level begins anew."""
        if self.breaking_since_ns is not None:
            self.counters.uncounted += 1
        self._known = False
        self._active = False

    def resume(self, active: bool, at_ns: int) -> None:
        """Changes of which nothing counted have led here; the last was at `at_ns`. What goes on counts for nothing."""
        if not self._known:
            self.begin(False, at_ns)
        self._active, self._changed_ns, self._last = active, at_ns, None
        self._pulse_started_ns = at_ns if active else None
        self._pulse_own_ns = at_ns
        self._counts = self._spans = False
        self.has_been_clear = True
        if self.condition in _OUT_OF_SERVICE and not active:
            self._begin_settling(at_ns)

    def edge(self, active: bool, at_ns: int) -> list[Signal]:
        """One change of the line. One that changes nothing is ignored; one that goes back in time counts as at once."""
        at_ns = max(at_ns, self._changed_ns + (self.settings.min_dwell_ns if self._spans else 0))
        self._spans = False
        before: list[Signal] = []
        if not self._known:
            # An edge says that the line has changed: until now it was the other way.
            before = self.begin(not active, at_ns)
        signals = before + self.advance(at_ns)
        if active == self._active:
            return signals
        stretch_ns = at_ns - self._changed_ns
        self._active = active
        self._changed_ns = at_ns
        if active:
            if self._pulse_started_ns is None or stretch_ns >= self.settings.min_clear_ns:
                self._pulse_started_ns = self._pulse_own_ns = at_ns
                self._counts = self.condition is Condition.OK
            return signals
        self.has_been_clear = True
        return signals + self._cleared(stretch_ns, at_ns)

    def advance(self, now_ns: int) -> list[Signal]:
        """Let time pass up to `now_ns`: a long break becomes a fault, a quiet beam comes back into service."""
        condition = self.condition_at(now_ns)
        if condition is self.condition:
            return []
        if condition is Condition.BLOCKED:
            return self._block(self._becomes_blocked()[0])
        self.condition, self._since_ns = condition, self._in_service_ns
        return [InService(self._since_ns)]

    def condition_at(self, now_ns: int) -> Condition:
        """What the beam is worth at `now_ns` unless its line changes; time need not have passed up to then yet."""
        if not self._known:
            return self.condition
        if self._active and self.condition is not Condition.BLOCKED and now_ns >= self._becomes_blocked()[1]:
            return Condition.BLOCKED
        if self.condition is Condition.SETTLING and not self._active and now_ns >= self._in_service_ns:
            return Condition.OK
        return self.condition

    @property
    def _in_service_ns(self) -> int:
        return self._clear_since_ns + self.settings.min_clear_ns + QUIET_BEFORE_SERVICE_NS

    def _cleared(self, stretch_ns: int, at_ns: int) -> list[Signal]:
        started_ns = self._pulse_started_ns
        assert started_ns is not None
        if self.condition is Condition.BLOCKED:
            self._pulse_started_ns = None
            self._begin_settling(at_ns)
            return []
        if stretch_ns < self.settings.min_dwell_ns and not self._continues:
            self.counters.glitches += 1
            if stretch_ns >= NEAR_MISS_NS:
                self.counters.near_misses += 1
            # The next stretch stands by itself: spikes do not add up to a break.
            self._pulse_started_ns = None
            return []
        if self.condition is Condition.SETTLING:
            self._clear_since_ns = at_ns
        if not self._counts:
            self.counters.uncounted += 1
            return []
        return [self._passage(started_ns, at_ns)]

    def _passage(self, started_ns: int, ended_ns: int) -> Passage:
        last = self._last
        if last is not None and last.started_ns == started_ns:
            passage = Passage(started_ns, ended_ns, last.pulses, self._with_later(last, ended_ns))
        elif last is not None and started_ns - last.ended_ns < self.settings.merge_gap_ns:
            merged = last.merged or Pulses(last.dwell_ns, 0)
            merged = Pulses(merged.first_ns, max(merged.later_ns, ended_ns - started_ns))
            passage = Passage(last.started_ns, ended_ns, last.pulses + 1, merged)
            self._pulse_started_ns = last.started_ns
        else:
            passage = Passage(started_ns, ended_ns)
            self.counters.passages += 1
        self._last = passage
        return passage

    def _with_later(self, last: Passage, ended_ns: int) -> Pulses | None:
        """The widths of `last`, whose newest pulse has gone on; its first pulse goes on as a whole."""
        if last.merged is None:
            return None
        return Pulses(last.merged.first_ns, max(last.merged.later_ns, ended_ns - self._pulse_own_ns))

    @property
    def _continues(self) -> bool:
        """Whether the pulse has been believed and handed over before."""
        return self._last is not None and self._last.started_ns == self._pulse_started_ns

    def _becomes_blocked(self) -> tuple[int, int]:
        """Since when the beam is broken, and when that is too long: pulses that would merge are one break."""
        started_ns, last = self._pulse_started_ns, self._last
        assert started_ns is not None
        if last is None or started_ns - last.ended_ns >= self.settings.merge_gap_ns:
            return started_ns, started_ns + self.settings.blocked_after_ns
        blocked_ns = last.started_ns + self.settings.blocked_after_ns
        if self._continues:
            return last.started_ns, blocked_ns
        # A glitch does not merge: this stretch has to be believed first.
        return last.started_ns, max(blocked_ns, self._changed_ns + self.settings.min_dwell_ns)

    def _block(self, since_ns: int) -> list[Signal]:
        told = self.condition in _OUT_OF_SERVICE
        self.condition = Condition.BLOCKED
        self._counts = False
        self._last = None
        if told:
            return []
        self._since_ns = since_ns
        return [Blocked(since_ns)]

    def _begin_settling(self, at_ns: int) -> None:
        self.condition = Condition.SETTLING
        self._clear_since_ns = at_ns
