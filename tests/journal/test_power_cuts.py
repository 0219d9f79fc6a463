"""Cut off at any moment: whatever was reported durable is there, once and in order, and play goes on."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from appliance.journal import Batch, InlineJournal, Record, SourceRow
from appliance.journal.store import JOURNAL_FILE, Store
from tests.journal.material import DEADLINE_S, batch, edge, record, reopened

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("POCKETBEAM_KILLS", "300"))  # the long run: POCKETBEAM_KILLS=2000
LOG_FILE = f"{JOURNAL_FILE}-wal"
LOG_PAGE = 24 + 4096


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
@pytest.mark.timeout(60 + KILLS)
@pytest.mark.parametrize("kills", [pytest.param(KILLS, id=f"{KILLS} kills")])
def test_kills_lose_double_and_reorder_nothing(nursery: "subprocess.Popen[str]", tmp_path: Path, kills: int) -> None:
    """FR-113, FR-121. Killed after a delay drawn from a seed: while opening, appending, committing, checkpointing.

    Every other time the delay begins when the child has opened its journal, so that also on a slow machine kills
    fall into its writing.
    """
    assert nursery.stdin is not None
    assert nursery.stdout is not None
    choose = random.Random(20_250_301)
    last_seq = 0
    killed_while_opening = killed_while_writing = 0
    for number_of_kill in range(kills):
        nursery.stdin.write(f"{tmp_path}\n")
        child = int(nursery.stdout.readline().removeprefix("child "))
        killer = threading.Timer(choose.uniform(0, 0.03), os.kill, (child, signal.SIGKILL))
        in_its_writing = number_of_kill % 2 == 1
        if not in_its_writing:
            killer.start()
        recovered: int | None = None
        synced = 0
        while (line := nursery.stdout.readline().strip()) != "dead":
            word, number = line.split()
            if word == "recovered":
                recovered = int(number)
                if in_its_writing:
                    killer.start()
            else:
                assert int(number) > synced
                synced = int(number)
        killer.join(DEADLINE_S)

        assert recovered in (None, last_seq)
        killed_while_opening += recovered is None
        found = checked(tmp_path, last_seq)
        assert found >= last_seq + synced
        killed_while_writing += found > last_seq
        last_seq = found
    # The kills did fall into different moments; otherwise this test shows little.
    assert killed_while_opening >= 3
    assert killed_while_writing >= 3
    assert last_seq > kills

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


def last_commit(directory: Path, last: Record, *, log_used_before: bool) -> LastCommit:
    directory.mkdir()
    store = Store.create(directory)
    store.carry_over()
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
    store.write((Batch((last,)),))
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


def test_the_log_cut_at_every_byte_of_its_last_commit_opens_at_a_whole_commit(tmp_path: Path) -> None:
    """FR-114."""
    commit = last_commit(tmp_path / "made", record(5), log_used_before=False)
    start, end = len(commit.log_before), len(commit.log_after)
    assert commit.log_after[:start] == commit.log_before
    directory = tmp_path / "torn"
    directory.mkdir()
    lay(directory, commit.file, commit.log_after)
    found = []
    for cut in range(end, start - 1, -1):
        (directory / f"{JOURNAL_FILE}-shm").unlink(missing_ok=True)
        os.truncate(directory / LOG_FILE, cut)
        store = Store.open_read_only(directory)
        found.append(found_by(store))
        store.close()
    # Its last page is there once more, to fill the sector; without its first copy the commit is not there.
    whole = found.count(commit.found_after)
    assert 1 <= whole <= 1 + 2 * LOG_PAGE
    assert found == [commit.found_after] * whole + [commit.found_before] * (end - start + 1 - whole)
    assert end - start + 1 - whole > LOG_PAGE

    whole_from = end + 1 - whole
    for cut in (*range(start, end, 509), whole_from - 1, whole_from, end):
        lay(directory, commit.file, commit.log_after[:cut])
        goes_on(directory, commit.found_after if cut >= whole_from else commit.found_before)


@pytest.mark.parametrize("sector", [512, 4096])
@pytest.mark.parametrize("log_used_before", [False, True])
def test_sectors_of_the_last_commit_that_never_reached_the_disk(
    tmp_path: Path, log_used_before: bool, sector: int
) -> None:
    """Un-synced sectors arrive in any order: each has its old content, its new one, or rubbish.

    Rubbish spares nothing that stood in the sector before: no commit may share one with those before it.
    """
    wide = replace(record(5), body=f'{{"text": "{"pocketbeam " * 3_000}"}}')
    commit = last_commit(tmp_path / "made", wide, log_used_before=log_used_before)
    new = commit.log_after
    old = commit.log_before.ljust(len(new), b"\0")
    changed = [at for at in range(0, len(new), sector) if new[at : at + sector] != old[at : at + sector]]
    assert len(changed) >= 10
    choose = random.Random(7)
    directory = tmp_path / "torn"
    directory.mkdir()
    gone = 0
    for trial in range(200):
        log = bytearray(new)
        for at in choose.sample(changed, choose.randint(1, len(changed))):
            rubbish = choose.randbytes(len(new[at : at + sector]))
            log[at : at + sector] = choose.choice((old[at : at + sector], rubbish))
        lay(directory, commit.file, bytes(log))
        store = Store.open_read_only(directory)
        found = found_by(store)
        store.close()
        assert found in (commit.found_before, commit.found_after)
        gone += found == commit.found_before
        if trial % 40 == 0:
            lay(directory, commit.file, bytes(log))
            goes_on(directory, found)
    assert gone > 150  # the others lost only the filling of the last sector
