"""All inputs of one table: which channel is which, and what its debounced line means.

Polarity ends here: below are electrical levels, above a beam is broken or not. The bank is fed with what the
sources deliver, in order, and answers with signals that name beams, strike sensors and buttons. A source that
reboots, starts or lost edges has its levels taken silently, and what was going on there is void; a level that a
heartbeat shows to be otherwise than the last edge said is a lost edge and is made good.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from appliance.events import ColourReading, Edge, EdgesLost, Levels, SourceBack, SourceInput, SourceLost
from appliance.sensing.debounce import (
    Blocked,
    Debouncer,
    DebounceSettings,
    InService,
    Passage,
    Signal,
)


@dataclass(frozen=True, slots=True)
class Beam:
    """A beam over a pocket or pit. `passes` is everything that can break it."""

    id: str
    source: str
    channel: int
    place: str
    passes: tuple[str, ...]
    blocked_level: int
    settings: DebounceSettings


@dataclass(frozen=True, slots=True)
class StrikeSensor:
    """A sensor that feels a stroke begin; `end` is the thrower's end (carpetball), None elsewhere."""

    id: str
    source: str
    channel: int
    end: str | None
    blocked_level: int
    settings: DebounceSettings


@dataclass(frozen=True, slots=True)
class LongPress:
    """What a press of `LONG_PRESS_NS` or more asks for instead."""

    action: str
    fields: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class Button:
    """A button; `action` and `fields` are the request that a press stands for, `long` that of a long one."""

    id: str
    source: str
    channel: int
    action: str
    fields: tuple[tuple[str, object], ...]
    pressed_level: int
    settings: DebounceSettings
    long: LongPress | None = None

    def asks(self, long: bool) -> tuple[str, dict[str, object]]:
        """The command and the fields of the request that a press is."""
        meant = self.long if long and self.long is not None else self
        return meant.action, dict(meant.fields)


Input = Beam | StrikeSensor | Button


@dataclass(frozen=True, slots=True)
class PassageSeen:
    """Something passed a beam (or the passage of that start turned out to be longer)."""

    beam: Beam
    passage: Passage


@dataclass(frozen=True, slots=True)
class ColourSeen:
    """The colour sensor of a beam named an object, for the passage that began at `started_ns`."""

    beam: Beam
    started_ns: int
    object: str


@dataclass(frozen=True, slots=True)
class StrikeSeen:
    """A stroke began."""

    sensor: StrikeSensor
    at_ns: int


@dataclass(frozen=True, slots=True)
class Pressed:
    """A button was pressed at `at_ns` and let go, `long` after it."""

    button: Button
    at_ns: int
    long: bool = False


@dataclass(frozen=True, slots=True)
class InputBlocked:
    """An input has been active for too long: a blocked beam, a stuck button, a cut wire."""

    input: Input
    since_ns: int


@dataclass(frozen=True, slots=True)
class InputWell:
    """A blocked input counts again."""

    input: Input
    at_ns: int


TableSignal = PassageSeen | ColourSeen | StrikeSeen | Pressed | InputBlocked | InputWell

COLOUR_WITHIN_NS = 1_000_000_000
LONG_PRESS_NS = 1_000_000_000


class SensorBank:
    """The debouncers of one table, by source and channel."""

    def __init__(self, inputs: Iterable[Input]) -> None:
        """Take the inputs of the configuration; ids and channels are unique there."""
        self._inputs: dict[tuple[str, int], Input] = {(i.source, i.channel): i for i in inputs}
        self._debouncers = {key: Debouncer(i.settings) for key, i in self._inputs.items()}
        self._newest: dict[tuple[str, int], Passage] = {}
        self._boots: dict[str, int | None] = {}
        self.unknown_channels = 0
        self.unplaced_colours = 0

    @property
    def debouncers(self) -> Mapping[str, tuple[Input, Debouncer]]:
        """Every input with its state, by id."""
        return {i.id: (i, self._debouncers[key]) for key, i in self._inputs.items()}

    def resume(self, source: str, boot_id: int | None) -> None:
        """Go on where a source was before a restart: what it delivered is about to be fed again."""
        self._boots[source] = boot_id

    def breaking_since_ns(self) -> int | None:
        """When the oldest passage that is still going on began; None where every beam is clear or out."""
        going_on = (debouncer.breaking_since_ns for debouncer in self._debouncers.values())
        return min((since_ns for since_ns in going_on if since_ns is not None), default=None)

    def feed(self, item: SourceInput) -> list[TableSignal]:
        """Take one thing that a source delivered; answer with what it means, in order."""
        match item:
            case Edge():
                return self._edge(item)
            case Levels():
                return self._levels(item)
            case ColourReading():
                return self._colour(item)
            case SourceBack():
                if item.boot_id is None or self._boots.get(item.source) != item.boot_id:
                    self._forget(item.source)
                self._boots[item.source] = item.boot_id
            case EdgesLost():
                self._forget(item.source)
            case SourceLost():
                pass
        return []

    def _edge(self, edge: Edge) -> list[TableSignal]:
        key = (edge.source, edge.channel)
        found = self._inputs.get(key)
        if found is None:
            self.unknown_channels += 1
            return []
        return self._meaning(key, self._debouncers[key].edge(_active(found, edge.level), edge.at_ns))

    def _levels(self, levels: Levels) -> list[TableSignal]:
        told = dict(levels.levels)
        signals: list[TableSignal] = []
        for key, found in self._inputs.items():
            source, channel = key
            if source != levels.source:
                continue
            debouncer = self._debouncers[key]
            active = _active(found, told[channel]) if channel in told else debouncer.active
            if channel in told and not debouncer.known:
                signals += self._meaning(key, debouncer.begin(active, levels.at_ns))
            elif active != debouncer.active:
                signals += self._meaning(key, debouncer.edge(active, levels.at_ns))
            else:
                signals += self._meaning(key, debouncer.advance(levels.at_ns))
        return signals

    def _forget(self, source: str) -> None:
        for key, debouncer in self._debouncers.items():
            if key[0] == source:
                debouncer.forget()

    def _colour(self, reading: ColourReading) -> list[TableSignal]:
        key = (reading.source, reading.channel)
        found = self._inputs.get(key)
        newest = self._newest.get(key)
        late = newest is None or reading.at_ns - newest.ended_ns > COLOUR_WITHIN_NS
        if newest is None or late or not isinstance(found, Beam):
            self.unplaced_colours += 1
            return []
        return [ColourSeen(found, newest.started_ns, reading.object)]

    def _meaning(self, key: tuple[str, int], signals: list[Signal]) -> list[TableSignal]:
        named = (self._named(key, self._inputs[key], signal) for signal in signals)
        return [signal for signal in named if signal is not None]

    def _named(self, key: tuple[str, int], found: Input, signal: Signal) -> TableSignal | None:
        match signal:
            case Blocked(since_ns):
                return InputBlocked(found, since_ns)
            case InService(at_ns):
                return InputWell(found, at_ns)
            case Passage():
                newest, self._newest[key] = self._newest.get(key), signal
                if isinstance(found, Beam):
                    return PassageSeen(found, signal)
                if newest is not None and newest.started_ns == signal.started_ns:
                    # Chatter at the release makes a press longer, not two of it.
                    return None
                match found:
                    case StrikeSensor():
                        return StrikeSeen(found, signal.started_ns)
                    case Button():
                        return Pressed(found, signal.started_ns, signal.dwell_ns >= LONG_PRESS_NS)


def _active(found: Input, level: int) -> bool:
    active_level = found.pressed_level if isinstance(found, Button) else found.blocked_level
    return level == active_level
