"""How strokes close: by `done`, by quiet time, by the next strike, by a call; and what `done` means otherwise."""

from appliance.table.draft import Draft, Refuse
from appliance.table.inputs import Request
from appliance.table.matches import begin_match, options_in_force
from appliance.table.model import (
    Answered,
    Assumed,
    ButtonPressed,
    Called,
    ClosedBy,
    Fallen,
    Question,
    StrokeClosed,
    TableState,
)
from appliance.table.resolve import next_player

SECOND_NS = 1_000_000_000
ONE_PRESS_NS = 1 * SECOND_NS
CONFIRMS_NS = 3 * SECOND_NS
ANSWERS_NS = 10 * SECOND_NS


def next_number(state: TableState) -> int:
    """The number of the stroke that opens next: one more than the newest that has not been undone."""
    fold = state.fold
    taken = [s.stroke.number for s in fold.strokes] + [s.number for s in fold.waiting]
    return max(taken, default=0) + 1


def close_stroke(
    draft: Draft, by: ClosedBy, player: int | None, at_ns: int, *, without: tuple[Fallen, ...] = ()
) -> None:
    """Close the open stroke, or an empty one where none is open: a miss. `without` is taken out of it first."""
    stroke = draft.state.stroke
    fallen = stroke.fallen if stroke else ()
    draft.step(
        StrokeClosed(
            number=stroke.number if stroke else next_number(draft.state),
            by=by,
            player=player,
            at_ns=at_ns,
            strike_sensor=draft.policy.strike_sensor,
            fallen=tuple(f for f in fallen if f not in without),
            jumped=stroke.jumped if stroke else (),
            struck=stroke is None or stroke.struck_ns is not None,
        )
    )


def done(draft: Draft, request: Request, player: int | None) -> None:
    """`done` of `player` (None: of nobody in particular)."""
    state, at_ns = draft.state, request.at_ns
    if request.button is not None:
        pressed_ns = state.pressed.get(request.button)
        if pressed_ns is not None and 0 <= at_ns - pressed_ns < ONE_PRESS_NS:
            return
        draft.emit(ButtonPressed(request.button, at_ns))
    if state.paused_ns is not None:
        raise Refuse("wrong_phase", "the table is paused; resume it first")
    if state.stroke is None and player is not None and _answers_or_confirms(draft, player, at_ns):
        return
    if state.stroke is None and not draft.projected().in_play:
        _obvious_next(draft, at_ns)
        return
    close_stroke(draft, "done", player, at_ns)


def _answers_or_confirms(draft: Draft, player: int, at_ns: int) -> bool:
    """Whether this press belongs to the stroke that closed quietly just now, the end of a board too."""
    close = draft.state.last_close
    if close is None or close.by != "quiet" or close.disturbed:
        return False
    since_ns = at_ns - close.at_ns
    question = _who_shot(draft.state, close.stroke)
    shot = draft.projected().judged_stroke(close.stroke)
    confirms = shot is not None and player == shot.player and since_ns <= CONFIRMS_NS
    if question is not None and since_ns <= ANSWERS_NS:
        answers = player == next_player(draft.fold.rules)
        if answers or confirms:
            draft.step(Answered(question.id, player), strict=True)
            return True
    return confirms


def _who_shot(state: TableState, stroke: int) -> Question | None:
    open_now = state.fold.questions
    return next((q for q in open_now if q.kind == "who_shot" and q.stroke == stroke), None)


def _obvious_next(draft: Draft, at_ns: int) -> None:
    """Outside play `done` by anybody is what comes next anyway, and takes it as assumed that play is over."""
    after = draft.projected()
    if after.abandoned or after.rules.phase == "match_over":
        if draft.fold.queue and draft.assumes:
            draft.step(Assumed(), assume_all=True)
        begin_match(draft, Request("new_match", at_ns))
        return
    balls = options_in_force(draft.state).get("cb.max_balls")
    calls: dict[str, dict[str, object]] = {
        "board_over": {"type": "next_board"},
        "round_over": {"type": "next_round"},
        "line_up": {"type": "line_up", "north": balls, "south": balls},
    }
    draft.step(Called(calls[after.rules.phase]), assume_all=draft.assumes)
