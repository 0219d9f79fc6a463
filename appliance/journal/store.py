"""All SQL of the journal, on one connection, for whoever holds it; no thread, no lock, no clock.

Write-ahead log with synchronous=FULL. Measured on an SSD, one synced commit takes half of what it takes with
a rollback journal (one sync of one file against two or three). FULL, not NORMAL: in this mode NORMAL syncs
only at checkpoints, so that the last commits before a power cut, already acknowledged and shown, would be
gone. A commit cut short by a power cut fails its checksum in the log and was never there; there is no tail to
repair by hand. psow=0 fills each commit up to a whole sector, so that a card which loses power in the middle of
the next one, and leaves rubbish in the sector that it was writing, cannot spoil the one before (no slower here).
Settings are read back on every connection, because SQLite ignores what it cannot do.

Checkpoints are left to the owner of the connection (`checkpoint`), after the word that a group is durable has
gone out; the one inside a commit is only the backstop that bounds the log.
"""

import re
import sqlite3
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from appliance.journal.lock import sync_directory
from appliance.journal.pruning import EndsStroke, Limits, first_match_folded, prune
from appliance.journal.schema import APPLICATION_ID, MIGRATIONS, SCHEMA_VERSION
from appliance.journal.values import (
    RECORD_VERSION,
    Answer,
    Batch,
    DamagedJournalError,
    JournalError,
    MatchEntry,
    NewerJournalError,
    NoJournalError,
    Record,
    Recovered,
    SourceRow,
    Stamp,
    Stretch,
)

JOURNAL_FILE = "journal.sqlite"
LOG_FILE = f"{JOURNAL_FILE}-wal"
ANSWERS_KEPT = 1_000
BOOTS_KEPT = 8
"""So many boots of each source are remembered."""

_BUSY_S = 2.0  # how long another program's lock on the file is waited for
_LOG_BACKSTOP_PAGES = 2_048  # 8 MiB
_CACHE_KIB = 256
"""What a connection keeps of the file in memory: the writer appends, and needs little more than the last pages."""
_LOG_KEPT_BYTES = 4 * 1024 * 1024
_NO_FORMAT_FROM = 10_000  # so high a number comes from damage, not from a newer program

_RECORD_COLUMNS = (
    "seq, match, kind, fact, body, version, boot_id, monotonic_ns, wall_ns, clock_synchronised"
    " FROM record INDEXED BY record_by_match JOIN boot USING (boot)"
)
_ROW_OWN = "source, source_boot, sequence, channel, level, colour, at_ns"
_ROW_STAMP = "boot_id, monotonic_ns, wall_ns, clock_synchronised"
_ROW_SINCE_4 = "what, since_ns, edges, shortest_ns, longest_ns, noisy_ns, pulse_ns"
_STRETCHES_FROM = 4
"""The format that knows of stretches."""


class Store:
    """A journal on one open connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Use `create`, `create_in_memory` or `open_read_only`."""
        self.connection = connection
        self.end = (0, 0)
        """The newest `seq` and the number of the newest source row, as committed."""
        self.version = SCHEMA_VERSION
        self._boots: dict[str, int] = {}
        self._rows = 0  # more of them since they were counted
        self._counted: int | None = None
        self._files: dict[Path, tuple[int, int]] = {}

    @classmethod
    def create(cls, directory: Path) -> "Store":
        """Open the directory's journal to write, created or brought to this program's format as needed.

        Raises NewerJournalError or DamagedJournalError for a file that must not be touched; OSError or
        sqlite3.Error where the disk refuses.
        """
        path = directory / JOURNAL_FILE
        store = cls(_connect(f"{path.absolute().as_uri()}?psow=0"))
        try:
            with damage_told(path):
                _check_format(store.connection, path)
                _set(store.connection, "cache_size", -_CACHE_KIB, -_CACHE_KIB)
                _set(store.connection, "journal_mode", "WAL", "wal")
                _set(store.connection, "synchronous", "FULL", 2)
                _set(store.connection, "wal_autocheckpoint", _LOG_BACKSTOP_PAGES, _LOG_BACKSTOP_PAGES)
                _set(store.connection, "journal_size_limit", _LOG_KEPT_BYTES, _LOG_KEPT_BYTES)
                _migrate(store.connection)
                _check_columns(store.connection, path)
                store.end = store.read_end()
                # A killed process leaves commits that were written and not synced; what a table starts from
                # must be durable, and this syncs it.
                store.checkpoint()
            sync_directory(directory)
            store._files = {file: _identity(file) for file in (path, directory / LOG_FILE)}
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def create_in_memory(cls) -> "Store":
        """A journal that ends with whoever holds it, closed or not."""
        store = cls(_connect("file::memory:"))
        weakref.finalize(store, store.connection.close)
        _migrate(store.connection)
        return store

    @classmethod
    def open_read_only(cls, directory: Path) -> "Store":
        """Open the directory's journal to read, beside a daemon that writes or without one.

        Raises NoJournalError where there is none yet, another JournalError where it cannot be read or is not
        this program's.
        """
        return cls.open_file(directory / JOURNAL_FILE)

    @classmethod
    def open_file(cls, path: Path, *, older: bool = False) -> "Store":
        """The same for a journal under any name, such as a copy; one of an older format too where `older`."""
        try:
            found = path.exists()
        except OSError as error:
            raise JournalError(f"the journal {path} cannot be read: {error.strerror}") from error
        if not found:
            raise NoJournalError(f"there is no journal in {path.parent}")
        uri = f"{path.absolute().as_uri()}?mode=ro"
        try:
            return cls._open_read_only(uri, path, older)
        except sqlite3.OperationalError as error:
            # On a read-only disk the index of the log cannot be created; without a log none is needed.
            log = path.with_name(f"{path.name}-wal")
            if log.exists() and log.stat().st_size > 0:
                raise JournalError(f"the journal {path} cannot be read: {error}") from error
        try:
            return cls._open_read_only(f"{uri}&immutable=1", path, older)
        except sqlite3.OperationalError as error:
            raise JournalError(f"the journal {path} cannot be read: {error}") from error

    @classmethod
    def _open_read_only(cls, uri: str, path: Path, older: bool) -> "Store":
        connection = _connect(uri)
        try:
            with damage_told(path):
                version = _check_format(connection, path)
                _set(connection, "cache_size", -_CACHE_KIB, -_CACHE_KIB)
                if version == 0:
                    raise NoJournalError(f"there is no journal in {path.parent}: {path.name} is empty")
                if version < SCHEMA_VERSION and not older:
                    raise JournalError(
                        f"the journal {path} is older than this program; starting the table once converts it"
                    )
        except BaseException:
            connection.close()
            raise
        store = cls(connection)
        store.version = version
        return store

    def close(self) -> None:
        """Close the connection; the last one folds the log into the file."""
        self.connection.close()

    def write(self, batches: Iterable[Batch]) -> None:
        """Write the batches in one transaction with one sync; on any error nothing of them is written."""
        connection = self.connection
        end = self.end
        try:
            connection.execute("BEGIN IMMEDIATE")
            for batch in batches:
                end = self._write_batch(batch, end)
            connection.execute("COMMIT")
            self.end = end
        except BaseException:
            self._boots.clear()
            self._counted = None
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def checkpoint(self) -> None:
        """Carry the log over into the file as far as readers allow, without waiting for them."""
        self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def carry_over(self) -> None:
        """Carry the whole log over into the file and empty it; sqlite3.OperationalError where it stays.

        After a sync that failed the system may take the log's pages for written although they never were:
        nothing may be appended behind them.
        """
        (busy, _log_pages, _carried) = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise sqlite3.OperationalError("its log is in use by another program")

    def prune(self, limits: Limits, ends_stroke: EndsStroke, wall_ns: int | None) -> bool:
        """Let go of a pass's worth of evidence in a transaction of its own; whether there may be more."""
        connection = self.connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            if self._counted is None:
                (self._counted,) = connection.execute("SELECT count(*) FROM source_row").fetchone()
                self._rows = 0
            pruned = prune(connection, limits, self.end, self._counted + self._rows, ends_stroke, wall_ns)
            connection.execute("COMMIT")
            self._rows -= pruned.rows
        except BaseException:
            self._counted = None
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return pruned.may_be_more

    def check_place(self) -> None:
        """Raise JournalError where the files are no longer under their names: what is written would be lost."""
        for file, identity in self._files.items():
            try:
                found = _identity(file)
            except OSError as error:
                raise JournalError(f"{file} is gone: {error.strerror}") from error
            if found != identity:
                raise JournalError(f"{file} has been replaced by another file")

    def check_content(self) -> None:
        """Read the whole file; DamagedJournalError where anything in it contradicts the rest."""
        with damage_told(self.path):
            found = self.connection.execute("PRAGMA integrity_check(3)").fetchall()
        if found != [("ok",)]:
            what = "; ".join(line for (text,) in found for line in text.splitlines() if not line.startswith("***"))
            raise DamagedJournalError(
                f"the journal {self.path} is damaged: {what or 'its parts contradict each other'}"
            )

    @property
    def path(self) -> Path:
        """The file."""
        return Path(next(name for _, space, name in self.connection.execute("PRAGMA database_list") if space == "main"))

    def recover(self) -> Recovered:
        """What a table starts from; reads only the records of the newest matches."""
        connection = self.connection
        (last_seq,) = connection.execute("SELECT coalesce(max(seq), 0) FROM record").fetchone()
        answers = connection.execute("SELECT transaction_id, response FROM answer ORDER BY position")
        progress: dict[str, dict[int, int]] = {}
        for source, boot, following in connection.execute(
            "SELECT source, source_boot, next_sequence FROM progress ORDER BY turn"
        ):
            progress.setdefault(source, {})[boot] = following
        return Recovered(
            last_seq=last_seq,
            records=self.records_folded(),
            answers=dict(answers.fetchall()),
            progress=progress,
        )

    def records_folded(self) -> tuple[Record, ...]:
        """The records that the present state is folded from, in order of `seq`; the same in every format."""
        records = self.connection.execute(
            f"SELECT {_RECORD_COLUMNS} WHERE match >= ? ORDER BY seq, ordinal",
            (first_match_folded(self.connection),),
        )
        return tuple(_record(row) for row in records)

    def rows_since(self, seq: int) -> tuple[SourceRow, ...]:
        """The rows of the first batch with a record of at least `seq` and of all batches after it."""
        found = self.connection.execute(
            "SELECT last_row FROM record WHERE seq >= ? ORDER BY seq, ordinal LIMIT 1", (seq,)
        ).fetchone()
        if found is None:
            # No such record yet: only rows after the newest record can belong to what comes.
            return ()
        rows = self.connection.execute(f"SELECT {self._row_columns} WHERE row > ? ORDER BY row", found)
        return tuple(_source_row(row) for row in rows)

    def rows_after(self, row: int) -> tuple[tuple[int, SourceRow], ...]:
        """The rows behind the one of that number, each with its own."""
        rows = self.connection.execute(f"SELECT row, {self._row_columns} WHERE row > ? ORDER BY row", (row,))
        return tuple((number, _source_row(columns)) for number, *columns in rows)

    def stretches(self) -> tuple[SourceRow, ...]:
        """The rows that stand for many edges, oldest first."""
        rows = self.connection.execute(f"SELECT {self._row_columns} WHERE edges IS NOT NULL ORDER BY row")
        return tuple(_source_row(row) for row in rows)

    def records_from(self, seq: int) -> Iterator[Record]:
        """Every record from that `seq` on, one after the other: what follows damage is not asked for."""
        columns = _RECORD_COLUMNS.replace("INDEXED BY record_by_match", "NOT INDEXED")
        rows = self.connection.execute(f"SELECT {columns} WHERE seq >= ? ORDER BY seq, ordinal", (seq,))
        return (_record(row) for row in rows)

    def rows_from(self, row: int) -> Iterator[SourceRow]:
        """Every source row from that number on, one after the other."""
        rows = self.connection.execute(f"SELECT {self._row_columns} WHERE row >= ? ORDER BY row", (row,))
        return (_source_row(columns) for columns in rows)

    def first_row(self) -> int:
        """The number of the oldest source row that is still there; 0 where there is none."""
        (row,) = self.connection.execute("SELECT coalesce(min(row), 0) FROM source_row").fetchone()
        return int(row)

    def answers(self) -> Iterator[Answer]:
        """The answers that are remembered, oldest first."""
        found = self.connection.execute("SELECT transaction_id, response FROM answer ORDER BY position")
        return (Answer(transaction, response) for transaction, response in found)

    def placed_records(self, match: int, seq: int) -> tuple[tuple[int, Record], ...]:
        """The records behind `seq` from that match on, each with the number of the newest row before its batch."""
        records = self.connection.execute(
            f"SELECT last_row, {_RECORD_COLUMNS} WHERE match >= ? AND seq > ? ORDER BY seq, ordinal", (match, seq)
        )
        return tuple((row, _record(columns)) for row, *columns in records)

    def matches(self) -> tuple[MatchEntry, ...]:
        """Every match, oldest first."""
        rows = self.connection.execute(
            "SELECT match, seq, boot_id, monotonic_ns, wall_ns, clock_synchronised, min(ordinal) FROM"
            " (SELECT match, min(seq) AS seq FROM record GROUP BY match)"
            " JOIN record USING (match, seq) JOIN boot USING (boot) GROUP BY match ORDER BY match"
        )
        return tuple(MatchEntry(match, seq, _stamp(stamp)) for match, seq, *stamp, _ordinal in rows)

    def records(self, match: int) -> tuple[Record, ...]:
        """Every record of the match that still exists, in order of `seq`."""
        rows = self.connection.execute(f"SELECT {_RECORD_COLUMNS} WHERE match = ? ORDER BY seq, ordinal", (match,))
        return tuple(_record(row) for row in rows)

    def read_end(self) -> tuple[int, int]:
        """The newest `seq` and the number of the newest source row, read from the file."""
        (seq,) = self.connection.execute("SELECT coalesce(max(seq), 0) FROM record").fetchone()
        (row,) = self.connection.execute("SELECT coalesce(max(row), 0) FROM source_row").fetchone()
        return seq, row

    def _write_batch(self, batch: Batch, end: tuple[int, int]) -> tuple[int, int]:
        last_seq, last_row = end
        if batch.records:
            self.connection.executemany(
                "INSERT INTO record (seq, ordinal, match, kind, fact, body, version, last_row,"
                " boot, monotonic_ns, wall_ns, clock_synchronised) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
                [
                    (r.seq, ordinal, r.match, r.kind, r.fact, r.body, r.version, last_row, *self._stamp(r.stamp))
                    for ordinal, r in _with_ordinals(batch.records)
                ],
            )
            last_seq = batch.records[-1].seq
        if batch.rows:
            self._forget_shorter(batch.rows)
            self.connection.executemany(
                f"INSERT INTO source_row (row, {_ROW_OWN}, {_ROW_SINCE_4},"
                " boot, monotonic_ns, wall_ns, clock_synchronised) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                [(row, *_source_columns(r), *self._stamp(r.stamp)) for row, r in enumerate(batch.rows, last_row + 1)],
            )
            last_row += len(batch.rows)
            self._rows += len(batch.rows)
            self._write_progress(batch.rows)
        if batch.answers:
            self._write_answers(batch.answers)
        return last_seq, last_row

    def _forget_shorter(self, rows: tuple[SourceRow, ...]) -> None:
        """Let go of what there was of stretches that have grown: the new row says all that the old one said."""
        for row in rows:
            if row.stretch is not None:
                boot, *_ = self._stamp(row.stamp)
                self._rows -= self.connection.execute(
                    "DELETE FROM source_row"
                    " WHERE edges IS NOT NULL AND source = ? AND channel = ? AND boot = ? AND since_ns = ?",
                    (row.source, row.channel, boot, row.stretch.since_ns),
                ).rowcount

    @property
    def _row_columns(self) -> str:
        own = _ROW_SINCE_4 if self.version >= _STRETCHES_FROM else re.sub(r"\w+", "NULL", _ROW_SINCE_4)
        return f"{_ROW_OWN}, {own}, {_ROW_STAMP} FROM source_row JOIN boot USING (boot)"

    def _write_progress(self, rows: tuple[SourceRow, ...]) -> None:
        for progress in _progress(rows):
            changed = self.connection.execute(
                "UPDATE progress SET next_sequence = ?3 WHERE turn ="
                " (SELECT max(turn) FROM progress WHERE source = ?1) AND source_boot = ?2",
                progress,
            ).rowcount
            if not changed:
                # Another boot than the last one: it takes the newest turn, and the oldest is forgotten.
                self.connection.execute(
                    "INSERT OR REPLACE INTO progress (source, source_boot, next_sequence) VALUES (?, ?, ?)", progress
                )
                self.connection.execute(
                    "DELETE FROM progress WHERE turn IN (SELECT turn FROM progress WHERE source = ?"
                    " ORDER BY turn DESC LIMIT -1 OFFSET ?)",
                    (progress[0], BOOTS_KEPT),
                )

    def _write_answers(self, answers: tuple[Answer, ...]) -> None:
        # A repeated transaction keeps its first answer.
        self.connection.executemany(
            "INSERT INTO answer (transaction_id, response) VALUES (?, ?) ON CONFLICT DO NOTHING",
            ((answer.transaction, answer.response) for answer in answers),
        )
        self.connection.execute(
            "DELETE FROM answer WHERE position <= (SELECT max(position) FROM answer) - ?", (ANSWERS_KEPT,)
        )

    def _stamp(self, stamp: Stamp) -> tuple[int, int, int, bool]:
        boot = self._boots.get(stamp.boot_id)
        if boot is None:
            self.connection.execute("INSERT INTO boot (boot_id) VALUES (?) ON CONFLICT DO NOTHING", (stamp.boot_id,))
            found = self.connection.execute("SELECT boot FROM boot WHERE boot_id = ?", (stamp.boot_id,))
            boot = self._boots[stamp.boot_id] = int(found.fetchone()[0])
        return boot, stamp.monotonic_ns, stamp.wall_ns, stamp.clock_synchronised


class _Connection(sqlite3.Connection):
    """One whose complaints are always sqlite3.Error.

    Of a damaged list of tables SQLite quotes what it found there, and Python raises UnicodeDecodeError in place of
    the complaint where that is no text. The list is read as a statement is prepared, which happens here.
    """

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        with _damage_quoted():
            return super().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        with _damage_quoted():
            return super().executemany(sql, parameters)


@contextmanager
def _damage_quoted() -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        found = error.object.decode("ascii", "replace")
        complaint = sqlite3.DatabaseError(found)
        complaint.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise complaint from error


def _connect(uri: str) -> sqlite3.Connection:
    # The connection is handed from the thread that opens it to the one that writes, never shared.
    return sqlite3.connect(
        uri, uri=True, timeout=_BUSY_S, isolation_level=None, check_same_thread=False, factory=_Connection
    )


def _set(connection: sqlite3.Connection, pragma: str, value: str | int, expected: str | int) -> None:
    """Make a setting and read it back."""
    connection.execute(f"PRAGMA {pragma} = {value}").fetchall()
    (found,) = connection.execute(f"PRAGMA {pragma}").fetchone()
    if found != expected:
        raise JournalError(f"SQLite keeps {pragma} at {found} where the journal needs {value}")


def _check_format(connection: sqlite3.Connection, path: Path) -> int:
    """The file's schema version, 0 for an empty file; raises where this program must not use it."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application != APPLICATION_ID and (application or version or tables):
        raise DamagedJournalError(f"{path} is an SQLite file of another program, not a journal")
    if not 0 <= version < _NO_FORMAT_FROM:
        raise DamagedJournalError(f"the journal {path} is damaged: its format cannot be {version}")
    if version > SCHEMA_VERSION:
        raise NewerJournalError(
            f"the journal {path} has format {version} and this program knows formats up to"
            f" {SCHEMA_VERSION}: update needed"
        )
    return int(version)


def _migrate(connection: sqlite3.Connection) -> None:
    """Take the steps that the file has not taken yet, each in a transaction of its own."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for number, statements in enumerate(MIGRATIONS[version:], version + 1):
        connection.execute("BEGIN IMMEDIATE")
        for statement in statements:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")


def _check_columns(connection: sqlite3.Connection, path: Path) -> None:
    """Raise where a name has changed: what is only read later, or written, would find it out in play."""
    with closing(_connect("file::memory:")) as sound:
        _migrate(sound)
        if missing := _columns(sound) - _columns(connection):
            table, column = min(missing)
            raise DamagedJournalError(f"the journal {path} is damaged: {column or 'all'} of {table} is missing")


def _columns(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    return set(
        connection.execute(
            "SELECT entry.name, coalesce(of_it.name, '') FROM sqlite_schema AS entry"
            " LEFT JOIN pragma_table_info(entry.name) AS of_it"
        )
    )


@contextmanager
def damage_told(path: Path) -> Iterator[None]:
    """Turn what SQLite says of a damaged file into one sentence; what the disk refuses passes through."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            what = " ".join(str(error).split())
            raise DamagedJournalError(f"the journal {path} is damaged: {what}") from error
        raise


def is_damage(error: Exception) -> bool:
    """Whether an error says that the file's content is wrong, rather than that the disk refuses.

    Every statement is one that a sound journal can carry out, so what SQLite cannot make sense of is the file. Text
    that is none is Python's own complaint, without a code.
    """
    if not isinstance(error, sqlite3.DatabaseError):
        return isinstance(error, DamagedJournalError)
    if not hasattr(error, "sqlite_errorcode"):
        return "decode to UTF-8" in str(error)
    code = error.sqlite_errorcode & 0xFF  # without what is extended
    return code in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _identity(file: Path) -> tuple[int, int]:
    found = file.stat()
    return found.st_dev, found.st_ino


def _with_ordinals(records: tuple[Record, ...]) -> Iterator[tuple[int, Record]]:
    """Number the records that share a `seq`."""
    seq, ordinal = None, 0
    for record in records:
        ordinal = ordinal + 1 if record.seq == seq else 0
        seq = record.seq
        yield ordinal, record


def _progress(rows: tuple[SourceRow, ...]) -> list[tuple[str, int, int]]:
    """For each boot of a source that numbers its rows, the last met last: the number that comes next."""
    following: dict[tuple[str, int], int] = {}
    for row in rows:
        if row.boot_id is not None and row.sequence is not None:
            following.pop((row.source, row.boot_id), None)
            following[row.source, row.boot_id] = row.sequence + 1
    return [(source, boot_id, number) for (source, boot_id), number in following.items()]


def _source_columns(row: SourceRow) -> tuple[str | int | None, ...]:
    own = row.source, row.boot_id, row.sequence, row.channel, row.level, row.colour, row.at_ns, row.what
    each = row.stretch
    if each is None:
        return (*own, None, None, None, None, None, None)
    return (*own, each.since_ns, each.edges, each.shortest_ns, each.longest_ns, each.noisy_ns, each.pulse_ns)


def _stamp(columns: Sequence[Any]) -> Stamp:
    boot_id, monotonic_ns, wall_ns, synchronised = columns
    return Stamp(boot_id, monotonic_ns, wall_ns, bool(synchronised))


def _record(columns: Sequence[Any]) -> Record:
    seq, match, kind, fact, body, version, *stamp = columns
    if version > RECORD_VERSION:
        raise NewerJournalError(
            f"record {seq} of the journal ({kind}) has version {version} and this program knows versions up to"
            f" {RECORD_VERSION}: update needed"
        )
    return Record(seq, match, kind, bool(fact), body, _stamp(stamp), version)


def _source_row(columns: Sequence[Any]) -> SourceRow:
    source, boot_id, sequence, channel, level, colour, at_ns, what, *stretch, _, _, _, _ = columns
    many = None if stretch[1] is None else Stretch(*stretch)
    return SourceRow(source, boot_id, sequence, channel, level, colour, at_ns, _stamp(columns[-4:]), many, what)
