"""Reading a journal without touching it, beside a daemon that writes.

Every question is one short statement, so that a page left open never holds a snapshot, which would keep the
log from being folded into the file.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from appliance.journal.store import JOURNAL_FILE, Store, damage_told
from appliance.journal.values import MatchEntry, Record, Recovered, SourceRow


class JournalReader:
    """What can be asked of a journal."""

    def __init__(self, store: Store) -> None:
        """Use `read`."""
        self._store = store

    def recovered(self) -> Recovered:
        """What a daemon would start from now."""
        return self._store.recover()

    def end(self) -> tuple[int, int]:
        """The newest `seq` and the number of the newest source row."""
        return self._store.read_end()

    def matches(self) -> tuple[MatchEntry, ...]:
        """Every match, oldest first."""
        return self._store.matches()

    def records(self, match: int) -> tuple[Record, ...]:
        """Every record of the match that still exists, in order of `seq`; empty for an unknown match."""
        return self._store.records(match)

    def rows_after(self, row: int) -> tuple[tuple[int, SourceRow], ...]:
        """The rows behind the one of that number, each with its own."""
        return self._store.rows_after(row)

    def first_row(self) -> int:
        """The number of the oldest row that is still there; 0 where there is none."""
        return self._store.first_row()

    def stretches(self) -> tuple[SourceRow, ...]:
        """The rows that stand for many edges, oldest first."""
        return self._store.stretches()

    def placed_records(self, match: int, seq: int) -> tuple[tuple[int, Record], ...]:
        """The records behind `seq` from that match on, each with the number of the newest row before its batch."""
        return self._store.placed_records(match, seq)

    def rows_since(self, seq: int) -> tuple[SourceRow, ...]:
        """The rows of the first batch with a record of at least `seq` and of all batches after it."""
        return self._store.rows_since(seq)


@contextmanager
def read(directory: Path) -> Iterator[JournalReader]:
    """Open the state directory's journal read-only; JournalError, one sentence, where that cannot be done."""
    store = Store.open_read_only(directory)
    try:
        with damage_told(directory / JOURNAL_FILE):
            yield JournalReader(store)
    finally:
        store.close()
