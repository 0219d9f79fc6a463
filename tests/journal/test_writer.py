"""The writer thread: groups, stalls, what a refusing disk does, and the end."""

import codecs
import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from appliance.journal import Batch, Journal, JournalError, UnsavedError, read
from appliance.journal.store import JOURNAL_FILE, Store
from tests.journal.material import DEADLINE_S, Listener, batch, edge, files_no_longer_than, journal_on, record, reopened

NOBODY = 65534


def test_what_waits_while_a_group_is_reported_is_one_commit(tmp_path: Path) -> None:
    """The writer is held in its report of the first group, as a slow disk would hold it."""
    listener = Listener()
    held, go_on = threading.Event(), threading.Event()

    def on_synced(position: int) -> None:
        if position == 1:
            held.set()
            assert go_on.wait(DEADLINE_S)
        listener.on_synced(position)

    journal = Journal(tmp_path, "club-1", on_synced)
    journal.open()
    journal.append(batch(1))
    assert held.wait(DEADLINE_S)
    for seq in range(2, 301):
        journal.append(batch(seq))
    assert journal.health().waiting == 299
    go_on.set()
    listener.wait_synced(300)
    assert listener.positions == [1, 300]
    health = journal.health()
    assert (health.commits, health.waiting, health.safe, health.reason) == (2, 0, True, None)
    assert health.high_water >= 299
    journal.close()
    assert reopened(tmp_path).last_seq == 300


def test_a_position_is_reported_only_when_another_connection_can_read_it(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def on_synced(position: int) -> None:
        with read(tmp_path) as reader:
            seen.append((position, reader.recovered().last_seq))

    journal = Journal(tmp_path, "club-1", on_synced)
    journal.open()
    for seq in range(1, 101):
        journal.append(batch(seq))
    journal.close()
    assert seen
    assert all(last_seq == position for position, last_seq in seen)
    assert seen[-1] == (100, 100)


def test_close_writes_everything_that_waits_in_several_groups(tmp_path: Path) -> None:
    listener = Listener()
    journal = journal_on(tmp_path, listener)
    journal.open()
    for seq in range(1, 2_501):
        journal.append(batch(seq))
    journal.close()
    assert journal.synced == listener.positions[-1] == 2_500
    assert len(listener.positions) >= 3
    assert [r.seq for r in reopened(tmp_path).records] == list(range(1, 2_501))


def test_a_listener_that_fails_does_not_end_the_writer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def on_synced(_position: int) -> None:
        raise RuntimeError("Event loop is closed")

    journal = Journal(tmp_path, "club-1", on_synced)
    journal.open()
    journal.append(batch(1))
    journal.append(batch(2))
    journal.close()
    assert journal.synced == 2
    assert "Event loop is closed" in caplog.text


def test_a_full_disk_makes_it_unsafe_and_space_makes_it_safe_with_nothing_lost(tmp_path: Path) -> None:
    listener = Listener()
    journal = journal_on(tmp_path, listener)
    journal.open()
    journal.append(batch(1))
    listener.wait_synced(1)
    with files_no_longer_than((tmp_path / f"{JOURNAL_FILE}-wal").stat().st_size):
        for seq in range(2, 1_503):
            journal.append(batch(seq))
        reason = listener.wait_unsafe()
        assert str(tmp_path) in reason
        health = journal.health()
        assert not health.safe
        assert health.reason == reason
        assert health.failures >= 1
        assert health.waiting > 1_400
        assert journal.synced == listener.positions[-1] < 100
    listener.wait_safe()
    assert listener.safety == [reason, None]
    assert journal.synced == listener.positions[-1] == 1_502
    assert journal.health().safe
    assert journal.health().waiting == 0
    journal.append(batch(1_503))
    journal.close()
    recovered = reopened(tmp_path)
    assert [r.seq for r in recovered.records] == list(range(1, 1_504))
    assert recovered.progress == {"board": {77: 1_504}}


def test_a_commit_that_is_there_although_its_sync_failed_is_not_written_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failing sync leaves whole pages in the log, which the next opening finds and takes for a commit."""
    write = Store.write
    failed = threading.Event()

    def write_and_fail_to_sync(store: Store, batches: list[Batch]) -> None:
        write(store, batches)
        if not failed.is_set():
            failed.set()
            raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(Store, "write", write_and_fail_to_sync)
    listener = Listener()
    journal = journal_on(tmp_path, listener)
    journal.open()
    journal.append(Batch(rows=(edge(1),)))
    assert failed.wait(DEADLINE_S)
    for seq in range(2, 20):
        journal.append(batch(seq))
    journal.close()
    assert listener.positions[0] == 1
    assert listener.positions[-1] == 19
    assert [(reason is None) for reason in listener.safety] == [False, True]
    with read(tmp_path) as reader:
        assert [r.seq for r in reader.records(1)] == list(range(2, 20))
        assert reader.rows_since(0) == tuple(edge(seq) for seq in range(2, 20))
    connection = sqlite3.connect(tmp_path / JOURNAL_FILE)
    assert connection.execute("SELECT count(*) FROM source_row").fetchone() == (19,)
    connection.close()


def test_another_programs_lock_on_the_file_is_outlived(tmp_path: Path) -> None:
    listener = Listener()
    journal = journal_on(tmp_path, listener)
    journal.open()
    other = sqlite3.connect(tmp_path / JOURNAL_FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    journal.append(batch(1))
    assert "locked" in listener.wait_unsafe()
    other.execute("ROLLBACK")
    other.close()
    listener.wait_safe()
    journal.close()
    assert reopened(tmp_path).records == (record(1),)


def test_close_on_a_disk_that_still_refuses_says_what_is_lost(tmp_path: Path) -> None:
    listener = Listener()
    journal = Journal(tmp_path, "club-1", listener.on_synced, listener.on_safety, retry_pause_s=3_600)
    journal.open()
    journal.append(batch(1))
    listener.wait_synced(1)
    with files_no_longer_than(0):
        journal.append(batch(2))
        listener.wait_unsafe()
        for seq in range(3, 2_003):  # more than one group: the end must not wait for room in the next
            journal.append(batch(seq))
        with pytest.raises(UnsavedError, match="2001 batches could not be written and are lost: the journal"):
            journal.close()
    assert reopened(tmp_path).last_seq == 1


def test_of_one_batch_it_is_said_as_of_one(tmp_path: Path) -> None:
    listener = Listener()
    journal = Journal(tmp_path, "club-1", listener.on_synced, listener.on_safety, retry_pause_s=3_600)
    journal.open()
    with files_no_longer_than(0):
        journal.append(batch(1))
        listener.wait_unsafe()
        with pytest.raises(UnsavedError, match=r"^1 batch could not be written and is lost: the journal"):
            journal.close()


def test_close_cuts_the_pause_short_and_tries_once_more(tmp_path: Path) -> None:
    listener = Listener()
    journal = Journal(tmp_path, "club-1", listener.on_synced, listener.on_safety, retry_pause_s=3_600)
    journal.open()
    journal.append(batch(1))
    listener.wait_synced(1)
    with files_no_longer_than(0):
        journal.append(batch(2))
        listener.wait_unsafe()
    journal.close()
    assert reopened(tmp_path).last_seq == 2


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may write anywhere; be somebody else."""
    if os.geteuid() != 0:
        yield
        return
    codecs.lookup("ascii")  # the journal reads with it; nobody may be allowed to load it from where Python is
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def shared_directory() -> Iterator[Path]:
    """A directory that a process without rights can reach and own."""
    directory = Path(tempfile.mkdtemp())
    if os.geteuid() == 0:
        os.chown(directory, NOBODY, NOBODY)
    yield directory
    directory.chmod(0o700)
    shutil.rmtree(directory)


@pytest.mark.parametrize("end", ["closed", "killed"])
def test_a_read_only_directory_starts_unsafe_and_becomes_safe_with_nothing_lost(
    shared_directory: Path, end: str
) -> None:
    with as_nobody():
        listener = Listener()
        before = journal_on(shared_directory, listener)
        before.open()
        for seq in range(1, 4):
            before.append(batch(seq))
        listener.wait_synced(3)
        if end == "closed":
            before.close()
        else:
            _leave_log_behind(before, shared_directory)
        listener = Listener()
        files = sorted(path for path in shared_directory.iterdir() if path.is_file())
        for path in files:
            path.chmod(0o400)
        shared_directory.chmod(0o500)

        journal = journal_on(shared_directory, listener)
        assert journal.open().records == tuple(record(seq) for seq in range(1, 4))
        for seq in range(4, 7):
            journal.append(batch(seq))
        assert str(shared_directory) in listener.wait_unsafe()
        assert journal.health().waiting == 3
        assert listener.positions == []

        shared_directory.chmod(0o700)
        for path in files:
            path.chmod(0o600)
        listener.wait_safe()
        assert journal.synced == 3
        journal.close()
        assert reopened(shared_directory).records == tuple(record(seq) for seq in range(1, 7))


def _leave_log_behind(journal: Journal, directory: Path) -> None:
    """Close the journal and put its files as they were before, as a killed process leaves them."""
    kept = {path: path.read_bytes() for path in directory.iterdir()}
    assert kept[directory / f"{JOURNAL_FILE}-wal"]
    journal.close()
    for path, content in kept.items():
        path.write_bytes(content)


def test_an_empty_read_only_directory_starts_unsafe_too(shared_directory: Path) -> None:
    with as_nobody():
        listener = Listener()
        shared_directory.chmod(0o500)
        journal = journal_on(shared_directory, listener)
        assert journal.open().last_seq == 0
        assert journal.rows_since(0) == ()
        journal.append(batch(1))
        listener.wait_unsafe()
        shared_directory.chmod(0o700)
        listener.wait_safe()
        journal.close()
        assert reopened(shared_directory).last_seq == 1


def test_a_disk_without_room_for_even_an_empty_journal_starts_unsafe_too(tmp_path: Path) -> None:
    listener = Listener()
    journal = journal_on(tmp_path, listener)
    with files_no_longer_than(0):
        assert journal.open().last_seq == 0
        assert journal.rows_since(0) == ()
        journal.append(batch(1))
        listener.wait_unsafe()
    listener.wait_safe()
    journal.close()
    assert reopened(tmp_path).last_seq == 1


def test_a_directory_that_may_not_be_read_is_told_in_a_sentence(shared_directory: Path) -> None:
    with as_nobody():
        reopened(shared_directory)
        shared_directory.chmod(0)
        with pytest.raises(JournalError, match=r"journal\.sqlite cannot be read: Permission denied"):  # noqa: SIM117
            with read(shared_directory):
                pass


def test_a_directory_that_cannot_be_made_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    journal = journal_on(tmp_path / "file" / "state", Listener())
    with pytest.raises(JournalError, match=r"state directory .*file/state cannot be used: Not a directory"):
        journal.open()
