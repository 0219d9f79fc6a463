"""The thread that makes the daemon's own copies.

A thread of its own, not the writer's: a copy of a year of play takes seconds on a slow card, and meanwhile
edges must go on becoming durable. It reads over its own connection and gives up where the daemon ends.

A copy is made when a match has ended and once a day while something changes, but not sooner than the size of
the last one allows: on average the copies write no more than 20 kB a second, which a card bears for years.
"""

import logging
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from appliance.clock import Clock
from appliance.journal.copies import AbandonedError, journal_bytes, make_automatic_copy
from appliance.journal.store import Store
from appliance.journal.values import DamagedJournalError, JournalError

_log = logging.getLogger(__name__)

_DAY_NS = 86_400 * 1_000_000_000
_NS_A_BYTE = 1_000_000_000 // 20_000


class BackupThread:
    """Copies on request, one at a time. `made` and `failures` count them."""

    def __init__(self, directory: Path, clock: Clock, on_damage: Callable[[DamagedJournalError], None]) -> None:
        """Start nothing yet; `on_damage` is called from the thread where the journal turned out damaged."""
        self.made = 0
        self.failures = 0
        self._directory = directory
        self._clock = clock
        self._on_damage = on_damage
        self._wanted = threading.Event()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self._not_before_ns: int | None = None  # None: at the next opportunity
        self._daily_ns: int | None = None

    def start(self) -> None:
        """Begin to wait for requests."""
        self._ending.clear()
        self._wanted.clear()
        self._daily_ns = self._clock.monotonic_ns() + _DAY_NS
        self._thread = threading.Thread(target=self._run, name="journal backups", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Give up a copy that is being made, and end."""
        self._ending.set()
        self._wanted.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def request(self) -> None:
        """A match has ended: make a copy, unless the last one is too young for its size."""
        if self._not_before_ns is None or self._clock.monotonic_ns() >= self._not_before_ns:
            self._wanted.set()

    def changed(self) -> None:
        """Something was written: make a copy if the last one is a day old."""
        if self._daily_ns is not None and self._clock.monotonic_ns() >= self._daily_ns:
            self._daily_ns += _DAY_NS
            self._wanted.set()

    def _run(self) -> None:
        while self._wanted.wait() and not self._ending.is_set():
            self._wanted.clear()
            self._copy()

    def _copy(self) -> None:
        try:
            made = make_automatic_copy(self._directory, self._clock.wall_ns(), self._ending.is_set)
            now_ns = self._clock.monotonic_ns()
            self._not_before_ns = now_ns + journal_bytes(self._directory) * _NS_A_BYTE
            self._daily_ns = now_ns + _DAY_NS
        except AbandonedError:
            return
        except (OSError, sqlite3.Error, JournalError) as error:
            self.failures += 1
            _log.warning("no backup of the journal in %s could be made: %s", self._directory, error)
            if isinstance(error, DamagedJournalError):
                self._look_at_journal()
            return
        if made is None:
            self.failures += 1
            _log.warning("no backup of the journal in %s was made: the disk is nearly full", self._directory)
        else:
            self.made += 1

    def _look_at_journal(self) -> None:
        """Was it the copy that came out wrong, or is the journal itself damaged?"""
        try:
            with closing(Store.open_read_only(self._directory)) as store:
                store.check_content()
        except DamagedJournalError as error:
            self._on_damage(error)
        except (OSError, sqlite3.Error, JournalError) as error:
            _log.warning("the journal in %s could not be looked over: %s", self._directory, error)
