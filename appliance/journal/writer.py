"""The daemon's journal: a queue, and one thread that empties it onto the disk.

The thread takes whatever waits, writes it in one transaction, syncs once, and reports one position: under
load the groups grow by themselves and the disk's syncs are shared. If the disk refuses, the group stays at
the head, in order; the connection is opened anew before each further attempt, since after a pulled card or a
remount the old one would talk to a file that is no longer there. For the same reason nothing is reported
durable before the files were seen under their names once more: SQLite writes happily to what was deleted.

A journal that turns out damaged at the start is kept under a dated name and the newest sound copy takes its
place, or an empty one, with what can still be read of the damaged one (`salvage.py`). Damage found in play cannot
be mended while everything since the last copy stands in the damaged file alone: it is told, and the next start
deals with it.
"""

import logging
import shutil
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TypeVar

from appliance.clock import Clock, SystemClock
from appliance.grammar import how_many
from appliance.journal.backups import BackupThread
from appliance.journal.copies import journal_bytes, newest_sound_copy
from appliance.journal.lock import DirectoryLock
from appliance.journal.numbering import (
    Numbering,
    is_marked_unsafe,
    mark_unsafe,
    read_numbering,
    write_numbering,
)
from appliance.journal.order import SeqGuard
from appliance.journal.pruning import LIMITS, EndsStroke, Limits
from appliance.journal.reader import read
from appliance.journal.replacing import DAMAGE_FILE, finish_replacing, replace_journal
from appliance.journal.salvage import SALVAGE_DIRECTORY, salvaged
from appliance.journal.store import JOURNAL_FILE, Store, damage_told, is_damage
from appliance.journal.values import (
    Batch,
    DamagedJournalError,
    JournalError,
    JournalHealth,
    NoJournalError,
    Recovered,
    SourceRow,
    UnsavedError,
)

_log = logging.getLogger(__name__)

_Told = TypeVar("_Told")

_GROUP_LIMIT = 1_000  # batches a commit: bounds what one transaction needs of a disk that was full
_TIDY_EVERY = 256  # commits
_LOOK_EVERY_S = 2.0  # while nothing happens: is the file still there?
_CHECKED_AT_START_BYTES = 8 * 1024 * 1024  # what can be read from end to end in a moment; more is with each backup
_NOTHING = Recovered(0, (), {}, {})


class Journal:
    """A table's journal in its state directory. One thread calls it: the one that runs the loop."""

    def __init__(
        self,
        directory: Path,
        table_id: str,
        on_synced: Callable[[int], None],
        on_safety: Callable[[str | None], None] = lambda _reason: None,
        *,
        ends_stroke: EndsStroke = lambda _kind, _body: True,
        retry_pause_s: float = 1.0,
        limits: Limits = LIMITS,
        clock: Clock | None = None,
    ) -> None:
        """Touch nothing yet.

        `on_synced` and `on_safety` are called from the writer thread and must not block: `on_synced` with the
        position up to which everything is durable, `on_safety` with the reason when batches cannot be written
        and with None when all is written again. `ends_stroke` tells by kind and body which records end a
        stroke: the rows since the last three of them are kept. A refused group is tried again every
        `retry_pause_s` seconds.
        """
        self._directory = directory
        self._on_synced = on_synced
        self._on_safety = on_safety
        self._ends_stroke = ends_stroke
        self._retry_pause_s = retry_pause_s
        self._limits = limits
        self._lock = DirectoryLock(directory, table_id)
        self._clock = clock or SystemClock()
        self._guard = SeqGuard()
        self._backups = BackupThread(directory, self._clock, self._found_damage)
        self._store: Store | None = None
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._queue: SimpleQueue[Batch | None] = SimpleQueue()
        self._appended = 0
        self._high_water = 0
        self._synced = 0
        self._commits = 0
        self._failures = 0
        self._last_commit_ns = 0
        self._end = (0, 0)  # of the file as far as we know: the newest `seq` and row
        self._attempted: list[Batch] = []  # what the last attempt was to add to it
        self._reason: str | None = None
        self._safe_from: int | None = None  # unsafe until the disk takes a group, then until this is durable
        self._notice: str | None = None
        self._notice_match: int | None = None
        self._distrusted: set[Path] = set()
        self._to_replace: tuple[Path | None, str] | None = None  # decided, and not done yet
        self._may_salvage = False  # what the damaged file holds beyond that copy
        self._salvaged_on: Path | None = None
        self._numbering = Numbering()
        self._numbering_kept = self._numbering  # as the file has it

    def open(self) -> Recovered:
        """Lock the directory, read what the table starts from, and start the writer.

        A directory that can be read but not written does not stop the start, and neither does a damaged
        journal: the table plays, and `health` says what is wrong.
        """
        self._lock.acquire()
        try:
            recovered = self._numbered(self._recover())
        except BaseException:
            self._drop_store()
            self._lock.release()
            raise
        self._appended = self._synced = 0
        self._attempted = []
        self._start(recovered)
        return recovered

    def append(self, batch: Batch) -> int:
        """Queue the batch; returns its position. See `JournalPort.append`."""
        if self._thread is None:
            raise RuntimeError("the journal is not open")
        self._guard.admit(batch)
        self._appended += 1
        self._high_water = max(self._high_water, self._appended - self._synced)
        self._queue.put(batch)
        return self._appended

    @property
    def synced(self) -> int:
        """The position up to which everything is durable."""
        return self._synced

    def rows_since(self, seq: int) -> tuple[SourceRow, ...]:
        """The durable rows of the first batch with a record of at least `seq` and of all batches after it."""
        if self._to_replace is not None:
            return ()
        try:
            with read(self._directory) as reader:
                return reader.rows_since(seq)
        except NoJournalError:  # the disk did not take even an empty one
            return ()
        except DamagedJournalError as error:
            self._found_damage(error)
            return ()

    def match_ended(self) -> None:
        """A match is over: have a backup made in the background."""
        self._backups.request()

    def distrust(self, reason: str) -> Recovered:
        """Start from an older copy, or from nothing. See `JournalPort.distrust`."""
        self._stop()
        self._drop_store()
        try:
            if self._end == (0, 0):
                raise DamagedJournalError(reason)
            if self._salvaged_on is not None:  # the copy by itself may be sound
                self._distrusted.discard(self._salvaged_on)
            recovered = self._numbered(self._start_from_copy(DamagedJournalError(reason), salvages=False))
        except BaseException:
            self._drop_store()
            self._lock.release()
            raise
        self._start(recovered)
        return recovered

    def health(self) -> JournalHealth:
        """How the journal is now; may be asked from any thread."""
        reason, notice = self._reason, self._notice
        return JournalHealth(
            waiting=self._appended - self._synced,
            high_water=self._high_water,
            commits=self._commits,
            failures=self._failures,
            last_commit_ns=self._last_commit_ns,
            safe=reason is None and notice is None,
            reason=reason or notice,
            notice=notice,
            backups=self._backups.made,
            backup_failures=self._backups.failures,
        )

    def close(self) -> None:
        """Write what waits, stop the writer, unlock.

        While the disk refuses, one last attempt is made; what it does not take is lost: UnsavedError.
        """
        if self._thread is None:
            return
        self._stop()
        self._drop_store()
        self._lock.release()
        lost = self._appended - self._synced
        if lost:
            told = how_many(lost, "batch could not be written and is lost", "batches could not be written and are lost")
            raise UnsavedError(f"{told}: {self._reason}")

    # -- the start -----------------------------------------------------------------------------------------

    def _start(self, recovered: Recovered) -> None:
        self._guard.begin(max(recovered.last_seq, recovered.seq_floor))
        self._closing.clear()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()
        self._backups.start()

    def _stop(self) -> None:
        self._backups.stop()
        if self._thread is not None:
            self._closing.set()
            self._queue.put(None)
            self._thread.join()
            self._thread = None

    def _numbered(self, recovered: Recovered) -> Recovered:
        """The same with the numbers that may not be given out again."""
        if self._numbering.is_beyond(recovered.last_seq):  # somebody has put an older one in its place
            self._numbering = self._numbering.after_loss()
        try:
            self._keep_numbering()
            mark_unsafe(self._directory, unsafe=self._reason is not None)
        except OSError as error:
            self._refused(error)
        return replace(recovered, seq_floor=self._numbering.floor)

    def _set_numbers_apart(self, store: Store) -> None:
        """What is written now may be told: let the numbers that are kept reach beyond it."""
        self._numbering = self._numbering.ahead_of(store.end[0])
        self._keep_numbering()

    def _keep_numbering(self) -> None:
        """Make durable which numbers may be given out, where that has changed; OSError where the disk refuses."""
        if self._numbering != self._numbering_kept:
            write_numbering(self._directory, self._numbering)
            self._numbering_kept = self._numbering

    def _recover(self) -> Recovered:
        self._numbering = self._numbering_kept = read_numbering(self._directory)
        if is_marked_unsafe(self._directory):
            self._numbering = self._numbering.after_loss()
        try:
            shutil.rmtree(self._directory / SALVAGE_DIRECTORY, ignore_errors=True)
            interrupted = finish_replacing(self._directory)
            if (self._directory / DAMAGE_FILE).exists():
                raise DamagedJournalError((self._directory / DAMAGE_FILE).read_text("utf-8", "replace").strip())
            with damage_told(self._directory / JOURNAL_FILE):
                self._store = Store.create(self._directory)
                if journal_bytes(self._directory) <= _CHECKED_AT_START_BYTES:
                    self._store.check_content()
                recovered = self._store.recover()
            self._end = self._store.end
            if recovered.last_seq and not self._numbering.is_beyond(recovered.last_seq):
                self._numbering = self._numbering.ahead_of(recovered.last_seq)
            if interrupted:
                self._give_notice("A damaged journal has been set aside; what it held since the last backup is lost")
            return recovered
        except DamagedJournalError as damage:
            self._drop_store()
            return self._start_from_copy(damage)
        except (sqlite3.OperationalError, OSError) as error:
            self._refused(error)
        try:
            with read(self._directory) as reader:
                self._end = reader.end()
                return reader.recovered()
        except NoJournalError:
            self._end = (0, 0)
            return _NOTHING
        except DamagedJournalError as damage:
            return self._start_from_copy(damage)

    def _start_from_copy(self, damage: DamagedJournalError, *, salvages: bool = True) -> Recovered:
        """Have the newest sound copy, or nothing, take the damaged journal's place; at once if the disk lets us.

        `salvages`: with what can be read of the damaged one beyond it.
        """
        copy = newest_sound_copy(self._directory, self._distrusted)
        self._to_replace, self._may_salvage, self._salvaged_on = (copy, str(damage)), salvages, None
        self._numbering = self._numbering.after_loss()
        if copy is not None:
            self._distrusted.add(copy)
        try:
            store = self._store = self._create()
            self._end = store.end
            return store.recover()
        except (sqlite3.OperationalError, OSError) as error:
            self._refused(error)
        self._may_salvage = False  # the table starts from the copy alone
        if copy is None:
            self._end = (0, 0)
            return _NOTHING
        with closing(Store.open_file(copy, older=True)) as store:
            self._end = store.read_end()
            return store.recover()

    def _create(self) -> Store:
        """Open the journal to write, after the replacement that was decided on."""
        if self._to_replace is not None:
            copy, why = self._to_replace
            self._keep_numbering()  # before: a power cut in between costs numbers, and never gives one out twice
            with salvaged(self._directory, copy) if self._may_salvage else nullcontext() as salvage:
                new = salvage.file if salvage else copy
                aside = replace_journal(self._directory, new, "damaged", self._clock.wall_ns())
            if salvage:
                self._salvaged_on = copy
                since = f" since the backup {copy.name}" if copy is not None else ""
                after = "it" if salvage.inputs == 1 else "them"
                found = f"{how_many(salvage.inputs, 'input')}{since}"
                lost = f"{found} could be read in it, what may have come after {after} is lost"
            elif copy is None:
                lost = "an empty journal has taken over: nothing of what was played is there"
            else:
                lost = f"the backup {copy.name} has taken over: what was played since is lost"
            self._give_notice(f"{why}; {lost}, the damaged file is kept as {aside}")
            self._to_replace = None
        return Store.create(self._directory)

    def _give_notice(self, notice: str) -> None:
        """Say what was lost, until a match has begun of which everything is there."""
        self._notice, self._notice_match = notice, None
        _log.error("%s", notice)

    # -- the writer ----------------------------------------------------------------------------------------

    def _run(self) -> None:
        group: list[Batch] = []
        ending = False
        since_tidied = 0
        while not ending or group:
            ending = self._gather(group) or ending
            if not group:
                if not ending:
                    self._look()
                continue
            is_last_attempt = self._closing.is_set()
            durable = self._write(group)
            if not durable:
                if is_last_attempt:
                    break
                self._closing.wait(self._retry_pause_s)
                continue
            self._outlive_notice(group[:durable])
            self._synced += durable
            del group[:durable]
            self._tell(self._on_synced, self._synced)
            if self._reason is not None:
                self._recovering()
            self._backups.changed()
            since_tidied += 1
            if since_tidied >= _TIDY_EVERY and not self._tidy():
                since_tidied = 0

    def _gather(self, group: list[Batch]) -> bool:
        """Add to the group what waits, for a while if nothing does; True once the queue's end has been reached."""
        try:
            while len(group) < _GROUP_LIMIT:
                batch = self._queue.get(block=not group, timeout=_LOOK_EVERY_S)
                if batch is None:
                    return True
                group.append(batch)
        except Empty:
            pass
        return False

    def _write(self, group: list[Batch]) -> int:
        """How many batches at the head of the group are durable now; 0 if the disk refuses."""
        started_ns = self._clock.monotonic_ns()
        try:
            if self._store is None and (durable := self._reopen()):
                return durable
            assert self._store is not None
            self._attempted = list(group)
            self._store.write(group)
            self._store.check_place()
            self._set_numbers_apart(self._store)
        except Exception as error:  # whatever it is, the batches stay and the reason is told
            self._refused(error)
            return 0
        self._took_attempted()
        self._last_commit_ns = self._clock.monotonic_ns() - started_ns
        self._commits += 1
        return len(group)

    def _reopen(self) -> int:
        """Open the file anew; how many of the attempted batches are durable in it although they were refused."""
        store = self._create()
        try:
            store.carry_over()
            if self._attempted and store.end == _end_with(self._end, self._attempted):
                # Refused, and there all the same: only what came after it had failed. Not a second time.
                self._set_numbers_apart(store)
                durable = len(self._attempted)
                self._took_attempted()
            elif store.end == self._end:
                durable = 0
            else:
                raise JournalError(
                    f"another journal is in its place: its newest record is {store.end[0]}, not {self._end[0]}"
                )
        except BaseException:
            store.close()
            raise
        self._store = store
        return durable

    def _took_attempted(self) -> None:
        self._end = _end_with(self._end, self._attempted)
        self._attempted = []

    def _look(self) -> None:
        """Nothing happens: see whether the journal is still there, and whether it is there again."""
        try:
            if self._store is None:
                self._reopen()
            else:
                self._store.check_place()
        except Exception as error:  # as above
            self._refused(error)
            return
        if self._reason is not None:
            self._recovering()

    def _refused(self, error: Exception) -> None:
        self._failures += 1
        self._safe_from = None
        self._drop_store()
        was_safe = self._reason is None
        reason = f"the journal in {self._directory} cannot be written: {error}"
        if is_damage(error) and self._to_replace is None:
            self._found_damage(error)
            reason = self._notice or reason
        self._reason = reason
        if was_safe:
            mark_unsafe(self._directory, unsafe=True)
            self._tell(self._on_safety, reason)

    def _recovering(self) -> None:
        """The disk takes groups again: safe once it has taken all that waited when it began to."""
        if self._safe_from is None:
            self._safe_from = self._appended
        if self._synced >= self._safe_from:
            self._reason = None
            mark_unsafe(self._directory, unsafe=False)
            self._tell(self._on_safety, None)

    def _found_damage(self, error: Exception) -> None:
        """Damage while we play: say so, and leave word for the next start. May be called from any thread."""
        told = str(error)
        if not isinstance(error, DamagedJournalError):
            told = f"the journal {self._directory / JOURNAL_FILE} is damaged: {error}"
        if self._notice is None:
            self._give_notice(f"{told}; the next start goes on from the newest backup")
        with suppress(OSError):  # a disk that does not take the word does not take the score either
            (self._directory / DAMAGE_FILE).write_text(f"{told}\n", "utf-8")

    def _outlive_notice(self, written: Sequence[Batch]) -> None:
        if self._notice is None or (self._directory / DAMAGE_FILE).exists():
            return
        for record in (record for batch in written for record in batch.records):
            if self._notice_match is None:
                self._notice_match = record.match
            elif record.match > self._notice_match:
                self._notice = None
                return

    def _tidy(self) -> bool:
        """Let go of old evidence, and carry the log over; whether there is more to let go of."""
        more = False
        try:
            if self._store is not None:
                clock = self._clock
                more = self._store.prune(
                    self._limits, self._ends_stroke, clock.wall_ns() if clock.synchronised() else None
                )
                if not more:
                    self._store.checkpoint()
        except sqlite3.Error as error:
            # Nothing is lost: the log still holds it all. If the disk is at its end, the next write says so.
            self._failures += 1
            if is_damage(error):
                self._found_damage(error)
        return more

    def _drop_store(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            with suppress(sqlite3.Error):  # what was committed stands in the log, folded into the file or not
                store.close()

    def _tell(self, listener: Callable[[_Told], None], news: _Told) -> None:
        try:
            listener(news)
        except Exception as error:  # the writer must outlive whoever listens
            _log.error("the journal could not report %r: %s", news, error)


def _end_with(end: tuple[int, int], batches: Sequence[Batch]) -> tuple[int, int]:
    """The newest `seq` and row of a file after the batches are in it."""
    seq, row = end
    for batch in batches:
        seq = batch.records[-1].seq if batch.records else seq
        row += len(batch.rows)
    return seq, row
