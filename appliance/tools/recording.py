"""A journal's evidence as the lines of a recording: what the sensors saw and what people asked for, and no more.

Names, addresses and ports stay behind: players become P1, P2 and so on, wherever a request names one too. Time
begins at 0 and never goes back. Edges keep their own time; a request is put before the edges that the table
heard after it, so that they are played in the order in which they were taken. So is the word that a source, or the
program, is there again, since a board tells what it saw meanwhile only then.

The clock of each boot of the host begins anew, and how long the host was off nobody knows. What one boot saw is put
behind what the one before saw, further off than any time that the table knows; and from the last thing that was kept of
a run of the program to the beginning of the next no time passes for it at all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from appliance.config import Settings
from appliance.config.settings import Beam, Button
from appliance.journal import Record, SourceRow, Stretch
from appliance.records import read_record
from appliance.replay import RECORDING_VERSION, STILL_AFTER_US
from appliance.table.model import Requested
from appliance.tools.beginning import Beginning, Placed

NS_PER_US = 1_000
_LEVELS = {"low": 0, "high": 1}

Json = dict[str, Any]
Numbered = tuple[int, SourceRow]
"""A row with its number."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to write, with the time that it has of itself. `waits`: it is put before the edges that follow it."""

    at_ns: int
    line: Json
    waits: bool = False
    row: SourceRow | None = None


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


@dataclass(frozen=True, slots=True)
class _Run:
    """What one run of the program has kept, in the order in which it took it: rows and records."""

    entries: Sequence[SourceRow | Record]

    @property
    def boot_id(self) -> str:
        return self.entries[0].stamp.boot_id

    @property
    def started(self) -> SourceRow | None:
        """The row that says when it began; programs that knew no such row wrote none."""
        first = self.entries[0]
        return first if isinstance(first, SourceRow) and first.what == "started" else None

    @property
    def rows(self) -> list[SourceRow]:
        return [each for each in self.entries if isinstance(each, SourceRow)]

    @property
    def moved_ns(self) -> list[int]:
        """When something changed at a source."""
        return [_begun_ns(row) for row in self.rows if row.what is None]


@dataclass(slots=True)
class Recorder:
    """Turns rows and records, in the journal's order, into lines."""

    settings: Settings
    beginning: Beginning
    names: Names = field(default_factory=Names)
    lost: int = 0
    """Losses that sources reported: a recording has no line for them."""
    edges: int = 0
    others: int = 0
    """Colours and requests."""
    noise: dict[tuple[str, int], int] = field(default_factory=dict)
    """By source and channel: changes that are in it as a sum."""
    starts: int = 0
    reboots: int = 0
    """How often the program, and with it the host, began anew in it."""
    _now_us: int = 0
    _zero_ns: int = 0
    """What the clock of the present boot of the host said when the recording began, or would have said."""
    _last_ns: int = 0
    """When the last entry was made, on that clock."""
    _boot_id: str | None = None
    _boards: dict[str, list[int]] = field(default_factory=dict)
    """By source: its boots, as they were met; they are numbered from 1."""
    _heard: dict[str, int | None] = field(default_factory=dict)
    """By source: the boot that told something last."""
    _told: dict[tuple[str, int, int], SourceRow] = field(default_factory=dict)
    """By source, channel and beginning: the stretches that may still grow, as they were told last."""

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

    def begin(self, before: Iterable[SourceRow], after: Sequence[SourceRow]) -> list[Json]:
        """The levels before the first edge: what follows begins in the beginning's boot of the host."""
        self._boot_id = self.beginning.boot_id
        here = [row for row in after if row.stamp.boot_id == self._boot_id]
        self._zero_ns = min([self.beginning.at_ns, *(row.at_ns for row in here)])
        self._last_ns = self.beginning.at_ns
        levels = self._at_rest()
        for row in before:
            if row.what in (None, "back"):
                self._heard[row.source] = row.boot_id
            if row.level is not None and row.stamp.boot_id == self._boot_id:
                levels.setdefault(row.source, {})[str(row.channel)] = row.level
        for source, boot_id in self._heard.items():
            self._number(source, boot_id)
        _first_levels(here, levels)
        return [{"t_us": 0, "source": source, "levels": told} for source, told in sorted(levels.items())]

    def lines(self, rows: Sequence[Numbered], records: Sequence[Placed]) -> list[Json]:
        """What came after what has been written so far, in the order in which the table took it."""
        merged: list[tuple[int, int, SourceRow | Record]] = [(number, 0, row) for number, row in _newest(rows)]
        merged += ((row_before, 1, record) for row_before, record in records)
        entries = [entry for _, _, entry in sorted(merged, key=lambda each: each[:2])]
        found: list[Json] = []
        for run in _runs(entries):
            if run.started is not None or run.boot_id != self._boot_id:
                found += self._restart(run)
            found += self._timed(self._items(run))
            self._last_ns = max(self._last_ns, *(entry.stamp.monotonic_ns for entry in run.entries))
        return found

    def end(self, boot_id: str, at_ns: int) -> Json:
        """The last line: time runs on to that moment, where it is one of this boot of the host."""
        return {"t_us": self._time_us(at_ns if boot_id == self._boot_id else self._last_ns), "end": True}

    # -- runs of the program ---------------------------------------------------------------------------------

    def _restart(self, run: _Run) -> list[Json]:
        """The program ends, and another run of it begins."""
        is_reboot = run.boot_id != self._boot_id
        self.starts += 1
        self.reboots += is_reboot
        began_ns = run.entries[0].stamp.monotonic_ns if run.started is None else run.started.at_ns
        first_ns = min([began_ns, *run.moved_ns])
        t_us = self._time_us(self._last_ns if is_reboot else min(self._last_ns, first_ns))
        if is_reboot:
            self._boot_id = run.boot_id
            self._zero_ns = first_ns - (t_us + STILL_AFTER_US) * NS_PER_US
        self._last_ns = began_ns
        for_us = self._time_us(first_ns) - t_us
        found: list[Json] = [{"t_us": t_us, "restart": "host" if is_reboot else "program", "for_us": for_us}]
        if run.started is None:
            for source in sorted({each.source for each in (*self.settings.beams, *self.settings.buttons)}):
                boots = [row.boot_id for row in run.rows if row.source == source] or [self._heard.get(source)]
                found += ({"t_us": self._now_us, **line} for line in self._back(source, boots[0], run.rows))
        return found

    def _back(self, source: str, boot_id: int | None, following: Iterable[SourceRow]) -> list[Json]:
        """A source is there, and what its levels are, where it has begun anew."""
        is_anew = boot_id is None or self._heard.get(source, boot_id) != boot_id
        self._heard[source] = boot_id
        line: Json = {"source": source, "back": self._number(source, boot_id)}
        if not is_anew:
            return [line]
        levels = {source: self._at_rest().get(source, {})}
        _first_levels(_until_back(source, following), levels)
        return [line, {"source": source, "levels": levels[source]}]

    def _number(self, source: str, boot_id: int | None) -> int | None:
        """Which of a board's boots that is; None for pins, which have none."""
        if boot_id is None:
            return None
        boots = self._boards.setdefault(source, [])
        if boot_id not in boots:
            boots.append(boot_id)
        return boots.index(boot_id) + 1

    def _at_rest(self) -> dict[str, dict[str, int]]:
        levels: dict[str, dict[str, int]] = {}
        inputs: tuple[Beam | Button, ...] = (*self.settings.beams, *self.settings.buttons)
        for wired in inputs:
            rest = 1 - _LEVELS[wired.pressed_level if isinstance(wired, Button) else wired.blocked_level]
            levels.setdefault(wired.source, {})[str(wired.channel)] = rest
        return levels

    # -- entries -----------------------------------------------------------------------------------------------

    def _items(self, run: _Run) -> list[Item]:
        """What is to be written of a run's entries, in the order in which the table took it."""
        found: list[Item] = []
        for index, entry in enumerate(run.entries):
            if isinstance(entry, Record):
                if entry.kind == "requested":
                    found.append(self._request(entry))
                continue
            if entry.what == "started":
                continue
            if entry.what == "lost":
                found.append(Item(entry.at_ns, {"source": entry.source, "lost": True}, waits=True))
                continue
            if entry.source not in self._heard:
                self._heard[entry.source] = entry.boot_id
                self._number(entry.source, entry.boot_id)
            if entry.what == "back" or self._heard[entry.source] != entry.boot_id:
                following = [each for each in run.entries[index:] if isinstance(each, SourceRow)]
                back = self._back(entry.source, entry.boot_id, following[entry.what == "back" :])
                found += (Item(entry.at_ns, line, waits=True) for line in back)
            if entry.stretch is not None:
                self._add_stretch(entry, entry.stretch, found)
            elif entry.what is None and (line := self._edge(entry)) is not None:
                found.append(Item(entry.at_ns, line))
        return found

    def _add_stretch(self, row: SourceRow, stretch: Stretch, found: list[Item]) -> None:
        """Put a stretch, or what it has grown by, where it began: its row stands where it ended."""
        key = row.source, row.channel, stretch.since_ns
        before = self._told.get(key)
        since_ns, edges = stretch.since_ns, stretch.edges
        if before is not None and before.stretch is not None:
            since_ns, edges = before.at_ns, edges - before.stretch.edges
        self._told = {each: told for each, told in self._told.items() if each[:2] != key[:2]} | {key: row}
        channel = row.source, row.channel
        self.noise[channel] = self.noise.get(channel, 0) + edges
        line = {"source": row.source, "channel": row.channel, "noise": {"edges": edges, "level": row.level}}
        place = len(found)
        while place and found[place - 1].at_ns > since_ns and not {"back", "levels"} & set(found[place - 1].line):
            place -= 1
        found.insert(place, Item(since_ns, line, row=row))

    def _timed(self, items: Sequence[Item]) -> list[Json]:
        """The items with their times on the recording's clock."""
        next_edge_ns: int | None = None
        times: list[int] = []
        for item in reversed(items):
            times.append(min(item.at_ns, next_edge_ns) if item.waits and next_edge_ns is not None else item.at_ns)
            if not item.waits:
                next_edge_ns = item.at_ns if next_edge_ns is None else min(next_edge_ns, item.at_ns)
        lines = [{"t_us": self._time_us(at_ns), **item.line} for item, at_ns in zip(items, times[::-1], strict=True)]
        for item, line in zip(items, lines, strict=True):
            if item.row is not None:
                line["noise"] = {**line["noise"], **self._widths(item.row, line["t_us"])}
        return lines

    def _widths(self, row: SourceRow, t_us: int) -> Json:
        """A stretch's times, seen from its beginning on the recording's clock, and from its end."""
        assert row.stretch is not None
        many, until_us = row.stretch, (row.at_ns - self._zero_ns) // NS_PER_US
        return {
            "for_us": max(0, until_us - t_us),
            "noisy_us": max(0, t_us - (many.noisy_ns - self._zero_ns) // NS_PER_US),
            "quiet_us": max(0, (row.at_ns - many.pulse_ns) // NS_PER_US),
            "shortest_us": None if many.shortest_ns is None else many.shortest_ns // NS_PER_US,
            "longest_us": None if many.longest_ns is None else many.longest_ns // NS_PER_US,
        }

    def _time_us(self, at_ns: int) -> int:
        self._now_us = max(self._now_us, (at_ns - self._zero_ns) // NS_PER_US)
        return self._now_us

    def _edge(self, row: SourceRow) -> Json | None:
        if row.level is not None:
            self.edges += 1
            return {"source": row.source, "channel": row.channel, "level": row.level}
        if row.colour is not None:
            self.others += 1
            return {"source": row.source, "channel": row.channel, "colour": row.colour}
        self.lost += 1
        return None

    def _request(self, record: Record) -> Item:
        asked = read_record(record)
        assert isinstance(asked, Requested)
        self.others += 1
        request = {"command": asked.command, **self.names.hide(asked.fields)}
        return Item(record.stamp.monotonic_ns, {"request": request}, waits=True)


def _runs(entries: Sequence[SourceRow | Record]) -> list[_Run]:
    """The entries by the run of the program that made them."""
    if not entries:
        return []
    cuts = [n for n, (one, two) in enumerate(pairwise(entries), 1) if _begins_run(one, two)]
    return [_Run(entries[first:last]) for first, last in pairwise([0, *cuts, len(entries)])]


def _begins_run(before: SourceRow | Record, entry: SourceRow | Record) -> bool:
    is_start = isinstance(entry, SourceRow) and entry.what == "started"
    return is_start or before.stamp.boot_id != entry.stamp.boot_id


def _newest(rows: Sequence[Numbered]) -> list[Numbered]:
    """The rows, with each stretch as it was last."""
    last = {_name(row): number for number, row in rows if row.stretch is not None}
    return [(number, row) for number, row in rows if row.stretch is None or last[_name(row)] == number]


def _name(row: SourceRow) -> tuple[object, ...]:
    assert row.stretch is not None
    return row.source, row.channel, row.stamp.boot_id, row.stretch.since_ns


def _begun_ns(row: SourceRow) -> int:
    return row.at_ns if row.stretch is None else row.stretch.since_ns


def _until_back(source: str, rows: Iterable[SourceRow]) -> list[SourceRow]:
    """The rows of a source up to its next word that it is there again."""
    found: list[SourceRow] = []
    for row in rows:
        if row.source == source:
            if row.what == "back":
                break
            found.append(row)
    return found


def _first_levels(rows: Iterable[SourceRow], levels: dict[str, dict[str, int]]) -> None:
    """Put in what each channel's level was before the first of the rows."""
    seen: set[tuple[str, int]] = set()
    for row in rows:
        if row.level is not None and (row.source, row.channel) not in seen:
            seen.add((row.source, row.channel))
            changes = 1 if row.stretch is None else row.stretch.edges
            levels.setdefault(row.source, {})[str(row.channel)] = row.level if changes % 2 == 0 else 1 - row.level


def _section(wired: Beam | Button) -> Json:
    """A section as the file has it."""
    given: Json = wired.model_dump(mode="json", exclude_unset=True)
    if "pin" in given:
        given.pop("channel", None)
    if not given.get("passes", True):
        given.pop("passes")
    return given
