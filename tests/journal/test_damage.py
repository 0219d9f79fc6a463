"""A journal that is damaged: kept aside, and play goes on from the newest sound copy or from nothing, aloud."""

import contextlib
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.journal import AlreadyRunningError, Batch, DamagedJournalError, Journal, Recovered, UnsavedError, read
from appliance.journal.copies import automatic_copies, make_automatic_copy
from appliance.journal.replacing import DAMAGE_FILE, finish_replacing, replace_journal
from appliance.journal.store import JOURNAL_FILE, LOG_FILE, Store
from tests.journal.material import Listener, batch, files_no_longer_than, journal_on, record, reopened

WALL_NS = 1_740_830_400 * 1_000_000_000  # 2025-03-01T12:00:00Z
PAGE = 4096


def never() -> bool:
    return False


def played(directory: Path, up_to: int, first: int = 1) -> None:
    """Play inputs of matches of ten."""
    journal = journal_on(directory, Listener())
    journal.open()
    for seq in range(first, up_to + 1):
        journal.append(batch(seq, match=(seq - 1) // 10 + 1))
    journal.close()


def aside(directory: Path) -> list[Path]:
    return sorted(directory.glob("journal-damaged-*.sqlite"))


def overwrite(path: Path, at: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(content)


def started(directory: Path, listener: Listener | None = None) -> tuple[Journal, Recovered]:
    journal = journal_on(directory, listener or Listener())
    return journal, journal.open()


DAMAGES: dict[str, Callable[[Path], None]] = {
    "no database at all": lambda path: path.write_bytes(b"7 to 4\n" * 2_000) and None,
    "the first hundred bytes": lambda path: overwrite(path, 0, random.Random(1).randbytes(100)),
    "whose file it is": lambda path: overwrite(path, 68, b"\0\1\2\3"),
    "its format's number": lambda path: overwrite(path, 60, b"\x7f\1\2\3"),
    "the list of its tables": lambda path: overwrite(path, 100, bytes(PAGE - 100)),
    "a page in the middle": lambda path: overwrite(path, 5 * PAGE, random.Random(2).randbytes(PAGE)),
    "every page but the first": lambda path: overwrite(path, PAGE, bytes(path.stat().st_size - PAGE)),
    "its second half is missing": lambda path: path.write_bytes(path.read_bytes()[: 4 * PAGE]) and None,
    "an index": lambda path: spoil_index(path),
    "text that is no text": lambda path: spoil_text(path),
    "the name of a table, no text now": lambda path: spoil_list(path, "name = CAST(x'cb28' AS TEXT), sql = 'CREATE'"),
    "the name of a column": lambda path: spoil_list(path, "sql = replace(sql, 'last_row', 'last_rox')"),
    "the name of a column that two tables share": lambda path: spoil_list(path, "sql = replace(sql, 'boot', 'bopt')"),
    "how SQLite is to read it": lambda path: overwrite(path, 44, bytes((0, 0, 0, 7))),
}


def spoil_index(path: Path) -> None:
    connection = sqlite3.connect(path)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'record_by_match'").fetchone()
    connection.close()
    overwrite(path, (page - 1) * PAGE, bytes(PAGE))


def spoil_text(path: Path) -> None:
    """A sector whose bits have tipped: still a database, but the words are gone."""
    content = path.read_bytes()
    assert content.count(b'{"n": ') >= 30
    path.write_bytes(content.replace(b'{"n": ', b'{"\xff\xfe '))


def spoil_list(path: Path, change: str) -> None:
    """The list of tables, which SQLite quotes in what it says of it, bytes that are no text included."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(f"UPDATE sqlite_schema SET {change} WHERE name = 'record'")
    connection.close()


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("copied", [False, True], ids=["without a copy", "with copies"])
def test_a_damaged_journal_is_kept_and_the_newest_copy_or_an_empty_one_takes_over(
    tmp_path: Path, damage: str, copied: bool
) -> None:
    """FR-122."""
    played(tmp_path, 15)
    if copied:
        assert make_automatic_copy(tmp_path, WALL_NS, never) is not None
    played(tmp_path, 35, first=16)
    DAMAGES[damage](tmp_path / JOURNAL_FILE)
    bad = (tmp_path / JOURNAL_FILE).read_bytes()

    journal, recovered = started(tmp_path)
    is_readable = damage in ("an index", "the name of a column")  # every other leaves nothing of so small a file
    known = 35 if is_readable else 15 if copied else 0
    assert recovered.last_seq == known
    first = 21 if known == 35 else 1  # of the last two matches
    assert recovered.records == tuple(record(seq, (seq - 1) // 10 + 1) for seq in range(first, known + 1))
    (kept,) = aside(tmp_path)
    assert kept.read_bytes() == bad
    health = journal.health()
    assert not health.safe
    assert health.reason == health.notice is not None
    assert str(kept) in health.reason
    took_over = f"{known - 15 * copied} inputs" if is_readable else "an empty journal"
    assert ("000001-20250301T120000Z.sqlite" if copied else took_over) in health.reason

    # Nobody has heard a number twice: all that were given out lie below the ones that come.
    assert recovered.seq_floor >= 35

    # It plays on and writes, says so until a match has begun of which everything is there, and starts well again.
    listener = Listener()
    journal._on_synced = listener.on_synced
    for count, match in enumerate((known // 10 + 1, known // 10 + 1, known // 10 + 2), start=1):
        journal.append(batch(recovered.seq_floor + count, match))
        listener.wait_synced(count)
        assert journal.health().safe is (count == 3)
    journal.close()
    again, found = started(tmp_path)
    assert (found.last_seq, found.seq_floor) == (recovered.seq_floor + 3, recovered.seq_floor)
    assert again.health().safe
    again.close()
    assert len(aside(tmp_path)) == 1


def test_whatever_bytes_have_tipped_the_table_starts_and_plays_on(tmp_path: Path) -> None:
    played(tmp_path, 35)
    sound = (tmp_path / JOURNAL_FILE).read_bytes()
    for seed in range(150):
        generator = random.Random(seed)
        content = bytearray(sound)
        for _ in range(generator.choice((1, 2, 5, 20))):
            first = generator.randrange(len(content)) if generator.random() < 0.5 else generator.randrange(PAGE)
            length = min(generator.choice((1, 1, 1, 300)), len(content) - first)
            content[first : first + length] = generator.randbytes(length)
        directory = tmp_path / str(seed)
        directory.mkdir()
        (directory / JOURNAL_FILE).write_bytes(content)
        journal, recovered = started(directory)
        went_on = max(recovered.last_seq, recovered.seq_floor) + 1
        journal.append(batch(went_on, match=9))
        journal.close()
        again, found = started(directory)
        assert found.last_seq == went_on
        again.close()


def test_a_copy_that_is_damaged_itself_is_passed_over(tmp_path: Path) -> None:
    for last, first in ((5, 1), (9, 6), (12, 10)):
        played(tmp_path, last, first)
        make_automatic_copy(tmp_path, WALL_NS, never)
    oldest, middle, newest = automatic_copies(tmp_path)
    overwrite(newest, 2 * PAGE, bytes(PAGE))
    middle.write_bytes(b"")
    (tmp_path / JOURNAL_FILE).write_bytes(b"rubbish" * 1_000)
    journal, recovered = started(tmp_path)
    assert recovered.last_seq == 5
    assert oldest.name in str(journal.health().reason)
    journal.close()


def test_side_files_go_with_their_file_and_never_meet_another(tmp_path: Path) -> None:
    """The log of the damaged file holds newer records: folded into another file it would be nonsense."""
    played(tmp_path, 5)
    make_automatic_copy(tmp_path, WALL_NS, never)
    store = Store.create(tmp_path)
    store.write(batch(seq) for seq in range(6, 30))
    log = (tmp_path / LOG_FILE).read_bytes()
    index = (tmp_path / f"{JOURNAL_FILE}-shm").read_bytes()
    store.close()
    (tmp_path / LOG_FILE).write_bytes(log)
    (tmp_path / f"{JOURNAL_FILE}-shm").write_bytes(index)
    (tmp_path / DAMAGE_FILE).write_text("the journal was found damaged in play\n")

    journal, recovered = started(tmp_path)
    assert recovered.last_seq == 29
    reason = str(journal.health().reason)
    assert reason.startswith("the journal was found damaged in play; 24 inputs since the backup 000001-")
    journal.close()
    (kept,) = aside(tmp_path)
    assert kept.with_name(f"{kept.name}-wal").read_bytes() == log
    assert kept.with_name(f"{kept.name}-shm").read_bytes() == index
    assert not (tmp_path / DAMAGE_FILE).exists()


def test_damage_again_and_again_keeps_every_file(tmp_path: Path) -> None:
    for round_ in range(1, 4):
        (tmp_path / JOURNAL_FILE).write_bytes(b"%d" % round_ * 5_000)
        journal, recovered = started(tmp_path)
        assert recovered.last_seq == 0
        journal.close()
        assert len(aside(tmp_path)) == round_
    assert {kept.read_bytes()[:1] for kept in aside(tmp_path)} == {b"1", b"2", b"3"}


def test_the_lock_is_held_meanwhile(tmp_path: Path) -> None:
    (tmp_path / JOURNAL_FILE).write_bytes(b"rubbish" * 1_000)
    journal, _ = started(tmp_path)
    with pytest.raises(AlreadyRunningError, match="is already run by process"):
        started(tmp_path)
    journal.close()


@pytest.mark.parametrize("steps", range(7))
def test_a_replacement_cut_off_at_any_step_is_finished_or_was_never_begun(
    tmp_path: Path, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    played(tmp_path, 5)
    copy = make_automatic_copy(tmp_path, WALL_NS, never)
    played(tmp_path, 9, first=6)
    for side in ("-wal", "-shm"):  # as after a kill
        (tmp_path / f"{JOURNAL_FILE}{side}").write_bytes(b"")

    class PowerCut(Exception):
        pass

    left = steps
    rename = Path.rename

    def rename_or_die(path: Path, target: Path) -> Path:
        nonlocal left
        if not left:
            raise PowerCut
        left -= 1
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", rename_or_die)
        try:
            replace_journal(tmp_path, copy, "damaged", WALL_NS)
        except PowerCut:
            assert steps < 4
        else:
            assert steps >= 4
    journal, recovered = started(tmp_path)
    assert recovered.last_seq == (9 if steps == 0 else 5)
    assert journal.health().safe is (steps in (0, *range(4, 9)))
    journal.close()
    assert len(aside(tmp_path)) == (steps > 0)
    assert not list(tmp_path.glob("*.next"))
    assert finish_replacing(tmp_path) is False


def test_what_cannot_be_folded_is_set_aside_too_and_older_copies_are_tried_in_turn(tmp_path: Path) -> None:
    for last, first in ((3, 1), (6, 4)):
        played(tmp_path, last, first)
        make_automatic_copy(tmp_path, WALL_NS, never)
    played(tmp_path, 9, first=7)
    journal, recovered = started(tmp_path)
    assert recovered.last_seq == 9
    assert [journal.distrust(f"try {n}").last_seq for n in (1, 2, 3)] == [6, 3, 0]
    assert str(journal.health().reason).startswith("try 3; an empty journal has taken over")
    with pytest.raises(DamagedJournalError, match="try 4"):
        journal.distrust("try 4")
    assert len(aside(tmp_path)) == 3


def test_without_room_to_replace_it_plays_from_the_copy_and_replaces_it_later(tmp_path: Path) -> None:
    played(tmp_path, 5)
    make_automatic_copy(tmp_path, WALL_NS, never)
    (tmp_path / JOURNAL_FILE).write_bytes(b"rubbish" * 1_000)
    listener = Listener()
    with files_no_longer_than(0):
        journal, recovered = started(tmp_path, listener)
        assert recovered.last_seq == 5
        assert journal.rows_since(0) == ()
        next_seq = recovered.seq_floor + 1
        assert next_seq > 5
        journal.append(batch(next_seq))
        listener.wait_unsafe()
        assert not journal.health().safe
        assert (tmp_path / JOURNAL_FILE).read_bytes() == b"rubbish" * 1_000
    listener.wait_safe()
    listener.wait_synced(1)
    assert str(journal.health().notice).endswith(str(aside(tmp_path)[0]))
    journal.close()
    assert reopened(tmp_path).last_seq == next_seq


def test_damage_found_in_play_is_told_and_the_next_start_goes_on_from_the_copy(tmp_path: Path) -> None:
    played(tmp_path, 5)
    make_automatic_copy(tmp_path, WALL_NS, never)
    listener = Listener()
    journal, _ = started(tmp_path, listener)
    with sqlite3.connect(tmp_path / JOURNAL_FILE) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    other.close()
    for page in range(2, (tmp_path / JOURNAL_FILE).stat().st_size // PAGE):
        overwrite(tmp_path / JOURNAL_FILE, page * PAGE, bytes(PAGE))
    for seq in range(6, 12):
        journal.append(batch(seq))
    # What the connection remembers of a page it need not read again, so writing may go on for a while.
    assert journal.rows_since(0) == ()
    assert "is damaged" in str(journal.health().reason)
    assert "the next start goes on from the newest backup" in str(journal.health().notice)
    with contextlib.suppress(UnsavedError):
        journal.close()
    journal, recovered = started(tmp_path)
    assert recovered.last_seq == 5
    assert len(aside(tmp_path)) == 1
    journal.close()


@pytest.mark.parametrize("what", ["the directory", "its files", "another journal in its place"])
def test_a_journal_that_is_deleted_in_play_is_noticed_and_nothing_more_is_called_safe(
    tmp_path: Path, what: str
) -> None:
    directory = tmp_path / "club-1"
    listener = Listener()
    journal = journal_on(directory, listener)
    journal.open()
    journal.append(batch(1))
    listener.wait_synced(1)
    if what == "the directory":
        shutil.rmtree(directory)
    elif what == "its files":
        for path in directory.iterdir():
            path.unlink()
    else:
        shutil.rmtree(directory)
        directory.with_name("other").mkdir()
        store = Store.create(directory.with_name("other"))
        store.write((batch(1), batch(2), batch(3)))
        store.close()
        directory.with_name("other").rename(directory)
    if what != "its files":  # else nothing is written at all: it is noticed while nothing happens
        journal.append(batch(2))
    reason = listener.wait_unsafe()
    assert str(directory) in reason
    for seq in range(3, 8):
        journal.append(batch(seq))
    assert listener.positions == [1]
    with pytest.raises(UnsavedError, match=r"batches could not be written and are lost: the journal in .* cannot be"):
        journal.close()


def test_a_log_that_is_deleted_in_play_is_noticed_and_nothing_of_it_is_lost(tmp_path: Path) -> None:
    listener = Listener()
    journal = journal_on(tmp_path, listener)
    journal.open()
    journal.append(batch(1))
    listener.wait_synced(1)
    (tmp_path / LOG_FILE).unlink()
    journal.append(batch(2))
    assert LOG_FILE in listener.wait_unsafe()
    listener.wait_safe()
    assert reopened_beside(tmp_path) == 2
    journal.close()
    assert reopened(tmp_path).records == (record(1), record(2))


def reopened_beside(directory: Path) -> int:
    with read(directory) as reader:
        return reader.recovered().last_seq


def test_a_directory_that_comes_back_is_written_to_again(tmp_path: Path) -> None:
    """A card that was pulled out and put back: the same files, whole."""
    directory = tmp_path / "club-1"
    listener = Listener()
    journal = journal_on(directory, listener)
    journal.open()
    journal.append(batch(1))
    listener.wait_synced(1)
    directory.rename(tmp_path / "pulled")
    journal.append(batch(2))
    listener.wait_unsafe()
    (tmp_path / "pulled").rename(directory)
    listener.wait_safe()
    journal.close()
    assert reopened(directory).records == (record(1), record(2))
    with read(directory) as reader:
        assert len(reader.rows_since(0)) == 2


def test_a_batch_that_reached_the_file_before_it_was_moved_is_not_written_twice(tmp_path: Path) -> None:
    directory = tmp_path / "club-1"
    listener = Listener()
    journal = journal_on(directory, listener)
    journal.open()
    directory.rename(tmp_path / "pulled")
    journal.append(Batch((record(1),)))
    listener.wait_unsafe()
    (tmp_path / "pulled").rename(directory)
    listener.wait_safe()
    assert listener.positions == [1]
    journal.close()
    assert reopened(directory).records == (record(1),)
