"""`pocketbeam backup` and `pocketbeam restore`: a table's journal as one file, out of its directory and back.

A backup is taken beside a daemon that plays on, and is read back before it gets its name. A restore needs the
table to stand still, looks at the whole file first, and keeps what it replaces under a dated name.
"""

import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

from appliance.clock import Clock
from appliance.grammar import how_many
from appliance.history import latest_of
from appliance.journal import JournalError, NoJournalError
from appliance.journal.copies import check_copy, copy_journal
from appliance.journal.lock import DirectoryLock
from appliance.journal.numbering import Numbering, read_numbering, write_numbering
from appliance.journal.replacing import dated, finish_replacing, replace_journal
from appliance.journal.store import JOURNAL_FILE, Store


def back_up(directory: Path, target: Path | None, clock: Clock) -> str:
    """Copy the directory's journal to `target` (default: a dated file here); returns the sentence to print.

    JournalError in a sentence where that cannot be done. An older backup of the same name is replaced at the
    end, in one step; any other file is left alone.
    """
    if target is None:
        target = Path(f"{directory.resolve().name}-{dated(clock.wall_ns())}.sqlite")
    try:
        _refuse_to_overwrite(target, directory)
        copy_journal(directory, target)
    except (OSError, sqlite3.Error) as error:
        raise JournalError(f"the backup {target} could not be written: {_cause(error)}") from error
    return f"{target} holds {_content(target)}"


def restore(file: Path, directory: Path, clock: Clock) -> str:
    """Make a backup the directory's journal; returns the sentences to print.

    JournalError in a sentence where a daemon runs on the directory, where the file is not a sound journal, or
    where the disk refuses.
    """
    try:
        content = _content(file)  # before anything is touched
        lock = DirectoryLock(directory, "restore")
        lock.acquire()
        try:
            finish_replacing(directory)
            there = (directory / JOURNAL_FILE).exists()
            write_numbering(directory, _numbering_after(directory))
            aside = replace_journal(directory, file, "replaced", clock.wall_ns())
        finally:
            lock.release()
    except (OSError, sqlite3.Error) as error:
        raise JournalError(f"{file} could not be restored: {_cause(error)}") from error
    kept = f"\nWhat was there before is kept as {aside}" if there else ""
    return f"{directory} holds {content}{kept}"


def _numbering_after(directory: Path) -> Numbering:
    """The numbers that are left once another journal is in the place of the directory's own."""
    numbering = read_numbering(directory)
    try:
        with closing(Store.open_file(directory / JOURNAL_FILE, older=True)) as replaced:
            return numbering.after(replaced.read_end()[0])
    except (JournalError, sqlite3.Error):
        return numbering.after_loss()


def _content(file: Path) -> str:
    """What a sound backup holds, in words."""
    if not file.is_file():
        raise NoJournalError(f"there is no file {file}")
    check_copy(file)
    with closing(Store.open_file(file, older=True)) as store:
        matches = store.matches()
        state = latest_of(store.records_folded())
    if state is None:
        return "a journal without a match"
    newest = max(matches, key=lambda entry: entry.first_seq).stamp
    began = datetime.fromtimestamp(newest.wall_ns // 1_000_000_000).astimezone()
    when = f", begun {began:%Y-%m-%d %H:%M}" if newest.clock_synchronised else ""
    played = how_many(len(matches), "match", "matches")
    return f"{played} up to match {state.match.id}{when}, accepted inputs: {state.seq}"


def _refuse_to_overwrite(target: Path, directory: Path) -> None:
    if target.is_dir():
        raise JournalError(f"{target} is a directory, not the name of a file")
    if target.exists():
        if target.resolve().parent == directory.resolve():
            raise JournalError(f"{target} is in the table's own directory; give the backup another place")
        try:
            Store.open_file(target, older=True).close()
        except JournalError:
            raise JournalError(f"{target} exists and is not a backup; it stays as it is") from None


def _cause(error: OSError | sqlite3.Error) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
