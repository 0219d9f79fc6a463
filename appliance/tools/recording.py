"""A journal's evidence as the lines of a recording: what the sensors saw and what people asked for, and no more.

Names, addresses and ports stay behind: players become P1, P2 and so on, wherever a request names one too. Time
begins at 0 and never goes back. Edges keep their own time; a request is put before the edges that the table
heard after it, so that they are played in the order in which they were taken.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from appliance.config import Settings
from appliance.config.settings import Beam, Button
from appliance.journal import Record, SourceRow
from appliance.records import read_record
from appliance.replay import RECORDING_VERSION
from appliance.table.model import Requested
from appliance.tools.beginning import Beginning, Placed

NS_PER_US = 1_000
_LEVELS = {"low": 0, "high": 1}

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to write, with the time that it has of itself."""

    at_ns: int
    line: Json
    is_request: bool


@dataclass(slots=True)
class Names:
    """What people are called in a recording."""

    known: dict[str, str] = field(default_factory=dict)

    def of(self, name: str) -> str:
        """The same for the same name."""
        return self.known.setdefault(name, f"P{len(self.known) + 1}")

    def hide(self, fields: Mapping[str, Any]) -> Json:
        """A request's fields without anybody's name."""
        hidden = {key: self.hide(value) if isinstance(value, Mapping) else value for key, value in fields.items()}
        for key in ("names", "players"):
            if isinstance(hidden.get(key), list | tuple):
                hidden[key] = [self._person(entry) for entry in hidden[key]]
        return hidden

    def _person(self, entry: object) -> object:
        if isinstance(entry, Mapping):
            return self.of(str(entry.get("name")))
        return self.of(entry) if isinstance(entry, str) else entry


@dataclass(slots=True)
class Recorder:
    """Turns rows and records, in the journal's order, into lines."""

    settings: Settings
    beginning: Beginning
    names: Names = field(default_factory=Names)
    lost: int = 0
    """Losses that sources reported: a recording has no line for them."""
    _now_us: int = 0
    _base_ns: int | None = None

    def __post_init__(self) -> None:
        for seat in self.beginning.started.players:
            self.names.of(seat.name)

    def head(self) -> Json:
        """The first line: the configuration, and the standing where that is not the beginning of a match."""
        started, table = self.beginning.started, self.settings.table
        line = started.setup["line"]
        beams = [_section(beam) for beam in self.settings.beams]
        buttons = [self.names.hide(_section(button)) for button in self.settings.buttons]
        config = {
            "table": {
                "id": "table",
                "game": started.setup["game"],
                "players": [self.names.of(seat.name) for seat in started.players],
                "unknown_object": started.unknown_object,
                "quiet_time_s": table.quiet_time_s,
            },
            "rules": dict(line["options"]),
            "sources": [
                {"id": source.id, "kind": source.kind, **({"port": f"/dev/{source.id}"} if source.port else {})}
                for source in self.settings.sources
            ],
            "beams": beams,
            "buttons": buttons,
        }
        head: Json = {"recording": RECORDING_VERSION, "config": config}
        return head if self.beginning.position is None else {**head, "start": dict(self.beginning.position)}

    def begin(self, first_ns: int, before: Iterable[SourceRow], after: Sequence[SourceRow]) -> list[Json]:
        """The levels before the first edge; `first_ns` is the time of what comes first."""
        self._base_ns = min(self.beginning.at_ns, first_ns)
        levels: dict[str, dict[str, int]] = {}
        inputs: tuple[Beam | Button, ...] = (*self.settings.beams, *self.settings.buttons)
        for wired in inputs:
            rest = 1 - _LEVELS[wired.pressed_level if isinstance(wired, Button) else wired.blocked_level]
            levels.setdefault(wired.source, {})[str(wired.channel)] = rest
        known = [row for row in before if row.level is not None]
        for row in known:
            levels.setdefault(row.source, {})[str(row.channel)] = int(row.level or 0)
        seen: set[tuple[str, int]] = set()
        for row in after:
            if row.level is not None and (row.source, row.channel) not in seen:
                seen.add((row.source, row.channel))
                levels.setdefault(row.source, {})[str(row.channel)] = 1 - row.level
        return [{"t_us": 0, "source": source, "levels": told} for source, told in sorted(levels.items())]

    def items(self, rows: Sequence[tuple[int, SourceRow]], records: Sequence[Placed]) -> list[Item]:
        """What is to be written of these, in the order in which the table took it."""
        merged: list[tuple[int, int, Item]] = []
        for number, row in rows:
            line = self._edge(row)
            if line is not None:
                merged.append((number, 0, Item(row.at_ns, line, is_request=False)))
        for row_before, record in records:
            if record.kind == "requested":
                merged.append((row_before, 1, self._request(record)))
        return [item for _, _, item in sorted(merged, key=lambda entry: entry[:2])]

    def lines(self, items: Sequence[Item]) -> list[Json]:
        """The items with their times on the recording's clock."""
        next_edge_ns: int | None = None
        times: list[int] = []
        for item in reversed(items):
            if item.is_request and next_edge_ns is not None:
                times.append(min(item.at_ns, next_edge_ns))
            else:
                times.append(item.at_ns)
            if not item.is_request:
                next_edge_ns = item.at_ns if next_edge_ns is None else min(next_edge_ns, item.at_ns)
        return [{"t_us": self._time_us(at_ns), **item.line} for item, at_ns in zip(items, reversed(times), strict=True)]

    def end(self, at_ns: int) -> Json:
        """The last line."""
        return {"t_us": self._time_us(at_ns), "end": True}

    def _time_us(self, at_ns: int) -> int:
        assert self._base_ns is not None
        self._now_us = max(self._now_us, (at_ns - self._base_ns) // NS_PER_US)
        return self._now_us

    def _edge(self, row: SourceRow) -> Json | None:
        if row.level is not None:
            return {"source": row.source, "channel": row.channel, "level": row.level}
        if row.colour is not None:
            return {"source": row.source, "channel": row.channel, "colour": row.colour}
        self.lost += 1
        return None

    def _request(self, record: Record) -> Item:
        asked = read_record(record)
        assert isinstance(asked, Requested)
        request = {"command": asked.command, **self.names.hide(asked.fields)}
        return Item(record.stamp.monotonic_ns, {"request": request}, is_request=True)


def _section(wired: Beam | Button) -> Json:
    """A section as the file has it."""
    given: Json = wired.model_dump(mode="json", exclude_unset=True)
    if "pin" in given:
        given.pop("channel", None)
    if not given.get("passes", True):
        given.pop("passes")
    return given
