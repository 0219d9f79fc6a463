"""Polarity, guessed: a beam that is broken all the time, but for clear moments as short as a passage.

That is what an intact beam looks like whose `blocked_level` is the wrong one.
"""

from dataclasses import dataclass

from appliance.sensing.debounce import SECOND, DebounceSettings

RESTS_NS = 1 * SECOND
INVERTED_PASSAGES = 3


@dataclass(slots=True)
class Polarity:
    """What one line does most of the time. Stretches too short for a passage are taken for nothing."""

    settings: DebounceSettings
    _level: bool | None = None  # of the stretch that is believed
    _since_ns: int = 0
    _raw_since_ns: int = 0
    _broken_ns: int = 0
    _inverted: int = 0

    def edge(self, active: bool, at_ns: int) -> None:
        """The line has changed to `active`."""
        before, since_ns, self._raw_since_ns = not active, self._raw_since_ns, at_ns
        if at_ns - since_ns < self.settings.min_dwell_ns or before == self._level:
            return
        if self._level is not None:
            self._ended(self._level, since_ns - self._since_ns)
        self._level, self._since_ns = before, since_ns

    @property
    def is_suspect(self) -> bool:
        """Whether there were several passages upside down."""
        return self._inverted >= INVERTED_PASSAGES

    def _ended(self, active: bool, stretch_ns: int) -> None:
        if active:
            self._broken_ns = stretch_ns
        elif stretch_ns >= RESTS_NS:
            self._inverted = 0
        elif stretch_ns < self.settings.hand_from_ns and self._broken_ns >= RESTS_NS:
            self._inverted += 1
