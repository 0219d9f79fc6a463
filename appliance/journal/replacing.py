"""Putting another journal in the place of the one that is there, which is kept under a dated name.

A power cut between any two steps must leave the old journal or the new one, whole, and never a file beside the
log of another: SQLite would fold the one into the other. So the new one is first made durable under a name
that points to where the old one goes; the old file goes there, then its log and index; only then the new one
gets its name. A start that finds no journal but a new one that waits finishes what was begun.
"""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

from appliance.journal.lock import sync_directory
from appliance.journal.store import JOURNAL_FILE

DAMAGE_FILE = "journal.damaged"
"""Left where damage was found in play, so that the next start does not trust the journal again."""

_SIDES = ("-wal", "-shm")
_WAITING = ".next"


def replace_journal(directory: Path, new: Path | None, why: str, wall_ns: int) -> Path:
    """Put a copy of `new`, or nothing, in the journal's place; returns where the old one is kept.

    `why` becomes part of that name, as does the date. Whoever calls holds the directory's lock and has no
    connection open. Raises OSError where the disk refuses; then the old journal is still in its place, or the
    next `finish_replacing` ends the work.
    """
    aside = _free_name(directory, f"journal-{why}-{dated(wall_ns)}")
    if new is not None:
        waiting = aside.with_suffix(_WAITING)
        try:
            shutil.copyfile(new, waiting)
            sync_file(waiting)
        except BaseException:
            waiting.unlink(missing_ok=True)
            raise
    sync_directory(directory)
    _move_away(directory, aside)
    _put_in_place(directory)
    (directory / DAMAGE_FILE).unlink(missing_ok=True)
    return aside


def finish_replacing(directory: Path) -> bool:
    """End what a power cut interrupted; whether there was something. OSError where the disk refuses."""
    waiting = _waiting(directory)
    if (directory / JOURNAL_FILE).exists():
        for each in waiting:  # it had not begun: the old journal is whole
            each.unlink()
        return False
    orphans = [side for side in _SIDES if (directory / f"{JOURNAL_FILE}{side}").exists()]
    if not waiting and not orphans:
        return False
    aside = waiting[-1].with_suffix(".sqlite") if waiting else _free_name(directory, "journal-orphaned")
    _move_away(directory, aside)
    _put_in_place(directory)
    return True


def dated(wall_ns: int) -> str:
    """Wall time as part of a file's name."""
    return datetime.fromtimestamp(wall_ns // 1_000_000_000, UTC).strftime("%Y%m%dT%H%M%SZ")


def sync_file(path: Path) -> None:
    """Make the file's content durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _move_away(directory: Path, aside: Path) -> None:
    """The file first: a file without its log could pass for a whole journal that lacks its newest records."""
    for side in ("", *_SIDES):
        file = directory / f"{JOURNAL_FILE}{side}"
        if file.exists():
            file.rename(aside.with_name(f"{aside.name}{side}"))
            sync_directory(directory)


def _put_in_place(directory: Path) -> None:
    for each in _waiting(directory):
        each.rename(directory / JOURNAL_FILE)
    sync_directory(directory)


def _waiting(directory: Path) -> list[Path]:
    return sorted(directory.glob(f"journal-*{_WAITING}"))


def _free_name(directory: Path, stem: str) -> Path:
    names = (f"{stem}.sqlite", *(f"{stem}-{n}.sqlite" for n in range(2, 10_000)))
    return next(directory / name for name in names if not (directory / name).exists())
