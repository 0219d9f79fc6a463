"""A score set by hand: the part of a state that a set-up or a recount gives, everything else left out (None).

Three shapes, one a family of games. A field that follows from the others (a colour, the phase, whose side it
is) may be given too, as it stands in a state that somebody copies; it is kept in `says` and must agree with
the state that results.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from appliance.rules.parsing import MOST, BadInput, flag, join, mapping, show, whole, word

SIDES = ("A", "B")
ENDS = ("north", "south")
QUEEN_STATUSES = ("on_board", "uncovered", "covered")

Plain = None | bool | int | str | tuple["Plain", ...]
Says = tuple[tuple[str, Plain], ...]


@dataclass(frozen=True, slots=True)
class SidePart:
    """What is set for one side of Club or New Carrom."""

    pocketed: int | None = None
    due: int | None = None
    score: int | None = None
    queen_right: bool | None = None


@dataclass(frozen=True, slots=True)
class SidesPosition:
    """What is set for a board of Club or New Carrom."""

    a: SidePart = SidePart()
    b: SidePart = SidePart()
    queen_status: str | None = None
    queen_side: str | None = None
    player: int | None = None
    says: Says = ()


@dataclass(frozen=True, slots=True)
class PlayerPart:
    """What is set for one player of Money Carrom."""

    player: int
    score: int | None = None
    missed_turns: int | None = None


@dataclass(frozen=True, slots=True)
class MoneyPosition:
    """What is set for a game of Money Carrom."""

    players: tuple[PlayerPart, ...] = ()
    white: int | None = None
    black: int | None = None
    queen: int | None = None
    player: int | None = None
    says: Says = ()


@dataclass(frozen=True, slots=True)
class CarpetballPosition:
    """What is set for a round of Carpetball."""

    phase: str | None = None
    north: int | None = None
    south: int | None = None
    end: str | None = None
    final_throw: bool | None = None
    first_thrower: str | None = None
    says: Says = ()


Position = SidesPosition | MoneyPosition | CarpetballPosition


def freeze(value: object, path: str) -> Plain:
    """Return a JSON value of simple parts as something that can be compared and kept."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, list | tuple):
        return tuple(freeze(item, path) for item in value)
    raise BadInput(path, f"{show(value)} cannot stand here")


def parse_position(game: str, value: object, path: str = "position") -> Position:
    """Read a position of `game`; counts that cannot be in any state are left to the game to judge."""
    if game == "carpetball":
        return _carpetball(value, path)
    if game == "money_carrom":
        return _money(value, path)
    return _sides(value, path)


def _said(fields: Mapping[str, object], path: str, names: tuple[str, ...]) -> list[tuple[str, Plain]]:
    """Collect the given fields that only repeat what follows from the others; paths start at the state."""
    inner = path.removeprefix("position").removeprefix(".")
    return [(join(inner, name), freeze(fields[name], join(path, name))) for name in names if name in fields]


def _amount(fields: Mapping[str, object], name: str, path: str) -> int | None:
    return whole(fields[name], join(path, name), most=MOST) if name in fields else None


def _count(fields: Mapping[str, object], name: str, path: str) -> int | None:
    return whole(fields[name], join(path, name)) if name in fields else None


def _player(fields: Mapping[str, object], path: str) -> int | None:
    if "player" not in fields:
        return None
    value = fields["player"]
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadInput(join(path, "player"), f"a player's number is needed here, not {show(value)}")
    return value


def _sides(value: object, path: str) -> SidesPosition:
    derived = ("game", "phase", "board", "board_result", "match_winner")
    fields = mapping(value, path, ("sides", "queen", "turn", *derived))
    says = _said(fields, path, derived)
    parts = {side: SidePart() for side in SIDES}
    if "sides" in fields:
        at = join(path, "sides")
        for side, part in mapping(fields["sides"], at, SIDES).items():
            inner = join(at, side)
            given = mapping(part, inner, ("pocketed", "due", "score", "queen_right", "colour"))
            parts[side] = SidePart(
                _count(given, "pocketed", inner),
                _amount(given, "due", inner),
                _amount(given, "score", inner),
                flag(given["queen_right"], join(inner, "queen_right")) if "queen_right" in given else None,
            )
            says += _said(given, inner, ("colour",))
    status = side_of_queen = player = None
    if "queen" in fields:
        at = join(path, "queen")
        given = mapping(fields["queen"], at, ("status", "side"))
        if "status" in given:
            status = word(given["status"], join(at, "status"), QUEEN_STATUSES)
        if given.get("side") is not None:
            side_of_queen = word(given["side"], join(at, "side"), SIDES)
            if status == "on_board":
                raise BadInput(join(at, "side"), "a queen on the board belongs to no side")
        elif "side" in given and status != "on_board":
            raise BadInput(join(at, "side"), f"one of {', '.join(SIDES)} is needed here, not null")
    if "turn" in fields:
        at = join(path, "turn")
        given = mapping(fields["turn"], at, ("player", "side", "must_cover"))
        player = _player(given, at)
        says += _said(given, at, ("side", "must_cover"))
    return SidesPosition(parts["A"], parts["B"], status, side_of_queen, player, tuple(says))


def _money(value: object, path: str) -> MoneyPosition:
    derived = ("game", "phase", "board", "match_winners")
    fields = mapping(value, path, ("players", "on_board", "turn", *derived))
    says = _said(fields, path, derived)
    parts: list[PlayerPart] = []
    if "players" in fields:
        at = join(path, "players")
        listed = fields["players"]
        if not isinstance(listed, list | tuple):
            raise BadInput(at, f"a list is needed here, not {show(listed)}")
        for index, item in enumerate(listed):
            inner = f"{at}[{index}]"
            given = mapping(item, inner, ("player", "score", "missed_turns"))
            number = _player(given, inner)
            missed = whole(given["missed_turns"], f"{inner}.missed_turns", 0, 1) if "missed_turns" in given else None
            parts.append(PlayerPart(index + 1 if number is None else number, _amount(given, "score", inner), missed))
        if len({part.player for part in parts}) < len(parts):
            raise BadInput(at, "each player can stand here only once")
    counts: dict[str, int | None] = dict.fromkeys(("white", "black", "queen"))
    if "on_board" in fields:
        at = join(path, "on_board")
        given = mapping(fields["on_board"], at, tuple(counts))
        counts = {name: _count(given, name, at) for name in counts}
    player = None
    if "turn" in fields:
        player = _player(mapping(fields["turn"], join(path, "turn"), ("player",)), join(path, "turn"))
    return MoneyPosition(tuple(parts), counts["white"], counts["black"], counts["queen"], player, tuple(says))


def _carpetball(value: object, path: str) -> CarpetballPosition:
    derived = ("game", "round", "queue", "round_winner")
    fields = mapping(value, path, ("phase", "ends", "turn", "first_thrower", *derived))
    says = _said(fields, path, derived)
    phase = end = first = final = None
    if "phase" in fields:
        phase = word(fields["phase"], join(path, "phase"), ("line_up", "round", "standoff"))
    in_play: dict[str, int | None] = dict.fromkeys(ENDS)
    if "ends" in fields:
        at = join(path, "ends")
        for name, part in mapping(fields["ends"], at, ENDS).items():
            inner = join(at, name)
            given = mapping(part, inner, ("in_play", "player"))
            if given.get("in_play") is not None:
                in_play[name] = _count(given, "in_play", inner)
            says += _said(given, inner, ("player",))
    if "turn" in fields:
        at = join(path, "turn")
        given = mapping(fields["turn"], at, ("end", "final_throw"))
        if "end" in given:
            end = word(given["end"], join(at, "end"), ENDS)
        if "final_throw" in given:
            final = flag(given["final_throw"], join(at, "final_throw"))
    if "first_thrower" in fields:
        first = word(fields["first_thrower"], join(path, "first_thrower"), ENDS)
    return CarpetballPosition(phase, in_play["north"], in_play["south"], end, final, first, tuple(says))


def _put(document: dict[str, object], path: str, value: Plain) -> None:
    """Set the field at a dotted path, making the objects on the way."""
    *way, last = path.split(".")
    for name in way:
        inner = document.setdefault(name, {})
        assert isinstance(inner, dict)
        document = inner
    document[last] = list(value) if isinstance(value, tuple) else value


def position_document(position: Position) -> dict[str, object]:
    """Return the position as JSON; reading it again gives an equal one."""
    document: dict[str, object] = {}
    given: list[tuple[str, Plain]] = []
    if isinstance(position, SidesPosition):
        for side, part in (("A", position.a), ("B", position.b)):
            given += [
                (f"sides.{side}.{name}", getattr(part, name)) for name in ("pocketed", "due", "score", "queen_right")
            ]
        given += [("queen.status", position.queen_status), ("queen.side", position.queen_side)]
        given.append(("turn.player", position.player))
    elif isinstance(position, MoneyPosition):
        if position.players:
            document["players"] = [
                {
                    name: getattr(part, name)
                    for name in ("player", "score", "missed_turns")
                    if getattr(part, name) is not None
                }
                for part in position.players
            ]
        given += [(f"on_board.{name}", getattr(position, name)) for name in ("white", "black", "queen")]
        given.append(("turn.player", position.player))
    else:
        given += [("phase", position.phase)]
        given += [(f"ends.{end}.in_play", getattr(position, end)) for end in ENDS]
        given += [("turn.end", position.end), ("turn.final_throw", position.final_throw)]
        given.append(("first_thrower", position.first_thrower))
    for path, value in given:
        if value is not None:
            _put(document, path, value)
    for path, value in position.says:
        _put(document, path, value)
    return document


def contradiction(position: Position, state_document: Mapping[str, object]) -> tuple[str, Plain, Plain] | None:
    """Return the first said field that does not agree with the state: its path, what was said, what holds."""
    for path, said in position.says:
        value: object = state_document
        for name in path.split("."):
            assert isinstance(value, Mapping)
            value = value[name]
        holds = freeze(value, path) if not isinstance(value, Mapping) else None
        if holds != said or isinstance(holds, bool) != isinstance(said, bool):
            return path, said, holds
    return None
