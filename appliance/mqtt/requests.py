"""What people and programs may ask of a table, and what can be refused without asking the table.

A payload is whatever somebody with access to the broker likes to send. It passes four gates, each with its
own sentence: size, text and JSON (nothing that another program could read differently: no duplicate keys,
no NaN, no broken characters, no deep nesting), the command, and the fields of that command. Nothing is
converted on the way: 1 is no player's name, and true is no number.

Fields that describe what happened at the table (`pocketed`, `out`, `sides` and such) are carried as given:
what they may hold depends on the game, and the rules say it once for every way in. Whether a request is
allowed now is for the table to say.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from appliance.mqtt.faults import nearest, sentence, shown
from appliance.names import name_fault

MAX_BYTES = 16 * 1024
MAX_DEPTH = 12
MAX_TRANSACTION = 200
_LARGEST_INTEGER = 2**53
"""Beyond it JSON readers disagree about the last digits."""


@dataclass(frozen=True, slots=True)
class Request:
    """A well-formed request; `fields` holds the command's own fields, those that were sent, as given."""

    command: str
    fields: Mapping[str, object]
    transaction: str | None
    expected_seq: int | None


@dataclass(frozen=True, slots=True)
class RequestError:
    """Why a request was refused: a code of the contract and a sentence.

    An `ignored` one is not answered at all, only logged: nobody waits for that answer any more.
    """

    code: Literal["malformed", "unknown_command", "too_large", "outdated", "not_allowed"]
    message: str
    transaction: str | None
    ignored: bool = False


# --- the commands ------------------------------------------------------------------------------------------

_Observed = JsonValue
_Objects = Annotated[
    _Observed,
    WithJsonSchema({"type": "array", "items": {"enum": ["white", "black", "queen", "striker"]}}),
]
_Balls = Annotated[_Observed, WithJsonSchema({"type": "integer", "minimum": 0})]
_Out = Annotated[
    _Observed,
    WithJsonSchema(
        {
            "type": "object",
            "properties": {end: {"type": "integer", "minimum": 0} for end in ("north", "south")},
            "additionalProperties": False,
        }
    ),
]
_End = Annotated[_Observed, WithJsonSchema({"enum": ["north", "south"]})]
_Position = Annotated[_Observed, WithJsonSchema({"type": "object"})]
_Id = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TRANSACTION)]
_PlayerNumber = Annotated[int, Field(ge=1)]
_Name = Annotated[str, StringConstraints(min_length=1, max_length=40)]


class Asked(BaseModel):
    """What every request carries. `transaction` comes back with the answer and makes a repeat harmless.

    `expected_seq`: the number of the state that whoever asks has seen; refused when that is out of date.
    """

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)

    transaction: _Id | None = None
    expected_seq: Annotated[int, Field(ge=0)] | None = None


class EndStroke(Asked):
    """Closes the open stroke, or an empty one: a miss."""

    command: Literal["end_stroke"]
    player: _PlayerNumber | None = None


class StrokeByHand(Asked):
    """Carrom, scored by hand: takes the place of what the beams saw and closes the stroke."""

    command: Literal["stroke"]
    pocketed: _Objects = None
    jumped: _Objects = None


class ThrowByHand(Asked):
    """Carpetball, scored by hand."""

    command: Literal["throw"]
    out: _Out = None
    off_table: _Balls = None
    short: Annotated[_Observed, WithJsonSchema({"type": "boolean"})] = None


class Jumped(Asked):
    """Adds objects that left the table to the open stroke."""

    command: Literal["jumped"]
    objects: _Objects


class LineUp(Asked):
    """Carpetball: balls lined up at each end; the round starts."""

    command: Literal["line_up"]
    north: _Balls
    south: _Balls


class Withdraw(Asked):
    """Carpetball: an owner puts own balls in the own pit."""

    command: Literal["withdraw"]
    end: _End
    balls: _Balls


class NameObject(Asked):
    """Names an unknown object; `own` and `other` are meant from the stroke's player."""

    command: Literal["object"]
    object: Literal["white", "black", "queen", "striker", "ball", "cue", "own", "other"]
    passage_id: _Id | None = None
    place: _Id | None = None

    @model_validator(mode="after")
    def _one_way_to_say_which(self) -> "NameObject":
        if self.passage_id is not None and self.place is not None:
            raise ValueError('say either "passage_id" or "place", not both')
        return self


class Answer(Asked):
    """Settles a question: an object, a number, a player, true or false."""

    command: Literal["answer"]
    question: _Id | None = None
    value: Annotated[
        JsonValue,
        WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "boolean"}]}),
    ]

    @field_validator("value")
    @classmethod
    def _one_of_four(cls, value: JsonValue) -> JsonValue:
        if isinstance(value, bool | str) or (isinstance(value, int) and value >= 0):
            return value
        raise ValueError(f"an answer is an object, a number, a player, true or false, not {shown(value)}")


class Recount(Asked):
    """Puts the present board right by hand."""

    command: Literal["recount"]
    sides: _Position = None
    queen: _Position = None
    turn: _Position = None
    on_board: _Position = None
    players: Annotated[_Observed, WithJsonSchema({"type": "array", "items": {"type": "object"}})] = None
    ends: _Position = None


class Correct(Asked):
    """Rewrites the facts of a stroke that was closed."""

    command: Literal["correct"]
    stroke: Annotated[int, Field(ge=1)]
    pocketed: _Objects = None
    jumped: _Objects = None
    out: _Out = None
    off_table: _Balls = None
    player: _PlayerNumber | None = None
    void: bool = False
    claim: _Id | None = None
    object: str | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> "Correct":
        given = self.model_fields_set
        facts = given & {"pocketed", "jumped", "out", "off_table", "claim", "object"}
        if ("claim" in given) != ("object" in given):
            raise ValueError('"claim" and "object" belong together')
        if self.void and facts:
            raise ValueError(f'a void stroke never happened, so it has no "{sorted(facts)[0]}"')
        if not facts and not given & {"player", "void"}:
            raise ValueError("correct needs what really was, for example pocketed, player or void")
        return self


class Person(BaseModel):
    """A player whom the club knows by an id of its own."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)

    id: _Id
    name: _Name


def _check_names(names: list[str]) -> None:
    for name in names:
        if (fault := name_fault(name)) is not None:
            raise ValueError(f"{shown(name)} {fault}")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{shown(twice)} stands there twice, names must differ")


class NewMatch(Asked):
    """Starts a match; what is left out stays as before."""

    command: Literal["new_match"]
    game: Literal["money_carrom", "club_carrom", "new_carrom", "carpetball"] | None = None
    players: Annotated[list[_Name | Person], Field(min_length=2)] | None = None
    options: dict[str, JsonValue] | None = None
    position: dict[str, JsonValue] | None = None
    abandon: bool = False

    @field_validator("players")
    @classmethod
    def _names(cls, players: list[str | Person] | None) -> list[str | Person] | None:
        _check_names([entry.name if isinstance(entry, Person) else entry for entry in players or ()])
        return players


class Players(Asked):
    """Renames the players, in order of play, or swaps two seats."""

    command: Literal["players"]
    names: Annotated[list[_Name], Field(min_length=1)] | None = None
    swap: Annotated[list[_PlayerNumber], Field(min_length=2, max_length=2)] | None = None

    @field_validator("names")
    @classmethod
    def _names(cls, names: list[str] | None) -> list[str] | None:
        _check_names(names or [])
        return names

    @model_validator(mode="after")
    def _one_of_both(self) -> "Players":
        if (self.names is None) == (self.swap is None):
            raise ValueError('players needs either "names" or "swap"')
        if self.swap is not None and self.swap[0] == self.swap[1]:
            raise ValueError('"swap" needs two different players')
        return self


class WatchBeams(Asked):
    """Tells every beam live on `beam/<id>` for so many seconds; 0 ends it. Ask again before they are over."""

    command: Literal["diagnostics"]
    seconds: Annotated[int, Field(ge=0, le=600)] = 60


class Plain(Asked):
    """A command that says everything by its name."""

    command: Literal[
        "break_not_made",
        "no_stroke",
        "next_board",
        "next_round",
        "undo",
        "redo",
        "pause",
        "resume",
        "abandon",
        "sync",
    ]


REQUESTS: tuple[type[Asked], ...] = (
    EndStroke,
    StrokeByHand,
    ThrowByHand,
    Jumped,
    LineUp,
    Withdraw,
    NameObject,
    Answer,
    Recount,
    Correct,
    NewMatch,
    Players,
    WatchBeams,
    Plain,
)


@cache
def commands() -> Mapping[str, type[Asked]]:
    """Every command and the model of its request."""
    return {command: model for model in REQUESTS for command in get_args(model.model_fields["command"].annotation)}


# --- the gates ---------------------------------------------------------------------------------------------


class _RefusedError(Exception):
    """A sentence on its way up to `parse_request`."""


def parse_request(payload: bytes, *, retained: bool) -> Request | RequestError:
    """A payload from the request topic as a request, or why it is none. Never raises, whatever was sent."""
    if retained:
        return RequestError("outdated", "a retained request is ignored: nobody knows how old it is", None, ignored=True)
    if len(payload) > MAX_BYTES:
        return RequestError("too_large", f"{len(payload)} bytes are too much, a request may have {MAX_BYTES}", None)
    try:
        document = _read(payload)
    except _RefusedError as refusal:
        return RequestError("malformed", str(refusal), None)
    return check_request(document)


def check_request(document: Mapping[str, Any]) -> Request | RequestError:
    """The gates for command and fields, for a request that is JSON values already (a recording, a button)."""
    transaction = document.get("transaction")
    if not isinstance(transaction, str) or not 1 <= len(transaction) <= MAX_TRANSACTION:
        transaction = None
    command = document.get("command")
    if not isinstance(command, str):
        wrong = 'the field "command" is missing' if command is None else '"command" must be a text'
        return RequestError("malformed", wrong, transaction)
    model = commands().get(command)
    if model is None:
        message = f"there is no command {shown(command)}{nearest(command, commands())}"
        return RequestError("unknown_command", message, transaction)
    try:
        asked = model.model_validate(document)
    except ValidationError as error:
        return RequestError("malformed", sentence(error, model, command), transaction)
    common = Asked.model_fields.keys() | {"command"}
    fields = {name: value for name, value in document.items() if name not in common}
    return Request(command, fields, asked.transaction, asked.expected_seq)


def _read(payload: bytes) -> dict[str, Any]:
    try:
        text = payload.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _RefusedError(f"the request is not UTF-8: byte {error.start + 1} is wrong") from None
    try:
        document = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise _RefusedError(f"the request is not JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise _RefusedError(f"the request is nested more than {MAX_DEPTH} deep") from None
    except ValueError:
        # What the JSON reader itself cannot hold: a number of thousands of digits.
        raise _RefusedError("the request holds a number that is too large") from None
    if not isinstance(document, dict):
        raise _RefusedError('the request is no JSON object: it should look like {"command": "undo"}')
    for value, depth in _walk(document):
        _check_value(value, depth)
    return document


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _RefusedError(f"the key {shown(next(key for key in keys if keys.count(key) > 1))} is there twice")
    return document


def _no_constant(name: str) -> float:
    raise _RefusedError(f"{name} is no JSON number")


def _walk(document: dict[str, Any]) -> Iterator[tuple[Any, int]]:
    """Every key and value with its depth, without recursion."""
    waiting: list[tuple[Any, int]] = [(document, 1)]
    while waiting:
        value, depth = waiting.pop()
        yield value, depth
        if isinstance(value, dict):
            waiting += [(inner, depth + 1) for pair in value.items() for inner in pair]
        elif isinstance(value, list):
            waiting += [(inner, depth + 1) for inner in value]


def _check_value(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _RefusedError(f"the request is nested more than {MAX_DEPTH} deep")
    if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
        raise _RefusedError("the request holds half a character (a lone surrogate)")
    if isinstance(value, int | float) and not abs(value) <= _LARGEST_INTEGER:
        raise _RefusedError("the request holds a number that is too large")
