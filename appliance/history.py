"""What a journal holds, read without touching it: for `status` and `export`."""

from collections.abc import Iterable
from pathlib import Path

from appliance.journal import JournalReader, Record, read
from appliance.records import read_record
from appliance.table.evolve import evolve
from appliance.table.model import Match, TableState


def latest(directory: Path) -> TableState | None:
    """The tip that a daemon would start from; None for a journal without a match.

    Raises `JournalError`, one sentence, where there is no journal that can be read.
    """
    with read(directory) as reader:
        return latest_of(reader.recovered().records)


def latest_of(records: Iterable[Record]) -> TableState | None:
    """The tip that follows from these records."""
    state: TableState | None = None
    for record in records:
        state = evolve(state, read_record(record), record.seq)
    return state


def matches(directory: Path) -> dict[str, Match]:
    """Every match of the journal as it was last, by its id, oldest first; JournalError as above."""
    with read(directory) as reader:
        return {name: state.match for name, state in matches_of(reader).items()}


def matches_of(reader: JournalReader) -> dict[str, TableState]:
    """By the id of each match, oldest first, the table as it stood when that match was last played."""
    records = sorted(
        (record for entry in reader.matches() for record in reader.records(entry.match)),
        key=lambda record: record.seq,
    )
    found: dict[str, TableState] = {}
    state: TableState | None = None
    for record in records:
        state = evolve(state, read_record(record), record.seq)
        found[state.match.id] = state
    return found
