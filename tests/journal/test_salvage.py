"""Of a damaged journal everything is kept that can still be read, as far as nothing follows a gap."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.journal import Answer, Recovered
from appliance.journal.copies import make_automatic_copy
from appliance.journal.replacing import DAMAGE_FILE
from appliance.journal.salvage import SALVAGE_DIRECTORY, WholeInputs
from appliance.journal.store import JOURNAL_FILE, Store
from tests.journal.material import Listener, batch, edge, files_no_longer_than, journal_on, record, reopened

WALL_NS = 1_740_830_400 * 1_000_000_000
PAGE = 4096
COPIED, PLAYED = 400, 1_200


@pytest.fixture
def played(tmp_path: Path) -> Path:
    """A journal of some hundred pages with a backup from when it had a third of them."""
    store = Store.create(tmp_path)
    store.write(batch(seq, match=seq // 100 + 1) for seq in range(1, COPIED + 1))
    assert make_automatic_copy(tmp_path, WALL_NS, lambda: False) is not None
    store.write(batch(seq, match=seq // 100 + 1) for seq in range(COPIED + 1, PLAYED + 1))
    store.close()
    return tmp_path


def start(directory: Path) -> tuple[Recovered, str]:
    journal = journal_on(directory, Listener())
    recovered, reason = journal.open(), str(journal.health().reason)
    journal.close()
    return recovered, reason


def everything(directory: Path) -> tuple[list[object], list[object], list[object]]:
    store = Store.create(directory)
    found = list(store.records_from(0)), list(store.rows_from(0)), list(store.answers())
    store.close()
    return found  # type: ignore[return-value]


def page_of(directory: Path, seq: int) -> int:
    """The number of the page that holds that record, from 0; a leaf of the table's own tree."""
    content = (directory / JOURNAL_FILE).read_bytes()
    needle = f'{{"n": {seq}}}'.encode()
    pages = [n // PAGE for n in range(0, len(content), PAGE) if needle in content[n : n + PAGE]]
    assert pages
    return pages[0]


def spoil(directory: Path, page: int) -> None:
    with (directory / JOURNAL_FILE).open("r+b") as file:
        file.seek(page * PAGE)
        file.write(b"\xa5" * PAGE)


def test_damage_in_what_the_backup_holds_costs_nothing(played: Path) -> None:
    spoil(played, page_of(played, 200))
    recovered, reason = start(played)
    assert recovered.last_seq == PLAYED
    assert f"{PLAYED - COPIED} inputs since the backup 000001-" in reason
    records, rows, answers = everything(played)
    assert records == [record(seq, seq // 100 + 1) for seq in range(1, PLAYED + 1)]
    assert rows == [edge(seq) for seq in range(1, PLAYED + 1)]
    assert answers == [Answer(f"t{seq}", f"r{seq}") for seq in range(PLAYED - 999, PLAYED + 1)]
    assert recovered.progress == {"board": {77: PLAYED + 1}}
    assert not (played / SALVAGE_DIRECTORY).exists()


def test_behind_damage_since_then_nothing_is_taken_over(played: Path) -> None:
    """What cannot be read is a gap, and nothing follows a gap."""
    spoil(played, page_of(played, 800))
    recovered, reason = start(played)
    assert COPIED < recovered.last_seq < 800
    assert f"{recovered.last_seq - COPIED} inputs since" in reason
    records, _, _ = everything(played)
    assert records == [record(seq, seq // 100 + 1) for seq in range(1, recovered.last_seq + 1)]
    assert f"t{recovered.last_seq}" not in recovered.answers, "an answer may speak of what is lost"
    assert f"t{COPIED}" in recovered.answers


def test_an_input_is_taken_over_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    """Each input has as many records as fill some pages: the damage lies in the middle of one."""
    store = Store.create(tmp_path)
    for seq in range(1, 6):
        store.write([type(batch(seq))(tuple(record(seq, kind=f"k{n}-{'x' * 100}") for n in range(100)))])
    store.close()
    content = (tmp_path / JOURNAL_FILE).read_bytes()
    pages = [n // PAGE for n in range(0, len(content), PAGE) if content[n : n + PAGE].count(b'{"n": 4}') > 10]
    assert len(pages) > 3
    spoil(tmp_path, pages[len(pages) // 2])
    recovered, _ = start(tmp_path)
    assert recovered.last_seq == 3
    assert len(recovered.records) == 300


def test_a_backup_of_another_history_gets_nothing_of_it(played: Path) -> None:
    """Somebody has put an older journal back in between: what came after that does not belong to the backup."""
    with sqlite3.connect(played / JOURNAL_FILE) as connection:
        connection.execute("UPDATE record SET body = '{\"n\": 0}' WHERE seq = ?", (COPIED,))
    connection.close()
    (played / DAMAGE_FILE).write_text("told so\n")
    recovered, reason = start(played)
    assert recovered.last_seq == COPIED
    assert "what was played since is lost" in reason


def test_what_then_cannot_be_folded_leaves_the_backup_alone(played: Path) -> None:
    (played / DAMAGE_FILE).write_text("told so\n")
    journal = journal_on(played, Listener())
    assert journal.open().last_seq == PLAYED
    assert journal.distrust("it makes no sense").last_seq == COPIED
    assert "the backup 000001-" in str(journal.health().reason)
    assert journal.distrust("nor does this").last_seq == 0
    journal.close()
    assert len(list(played.glob("journal-damaged-*.sqlite"))) == 3


def test_without_room_the_backup_takes_over_alone_and_stays_what_it_is(played: Path) -> None:
    """The table has started from the backup: what is written later follows that and nothing else."""
    (played / DAMAGE_FILE).write_text("told so\n")
    listener = Listener()
    journal = journal_on(played, listener)
    with files_no_longer_than(0):
        recovered = journal.open()
        assert recovered.last_seq == COPIED
    seq = max(recovered.seq_floor, COPIED) + 1
    journal.append(batch(seq))
    listener.wait_synced(1)
    journal.close()
    assert [found.seq for found in reopened(played).records][-2:] == [COPIED, seq]


@pytest.mark.parametrize(
    "cut",
    [
        lambda place: (place / JOURNAL_FILE).write_bytes(b"half"),
        lambda place: (place / "damaged.sqlite").write_bytes(b"half"),
    ],
)
def test_one_that_was_cut_off_is_begun_anew(played: Path, cut: Callable[[Path], object]) -> None:
    """A power cut before the exchange leaves the damaged file in its place."""
    spoil(played, page_of(played, 200))
    (played / SALVAGE_DIRECTORY).mkdir()
    cut(played / SALVAGE_DIRECTORY)
    assert start(played)[0].last_seq == PLAYED


def test_the_damaged_file_is_kept_as_it_was_found(played: Path) -> None:
    spoil(played, page_of(played, 800))
    bad = (played / JOURNAL_FILE).read_bytes()
    start(played)
    (kept,) = played.glob("journal-damaged-*")
    assert kept.read_bytes() == bad


def test_a_left_over_of_one_is_cleared_away(played: Path) -> None:
    (played / SALVAGE_DIRECTORY).mkdir()
    shutil.copy(played / JOURNAL_FILE, played / SALVAGE_DIRECTORY / JOURNAL_FILE)
    assert start(played)[0].last_seq == PLAYED
    assert not (played / SALVAGE_DIRECTORY).exists()


def test_where_the_numbers_go_back_the_order_is_not_to_be_trusted() -> None:
    inputs = WholeInputs(iter([record(1), record(3), record(3, kind="passage"), record(2), record(4)]))
    assert [[each.seq for each in found.records] for found in inputs] == [[1], [3, 3]]
    assert not inputs.are_all
