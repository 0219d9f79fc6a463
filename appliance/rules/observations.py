"""What people and sensors report, one frozen value each, and how it stands in JSON.

An observation says only what was seen; what it means is for the rules. Counts are not judged here beyond
being counts: whether the table holds so many is `decide`'s to say.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from appliance.rules.options import check_game
from appliance.rules.parsing import BadInput, flag, mapping, needed, show, unknown, whole, word, words
from appliance.rules.positions import ENDS, Position, parse_position, position_document

OBJECTS = ("white", "black", "queen", "striker")


@dataclass(frozen=True, slots=True)
class Stroke:
    """One whole stroke of a carrom game: what was pocketed, and what left the table."""

    pocketed: tuple[str, ...]
    jumped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BreakNotMade:
    """The striker touched nothing on the break."""


@dataclass(frozen=True, slots=True)
class NoStroke:
    """The striker did not leave both lines."""


@dataclass(frozen=True, slots=True)
class NextBoard:
    """The board is set up again."""


@dataclass(frozen=True, slots=True)
class NextRound:
    """The next players step up."""


@dataclass(frozen=True, slots=True)
class LineUp:
    """So many balls stand at each end."""

    north: int
    south: int


@dataclass(frozen=True, slots=True)
class Throw:
    """One whole throw: balls of each end that are out, balls that left the table, whether it fell short."""

    out_north: int
    out_south: int
    off_table: int = 0
    short: bool = False


@dataclass(frozen=True, slots=True)
class Withdraw:
    """An owner put `balls` own balls into the own pit."""

    end: str
    balls: int


@dataclass(frozen=True, slots=True)
class Recount:
    """The present board is put right by hand."""

    position: Position


@dataclass(frozen=True, slots=True)
class Undo:
    """The last accepted observation is taken back; for whoever keeps the history, not for `decide`."""


Observation = Stroke | BreakNotMade | NoStroke | NextBoard | NextRound | LineUp | Throw | Withdraw | Recount | Undo

_Fields = Mapping[str, object]


def _stroke(fields: _Fields) -> Stroke:
    return Stroke(
        words(needed(fields, "pocketed"), "pocketed", OBJECTS), words(fields.get("jumped", ()), "jumped", OBJECTS)
    )


def _line_up(fields: _Fields) -> LineUp:
    return LineUp(whole(needed(fields, "north"), "north"), whole(needed(fields, "south"), "south"))


def _throw(fields: _Fields) -> Throw:
    out = mapping(fields.get("out", {}), "out", ENDS)
    return Throw(
        whole(out.get("north", 0), "out.north"),
        whole(out.get("south", 0), "out.south"),
        whole(fields.get("off_table", 0), "off_table"),
        flag(fields.get("short", False), "short"),
    )


def _withdraw(fields: _Fields) -> Withdraw:
    return Withdraw(word(needed(fields, "end"), "end", ENDS), whole(needed(fields, "balls"), "balls"))


_Reader = tuple[tuple[str, ...], Callable[[_Fields], Observation]]
_PLAIN: dict[str, _Reader] = {"undo": ((), lambda _: Undo())}
_CARROM: dict[str, _Reader] = {
    "stroke": (("pocketed", "jumped"), _stroke),
    "break_not_made": ((), lambda _: BreakNotMade()),
    "no_stroke": ((), lambda _: NoStroke()),
    "next_board": ((), lambda _: NextBoard()),
    **_PLAIN,
}
_CARPETBALL: dict[str, _Reader] = {
    "line_up": (("north", "south"), _line_up),
    "throw": (("out", "off_table", "short"), _throw),
    "withdraw": (("end", "balls"), _withdraw),
    "next_round": ((), lambda _: NextRound()),
    **_PLAIN,
}


def parse_observation(game: str, value: object) -> Observation:
    """Read an observation of `game` from parsed JSON."""
    if not isinstance(value, Mapping):
        raise BadInput("line", f"an object is needed here, not {show(value)}")
    kind = needed(value, "type")
    known = _CARPETBALL if check_game(game) == "carpetball" else _CARROM
    if not isinstance(kind, str):
        raise BadInput("type", f"the name of an observation is needed here, not {show(kind)}")
    if kind == "recount":
        return Recount(parse_position(game, {name: value[name] for name in value if name != "type"}, ""))
    if kind not in known:
        raise unknown("type", kind, (*known, "recount"), f"an observation of {game}")
    names, read = known[kind]
    return read(mapping(value, "", ("type", *names)))


_BARE: dict[type[Observation], str] = {
    BreakNotMade: "break_not_made",
    NoStroke: "no_stroke",
    NextBoard: "next_board",
    NextRound: "next_round",
    Undo: "undo",
}


def observation_document(observation: Observation) -> dict[str, object]:
    """Return the observation as JSON; reading it again gives an equal one."""
    match observation:
        case Stroke(pocketed, jumped):
            document: dict[str, object] = {"type": "stroke", "pocketed": list(pocketed)}
            if jumped:
                document["jumped"] = list(jumped)
            return document
        case LineUp(north, south):
            return {"type": "line_up", "north": north, "south": south}
        case Throw(out_north, out_south, off_table, short):
            out = {"north": out_north, "south": out_south}
            return {"type": "throw", "out": out, "off_table": off_table, "short": short}
        case Withdraw(end, balls):
            return {"type": "withdraw", "end": end, "balls": balls}
        case Recount(position):
            return {"type": "recount", **position_document(position)}
        case _:
            return {"type": _BARE[type(observation)]}
