"""What every wire does, told live for as long as somebody watches.

Levels and widths are told as they come, before anything is made of them; that is what diagnostics are for, and
why nothing here may be taken for a score. They are switched on for a while and end by themselves. A wire that
storms is told at most `MOST_PER_S` times a second; what is left out is counted.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from appliance.events import Edge, Levels, SourceInput
from appliance.sensing.bank import Button, Input

MOST_PER_S = 40
LONGEST_S = 600
PASSAGES = frozenset({"passage", "passage_not_scored"})
"""Events that tell of a passage."""
_NS_PER_S = 1_000_000_000
_NS_PER_US = 1_000

Json = dict[str, Any]


@dataclass(slots=True)
class _Wire:
    """One input as it was told last. `changed_ns` is None while it has not changed since the beginning."""

    input: Input
    active: bool | None = None
    changed_ns: int | None = None
    dwell_us: int | None = None
    second: int = 0
    told: int = 0


@dataclass(slots=True)
class Diagnostics:
    """The wires of a table. All times are the daemon's monotonic clock; bodies are documents without envelope."""

    dropped: int = 0
    _until_ns: int = 0
    _wires: dict[tuple[str, int], _Wire] = field(default_factory=dict)
    _by_id: dict[str, _Wire] = field(default_factory=dict)

    def switch_on(self, inputs: Iterable[Input], seconds: float, now_ns: int) -> None:
        """Tell everything for so long from now on; 0 ends it."""
        if not self.is_on(now_ns):
            self._wires = {(each.source, each.channel): _Wire(each) for each in inputs}
            self._by_id = {wire.input.id: wire for wire in self._wires.values()}
        self._until_ns = now_ns + round(seconds * _NS_PER_S)

    def is_on(self, now_ns: int) -> bool:
        """Whether somebody watches."""
        return now_ns < self._until_ns

    def hear(self, item: SourceInput, now_ns: int) -> list[Json]:
        """What a source delivered. With its levels every wire is told again, in case a message was lost."""
        if not self.is_on(now_ns):
            return []
        match item:
            case Edge():
                wire = self._wires.get((item.source, item.channel))
                return [] if wire is None else self._limited(wire, self._change(wire, item.level, item.at_ns), now_ns)
            case Levels():
                return [body for channel, level in item.levels for body in self._level(item, channel, level, now_ns)]
            case _:
                return []

    def passed(self, news: Mapping[str, Any], now_ns: int) -> list[Json]:
        """What an event says of a passage."""
        wire = self._by_id.get(str(news.get("beam")))
        if not self.is_on(now_ns) or wire is None or news.get("event") not in PASSAGES:
            return []
        body = _body(wire, "passage", dwell_us=wire.dwell_us)
        return self._limited(wire, [{**body, "passage_id": news["passage_id"]}], now_ns)

    def _level(self, levels: Levels, channel: int, level: int, now_ns: int) -> list[Json]:
        wire = self._wires.get((levels.source, channel))
        if wire is None:
            return []
        wire.active = level == _active_level(wire.input)
        second = now_ns // _NS_PER_S
        # Levels come several times a second; once is enough, and not in the same second as an edge.
        return [] if second == wire.second else self._limited(wire, [_body(wire, "level")], now_ns)

    def _change(self, wire: _Wire, level: int, at_ns: int) -> list[Json]:
        wire.active = level == _active_level(wire.input)
        stretch_us = None if wire.changed_ns is None else max(0, at_ns - wire.changed_ns) // _NS_PER_US
        wire.changed_ns = at_ns
        if wire.active:
            return [_body(wire, "level", gap_us=stretch_us)]
        wire.dwell_us = stretch_us
        short = stretch_us is not None and stretch_us * _NS_PER_US < wire.input.settings.min_dwell_ns
        return [_body(wire, "glitch" if short else "level", dwell_us=stretch_us)]

    def _limited(self, wire: _Wire, bodies: list[Json], now_ns: int) -> list[Json]:
        second = now_ns // _NS_PER_S
        if second != wire.second:
            wire.second, wire.told = second, 0
        room = max(0, MOST_PER_S - wire.told)
        self.dropped += max(0, len(bodies) - room)
        wire.told += min(len(bodies), room)
        return bodies[:room]


def _body(wire: _Wire, what: str, *, dwell_us: int | None = None, gap_us: int | None = None) -> Json:
    return {
        "beam": wire.input.id,
        "what": what,
        "active": bool(wire.active),
        "passage_id": None,
        "dwell_us": dwell_us,
        "gap_us": gap_us,
    }


def _active_level(found: Input) -> int:
    return found.pressed_level if isinstance(found, Button) else found.blocked_level
