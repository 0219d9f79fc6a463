"""Supply dips: all beams of one source change at the same moment, which no falling object does.

When the supply of the emitters or of the board falters, every receiver loses its light within a moment. A beam that
was broken before has nothing to lose, and stands in nobody's way; one that stays intact shows that it is no dip. So
does one that was broken for less than 1.5 ms: lamps flicker in all receivers at once, and a disc that passes meanwhile
begins or ends with one of their spikes.

Where fewer than three break, and no other is intact to bear witness, they may have seen an object each: that is a dip
perhaps.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from appliance.sensing.debounce import MS, STIR_NS

WITHIN_NS = 2 * MS
LONG_BEFORE_NS = 5 * MS
SURE_FROM = 3


@dataclass(slots=True)
class Dips:
    """The newest change of each beam of one source, by channel; `_spikes` are those broken for a moment only."""

    _changed_ns: dict[int, int] = field(default_factory=dict)
    _spikes: set[int] = field(default_factory=set)

    def edge(self, channel: int, at_ns: int, active: Mapping[int, bool]) -> frozenset[int]:
        """A beam has changed; the channels of the dip that this completes, or none. From `SURE_FROM` on it is one;
        of fewer there is no witness.

        `active` holds every serviceable beam of the source, this one included: whether it is broken now.
        """
        before_ns = self._changed_ns.get(channel)
        self._changed_ns[channel] = at_ns
        self._spikes.discard(channel)
        if channel not in active:
            return frozenset()
        if not active[channel] and before_ns is not None and at_ns - before_ns < STIR_NS:
            self._spikes.add(channel)
            return frozenset()
        ago_ns = {each: at_ns - self._changed_ns.get(each, at_ns - LONG_BEFORE_NS) for each in active}
        alike = [each for each in active if active[each] == active[channel] and each not in self._spikes]
        changed = frozenset(each for each in alike if ago_ns[each] <= WITHIN_NS)
        others = [each for each in active if each not in changed]
        none_objects = all(active[each] and ago_ns[each] >= LONG_BEFORE_NS for each in others)
        return changed if len(active) > 1 and none_objects else frozenset()

    def is_spike(self, channel: int) -> bool:
        """Whether the newest break of that beam was one."""
        return channel in self._spikes

    def began_ns(self, channels: frozenset[int]) -> int:
        """When the dip at these channels began."""
        return min(self._changed_ns[channel] for channel in channels)
