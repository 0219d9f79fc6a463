"""What the table shows: the body of the `state` document and the event documents, made from the tip.

The envelope (schema, table, wall time) is put around them by whoever publishes.
"""

from collections.abc import Iterable
from typing import Any

from appliance import rules
from appliance.table.doubts import open_doubt
from appliance.table.model import (
    SUPERSEDED,
    UNDONE,
    Amended,
    Called,
    Corrected,
    Fallen,
    Fold,
    Json,
    Judgement,
    Match,
    MatchStarted,
    NotScored,
    PassageAdded,
    PassageDoubted,
    PassageWithdrawn,
    Paused,
    Question,
    Redone,
    Renamed,
    Resumed,
    Seat,
    Stepped,
    StrokeClosed,
    StrokeDropped,
    Swapped,
    TableEvent,
    TableState,
    Undone,
)
from appliance.table.resolve import Need, as_if_closed, open_candidates, open_questions, settle, settle_objects


def state_body(state: TableState) -> dict[str, Any]:
    """Everything of the `state` document that the table itself knows."""
    fold = state.fold
    return {
        "match_id": state.match.id,
        "seq": state.seq,
        "paused": state.paused_ns is not None,
        "rules": rules.document(fold.rules),
        "stroke": _open_stroke(state),
        "pending": [_waiting(fold, stroke) for stroke in fold.waiting],
        "questions": questions(fold),
        "instructions": list(fold.instructions),
        "players": _players(state.match.seats),
        "last_result": fold.last_result,
    }


def _players(seats: Iterable[Seat]) -> list[dict[str, Any]]:
    return [{"player": n, "name": seat.name, "id": seat.id} for n, seat in enumerate(seats, 1)]


def _open_stroke(state: TableState) -> dict[str, Any] | None:
    stroke = state.stroke
    if stroke is None:
        return None
    on_turn = rules.player_on_turn(state.fold.rules)
    seen = as_if_closed(stroke)
    objects, needs = settle_objects(state.fold.rules, seen, on_turn)
    return _stroke(state.fold, seen, on_turn, objects, needs, provisional=True)


def _waiting(fold: Fold, stroke: StrokeClosed) -> dict[str, Any]:
    settled = settle(fold, stroke)
    return _stroke(fold, stroke, stroke.player, settled.judged.objects, settled.needs, provisional=False)


def _stroke(
    fold: Fold,
    stroke: StrokeClosed,
    player: int | None,
    objects: Iterable[Judgement],
    needs: Iterable[Need],
    *,
    provisional: bool,
) -> dict[str, Any]:
    unknown = {need.passage_id for need in needs}
    judged = {judgement.passage_id: judgement for judgement in objects}
    return {
        "number": stroke.number,
        "player": player,
        "fallen": [
            _fallen(fold, fallen, judged.get(fallen.passage_id), fallen.passage_id in unknown, provisional)
            for fallen in stroke.fallen
        ],
        "jumped": list(stroke.jumped),
    }


def _fallen(
    fold: Fold, fallen: Fallen, judgement: Judgement | None, unknown: bool, provisional: bool
) -> dict[str, Any]:
    known = judgement is not None and not unknown
    return {
        "passage_id": fallen.passage_id,
        "place": fallen.place,
        "object": judgement.object if judgement and known else None,
        "candidates": list(open_candidates(fold.rules, fallen)),
        "how": judgement.how if judgement and known else "unknown",
        "provisional": provisional,
        "doubt": open_doubt(fallen),
    }


def questions(fold: Fold) -> list[dict[str, Any]]:
    """The open questions, oldest first, each with what it may be and what would be assumed."""
    return [_question(question, need) for question, need in open_questions(fold)]


def _question(question: Question, need: Need) -> dict[str, Any]:
    return {
        "id": question.id,
        "stroke": question.stroke,
        "kind": question.kind,
        "place": question.place,
        "candidates": list(need.candidates),
        "assumed": need.assumed,
        "passage_id": question.passage_id,
    }


def happenings(event: TableEvent, before: TableState, after: TableState) -> list[Json]:
    """The event documents that `event` brings, without envelope, in order."""
    match event:
        case MatchStarted():
            started = {
                "event": "match_started",
                "game": event.setup["game"],
                "players": _players(event.players),
                "options": dict(event.chosen),
            }
            return [started]
        case Stepped(step):
            return _stepped(step.action, before, after)
        case Amended():
            return [_corrected(event.stroke, before, after)]
        case Undone():
            return [{"event": "undone", "stroke": _taken_back(before)}]
        case Redone():
            return [{"event": "redone", "stroke": _taken_back(after)}]
        case Paused():
            return [{"event": "paused"}]
        case Resumed():
            return [{"event": "resumed"}]
        case Renamed():
            return [{"event": "players_changed", "players": _players(after.match.seats)}]
        case StrokeDropped(reason):
            stroke = before.stroke
            dropped = [_not_scored(fallen, reason) for fallen in (stroke.fallen if stroke else ())]
            undone = [{"event": "undone", "stroke": stroke.number}] if stroke and reason == UNDONE else []
            return [*undone, *dropped]
        case PassageAdded(fallen):
            number = after.stroke.number if after.stroke else None
            return [{"event": "passage", "stroke": number, **_passage(fallen)}]
        case PassageWithdrawn(passage_id, reason):
            fallen = next(f for f in (before.stroke.fallen if before.stroke else ()) if f.passage_id == passage_id)
            return [_not_scored(fallen, reason)]
        case PassageDoubted(stroke_number, fallen, reason):
            doubted = {"event": "passage_doubted", "stroke": stroke_number, **_passage(fallen), "reason": reason}
            return [doubted]
        case NotScored(fallen, reason):
            return [_not_scored(fallen, reason)]
        case _:
            return []


def _stepped(action: object, before: TableState, after: TableState) -> list[Json]:
    match action:
        case Corrected(stroke):
            return [_corrected(stroke, before, after)]
        case Swapped():
            return [{"event": "players_changed", "players": _players(after.match.seats)}]
        case StrokeClosed() | Called():
            taken = [_not_scored(fallen, SUPERSEDED) for fallen in action.superseded]
            return [*after.fold.news, *taken]
        case _:
            return list(after.fold.news)


def _corrected(stroke: int, before: TableState, after: TableState) -> Json:
    return {
        "event": "corrected",
        "stroke": stroke,
        "before": rules.document(before.fold.rules),
        "after": rules.document(after.fold.rules),
    }


def _taken_back(state: TableState) -> int | None:
    """The number of the stroke that the newest step is about, where it is about one."""
    if not state.match.steps:
        return None
    action = state.match.steps[-1].action
    if isinstance(action, StrokeClosed):
        return action.number
    return action.stroke if isinstance(action, Corrected) else None


def _not_scored(fallen: Fallen, reason: str) -> Json:
    return {"event": "passage_not_scored", **_passage(fallen), "reason": reason}


def _passage(fallen: Fallen) -> dict[str, Any]:
    return {
        "passage_id": fallen.passage_id,
        "beam": fallen.beam,
        "place": fallen.place,
        "candidates": list(fallen.candidates),
        **({} if fallen.doubt is None else {"doubt": fallen.doubt}),
    }


def observation_lines(match: Match) -> list[Json]:
    """A match as observation lines: its set-up, then its effective history."""
    return [match.started.setup["line"], *match.fold.lines]
