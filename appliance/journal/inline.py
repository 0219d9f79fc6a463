"""The journal without a thread: each `append` commits before it returns.

For tests in virtual time, where a thread would bring in real time, and for `replay`, which keeps its journal
in memory. The word that a batch is durable comes from inside `append`; what the disk refuses is raised there.
"""

from collections.abc import Callable
from pathlib import Path

from appliance.clock import SystemClock
from appliance.journal.lock import DirectoryLock
from appliance.journal.order import SeqGuard
from appliance.journal.store import JOURNAL_FILE, Store, damage_told
from appliance.journal.values import Batch, DamagedJournalError, JournalHealth, Recovered, SourceRow


class InlineJournal:
    """A journal on a state directory, or in memory where `directory` is None; ends with `close`."""

    def __init__(self, directory: Path | None, table_id: str, on_synced: Callable[[int], None]) -> None:
        """Touch nothing yet; `on_synced` is called with each position from inside `append`."""
        self._directory = directory
        self._on_synced = on_synced
        self._lock = None if directory is None else DirectoryLock(directory, table_id)
        self._clock = SystemClock()
        self._store: Store | None = None
        self._guard = SeqGuard()
        self._synced = 0
        self._last_commit_ns = 0

    def open(self) -> Recovered:
        """Take the journal and hand back what the table starts from; one in memory may be taken again and again."""
        if self._directory is None or self._lock is None:
            self._store = self._store or Store.create_in_memory()
            recovered = self._store.recover()
        else:
            self._lock.acquire()
            try:
                self._store = Store.create(self._directory)
                with damage_told(self._directory / JOURNAL_FILE):
                    recovered = self._store.recover()
            except BaseException:
                self.close()
                raise
        self._guard.begin(recovered.last_seq)
        self._synced = 0
        return recovered

    def append(self, batch: Batch) -> int:
        """Commit the batch and say so; returns its position."""
        self._guard.admit(batch)
        started_ns = self._clock.monotonic_ns()
        self._opened().write((batch,))
        self._last_commit_ns = self._clock.monotonic_ns() - started_ns
        self._synced += 1
        self._on_synced(self._synced)
        return self._synced

    @property
    def synced(self) -> int:
        """The position of the last batch."""
        return self._synced

    def rows_since(self, seq: int) -> tuple[SourceRow, ...]:
        """The rows of the first batch with a record of at least `seq` and of all batches after it."""
        return self._opened().rows_since(seq)

    def match_ended(self) -> None:
        """Nothing: backups are the daemon's business."""

    def distrust(self, reason: str) -> Recovered:
        """There is nothing else to start from: DamagedJournalError."""
        raise DamagedJournalError(reason)

    def health(self) -> JournalHealth:
        """Nothing ever waits here."""
        return JournalHealth(
            waiting=0,
            high_water=0,
            commits=self._synced,
            failures=0,
            last_commit_ns=self._last_commit_ns,
            safe=True,
            reason=None,
        )

    def close(self) -> None:
        """Let go of the journal; one in memory is gone."""
        if self._store is not None:
            self._store.close()
            self._store = None
        if self._lock is not None:
            self._lock.release()

    def _opened(self) -> Store:
        if self._store is None:
            raise RuntimeError("the journal is not open")
        return self._store
