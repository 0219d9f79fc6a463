"""What a start costs with years of play behind it, and what the file and the memory come to.

    python tests/bench/history.py [DIRECTORY] [--inputs 1000000]

A match of simulated play of 300 strokes is played once through the real engine; the journal is then filled with
it again and again, as if it had been played for years, with pruning as the daemon prunes. Printed: the file's
size on the way, then the start as the daemon makes it (open, recover, fold, edges, debouncers), cold and warm,
the resident memory, and the time of a backup and of the check of a whole file. 1 where a start takes over a second.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from appliance.config import from_document
from appliance.engine import Engine
from appliance.events import ColourReading, Edge, EdgeId, SourceInput
from appliance.journal import Batch, InlineJournal, Journal, Record, Stamp
from appliance.journal.copies import check_copy, copy_journal
from appliance.journal.pruning import LIMITS
from appliance.journal.store import JOURNAL_FILE, Store
from appliance.records import ends_stroke
from appliance.wiring import inputs_of, policy_of

STROKES = 300
READY_S = 1.0
BOOT = "0a54c1fe-6b7c-4e2e-9c4a-3a1b35b4f6aa"
NS = 1_000_000_000
WALL_NS = 1_700_000_000 * NS
INPUTS_A_DAY = 2_740  # a million a year
PLACES = ("ne", "nw", "se", "sw")


CONFIGURATION = """
[table]
id = "bench"
game = "club_carrom"
players = ["Asha", "Ben"]
unknown_object = "assume"
state_dir = "/nowhere"
[[sources]]
id = "board"
kind = "serial"
port = "/dev/null"
""" + "".join(f'[[beams]]\nid = "{p}"\nsource = "board"\nchannel = {n}\nplace = "{p}"\n' for n, p in enumerate(PLACES))


def engine() -> Engine:
    """A club table with a beam at each pocket."""
    settings = from_document(tomllib.loads(CONFIGURATION), Path("/nowhere"))
    return Engine("bench", policy_of(settings), inputs_of(settings))


def stamp(seq: int, at_ns: int) -> Stamp:
    """So many inputs into the years."""
    return Stamp(BOOT, at_ns, WALL_NS + seq * 86_400 * NS // INPUTS_A_DAY, True)


def one_match() -> list[Batch]:
    """Strokes of one passage each, scored by hand after that, so that the match never ends by itself."""
    table, journal = engine(), InlineJournal(None, "bench", lambda _position: None)
    batches: list[Batch] = []
    at_ns = sequence = 0

    def take(outputs: list) -> None:  # type: ignore[type-arg]
        batches.extend(output.batch for output in outputs if output.batch.records or output.batch.rows)

    def feed(item: SourceInput) -> None:
        take(table.handle(item, stamp(0, at_ns)))

    take(table.recover(journal.open(), stamp(0, 0)))
    for number in range(STROKES):
        place = number % 4
        for level, after_ms in ((1, 3_000), (0, 30)):
            at_ns += after_ms * 1_000_000
            feed(Edge("board", place, level, at_ns, EdgeId(7, sequence)))
            sequence += 1
        at_ns += 20_000_000
        feed(ColourReading("board", place, "striker", at_ns, EdgeId(7, sequence)))
        sequence += 1
        at_ns += 500_000_000
        take(table.tick(stamp(0, at_ns)))
        command, fields = ("stroke", {"pocketed": []}) if number % 3 else ("end_stroke", {})
        take(table.request(command, fields, stamp(0, at_ns), transaction=f"t{number}"))
    journal.close()
    return batches


def again(batches: list[Batch], match: int, seq: int, sequence: int) -> list[Batch]:
    """The same match as the table's match number so and so, its inputs numbered on."""
    made = []
    for batch in batches:
        records = tuple(shifted(record, match, seq) for record in batch.records)
        rows = tuple(
            replace(row, sequence=(row.sequence or 0) + sequence, stamp=stamp(seq, row.at_ns)) for row in batch.rows
        )
        answers = tuple(replace(answer, transaction=f"{match}-{answer.transaction}") for answer in batch.answers)
        made.append(Batch(records, rows, answers))
    return made


def shifted(record: Record, match: int, seq: int) -> Record:
    """A record of match 1 as one of another match."""
    body = record.body
    if record.kind == "match_started":
        body = json.dumps({**json.loads(body), "match": match})
    return replace(
        record, seq=record.seq + seq, match=match, body=body, stamp=stamp(record.seq + seq, record.stamp.monotonic_ns)
    )


def fill(directory: Path, inputs: int) -> None:
    """Years of play, pruned on the way."""
    batches = one_match()
    a_match = max(record.seq for batch in batches for record in batch.records)
    rows = sum(len(batch.rows) for batch in batches)
    print(f"a match: {STROKES} strokes, {a_match} inputs, {rows} edges and readings")
    store = Store.create(directory)
    started_s = time.perf_counter()
    for match in range(1, inputs // a_match + 2):
        seq = (match - 1) * a_match
        store.write(again(batches, match, seq, (match - 1) * rows))
        wall_ns = stamp(seq + a_match, 0).wall_ns
        while store.prune(LIMITS, ends_stroke, wall_ns):
            pass
        store.checkpoint()
        if match % max(1, inputs // a_match // 10) == 0:
            count = store.connection.execute
            (facts,) = count("SELECT count(*) FROM record WHERE fact = 1").fetchone()
            (evidence,) = count("SELECT count(*) FROM record WHERE fact = 0").fetchone()
            (kept,) = count("SELECT count(*) FROM source_row").fetchone()
            size = (directory / JOURNAL_FILE).stat().st_size
            print(
                f"{seq + a_match:9,} inputs: {size / 2**20:6.1f} MiB; {facts:9,} facts, {evidence:8,} evidence records,"
                f" {kept:8,} rows",
                flush=True,
            )
    store.close()
    print(f"filled in {time.perf_counter() - started_s:.0f} s")


def start(directory: Path) -> None:
    """As the daemon starts, in a process of its own; prints its figures as JSON."""
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    journal = Journal(directory, "bench", lambda _position: None, ends_stroke=ends_stroke)
    times, cpu_s = [time.perf_counter()], time.process_time()
    recovered = journal.open()
    times.append(time.perf_counter())
    table = engine()
    table.recover(recovered, stamp(recovered.last_seq, 0))
    times.append(time.perf_counter())
    rows = journal.rows_since(table.horizon_seq(recovered.records))
    table.rebuild_sensing(rows, BOOT)
    times.append(time.perf_counter())
    cpu_s = time.process_time() - cpu_s
    journal.close()
    took = [late - early for early, late in pairwise(times)]
    after_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([*took, len(recovered.records), len(rows), after_kib - before_kib, after_kib, cpu_s]))


def measure(directory: Path, name: str) -> float:
    """One start; the seconds that it took."""
    out = subprocess.run(
        [sys.executable, __file__, str(directory), "--start"], check=True, capture_output=True, text=True
    ).stdout
    opened_s, folded_s, edges_s, records, rows, grown_kib, all_kib, cpu_s = json.loads(out)
    all_s: float = opened_s + folded_s + edges_s
    print(
        f"{name} start: {all_s * 1e3:6.0f} ms (open and recover {opened_s * 1e3:.0f}, fold {records} records"
        f" {folded_s * 1e3:.0f}, {rows} edges {edges_s * 1e3:.0f}; processor {cpu_s * 1e3:.0f});"
        f" memory + {grown_kib >> 10} MiB to {all_kib >> 10}"
    )
    return all_s


def cold(directory: Path) -> None:
    """Have the system forget the file's pages."""
    descriptor = os.open(directory / JOURNAL_FILE, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def timed(name: str, action) -> None:  # type: ignore[no-untyped-def]
    """Print what it takes."""
    started_s = time.perf_counter()
    action()
    print(f"{name}: {time.perf_counter() - started_s:.2f} s")


def main() -> int:
    """Fill, start, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", nargs="?")
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--start", action="store_true", help="the child: start once on DIRECTORY")
    options = parser.parse_args()
    if options.start:
        start(Path(options.directory))
        return 0
    base = Path(tempfile.mkdtemp(dir=options.directory))
    try:
        slowest_s = []
        for name, inputs in (("little", 10_000), ("much", options.inputs)):
            directory = base / name
            directory.mkdir()
            print(f"--- {inputs:,} inputs")
            fill(directory, inputs)
            cold(directory)
            slowest_s.append(measure(directory, "cold"))
            slowest_s += [measure(directory, "warm") for _ in range(3)]
        timed("backup, checked", lambda: copy_journal(directory, base / "copy.sqlite"))
        timed("check of the whole file", lambda: check_copy(base / "copy.sqlite"))
        return int(max(slowest_s) > READY_S)
    finally:
        shutil.rmtree(base)


if __name__ == "__main__":
    sys.exit(main())
