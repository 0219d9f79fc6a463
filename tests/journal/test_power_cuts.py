"""Cut off at any moment: whatever was reported durable is there, once and in order, and play goes on."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from appliance.journal import Batch, InlineJournal, Record, SourceRow
from appliance.journal.store import JOURNAL_FILE, Store
from tests.journal.material import DEADLINE_S, batch, edge, record, reopened

ROOT = Path(__file__).parents[2]
KILLS = 200
LOG_FILE = f"{JOURNAL_FILE}-wal"


@pytest.fixture
def nursery() -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.journal.nursery"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    yield process
    process.communicate()
    assert process.returncode == 0


@pytest.mark.real
def test_two_hundred_kills_lose_double_and_reorder_nothing(
    nursery: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    """Killed after a delay drawn from a seed: while opening, appending, committing, checkpointing."""
    assert nursery.stdin is not None
    assert nursery.stdout is not None
    choose = random.Random(20_250_301)
    last_seq = 0
    killed_while_opening = killed_before_the_word = 0
    for _ in range(KILLS):
        nursery.stdin.write(f"{tmp_path}\n")
        child = int(nursery.stdout.readline().removeprefix("child "))
        killer = threading.Timer(choose.uniform(0, 0.03), os.kill, (child, signal.SIGKILL))
        killer.start()
        recovered: int | None = None
        synced = 0
        while (line := nursery.stdout.readline().strip()) != "dead":
            word, number = line.split()
            if word == "recovered":
                recovered = int(number)
            else:
                assert int(number) > synced
                synced = int(number)
        killer.join(DEADLINE_S)

        assert recovered in (None, last_seq)
        killed_while_opening += recovered is None
        found = checked(tmp_path, last_seq)
        assert found >= last_seq + synced
        killed_before_the_word += found > last_seq + synced
        last_seq = found
    # The kills did fall into different moments; otherwise this test shows little.
    assert killed_while_opening >= 3
    assert killed_before_the_word >= 3
    assert last_seq > 10 * KILLS

    journal = Store.create(tmp_path)
    everything = tuple(r for match in journal.matches() for r in journal.records(match.match))
    assert everything == tuple(record(seq, seq // 100 + 1) for seq in range(1, last_seq + 1))
    assert journal.rows_since(0) == tuple(edge(seq) for seq in range(1, last_seq + 1))
    journal.close()


def checked(directory: Path, last_seq: int) -> int:
    """Look at the file as the kill left it: sound, every record once and in order; the newest `seq`."""
    if not (directory / JOURNAL_FILE).exists():
        assert last_seq == 0
        return 0
    newest = reopened(directory).last_seq
    connection = sqlite3.connect(directory / JOURNAL_FILE)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    seqs = connection.execute("SELECT seq FROM record WHERE seq > ? ORDER BY seq", (last_seq,)).fetchall()
    sequences = connection.execute("SELECT sequence FROM source_row ORDER BY row").fetchall()
    progress = connection.execute("SELECT next_sequence FROM progress").fetchall()
    connection.close()
    assert [seq for (seq,) in seqs] == list(range(last_seq + 1, newest + 1))
    assert [sequence for (sequence,) in sequences] == list(range(1, newest + 1))
    assert progress == ([(newest + 1,)] if newest else [])
    return newest


Found = tuple[tuple[Record, ...], tuple[SourceRow, ...]]


def found_by(store: Store) -> Found:
    return store.recover().records, store.rows_since(0)


@dataclass(frozen=True)
class LastCommit:
    """The files around the last commit before the power went, and what is to be found without and with it."""

    file: bytes
    log_before: bytes
    log_after: bytes
    found_before: Found
    found_after: Found


def last_commit(directory: Path, *, log_used_before: bool) -> LastCommit:
    directory.mkdir()
    store = Store.create(directory)
    store.write(batch(seq) for seq in range(1, 4))
    if log_used_before:  # the next commit begins the log anew, over what it held
        store.write((batch(4),))
        store.checkpoint()
    log = directory / LOG_FILE
    file, log_before, found_before = (
        (directory / JOURNAL_FILE).read_bytes(),
        log.read_bytes(),
        found_by(store),
    )
    store.write((Batch((record(5),)),))
    made = LastCommit(file, log_before, log.read_bytes(), found_before, found_by(store))
    assert (directory / JOURNAL_FILE).read_bytes() == file
    assert made.found_before != made.found_after
    store.close()
    return made


def lay(directory: Path, file: bytes, log: bytes) -> None:
    (directory / f"{JOURNAL_FILE}-shm").unlink(missing_ok=True)
    (directory / JOURNAL_FILE).write_bytes(file)
    (directory / LOG_FILE).write_bytes(log)


def goes_on(directory: Path, found: Found) -> None:
    """The daemon starts on it, writes, and finds all of that the next time."""
    journal = InlineJournal(directory, "club-1", lambda _position: None)
    assert journal.open().records == found[0]
    journal.append(batch(50))
    journal.close()
    assert reopened(directory).records == (*found[0], record(50))


def test_the_log_cut_at_every_byte_of_its_last_commit_opens_at_the_commit_before(tmp_path: Path) -> None:
    commit = last_commit(tmp_path / "made", log_used_before=False)
    start, end = len(commit.log_before), len(commit.log_after)
    assert end - start > 4096
    assert commit.log_after[:start] == commit.log_before
    directory = tmp_path / "torn"
    directory.mkdir()
    lay(directory, commit.file, commit.log_after)
    for cut in range(end, start - 1, -1):
        expected = commit.found_after if cut == end else commit.found_before
        (directory / f"{JOURNAL_FILE}-shm").unlink(missing_ok=True)
        os.truncate(directory / LOG_FILE, cut)
        store = Store.open_read_only(directory)
        assert found_by(store) == expected, cut
        store.close()
    for cut in (*range(start, end - 1, 509), end - 1, end):
        lay(directory, commit.file, commit.log_after[:cut])
        goes_on(directory, commit.found_after if cut == end else commit.found_before)


@pytest.mark.parametrize("log_used_before", [False, True])
def test_sectors_of_the_last_commit_that_never_reached_the_disk(
    tmp_path: Path, log_used_before: bool
) -> None:
    """Un-synced sectors arrive in any order: each has its old content, or the new one, or what lay there."""
    commit = last_commit(tmp_path / "made", log_used_before=log_used_before)
    new = commit.log_after
    old = commit.log_before.ljust(len(new), b"\0")
    changed = [at for at in range(0, len(new), 512) if new[at : at + 512] != old[at : at + 512]]
    assert len(changed) >= 6
    choose = random.Random(7)
    directory = tmp_path / "torn"
    directory.mkdir()
    for trial in range(400):
        missing = set(choose.sample(changed, choose.randint(1, len(changed))))
        log = bytearray(new)
        for at in missing:
            log[at : at + 512] = choose.choice((old[at : at + 512], choose.randbytes(512)))
        lay(directory, commit.file, bytes(log[: len(new)]))
        store = Store.open_read_only(directory)
        assert found_by(store) == commit.found_before, sorted(missing)
        store.close()
        if trial % 40 == 0:
            lay(directory, commit.file, bytes(log[: len(new)]))
            goes_on(directory, commit.found_before)
