"""From one state of the table to the next: what an accepted event does, never whether it may.

`evolve` is what a restart folds the journal with, so it takes every event that `decide` ever produced.
"""

from dataclasses import replace

from appliance import rules
from appliance.table.fold import corrections_of, fold_match, fold_step, start_fold, why_not_scored
from appliance.table.model import (
    UNSCORED_KEPT,
    Abandoned,
    Amended,
    ButtonPressed,
    Called,
    Corrected,
    Fallen,
    FallenRevised,
    Fold,
    Judged,
    JumpedAdded,
    LastClose,
    Match,
    MatchStarted,
    NotScored,
    OpenStroke,
    PassageAdded,
    Paused,
    QuietRestarted,
    Redone,
    Renamed,
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
    state = replace(state, seq=seq)
    match event:
        case Stepped():
            return _step(state, event, seq)
        case Amended():
            return replace(_amend(state, event), step_seq=seq)
        case Undone():
            return replace(_undo(state), step_seq=seq)
        case Redone():
            return replace(_redo(state), step_seq=seq)
        case Renamed(names):
            return _with_match(state, replace(state.match, names={**state.match.names, **dict(names)}))
        case Paused(at_ns):
            return replace(state, paused_ns=at_ns)
        case Resumed(at_ns):
            return _resume(state, at_ns)
        case ButtonPressed(button, at_ns):
            return replace(state, pressed={**state.pressed, button: at_ns})
        case QuietRestarted(at_ns):
            return _restart_quiet(state, at_ns)
        case NotScored(fallen, reason):
            state = _count_passage(_disturbed(state), fallen)
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
    left_behind = replace(state.match, undone=())
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
    return replace(state, match=match)


def _step(state: TableState, event: Stepped, seq: int) -> TableState:
    step, match = event.step, state.match
    steps = (*match.steps, step)
    if isinstance(step.action, Corrected):
        fold = fold_match(match.started, steps)
    else:
        fold = fold_step(match.fold, step, corrections_of(match.steps))
    after = replace(
        match,
        fold=fold,
        steps=steps,
        undone=(),
        next_passage=event.next_passage,
        next_question=event.next_question,
    )
    before, state = state, replace(state, match=after, step_seq=seq, undone_match=None)
    match step.action:
        case StrokeClosed() as closed:
            state = replace(state, stroke=None, last_close=_last_close(before, closed))
            state = _keep_unscored(state, _superseded(closed.superseded))
        case Called(_, superseded):
            state = replace(state, stroke=None)
            state = _keep_unscored(state, _superseded(superseded))
        case Abandoned():
            state = replace(state, stroke=None)
        case Corrected(claim=Fallen() as claim):
            state = _forget_unscored(state, {claim.passage_id})
        case _:
            pass
    return _keep_unscored(state, _newly_unscored(match.fold, fold, step.judged))


def _last_close(before: TableState, closed: StrokeClosed) -> LastClose:
    return LastClose(
        closed.number,
        closed.by,
        rules.player_on_turn(before.fold.rules),
        closed.at_ns,
        before.stroke.struck_ns if before.stroke else None,
    )


def _superseded(fallen: tuple[Fallen, ...]) -> tuple[Unscored, ...]:
    return tuple(Unscored(f, "told otherwise by hand") for f in fallen)


def _newly_unscored(before: Fold, after: Fold, judged: tuple[Judged, ...]) -> tuple[Unscored, ...]:
    """The passages of the strokes just judged that counted for nothing."""
    found: list[Unscored] = []
    for number in (j.stroke for j in judged if j.stroke):
        stroke = after.judged_stroke(number)
        if stroke is None:
            continue
        seen = {fallen.passage_id: fallen for fallen in stroke.stroke.fallen}
        for judgement in stroke.judged.objects:
            if judgement.object is None or stroke.observation is None:
                reason = why_not_scored(before, judgement) or "the stroke did not count"
                found.append(Unscored(seen[judgement.passage_id], reason))
    return tuple(found)


def _keep_unscored(state: TableState, more: tuple[Unscored, ...]) -> TableState:
    if not more:
        return state
    return replace(state, unscored=(*state.unscored, *more)[-UNSCORED_KEPT:])


def _forget_unscored(state: TableState, passage_ids: set[str]) -> TableState:
    kept = tuple(u for u in state.unscored if u.fallen.passage_id not in passage_ids)
    return replace(state, unscored=kept)


def _disturbed(state: TableState) -> TableState:
    if state.last_close is None or state.last_close.disturbed:
        return state
    return replace(state, last_close=replace(state.last_close, disturbed=True))


def _count_passage(state: TableState, fallen: Fallen) -> TableState:
    """Passage ids count up in the match and are never used twice."""
    number = int(fallen.passage_id.removeprefix("p"))
    if number < state.match.next_passage:
        return state
    return _with_match(state, replace(state.match, next_passage=number + 1))


def _in_stroke(state: TableState, event: TableEvent) -> TableState:
    match event:
        case StrokeOpened(number, at_ns):
            return replace(_disturbed(state), stroke=OpenStroke(number, at_ns))
        case StrokeDropped(reason):
            # A second request made with the same look at the table must not take back one thing more.
            state = replace(state, step_seq=state.seq)
            stroke = state.stroke
            dropped = tuple(Unscored(f, reason) for f in stroke.fallen) if stroke else ()
            return _keep_unscored(replace(state, stroke=None), dropped)
        case _:
            pass
    stroke = state.stroke
    if stroke is None:
        raise ValueError(f"{event.kind} needs an open stroke")
    match event:
        case Struck(at_ns):
            stroke = replace(stroke, struck_ns=at_ns, active_ns=max(stroke.active_ns, at_ns))
        case PassageAdded(fallen, active_ns):
            state = _count_passage(state, fallen)
            active_ns = max(stroke.active_ns, active_ns)
            stroke = replace(stroke, fallen=(*stroke.fallen, fallen), active_ns=active_ns)
        case FallenRevised(fallen):
            revised = tuple(fallen if f.passage_id == fallen.passage_id else f for f in stroke.fallen)
            stroke = replace(stroke, fallen=revised)
        case JumpedAdded(objects):
            stroke = replace(stroke, jumped=(*stroke.jumped, *objects))
        case _:
            raise ValueError(f"{event.kind} does not happen in a stroke")
    return replace(state, stroke=stroke)


def _restart_quiet(state: TableState, at_ns: int) -> TableState:
    stroke = state.stroke
    return replace(
        state,
        stroke=replace(stroke, active_ns=at_ns, struck_ns=None) if stroke else None,
        paused_ns=None if state.paused_ns is None else at_ns,
        last_close=None,
        pressed={},
    )


def _resume(state: TableState, at_ns: int) -> TableState:
    stroke = state.stroke
    if stroke is not None and state.paused_ns is not None:
        stroke = replace(stroke, active_ns=stroke.active_ns + max(0, at_ns - state.paused_ns))
    return replace(state, stroke=stroke, paused_ns=None)


def amended_steps(steps: tuple[Step, ...], event: Amended) -> tuple[Step, ...]:
    """The steps with a passage added to (or revised in) a closed stroke, which is judged anew at their end."""
    changed: list[Step] = []
    for step in steps:
        action = step.action
        if isinstance(action, StrokeClosed) and action.number == event.stroke:
            others = tuple(f for f in action.fallen if f.passage_id != event.fallen.passage_id)
            action = replace(action, fallen=(*others, event.fallen))
        judged = tuple(j for j in step.judged if j.stroke != event.stroke)
        changed.append(replace(step, action=action, judged=judged))
    last = changed[-1]
    changed[-1] = replace(last, judged=(*last.judged, *event.judged), questions=(*last.questions, *event.questions))
    return tuple(changed)


def _amend(state: TableState, event: Amended) -> TableState:
    match = state.match
    steps = amended_steps(match.steps, event)
    fold = fold_match(match.started, steps)
    after = replace(
        match,
        fold=fold,
        steps=steps,
        next_passage=event.next_passage,
        next_question=event.next_question,
    )
    return _forget_unscored(_with_match(state, after), {event.fallen.passage_id})


def _undo(state: TableState) -> TableState:
    match = state.match
    if not match.steps:
        assert state.previous is not None
        return replace(
            state,
            match=state.previous,
            depth=state.depth - 1,
            previous=None,
            undone_match=replace(match, undone=()),
            last_close=None,
            stroke=None,
            unscored=(),
        )
    steps, last = match.steps[:-1], match.steps[-1]
    fold = fold_match(match.started, steps)
    after = replace(match, fold=fold, steps=steps, undone=(*match.undone, last))
    state = replace(state, match=after, last_close=None)
    if isinstance(last.action, StrokeClosed):
        freed = tuple(Unscored(f, "its stroke was undone") for f in last.action.fallen)
        return _keep_unscored(state, freed)
    return state


def _redo(state: TableState) -> TableState:
    match = state.match
    if not match.undone:
        assert state.undone_match is not None
        return replace(
            state,
            match=state.undone_match,
            depth=state.depth + 1,
            previous=match,
            undone_match=None,
            last_close=None,
            stroke=None,
            unscored=(),
        )
    step = match.undone[-1]
    steps = (*match.steps, step)
    fold = fold_match(match.started, steps)
    after = replace(match, fold=fold, steps=steps, undone=match.undone[:-1])
    state = replace(state, match=after, last_close=None)
    if isinstance(step.action, StrokeClosed):
        return _forget_unscored(state, {f.passage_id for f in step.action.fallen})
    return state
