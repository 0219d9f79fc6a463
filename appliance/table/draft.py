"""A decision in the making: the events so far, and the state that they lead to.

One input may bring several events (a stroke closes, then the call that closed it is judged); each is decided
in the state that those before it made. A refusal throws the draft away, so nothing is ever half done.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from appliance import rules
from appliance.table.evolve import amended_steps, evolve
from appliance.table.fold import Verdict, fold_match, fold_step, judge
from appliance.table.inputs import Refused
from appliance.table.model import (
    Action,
    Amended,
    Answered,
    Corrected,
    Fallen,
    Fold,
    Policy,
    Question,
    Step,
    Stepped,
    StrokeClosed,
    TableEvent,
    TableState,
)
from appliance.table.resolve import Need

MOST_WAITING = 9


class Refuse(Exception):
    """Raised inside a decision and caught at its edge: the request is refused."""

    def __init__(self, code: str, message: str, stroke: int | None = None) -> None:
        super().__init__(message)
        self.refused = Refused(code, message, stroke)


@dataclass(slots=True)
class Draft:
    """The state so far and the events that led to it, each with the state before and after it."""

    state: TableState
    policy: Policy
    events: list[TableEvent] = field(default_factory=list)
    states: list[TableState] = field(default_factory=list)
    seq: int = 0

    def __post_init__(self) -> None:
        self.seq = self.state.seq + 1
        self.states = [self.state]

    def emit(self, event: TableEvent) -> None:
        """Accept one event."""
        self.state = evolve(self.state, event, self.seq)
        self.events.append(event)
        self.states.append(self.state)

    @property
    def fold(self) -> Fold:
        """The fold of the current match, as far as the draft goes."""
        return self.state.fold

    @property
    def assumes(self) -> bool:
        """Whether this match takes assumptions by itself."""
        return self.state.match.started.unknown_object != "ask"

    def projected(self) -> Fold:
        """The fold if every open question took its assumption: what the next call must fit."""
        return judge(self.fold, lambda fold, stroke: True).fold

    def step(self, action: Action, *, assume_all: bool = False, strict: bool = False) -> None:
        """Take a step: fold it in, judge what can be judged now, ask what must be asked.

        `assume_all`: whatever waits takes its assumption first. `strict`: refuse where something that waits
        behind would become impossible (`later_stroke_impossible`), or something that counted would.
        """
        match = self.state.match
        if isinstance(action, Corrected):
            before = fold_match(match.started, (*match.steps, Step(action)))
        else:
            before = fold_step(self.fold, Step(action))
        newest = action.number if isinstance(action, StrokeClosed) else None
        verdict = judge(before, self._may_assume(newest, assume_all))
        if strict:
            self._refuse_impossible(verdict.fold, action)
            self._refuse_lost(verdict.fold, action)
        questions = self._new_questions(before, verdict)
        step = Step(action, verdict.judged, questions)
        next_question = match.next_question + len(questions)
        self.emit(Stepped(step, match.next_passage, next_question))

    def amend(self, number: int, fallen: Fallen, next_passage: int) -> bool:
        """Make a late passage (or a late colour) part of a closed stroke; False where it cannot have been."""
        match = self.state.match
        trial = amended_steps(match.steps, Amended(number, fallen, (), (), 0, 0))
        before = fold_match(match.started, trial)
        newest = max((s.number for s in before.waiting), default=number)
        # What it is only assumed to have been undoes what came later just as well, if at another time.
        ahead = judge(before, lambda fold, stroke: True).fold
        if len(ahead.impossible) > len(self.projected().impossible):
            return False
        if not set(_scored(self.fold)) <= {number, *_scored(ahead)}:
            return False
        verdict = judge(before, self._may_assume(newest, assume_all=False))
        questions = self._new_questions(before, verdict)
        next_question = match.next_question + len(questions)
        self.emit(Amended(number, fallen, verdict.judged, questions, next_passage, next_question))
        return True

    def _may_assume(self, newest: int | None, assume_all: bool) -> Callable[[Fold, int], bool]:
        mode = self.state.match.started.unknown_object

        def may_assume(fold: Fold, number: int) -> bool:
            if assume_all or mode == "assume" or len(fold.waiting) >= MOST_WAITING:
                return True
            return mode == "ask_then_assume" and newest is not None and number != newest

        return may_assume

    def _new_questions(self, before: Fold, verdict: Verdict) -> tuple[Question, ...]:
        asked = {(q.stroke, q.kind, q.passage_id) for q in before.questions}
        fresh = [(stroke, need) for stroke, need in verdict.needs if (stroke, need.kind, need.passage_id) not in asked]
        first = self.state.match.next_question
        return tuple(_question(f"q{first + i}", stroke, need) for i, (stroke, need) in enumerate(fresh))

    def _refuse_impossible(self, after: Fold, action: Action) -> None:
        """Refuse what would make a call or a stroke impossible that counted, or that waits for its turn."""
        known = list(self.projected().impossible)
        own = self._stroke_of(action)
        ahead = judge(after, lambda fold, stroke: True).fold
        for refused in ahead.impossible:
            if refused in known:
                known.remove(refused)
                continue
            if refused.stroke is not None and refused.stroke == own:
                why = _IMPOSSIBLE.get(refused.code, refused.code)
                raise Refuse(refused.code, f"stroke {refused.stroke} cannot have been that: {why}", refused.stroke)
            if refused.stroke is not None:
                message = f"stroke {refused.stroke} would become impossible; correct that one first"
                raise Refuse("later_stroke_impossible", message, refused.stroke)
            after_it = [stroke.stroke.number for stroke in ahead.strokes[refused.judged :]]
            message = "a call that was made later would become impossible; undo, or correct what came after it"
            raise Refuse("later_stroke_impossible", message, after_it[0] if after_it else None)

    def _stroke_of(self, action: Action) -> int | None:
        """The stroke that a correction or an answer is about."""
        if isinstance(action, Answered):
            return next((q.stroke for q in self.fold.questions if q.id == action.question), None)
        return action.stroke if isinstance(action, Corrected) else None

    def _refuse_lost(self, after: Fold, action: Action) -> None:
        """Refuse what would leave a stroke outside play that counted."""
        scored = {*_scored(after), *(stroke.number for stroke in after.waiting)}
        lost = next((n for n in _scored(self.fold) if n not in scored and not _voids(action, n)), None)
        if lost is not None:
            raise Refuse(
                "later_stroke_impossible",
                f"stroke {lost} would fall outside play; correct that one first",
                lost,
            )


_IMPOSSIBLE: Mapping[str, str] = {
    "impossible_count": "more would have fallen than the table holds",
    "wrong_phase": "nothing was being played",
}


def _scored(fold: Fold) -> list[int]:
    return [s.stroke.number for s in fold.strokes if s.observation is not None]


def _voids(action: Action, number: int) -> bool:
    return isinstance(action, Corrected) and action.stroke == number


def _question(question_id: str, stroke: int, need: Need) -> Question:
    return Question(question_id, stroke, need.kind, need.passage_id, need.place)


def require_possible(state: rules.GameState, observation: rules.Observation) -> None:
    """Refuse with the rules' own words what cannot be in `state`."""
    applied = rules.apply(state, observation)
    if isinstance(applied, rules.Refusal):
        raise Refuse(applied.code, applied.message)
