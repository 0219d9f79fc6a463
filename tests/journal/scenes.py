"""What the children do whose calls the shim notes: `python -m tests.journal.scenes SCENE DIRECTORY`.

Each says what it has been promised by writing into the file `acknowledged`, which is among the notes.
"""

import os
import random
import sys
from functools import partial
from pathlib import Path

from appliance.clock import SystemClock
from appliance.journal import Journal, backups, writer
from appliance.journal.copies import automatic_copies, copy_journal
from appliance.journal.pruning import Limits
from appliance.journal.replacing import finish_replacing, replace_journal
from tests.journal.images import ACKNOWLEDGED
from tests.journal.material import Listener, batch

INPUTS = 700
ROWS_KEPT = 100
MATCH = 50


class Witness(Listener):
    """Writes each position down as it is reported."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self._file = os.open(directory / ACKNOWLEDGED, os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def say(self, word: object) -> None:
        os.write(self._file, f"{word} ".encode())

    def on_synced(self, position: int) -> None:
        self.say(position)
        super().on_synced(position)


def play(directory: Path, synchronous: str | None = None) -> None:
    """Journal in bursts, with pruning, checkpoints and copies at close quarters."""
    writer._TIDY_EVERY = 15
    backups._NS_A_BYTE = 0
    choose, witness = random.Random(11), Witness(directory)
    journal = Journal(
        directory, "club-1", witness.on_synced, limits=Limits(rows=ROWS_KEPT, inputs=ROWS_KEPT, per_pass=40)
    )
    journal.open()
    if synchronous is not None:
        assert journal._store is not None
        journal._store.connection.execute(f"PRAGMA synchronous = {synchronous}")
    seq = wanted = 0
    while seq < INPUTS:
        for _ in range(choose.choice((1, 1, 1, 2, 5, 20))):
            seq += 1
            journal.append(batch(seq, match=seq // MATCH + 1))
            if seq % 200 == 0:
                witness.poll(partial(has_copies, journal, wanted))
                journal.match_ended()
                wanted += 1
        witness.wait_synced(seq)
    witness.poll(partial(has_copies, journal, wanted))
    journal.close()


def has_copies(journal: Journal, count: int) -> bool:
    return journal.health().backups == count


def replace(directory: Path) -> None:
    """Put the copy in the journal's place."""
    replace_journal(directory, automatic_copies(directory)[-1], "damaged", SystemClock().wall_ns())
    Witness(directory).say("replaced")


def copy(directory: Path) -> None:
    """Copy the journal over an older copy."""
    copy_journal(directory, directory / "kept" / "copy.sqlite")
    Witness(directory).say("saved")


def main() -> None:
    scene, directory = sys.argv[1], Path(sys.argv[2])
    finish_replacing(directory)
    if scene.startswith("play"):
        play(directory, scene.partition("-")[2] or None)
    else:
        {"replace": replace, "copy": copy}[scene](directory)


if __name__ == "__main__":
    main()
