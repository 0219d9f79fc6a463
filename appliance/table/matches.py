"""How matches begin: by request, by `done` after the last one, and the very first."""

from collections.abc import Mapping, Sequence, Set
from typing import Any
from unicodedata import category

from appliance import rules
from appliance.table.draft import Draft, Refuse
from appliance.table.inputs import Begin, Request
from appliance.table.model import Abandoned, Json, MatchStarted, Policy, Resumed, Seat, StrokeDropped, TableState

FINISHED = frozenset({"match_over", "round_over"})
NAME_LENGTH = 40


def first_match(policy: Policy, position: Json | None = None) -> Begin:
    """The match that a table without history begins with, from its configuration.

    Raises `rules.BadInput` where the configuration's options or the position do not fit the game.
    """
    started = MatchStarted(
        match=1,
        setup={"game": policy.game, "line": _setup_line(policy.game, len(policy.players), policy.rules, position)},
        chosen=policy.rules,
        players=policy.players,
        unknown_object=policy.unknown_object,
        strike_sensor=policy.strike_sensor,
        file_rules=policy.rules,
        asked=False,
    )
    return Begin(started)


def options_in_force(state: TableState) -> dict[str, object]:
    """Every option of the current match with its value."""
    setup = state.match.started.setup
    return rules.options_document(rules.parse_setup(setup["game"], setup["line"]).options)


def is_running(state: TableState) -> bool:
    """From the first observation to the end of the match or round."""
    fold = state.fold
    if fold.abandoned or fold.rules.phase in FINISHED:
        return bool(fold.queue)
    return bool(fold.lines or fold.queue or state.stroke)


def begin_match(draft: Draft, request: Request) -> None:
    """Begin a new match: as before, but for what the request says."""
    fields = request.fields
    state, policy = draft.state, draft.policy
    before = state.match.started
    game = fields.get("game", before.setup["game"])
    if not isinstance(game, str) or game not in rules.GAMES:
        raise Refuse("malformed", f"game: {game!r} is none of {', '.join(rules.GAMES)}")
    seats = _seats(fields["players"], state) if "players" in fields else state.match.seats
    chosen = _options(game, before, policy, fields.get("options"))
    try:
        line = _setup_line(game, len(seats), chosen, fields.get("position"))
    except rules.BadInput as problem:
        raise Refuse("malformed", str(problem)) from None
    if is_running(state):
        if fields.get("abandon") is not True:
            raise Refuse("match_running", 'a match is running; add "abandon": true to give it up')
        abandon(draft)
    if state.paused_ns is not None:
        # Whoever begins a match wants to play it.
        draft.emit(Resumed(request.at_ns))
    draft.emit(
        MatchStarted(
            match=draft.state.last_match + 1,
            setup={"game": game, "line": line},
            chosen=chosen,
            players=seats,
            unknown_object=policy.unknown_object,
            strike_sensor=policy.strike_sensor,
            file_rules=policy.rules,
            asked=True,
            last_result=draft.fold.last_result,
        )
    )


def abandon(draft: Draft) -> None:
    """Give the running match up; what waits and what is open is dropped."""
    if draft.state.stroke is not None:
        draft.emit(StrokeDropped("the match was abandoned"))
    draft.step(Abandoned())


def _setup_line(game: str, players: int, chosen: Json, position: object) -> dict[str, Any]:
    """The set-up with every option written out, so that a newer program's defaults never change an old match.

    Raises `rules.BadInput`.
    """
    line: dict[str, Any] = {"type": "setup", "players": players, "options": dict(chosen)}
    if position is not None:
        line["position"] = position
    return rules.setup_document(rules.parse_setup(game, line))


def _options(game: str, before: MatchStarted, policy: Policy, asked: object) -> dict[str, Any]:
    """The previous match's options, under those of a changed file, under the request's own.

    What the file says of this game was dropped by a match of another one; it holds again.
    """
    if asked is not None and not isinstance(asked, Mapping):
        raise Refuse("malformed", "options: an object of option names and values is expected")
    inherited = {**policy.rules, **before.chosen}
    if policy.rules != before.file_rules:
        inherited |= policy.rules
    known = rules.options_document(rules.parse_options(game, {}))
    kept = {name: value for name, value in inherited.items() if name in known}
    kept = {name: value for name, value in kept.items() if _takes(game, name, value)}
    return kept | dict(asked or {})


def _takes(game: str, name: str, value: object) -> bool:
    try:
        rules.parse_options(game, {name: value})
    except rules.BadInput:
        return False
    return True


def _seats(asked: object, state: TableState) -> tuple[Seat, ...]:
    """The players of a request: names, or `{"id": …, "name": …}`; a known name keeps its person's id."""
    if not isinstance(asked, Sequence) or isinstance(asked, str):
        raise Refuse("malformed", "players: a list of names is expected")
    seats: list[Seat] = []
    known = {seat.name: seat.id for seat in state.match.seats}
    for entry in asked:
        name: Any = entry.get("name") if isinstance(entry, Mapping) else entry
        check_names([name])
        given = entry.get("id") if isinstance(entry, Mapping) else known.get(name)
        if given is not None and not isinstance(given, str):
            raise Refuse("malformed", f"players: {given!r} is not the id of a person")
        seats.append(Seat(given or _free_id(name, {*known.values(), *(seat.id for seat in seats)}), name))
    check_names([seat.name for seat in seats])
    if len({seat.id for seat in seats}) != len(seats):
        raise Refuse("malformed", "players: two of them have the same id")
    return tuple(seats)


def _free_id(name: str, taken: Set[str]) -> str:
    """An id for somebody new: the name, unless a person who was called so before still has that id."""
    return next(each for each in (name, *(f"{name}-{n}" for n in range(2, len(taken) + 3))) if each not in taken)


def check_names(names: Sequence[object]) -> None:
    """Refuse names that a display could not show or tell apart."""
    for name in names:
        if not isinstance(name, str) or not 1 <= len(name) <= NAME_LENGTH:
            raise Refuse("malformed", f"players: {name!r} is not a name of 1 to {NAME_LENGTH} characters")
        if not name.strip() or any(category(character) == "Cc" for character in name):
            raise Refuse("malformed", f"players: {name!r} has characters that cannot be shown")
    if len(set(names)) != len(names):
        raise Refuse("malformed", "players: two of them have the same name")
