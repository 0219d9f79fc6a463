"""A match, folded from its steps.

`fold_step` takes what a step says and what was judged because of it, and never decides anything itself: the
same steps always give the same fold, with whatever newer program. `judge` is the other half, run once when a
step is taken: it looks down the queue of waiting strokes and finds what can be judged now and what must be
asked.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from appliance import rules
from appliance.rules.copying import changed
from appliance.rules.events import BoardStarted
from appliance.table.doubts import contested, is_nothing, open_doubt
from appliance.table.match_point import sides_at_match_point
from appliance.table.model import (
    PLAY_PHASES,
    Abandoned,
    Answered,
    Assumed,
    Called,
    Corrected,
    Fallen,
    Fold,
    Impossible,
    Json,
    Judged,
    JudgedStroke,
    Judgement,
    MatchStarted,
    Question,
    Step,
    StrokeClosed,
    Swapped,
    Told,
)
from appliance.table.resolve import (
    Need,
    Turns,
    answered,
    meant,
    most_misses,
    observation,
    settle,
    turns_to,
)


def start_fold(started: MatchStarted) -> Fold:
    """The fold of a match without a step."""
    setup = rules.parse_setup(started.setup["game"], started.setup["line"])
    return Fold(f"m{started.match}", rules.start(setup), started.players, last_result=started.last_result)


def fold_match(started: MatchStarted, steps: Iterable[Step]) -> Fold:
    """The fold of a whole match; corrections hold from the stroke that they correct."""
    steps = tuple(steps)
    fold = changed(start_fold(started), corrections=_corrections_of(steps))
    for step in steps:
        fold = fold_step(fold, step)
    return fold


def _corrections_of(steps: Iterable[Step]) -> dict[int, tuple[Corrected, ...]]:
    """The corrections of each stroke, oldest first."""
    found: dict[int, tuple[Corrected, ...]] = {}
    for step in steps:
        if isinstance(step.action, Corrected):
            found[step.action.stroke] = (*found.get(step.action.stroke, ()), step.action)
    return found


def fold_step(fold: Fold, step: Step) -> Fold:
    """The fold after one more step, which is no new correction: that one reaches back, and takes `fold_match`."""
    fold = _take_action(fold, step)
    fold = _judge_known(changed(fold, known=(*fold.known, *step.judged)))
    open_now = (*fold.questions, *step.questions)
    left = tuple(question for question in open_now if _is_open(fold, question))
    settled = tuple(question for question in open_now if question not in left)
    news = (
        *_settled_news(settled, step),
        *fold.news,
        *(_question_opened(question) for question in step.questions),
    )
    return changed(fold, questions=left, news=news)


def _take_action(fold: Fold, step: Step) -> Fold:
    fold = changed(fold, news=())
    match step.action:
        case StrokeClosed() as stroke:
            opened = {
                "event": "stroke_closed",
                "stroke": stroke.number,
                "by": stroke.by,
                "player": stroke.player,
            }
            made = fold.corrections.get(stroke.number, ())
            corrected = correct_stroke(stroke, made)
            player = corrected_player(made)
            shooters = fold.shooters if player is None else (*fold.shooters, (stroke.number, player))
            return changed(fold, queue=(*fold.queue, corrected), shooters=shooters, news=(opened,))
        case Called() as call:
            return changed(fold, queue=(*fold.queue, call))
        case Answered(question_id, value):
            return _answer(fold, question_id, value)
        case Swapped(first, second):
            players = list(fold.players)
            players[first - 1], players[second - 1] = players[second - 1], players[first - 1]
            return changed(fold, players=tuple(players))
        case Abandoned():
            return replace(
                fold,
                abandoned=True,
                queue=(),
                known=(),
                instructions=(),
                last_result={"match_id": fold.match_id, "abandoned": True, "certain": True},
                news=({"event": "match_abandoned"},),
            )
        case Corrected() | Assumed():
            return fold


def _answer(fold: Fold, question_id: str, value: str | bool | int) -> Fold:
    question = next((q for q in fold.questions if q.id == question_id), None)
    if question is None:  # a correction made the question pointless
        return fold
    news = {"event": "question_answered", "question": question.id, "stroke": question.stroke, "value": value}
    fold = changed(fold, news=(news,))
    if question.passage_id is None:
        return changed(fold, shooters=(*fold.shooters, (question.stroke, int(value))))
    passage_id = question.passage_id
    queue = tuple(
        answered(item, passage_id, value) if isinstance(item, StrokeClosed) and item.number == question.stroke else item
        for item in fold.queue
    )
    return changed(fold, queue=queue)


def _is_open(fold: Fold, question: Question) -> bool:
    """Whether the question's stroke still waits and its passage still has no name, or is still in doubt.

    What a void stroke was is of no interest to anybody.
    """
    stroke = next((item for item in fold.waiting if item.number == question.stroke), None)
    if stroke is None or _is_void(fold.corrections.get(stroke.number, ())):
        return False
    if question.passage_id is None:
        return question.stroke not in dict(fold.shooters)
    if stroke.told.pocketed is not None or stroke.told.out is not None:
        return False
    fallen = next((f for f in stroke.fallen if f.passage_id == question.passage_id), None)
    if fallen is None or fallen.told is not None or is_nothing(fallen):
        return False
    if question.kind not in ABOUT_THE_NUMBER or open_doubt(fallen) is not None:
        return True
    return question.kind == "did_it_fall" and fallen.passage_id in contested(stroke.fallen)


ABOUT_THE_NUMBER = frozenset({"how_many", "did_it_fall"})


def correct_stroke(stroke: StrokeClosed, corrections: Iterable[Corrected]) -> StrokeClosed:
    """The stroke's facts with its corrections applied, oldest first."""
    for correction in corrections:
        told = stroke.told
        if correction.pocketed is not None:
            told = replace(told, pocketed=correction.pocketed)
        if correction.out is not None:
            told = replace(told, out=correction.out)
        if correction.off_table is not None:
            told = replace(told, off_table=correction.off_table)
        if correction.short is not None:
            told = replace(told, short=correction.short)
        fallen = stroke.fallen
        if correction.claim is not None:
            others = tuple(f for f in fallen if f.passage_id != correction.claim.passage_id)
            fallen = (*others, correction.claim)
            told = _with_claim(told, correction.claim)
        named = dict(correction.objects)
        fallen = tuple(replace(f, told=named.get(f.passage_id, f.told)) for f in fallen)
        stroke = replace(
            stroke,
            told=told,
            fallen=fallen,
            jumped=stroke.jumped if correction.jumped is None else correction.jumped,
            player=stroke.player if correction.player is None else correction.player,
        )
    return stroke


def _with_claim(told: Any, claim: Fallen) -> Any:
    """A person's account with the claimed passage in it, where there is such an account."""
    if told.pocketed is not None:
        return replace(told, pocketed=(*told.pocketed, claim.told))
    if told.out is not None and claim.told == "ball":
        north, south = told.out
        return replace(told, out=(north + (claim.place == "north"), south + (claim.place == "south")))
    return told


def corrected_player(corrections: Sequence[Corrected]) -> int | None:
    """The player whom the newest correction that names one has named."""
    return next((c.player for c in reversed(corrections) if c.player is not None), None)


def _is_void(corrections: Sequence[Corrected]) -> bool:
    return next((c.void for c in reversed(corrections) if c.void is not None), False)


def _known(fold: Fold, stroke: StrokeClosed) -> Judged | None:
    """What the oldest waiting stroke was judged to have been; None where that is still open.

    A stroke outside play, or a void one, counts for nothing and needs no judgement: if a correction brings it
    back into play, it is looked at as if for the first time.
    """
    if not fold.in_play or _is_void(fold.corrections.get(stroke.number, ())):
        nothing = tuple(Judgement(fallen.passage_id, None, "unknown") for fallen in stroke.fallen)
        return Judged(stroke.number, nothing)
    return next((judged for judged in fold.known if judged.stroke == stroke.number), None)


def _judge_known(fold: Fold) -> Fold:
    """Judge from the head of the queue as far as it is known what it was. Calls wait for strokes only."""
    while fold.queue:
        head = fold.queue[0]
        if isinstance(head, Called):
            fold = _call(fold, head)
            continue
        judged = _known(fold, head)
        if judged is None:
            break
        fold = _judge_head(fold, head, judged)
    return fold


def _call(fold: Fold, call: Called) -> Fold:
    """Put a call to the rules; what hands still have to do stays, unless the table is set up again."""
    seen = rules.parse_observation(fold.rules.game, call.observation)
    if isinstance(seen, rules.NextBoard | rules.NextRound | rules.LineUp):
        fold = changed(fold, instructions=())
    return _apply(changed(fold, queue=fold.queue[1:]), seen, stroke=None)


def _judge_head(fold: Fold, head: StrokeClosed, judged: Judged) -> Fold:
    """Judge the stroke that waits longest, as `judged` says it was."""
    known = tuple(other for other in fold.known if other.stroke != head.number)
    fold = changed(fold, queue=fold.queue[1:], known=known)
    made = fold.corrections.get(head.number, ())
    named = corrected_player(made)
    settled_player = named or judged.player
    if settled_player is not None:
        turns = turns_to(fold.rules, settled_player, most_misses(fold.rules))
    else:
        turns = turns_to(fold.rules, head.player, 1)
    counted = replace(judged, objects=_counted(turns, head, judged, made))
    if not fold.in_play or _is_void(made):
        reason = "the stroke is void" if fold.in_play else "the board was over"
        entry = JudgedStroke(head, counted, None, 0, None, reason)
        return changed(fold, strokes=(*fold.strokes, entry), news=fold.news + _not_scored_news(entry))
    assumed = any(j.how == "assumed" for j in counted.objects) and head.told.pocketed is None and head.told.out is None
    if assumed or (judged.player_assumed and named is None):
        fold = changed(fold, assumptions=fold.assumptions | {head.number})
    if _nothing_happened(head, counted):
        entry = JudgedStroke(head, counted, None, 0, None, "nothing fell, and no stroke was felt")
        return changed(fold, strokes=(*fold.strokes, entry), news=fold.news + _not_scored_news(entry))
    before, fold = fold, changed(fold, instructions=())
    for _ in range(turns.misses):
        fold = _apply(fold, rules.miss(fold.rules), stroke=None, assumed=True)
    seen = observation(fold.rules, head, counted)
    line = rules.observation_document(seen)
    entry = JudgedStroke(head, counted, turns.player, turns.misses, line)
    applied = _apply(
        changed(fold, strokes=(*fold.strokes, entry), news=fold.news + _not_scored_news(entry)),
        seen,
        stroke=head.number,
    )
    if len(applied.impossible) == len(fold.impossible):
        return applied
    # What was said of it fits no longer what came before: it counts for nothing, and says so.
    entry = replace(entry, player=None, misses=0, observation=None, reason="more had fallen than the table held")
    return replace(
        before,
        strokes=(*before.strokes, entry),
        impossible=applied.impossible,
        news=before.news + _not_scored_news(entry),
    )


def _nothing_happened(stroke: StrokeClosed, judged: Judged) -> bool:
    """Whether passages alone spoke for a stroke, and none of them was an object: a hand at the pocket, no miss."""
    if stroke.struck or stroke.by in ("done", "request") or stroke.jumped or stroke.told != Told():
        return False
    return bool(judged.objects) and all(j.object is None and j.how != "unknown" for j in judged.objects)


def _counted(
    turns: Turns, stroke: StrokeClosed, judged: Judged, corrections: Sequence[Corrected]
) -> tuple[Judgement, ...]:
    """What each passage counted as: as judged at the time, unless a correction has named it since."""
    named = {passage_id: name for c in corrections for passage_id, name in c.objects}
    named |= {c.claim.passage_id: c.claim.told or "" for c in corrections if c.claim is not None}
    at_the_time = {judgement.passage_id: judgement for judgement in judged.objects}
    counted: list[Judgement] = []
    for fallen in stroke.fallen:
        if fallen.passage_id in named:
            told = meant(turns.state, turns.player, named[fallen.passage_id])
            counted.append(Judgement(fallen.passage_id, told, "told"))
        elif fallen.passage_id in at_the_time:
            counted.append(at_the_time[fallen.passage_id])
    return tuple(counted)


def _apply(fold: Fold, seen: rules.Observation, *, stroke: int | None, assumed: bool = False) -> Fold:
    """Put one observation to the rules and keep what follows."""
    applied = rules.apply(fold.rules, seen)
    if isinstance(applied, rules.Refusal):
        refused = Impossible(stroke, len(fold.strokes), applied.code)
        return changed(fold, impossible=(*fold.impossible, refused))
    state, ruling = applied
    new_board = _ordinal(state) != _ordinal(fold.rules)
    assumptions = frozenset() if new_board else fold.assumptions
    certain = not assumptions
    news = tuple(_news(event.document(), stroke, certain, assumed) for event in ruling.events)
    if any(isinstance(event, BoardStarted) for event in ruling.events):
        news += tuple(
            {"event": "match_point", "side": side, "board": _ordinal(state)} for side in sides_at_match_point(state)
        )
    result = fold.last_result
    if fold.rules.phase in PLAY_PHASES and state.phase not in (*PLAY_PHASES, "line_up"):
        result = {"match_id": fold.match_id, **_result(state, certain)}
    return replace(
        fold,
        rules=state,
        lines=(*fold.lines, rules.observation_document(seen)),
        instructions=(*fold.instructions, *(instruction.document() for instruction in ruling.instructions)),
        assumptions=assumptions,
        last_result=result,
        news=fold.news + news,
    )


RESULT_EVENTS = frozenset({"board_won", "round_won", "match_ended"})


def _news(document: Json, stroke: int | None, certain: bool, assumed: bool) -> Json:
    extra: dict[str, Any] = {}
    if stroke is not None:
        extra["stroke"] = stroke
    if assumed:
        extra["assumed"] = True
    if document["event"] in RESULT_EVENTS:
        extra["certain"] = certain
    return {**document, **extra}


def _not_scored_news(entry: JudgedStroke) -> tuple[Json, ...]:
    return tuple(
        {"event": "passage_not_scored", "passage_id": j.passage_id, "stroke": entry.stroke.number, "reason": reason}
        for j in entry.judged.objects
        if (reason := why_not_scored(entry, j)) is not None
    )


def why_not_scored(entry: JudgedStroke, judgement: Judgement) -> str | None:
    """Why an object of a judged stroke did not count; None where it did."""
    if judgement.object is not None:
        return entry.reason
    fallen = next(fallen for fallen in entry.stroke.fallen if fallen.passage_id == judgement.passage_id)
    if fallen.withdrawn is not None:
        return fallen.withdrawn
    match judgement.how:
        case "told":
            return "nothing fell, somebody said"
        case "assumed":
            return "nobody said that something fell"
        case _:
            return entry.reason or "nothing that could have fallen was left on the table"


def _ordinal(state: rules.GameState) -> object:
    document = rules.document(state)
    return document.get("board", document.get("round"))


def _result(state: rules.GameState, certain: bool) -> Json:
    """What the board, round or game came to."""
    document = rules.document(state)
    keys = ("board", "round", "board_result", "match_winner", "match_winners", "round_winner")
    return {**{key: document[key] for key in keys if key in document}, "certain": certain}


def _settled_news(settled: Iterable[Question], step: Step) -> tuple[Json, ...]:
    """The questions that nobody answered and that this step settled: by their assumption, or since what was said
    of the rest of the stroke left one thing only.
    """
    said = step.action.question if isinstance(step.action, Answered) else None
    found: list[Json] = []
    for question in settled:
        judged = next((j for j in step.judged if j.stroke == question.stroke), None)
        if judged is None or question.id == said:
            continue
        value: object = judged.player if question.passage_id is None and judged.player_assumed else None
        assumed = value is not None
        for judgement in judged.objects:
            if judgement.passage_id == question.passage_id:
                value, assumed = _assumed_value(question, judgement), judgement.how == "assumed"
        if value is not None:
            document = {"event": "question_answered", "question": question.id, "stroke": question.stroke}
            found.append({**document, "value": value, **({"assumed": True} if assumed else {})})
    return tuple(found)


def _assumed_value(question: Question, judgement: Judgement) -> object:
    """What an assumption was, in the words of its question."""
    match question.kind:
        case "how_many":
            return 1
        case "did_it_fall":
            return judgement.object is not None
        case _:
            return judgement.object


def _question_opened(question: Question) -> Json:
    return {
        "event": "question_opened",
        "question": question.id,
        "stroke": question.stroke,
        "kind": question.kind,
        "place": question.place,
    }


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `judge` found: what can be judged now, what must be asked, and the fold after the judging."""

    judged: tuple[Judged, ...]
    needs: tuple[tuple[int, Need], ...]
    fold: Fold


def judge(fold: Fold, may_assume: Callable[[Fold, int], bool]) -> Verdict:
    """Look down the queue from its head as far as nothing is open, or as `may_assume(fold, stroke)` allows."""
    found: list[Judged] = []
    fold = _judge_known(fold)
    while fold.queue:
        head = fold.queue[0]
        assert isinstance(head, StrokeClosed)
        settled = settle(fold, head)
        if settled.needs and not may_assume(fold, head.number):
            break
        found.append(settled.judged)
        fold = _judge_known(_judge_head(fold, head, settled.judged))
    needs = tuple((stroke.number, need) for stroke in fold.waiting for need in _needs(fold, stroke))
    return Verdict(tuple(found), needs, fold)


def _needs(fold: Fold, stroke: StrokeClosed) -> tuple[Need, ...]:
    """What is open about a waiting stroke; who shot is only known to be open once the stroke is next."""
    if _is_void(fold.corrections.get(stroke.number, ())):
        return ()
    needs = settle(fold, stroke).needs
    return needs if fold.queue[0] is stroke else tuple(need for need in needs if need.kind != "who_shot")
