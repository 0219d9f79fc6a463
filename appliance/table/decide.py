"""What follows from one input at the table: events, or a refusal with its reason.

Sensors never get a refusal: what does not count becomes `not_scored`, and what means nothing becomes nothing.
People do. The rules of opening, closing and being late stand here, those of the commands in `commands.py`.
"""

from dataclasses import dataclass, replace

from appliance.sensing.identify import exclude_by_colour, objects_of
from appliance.sensing.signals import Uncounted
from appliance.table.closing import close_stroke, next_number
from appliance.table.commands import carry_out
from appliance.table.doubts import SECOND, is_nothing, second_of
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
    PassageDoubted,
    PassageProlonged,
    PassageWithdrawn,
    Policy,
    QuietRestarted,
    StrokeDropped,
    StrokeOpened,
    Struck,
    TableEvent,
    TableState,
)

SECOND_NS = 1_000_000_000
STRIKES_APART_NS = 1 * SECOND_NS
ARRIVES_WITHIN_NS = 5 * SECOND_NS
"""The slowest ball that arrives takes 4.4 s over 4.4 m; nobody has fetched one and thrown it back by then."""
ARRIVING_NS = 1 * SECOND_NS
LATE_NS = 2 * SECOND_NS
REVISED_WITHIN_NS = LATE_NS + 1 * SECOND_NS
"""What comes as late as can be may be the first piece of a hand; the next one follows within 0.3 s, and is long."""
TAKEN_BACK_WITHIN_NS = 10 * SECOND_NS
"""A wire that began to flutter slowly is known for what it is only after so long."""
FORGOTTEN_AFTER_NS = 10 * SECOND_NS
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


def begin(begin: Begin, seq: int = 1) -> Decision:
    """The first match of a table that has no history, as its input number `seq`."""
    state = evolve(None, begin.started, seq)
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
                restarted = QuietRestarted(at_ns)
                if evolve(state, restarted, state.seq) != state:
                    draft.emit(restarted)
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
    if known:
        for closed_in, fallen in known:
            _revise(draft, passed, closed_in, fallen)
        return
    if passed.known_ns - passed.ended_ns > FORGOTTEN_AFTER_NS:
        # It was told when it passed; what is known of it since comes too late for a stroke that is long over.
        return
    number = state.match.next_passage
    fallen = Fallen(f"p{number}", passed.beam, passed.place, passed.started_ns, passed.candidates, doubt=passed.doubt)
    if passed.reason is not None:
        draft.emit(NotScored(fallen, passed.reason, disturbs=False))
        return
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


def _revise(draft: Draft, passed: Passed, closed_in: int | None, fallen: Fallen) -> None:
    """More is known of a passage: it went on, it is more or less than one object, or none at all."""
    state, stroke = draft.state, draft.state.stroke
    in_open = stroke is not None and any(f.passage_id == fallen.passage_id for f in stroke.fallen)
    if passed.reason is not None:
        if in_open:
            _withdraw(draft, fallen, passed.reason)
        elif closed_in is not None and fallen.told is None and fallen.withdrawn is None:
            _withdraw_closed(draft, closed_in, replace(fallen, withdrawn=passed.reason), passed.known_ns)
        return
    still_possible = tuple(name for name in fallen.candidates if name in passed.candidates)
    revised = replace(fallen, doubt=passed.doubt, candidates=still_possible or fallen.candidates)
    if fallen.by_key and passed.doubt == "unclear" and fallen.doubt != "unclear":
        # Nobody has seen whether it fell, and the key may have been meant for another one; but if it did, that it was.
        meant = ("white", "black") if fallen.told in ("own", "other") else (fallen.told,)
        named = tuple(name for name in revised.candidates if name in meant)
        revised = replace(revised, told=None, by_key=False, candidates=named or revised.candidates)
    if in_open:
        if revised != fallen:
            draft.emit(FallenRevised(revised))
        if stroke is not None and passed.ended_ns > stroke.active_ns:
            draft.emit(PassageProlonged(passed.ended_ns))
        return
    if revised == fallen or closed_in is None or not _is_as_seen(fallen):
        return
    if _just_closed(state, closed_in, passed.known_ns, REVISED_WITHIN_NS):
        draft.amend(closed_in, revised, state.match.next_passage)


def _is_as_seen(fallen: Fallen) -> bool:
    """Whether nobody has said what it was, or how many."""
    return fallen.told is None and (fallen.by_colour or not fallen.passage_id.endswith(SECOND))


def _withdraw(draft: Draft, fallen: Fallen, reason: str) -> None:
    """Take a passage out of the open stroke, unless somebody has said what it was; what it alone opened is none.

    A key has said nothing of a hand: it was pressed for something else.
    """
    if fallen.told is not None and not (fallen.by_key and reason == Uncounted.HAND):
        return
    draft.emit(PassageWithdrawn(fallen.passage_id, reason))
    stroke = draft.state.stroke
    if stroke is not None and stroke.struck_ns is None and not stroke.fallen and not stroke.jumped:
        draft.emit(StrokeDropped(reason))


def _withdraw_closed(draft: Draft, closed_in: int, fallen: Fallen, known_ns: int) -> None:
    """Amend the newest stroke, if it closed not long ago; of an older one, or where that cannot be, people are told."""
    state = draft.state
    assert fallen.withdrawn is not None
    amends = _just_closed(state, closed_in, known_ns, TAKEN_BACK_WITHIN_NS)
    if amends and draft.amend(closed_in, fallen, state.match.next_passage):
        return
    draft.emit(PassageDoubted(closed_in, fallen, fallen.withdrawn))


def _just_closed(state: TableState, number: int, at_ns: int, within_ns: int) -> bool:
    """Whether that stroke is the newest closed one, and has not been closed for longer than that."""
    close = state.last_close
    return close is not None and close.stroke == number and at_ns - close.at_ns <= within_ns


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


def _known(state: TableState, beam: str, started_ns: int) -> list[tuple[int | None, Fallen]]:
    """The passage as the table has it already, with the closed stroke that it is in (None: open, or unscored).

    It is in one place, and there more than once where it was two objects.
    """
    in_open = state.stroke.fallen if state.stroke else ()
    places: list[tuple[int | None, tuple[Fallen, ...]]] = [(None, in_open)]
    places.append((None, tuple(unscored.fallen for unscored in state.unscored)))
    places += [(stroke.number, stroke.fallen) for stroke in reversed(state.fold.waiting)]
    places += [(entry.stroke.number, entry.stroke.fallen) for entry in state.fold.strokes[-2:]]
    for number, seen in places:
        found = [(number, fallen) for fallen in seen if (fallen.beam, fallen.started_ns) == (beam, started_ns)]
        if found:
            return found
    return []


def _colour(draft: Draft, seen: Coloured) -> None:
    found = _known(draft.state, seen.beam, seen.started_ns)
    if not found:
        return
    closed_in, fallen = found[0]
    if fallen.told is not None or is_nothing(fallen):
        return
    # What bounces keeps its colour: another one is another object, even where the widths look like a bounce.
    is_alike = seen.object in fallen.candidates
    if fallen.by_colour and len(found) == 1 and (seen.twice or not is_alike):
        _second_colour(draft, seen, closed_in, fallen)
        return
    candidates = exclude_by_colour(fallen.candidates, seen.object)
    revised = replace(fallen, candidates=candidates, by_colour=fallen.by_colour or is_alike)
    if fallen.by_colour and len(found) == 1 and fallen.doubt == "possibly_two":
        # The same colour again, of a pulse that may be a bounce: the light does not settle how many it was.
        revised = replace(fallen, by_colour=False)
    if revised == fallen:
        return
    stroke = draft.state.stroke
    if closed_in is not None:
        draft.amend(closed_in, revised, draft.state.match.next_passage)
    elif stroke is not None and any(f.passage_id == fallen.passage_id for f in stroke.fallen):
        draft.emit(FallenRevised(revised))


def _second_colour(draft: Draft, seen: Coloured, closed_in: int | None, fallen: Fallen) -> None:
    """A passage that may be two, and two colours: they are two."""
    if seen.object not in objects_of(draft.fold.rules.game):
        return
    second, stroke = replace(second_of(fallen), candidates=(seen.object,)), draft.state.stroke
    if closed_in is not None:
        draft.amend(closed_in, second, draft.state.match.next_passage)
    elif stroke is not None and fallen in stroke.fallen:
        draft.emit(PassageAdded(second, stroke.active_ns))


def _strike(draft: Draft, strike: Strike) -> None:
    state = draft.state
    if strike.across and _arrives(state, strike):
        if state.arrived_ns is None:
            draft.emit(Struck(strike.at_ns, strike.end, arrival=True))
        return
    if state.last_strike_ns is not None and strike.at_ns - state.last_strike_ns < STRIKES_APART_NS:
        return
    if state.scoring and state.stroke is not None:
        close_stroke(draft, "strike", None, strike.at_ns)
    if draft.state.scoring:
        draft.emit(StrokeOpened(next_number(draft.state), strike.at_ns))
        draft.emit(Struck(strike.at_ns, strike.end))
    elif draft.state.last_close is not None and not draft.state.last_close.struck:
        # Nothing starts outside play, but what falls from now on is no late passage of that stroke.
        draft.emit(Struck(strike.at_ns, strike.end))


def _arrives(state: TableState, strike: Strike) -> bool:
    """Whether this is no strike but the ball, which crosses the line of the end that it was thrown to.

    So is what crosses that line shortly afterwards, to and fro.
    """
    thrown_ns, end = state.last_strike_ns, state.last_strike_end
    if thrown_ns is None or end is None or strike.end in (None, end):
        return False
    if state.arrived_ns is not None:
        return strike.at_ns - state.arrived_ns <= ARRIVING_NS
    return strike.at_ns - thrown_ns <= ARRIVES_WITHIN_NS


def _quiet(draft: Draft, at_ns: int) -> None:
    stroke, quiet_ns = draft.state.stroke, draft.policy.quiet_time_ns
    if stroke is None or quiet_ns == 0 or draft.state.paused_ns is not None:
        return
    if at_ns >= stroke.active_ns + quiet_ns:
        close_stroke(draft, "quiet", None, stroke.active_ns + quiet_ns)
