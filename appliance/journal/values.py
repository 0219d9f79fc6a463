"""The values that go into the journal and come back, its errors and its port.

Bodies are JSON text that the journal never looks into: what an event means belongs to the table. The journal
knows of a record only what it needs to keep, find and order it.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

RECORD_VERSION = 1
"""The format of a record's body that this program writes.

It grows with every change that an older program would misread: a new kind of step inside a known kind of record,
or a field that changes what the others mean.
"""


class JournalError(Exception):
    """Something about the journal that stops the start; its text is one sentence for the table's owner."""


class AlreadyRunningError(JournalError):
    """Another process runs this table; the sentence names it."""


class NoJournalError(JournalError):
    """There is no journal in the directory yet."""


class NewerJournalError(JournalError):
    """The file was written by a newer program."""


class DamagedJournalError(JournalError):
    """The file is not a journal, or is damaged."""


class UnsavedError(JournalError):
    """At the end some batches could still not be written; the sentence says how many are lost and why."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """When something was written down: the host's boot, its monotonic clock, and what its wall clock said.

    Order and durations come from `monotonic_ns`, comparable only within one `boot_id`; `wall_ns` is
    nanoseconds since the epoch, UTC, for people, and believable only where `clock_synchronised`.
    """

    boot_id: str
    monotonic_ns: int
    wall_ns: int
    clock_synchronised: bool


@dataclass(frozen=True, slots=True)
class Record:
    """One accepted event of the table (a fact), or a piece of evidence; `body` is JSON text.

    All that follows from one input shares its `seq`. `version` is the format of the body, so that a later
    program knows how to read it.
    """

    seq: int
    match: int
    kind: str
    fact: bool
    body: str
    stamp: Stamp
    version: int = RECORD_VERSION


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a row is that stands for many edges of one channel: its own are the level, number and time of the last.

    `since_ns` is when the first of them was; with the channel and the host's boot it names the stretch. The rest is
    as in `events.Chatter`.
    """

    since_ns: int
    edges: int
    shortest_ns: int | None
    longest_ns: int | None
    noisy_ns: int
    pulse_ns: int


What = Literal["lost", "back", "started"]
"""A source is gone, or there again; the program has started, and has heard of none yet."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """An edge (`level`), a colour reading (`colour`), many edges (`stretch`), a turn in the source's life (`what`) or a
    loss (none of these) as its source delivered it: evidence.

    `boot_id` and `sequence` are the source's own, `sequence` not wrapped; None where the source cannot
    repeat. `at_ns` is on the host's monotonic clock.
    """

    source: str
    boot_id: int | None
    sequence: int | None
    channel: int
    level: int | None
    colour: str | None
    at_ns: int
    stamp: Stamp
    stretch: Stretch | None = None
    what: What | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer that a request's transaction got; a repeated transaction gets it again."""

    transaction: str
    response: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Everything that followed from one input: durable as a whole or not at all."""

    records: tuple[Record, ...] = ()
    rows: tuple[SourceRow, ...] = ()
    answers: tuple[Answer, ...] = ()


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a table starts from.

    `records` are all that still exist of the match of the newest record, of the one numbered before it, and
    of any numbered after it (a match that was undone), in order of `seq`. `answers` maps the last remembered
    transactions to their responses, oldest first. `progress`, for sources that number what they deliver, maps
    each of a source's last boots, the newest last, to its next sequence number that is not durable yet.
    `seq_floor` is the highest `seq` that may have been given out by a journal that was lost: the next one lies
    above it.
    """

    last_seq: int
    records: tuple[Record, ...]
    answers: dict[str, str]
    progress: dict[str, dict[int, int]]
    seq_floor: int = 0


@dataclass(frozen=True, slots=True)
class MatchEntry:
    """A match in the journal: its number, the first `seq` of its records and when that was written."""

    match: int
    first_seq: int
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class JournalHealth:
    """How the journal is: what waits, and whether what happened is safe.

    `waiting` counts batches that are appended and not durable, `high_water` the most that ever waited,
    `commits` the groups written, `failures` the attempts that the disk refused. `last_commit_ns` is how long
    the last group took to write and sync. `reason` is a sentence while not `safe`, else None. `notice` is that
    sentence where something was lost before, although what happens now is written: the journal was damaged and
    another took its place. `backups` counts the copies made, `backup_failures` those that could not be.
    """

    waiting: int
    high_water: int
    commits: int
    failures: int
    last_commit_ns: int
    safe: bool
    reason: str | None
    notice: str | None = None
    backups: int = 0
    backup_failures: int = 0


class JournalPort(Protocol):
    """What the daemon needs of a journal."""

    def open(self) -> Recovered:
        """Take the journal and hand back what the table starts from; JournalError where it cannot."""

    def append(self, batch: Batch) -> int:
        """Queue the batch without waiting for the disk; returns its position. Calls are in order of commit.

        Positions count up from 1 with each open. The `seq` of a batch's records must lie above that of every
        batch before: ValueError otherwise, and nothing is queued.
        """

    @property
    def synced(self) -> int:
        """The position up to which everything is durable."""

    def rows_since(self, seq: int) -> tuple[SourceRow, ...]:
        """The durable rows of the first batch with a record of at least `seq` and of all batches after it."""

    def match_ended(self) -> None:
        """A match is over: a good moment for a backup."""

    def distrust(self, reason: str) -> Recovered:
        """What `open` gave cannot be folded: set the file aside and start from an older copy, or from nothing.

        Raises DamagedJournalError where there is nothing else to start from. Only between `open` and the first
        `append`.
        """

    def health(self) -> JournalHealth:
        """How the journal is now."""

    def close(self) -> None:
        """Write what waits, then let go of the journal; UnsavedError if something could not be written."""
