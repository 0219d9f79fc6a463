"""How fast the journal makes batches durable, beside what this disk can do at all.

    python tests/bench/journal.py [DIRECTORY]

Everything is written to the same directory (default: a temporary one), in the same run, the contenders taking
turns, so that a slow minute of the disk is shared. The floors are one bare write with fdatasync, and one bare
SQLite insert committed with a sync. The journal is measured one batch at a time (append, wait for the word
that it is durable: what one edge pays) and under load (everything appended at once: what grouping gives).
Last: what a start costs with a million events behind it.
"""

import os
import shutil
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from appliance.journal import Batch, Journal, Record, SourceRow, Stamp
from appliance.journal.store import JOURNAL_FILE, Store

ROUNDS = 10
PER_ROUND = 200
LOAD = 20_000
HISTORY = 1_000_000
PER_MATCH = 400
BODY = '{"event": "stroke_closed", "stroke": 12, "player": 1, "pocketed": {"white": 1, "black": 0}, "at": "ne"}'


def made_batch(seq: int) -> Batch:
    """What one stroke brings: two edges and one event."""
    stamp = Stamp("0a54c1fe-6b7c-4e2e-9c4a-3a1b35b4f6aa", seq * 1_000, seq * 1_000, True)
    rows = tuple(SourceRow("board", 91, seq * 2 + n, 3, n, None, seq * 1_000, stamp) for n in (0, 1))
    return Batch((Record(seq, seq // PER_MATCH + 1, "stroke_closed", True, BODY, stamp),), rows)


def bare_writes(directory: Path) -> Callable[[], list[int]]:
    """The floor of the disk: append four kilobytes to one file and sync its data."""
    descriptor = os.open(directory / "bare", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def go() -> list[int]:
        def once() -> None:
            os.write(descriptor, bytes(4096))
            os.fdatasync(descriptor)

        return [timed(once) for _ in range(PER_ROUND)]

    return go


def bare_commits(directory: Path) -> Callable[[], list[int]]:
    """The floor of SQLite: one insert of the same body, committed and synced, in the same journal mode."""
    connection = sqlite3.connect(directory / "bare.sqlite", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, body TEXT)")

    def go() -> list[int]:
        def once() -> None:
            connection.execute("INSERT INTO t (body) VALUES (?)", (BODY,))

        return [timed(once) for _ in range(PER_ROUND)]

    return go


def journal_one_by_one(directory: Path) -> Callable[[], list[int]]:
    """The journal as one edge meets it: append, and wait for the word."""
    durable = threading.Semaphore(0)
    journal = Journal(directory / "one", "bench", lambda _position: durable.release())
    seq = journal.open().last_seq

    def go() -> list[int]:
        def once() -> None:
            nonlocal seq
            seq += 1
            journal.append(made_batch(seq))
            durable.acquire()

        return [timed(once) for _ in range(PER_ROUND)]

    return go


def timed(action: Callable[[], None]) -> int:
    """Nanoseconds that the action took."""
    started_ns = time.perf_counter_ns()
    action()
    return time.perf_counter_ns() - started_ns


def show(name: str, took_ns: list[int]) -> None:
    """One line: rate, median and the slowest in a hundred."""
    slow_ns = statistics.quantiles(took_ns, n=100)[98]
    rate = len(took_ns) / sum(took_ns) * 1e9
    median_ns = statistics.median(took_ns)
    print(f"{name:42} {rate:8.0f} a second   median {median_ns / 1e3:7.0f} us   99 % {slow_ns / 1e3:7.0f} us")


def load(directory: Path) -> None:
    """Everything appended at once."""
    done = threading.Event()
    journal = Journal(directory / "load", "bench", lambda position: done.set() if position == LOAD else None)
    journal.open()
    batches = [made_batch(seq) for seq in range(1, LOAD + 1)]
    started_ns = time.perf_counter_ns()
    for batch in batches:
        journal.append(batch)
    appended_ns = time.perf_counter_ns() - started_ns
    done.wait()
    took_ns = time.perf_counter_ns() - started_ns
    health = journal.health()
    journal.close()
    print(
        f"{'journal, all at once':42} {LOAD / took_ns * 1e9:8.0f} a second in {health.commits} commits;"
        f" append {appended_ns / LOAD / 1e3:.1f} us on the caller's thread"
    )


def start(directory: Path) -> None:
    """A start with a million events behind it."""
    (directory / "old").mkdir()
    store = Store.create(directory / "old")
    for first in range(1, HISTORY + 1, 10_000):
        store.write(made_batch(seq) for seq in range(first, min(first + 10_000, HISTORY + 1)))
    store.close()
    size = (directory / "old" / JOURNAL_FILE).stat().st_size
    journal = Journal(directory / "old", "bench", lambda _position: None)
    took_ns = timed(lambda: print(f"{len(journal.open().records)} records recovered,", end=" "))
    print(f"open after {HISTORY} events ({size >> 20} MiB): {took_ns / 1e6:.1f} ms", end="; ")
    took_ns = timed(lambda: print(f"{len(journal.rows_since(HISTORY - 5))} rows in", end=" "))
    print(f"{took_ns / 1e6:.1f} ms")
    journal.close()


def main() -> None:
    """Measure and print."""
    directory = Path(tempfile.mkdtemp(dir=sys.argv[1] if len(sys.argv) > 1 else None))
    try:
        contenders = {
            "write and fdatasync, 4 kB": bare_writes(directory),
            "bare SQLite insert, synced": bare_commits(directory),
            "journal, one batch (1 event, 2 edges)": journal_one_by_one(directory),
        }
        took: dict[str, list[int]] = {name: [] for name in contenders}
        for _ in range(ROUNDS):
            for name, go in contenders.items():
                took[name] += go()
        for name, times in took.items():
            show(name, times)
        load(directory)
        start(directory)
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
