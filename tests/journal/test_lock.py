"""One daemon a state directory."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from appliance.journal import AlreadyRunningError, InlineJournal, Journal, JournalPort
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
