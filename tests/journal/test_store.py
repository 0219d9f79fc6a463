"""The file itself: its format, its keys, its settings, what is refused, and what recovery has to read."""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.journal import (
    Batch,
    DamagedJournalError,
    InlineJournal,
    Journal,
    JournalError,
    JournalPort,
    MatchEntry,
    NewerJournalError,
    NoJournalError,
    read,
)
from appliance.journal.schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION
from appliance.journal.store import JOURNAL_FILE, Store
from appliance.journal.values import RECORD_VERSION
from tests.journal.material import Listener, batch, edge, journal_on, record, reopened, stamp

OPENERS: dict[str, Callable[[Path], JournalPort]] = {
    "threaded": lambda directory: Journal(directory, "club-1", lambda _position: None),
    "inline": lambda directory: InlineJournal(directory, "club-1", lambda _position: None),
}


@pytest.fixture(params=list(OPENERS))
def opener(request: pytest.FixtureRequest) -> Callable[[Path], JournalPort]:
    return OPENERS[request.param]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store.create(tmp_path)
    yield store
    store.close()


def test_every_connection_that_writes_syncs_each_commit(store: Store) -> None:
    """FR-121."""
    settings = {
        name: store.connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "application_id", "user_version")
    }
    assert settings == {
        "journal_mode": "wal",
        "synchronous": 2,
        "application_id": APPLICATION_ID,
        "user_version": SCHEMA_VERSION,
    }


def test_a_setting_that_sqlite_does_not_take_stops_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deaf(*arguments: object, **options: object) -> sqlite3.Connection:
        connection = sqlite3.Connection(":memory:", isolation_level=None)
        assert arguments
        assert options
        return connection  # in memory there is no write-ahead log to switch to

    monkeypatch.setattr(sqlite3, "connect", deaf)
    with pytest.raises(JournalError, match="SQLite keeps journal_mode at memory where the journal needs WAL"):
        Store.create(tmp_path)


def test_the_primary_key_refuses_a_record_twice_and_the_whole_transaction_with_it(store: Store) -> None:
    store.write((Batch((record(1), record(1, kind="turn_passed"))),))
    with pytest.raises(sqlite3.IntegrityError, match=r"UNIQUE constraint failed: record.seq, record.ordinal"):
        store.write((batch(2), Batch((record(1),))))
    assert [r.kind for r in store.recover().records] == ["stroke_closed", "turn_passed"]
    assert store.rows_since(0) == ()
    store.write((batch(2),))
    assert store.recover().last_seq == 2


@pytest.mark.parametrize(
    "wrong",
    [
        Batch((replace(record(2), body=b"{}"),)),  # type: ignore[arg-type]
        Batch((replace(record(2), match="two"),)),  # type: ignore[arg-type]
        Batch((replace(record(2), seq=2**63),)),
        Batch((replace(record(2), fact=2),)),  # type: ignore[arg-type]
        Batch((record(2),), (replace(edge(1), level="high"),)),  # type: ignore[arg-type]
    ],
)
def test_values_of_a_wrong_type_are_refused_and_nothing_of_their_batch_stays(store: Store, wrong: Batch) -> None:
    store.write((batch(1),))
    with pytest.raises((sqlite3.Error, OverflowError)):
        store.write((wrong,))
    assert store.recover().last_seq == 1
    assert len(store.rows_since(0)) == 1


def test_a_host_boot_is_spelled_out_once(store: Store) -> None:
    other = replace(stamp(), boot_id="another-boot")
    store.write((batch(1), batch(2), Batch((replace(record(3), stamp=other),))))
    assert [b for (b,) in store.connection.execute("SELECT boot_id FROM boot ORDER BY boot")] == [
        "4f1c-boot",
        "another-boot",
    ]
    assert [r.stamp.boot_id for r in store.recover().records] == ["4f1c-boot", "4f1c-boot", "another-boot"]


def test_a_boot_first_seen_in_a_transaction_that_failed_is_written_again(store: Store) -> None:
    store.write((batch(1),))
    other = replace(stamp(), boot_id="another-boot")
    with pytest.raises(sqlite3.IntegrityError):
        store.write((Batch((replace(record(2), stamp=other), record(1))),))
    store.write((Batch((replace(record(2), stamp=other),)),))
    assert store.recover().records[-1].stamp == other


def test_a_newer_file_is_refused_in_a_sentence_and_left_as_it_is(
    tmp_path: Path, opener: Callable[[Path], JournalPort]
) -> None:
    store = Store.create(tmp_path)
    store.connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    store.close()
    before = (tmp_path / JOURNAL_FILE).read_bytes()
    with pytest.raises(NewerJournalError, match=f"has format {SCHEMA_VERSION + 1} .*: update needed"):
        opener(tmp_path).open()
    with pytest.raises(NewerJournalError, match="update needed"), read(tmp_path):
        pass
    assert (tmp_path / JOURNAL_FILE).read_bytes() == before


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / JOURNAL_FILE)
    other.execute("CREATE TABLE recipe (name TEXT)")
    other.close()
    with pytest.raises(DamagedJournalError, match="of another program"):
        OPENERS["inline"](tmp_path).open()


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / JOURNAL_FILE).write_text("score: 7 to 4\n" * 100)
    with pytest.raises(DamagedJournalError, match="is damaged: file is not a database"):
        OPENERS["inline"](tmp_path).open()
    with pytest.raises(DamagedJournalError, match="is damaged"), read(tmp_path):
        pass


def test_a_damaged_page_is_told_in_a_sentence(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    store.write(batch(seq) for seq in range(1, 201))
    store.close()
    path = tmp_path / JOURNAL_FILE
    content = bytearray(path.read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(DamagedJournalError, match=r"journal.sqlite is damaged: "):
        OPENERS["inline"](tmp_path).open()
    with pytest.raises(DamagedJournalError, match="is damaged"), read(tmp_path) as reader:
        reader.recovered()
    # The lock has been let go: the next start is refused for the damage again, not for the first.
    with pytest.raises(DamagedJournalError):
        OPENERS["inline"](tmp_path).open()


def test_a_record_of_a_newer_program_is_refused_by_its_number(
    tmp_path: Path, opener: Callable[[Path], JournalPort]
) -> None:
    store = Store.create(tmp_path)
    store.write((batch(1), Batch((replace(record(2), version=RECORD_VERSION + 1),)), batch(3)))
    store.close()
    sentence = rf"record 2 of the journal \(stroke_closed\) has version {RECORD_VERSION + 1} .*: update needed"
    for _ in range(2):
        with pytest.raises(NewerJournalError, match=sentence):
            opener(tmp_path).open()
    with pytest.raises(NewerJournalError, match=sentence), read(tmp_path) as reader:
        reader.records(1)


@pytest.mark.parametrize("step", range(len(MIGRATIONS[0])))
def test_a_creation_cut_at_any_statement_leaves_an_empty_file_that_is_finished_later(
    tmp_path: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = MIGRATIONS[0]
    broken = (*statements[:step], "CREATE NONSENSE", *statements[step:])
    with monkeypatch.context() as patch:
        patch.setattr("appliance.journal.store.MIGRATIONS", (broken, *MIGRATIONS[1:]))
        with pytest.raises(DamagedJournalError, match="NONSENSE"):
            Store.create(tmp_path)
    with pytest.raises(NoJournalError), read(tmp_path):
        pass
    store = Store.create(tmp_path)
    store.write((batch(1),))
    store.close()
    assert reopened(tmp_path).last_seq == 1


def test_recovery_reads_two_matches_however_long_the_history(tmp_path: Path) -> None:
    """Counted in steps of SQLite's machine, not in seconds."""

    def steps(directory: Path, matches: int) -> int:
        directory.mkdir()
        store = Store.create(directory)
        store.write((Batch(tuple(record(seq, (seq - 1) // 50 + 1) for seq in range(1, matches * 50 + 1))),))
        counted = 0

        def count() -> int:
            nonlocal counted
            counted += 1
            return 0

        store.connection.set_progress_handler(count, 10)
        recovered = store.recover()
        store.rows_since(recovered.last_seq)
        store.connection.set_progress_handler(None, 0)
        store.close()
        assert len(recovered.records) == 100
        return counted

    short, long = steps(tmp_path / "short", 2), steps(tmp_path / "long", 400)
    assert short > 20
    assert long < 1.5 * short


def test_reading_beside_the_daemon_and_without_it(tmp_path: Path) -> None:
    with pytest.raises(NoJournalError, match="there is no journal in"), read(tmp_path):
        pass
    listener = Listener()
    journal = journal_on(tmp_path, listener)
    journal.open()
    for seq in range(1, 31):
        journal.append(batch(seq, match=(seq - 1) // 10 + 1))
    listener.wait_synced(30)

    def ask() -> None:
        with read(tmp_path) as reader:
            assert reader.matches() == tuple(MatchEntry(n + 1, n * 10 + 1, stamp(n * 10 + 1)) for n in range(3))
            assert reader.records(2) == tuple(record(seq, 2) for seq in range(11, 21))
            assert reader.records(9) == ()
            assert reader.rows_since(29) == (edge(29), edge(30))
            assert reader.recovered().answers["t30"] == "r30"

    ask()
    journal.close()
    ask()


def test_the_log_stays_short_while_readers_come_and_go(tmp_path: Path) -> None:
    """FR-123."""
    listener = Listener()
    journal = journal_on(tmp_path, listener)
    journal.open()
    longest = 0
    for seq in range(1, 2_001):
        journal.append(batch(seq))
        listener.wait_synced(seq)
        if seq % 20 == 0:
            with read(tmp_path) as reader:
                assert len(reader.rows_since(seq)) == 1
            longest = max(longest, (tmp_path / f"{JOURNAL_FILE}-wal").stat().st_size)
    journal.close()
    assert 0 < longest < 16 * 1024 * 1024
