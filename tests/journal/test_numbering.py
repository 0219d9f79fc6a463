"""`seq` never goes back: what was given out is given out no more, whatever becomes of the journal."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.journal import UnsavedError
from appliance.journal.copies import make_automatic_copy
from appliance.journal.numbering import AHEAD, NUMBERING_FILE, UNSAFE_FILE, Numbering, read_numbering, write_numbering
from appliance.journal.store import JOURNAL_FILE
from tests.journal.material import Listener, batch, files_no_longer_than, journal_on

WALL_NS = 1_740_830_400 * 1_000_000_000


def played(directory: Path, first: int, last: int) -> None:
    journal = journal_on(directory, Listener())
    journal.open()
    for seq in range(first, last + 1):
        journal.append(batch(seq))
    journal.close()


def start(directory: Path) -> tuple[int, int]:
    """What a start finds: the newest number in the journal, and the one that it has to go on from."""
    journal = journal_on(directory, Listener())
    recovered = journal.open()
    journal.close()
    return recovered.last_seq, recovered.seq_floor


def test_a_sound_journal_goes_on_where_it_is(tmp_path: Path) -> None:
    played(tmp_path, 1, 9)
    assert start(tmp_path) == (9, 0)
    played(tmp_path, 10, 12)
    assert start(tmp_path) == (12, 0)


def test_numbers_are_set_apart_before_anybody_hears_of_them(tmp_path: Path) -> None:
    """What the file says reaches beyond everything that was told, also across the blocks."""
    listener = Listener()
    journal = journal_on(tmp_path, listener)
    journal.open()
    for count, seq in enumerate((1, 2, AHEAD, AHEAD + 1, 3 * AHEAD, 3 * AHEAD + 1), start=1):
        journal.append(batch(seq))
        listener.wait_synced(count)
        assert read_numbering(tmp_path).up_to >= seq + AHEAD
    journal.close()
    assert start(tmp_path) == (3 * AHEAD + 1, 0)


def test_an_older_programs_journal_gets_its_numbers_at_the_first_start(tmp_path: Path) -> None:
    played(tmp_path, 1, 9)
    (tmp_path / NUMBERING_FILE).unlink()
    assert start(tmp_path) == (9, 0)
    (tmp_path / JOURNAL_FILE).write_bytes(b"rubbish" * 1_000)
    assert start(tmp_path)[1] >= 9


def test_where_the_file_cannot_be_written_nothing_is_called_durable(tmp_path: Path) -> None:
    listener = Listener()
    journal = journal_on(tmp_path, listener)
    journal.open()
    (tmp_path / f"{NUMBERING_FILE}.new").mkdir()
    journal.append(batch(1))
    assert NUMBERING_FILE in listener.wait_unsafe()
    assert journal.synced == 0
    (tmp_path / f"{NUMBERING_FILE}.new").rmdir()
    listener.wait_safe()
    assert journal.synced == 1
    journal.close()


LOSSES: dict[str, Callable[[Path], object]] = {
    "damaged": lambda directory: (directory / JOURNAL_FILE).write_bytes(b"rubbish" * 1_000),
    "deleted": lambda directory: (directory / JOURNAL_FILE).unlink(),
    "damaged, with a copy": lambda directory: (
        make_automatic_copy(directory, WALL_NS, lambda: False),
        played(directory, 21, 25),
        (directory / JOURNAL_FILE).write_bytes(b"rubbish" * 1_000),
    ),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_after_a_loss_it_goes_on_above_everything_that_was_given_out(tmp_path: Path, loss: str) -> None:
    played(tmp_path, 1, 20)
    LOSSES[loss](tmp_path)
    _, floor = start(tmp_path)
    assert floor >= 25
    # It stays there, whether anything was written meanwhile or not, and through another loss.
    assert start(tmp_path)[1] == floor
    played(tmp_path, floor + 1, floor + 2)
    assert start(tmp_path) == (floor + 2, floor)
    (tmp_path / JOURNAL_FILE).write_bytes(b"rubbish" * 1_000)
    assert start(tmp_path)[1] >= floor + 2


def test_an_old_copy_put_in_its_place_by_hand_is_noticed(tmp_path: Path) -> None:
    played(tmp_path, 1, 5)
    kept = make_automatic_copy(tmp_path, WALL_NS, lambda: False)
    assert kept is not None
    played(tmp_path, 3 * AHEAD, 3 * AHEAD + 1)
    shutil.copyfile(kept, tmp_path / JOURNAL_FILE)
    last, floor = start(tmp_path)
    assert last == 5
    assert floor >= 3 * AHEAD + 1


def test_what_was_shown_and_never_written_is_not_given_out_again(tmp_path: Path) -> None:
    """The disk refuses, the score is shown all the same, and then the power fails."""
    played(tmp_path, 1, 5)
    listener = Listener()
    journal = journal_on(tmp_path, listener)
    journal.open()
    with files_no_longer_than(0):
        for seq in range(6, 30):
            journal.append(batch(seq))
        listener.wait_unsafe()
        with pytest.raises(UnsavedError):
            journal.close()
    last, floor = start(tmp_path)
    assert last == 5
    assert floor >= 29
    assert not (tmp_path / UNSAFE_FILE).exists(), "said once"
    assert start(tmp_path)[1] == floor


def test_what_was_written_after_all_costs_no_numbers(tmp_path: Path) -> None:
    listener = Listener()
    journal = journal_on(tmp_path, listener)
    journal.open()
    journal.append(batch(1))
    listener.wait_synced(1)
    with files_no_longer_than(0):
        journal.append(batch(2))
        listener.wait_unsafe()
        assert (tmp_path / UNSAFE_FILE).exists()
    listener.wait_safe()
    journal.close()
    assert start(tmp_path) == (2, 0)


@pytest.mark.parametrize("content", ["", "rubbish", "7", "9 3", "-1 5", "1 2 3"])
def test_a_file_that_says_nothing_stops_nobody(tmp_path: Path, content: str) -> None:
    played(tmp_path, 1, 5)
    (tmp_path / NUMBERING_FILE).write_text(content)
    assert start(tmp_path) == (5, 0)
    assert read_numbering(tmp_path).up_to >= 5 + AHEAD


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    for numbering in (Numbering(), Numbering(0, 20_001), Numbering(20_001, 40_001)):
        write_numbering(tmp_path, numbering)
        assert read_numbering(tmp_path) == numbering
