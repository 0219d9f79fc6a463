"""What the journal's tests write, and how they wait for the writer thread."""

import resource
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from appliance.journal import Answer, Batch, InlineJournal, Journal, Record, Recovered, SourceRow, Stamp

DEADLINE_S = 20.0


def stamp(number: int = 0) -> Stamp:
    return Stamp("4f1c-boot", 1_000 + number, 1_700_000_000_000_000_000 + number, number % 2 == 0)


def record(seq: int, match: int = 1, kind: str = "stroke_closed", *, fact: bool = True) -> Record:
    return Record(seq, match, kind, fact, f'{{"n": {seq}}}', stamp(seq))


def edge(sequence: int, source: str = "board", boot_id: int | None = 77) -> SourceRow:
    numbered = None if boot_id is None else sequence
    return SourceRow(source, boot_id, numbered, 3, sequence % 2, None, 50_000 + sequence, stamp(sequence))


def batch(seq: int, match: int = 1) -> Batch:
    """One input as play brings it: an edge, the event that it led to, the answer to a request."""
    return Batch((record(seq, match),), (edge(seq),), (Answer(f"t{seq}", f"r{seq}"),))


class Listener:
    """Hears what a journal reports, and waits for it."""

    def __init__(self) -> None:
        self.positions: list[int] = []
        self.safety: list[str | None] = []
        self._changed = threading.Condition()

    def on_synced(self, position: int) -> None:
        with self._changed:
            self.positions.append(position)
            self._changed.notify_all()

    def on_safety(self, reason: str | None) -> None:
        with self._changed:
            self.safety.append(reason)
            self._changed.notify_all()

    def wait(self, condition: Callable[[], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(condition, DEADLINE_S), (self.positions[-3:], self.safety)

    def poll(self, condition: Callable[[], bool]) -> None:
        """Wait for what nobody reports."""
        give_up_s = time.monotonic() + DEADLINE_S
        while not condition():
            assert time.monotonic() < give_up_s
            time.sleep(0.002)

    def wait_synced(self, position: int) -> None:
        self.wait(lambda: bool(self.positions) and self.positions[-1] >= position)

    def wait_unsafe(self) -> str:
        self.wait(lambda: bool(self.safety) and self.safety[-1] is not None)
        return str(self.safety[-1])

    def wait_safe(self) -> None:
        self.wait(lambda: bool(self.safety) and self.safety[-1] is None)


def reopened(directory: Path) -> Recovered:
    """What a fresh start finds in the directory."""
    journal = InlineJournal(directory, "club-1", lambda _position: None)
    recovered = journal.open()
    journal.close()
    return recovered


def journal_on(directory: Path, listener: Listener) -> Journal:
    return Journal(directory, "club-1", listener.on_synced, listener.on_safety, retry_pause_s=0.01)


@contextmanager
def files_no_longer_than(size: int) -> Iterator[None]:
    """Have the kernel refuse every write past `size`, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
