"""Which numbers may have been given out, kept beside the journal: `seq` never goes back, whatever becomes of that.

Displays order what they hear by `seq`. Where a journal is lost and an older copy or an empty one takes its place,
or where the score was shown although the disk refused it, nobody knows any more how far the numbers had come. So
a small file says up to where they may have come, always well ahead of the newest one and durable before anybody
hears of it; after a loss the numbers go on from there. What lies at or below `floor` is given out no more.

    journal.seq      `floor` and `up_to`, written anew under another name and renamed
    journal.unsafe   is there while what is shown is not written: an empty file, which a full disk may still take
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from appliance.journal.lock import sync_directory

NUMBERING_FILE = "journal.seq"
UNSAFE_FILE = "journal.unsafe"
AHEAD = 10_000
"""So many numbers at least may be given out before the file has to be written again."""


@dataclass(frozen=True, slots=True)
class Numbering:
    """Numbers at or below `floor` are not given out again; those above `up_to` have never been given out."""

    floor: int = 0
    up_to: int = 0

    def ahead_of(self, seq: int) -> "Numbering":
        """The same, or one that reaches further, where fewer than `AHEAD` numbers are left after `seq`."""
        return self if self.up_to - seq >= AHEAD else Numbering(self.floor, seq + 2 * AHEAD)

    def after(self, seq: int) -> "Numbering":
        """From now on only numbers above `seq`, the newest of a journal that makes way for another."""
        return Numbering(max(self.floor, seq), max(self.up_to, seq + 2 * AHEAD))

    def after_loss(self) -> "Numbering":
        """From now on only numbers that have never been given out."""
        return Numbering(self.up_to, self.up_to + 2 * AHEAD) if self.up_to else self

    def is_beyond(self, last_seq: int) -> bool:
        """Whether a journal that ends with `last_seq` cannot be the one that these numbers were given out from."""
        return max(last_seq, self.floor) < self.up_to - 2 * AHEAD


def read_numbering(directory: Path) -> Numbering:
    """What the directory's file says; nothing where there is none that can be read."""
    with suppress(OSError, ValueError):
        floor, up_to = map(int, (directory / NUMBERING_FILE).read_text("ascii").split())
        if 0 <= floor <= up_to:
            return Numbering(floor, up_to)
    return Numbering()


def write_numbering(directory: Path, numbering: Numbering) -> None:
    """Make it durable, whole or not at all; OSError where the disk refuses."""
    waiting = directory / f"{NUMBERING_FILE}.new"
    descriptor = os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(descriptor, f"{numbering.floor} {numbering.up_to}\n".encode("ascii"))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    waiting.replace(directory / NUMBERING_FILE)
    sync_directory(directory)


def is_marked_unsafe(directory: Path) -> bool:
    """Whether the last run ended while it showed what was not written."""
    return (directory / UNSAFE_FILE).exists()


def mark_unsafe(directory: Path, *, unsafe: bool) -> None:
    """Leave word for the next start, or take it back, as far as the disk lets us."""
    with suppress(OSError):
        if unsafe == is_marked_unsafe(directory):
            return
        if unsafe:
            (directory / UNSAFE_FILE).touch(mode=0o600)
        else:
            (directory / UNSAFE_FILE).unlink(missing_ok=True)
        sync_directory(directory)
