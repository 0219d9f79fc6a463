"""What is worth keeping of a quarantined beam: a sum of its changes, and not each of them.

A loose wire changes a thousand times a second, for days, and not one of its changes counts. Kept one by one they
would push everything else out of the journal that somebody may want to judge again. So they are added up, for a
minute at most (a stretch), and the sum is handed over as it grows: whoever keeps it keeps the newest of each stretch.

A sum is handed over soon all the same, since a board keeps each change until it hears that it is durable: after a
tenth of a second, before much of the board's memory is full, and before anything else of the same source, so that what
is durable of a source has no gap. A pin repeats nothing and waits for no such word: a second will do.
"""

from dataclasses import dataclass, field

from appliance.events import Chatter, Edge
from appliance.sensing.debounce import MS, SECOND
from appliance.sensing.noise import Noise

STRETCH_NS = 60 * SECOND
HELD = 32
"""So many changes of a board at most wait to be handed over; it keeps four times as many."""
HELD_NS = 100 * MS
PINS_HELD_NS = 1 * SECOND


@dataclass(slots=True)
class _Stretch:
    """One that grows. `broken_ns`: when the break began that goes on; `held`: so many changes are not handed over."""

    sum: Chatter
    broken_ns: int | None = None
    held: int = 0
    held_since_ns: int = 0


@dataclass(slots=True)
class Quarantine:
    """The stretches of all quarantined beams."""

    _stretches: dict[tuple[str, int], _Stretch] = field(default_factory=dict)
    _grown_up: list[Chatter] = field(default_factory=list)
    _reached_ns: dict[tuple[str, int], int] = field(default_factory=dict)

    def add(self, edge: Edge, noise: Noise, *, active: bool) -> None:
        """Add a change of a beam that was noisy before and is after it; `active`: it was broken by it."""
        key = edge.source, edge.channel
        stretch = self._stretches.get(key)
        broken_ns = None
        if stretch is not None and edge.at_ns - stretch.sum.at_ns >= STRETCH_NS:
            broken_ns = stretch.broken_ns
            self.end(*key)
            stretch = None
        if stretch is None:
            stretch = self._stretches[key] = _Stretch(self._begun(edge), broken_ns)
        before = stretch.sum
        shortest_ns, longest_ns = before.shortest_ns, before.longest_ns
        if not active and stretch.broken_ns is not None:
            width_ns = edge.at_ns - stretch.broken_ns
            shortest_ns = width_ns if shortest_ns is None else min(shortest_ns, width_ns)
            longest_ns = width_ns if longest_ns is None else max(longest_ns, width_ns)
        stretch.broken_ns = edge.at_ns if active else None
        assert noise.since_ns is not None
        stretch.sum = Chatter(
            edge.source,
            edge.channel,
            edge.level,
            before.at_ns,
            max(before.until_ns, edge.at_ns),
            before.edges + 1,
            shortest_ns,
            longest_ns,
            noise.since_ns,
            noise.quiet_since_ns,
            edge.identity,
        )
        if stretch.held == 0:
            stretch.held_since_ns = edge.at_ns
        stretch.held += 1

    def is_due(self, source: str, now_ns: int, *, pause: bool = False) -> bool:
        """Whether what is held of that source has to be handed over; `pause`: perhaps no change comes any more."""
        mine = [stretch for (name, _), stretch in self._stretches.items() if name == source and stretch.held]
        numbered = [stretch for stretch in mine if stretch.sum.identity is not None]
        return (
            any(each.source == source for each in self._grown_up)
            or any(now_ns - stretch.held_since_ns >= PINS_HELD_NS for stretch in mine)
            or any(pause or now_ns - stretch.held_since_ns >= HELD_NS for stretch in numbered)
            or sum(stretch.held for stretch in numbered) >= HELD
        )

    def take(self, source: str | None = None) -> list[Chatter]:
        """Hand over what is held of a source, or of all of them, in the order in which it came."""
        found = [each for each in self._grown_up if source in (None, each.source)]
        self._grown_up = [each for each in self._grown_up if each not in found]
        for (name, _), stretch in self._stretches.items():
            if source in (None, name) and stretch.held:
                found.append(stretch.sum)
                stretch.held = 0
        return sorted(found, key=lambda each: each.until_ns if each.identity is None else each.identity.sequence)

    def end(self, source: str, channel: int | None = None) -> None:
        """The next change of that channel, or of all of that source, begins a stretch of its own."""
        for key in [key for key in self._stretches if key[0] == source and channel in (None, key[1])]:
            stretch = self._stretches.pop(key)
            self._reached_ns[key] = stretch.sum.until_ns
            if stretch.held:
                self._grown_up.append(stretch.sum)

    def resume(self, chatter: Chatter) -> None:
        """A stretch that was kept before a restart: none that begins now may be taken for it."""
        self._reached_ns[chatter.source, chatter.channel] = chatter.until_ns

    def _begun(self, edge: Edge) -> Chatter:
        """A stretch with nothing in it: no two of a channel begin at the same moment."""
        since_ns = max(edge.at_ns, self._reached_ns.get((edge.source, edge.channel), -1) + 1)
        return Chatter(edge.source, edge.channel, edge.level, since_ns, since_ns, 0, None, None, 0, 0)
