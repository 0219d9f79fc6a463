"""One daemon a state directory."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from appliance.journal import AlreadyRunningError, InlineJournal, Journal, JournalPort, lock
from appliance.journal.lock import LOCK_FILE
from tests.journal.material import Listener, batch, journal_on, reopened

ROOT = Path(__file__).parents[2]

HOLDER = """
import sys
from pathlib import Path
from appliance.journal import Journal
journal = Journal(Path(sys.argv[1]), "club-7", lambda position: None)
journal.open()
print("open", flush=True)
sys.stdin.read()
"""


def start_holder(directory: Path) -> "subprocess.Popen[bytes]":
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(directory)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"open\n"
    return holder


def end(holder: "subprocess.Popen[bytes]") -> None:
    holder.send_signal(signal.SIGKILL)
    holder.communicate()


@pytest.mark.real
def test_a_second_daemon_ends_at_once_naming_the_first_and_follows_its_death(tmp_path: Path) -> None:
    holder = start_holder(tmp_path)
    try:
        started_s = time.monotonic()
        with pytest.raises(AlreadyRunningError) as refused:
            Journal(tmp_path, "club-1", lambda _position: None).open()
        assert time.monotonic() - started_s < 2
        assert re.search(
            rf"^table club-7 is already run by process {holder.pid}, started \d{{4}}-\d\d-\d\dT[0-9:]{{8}}Z ",
            str(refused.value),
        )
    finally:
        end(holder)
    assert (tmp_path / LOCK_FILE).exists()
    assert reopened(tmp_path).last_seq == 0


@pytest.mark.real
def test_deleting_the_lock_file_lets_nobody_in(tmp_path: Path) -> None:
    holder = start_holder(tmp_path)
    try:
        (tmp_path / LOCK_FILE).unlink()
        with pytest.raises(AlreadyRunningError, match="table club-1 is already run by another process"):
            Journal(tmp_path, "club-1", lambda _position: None).open()
    finally:
        end(holder)


def test_a_stale_lock_file_does_not_stop_the_start(tmp_path: Path) -> None:
    (tmp_path / LOCK_FILE).write_text(f"table: club-1\nprocess: {os.getppid()}\nstarted: 2020-01-01T00:00:00Z\n")
    assert reopened(tmp_path).last_seq == 0
    assert f"process: {os.getpid()}\n" in (tmp_path / LOCK_FILE).read_text()


@pytest.mark.parametrize("first", ["threaded", "inline"])
def test_the_lock_holds_within_a_process_and_ends_with_close(tmp_path: Path, first: str) -> None:
    listener = Listener()
    holder: JournalPort = (
        journal_on(tmp_path, listener) if first == "threaded" else InlineJournal(tmp_path, "club-1", listener.on_synced)
    )
    holder.open()
    with pytest.raises(AlreadyRunningError, match=f"by process {os.getpid()}"):
        reopened(tmp_path)
    holder.append(batch(1))
    holder.close()
    assert reopened(tmp_path).last_seq == 1


def test_a_missing_state_directory_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    directory = tmp_path / "lib" / "club-1"
    assert reopened(directory).last_seq == 0
    assert directory.stat().st_mode & 0o777 == 0o700
    assert directory.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.real
def test_of_two_that_start_at_the_same_moment_one_runs_and_the_other_names_it(tmp_path: Path) -> None:
    """FR-125: started by hand beside the service, a few milliseconds apart, again and again."""
    for _ in range(3):
        both = [
            subprocess.Popen(
                [sys.executable, "-c", HOLDER, str(tmp_path)],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for _ in range(2)
        ]
        try:
            ended = [holder for holder in both if holder.stdout is not None and holder.stdout.readline() == b""]
            assert len(ended) == 1
            (runs,) = (holder for holder in both if holder not in ended)
            _, err = ended[0].communicate(timeout=20)
            assert f"is already run by process {runs.pid}".encode() in err
            assert runs.poll() is None
        finally:
            for holder in both:
                end(holder)


def test_one_that_is_still_stopping_is_waited_for(tmp_path: Path) -> None:
    """FR-125: the service manager may start the new program while the old one writes its last group."""
    old = journal_on(tmp_path, Listener())
    old.open()
    old.append(batch(1))
    waiting = threading.Event()

    def stop() -> None:
        waiting.wait(20)
        old.close()

    stopping = threading.Thread(target=stop)
    stopping.start()
    with once_it_waits(waiting):
        assert reopened(tmp_path).last_seq == 1
    stopping.join()


@contextmanager
def once_it_waits(waiting: threading.Event) -> Iterator[None]:
    """Let the other one go on once this one has begun to wait."""
    sleep = time.sleep

    def noted(seconds: float) -> None:
        waiting.set()
        sleep(seconds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lock.time, "sleep", noted)
        yield
