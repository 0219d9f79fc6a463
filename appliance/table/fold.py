"""A match, folded from its steps.

`fold_step` takes what a step says and what was judged because of it, and never decides anything itself: the
same steps always give the same fold, with whatever newer program. `judge` is the other half, run once when a
step is taken: it looks down the queue of waiting strokes and finds what can be judged now and what must be
asked.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from appliance import rules
from appliance.table.model import (
    PLAY_PHASES,
    Abandoned,
    Answered,
    Called,
    Corrected,
    Fallen,
    Fold,
    Json,
    Judged,
    JudgedStroke,
    Judgement,
    MatchStarted,
    Question,
    Step,
    StrokeClosed,
    Swapped,
)
from appliance.table.resolve import (
    Need,
    Turns,
    meant,
    most_misses,
    observation,
    replace_fallen,
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
    corrections = corrections_of(steps)
    fold = start_fold(started)
    for step in steps:
        fold = fold_step(fold, step, corrections)
    return fold


def corrections_of(steps: Iterable[Step]) -> dict[int, tuple[Corrected, ...]]:
    """The corrections of each stroke, oldest first."""
    found: dict[int, tuple[Corrected, ...]] = {}
    for step in steps:
        if isinstance(step.action, Corrected):
            found[step.action.stroke] = (*found.get(step.action.stroke, ()), step.action)
    return found


def fold_step(fold: Fold, step: Step, corrections: Mapping[int, Sequence[Corrected]]) -> Fold:
    """The fold after one more step. `corrections` are those of the whole match as it is now."""
    fold = replace(_take_action(fold, step, corrections), questions=fold.questions)
    for judged in step.judged:
        fold = _judge_head(fold, judged, corrections)
    open_now = (*fold.questions, *step.questions)
    left = tuple(question for question in open_now if _is_open(fold, question))
    settled = tuple(question for question in open_now if question not in left)
    news = (
        *_assumed_news(settled, step),
        *fold.news,
        *(_question_opened(question) for question in step.questions),
    )
    return replace(fold, questions=left, news=news)


def _take_action(fold: Fold, step: Step, corrections: Mapping[int, Sequence[Corrected]]) -> Fold:
    fold = replace(fold, news=())
    match step.action:
        case StrokeClosed() as stroke:
            opened = {
                "event": "stroke_closed",
                "stroke": stroke.number,
                "by": stroke.by,
                "player": stroke.player,
            }
            corrected = correct_stroke(stroke, corrections.get(stroke.number, ()))
            return replace(fold, queue=(*fold.queue, corrected), news=(opened,))
        case Called() as call:
            return replace(fold, queue=(*fold.queue, call))
        case Answered(question_id, value):
            return _answer(fold, question_id, value)
        case Swapped(first, second):
            players = list(fold.players)
            players[first - 1], players[second - 1] = players[second - 1], players[first - 1]
            return replace(fold, players=tuple(players))
        case Abandoned():
            return replace(
                fold,
                abandoned=True,
                queue=(),
                instructions=(),
                last_result={"match_id": fold.match_id, "abandoned": True, "certain": True},
                news=({"event": "match_abandoned"},),
            )
        case Corrected():
            return fold


def _answer(fold: Fold, question_id: str, value: str | int) -> Fold:
    question = next((q for q in fold.questions if q.id == question_id), None)
    if question is None:  # a correction made the question pointless
        return fold
    news = {"event": "question_answered", "question": question.id, "stroke": question.stroke, "value": value}
    fold = replace(fold, news=(news,))
    if question.passage_id is None:
        return replace(fold, shooters=(*fold.shooters, (question.stroke, int(value))))
    passage_id = question.passage_id
    queue = tuple(
        replace_fallen(item, passage_id, lambda fallen: replace(fallen, told=str(value)))
        if isinstance(item, StrokeClosed) and item.number == question.stroke
        else item
        for item in fold.queue
    )
    return replace(fold, queue=queue)


def _is_open(fold: Fold, question: Question) -> bool:
    """Whether the question's stroke still waits and its passage still has no name."""
    stroke = next((item for item in fold.waiting if item.number == question.stroke), None)
    if stroke is None:
        return False
    if question.passage_id is None:
        return question.stroke not in dict(fold.shooters)
    if stroke.told.pocketed is not None or stroke.told.out is not None:
        return False
    return any(f.passage_id == question.passage_id and f.told is None for f in stroke.fallen)


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
            fallen = (*fallen, correction.claim)
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


def _is_void(corrections: Sequence[Corrected]) -> bool:
    return next((c.void for c in reversed(corrections) if c.void is not None), False)


def _judge_head(fold: Fold, judged: Judged, corrections: Mapping[int, Sequence[Corrected]]) -> Fold:
    """Judge what waits longest, as `judged` says it was."""
    head, queue = fold.queue[0], fold.queue[1:]
    fold = replace(fold, queue=queue)
    if isinstance(head, Called):
        seen = rules.parse_observation(fold.rules.game, head.observation)
        return _apply(fold, seen, stroke=None)
    made = corrections.get(head.number, ())
    corrected_player = next((c.player for c in reversed(made) if c.player is not None), None)
    settled_player = corrected_player or judged.player
    if settled_player is not None:
        turns = turns_to(fold.rules, settled_player, most_misses(fold.rules))
    else:
        turns = turns_to(fold.rules, head.player, 1)
    counted = replace(judged, objects=_counted(turns, head, judged, made))
    if not fold.in_play or _is_void(made):
        entry = JudgedStroke(head, counted, None, 0, None)
        return replace(fold, strokes=(*fold.strokes, entry), news=fold.news + _not_scored_news(fold, head, counted))
    for _ in range(turns.misses):
        fold = _apply(fold, rules.miss(fold.rules), stroke=None, assumed=True)
    seen = observation(fold.rules, head, counted)
    line = rules.observation_document(seen)
    entry = JudgedStroke(head, counted, turns.player, turns.misses, line)
    assumed = any(j.how == "assumed" for j in counted.objects) and head.told.pocketed is None and head.told.out is None
    if assumed or (judged.player_assumed and corrected_player is None):
        fold = replace(fold, assumptions=fold.assumptions | {head.number})
    fold = replace(fold, strokes=(*fold.strokes, entry), news=fold.news + _not_scored_news(fold, head, counted))
    return _apply(fold, seen, stroke=head.number)


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
        number = stroke or next((s.stroke.number for s in reversed(fold.strokes)), 0)
        return replace(fold, impossible=(*fold.impossible, (number, applied.code)))
    state, ruling = applied
    new_board = _ordinal(state) != _ordinal(fold.rules)
    assumptions = frozenset() if new_board else fold.assumptions
    certain = not assumptions
    news = tuple(_news(event.document(), stroke, certain, assumed) for event in ruling.events)
    result = fold.last_result
    if fold.rules.phase in PLAY_PHASES and state.phase not in (*PLAY_PHASES, "line_up"):
        result = {"match_id": fold.match_id, **_result(state, certain)}
    return replace(
        fold,
        rules=state,
        lines=(*fold.lines, rules.observation_document(seen)),
        instructions=tuple(instruction.document() for instruction in ruling.instructions),
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


def _not_scored_news(fold: Fold, stroke: StrokeClosed, judged: Judged) -> tuple[Json, ...]:
    return tuple(
        {"event": "passage_not_scored", "passage_id": j.passage_id, "stroke": stroke.number, "reason": reason}
        for j in judged.objects
        if (reason := why_not_scored(fold, j)) is not None
    )


def why_not_scored(fold: Fold, judgement: Judgement) -> str | None:
    """Why an object of a judged stroke did not count; None where it did."""
    if not fold.in_play:
        return "the board was over"
    if judgement.object is None:
        return "nothing that could have fallen was left on the table"
    return None


def _ordinal(state: rules.GameState) -> object:
    document = rules.document(state)
    return document.get("board", document.get("round"))


def _result(state: rules.GameState, certain: bool) -> Json:
    """What the board, round or game came to."""
    document = rules.document(state)
    keys = ("board", "round", "board_result", "match_winner", "match_winners", "round_winner")
    return {**{key: document[key] for key in keys if key in document}, "certain": certain}


def _assumed_news(settled: Iterable[Question], step: Step) -> tuple[Json, ...]:
    """The questions that nobody answered and that took their assumption with this step."""
    found: list[Json] = []
    for question in settled:
        judged = next((j for j in step.judged if j.stroke == question.stroke), None)
        if judged is None:
            continue
        value: object = judged.player if question.passage_id is None and judged.player_assumed else None
        for judgement in judged.objects:
            if judgement.passage_id == question.passage_id and judgement.how == "assumed":
                value = judgement.object
        if value is not None:
            document = {"event": "question_answered", "question": question.id, "stroke": question.stroke}
            found.append({**document, "value": value, "assumed": True})
    return tuple(found)


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


def judge(
    fold: Fold,
    corrections: Mapping[int, Sequence[Corrected]],
    may_assume: Callable[[Fold, int], bool],
) -> Verdict:
    """Look down the queue from its head as far as nothing is open, or as `may_assume(fold, stroke)` allows."""
    found: list[Judged] = []
    while fold.queue:
        head = fold.queue[0]
        if isinstance(head, Called):
            judged = Judged(0)
        else:
            settled = settle(fold, head) if fold.in_play else None
            made = corrections.get(head.number, ())
            if settled is None or _is_void(made):
                judged = Judged(head.number, tuple(Judgement(f.passage_id, None, "unknown") for f in head.fallen))
            elif settled.needs and not may_assume(fold, head.number):
                break
            else:
                judged = settled.judged
        found.append(judged)
        fold = _judge_head(fold, judged, corrections)
    needs = tuple((stroke.number, need) for stroke in fold.waiting for need in _needs(fold, stroke))
    return Verdict(tuple(found), needs, fold)


def _needs(fold: Fold, stroke: StrokeClosed) -> tuple[Need, ...]:
    """What is open about a waiting stroke; who shot is only known to be open once the stroke is next."""
    needs = settle(fold, stroke).needs
    return needs if fold.queue[0] is stroke else tuple(need for need in needs if need.kind != "who_shot")
