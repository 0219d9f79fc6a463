"""One daemon a state directory.

The lock is the operating system's, on the directory itself: it ends with its process whatever way that dies,
a file left behind means nothing, and deleting files while the daemon runs does not let a second one in. The
file beside it is never deleted; its text only tells a second daemon, and its owner, who the first one is.
"""

import fcntl
import os
import time
from datetime import UTC, datetime
from pathlib import Path

from appliance.clock import SystemClock
from appliance.journal.values import AlreadyRunningError, JournalError

LOCK_FILE = "journal.lock"

_PATIENCE_NS = 500_000_000  # a daemon that is just stopping gets this long to let go
_PAUSE_S = 0.02


class DirectoryLock:
    """The right to write in a state directory."""

    def __init__(self, directory: Path, table_id: str) -> None:
        """Take nothing yet."""
        self._directory = directory
        self._table_id = table_id
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Create the directory if it is missing and take the lock.

        Raises AlreadyRunningError naming the holder, or JournalError where the directory cannot be used.
        """
        try:
            create_directory(self._directory)
            descriptor = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise JournalError(f"the state directory {self._directory} cannot be used: {error.strerror}") from error
        clock = SystemClock()
        give_up_ns = clock.monotonic_ns() + _PATIENCE_NS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if clock.monotonic_ns() >= give_up_ns:
                    os.close(descriptor)
                    raise AlreadyRunningError(self._holder()) from None
                time.sleep(_PAUSE_S)
            except OSError as error:
                os.close(descriptor)
                raise JournalError(
                    f"the state directory {self._directory} cannot be locked: {error.strerror}"
                ) from error
        self._descriptor = descriptor
        self._introduce(clock.wall_ns())

    def release(self) -> None:
        """Let go of the lock; the file stays."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _introduce(self, wall_ns: int) -> None:
        started = datetime.fromtimestamp(wall_ns // 1_000_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        text = f"table: {self._table_id}\nprocess: {os.getpid()}\nstarted: {started}\n"
        try:
            (self._directory / LOCK_FILE).write_text(text, "utf-8")
        except OSError:
            # A full or read-only disk must not keep a table from starting; the lock holds without its text.
            return

    def _holder(self) -> str:
        try:
            lines = (self._directory / LOCK_FILE).read_text("utf-8", "replace").splitlines()
        except OSError:
            lines = []
        told = dict(line.split(": ", 1) for line in lines if ": " in line)
        table = told.get("table", self._table_id)
        process = f"process {told['process']}" if "process" in told else "another process"
        started = f", started {told['started']}" if "started" in told else ""
        return f"table {table} is already run by {process}{started} (state directory {self._directory})"


def create_directory(directory: Path) -> None:
    """Create the directory and what is missing above it, for the owner alone, durable in their parents."""
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
        sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make the names in the directory durable: syncing a file does not save its name."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
