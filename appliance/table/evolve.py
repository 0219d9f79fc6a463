"""From one state of the table to the next: what an accepted event does, never whether it may.

`evolve` is what a restart folds the journal with, so it takes every event that `decide` ever produced.
"""

from appliance.rules.copying import changed
from appliance.table.doubts import number_of
from appliance.table.fold import fold_match, fold_step, start_fold, why_not_scored
from appliance.table.model import (
    SUPERSEDED,
    UNSCORED_KEPT,
    Abandoned,
    Amended,
    ButtonPressed,
    Called,
    Corrected,
    Fallen,
    FallenRevised,
    Fold,
    JumpedAdded,
    LastClose,
    Match,
    MatchStarted,
    NotScored,
    OpenStroke,
    PassageAdded,
    PassageDoubted,
    PassageProlonged,
    PassageWithdrawn,
    Paused,
    QuietRestarted,
    Redone,
    Renamed,
    Requested,
    Resumed,
    Step,
    Stepped,
    StrokeClosed,
    StrokeDropped,
    StrokeOpened,
    Struck,
    TableEvent,
    TableState,
    Undone,
    Unscored,
)


def evolve(state: TableState | None, event: TableEvent, seq: int) -> TableState:
    """The state after `event`, which was accepted as part of input number `seq`.

    The first event of a table is a `MatchStarted`; `state` is None before it.
    """
    if isinstance(event, MatchStarted):
        return _start_match(state, event, seq)
    if state is None:
        raise ValueError(f"a table begins with a match, not with {event.kind}")
    state = changed(state, seq=seq)
    match event:
        case Requested():
            return state
        case Stepped():
            return _step(state, event, seq)
        case Amended():
            return changed(_amend(state, event), step_seq=seq)
        case Undone():
            return changed(_undo(state), step_seq=seq)
        case Redone():
            return changed(_redo(state), step_seq=seq)
        case Renamed(names):
            return _with_match(state, changed(state.match, names={**state.match.names, **dict(names)}))
        case Paused(at_ns):
            return changed(state, paused_ns=at_ns)
        case Resumed(at_ns):
            return _resume(state, at_ns)
        case ButtonPressed(button, at_ns):
            return changed(state, pressed={**state.pressed, button: at_ns})
        case Struck():
            return _struck(state, event)
        case PassageDoubted():
            return state
        case QuietRestarted(at_ns):
            return _restart_quiet(state, at_ns)
        case NotScored(fallen, reason, disturbs):
            state = _count_passage(_disturbed(state) if disturbs else state, fallen)
            return _keep_unscored(state, (Unscored(fallen, reason),))
        case _:
            return _in_stroke(state, event)


def new_match(started: MatchStarted) -> Match:
    """A match at its beginning."""
    return Match(started, start_fold(started))


def _start_match(state: TableState | None, started: MatchStarted, seq: int) -> TableState:
    match = new_match(started)
    if state is None:
        return TableState(match, seq, seq, last_match=started.match)
    left_behind = changed(state.match, undone=())
    return TableState(
        match,
        seq,
        seq,
        last_match=max(started.match, state.last_match),
        depth=state.depth + 1,
        previous=left_behind,
        pressed=state.pressed,
    )


def _with_match(state: TableState, match: Match) -> TableState:
    return changed(state, match=match)


def _step(state: TableState, event: Stepped, seq: int) -> TableState:
    step, match = event.step, state.match
    steps = (*match.steps, step)
    is_correction = isinstance(step.action, Corrected)
    after = changed(
        match,
        fold=fold_match(match.started, steps) if is_correction else fold_step(match.fold, step),
        steps=steps,
        undone=(),
        next_passage=event.next_passage,
        next_question=event.next_question,
    )
    state = changed(state, match=after, step_seq=seq, undone_match=None)
    match step.action:
        case StrokeClosed() as closed:
            last_close = LastClose(closed.number, closed.by, closed.at_ns)
            state = changed(state, stroke=None, last_close=last_close)
            state = _keep_unscored(state, _superseded(closed.superseded))
        case Called(_, superseded):
            state = changed(state, stroke=None)
            state = _keep_unscored(state, _superseded(superseded))
        case Abandoned():
            state = changed(state, stroke=None)
        case _:
            pass
    return _sort_passages(state, match.fold, same=0 if is_correction else len(match.fold.strokes))


def _superseded(fallen: tuple[Fallen, ...]) -> tuple[Unscored, ...]:
    return tuple(Unscored(f, SUPERSEDED) for f in fallen)


def _sort_passages(state: TableState, before: Fold, *, same: int = 0) -> TableState:
    """Keep what counts for nothing any more, forget what counts now; `before` is the fold that has changed, and
    its first `same` strokes are known not to have: a match is not looked through for each of its steps.
    """
    for old, new in zip(before.strokes[same:], state.fold.strokes[same:], strict=False):
        if old is not new and old != new:
            break
        same += 1
    was, now = _passages(before, same), _passages(state.fold, same)
    counts = {passage_id for passage_id, (_, reason) in now.items() if reason is None}
    state = _forget_unscored(state, counts)
    fresh = [Unscored(fallen, why) for key, (fallen, why) in now.items() if why and was.get(key) != (fallen, why)]
    freed = [
        Unscored(fallen, "what had counted it was taken back") for key, (fallen, _) in was.items() if key not in now
    ]
    return _keep_unscored(state, (*fresh, *freed))


def _passages(fold: Fold, same: int) -> dict[str, tuple[Fallen, str | None]]:
    """The passages of the strokes behind the first `same` ones, and why each did not count, if so."""
    found: dict[str, tuple[Fallen, str | None]] = {}
    for entry in fold.strokes[same:]:
        seen = {fallen.passage_id: fallen for fallen in entry.stroke.fallen}
        for judgement in entry.judged.objects:
            reason = why_not_scored(entry, judgement)
            counted = found.get(judgement.passage_id, (None, ""))[1] is None
            if not counted:
                found[judgement.passage_id] = (seen[judgement.passage_id], reason)
    for stroke in fold.waiting:
        found |= {fallen.passage_id: (fallen, None) for fallen in stroke.fallen}
    return found


def _keep_unscored(state: TableState, more: tuple[Unscored, ...]) -> TableState:
    if not more:
        return state
    state = _forget_unscored(state, {unscored.fallen.passage_id for unscored in more})
    return _with_match(state, changed(state.match, unscored=(*state.unscored, *more)[-UNSCORED_KEPT:]))


def _forget_unscored(state: TableState, passage_ids: set[str]) -> TableState:
    kept = tuple(u for u in state.unscored if u.fallen.passage_id not in passage_ids)
    return state if len(kept) == len(state.unscored) else _with_match(state, changed(state.match, unscored=kept))


def _disturbed(state: TableState, *, struck: bool = False) -> TableState:
    close = state.last_close
    if close is None:
        return state
    return changed(state, last_close=changed(close, disturbed=True, struck=close.struck or struck))


def _struck(state: TableState, struck: Struck) -> TableState:
    at_ns = struck.at_ns
    if struck.arrival:
        return changed(state, arrived_ns=at_ns)
    state, stroke = _disturbed(state, struck=True), state.stroke
    state = changed(state, last_strike_ns=at_ns, last_strike_end=struck.end, arrived_ns=None)
    if stroke is None:
        return state
    return changed(state, stroke=changed(stroke, struck_ns=at_ns, active_ns=max(stroke.active_ns, at_ns)))


def _count_passage(state: TableState, fallen: Fallen) -> TableState:
    """Passage ids count up in the match and are never used twice."""
    number = number_of(fallen.passage_id)
    if number < state.match.next_passage:
        return state
    return _with_match(state, changed(state.match, next_passage=number + 1))


def _in_stroke(state: TableState, event: TableEvent) -> TableState:
    match event:
        case StrokeOpened(number, at_ns):
            return changed(_disturbed(state), stroke=OpenStroke(number, at_ns))
        case StrokeDropped(reason):
            # A second request made with the same look at the table must not take back one thing more.
            state = changed(state, step_seq=state.seq)
            stroke = state.stroke
            dropped = tuple(Unscored(f, reason) for f in stroke.fallen) if stroke else ()
            return _keep_unscored(changed(state, stroke=None), dropped)
        case _:
            pass
    stroke = state.stroke
    if stroke is None:
        raise ValueError(f"{event.kind} needs an open stroke")
    match event:
        case PassageProlonged(active_ns):
            stroke = changed(stroke, active_ns=max(stroke.active_ns, active_ns))
        case PassageAdded(fallen, active_ns):
            state = _count_passage(state, fallen)
            active_ns = max(stroke.active_ns, active_ns)
            stroke = changed(stroke, fallen=(*stroke.fallen, fallen), active_ns=active_ns)
        case FallenRevised(fallen):
            revised = tuple(fallen if f.passage_id == fallen.passage_id else f for f in stroke.fallen)
            stroke = changed(stroke, fallen=revised)
        case PassageWithdrawn(passage_id, reason):
            withdrawn = tuple(Unscored(f, reason) for f in stroke.fallen if f.passage_id == passage_id)
            state = _keep_unscored(state, withdrawn)
            stroke = changed(stroke, fallen=tuple(f for f in stroke.fallen if f.passage_id != passage_id))
        case JumpedAdded(objects):
            stroke = changed(stroke, jumped=(*stroke.jumped, *objects))
        case _:
            raise ValueError(f"{event.kind} does not happen in a stroke")
    return changed(state, stroke=stroke)


def _restart_quiet(state: TableState, at_ns: int) -> TableState:
    stroke = state.stroke
    return changed(
        state,
        stroke=changed(stroke, active_ns=at_ns, struck_ns=None) if stroke else None,
        paused_ns=None if state.paused_ns is None else at_ns,
        last_close=None,
        last_strike_ns=None,
        last_strike_end=None,
        arrived_ns=None,
        pressed={},
    )


def _resume(state: TableState, at_ns: int) -> TableState:
    stroke = state.stroke
    if stroke is not None and state.paused_ns is not None:
        stroke = changed(stroke, active_ns=stroke.active_ns + max(0, at_ns - state.paused_ns))
    return changed(state, stroke=stroke, paused_ns=None)


def amended_steps(steps: tuple[Step, ...], event: Amended) -> tuple[Step, ...]:
    """The steps with a passage added to a closed stroke, or with a passage of it revised.

    The stroke is judged anew in the step in which it was judged before, and asked about in the step that
    closed it, so that undo still takes back the one or the other. What that judges besides comes at the end.
    """
    judged_in, after = len(steps) - 1, list(steps)
    for index, step in enumerate(steps):
        action, questions = step.action, step.questions
        if isinstance(action, StrokeClosed) and action.number == event.stroke:
            action = changed(action, fallen=_with_fallen(action.fallen, event.fallen))
            questions = (*questions, *(q for q in event.questions if q.stroke == event.stroke))
        if any(judged.stroke == event.stroke for judged in step.judged):
            judged_in = index
        judged_then = tuple(judged for judged in step.judged if judged.stroke != event.stroke)
        after[index] = changed(step, action=action, judged=judged_then, questions=questions)
    again = tuple(judged for judged in event.judged if judged.stroke == event.stroke)
    step = after[judged_in]
    after[judged_in] = changed(step, judged=(*again, *step.judged))
    others = tuple(judged for judged in event.judged if judged.stroke != event.stroke)
    asked = tuple(question for question in event.questions if question.stroke != event.stroke)
    last = after[-1]
    after[-1] = changed(last, judged=(*last.judged, *others), questions=(*last.questions, *asked))
    return tuple(after)


def _with_fallen(fallen: tuple[Fallen, ...], new: Fallen) -> tuple[Fallen, ...]:
    if all(f.passage_id != new.passage_id for f in fallen):
        return (*fallen, new)
    return tuple(new if f.passage_id == new.passage_id else f for f in fallen)


def _amend(state: TableState, event: Amended) -> TableState:
    match = state.match
    steps = amended_steps(match.steps, event)
    fold = fold_match(match.started, steps)
    after = changed(
        match,
        fold=fold,
        steps=steps,
        next_passage=event.next_passage,
        next_question=event.next_question,
    )
    return _sort_passages(_with_match(state, after), match.fold)


def _undo(state: TableState) -> TableState:
    match = state.match
    if not match.steps:
        assert state.previous is not None
        return _in_other_match(state, state.previous, depth=state.depth - 1, undone_match=match)
    steps, last = match.steps[:-1], match.steps[-1]
    after = changed(match, fold=fold_match(match.started, steps), steps=steps, undone=(*match.undone, last))
    return _sort_passages(changed(state, match=after, last_close=None), match.fold)


def _redo(state: TableState) -> TableState:
    match = state.match
    if not match.undone:
        assert state.undone_match is not None
        return _in_other_match(state, state.undone_match, depth=state.depth + 1, previous=match)
    steps = (*match.steps, match.undone[-1])
    after = changed(match, fold=fold_match(match.started, steps), steps=steps, undone=match.undone[:-1])
    return _sort_passages(changed(state, match=after, last_close=None), match.fold)


def _in_other_match(
    state: TableState,
    match: Match,
    *,
    depth: int,
    previous: Match | None = None,
    undone_match: Match | None = None,
) -> TableState:
    """The state in the match before, or again in the one that was undone. Names are no step: they stay."""
    return changed(
        state,
        match=changed(match, names={**match.names, **state.match.names}),
        depth=depth,
        previous=previous,
        undone_match=undone_match,
        last_close=None,
        stroke=None,
    )
