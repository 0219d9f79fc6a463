"""What people may ask of the table, one function a command.

Everything that would bring the table into a state that cannot be is refused, with the code and a sentence; a
refused request has changed nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from appliance import rules
from appliance.sensing.identify import objects_of
from appliance.table.closing import close_stroke, done, next_number
from appliance.table.doubts import open_doubt
from appliance.table.draft import Draft, Refuse, require_possible
from appliance.table.inputs import Request
from appliance.table.matches import FINISHED, abandon, begin_match, check_names
from appliance.table.model import (
    UNDONE,
    Answered,
    Called,
    Corrected,
    Fallen,
    FallenRevised,
    Fold,
    JumpedAdded,
    Paused,
    Question,
    Redone,
    Renamed,
    Resumed,
    StrokeClosed,
    StrokeDropped,
    StrokeOpened,
    Swapped,
    Told,
    Undone,
)
from appliance.table.resolve import CARPETBALL, Need, end_of, open_questions, settle, unknown_in

REACTS_NS = 50_000_000
"""It takes people longer than this, by far, from what they see to a press."""

TAKES_ITS_PLACE = frozenset({"break_not_made", "no_stroke"})
CLOSES_THE_BOARD = frozenset({"next_board", "next_round", "line_up"})


def carry_out(draft: Draft, request: Request) -> None:
    """Do what `request` asks, or raise `Refuse`."""
    expected, state = request.expected_seq, draft.state
    if expected is not None and not state.step_seq <= expected <= state.seq:
        raise Refuse("outdated", f"the table is at {state.seq}, and changed at {state.step_seq}; look again")
    command = COMMANDS.get(request.command)
    if command is None:
        raise Refuse("unknown_command", f"command: {request.command!r} is not known")
    command(draft, request)


def _end_stroke(draft: Draft, request: Request) -> None:
    player = request.fields.get("player")
    if player is not None:
        _check_player(draft, player)
    done(draft, request, player)


def _check_player(draft: Draft, player: object, *, field: str = "player") -> None:
    count = draft.fold.rules.players
    if not isinstance(player, int) or isinstance(player, bool) or not 1 <= player <= count:
        raise Refuse("malformed", f"{field}: {player!r} is not one of 1 to {count}")


def _parse(draft: Draft, command: str, fields: Mapping[str, Any]) -> rules.Observation:
    game = draft.fold.rules.game
    try:
        return rules.parse_observation(game, {"type": command, **fields})
    except rules.BadInput as problem:
        if problem.field == "type":
            raise Refuse("unknown_command", f"{game} knows no {command}") from None
        raise Refuse("malformed", str(problem)) from None


def _refuse_when_paused(draft: Draft) -> None:
    if draft.state.paused_ns is not None:
        raise Refuse("wrong_phase", "the table is paused; resume it first")


def _require(draft: Draft, observation: rules.Observation) -> None:
    """Refuse what could not follow on what waits, if that is what it is assumed to be."""
    after = draft.projected()
    if after.abandoned:
        raise Refuse("wrong_phase", "the match was abandoned")
    require_possible(after.rules, observation)


def _told_stroke(draft: Draft, request: Request) -> None:
    """Scoring by hand: the whole stroke, in place of what the beams saw."""
    _refuse_when_paused(draft)
    seen = _parse(draft, request.command, request.fields)
    stroke = draft.state.stroke
    if isinstance(seen, rules.Throw):
        told = Told(out=(seen.out_north, seen.out_south), off_table=seen.off_table, short=seen.short)
        jumped: tuple[str, ...] = ()
    else:
        assert isinstance(seen, rules.Stroke)
        told = Told(pocketed=seen.pocketed)
        jumped = seen.jumped if "jumped" in request.fields or stroke is None else stroke.jumped
        seen = rules.Stroke(seen.pocketed, jumped)
    _require(draft, seen)
    draft.step(
        StrokeClosed(
            number=stroke.number if stroke else next_number(draft.state),
            by="request",
            player=None,
            at_ns=request.at_ns,
            strike_sensor=draft.policy.strike_sensor,
            jumped=jumped,
            told=told,
            superseded=stroke.fallen if stroke else (),
        )
    )


def _jumped(draft: Draft, request: Request) -> None:
    _refuse_when_paused(draft)
    game = draft.fold.rules.game
    if game == CARPETBALL:
        raise Refuse("unknown_command", f"{game} knows no {request.command}")
    try:
        seen = rules.parse_observation(
            game, {"type": "stroke", "pocketed": [], "jumped": request.fields.get("objects")}
        )
    except rules.BadInput as problem:
        raise Refuse("malformed", f"objects: {problem.message}") from None
    assert isinstance(seen, rules.Stroke)
    if not seen.jumped:
        raise Refuse("malformed", "objects: name at least one object")
    stroke = draft.state.stroke
    fallen = stroke.fallen if stroke else ()
    known = tuple(f.told or f.candidates[0] for f in fallen if _is_known(f))
    already = stroke.jumped if stroke else ()
    _require(draft, rules.Stroke(known, (*already, *seen.jumped)))
    if stroke is None:
        draft.emit(StrokeOpened(next_number(draft.state), request.at_ns))
    draft.emit(JumpedAdded(seen.jumped))


def _is_known(fallen: Fallen) -> bool:
    if fallen.told is not None:
        return fallen.told not in ("own", "other")
    return len(fallen.candidates) == 1 and open_doubt(fallen) is None


def _call(draft: Draft, request: Request) -> None:
    _refuse_when_paused(draft)
    seen = _parse(draft, request.command, request.fields)
    superseded = _make_way(draft, request, seen)
    _require(draft, seen)
    document = rules.observation_document(seen)
    closes_the_board = request.command in CLOSES_THE_BOARD and draft.assumes
    draft.step(Called(document, superseded), assume_all=closes_the_board)


def _make_way(draft: Draft, request: Request, seen: rules.Observation) -> tuple[Fallen, ...]:
    """Close the open stroke for a call, or let the call take its place; answers with what it took."""
    stroke = draft.state.stroke
    if stroke is None:
        return ()
    if request.command in TAKES_ITS_PLACE:
        return stroke.fallen
    taken: tuple[Fallen, ...] = ()
    if isinstance(seen, rules.Withdraw):
        taken = tuple(f for f in stroke.fallen if f.place == seen.end)
        if stroke.struck_ns is None and taken and len(taken) == len(stroke.fallen):
            return taken
    close_stroke(draft, "call", None, request.at_ns, without=taken)
    return taken


def _recount(draft: Draft, request: Request) -> None:
    seen = _parse(draft, request.command, request.fields)
    if draft.state.stroke is not None:
        close_stroke(draft, "call", None, request.at_ns)
    _require(draft, seen)
    draft.step(Called(rules.observation_document(seen)), assume_all=draft.assumes)


def _object(draft: Draft, request: Request) -> None:
    """Name the newest unknown object of the open stroke, or, with none open, of the last one closed.

    A request that names a passage may mean any that is unknown. A key is pressed by somebody with a hand at the table:
    it means nothing that was still in a beam then, or came after; what nobody can have seen before the press only after
    the rest, and a finger in a pocket only after what surely fell. A cue ball goes where it was thrown.
    """
    name = request.fields.get("object")
    state = draft.state
    _check_object(draft, name)
    assert isinstance(name, str)
    unknown = {need.passage_id: need for need in unknown_in(state.fold.rules, state.stroke)} if state.stroke else {}
    wanted = [f for f in (state.stroke.fallen if state.stroke else ()) if _wanted(f, request)]
    if request.button is not None:
        seen_ns = request.at_ns - REACTS_NS
        wanted = [fallen for fallen in wanted if _was_over(fallen, request)]
        near = _near_pit(draft) if name == "cue" else None
        wanted.sort(
            key=lambda fallen: (fallen.started_ns < seen_ns, fallen.place != near, open_doubt(fallen) != "unclear")
        )
    for fallen in reversed(wanted):
        if fallen.passage_id in unknown:
            _check_candidate(fallen, name, unknown[fallen.passage_id].objects)
            by_key = request.button is not None and "passage_id" not in request.fields
            draft.emit(FallenRevised(replace(fallen, told=name, by_key=by_key)))
            return
    if not (state.stroke and "passage_id" not in request.fields) and _object_of_closed(draft, request, name):
        return
    raise Refuse("no_such_question", "nothing that fell in that stroke is unknown")


def _near_pit(draft: Draft) -> str | None:
    """The pit at the end of whoever threw, if every stroke that waits was what it is assumed to be."""
    state = draft.projected().rules
    return end_of(state, rules.player_on_turn(state))


def _object_of_closed(draft: Draft, request: Request, name: str) -> bool:
    """Name an object of a closed stroke: the answer to its question, or a correction of what was assumed."""
    fold = draft.fold
    last = next_number(draft.state) - 1
    numbers = range(last, 0, -1) if "passage_id" in request.fields else (last,)
    for number in numbers:
        closed = fold.closed_stroke(number)
        for fallen in reversed(closed.fallen if closed else ()):
            if not _wanted(fallen, request):
                continue
            question = next((q for q, _ in open_questions(fold) if q.passage_id == fallen.passage_id), None)
            if question is not None and closed is not None:
                _check_candidate(fallen, name, _left_for(fold, closed, fallen))
                draft.step(Answered(question.id, name), strict=True)
                return True
            if _was_assumed(draft, number, fallen):
                _check_sensors(fallen, name)
                draft.step(Corrected(number, objects=((fallen.passage_id, name),)), strict=True)
                return True
    return False


def _wanted(fallen: Fallen, request: Request) -> bool:
    """Whether the request means this passage: the newest that fits what it says."""
    passage_id, place = request.fields.get("passage_id"), request.fields.get("place")
    return passage_id in (None, fallen.passage_id) and place in (None, fallen.place)


def _was_over(fallen: Fallen, request: Request) -> bool:
    """Whether the passage lay wholly before the press."""
    return fallen.started_ns < request.at_ns and (fallen.beam, fallen.started_ns) not in request.amid


def _was_assumed(draft: Draft, number: int, fallen: Fallen) -> bool:
    judged = draft.fold.judged_stroke(number)
    objects = judged.judged.objects if judged else ()
    return any(j.passage_id == fallen.passage_id and j.how == "assumed" for j in objects)


def _check_object(draft: Draft, name: object, *, field: str = "object", beside: tuple[str, ...] = ()) -> None:
    """`field` holds the name; `beside` is what else it may say."""
    game = draft.fold.rules.game
    known = objects_of(game) + (("own", "other") if game in ("club_carrom", "new_carrom") else ())
    if not isinstance(name, str) or name not in known:
        raise Refuse("malformed", f"{field}: {name!r} is none of {', '.join((*beside, *known))}")


def _check_sensors(fallen: Fallen, name: str) -> None:
    possible = set(fallen.candidates) | ({"own", "other"} if {"white", "black"} & set(fallen.candidates) else set())
    if name not in possible:
        raise Refuse("impossible_count", f"{name} cannot pass there; {' or '.join(fallen.candidates)} can")


def _left_for(fold: Fold, stroke: StrokeClosed, fallen: Fallen) -> tuple[str, ...]:
    """What an object of a waiting stroke can have been, beside what is known of the others."""
    needs = settle(fold, stroke).needs
    return next((need.objects for need in needs if need.passage_id == fallen.passage_id), fallen.candidates)


def _check_candidate(fallen: Fallen, name: str, left: tuple[str, ...]) -> None:
    _check_sensors(fallen, name)
    if name not in left and not (name in ("own", "other") and {"white", "black"} & set(left)):
        raise Refuse("impossible_count", f"no {name} is left that could have fallen")


def _answer(draft: Draft, request: Request) -> None:
    wanted = request.fields.get("question")
    asked = next(((q, need) for q, need in open_questions(draft.fold) if wanted in (None, q.id)), None)
    if asked is None:
        raise Refuse("no_such_question", f"question {wanted} is not open" if wanted else "no question is open")
    question, need = asked
    draft.step(Answered(question.id, _value(draft, question, need, request.fields.get("value"))), strict=True)


def _value(draft: Draft, question: Question, need: Need, value: object) -> str | bool | int:
    """The value as it is kept, checked against what the question is about.

    Whoever names the object has said as well that one fell.
    """
    if question.kind == "how_many" and isinstance(value, int) and not isinstance(value, bool):
        if value not in need.candidates:
            raise Refuse("malformed", f"value: {value} is none of {', '.join(map(str, need.candidates))}")
        return value
    if question.kind == "did_it_fall" and isinstance(value, bool):
        return value
    if question.kind == "who_shot":
        _check_player(draft, value, field="value")
        assert isinstance(value, int)
        return value
    if question.kind == "cue" and isinstance(value, bool):
        value = "cue" if value else "ball"
    _check_object(draft, value, field="value", beside=_ANSWERS.get(question.kind, ()))
    assert isinstance(value, str)
    stroke = next(stroke for stroke in draft.fold.waiting if stroke.number == question.stroke)
    fallen = next(fallen for fallen in stroke.fallen if fallen.passage_id == question.passage_id)
    _check_candidate(fallen, value, _left_for(draft.fold, stroke, fallen))
    return value


_ANSWERS: Mapping[str, tuple[str, ...]] = {
    "how_many": ("0", "1", "2"),
    "did_it_fall": ("true", "false"),
    "cue": ("true", "false"),
}
"""What can be answered beside an object."""


def _undo(draft: Draft, request: Request) -> None:
    if draft.state.stroke is not None:
        draft.emit(StrokeDropped(UNDONE))
    elif draft.state.match.steps or draft.state.previous is not None:
        draft.emit(Undone())
    else:
        raise Refuse("nothing_to_undo", "nothing has happened that could be taken back")


def _redo(draft: Draft, request: Request) -> None:
    if not draft.state.match.undone and draft.state.undone_match is None:
        raise Refuse("nothing_to_redo", "nothing was undone")
    if draft.state.stroke is not None:
        raise Refuse("wrong_phase", "a stroke is open; close it or undo it first")
    draft.emit(Redone())


def _correct(draft: Draft, request: Request) -> None:
    fields = request.fields
    number = fields.get("stroke")
    if not isinstance(number, int) or isinstance(number, bool) or draft.fold.closed_stroke(number) is None:
        raise Refuse("no_such_stroke", f"there is no closed stroke {number!r}")
    if "player" in fields:
        _check_player(draft, fields["player"])
    if not isinstance(fields.get("void", False), bool):
        raise Refuse("malformed", "void: true or false is expected")
    said = _said(draft, fields)
    claim = _claimed(draft, fields) if "claim" in fields else None
    correction = Corrected(
        number,
        void=fields.get("void"),
        player=fields.get("player"),
        claim=claim,
        **said,
    )
    if correction == Corrected(number):
        raise Refuse(
            "malformed",
            "say what the stroke really was: pocketed, jumped, out, off_table, player, void or claim",
        )
    draft.step(correction, strict=True)


def _said(draft: Draft, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a stroke that the request names, checked by the rules' own parser."""
    carpetball = draft.fold.rules.game == CARPETBALL
    names = ("out", "off_table", "short") if carpetball else ("pocketed", "jumped")
    foreign = {"pocketed", "jumped", "out", "off_table", "short"} & set(fields) - set(names)
    if foreign:
        raise Refuse("malformed", f"{min(foreign)}: {draft.fold.rules.game} has no such field")
    given = {name: fields[name] for name in names if name in fields}
    whole = given if carpetball or "pocketed" in given else {"pocketed": [], **given}
    seen = _parse(draft, "throw" if carpetball else "stroke", whole)
    if isinstance(seen, rules.Throw):
        values: dict[str, Any] = {
            "out": (seen.out_north, seen.out_south),
            "off_table": seen.off_table,
            "short": seen.short,
        }
    else:
        assert isinstance(seen, rules.Stroke)
        values = {"pocketed": seen.pocketed, "jumped": seen.jumped}
    return {name: values[name] for name in given}


def _claimed(draft: Draft, fields: Mapping[str, Any]) -> Fallen:
    name = fields.get("object")
    _check_object(draft, name)
    assert isinstance(name, str)
    for unscored in draft.state.unscored:
        if unscored.fallen.passage_id == fields["claim"]:
            return replace(unscored.fallen, told=name, withdrawn=None)
    raise Refuse("malformed", f"claim: no passage {fields['claim']!r} is known that did not count")


def _pause(draft: Draft, request: Request) -> None:
    if draft.state.paused_ns is None:
        draft.emit(Paused(request.at_ns))


def _resume(draft: Draft, request: Request) -> None:
    if draft.state.paused_ns is not None:
        draft.emit(Resumed(request.at_ns))


def _abandon(draft: Draft, request: Request) -> None:
    if draft.fold.abandoned or draft.fold.rules.phase in FINISHED:
        raise Refuse("wrong_phase", "the match is over already")
    abandon(draft)


def _players(draft: Draft, request: Request) -> None:
    fields, seats = request.fields, draft.state.match.seats
    if ("names" in fields) == ("swap" in fields):
        raise Refuse("malformed", "players: give either names or swap")
    if "names" in fields:
        names = fields["names"]
        if not isinstance(names, list | tuple) or len(names) != len(seats):
            raise Refuse("malformed", f"names: a list of {len(seats)} names is expected")
        check_names(names)
        draft.emit(Renamed(tuple((seat.id, name) for seat, name in zip(seats, names, strict=True))))
        return
    swap = fields["swap"]
    if not isinstance(swap, list | tuple) or len(swap) != 2 or swap[0] == swap[1]:
        raise Refuse("malformed", "swap: two different players' numbers are expected")
    for player in swap:
        _check_player(draft, player, field="swap")
    draft.step(Swapped(swap[0], swap[1]))


COMMANDS: Mapping[str, Callable[[Draft, Request], None]] = {
    "done": _end_stroke,
    "end_stroke": _end_stroke,
    "stroke": _told_stroke,
    "throw": _told_stroke,
    "jumped": _jumped,
    "break_not_made": _call,
    "no_stroke": _call,
    "line_up": _call,
    "withdraw": _call,
    "next_board": _call,
    "next_round": _call,
    "object": _object,
    "answer": _answer,
    "recount": _recount,
    "undo": _undo,
    "redo": _redo,
    "correct": _correct,
    "new_match": begin_match,
    "pause": _pause,
    "resume": _resume,
    "abandon": _abandon,
    "players": _players,
}
