"""`pocketbeam backup` and `restore`, and the copies that the daemon makes by itself."""

import os
import re
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from appliance import cli
from appliance.journal import DamagedJournalError, Journal, read
from appliance.journal.copies import (
    AbandonedError,
    automatic_copies,
    check_copy,
    copy_journal,
    make_automatic_copy,
    newest_sound_copy,
)
from appliance.journal.numbering import UNSAFE_FILE
from appliance.journal.schema import SCHEMA_VERSION
from appliance.journal.store import JOURNAL_FILE, Store
from tests.journal.material import DEADLINE_S, Listener, batch, journal_on, record, reopened
from tests.journal.test_formats import written_by

Said = tuple[int, str, str]
Run = Callable[..., Said]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table's directory with three matches."""
    directory = tmp_path / "club-1"
    directory.mkdir()
    written_by(1, directory)
    Store.create(directory).close()
    return directory


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr("appliance.cli.log.set_up_logging", lambda _level: None)  # it would outlive the captured output

    def run(*arguments: object) -> Said:
        status = cli.main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert err.count("\n") <= 1, err
        return status, out, err

    return run


def content(path: Path) -> list[object]:
    connection = sqlite3.connect(path)
    found: list[object] = []
    for table in ("record", "source_row", "answer", "progress", "boot"):
        found += connection.execute(f"SELECT * FROM {table}").fetchall()
    connection.close()
    return found


class TestBackup:
    def test_is_one_file_with_everything(self, table: Path, tmp_path: Path, run: Run) -> None:
        status, out, _ = run("backup", "--state-dir", table, tmp_path / "b.sqlite")
        assert status == 0
        assert out.startswith(f"{tmp_path / 'b.sqlite'} holds 3 matches up to match m3")
        assert content(tmp_path / "b.sqlite") == content(table / JOURNAL_FILE)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["b.sqlite", "club-1"]

    def test_gets_a_dated_name_here(
        self, table: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        status, out, _ = run("backup", "--state-dir", table)
        (made,) = tmp_path.glob("*.sqlite")
        assert status == 0
        assert made.name in out
        told = re.fullmatch(r"club-1-(\d{8}T\d{6}Z)\.sqlite", made.name)
        assert told is not None
        when = datetime.strptime(told[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        assert abs((datetime.now(UTC) - when).total_seconds()) < DEADLINE_S

    def test_replaces_an_older_backup_and_nothing_else(self, table: Path, tmp_path: Path, run: Run) -> None:
        target = tmp_path / "b.sqlite"
        assert run("backup", "--state-dir", table, target)[0] == 0
        assert run("backup", "--state-dir", table, target)[0] == 0
        letter = tmp_path / "letter.txt"
        letter.write_text("Dear Ben")
        for wrong, why in ((letter, "is not a backup"), (tmp_path, "is a directory"), (table / "b", None)):
            status, _, err = run("backup", "--state-dir", table, wrong)
            assert status == (1 if why else 0)
            assert why is None or why in err
        assert letter.read_text() == "Dear Ben"
        status, _, err = run("backup", "--state-dir", table, table / JOURNAL_FILE)
        assert status == 1
        assert "in the table's own directory" in err

    @pytest.mark.parametrize("what", ["no directory", "no journal", "damaged", "no folder for it"])
    def test_says_in_a_sentence_why_there_is_none(self, table: Path, tmp_path: Path, run: Run, what: str) -> None:
        target = tmp_path / "b.sqlite"
        if what == "no directory":
            table = tmp_path / "nowhere"
        elif what == "no journal":
            (table / JOURNAL_FILE).unlink()
        elif what == "damaged":
            with (table / JOURNAL_FILE).open("r+b") as file:
                file.seek(4096)
                file.write(bytes(4096))
        else:
            target = tmp_path / "nowhere" / "b.sqlite"
        status, out, err = run("backup", "--state-dir", table, target)
        assert status == (2 if what == "no directory" else 1)
        assert out == ""
        assert err.startswith("pocketbeam: ")
        assert not target.exists()
        assert not list(tmp_path.glob("*.partial"))

    def test_is_of_one_moment_while_inputs_come(self, tmp_path: Path) -> None:
        """Copies made beside a writer that never stops: each a whole number of inputs, none older than the last."""
        listener = Listener()
        journal = journal_on(tmp_path / "state", listener)
        journal.open()
        going = threading.Event()
        going.set()

        def play() -> None:
            seq = 0
            while going.is_set():
                seq += 1
                listener.wait_synced(journal.append(batch(seq)))

        player = threading.Thread(target=play)
        player.start()
        newest = 0
        for _ in range(8):
            synced = journal.synced
            copy_journal(tmp_path / "state", tmp_path / "copy.sqlite")
            connection = sqlite3.connect(tmp_path / "copy.sqlite")
            seqs = [seq for (seq,) in connection.execute("SELECT seq FROM record ORDER BY seq")]
            rows = [row for (row,) in connection.execute("SELECT sequence FROM source_row ORDER BY row")]
            connection.close()
            assert seqs == rows == list(range(1, len(seqs) + 1))
            assert len(seqs) >= max(synced, newest)
            newest = len(seqs)
        going.clear()
        player.join()
        assert newest > 8
        journal.close()

    def test_that_is_given_up_leaves_nothing(self, table: Path, tmp_path: Path) -> None:
        with pytest.raises(AbandonedError):
            copy_journal(table, tmp_path / "b.sqlite", lambda: True)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["club-1"]


class TestRestore:
    def test_brings_everything_back_and_keeps_what_was_there(self, table: Path, tmp_path: Path, run: Run) -> None:
        run("backup", "--state-dir", table, tmp_path / "b.sqlite")
        before = content(table / JOURNAL_FILE)
        store = Store.create(table)
        store.write((batch(500, match=4),))
        later = (table / JOURNAL_FILE).read_bytes(), (table / f"{JOURNAL_FILE}-wal").read_bytes()
        status, out, _ = run("restore", tmp_path / "b.sqlite", "--state-dir", table)
        store.close()
        assert status == 0
        assert f"{table} holds 3 matches" in out
        (kept,) = table.glob("journal-replaced-*.sqlite")
        assert str(kept) in out
        assert (kept.read_bytes(), kept.with_name(f"{kept.name}-wal").read_bytes()) == later
        assert content(table / JOURNAL_FILE) == before
        assert reopened(table).last_seq == 152

    @pytest.mark.parametrize("replaced", ["sound", "damaged", "marked unsafe"])
    def test_goes_on_above_the_numbers_of_what_it_replaces(
        self, table: Path, tmp_path: Path, run: Run, replaced: str
    ) -> None:
        """Whoever has heard of input 156 must not take the next one for an older."""
        run("backup", "--state-dir", table, tmp_path / "b.sqlite")
        journal = journal_on(table, Listener())
        journal.open()
        for seq in range(153, 157):
            journal.append(batch(seq, match=4))
        journal.close()
        if replaced == "damaged":
            (table / JOURNAL_FILE).write_bytes(b"rubbish" * 1_000)
        elif replaced == "marked unsafe":
            (table / UNSAFE_FILE).touch()
        assert run("restore", tmp_path / "b.sqlite", "--state-dir", table)[0] == 0
        journal = journal_on(table, Listener())
        recovered = journal.open()
        journal.close()
        assert recovered.last_seq == 152
        assert recovered.seq_floor == 156 if replaced == "sound" else recovered.seq_floor > 156

    def test_into_a_new_directory(self, table: Path, tmp_path: Path, run: Run) -> None:
        run("backup", "--state-dir", table, tmp_path / "b.sqlite")
        status, out, _ = run("restore", tmp_path / "b.sqlite", "--state-dir", tmp_path / "new" / "table")
        assert status == 0
        assert "kept" not in out
        assert reopened(tmp_path / "new" / "table").last_seq == 152
        assert content(table / JOURNAL_FILE) == content(tmp_path / "new" / "table" / JOURNAL_FILE)

    def test_one_of_an_older_format(self, table: Path, tmp_path: Path, run: Run) -> None:
        (tmp_path / "old").mkdir()
        old = written_by(1, tmp_path / "old") / JOURNAL_FILE
        assert run("restore", old, "--state-dir", table)[0] == 0
        assert reopened(table).last_seq == 152

    def test_is_refused_while_a_daemon_runs(self, table: Path, tmp_path: Path, run: Run) -> None:
        run("backup", "--state-dir", table, tmp_path / "b.sqlite")
        journal = journal_on(table, Listener())
        journal.open()
        status, _, err = run("restore", tmp_path / "b.sqlite", "--state-dir", table)
        assert status == 1
        assert f"is already run by process {os.getpid()}" in err
        journal.close()
        assert not list(table.glob("journal-replaced-*"))

    @pytest.mark.parametrize("wrong", ["missing", "no journal", "damaged", "newer", "newer record", "a directory"])
    def test_of_a_wrong_file_touches_nothing(self, table: Path, tmp_path: Path, run: Run, wrong: str) -> None:
        file = tmp_path / "b.sqlite"
        run("backup", "--state-dir", table, file)
        before = (table / JOURNAL_FILE).read_bytes()
        if wrong == "missing":
            file.unlink()
        elif wrong == "no journal":
            file.write_text("Dear Ben")
        elif wrong == "damaged":
            file.write_bytes(file.read_bytes()[:-4096])
        elif wrong == "a directory":
            file = tmp_path
        else:
            connection = sqlite3.connect(file)
            connection.execute(
                f"PRAGMA user_version = {SCHEMA_VERSION + 1}" if wrong == "newer" else "UPDATE record SET version = 2"
            )
            connection.commit()
            connection.close()
        status, out, err = run("restore", file, "--state-dir", table)
        assert (status, out) == (1, "")
        assert "update needed" in err or not wrong.startswith("newer")
        assert (table / JOURNAL_FILE).read_bytes() == before
        assert not list(table.glob("journal-replaced-*"))


class TestAutomaticCopies:
    def test_the_newest_three_stay_whatever_the_clock_says(self, table: Path) -> None:
        years = (2030, 1970, 2025, 2024, 2031)
        made = [
            make_automatic_copy(table, int(datetime(year, 1, 2, tzinfo=UTC).timestamp()) * 10**9, lambda: False)
            for year in years
        ]
        kept = automatic_copies(table)
        assert kept == made[2:]
        assert [path.name[:11] for path in kept] == ["000003-2025", "000004-2024", "000005-2031"]
        assert newest_sound_copy(table, set()) == made[-1]
        assert newest_sound_copy(table, {made[-1], made[-2]}) == made[2]  # type: ignore[arg-type]
        for path in kept:
            check_copy(path)

    def test_one_that_cannot_be_made_is_counted_and_told(self, table: Path, caplog: pytest.LogCaptureFixture) -> None:
        (table / "backups").write_text("in the way")
        listener = Listener()
        journal = journal_on(table, listener)
        journal.open()
        journal.match_ended()
        listener.poll(lambda: journal.health().backup_failures == 1)
        assert journal.health().safe
        journal.close()
        assert "no backup of the journal" in caplog.text

    def test_a_match_that_ends_has_one_made_and_the_next_not_too_soon(self, tmp_path: Path) -> None:
        clock, listener = HandClock(), Listener()
        journal = Journal(tmp_path, "club-1", listener.on_synced, clock=clock)
        journal.open()
        listener.wait_synced(journal.append(batch(1)))
        journal.match_ended()
        listener.poll(lambda: journal.health().backups == 1)
        listener.wait_synced(journal.append(batch(2)))
        journal.match_ended()
        size = (tmp_path / JOURNAL_FILE).stat().st_size
        clock.now_ns += (size // 20_000 + 1) * 1_000_000_000
        journal.match_ended()
        listener.poll(lambda: journal.health().backups == 2)
        journal.close()
        (first, second) = automatic_copies(tmp_path)
        for path, last_seq in ((first, 1), (second, 2)):
            with closing(Store.open_file(path)) as store:
                assert store.recover().last_seq == last_seq

    def test_once_a_day_while_something_changes(self, tmp_path: Path) -> None:
        clock, listener = HandClock(), Listener()
        journal = Journal(tmp_path, "club-1", listener.on_synced, clock=clock)
        journal.open()
        day_ns = 86_400 * 1_000_000_000
        for seq in range(1, 5):
            listener.wait_synced(journal.append(batch(seq)))
            clock.now_ns += day_ns // 2
        listener.poll(lambda: journal.health().backups == 1)
        clock.now_ns += day_ns
        listener.wait_synced(journal.append(batch(5)))
        listener.poll(lambda: journal.health().backups == 2)
        journal.close()

    def test_play_goes_on_while_one_is_made(self, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A card that takes for ever: inputs become durable meanwhile, and the end does not wait for it."""
        slow = threading.Event()

        def pause(_seconds: float) -> None:
            slow.set()
            slow_enough.wait(0.01)

        slow_enough = threading.Event()
        monkeypatch.setattr("appliance.journal.copies._PAGES_A_STEP", 1)
        monkeypatch.setattr("appliance.journal.copies.time.sleep", pause)
        listener = Listener()
        journal = journal_on(table, listener)
        journal.open()
        journal.match_ended()
        assert slow.wait(DEADLINE_S)
        for seq in range(153, 200):
            listener.wait_synced(journal.append(batch(seq, match=3)))
        assert journal.health().backups in (0, 1)
        journal.close()
        assert not list((table / "backups").glob("*.partial"))
        assert reopened(table).last_seq == 199

    def test_damage_that_one_brings_to_light_is_told_at_once(self, tmp_path: Path) -> None:
        store = Store.create(tmp_path)
        store.write(batch(seq) for seq in range(1, 400))
        store.close()
        listener = Listener()
        journal = journal_on(tmp_path, listener)
        journal.open()
        listener.wait_synced(journal.append(batch(400)))
        with (tmp_path / JOURNAL_FILE).open("r+b") as file:
            file.seek((tmp_path / JOURNAL_FILE).stat().st_size // 8192 * 4096)
            file.write(bytes(4096))
        journal.match_ended()
        listener.poll(lambda: journal.health().notice is not None)
        assert "is damaged" in str(journal.health().reason)
        assert not journal.health().safe
        journal.close()
        with pytest.raises(DamagedJournalError):
            check_copy(tmp_path / JOURNAL_FILE)
        again = journal_on(tmp_path, Listener())
        assert 0 < again.open().last_seq < 400, "what stands before the damage"
        again.close()
        assert list(tmp_path.glob("journal-damaged-*.sqlite"))


class HandClock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_ns = 1_000_000_000

    def monotonic_ns(self) -> int:
        return self.now_ns

    def wall_ns(self) -> int:
        return 1_740_830_400_000_000_000 + self.now_ns

    def synchronised(self) -> bool:
        return True

    def boot_id(self) -> str:
        return "boot"


def test_a_backup_restored_on_another_table_is_played_on(table: Path, tmp_path: Path, run: Run) -> None:
    """The way of an appliance that is replaced: backup, a new card, restore, go on."""
    run("backup", "--state-dir", table, tmp_path / "b.sqlite")
    shutil.rmtree(table)
    run("restore", tmp_path / "b.sqlite", "--state-dir", table)
    journal = journal_on(table, Listener())
    assert journal.open().last_seq == 152
    journal.append(batch(153, match=3))
    journal.close()
    with read(table) as reader:
        assert reader.records(3)[-1] == record(153, 3)
        assert reader.records(1)[0].kind == "match_started"
