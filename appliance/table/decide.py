"""What follows from one input at the table: events, or a refusal with its reason.

Sensors never get a refusal: what does not count becomes `not_scored`, and what means nothing becomes nothing.
People do. The rules of opening, closing and being late stand here, those of the commands in `commands.py`.
"""

from dataclasses import dataclass, replace

from appliance.sensing.identify import exclude_by_colour
from appliance.table.closing import close_stroke, next_number
from appliance.table.commands import carry_out
from appliance.table.draft import Draft, Refuse
from appliance.table.evolve import evolve
from appliance.table.inputs import (
    Begin,
    ClockPassed,
    Coloured,
    Passed,
    Rebooted,
    Refused,
    Request,
    Strike,
    TableInput,
)
from appliance.table.model import (
    Fallen,
    FallenRevised,
    NotScored,
    PassageAdded,
    PassageProlonged,
    Policy,
    QuietRestarted,
    StrokeOpened,
    Struck,
    TableEvent,
    TableState,
)

SECOND_NS = 1_000_000_000
STRIKES_APART_NS = 1 * SECOND_NS
LATE_NS = 2 * SECOND_NS
COLOUR_LATE_NS = 1 * SECOND_NS


@dataclass(frozen=True, slots=True)
class Decision:
    """The events that follow, and the state before the first and after each of them.

    No events: nothing changed, and the input does not count.
    """

    events: tuple[TableEvent, ...]
    states: tuple[TableState, ...]

    @property
    def state(self) -> TableState:
        """The state after all of it."""
        return self.states[-1]


def begin(begin: Begin) -> Decision:
    """The first match of a table that has no history."""
    state = evolve(None, begin.started, 1)
    return Decision((begin.started,), (state, state))


def decide(state: TableState, given: TableInput, policy: Policy) -> Decision | Refused:
    """What follows from `given` in `state`. Pure; only a `Request` can be refused."""
    draft = Draft(state, policy)
    try:
        match given:
            case Passed():
                _passage(draft, given)
            case Coloured():
                _colour(draft, given)
            case Strike():
                _strike(draft, given)
            case ClockPassed(at_ns):
                _quiet(draft, at_ns)
            case Rebooted(at_ns):
                if state.stroke or state.last_close or state.pressed or state.paused_ns is not None:
                    draft.emit(QuietRestarted(at_ns))
            case Request():
                carry_out(draft, given)
            case Begin():
                raise ValueError("a table begins once")
    except Refuse as refusal:
        return refusal.refused
    return Decision(tuple(draft.events), tuple(draft.states))


def _passage(draft: Draft, passed: Passed) -> None:
    state = draft.state
    known = _known(state, passed.beam, passed.started_ns)
    if known is not None:
        stroke = state.stroke
        if stroke is not None and known[1] in stroke.fallen and passed.ended_ns > stroke.active_ns:
            draft.emit(PassageProlonged(passed.ended_ns))
        return
    number = state.match.next_passage
    fallen = Fallen(f"p{number}", passed.beam, passed.place, passed.started_ns, passed.candidates)
    if state.stroke is None and _is_late(state, passed.started_ns):
        assert state.last_close is not None
        if draft.amend(state.last_close.stroke, fallen, number + 1):
            return
    if not state.scoring:
        draft.emit(NotScored(fallen, why_outside(state)))
        return
    if state.stroke is None:
        draft.emit(StrokeOpened(next_number(state), passed.started_ns))
    draft.emit(PassageAdded(fallen, passed.ended_ns))


def _is_late(state: TableState, at_ns: int) -> bool:
    """Whether a passage at `at_ns` belongs to the stroke that a button has just closed."""
    close = state.last_close
    if close is None or close.by != "done" or state.paused_ns is not None:
        return False
    return not close.struck and at_ns - close.at_ns <= LATE_NS


def why_outside(state: TableState) -> str:
    """Why nothing counts at the moment, in words."""
    if state.paused_ns is not None:
        return "the table is paused"
    if state.fold.abandoned:
        return "the match was abandoned"
    words = {
        "board_over": "the board is over",
        "match_over": "the match is over",
        "round_over": "the round is over",
        "line_up": "the balls are being lined up",
    }
    return words.get(state.fold.rules.phase, "nothing is being played")


def _known(state: TableState, beam: str, started_ns: int) -> tuple[int | None, Fallen] | None:
    """The passage as the table has it already, with the closed stroke that it is in (None: open, or unscored)."""
    in_open = state.stroke.fallen if state.stroke else ()
    unscored = tuple(unscored.fallen for unscored in state.unscored)
    for fallen in (*in_open, *unscored):
        if (fallen.beam, fallen.started_ns) == (beam, started_ns):
            return None, fallen
    waiting = tuple(reversed(state.fold.waiting))
    judged = tuple(s.stroke for s in state.fold.strokes[-2:])
    for stroke in (*waiting, *judged):
        for fallen in stroke.fallen:
            if (fallen.beam, fallen.started_ns) == (beam, started_ns):
                return stroke.number, fallen
    return None


def _colour(draft: Draft, seen: Coloured) -> None:
    found = _known(draft.state, seen.beam, seen.started_ns)
    if found is None:
        return
    closed_in, fallen = found
    if fallen.told is not None:
        return
    candidates = exclude_by_colour(fallen.candidates, seen.object)
    revised = replace(fallen, candidates=candidates, by_colour=seen.object in fallen.candidates)
    if revised == fallen:
        return
    stroke = draft.state.stroke
    if closed_in is not None:
        draft.amend(closed_in, revised, draft.state.match.next_passage)
    elif stroke is not None and any(f.passage_id == fallen.passage_id for f in stroke.fallen):
        draft.emit(FallenRevised(revised))


def _strike(draft: Draft, strike: Strike) -> None:
    state = draft.state
    if state.last_strike_ns is not None and strike.at_ns - state.last_strike_ns < STRIKES_APART_NS:
        return
    if state.scoring and state.stroke is not None:
        close_stroke(draft, "strike", None, strike.at_ns)
    if draft.state.scoring:
        draft.emit(StrokeOpened(next_number(draft.state), strike.at_ns))
        draft.emit(Struck(strike.at_ns))
    elif draft.state.last_close is not None and not draft.state.last_close.struck:
        # Nothing starts outside play, but what falls from now on is no late passage of that stroke.
        draft.emit(Struck(strike.at_ns))


def _quiet(draft: Draft, at_ns: int) -> None:
    stroke, quiet_ns = draft.state.stroke, draft.policy.quiet_time_ns
    if stroke is None or quiet_ns == 0 or draft.state.paused_ns is not None:
        return
    if at_ns >= stroke.active_ns + quiet_ns:
        close_stroke(draft, "quiet", None, stroke.active_ns + quiet_ns)
