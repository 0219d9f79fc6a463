"""The daemon's journal: a queue, and one thread that empties it onto the disk.

The thread takes whatever waits, writes it in one transaction, syncs once, and reports one position: under
load the groups grow by themselves and the disk's syncs are shared. If the disk refuses, the group stays at
the head, in order; the connection is opened anew before each further attempt, since after a pulled card or a
remount the old one would talk to a file that is no longer there.
"""

import logging
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TypeVar

from appliance.clock import SystemClock
from appliance.journal.lock import DirectoryLock
from appliance.journal.order import SeqGuard
from appliance.journal.reader import read
from appliance.journal.store import JOURNAL_FILE, Store, damage_told
from appliance.journal.values import Batch, JournalHealth, NoJournalError, Recovered, SourceRow, UnsavedError

_log = logging.getLogger(__name__)

_Told = TypeVar("_Told")

_GROUP_LIMIT = 1_000  # batches a commit: bounds what one transaction needs of a disk that was full
_CHECKPOINT_EVERY = 256  # commits


class Journal:
    """A table's journal in its state directory. One thread calls it: the one that runs the loop."""

    def __init__(
        self,
        directory: Path,
        table_id: str,
        on_synced: Callable[[int], None],
        on_safety: Callable[[str | None], None] = lambda _reason: None,
        retry_pause_s: float = 1.0,
    ) -> None:
        """Touch nothing yet.

        Both callables are called from the writer thread and must not block: `on_synced` with the position up
        to which everything is durable, `on_safety` with the reason when batches cannot be written and with
        None when all is written again. A refused group is tried again every `retry_pause_s` seconds.
        """
        self._directory = directory
        self._on_synced = on_synced
        self._on_safety = on_safety
        self._retry_pause_s = retry_pause_s
        self._lock = DirectoryLock(directory, table_id)
        self._clock = SystemClock()
        self._guard = SeqGuard()
        self._store: Store | None = None
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._queue: SimpleQueue[Batch | None] = SimpleQueue()
        self._appended = 0
        self._high_water = 0
        self._synced = 0
        self._commits = 0
        self._failures = 0
        self._last_commit_ns = 0
        self._end = (0, 0)  # of the store before the last attempt, and the batches of that
        self._attempted = 0
        self._reason: str | None = None
        self._safe_from: int | None = None  # unsafe until the disk takes a group, then until this is durable

    def open(self) -> Recovered:
        """Lock the directory, read what the table starts from, and start the writer.

        A directory that can be read but not written does not stop the start: the table plays, marked not
        safe, until the disk takes what waits.
        """
        self._lock.acquire()
        try:
            recovered = self._recover()
        except BaseException:
            self._lock.release()
            raise
        self._guard.begin(recovered.last_seq)
        self._closing.clear()
        self._appended = self._synced = self._attempted = 0
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()
        return recovered

    def append(self, batch: Batch) -> int:
        """Queue the batch; returns its position. See `JournalPort.append`."""
        if self._thread is None:
            raise RuntimeError("the journal is not open")
        self._guard.admit(batch)
        self._appended += 1
        self._high_water = max(self._high_water, self._appended - self._synced)
        self._queue.put(batch)
        return self._appended

    @property
    def synced(self) -> int:
        """The position up to which everything is durable."""
        return self._synced

    def rows_since(self, seq: int) -> tuple[SourceRow, ...]:
        """The durable rows of the first batch with a record of at least `seq` and of all batches after it."""
        try:
            with read(self._directory) as reader:
                return reader.rows_since(seq)
        except NoJournalError:  # the disk did not take even an empty one
            return ()

    def health(self) -> JournalHealth:
        """How the journal is now; may be asked from any thread."""
        reason = self._reason
        return JournalHealth(
            waiting=self._appended - self._synced,
            high_water=self._high_water,
            commits=self._commits,
            failures=self._failures,
            last_commit_ns=self._last_commit_ns,
            safe=reason is None,
            reason=reason,
        )

    def close(self) -> None:
        """Write what waits, stop the writer, unlock.

        While the disk refuses, one last attempt is made; what it does not take is lost: UnsavedError.
        """
        if self._thread is None:
            return
        self._closing.set()
        self._queue.put(None)
        self._thread.join()
        self._thread = None
        self._lock.release()
        lost = self._appended - self._synced
        if lost:
            raise UnsavedError(f"{lost} batches could not be written and are lost: {self._reason}")

    def _recover(self) -> Recovered:
        with damage_told(self._directory / JOURNAL_FILE):
            try:
                self._store = Store.create(self._directory)
                return self._store.recover()
            except (sqlite3.OperationalError, OSError) as error:
                self._refused(error)
        try:
            with read(self._directory) as reader:
                return reader.recovered()
        except NoJournalError:
            return Recovered(0, (), {}, {})

    def _run(self) -> None:
        group: list[Batch] = []
        ending = False
        since_checkpoint = 0
        while not ending or group:
            ending = self._gather(group) or ending
            if not group:
                continue
            is_last_attempt = self._closing.is_set()
            durable = self._write(group)
            if not durable:
                if is_last_attempt:
                    break
                self._closing.wait(self._retry_pause_s)
                continue
            self._synced += durable
            del group[:durable]
            self._tell(self._on_synced, self._synced)
            if self._reason is not None:
                self._recovering()
            since_checkpoint += 1
            if since_checkpoint >= _CHECKPOINT_EVERY:
                since_checkpoint = 0
                self._checkpoint()
        self._drop_store()

    def _gather(self, group: list[Batch]) -> bool:
        """Add to the group what waits, at least one batch; True once the queue's end has been reached."""
        try:
            while len(group) < _GROUP_LIMIT:
                batch = self._queue.get(block=not group)
                if batch is None:
                    return True
                group.append(batch)
        except Empty:
            pass
        return False

    def _write(self, group: list[Batch]) -> int:
        """How many batches at the head of the group are durable now; 0 if the disk refuses."""
        started_ns = self._clock.monotonic_ns()
        try:
            if self._store is None:
                self._store = Store.create(self._directory)
                self._store.carry_over()
                if self._attempted and self._store.end != self._end:
                    # Refused, and there all the same: only the sync had failed. Not a second time.
                    durable, self._attempted = self._attempted, 0
                    return durable
            self._end, self._attempted = self._store.end, len(group)
            self._store.write(group)
        except Exception as error:  # whatever it is, the batches stay and the reason is told
            self._refused(error)
            return 0
        self._last_commit_ns = self._clock.monotonic_ns() - started_ns
        self._commits += 1
        return len(group)

    def _refused(self, error: Exception) -> None:
        self._failures += 1
        self._safe_from = None
        self._drop_store()
        was_safe = self._reason is None
        self._reason = f"the journal in {self._directory} cannot be written: {error}"
        if was_safe:
            self._tell(self._on_safety, self._reason)

    def _recovering(self) -> None:
        """The disk takes groups again: safe once it has taken all that waited when it began to."""
        if self._safe_from is None:
            self._safe_from = self._appended
        if self._synced >= self._safe_from:
            self._reason = None
            self._tell(self._on_safety, None)

    def _checkpoint(self) -> None:
        try:
            if self._store is not None:
                self._store.checkpoint()
        except sqlite3.Error:
            # Nothing is lost: the log still holds it all. If the disk is at its end, the next write says so.
            self._failures += 1

    def _drop_store(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            with suppress(sqlite3.Error):  # what was committed stands in the log, folded into the file or not
                store.close()

    def _tell(self, listener: Callable[[_Told], None], news: _Told) -> None:
        try:
            listener(news)
        except Exception as error:  # the writer must outlive whoever listens
            _log.error("the journal could not report %r: %s", news, error)
