"""How a table must fit its game: players, places, objects, rule options, and what a button can ask for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from appliance.config.problems import nearest, one_of
from appliance.config.report import Report, View
from appliance.config.settings import CARROM, Game
from appliance.config.structure import shown
from appliance.misspelt import meant
from appliance.names import name_fault

STRIKE = "strike"
ENDS = ("north", "south")
_GAMES: tuple[str, ...] = Game.__args__  # type: ignore[attr-defined]  # the literal's own list
_PLAYERS: dict[str, tuple[int, ...]] = {
    "money_carrom": (2, 3, 4),
    "club_carrom": (2, 4),
    "new_carrom": (2, 4),
}


def places(game: str) -> tuple[str, ...]:
    """The pockets or pits of a game."""
    return ("ne", "nw", "se", "sw") if game in CARROM else ENDS


def objects(game: str) -> tuple[str, ...]:
    """All that can fall in a game; the last one is what players shoot with."""
    return ("white", "black", "queen", "striker") if game in CARROM else ("ball", "cue")


def check_game(document: View, report: Report) -> None:
    """All checks that need to know the game: of a misspelt one, those of the game that is meant."""
    written = document.section("table").text("game") or ""
    game = meant(written, _GAMES)
    if game is None:
        return
    _check_players(game, document.section("table"), report)
    _check_rules(game, document.section("rules"), report)
    for beam in document.tables("beams"):
        _check_beam(game, beam, report)
    for button in document.tables("buttons"):
        _check_button(game, button, report)
    for lamp in document.tables("lamps"):
        player = lamp.whole("player")
        if player is not None and game in CARROM and player > 4:
            report.wrong((*lamp.path, "player"), f"must be a player from 1 to 4, not {player}")


def _check_players(game: str, table: View, report: Report) -> None:
    if not isinstance(table.raw.get("players", []), list):
        return
    seen: dict[str, set[str]] = {"id": set(), "name": set()}
    count = 0
    for path, player in table.elements("players"):
        count += 1
        parts = {"id": player, "name": player} if isinstance(player, str) else player
        if not isinstance(parts, dict):
            continue
        for what, key in (("a name", "name"), ("an id", "id")):
            value = parts.get(key)
            if isinstance(value, str) and value in seen[key]:
                report.wrong(path, f'"{value}" is there twice: each player needs {what} of their own')
                break  # a plain name is its own id
            if isinstance(value, str):
                seen[key].add(value)
    if table.has("players"):
        fault = _players_fault(game, count)
        if fault:
            report.wrong((*table.path, "players"), fault)


def _players_fault(game: str, count: int) -> str | None:
    allowed = _PLAYERS.get(game)
    if allowed and count not in allowed:
        return f"{game} is played by {one_of(allowed)} players, not {count}"
    if not allowed and count < 2:
        return f"{game} needs at least 2 players, not {count}"
    return None


def _check_rules(game: str, rules: View, report: Report) -> None:
    for name, value in rules.raw.items():
        if isinstance(value, dict):
            inner = next(iter(value), "target")
            report.wrong((*rules.path, name), f'the name of an option stands in quotes: "{name}.{inner}" = …')
        else:
            fault = options_fault(game, {name: value})
            if fault:
                report.wrong((*rules.path, name), fault)


def options_fault(game: str, options: dict[str, Any]) -> str | None:
    """What the rules say against these options, or None."""
    from appliance import rules  # only a configuration that reaches this point needs them

    try:
        rules.parse_options(game, options)
    except rules.BadInput as error:
        return error.message
    return None


def _check_beam(game: str, beam: View, report: Report) -> None:
    place = beam.text("place")
    valid = (*places(game), STRIKE)
    if place is not None and place not in valid:
        report.wrong((*beam.path, "place"), f"{shown(place)} is no place of {game}{nearest(place, valid)}")
    if place == STRIKE:
        for key in ("passes", "exclusive"):
            if beam.has(key):
                report.wrong((*beam.path, key), "a strike sensor sees no objects: leave this out")
        if game == "carpetball" and not beam.has("end"):
            report.wrong(beam.path, 'a strike sensor of carpetball needs its end: end = "north" or "south"')
    if beam.has("end") and (game in CARROM or place not in (None, STRIKE)):
        report.wrong((*beam.path, "end"), "only a strike sensor of carpetball has an end: leave this out")
    if beam.has("across") and (game in CARROM or place not in (None, STRIKE)):
        report.wrong((*beam.path, "across"), "only a strike sensor of carpetball lies across a line: leave this out")
    for path, each in beam.elements("passes"):
        if isinstance(each, str) and each not in objects(game):
            report.wrong(path, f"{shown(each)} is no object of {game}{nearest(each, objects(game))}")
    passes = beam.raw.get("passes")
    if passes == []:
        report.wrong((*beam.path, "passes"), "must name at least one object; leave it out for all of them")
    elif isinstance(passes, list) and any(passes.count(each) > 1 for each in passes):
        report.wrong((*beam.path, "passes"), "names an object twice")


# -- buttons: an action is a request, with the request's fields beside it ------------------------------

Judge = Callable[[str, Any], str | None]


def _player(game: str, value: Any) -> str | None:
    most = 4 if game in CARROM else 99
    return None if _is_whole(value, 1, most) else f"must be a player from 1 to {most}, not {shown(value)}"


def _object(game: str, value: Any) -> str | None:
    valid = objects(game)
    if not isinstance(value, str) or value not in valid:
        return f"must be an object of {game}, not {shown(value)}{nearest(str(value), valid)}"
    return None


def _named_object(game: str, value: Any) -> str | None:
    relative = ("own", "other") if game in CARROM else ()
    return None if value in relative else _object(game, value)


def _objects(game: str, value: Any) -> str | None:
    if not isinstance(value, list):
        return f"must be a list of objects, not {shown(value)}"
    return next((fault for each in value if (fault := _object(game, each))), None)


def _some_objects(game: str, value: Any) -> str | None:
    return "must name at least one object" if value == [] else _objects(game, value)


def _place(game: str, value: Any) -> str | None:
    valid = places(game)
    return None if value in valid else f"must be a place, not {shown(value)}{nearest(str(value), valid)}"


def _count(_game: str, value: Any) -> str | None:
    return None if _is_whole(value, 0, 99) else f"must be a whole number from 0, not {shown(value)}"


def _flag(_game: str, value: Any) -> str | None:
    return None if isinstance(value, bool) else f"must be true or false, not {shown(value)}"


def _end(_game: str, value: Any) -> str | None:
    return None if value in ENDS else f"must be {one_of(ENDS)}, not {shown(value)}"


def _out(game: str, value: Any) -> str | None:
    good = isinstance(value, dict) and all(end in ENDS and _count(game, count) is None for end, count in value.items())
    return None if good else "must say how many balls are out at which end: { north = 0, south = 2 }"


def _answer(game: str, value: Any) -> str | None:
    if isinstance(value, bool) or _is_whole(value, 0, 99):
        return None
    return _named_object(game, value) if isinstance(value, str) else "must be an object, a number, true or false"


def _game(_game_now: str, value: Any) -> str | None:
    return None if value in _GAMES else f"must be a game, not {shown(value)}{nearest(str(value), _GAMES)}"


def _names(_game_now: str, value: Any) -> str | None:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return "must be a list of names"
    if len(value) < 2:
        return "must name at least two players"
    if len(set(value)) != len(value):
        return "names somebody twice: each player needs a name of their own"
    return next((f'"{each}" {fault}' for each in value if (fault := name_fault(each))), None)


def _options(game: str, value: Any) -> str | None:
    return options_fault(game, value) if isinstance(value, dict) else "must be a table of rule options"


def _swap(game: str, value: Any) -> str | None:
    good = isinstance(value, list) and len(value) == 2 and all(_player(game, each) is None for each in value)
    return None if good and value[0] != value[1] else "must be two players such as [1, 2]"


def _is_whole(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


@dataclass(frozen=True)
class _Action:
    """What a request takes, and in which games it exists."""

    needs: dict[str, Judge]
    takes: dict[str, Judge]
    carrom: bool = True
    carpetball: bool = True


_PLAIN = _Action({}, {})
_ACTIONS: dict[str, _Action] = {
    "done": _Action({}, {"player": _player}),
    "end_stroke": _Action({}, {"player": _player}),
    "stroke": _Action({"pocketed": _objects}, {"jumped": _objects}, carpetball=False),
    "throw": _Action({}, {"out": _out, "off_table": _count, "short": _flag}, carrom=False),
    "jumped": _Action({"objects": _some_objects}, {}, carpetball=False),
    "break_not_made": _Action({}, {}, carpetball=False),
    "no_stroke": _Action({}, {}, carpetball=False),
    "line_up": _Action({"north": _count, "south": _count}, {}, carrom=False),
    "cue": _Action({}, {"place": _place}, carrom=False),
    "withdraw": _Action({"end": _end, "balls": _count}, {}, carrom=False),
    "next_board": _Action({}, {}, carpetball=False),
    "next_round": _Action({}, {}, carrom=False),
    "object": _Action({"object": _named_object}, {"place": _place}),
    "answer": _Action({"value": _answer}, {}),
    "undo": _PLAIN,
    "redo": _PLAIN,
    "new_match": _Action({}, {"game": _game, "players": _names, "options": _options, "abandon": _flag}),
    "pause": _PLAIN,
    "resume": _PLAIN,
    "abandon": _PLAIN,
    "players": _Action({"swap": _swap}, {}),
    "sync": _PLAIN,
}
_WIRING = {"id", "source", "channel", "pin", "action", "pressed_level", "long"}


def _check_button(game: str, button: View, report: Report) -> None:
    _check_press(game, button, _WIRING, "button", report)
    if button.section("long").raw:
        _check_press(game, button.section("long"), {"action"}, "press", report)


def _check_press(game: str, press: View, others: set[str], what: str, report: Report) -> None:
    """One action with its fields; `others` are the keys beside them that mean something else."""
    name = press.text("action")
    if name is None:
        return
    valid = [each for each, action in _ACTIONS.items() if (action.carrom if game in CARROM else action.carpetball)]
    if name not in valid:
        report.wrong((*press.path, "action"), f"{shown(name)} is no action of {game}{nearest(name, valid)}")
        return
    action = _ACTIONS[name]
    fields = {**action.needs, **action.takes}
    game_asked_for = press.text("game") if name == "new_match" else None
    for key, value in press.raw.items():
        if key in others:
            continue
        judge = fields.get(key)
        if judge is None:
            names = [*fields, *others]
            report.wrong((*press.path, key), f'is no key of a "{name}" {what}{nearest(key, sorted(names))}')
            continue
        fault = judge(game_asked_for if game_asked_for in _GAMES else game, value)
        if fault:
            report.wrong((*press.path, key), fault)
    for key in action.needs:
        if not press.has(key):
            report.wrong(press.path, f'a "{name}" {what} needs {key} beside it')
