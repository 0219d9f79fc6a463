"""All inputs of one table: which channel is which, and what its debounced line means.

Polarity ends here: below are electrical levels, above a beam is broken or not. The bank is fed with what the
sources deliver, in order, and answers with signals that name beams, strike sensors and buttons. A source that
reboots, starts or lost edges has its levels taken silently, and what was going on there is void; a level that a
heartbeat shows to be otherwise than the last edge said is a lost edge and is made good.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from appliance.events import (
    Brightness,
    Chatter,
    ColourReading,
    Edge,
    EdgesLost,
    Levels,
    SourceBack,
    SourceInput,
    SourceLost,
)
from appliance.sensing.debounce import NEAR_MISS_NS, Condition, Debouncer, Passage, Signal
from appliance.sensing.dips import LONG_BEFORE_NS, SURE_FROM, Dips
from appliance.sensing.groups import Group
from appliance.sensing.hands import Stretch, is_hand
from appliance.sensing.inputs import Beam, Button, Input, LongPress, StrikeSensor
from appliance.sensing.noise import Noise
from appliance.sensing.polarity import Polarity
from appliance.sensing.signals import (
    ColourSeen,
    InputBlocked,
    InputNoisy,
    InputWell,
    PassageSeen,
    Pressed,
    StrikeSeen,
    TableSignal,
    Uncounted,
)

__all__ = [
    "Beam",
    "Button",
    "ColourSeen",
    "Input",
    "InputBlocked",
    "InputNoisy",
    "InputWell",
    "Line",
    "LongPress",
    "PassageSeen",
    "Pressed",
    "SensorBank",
    "StrikeSeen",
    "StrikeSensor",
    "TableSignal",
    "Uncounted",
]

COLOUR_WITHIN_NS = 1_000_000_000
LONG_PRESS_NS = 1_000_000_000

_OUT = (Condition.BLOCKED, Condition.SETTLING)


@dataclass(slots=True)
class Line:
    """One input with all that watches its line. `dip_from_ns`: the break that is going on is a dip since then, unless
    it lasts for long (`dip_is_doubted`: in the other beams it was a spike). `has_no_witness`: when the newest break
    began, no other beam was intact that would have shown that it is none.
    """

    input: Input
    debouncer: Debouncer = field(init=False)
    noise: Noise = field(init=False)
    polarity: Polarity = field(init=False)
    newest: Passage | None = None
    dip_from_ns: int | None = None
    dip_is_doubted: bool = False
    has_no_witness: bool = False
    _told: str | None = None

    def __post_init__(self) -> None:
        settings = self.input.settings
        self.debouncer = Debouncer(settings)
        self.noise = Noise(settings, isinstance(self.input, Beam) and len(self.input.passes) == 1)
        self.polarity = Polarity(settings)

    @property
    def is_noisy(self) -> bool:
        """Whether nothing that the line says is believed; a button's is debounced, and that is all."""
        return self.noise.since_ns is not None and not isinstance(self.input, Button)

    @property
    def is_serviceable(self) -> bool:
        """Whether what passes is counted."""
        return self.debouncer.condition is Condition.OK and not self.is_noisy

    def is_serviceable_at(self, now_ns: int) -> bool:
        """The same at `now_ns`, up to which time need not have passed here yet."""
        is_noisy = self.is_noisy and self.noise.is_noisy_at(now_ns)
        return self.debouncer.condition_at(now_ns) is Condition.OK and not is_noisy

    @property
    def is_out(self) -> bool:
        """Whether something keeps it from counting; a line that has not been heard yet is not out."""
        return self.is_noisy or self.debouncer.condition in _OUT

    def brief(self, active: bool, at_ns: int) -> Stretch | None:
        """The break that ends now, where it is too short for a passage here and too long for a glitch."""
        since_ns = self.debouncer.changed_ns
        is_one = NEAR_MISS_NS <= at_ns - since_ns < self.input.settings.min_dwell_ns
        return (since_ns, at_ns) if is_one and not active and self.is_serviceable else None

    def edge(self, active: bool, at_ns: int) -> list[Signal]:
        """The line has changed."""
        if not self.debouncer.known or active != self.debouncer.active:
            self.noise.edge(active, at_ns)
            self.polarity.edge(active, at_ns)
            self.has_no_witness &= not active
        return self.debouncer.edge(active, at_ns)

    def advance(self, now_ns: int) -> list[Signal]:
        """Let time pass."""
        self.noise.advance(now_ns)
        return self.debouncer.advance(now_ns)

    def resume(self, chatter: Chatter) -> None:
        """It was noisy all the while."""
        active = _active(self.input, chatter.level)
        self.dip_from_ns, self.dip_is_doubted = None, False
        self.noise.resume(chatter, active=active)
        self.debouncer.resume(active, chatter.until_ns)
        self.debouncer.counters.summed += chatter.edges

    def look_at_dip(self, now_ns: int) -> None:
        """A break that was taken for a dip, and outlasts what the other beams saw of it, is none."""
        if self.dip_is_doubted and self.dip_from_ns is not None and now_ns - self.dip_from_ns >= LONG_BEFORE_NS:
            self.dip_from_ns, self.dip_is_doubted = None, False
            self.debouncer.believe()

    def forget(self) -> None:
        """What the line does is not known any more."""
        self.dip_from_ns, self.dip_is_doubted, self.has_no_witness = None, False, False
        self.noise.forget()
        self.debouncer.forget()

    def news(self) -> list[TableSignal]:
        """What has changed about the line's own being well. Noise goes before a block: it says more."""
        told, self._told = self._told, "noisy" if self.is_noisy else "blocked" if self.is_out else None
        if self._told == told:
            return []
        match self._told:
            case "noisy":
                assert self.noise.since_ns is not None
                return [InputNoisy(self.input, self.noise.since_ns)]
            case "blocked":
                return [InputBlocked(self.input, self.debouncer.since_ns)]
            case _:
                return [InputWell(self.input, max(self.debouncer.since_ns, self.noise.ended_ns))]


class SensorBank:
    """The lines of one table, by source and channel."""

    def __init__(self, inputs: Iterable[Input]) -> None:
        """Take the inputs of the configuration; ids and channels are unique there."""
        self._lines: dict[tuple[str, int], Line] = {(i.source, i.channel): Line(i) for i in inputs}
        self._dips: dict[str, Dips] = {source: Dips() for source, _ in self._lines}
        self._beams: dict[str, list[Line]] = {source: [] for source in self._dips}
        for (source, _), line in self._lines.items():
            if not isinstance(line.input, Button):
                self._beams[source].append(line)
        together: dict[str, Group] = {}
        self._groups: dict[str, Group] = {}
        for line in self._lines.values():
            found = line.input
            if isinstance(found, Beam):
                group = Group()
                self._groups[found.id] = together.setdefault(found.exclusive, group) if found.exclusive else group
                self._groups[found.id].beams.append(found)
        self._boots: dict[str, int | None] = {}
        self.unknown_channels = 0
        self.unplaced_colours = 0

    @property
    def lines(self) -> Mapping[str, Line]:
        """Every line, by the id of its input."""
        return {line.input.id: line for line in self._lines.values()}

    def resume(self, source: str, boot_id: int | None) -> None:
        """Go on where a source was before a restart: what it delivered is about to be fed again."""
        self._boots[source] = boot_id

    def learn(self, beam_id: str, width_ns: int) -> None:
        """A passage of that beam took so long, before a restart."""
        if (group := self._groups.get(beam_id)) is not None:
            group.learn(beam_id, width_ns)

    def resumed(self) -> None:
        """All of that has been fed: what comes now was timed anew."""
        for line in self._lines.values():
            line.debouncer.span()

    def quarantined(self, item: SourceInput) -> Line | None:
        """The line that an edge is of, if nothing that it says is believed."""
        line = self._lines.get((item.source, item.channel)) if isinstance(item, Edge) else None
        return line if line is not None and line.is_noisy else None

    def breaking_since_ns(self) -> int | None:
        """When the oldest passage that is still going on began; None where every beam is clear or out."""
        going_on = (line.debouncer.breaking_since_ns for line in self._lines.values() if not line.is_noisy)
        return min((since_ns for since_ns in going_on if since_ns is not None), default=None)

    def feed(self, item: SourceInput) -> list[TableSignal]:
        """Take one thing that a source delivered; answer with what it means, in order."""
        match item:
            case Edge():
                return self._edge(item)
            case Chatter():
                return self._chatter(item)
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
            case SourceLost() | Brightness():
                pass
        return []

    def _edge(self, edge: Edge) -> list[TableSignal]:
        line = self._lines.get((edge.source, edge.channel))
        if line is None:
            self.unknown_channels += 1
            return []
        active = _active(line.input, edge.level)
        changes = line.debouncer.known and active != line.debouncer.active
        meaning = self._look_for_hand(line, edge.at_ns)
        brief = line.brief(active, edge.at_ns) if changes else None
        if brief is not None and isinstance(line.input, Beam):
            self._groups[line.input.id].brief(line.input, brief)
        signals = line.edge(active, edge.at_ns)
        meaning += self._over(line, edge.at_ns) if changes and not active else []
        meaning += self._take(line, signals, edge.at_ns)
        if changes:
            meaning += self._dipped(line, edge.at_ns)
        return meaning + self._group_news(line, edge.at_ns) + line.news()

    def _chatter(self, chatter: Chatter) -> list[TableSignal]:
        line = self._lines.get((chatter.source, chatter.channel))
        if line is None or isinstance(line.input, Button):
            self.unknown_channels += chatter.edges
            return []
        line.resume(chatter)
        return self._meaning(line, [], chatter.at_ns)

    def _over(self, line: Line, at_ns: int) -> list[TableSignal]:
        """A break that was a dip of the supply has ended: nothing passed, and that is told."""
        since_ns, line.dip_from_ns, line.dip_is_doubted = line.dip_from_ns, None, False
        found = line.input
        if since_ns is None or not isinstance(found, Beam) or at_ns - since_ns < found.settings.min_dwell_ns:
            return []
        return [PassageSeen(found, Passage(since_ns, at_ns), reason=Uncounted.DIP)]

    def _dipped(self, line: Line, at_ns: int) -> list[TableSignal]:
        """Void what turns out to be a dip of the supply: breaks that go on, and passages that have just ended. Breaks
        that begin where too few beams are left to tell go without a witness.
        """
        source = line.input.source
        beams = {each.input.channel: each for each in self._beams[source] if each.is_serviceable_at(at_ns)}
        dips = self._dips[source]
        channels = dips.edge(line.input.channel, at_ns, {c: each.debouncer.active for c, each in beams.items()})
        if dips.is_spike(line.input.channel):
            self._doubt_dip(beams.values())
            return []
        is_sure = len(channels) >= SURE_FROM
        changed = [beams[channel] for channel in sorted(channels)]
        if len({_place(each.input) for each in (changed if is_sure else beams.values())}) < 2:
            # Beams side by side may well see one object at the same moment.
            return []
        news: list[TableSignal] = []
        for each in changed:
            if each.debouncer.active:
                each.has_no_witness = not is_sure
                if is_sure:
                    each.dip_from_ns = each.debouncer.void() or each.dip_from_ns
            elif is_sure and isinstance(each.input, Beam):
                group = self._groups[each.input.id]
                group.void(each.input, (dips.began_ns(channels), at_ns), Uncounted.DIP)
                news += self._group_news(each, at_ns)
        return news

    def _doubt_dip(self, beams: Collection[Line]) -> None:
        """One beam was broken for a moment only: where too few others go on, they are no dip perhaps. It was intact
        before and is again, and bears witness.
        """
        for line in beams:
            line.has_no_witness = False
        going_on = [line for line in beams if line.dip_from_ns is not None and line.debouncer.active]
        if len(going_on) < SURE_FROM:
            for line in going_on:
                line.dip_is_doubted = True

    def _levels(self, levels: Levels) -> list[TableSignal]:
        told = dict(levels.levels)
        signals: list[TableSignal] = []
        for (source, channel), line in self._lines.items():
            if source != levels.source:
                continue
            debouncer = line.debouncer
            active = _active(line.input, told[channel]) if channel in told else debouncer.active
            if channel in told and not debouncer.known:
                followed = debouncer.begin(active, levels.at_ns)
            elif active != debouncer.active:
                signals += self._look_for_hand(line, levels.at_ns)
                followed = line.edge(active, levels.at_ns)
            else:
                signals += self._look_for_hand(line, levels.at_ns)
                followed = line.advance(levels.at_ns)
            signals += self._meaning(line, followed, levels.at_ns)
        return signals

    def _forget(self, source: str) -> None:
        for line in self._lines.values():
            if line.input.source == source:
                line.forget()

    def _colour(self, reading: ColourReading) -> list[TableSignal]:
        line = self._lines.get((reading.source, reading.channel))
        newest = line.newest if line is not None else None
        if line is not None and isinstance(line.input, Beam) and newest is not None:
            group = self._groups[line.input.id]
            told = group.told_as(line.input, newest.started_ns)
            if told is not None and reading.at_ns - newest.ended_ns <= COLOUR_WITHIN_NS:
                return [ColourSeen(*told, reading.object, group.is_twice(line.input))]
        self.unplaced_colours += 1
        return []

    def _meaning(self, line: Line, signals: list[Signal], now_ns: int) -> list[TableSignal]:
        return self._take(line, signals, now_ns) + self._group_news(line, now_ns) + line.news()

    def _take(self, line: Line, signals: list[Signal], now_ns: int) -> list[TableSignal]:
        """What follows from a line's signals at once; passages go to their group, and are told from there."""
        found: list[TableSignal] = []
        passages = [signal for signal in signals if isinstance(signal, Passage)]
        for passage in passages:
            newest, line.newest = line.newest, passage
            is_new = newest is None or newest.started_ns != passage.started_ns
            if isinstance(line.input, Beam):
                self._sight(line, line.input, passage, now_ns, is_new=is_new)
            elif is_new and not line.is_noisy:
                # Chatter at the release makes a press longer, not two of it.
                found.append(self._strike_or_press(line.input, passage))
        if isinstance(line.input, Beam) and line.noise.since_ns is not None:
            group = self._groups[line.input.id]
            group.void(line.input, (line.noise.since_ns, now_ns), Uncounted.NOISE)
        return found

    def _sight(self, line: Line, beam: Beam, passage: Passage, now_ns: int, *, is_new: bool) -> None:
        if line.noise.covers(passage.started_ns):
            line.debouncer.counters.uncounted += is_new
            return
        sighting = self._groups[beam.id].sight(beam, passage, has_witness=not line.has_no_witness)
        if sighting is not None and sighting.void is None:
            line.noise.passage(passage.started_ns, now_ns)

    def _strike_or_press(self, found: StrikeSensor | Button, passage: Passage) -> StrikeSeen | Pressed:
        at_ns = passage.started_ns
        if isinstance(found, StrikeSensor):
            return StrikeSeen(found, at_ns)
        return Pressed(found, at_ns, passage.dwell_ns >= LONG_PRESS_NS, frozenset(self._going_on_at(at_ns)))

    def _going_on_at(self, at_ns: int) -> Iterator[tuple[str, int]]:
        """The passages that had begun by then and ended later, by beam and start as they were told."""
        for group in {id(group): group for group in self._groups.values()}.values():
            yield from group.going_on_at(at_ns)

    def _look_for_hand(self, line: Line, now_ns: int) -> list[TableSignal]:
        """Something that is still in the beam, and has been for too long, is a hand already."""
        line.look_at_dip(now_ns)
        since_ns = line.debouncer.going_on_ns(now_ns)
        if since_ns is None or line.is_noisy or not isinstance(line.input, Beam):
            return []
        if not is_hand((since_ns, now_ns), line.input.settings):
            return []
        self._groups[line.input.id].hand((since_ns, now_ns))
        return self._group_news(line, now_ns)

    def _group_news(self, line: Line, now_ns: int) -> list[TableSignal]:
        if not isinstance(line.input, Beam):
            return []
        group = self._groups[line.input.id]
        if len(group.beams) > 1:
            lines = {beam.id: self._lines[beam.source, beam.channel] for beam in group.beams}
            group.listen(now_ns, [name for name, each in lines.items() if each.is_serviceable])
        news = group.news()
        for seen in news:
            if seen.reason is not None:
                self._lines[seen.beam.source, seen.beam.channel].debouncer.counters.uncounted += 1
        return [*news]


def _place(found: Input) -> str:
    return found.place if isinstance(found, Beam) else found.id


def _active(found: Input, level: int) -> bool:
    active_level = found.pressed_level if isinstance(found, Button) else found.blocked_level
    return level == active_level
