"""Journals that older programs wrote, kept as text in `tests/vectors/journals`, are opened for ever."""

import re
import sqlite3
from pathlib import Path

import pytest

from appliance import rules
from appliance.history import latest, matches
from appliance.journal import Batch, DamagedJournalError, JournalError, read
from appliance.journal.copies import check_copy, copy_journal
from appliance.journal.schema import MIGRATIONS, SCHEMA_VERSION
from appliance.journal.store import JOURNAL_FILE, Store
from appliance.table.model import TableState
from tests.journal.material import record, reopened

VECTORS = Path(__file__).parents[1] / "vectors" / "journals"
FORMATS = sorted(int(path.name.removeprefix("v").split(".")[0]) for path in VECTORS.glob("v*.sqlite.sql"))


def written_by(version: int, directory: Path) -> Path:
    """The stored journal of that format as a file."""
    connection = sqlite3.connect(directory / JOURNAL_FILE)
    connection.executescript((VECTORS / f"v{version}.sqlite.sql").read_text("utf-8"))
    connection.close()
    return directory


def layout(path: Path) -> set[tuple[str, str]]:
    """The tables and indexes of a file, whatever the spacing of the statements."""
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    connection.close()
    return {(name, re.sub(r"[\s\"]+", "", sql)) for name, sql in found}


def test_every_format_but_the_present_one_is_kept_with_where_it_comes_from() -> None:
    assert set(range(1, SCHEMA_VERSION)) <= set(FORMATS)
    for version in FORMATS:
        text = (VECTORS / f"v{version}.sqlite.sql").read_text("utf-8")
        assert text.startswith(f"-- A journal of format {version} ")
        assert f"PRAGMA user_version = {version};" in text


@pytest.mark.parametrize("version", FORMATS)
def test_an_old_journal_becomes_the_present_format_and_stays_so(version: int, tmp_path: Path) -> None:
    directory = written_by(version, tmp_path)
    before = sqlite3.connect(directory / JOURNAL_FILE)
    tables = dict.fromkeys(("record", "answer", "boot"), "*")
    tables["source_row"] = (
        "row, source, source_boot, sequence, channel, level, colour, at_ns,"
        " boot, monotonic_ns, wall_ns, clock_synchronised"
    )
    tables["progress"] = "source, source_boot, next_sequence"
    held = {table: before.execute(f"SELECT {columns} FROM {table}").fetchall() for table, columns in tables.items()}
    before.close()
    for _ in range(2):
        Store.create(directory).close()
        check_copy(directory / JOURNAL_FILE)
        after = sqlite3.connect(directory / JOURNAL_FILE)
        assert after.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        for table, columns in tables.items():
            assert after.execute(f"SELECT {columns} FROM {table}").fetchall() == held[table]
        after.close()
    (tmp_path / "new").mkdir()
    Store.create(tmp_path / "new").close()
    assert layout(directory / JOURNAL_FILE) == layout(tmp_path / "new" / JOURNAL_FILE)
    store = Store.create(directory)
    store.write(())
    store.close()


@pytest.mark.parametrize("step", range(1, len(MIGRATIONS)))
def test_a_conversion_cut_off_in_any_step_is_taken_up_again(
    step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = written_by(1, tmp_path)
    with monkeypatch.context() as patch:
        broken = (*MIGRATIONS[step], "CREATE NONSENSE")
        patch.setattr("appliance.journal.store.MIGRATIONS", (*MIGRATIONS[:step], broken, *MIGRATIONS[step + 1 :]))
        with pytest.raises(DamagedJournalError, match="NONSENSE"):
            Store.create(directory)
    assert reopened(directory).last_seq == 152
    with read(directory) as reader:
        assert len(reader.matches()) == 3


def test_an_old_journal_is_not_touched_by_reading_and_can_be_copied(tmp_path: Path) -> None:
    directory = written_by(1, tmp_path)
    before = (directory / JOURNAL_FILE).read_bytes()
    with pytest.raises(JournalError, match="is older than this program; starting the table once converts it"):
        latest(directory)
    copy_journal(directory, tmp_path / "copy.sqlite")
    assert (directory / JOURNAL_FILE).read_bytes() == before
    (directory / JOURNAL_FILE).unlink()
    (tmp_path / "copy.sqlite").rename(directory / JOURNAL_FILE)
    assert reopened(directory).last_seq == 152


def test_the_matches_of_the_first_format_end_as_they_were_played(tmp_path: Path) -> None:
    """What is expected stands in the head of the stored journal: what the simulated players and the hands did."""
    directory = written_by(1, tmp_path)
    reopened(directory)
    found = matches(directory)
    assert list(found) == ["m1", "m2", "m3"]
    first, second, third = (rules.document(match.fold.rules) for match in found.values())
    assert (first["phase"], first["round_winner"]) == ("round_over", 2)
    assert [first["ends"][end]["in_play"] for end in ("north", "south")] == [0, 3]
    assert second["phase"] == "match_over"
    assert [player["score"] for player in second["players"]] == [20, 12]
    assert (third["phase"], third["turn"]["player"]) == ("playing", 2)
    assert [third["sides"][side]["pocketed"] for side in "AB"] == [5, 2]
    state = latest(directory)
    assert isinstance(state, TableState)
    assert state.seq == 152
    assert [seat.name for seat in state.match.seats] == ["Asha B.", "Ben"]
    assert state.stroke is not None
    assert (state.stroke.number, state.stroke.jumped) == (6, ("black",))


def test_a_record_written_to_a_converted_journal_is_there_the_next_time(tmp_path: Path) -> None:
    directory = written_by(1, tmp_path)
    store = Store.create(directory)
    store.write((Batch((record(153, 3),)),))
    store.close()
    assert reopened(directory).records[-1] == record(153, 3)
