"""The journal: what a table's match is folded from, kept through power cuts.

One SQLite file a table. *Facts* (accepted events that changed something) are kept for ever; *evidence*
(edges, colour readings, passages) is kept to judge again and to report. A batch is everything that followed
from one input; it is written whole or not at all, in the order of the calls. One writer thread takes all
batches that wait, commits them together and syncs once; then, and only then, it says up to where everything
is durable. Nothing may be acknowledged to a microcontroller or published before that word.

The loop never waits for the disk: `append` only queues. When the disk refuses (full, read-only, unplugged),
the batches wait in memory, `health()` says that they are not safe and why, and they are written in order
once the disk takes them again.

    Journal        the daemon's: threaded, on a state directory, locked against a second daemon
    InlineJournal  the same port, committing inside `append`: for tests in virtual time and for `replay`
    read           read-only access beside a running daemon, for `status`, `history` and `export`
"""

from appliance.journal.inline import InlineJournal
from appliance.journal.reader import JournalReader, read
from appliance.journal.values import (
    AlreadyRunningError,
    Answer,
    Batch,
    DamagedJournalError,
    JournalError,
    JournalHealth,
    JournalPort,
    MatchEntry,
    NewerJournalError,
    NoJournalError,
    Record,
    Recovered,
    SourceRow,
    Stamp,
    Stretch,
    UnsavedError,
    What,
)
from appliance.journal.writer import Journal

__all__ = [
    "AlreadyRunningError",
    "Answer",
    "Batch",
    "DamagedJournalError",
    "InlineJournal",
    "Journal",
    "JournalError",
    "JournalHealth",
    "JournalPort",
    "JournalReader",
    "MatchEntry",
    "NewerJournalError",
    "NoJournalError",
    "Record",
    "Recovered",
    "SourceRow",
    "Stamp",
    "Stretch",
    "UnsavedError",
    "What",
    "read",
]
