"""How the table's events, and what its sources deliver, are written into the journal and read back.

An event's text is the JSON of its own fields; pydantic checks it on the way in, so that a record which is
valid JSON of the wrong shape is an error with a place, and never a wrong score. What a source delivers is a row.
"""

import json
from dataclasses import replace
from functools import cache
from typing import Annotated, get_args

from pydantic import Field, TypeAdapter, ValidationError

from appliance.events import Chatter, ColourReading, Edge, EdgeId, EdgesLost, SourceBack, SourceInput, SourceLost
from appliance.journal import JournalError, NewerJournalError, Record, SourceRow, Stamp, Stretch
from appliance.table.model import Fact, TableEvent

FACTS = get_args(Fact)

_AnyEvent = Annotated[TableEvent, Field(discriminator="kind")]


class UnreadableRecordError(JournalError):
    """A record's text is not that of an event; `unknown` is a kind in it that this program does not know."""

    def __init__(self, sentence: str, unknown: str | None = None) -> None:
        """The sentence, and the kind."""
        super().__init__(sentence)
        self.unknown = unknown


@cache
def _adapter() -> TypeAdapter[TableEvent]:
    return TypeAdapter(_AnyEvent)


def write_event(event: TableEvent) -> str:
    """The event as JSON text."""
    return _adapter().dump_json(event).decode()


def read_event(text: str) -> TableEvent:
    """The event of a record's text; UnreadableRecordError where it is none."""
    try:
        return _adapter().validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        unknown = first["ctx"]["tag"] if first["type"] == "union_tag_invalid" else None
        raise UnreadableRecordError(f"this program cannot read it ({where}: {first['msg']})", unknown) from None


def read_record(record: Record) -> TableEvent:
    """The event of a record.

    UnreadableRecordError names the record; NewerJournalError where it is of a kind that only a newer program
    can have written.
    """
    name = f"record {record.seq} of the journal ({record.kind})"
    try:
        return read_event(record.body)
    except UnreadableRecordError as error:
        if error.unknown == record.kind:
            raise NewerJournalError(f"{name} is of a kind that this program does not know: update needed") from None
        raise UnreadableRecordError(f"{name}: {error}") from None


def write_row(item: SourceInput, stamp: Stamp) -> SourceRow | None:
    """The row of what a source delivered; None for what says nothing of the game's course."""
    match item:
        case Edge(source, channel, level, at_ns, identity):
            return _row(source, identity, channel, level, at_ns, stamp)
        case Chatter(source, channel, level, since_ns, until_ns):
            stretch = Stretch(since_ns, item.edges, item.shortest_ns, item.longest_ns, item.noisy_ns, item.pulse_ns)
            return replace(_row(source, item.identity, channel, level, until_ns, stamp), stretch=stretch)
        case ColourReading(source, channel, name, at_ns, identity):
            return replace(_row(source, identity, channel, None, at_ns, stamp), colour=name)
        case EdgesLost(source, _, at_ns, identity) if identity is not None:
            return _row(source, identity, 0, None, at_ns, stamp)
        case SourceLost(source, _, at_ns):
            return replace(_row(source, None, 0, None, at_ns, stamp), what="lost")
        case SourceBack(source, boot_id, at_ns):
            return replace(_row(source, None, 0, None, at_ns, stamp), boot_id=boot_id, what="back")
        case _:
            return None


def read_row(row: SourceRow) -> SourceInput | None:
    """What the source delivered; None where the row tells of the program itself."""
    identity = None if row.boot_id is None or row.sequence is None else EdgeId(row.boot_id, row.sequence)
    match row:
        case SourceRow(what="started"):
            return None
        case SourceRow(what="lost"):
            return SourceLost(row.source, "", row.at_ns)
        case SourceRow(what="back"):
            return SourceBack(row.source, row.boot_id, row.at_ns)
        case SourceRow(stretch=Stretch() as many, level=int() as level):
            return Chatter(
                row.source,
                row.channel,
                level,
                many.since_ns,
                row.at_ns,
                many.edges,
                many.shortest_ns,
                many.longest_ns,
                many.noisy_ns,
                many.pulse_ns,
                identity,
            )
        case SourceRow(level=int() as level):
            return Edge(row.source, row.channel, level, row.at_ns, identity)
        case SourceRow(colour=str() as name):
            return ColourReading(row.source, row.channel, name, row.at_ns, identity)
        case _:
            return EdgesLost(row.source, 0, row.at_ns, identity)


def _row(source: str, identity: EdgeId | None, channel: int, level: int | None, at_ns: int, stamp: Stamp) -> SourceRow:
    boot_id, sequence = (identity.boot_id, identity.sequence) if identity else (None, None)
    return SourceRow(source, boot_id, sequence, channel, level, None, at_ns, stamp)


def ends_stroke(kind: str, body: str) -> bool:
    """Whether a record of that kind and body closed a stroke."""
    if kind != "stepped":
        return False
    try:
        return bool(json.loads(body)["step"]["action"]["kind"] == "stroke_closed")
    except (ValueError, LookupError, TypeError):
        return False


def is_fact(event: TableEvent) -> bool:
    """Whether the event is kept for ever: what a match is folded from."""
    return isinstance(event, FACTS)
