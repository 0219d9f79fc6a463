"""`pocketbeam record`: a table's play as a file that can be attached to a report and played again.

It reads the journal beside the daemon and opens no port: nothing is disturbed, and what the daemon has not made
durable yet is not in the recording either. What has just come waits for a moment before it is written, because
an edge that was slow on its way belongs before a request that was not.
"""

import asyncio
import contextlib
import io
import json
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from appliance.clock import Clock
from appliance.config import Settings
from appliance.grammar import how_many, times
from appliance.journal import JournalReader, read
from appliance.records import UnreadableRecordError
from appliance.table.model import TableState
from appliance.tools.beginning import Beginning, Placed, beginnings, choose
from appliance.tools.recording import Numbered, Recorder
from appliance.tools.running import holder

POLL_S = 0.25
SETTLE_NS = 1_000_000_000
_NS_PER_S = 1_000_000_000


class RecordError(Exception):
    """There is nothing to record; the text is one sentence."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What the journal holds from the first match on that may be wanted; rows before `first_row` are there no more."""

    records: Sequence[Placed]
    rows: Sequence[Numbered]
    first_row: int

    @property
    def boot_id(self) -> str:
        return self.records[-1][1].stamp.boot_id

    @property
    def newest_ns(self) -> int:
        """When the last of it came in."""
        stamps = [self.records[-1][1].stamp, *(row.stamp for _, row in self.rows[-1:])]
        return max(stamp.monotonic_ns for stamp in stamps if stamp.boot_id == self.boot_id)

    def holds(self, beginning: Beginning) -> bool:
        """Whether every row since then is there: they go oldest first."""
        return self.first_row <= beginning.row + 1


def record_last(settings: Settings, last_s: float, clock: Clock, out: IO[str]) -> str:
    """Write what happened in the last seconds; a sentence on what was written. RecordError, JournalError."""
    with read(settings.table.state_dir) as reader:
        return write_last(reader, settings, last_s, clock, out)


def write_last(reader: JournalReader, settings: Settings, last_s: float, clock: Clock, out: IO[str]) -> str:
    """The same from a journal that is open."""
    kept = _kept(reader)
    now_ns = clock.monotonic_ns() if clock.boot_id() == kept.boot_id else kept.newest_ns
    beginning = _beginning(kept, now_ns - round(last_s * _NS_PER_S))
    recorder = Recorder(settings, beginning)
    rows, records = _after(beginning, kept.rows, kept.records)
    _write_head(recorder, kept.rows, rows, out)
    lines = recorder.lines(rows, records)
    for line in (*lines, recorder.end(kept.boot_id, max(now_ns, kept.newest_ns))):
        _write(line, out)
    return _told(recorder)


@dataclass(frozen=True, slots=True)
class MatchRecording:
    """One whole match as the lines of a recording, with what cannot be seen in them."""

    lines: list[str]
    recorder: Recorder


def match_lines(reader: JournalReader, settings: Settings, state: TableState) -> MatchRecording:
    """The whole match of that state as a recording whose first line holds `settings`; RecordError."""
    match = state.match.started.match
    records = reader.placed_records(state.depth - 1, 0)  # an undo may lead back into the one before
    kept = _Kept(records, reader.rows_after(records[0][0]), reader.first_row())
    found = [each for each in _beginnings(kept, None) if each.of_match]
    index = next((n for n, each in enumerate(found) if each.started.match == match), None)
    if index is None or not kept.holds(found[index]):
        raise RecordError(f"the edges of match m{match} are not in the journal any more")
    beginning = found[index]
    recorder = Recorder(settings, beginning)
    rows, records_after = _after(beginning, kept.rows, kept.records)
    end = kept.boot_id, kept.newest_ns
    if index + 1 < len(found):
        following = found[index + 1]
        end = following.boot_id, following.at_ns
        rows = [entry for entry in rows if entry[0] <= following.row]
        # What began the next match is none of this one's.
        records_after = [entry for entry in records_after if entry[1].seq < following.seq]
    numbers = sorted({beginning.seq, *(record.seq for _, record in records_after)})
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        raise RecordError(f"some of what was asked for in match m{match} is not in the journal any more")
    out = io.StringIO()
    _write_head(recorder, kept.rows, rows, out)
    for line in (*recorder.lines(rows, records_after), recorder.end(*end)):
        _write(line, out)
    return MatchRecording(out.getvalue().splitlines(), recorder)


async def record_live(settings: Settings, clock: Clock, out: IO[str]) -> str:
    """Write from the beginning of the match that is going on, until SIGINT or SIGTERM; a sentence at the end."""
    directory = settings.table.state_dir
    if holder(directory) is None:
        raise RecordError("no daemon runs this table: start it, or record what was with --last 10m")
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    with read(directory) as reader:
        kept = _kept(reader)
        beginning = _beginning(kept, None)
        recorder = Recorder(settings, beginning)
        rows, records = _after(beginning, kept.rows, kept.records)
        _write_head(recorder, kept.rows, rows, out)
        await _follow(reader, recorder, rows, records, clock, out, stopping)
        _write(recorder.end(clock.boot_id(), clock.monotonic_ns()), out)
    return _told(recorder)


async def _follow(
    reader: JournalReader,
    recorder: Recorder,
    rows: list[Numbered],
    records: list[Placed],
    clock: Clock,
    out: IO[str],
    stopping: asyncio.Event,
) -> None:
    """Write what is old enough, and look for more."""
    row, seq = recorder.beginning.row, recorder.beginning.seq
    row = max([row, *(number for number, _ in rows)])
    seq = max([seq, *(record.seq for _, record in records)])
    match = records[-1][1].match if records else 0
    while True:
        over = stopping.is_set()
        old_ns = clock.monotonic_ns() - (0 if over else SETTLE_NS)
        ripe_rows = [entry for entry in rows if entry[1].stamp.monotonic_ns <= old_ns]
        ripe_records = [entry for entry in records if entry[1].stamp.monotonic_ns <= old_ns]
        rows, records = rows[len(ripe_rows) :], records[len(ripe_records) :]
        for line in recorder.lines(ripe_rows, ripe_records):
            _write(line, out)
        out.flush()
        if over:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(POLL_S):
                await stopping.wait()
        new_rows, new_records = reader.rows_after(row), reader.placed_records(match, seq)
        rows, records = [*rows, *new_rows], [*records, *new_records]
        row, seq = (new_rows[-1][0] if new_rows else row), (new_records[-1][1].seq if new_records else seq)


def _kept(reader: JournalReader) -> _Kept:
    """Everything of this boot of the host, as far as it can be folded."""
    entries = reader.matches()
    if not entries:
        raise RecordError("no match has begun: there is nothing to record")
    boot_id = entries[-1].stamp.boot_id
    first = next(entry for entry in entries if entry.stamp.boot_id == boot_id)
    records = reader.placed_records(first.match, 0)
    boot_id = records[-1][1].stamp.boot_id
    row = min(row for row, record in records if record.stamp.boot_id == boot_id)
    rows = [entry for entry in reader.rows_after(row) if entry[1].stamp.boot_id == boot_id]
    return _Kept(records, rows, reader.first_row())


def _beginnings(kept: _Kept, boot_id: str | None) -> list[Beginning]:
    try:
        return beginnings(kept.records, boot_id)
    except UnreadableRecordError as error:
        raise RecordError(str(error)) from None


def _beginning(kept: _Kept, since_ns: int | None) -> Beginning:
    """The best one for what was since `since_ns`; for what comes (None) the match's, to which it may go back."""
    complete = [each for each in _beginnings(kept, kept.boot_id) if kept.holds(each)]
    if since_ns is None:
        chosen = next((each for each in reversed(complete) if each.of_match), None)
    else:
        asked = [record.stamp.monotonic_ns for _, record in kept.records if record.kind == "requested"]
        chosen = choose(complete, kept.records, [*(row.at_ns for _, row in kept.rows), *asked], since_ns)
    if chosen is None:
        raise RecordError(
            "the beginning of the match is not there any more, or lies before the last start of this machine: "
            "record after the next match has begun"
        )
    return chosen


def _after(
    beginning: Beginning, rows: Sequence[Numbered], records: Sequence[Placed]
) -> tuple[list[Numbered], list[Placed]]:
    """What came after the beginning. At the beginning of a match that is everything; later, what is newer."""
    late = not beginning.of_match
    return (
        [(n, row) for n, row in rows if n > beginning.row and not (late and row.at_ns <= beginning.at_ns)],
        [entry for entry in records if entry[1].seq > beginning.seq],
    )


def _write_head(
    recorder: Recorder,
    every: Sequence[Numbered],
    rows: Sequence[Numbered],
    out: IO[str],
) -> None:
    first = rows[0][0] if rows else None
    before = [row for number, row in every if first is None or number < first]
    after = [row for _, row in rows]
    _write(recorder.head(), out)
    for line in recorder.begin(before, after):
        _write(line, out)


def _write(line: object, out: IO[str]) -> None:
    print(json.dumps(line, ensure_ascii=False), file=out)


def _told(recorder: Recorder) -> str:
    lost = f"; {times(recorder.lost)} a source had lost changes, which no recording can tell" if recorder.lost else ""
    summed = sum(recorder.noise.values())
    sums = how_many(summed, "change of noise is in it as a sum", "changes of noise are in it as a sum")
    noise = f"; {sums}, since the journal keeps no more of noise" if summed else ""
    lines = recorder.edges + recorder.others
    written = how_many(lines, "edge, colour or request was", "edges, colours and requests were")
    return f"{written} written{noise}{lost}"
