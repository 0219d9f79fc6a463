"""Whole copies of a journal, made while it is played on: by the daemon, and for `backup` and `restore`.

A copy is one snapshot, taken over a reader's connection in small steps, so that neither the writer nor the
card is held up; it is read back and checked, synced, and only then gets its name. It is a single file: no log
beside it.

The daemon keeps the newest three in `backups`. They are numbered, since after an empty journal took over `seq`
begins anew, and no clock is to be trusted; the date in the name is for people. What made them is never
trusted again: whoever wants one looks for the newest that is sound.
"""

import shutil
import sqlite3
import time
from collections.abc import Callable, Collection
from contextlib import closing, suppress
from pathlib import Path

from appliance.journal.lock import create_directory, sync_directory
from appliance.journal.replacing import dated, sync_file
from appliance.journal.store import JOURNAL_FILE, Store, damage_told
from appliance.journal.values import JournalError

BACKUP_DIRECTORY = "backups"
COPIES_KEPT = 3

_PAGES_A_STEP = 256
_PAUSE_S = 0.01
_PARTIAL = ".partial"
_SPARE_BYTES = 1024 * 1024  # what a copy must leave to the journal itself, besides as much as the journal is now


class AbandonedError(JournalError):
    """The copy was given up, because whoever makes it has to end."""


def copy_journal(directory: Path, target: Path, give_up: Callable[[], bool] = lambda: False) -> None:
    """Copy the directory's journal to `target`, whole or not at all, replacing a file of that name.

    JournalError in a sentence where there is none, where it is damaged, or where `give_up` said so; OSError or
    sqlite3.Error where a disk refuses.
    """
    partial = target.with_name(f"{target.name}{_PARTIAL}")

    def between_steps(_status: int, _left: int, _all: int) -> None:
        if give_up():
            raise AbandonedError(f"the copy {target} was given up")
        time.sleep(_PAUSE_S)

    try:
        partial.unlink(missing_ok=True)
        source_file = directory / JOURNAL_FILE
        with closing(Store.open_file(source_file, older=True)) as source, closing(sqlite3.connect(partial)) as copy:
            with damage_told(source_file):
                # A snapshot for the whole copy: the writer's commits do not make it begin again.
                source.connection.execute("BEGIN")
                source.connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
                source.connection.backup(copy, pages=_PAGES_A_STEP, progress=between_steps, sleep=0)
            copy.execute("PRAGMA journal_mode = DELETE").fetchall()
        check_copy(partial)
        sync_file(partial)
        partial.replace(target)
        sync_directory(target.parent)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def check_copy(path: Path) -> None:
    """Read the whole file; JournalError in a sentence where it is not a sound journal that this program can use."""
    with closing(Store.open_file(path, older=True)) as store:
        store.check_content()


def automatic_copies(directory: Path) -> list[Path]:
    """The daemon's own copies, oldest first."""
    return sorted((directory / BACKUP_DIRECTORY).glob("[0-9]*.sqlite"), key=_number)


def newest_sound_copy(directory: Path, without: Collection[Path]) -> Path | None:
    """The newest automatic copy that can be read from end to end."""
    for path in reversed(automatic_copies(directory)):
        if path in without:
            continue
        with suppress(JournalError, sqlite3.Error, OSError):
            check_copy(path)
            return path
    return None


def make_automatic_copy(directory: Path, wall_ns: int, give_up: Callable[[], bool]) -> Path | None:
    """Make one more and let go of the oldest; None where it would leave the disk too little room.

    Errors as for `copy_journal`.
    """
    folder = directory / BACKUP_DIRECTORY
    size = journal_bytes(directory)
    if shutil.disk_usage(directory).free < 2 * size + _SPARE_BYTES:
        return None
    create_directory(folder)
    kept = automatic_copies(directory)
    number = _number(kept[-1]) + 1 if kept else 1
    made = folder / f"{number:06}-{dated(wall_ns)}.sqlite"
    copy_journal(directory, made, give_up)
    for path in [*kept, made][:-COPIES_KEPT]:
        path.unlink(missing_ok=True)
    return made


def journal_bytes(directory: Path) -> int:
    """How big the journal is."""
    return (directory / JOURNAL_FILE).stat().st_size


def _number(path: Path) -> int:
    digits = path.name.partition("-")[0].removesuffix(".sqlite")
    return int(digits) if digits.isdecimal() else 0
