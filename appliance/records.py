"""How the table's events are written into the journal, and read back.

The text is the JSON of the event's own fields; pydantic checks it on the way in, so that a record which is
valid JSON of the wrong shape is an error with a place, and never a wrong score.
"""

import json
from functools import cache
from typing import Annotated, get_args

from pydantic import Field, TypeAdapter, ValidationError

from appliance.journal import JournalError, NewerJournalError, Record
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
