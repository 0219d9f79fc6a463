"""What can still be read of a damaged journal, added to the backup that is to take its place.

Damage is mostly a page or two, and what was played since the backup stands elsewhere. So the damaged file is read
from where the backup ends, input by input, up to the first that cannot be read: nothing follows a gap. It has to
hold the backup's last input as the backup does, or the two have different histories and nothing is taken over.

It is put together in a folder of its own and only then takes the journal's place; a power cut on the way leaves
the damaged file where it was, and the next start begins again.
"""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path
from typing import TypeVar

from appliance.journal.copies import check_copy
from appliance.journal.store import JOURNAL_FILE, Store
from appliance.journal.values import Batch, JournalError, Record

SALVAGE_DIRECTORY = "journal.salvage"

_BATCHES_AT_ONCE = 500

_UNREADABLE = (JournalError, sqlite3.Error, ValueError, TypeError)

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class Salvage:
    """A sound journal, and how many inputs in it come from the damaged one."""

    file: Path
    inputs: int


@contextmanager
def salvaged(directory: Path, copy: Path | None) -> Iterator[Salvage | None]:
    """What is left of the directory's damaged journal on top of `copy`, or of nothing; None where that is no more.

    The file is there as long as the block lasts. Whatever goes wrong with it is no more than a salvage less.
    """
    place = directory / SALVAGE_DIRECTORY
    try:
        yield _salvage(directory / JOURNAL_FILE, copy, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _salvage(damaged: Path, copy: Path | None, place: Path) -> Salvage | None:
    try:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(mode=0o700)
        looked_at = place / "damaged.sqlite"  # reading would touch its side files, and it is kept as it was found
        for side in ("", "-wal"):
            if (file := damaged.with_name(damaged.name + side)).exists():
                shutil.copyfile(file, looked_at.with_name(looked_at.name + side))
        if copy is not None:
            shutil.copyfile(copy, place / JOURNAL_FILE)
        with closing(Store.create(place)) as store, closing(Store.open_file(looked_at, older=True)) as old:
            inputs = _add(store, old) if _has_one_history(store, old) else 0
        if inputs == 0:
            return None
        check_copy(place / JOURNAL_FILE)
    except (JournalError, sqlite3.Error, OSError):
        return None
    return Salvage(place / JOURNAL_FILE, inputs)


def _has_one_history(store: Store, old: Store) -> bool:
    """Whether the damaged file holds the newest input of the copy as the copy does."""
    last_seq = store.end[0]
    mine = list(store.records_from(last_seq))
    found = list(takewhile(lambda record: record.seq == last_seq, old.records_from(last_seq)))
    return mine == found


def _add(store: Store, old: Store) -> int:
    """Write what the damaged file holds behind the store's end; the number of inputs."""
    last_row, count = store.end[1], 0
    inputs = WholeInputs(old.records_from(store.end[0] + 1))
    batches = iter(inputs)
    while some := list(islice(batches, _BATCHES_AT_ONCE)):
        store.write(some)
        count += len(some)
    # The edges come behind all of that: a start reads some more of them, and knows what the boards need not tell again.
    store.write(Batch(rows=(row,)) for row in _readable(old.rows_from(last_row + 1)))
    if inputs.are_all:  # else an answer may speak of what is lost, and whoever asks again has to be heard
        store.write(Batch(answers=(answer,)) for answer in _readable(old.answers()))
    return count


class WholeInputs:
    """Records by their input, up to the first input that cannot be read as a whole. To be gone through once."""

    def __init__(self, records: Iterator[Record]) -> None:
        """Read nothing yet."""
        self._records = records
        self.are_all = False
        """Whether nothing was in the way, once it has been gone through."""

    def __iter__(self) -> Iterator[Batch]:
        read: list[Record] = []
        try:
            for record in self._records:
                if read and record.seq != read[0].seq:
                    yield Batch(tuple(read))
                    if record.seq < read[0].seq:
                        return
                    read = []
                read.append(record)
        except _UNREADABLE:
            return
        if read:
            yield Batch(tuple(read))
        self.are_all = True


def _readable(items: Iterator[_Read]) -> Iterator[_Read]:
    """The items up to the first that cannot be read."""
    with suppress(*_UNREADABLE):
        yield from items
