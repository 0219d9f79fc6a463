"""The whole appliance in process, with simulated wires at its inputs: no link, no broker, no disk, no clock.

Edges go straight into the engine, heartbeats in between, requests as people send them. Several things may break one
beam at once; its level changes when the first begins and the last ends. All times are whole microseconds from the
beginning.
"""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from appliance.config import Settings
from appliance.engine import Engine, Output
from appliance.events import ColourReading, Edge, Levels
from appliance.journal import Recovered, Stamp
from appliance.table.closing import close_stroke
from appliance.table.draft import Draft
from appliance.table.model import Fold, JudgedStroke, Match, TableState
from appliance.table.view import state_body
from appliance.wiring import inputs_of, policy_of

HEARTBEAT_US = 250_000
STILL_US = 5_500_000
"""So long after the last change of a wire, with no stroke open, a heartbeat brings nothing new."""
NS_PER_US = 1_000

_BREAK, _CLEAR, _COLOUR = 0, 1, 2


@dataclass(slots=True)
class Wire:
    """One channel: its level at rest, and how many things are in its way now."""

    id: str
    channel: int
    rest_level: int
    in_the_way: int = 0

    @property
    def level(self) -> int:
        """The electrical level now."""
        return 1 - self.rest_level if self.in_the_way else self.rest_level


@dataclass(slots=True)
class Rig:
    """One table under simulated hands. `matches` holds every match that the table has had, as it was last; `pulses`
    everything that broke a beam or pressed a button, with its beginning and end; `outages`, by beam, from when to when
    the table told that something was wrong with it (None: still).
    """

    settings: Settings
    engine: Engine = field(init=False)
    now_us: int = 0
    news: list[Mapping[str, Any]] = field(default_factory=list)
    remarks: int = 0
    pulses: list[tuple[str, int, int]] = field(default_factory=list)
    outages: dict[str, list[tuple[int, int | None]]] = field(default_factory=dict)
    matches: dict[str, Match] = field(default_factory=dict)
    judged: dict[tuple[str, int], JudgedStroke] = field(default_factory=dict)
    _wires: dict[str, Wire] = field(default_factory=dict)
    _by_channel: dict[int, Wire] = field(default_factory=dict)
    _coming: list[tuple[int, int, int, str, str]] = field(default_factory=list)
    _count: int = 0
    _changed_us: int = 0
    _sealed: set[tuple[str, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        settings = self.settings
        self.engine = Engine(settings.table.id, policy_of(settings), inputs_of(settings))
        for beam in settings.beams:
            self._add(beam.id, beam.channel, 0 if beam.blocked_level == "high" else 1)
        for button in settings.buttons:
            self._add(button.id, button.channel, 1 if button.pressed_level == "low" else 0)
        self._keep(self.engine.recover(Recovered(0, (), {}, {}), self._stamp()))
        self._beat()

    def _add(self, name: str, channel: int, rest_level: int) -> None:
        self._wires[name] = self._by_channel[channel] = Wire(name, channel, rest_level)

    # -- what happens at the wires ------------------------------------------------------------------------

    def pulse(self, name: str, start_us: int, end_us: int) -> None:
        """A beam is broken, or a button pressed, from one moment to another, both still to come."""
        if end_us > start_us:
            self.pulses.append((name, start_us, end_us))
            self._push(max(start_us, self.now_us), _BREAK, name, "")
            self._push(max(end_us, self.now_us), _CLEAR, name, "")

    def colour(self, name: str, at_us: int, seen: str) -> None:
        """The colour sensor that speaks for a beam tells what it saw."""
        self._push(at_us, _COLOUR, name, seen)

    def _push(self, at_us: int, kind: int, name: str, seen: str) -> None:
        self._count += 1
        heapq.heappush(self._coming, (at_us, self._count, kind, name, seen))

    def advance(self, until_us: int) -> None:
        """Let time pass."""
        while self.now_us < until_us:
            next_us = min(until_us, (self.now_us // HEARTBEAT_US + 1) * HEARTBEAT_US)
            if self._is_still:
                next_us = min(until_us, self._coming[0][0] if self._coming else until_us)
            while self._coming and self._coming[0][0] <= next_us:
                self._happen()
            self.now_us = max(self.now_us, next_us)
            if self.now_us == next_us:
                self._beat()

    @property
    def _is_still(self) -> bool:
        if self.engine.state.stroke is not None or self.now_us - self._changed_us < STILL_US:
            return False
        return not any(wire.in_the_way for wire in self._wires.values())

    def _happen(self) -> None:
        at_us, _, kind, name, seen = heapq.heappop(self._coming)
        self.now_us = max(self.now_us, at_us)
        wire = self._wires[name]
        if kind == _COLOUR:
            self._keep(self.engine.handle(ColourReading(self._source, wire.channel, seen, self._now_ns), self._stamp()))
            return
        before = wire.level
        wire.in_the_way += 1 if kind == _BREAK else -1
        if wire.level != before:
            self._changed_us = self.now_us
            self._keep(self.engine.handle(Edge(self._source, wire.channel, wire.level, self._now_ns), self._stamp()))

    def _beat(self) -> None:
        levels = tuple((channel, wire.level) for channel, wire in sorted(self._by_channel.items()))
        self._keep(self.engine.handle(Levels(self._source, levels, self._now_ns), self._stamp()))

    # -- what people see and say ----------------------------------------------------------------------------

    def request(self, command: str, **fields: object) -> bool:
        """Ask something of the table; whether it was done."""
        outputs = self.engine.request(command, fields, self._stamp())
        self._keep(outputs)
        response = outputs[-1].response
        assert response is not None
        return bool(response["ok"])

    @property
    def state(self) -> TableState:
        """The table's state."""
        return self.engine.state

    @property
    def shown(self) -> dict[str, Any]:
        """What the pages show."""
        return state_body(self.engine.state)

    def projected(self) -> Fold:
        """The score as it will be if nothing more falls and nobody says anything more."""
        draft = Draft(self.engine.state, self.engine.policy)
        if draft.state.stroke is not None:
            close_stroke(draft, "quiet", None, self._now_ns)
        return draft.projected()

    # -- what is kept ----------------------------------------------------------------------------------------

    def seal(self) -> None:
        """People are about to put something right: what each stroke was judged as is kept.

        So is what a waiting one would be taken for, unless the table waits for people's word in any case.
        """
        match = self.engine.state.match
        if self.engine.policy.unknown_object != "ask":
            for entry in self.projected().strokes[-12:]:
                self.judged.setdefault((match.id, entry.stroke.number), entry)
        self._sealed.update(self.judged)

    def _keep(self, outputs: list[Output]) -> None:
        changed = False
        for output in outputs:
            self.news.extend(output.news)
            for news in output.news:
                self._hear(news)
            self.remarks += output.remark is not None
            changed = changed or output.state is not None
        if not changed:
            return
        match = self.engine.state.match
        self.matches[match.id] = match
        for entry in match.fold.strokes[-12:]:
            key = (match.id, entry.stroke.number)
            if key not in self._sealed:
                self.judged[key] = entry
        for stroke in match.fold.waiting:
            # What more is known of it made a question of what had been judged.
            if (match.id, stroke.number) not in self._sealed:
                self.judged.pop((match.id, stroke.number), None)

    def _hear(self, news: Mapping[str, Any]) -> None:
        if news["event"] not in ("beam_fault", "beam_well") or "beam" not in news:
            return
        found = self.outages.setdefault(news["beam"], [])
        if found and found[-1][1] is None:
            found[-1] = (found[-1][0], self.now_us)
        if news["event"] == "beam_fault":
            found.append((self.now_us, None))

    @property
    def _source(self) -> str:
        return self.settings.sources[0].id

    @property
    def _now_ns(self) -> int:
        return self.now_us * NS_PER_US

    def _stamp(self) -> Stamp:
        return Stamp("sim", self._now_ns, self._now_ns, True)
