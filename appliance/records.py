"""How the table's events are written into the journal, and read back.

The text is the JSON of the event's own fields; pydantic checks it on the way in, so that a record which is
valid JSON of the wrong shape is an error with a place, and never a wrong score.
"""

from functools import cache
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from appliance.journal import JournalError
from appliance.table.model import (
    Amended,
    ButtonPressed,
    FallenRevised,
    JumpedAdded,
    MatchStarted,
    NotScored,
    PassageAdded,
    PassageProlonged,
    Paused,
    QuietRestarted,
    Redone,
    Renamed,
    Resumed,
    Stepped,
    StrokeDropped,
    StrokeOpened,
    Struck,
    TableEvent,
    Undone,
)

FACTS = (MatchStarted, Stepped, Amended, Undone, Redone, Paused, Resumed, Renamed)

_AnyEvent = Annotated[
    MatchStarted
    | Stepped
    | Amended
    | Undone
    | Redone
    | Paused
    | Resumed
    | Renamed
    | StrokeOpened
    | Struck
    | PassageAdded
    | PassageProlonged
    | FallenRevised
    | JumpedAdded
    | StrokeDropped
    | NotScored
    | ButtonPressed
    | QuietRestarted,
    Field(discriminator="kind"),
]


class UnreadableRecordError(JournalError):
    """A record's text is not that of an event."""


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
        raise UnreadableRecordError(
            f"the journal holds a record that this program cannot read ({where}: {first['msg']})"
        ) from None


def is_fact(event: TableEvent) -> bool:
    """Whether the event is kept for ever: what a match is folded from."""
    return isinstance(event, FACTS)
