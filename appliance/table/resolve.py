"""What a closed stroke was: narrowed, told, asked or assumed.

`settle` looks at the oldest waiting stroke and the state it would be judged in, and answers either with what it
was, or with what only people know. Nothing here remembers anything; the assumption taken is written down by
the caller, so that it never flips later.
"""

from dataclasses import dataclass, replace
from typing import Any

from appliance import rules
from appliance.rules import GameState
from appliance.sensing.identify import narrow, take
from appliance.table.doubts import contested, is_nothing, open_doubt, settled_as
from appliance.table.model import (
    Fallen,
    Fold,
    How,
    Judged,
    Judgement,
    OpenStroke,
    Question,
    QuestionKind,
    StrokeClosed,
)

CARPETBALL = "carpetball"
SIDED_GAMES = frozenset({"club_carrom", "new_carrom"})


@dataclass(frozen=True, slots=True)
class Need:
    """Something that must be answered or assumed before the stroke can be judged.

    `objects` is what the passage can have been, whatever is asked about it.
    """

    kind: QuestionKind
    passage_id: str | None
    place: str | None
    candidates: tuple[Any, ...]
    assumed: Any
    objects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settled:
    """What a stroke was, and what it would take to be sure of it (empty: it is sure)."""

    judged: Judged
    needs: tuple[Need, ...]


@dataclass(frozen=True, slots=True)
class Turns:
    """Who shot, the state after the misses that this assumes, and how many those are."""

    player: int | None
    state: GameState
    misses: int
    reached: bool = True


def turns_to(state: GameState, player: int | None, most: int) -> Turns:
    """The state in which `player` is on turn, after at most `most` missed strokes.

    Where that many misses do not bring the player to the table, the one on turn has shot (`reached` False).
    """
    on_turn = rules.player_on_turn(state)
    if player is None or player == on_turn:
        return Turns(on_turn, state, 0)
    after = state
    for misses in range(1, most + 1):
        applied = rules.apply(after, rules.miss(after))
        if isinstance(applied, rules.Refusal):
            break
        after = applied[0]
        if rules.player_on_turn(after) == player:
            return Turns(player, after, misses)
    return Turns(on_turn, state, 0, reached=False)


def next_player(state: GameState) -> int | None:
    """Who would be on turn after one miss."""
    applied = rules.apply(state, rules.miss(state))
    return None if isinstance(applied, rules.Refusal) else rules.player_on_turn(applied[0])


def most_misses(state: GameState) -> int:
    """How many misses bring every player to the table: twice round, since turns can be missed."""
    return 2 * state.players


def settle(fold: Fold, stroke: StrokeClosed) -> Settled:
    """What `stroke` was if it were judged now; where something is open, what would be assumed."""
    answered = dict(fold.shooters).get(stroke.number)
    if answered is not None:
        turns = turns_to(fold.rules, answered, most_misses(fold.rules))
    else:
        turns = turns_to(fold.rules, stroke.player, 1)
    objects, needs = settle_objects(turns.state, stroke, turns.player)
    whose_is_open = not turns.reached or (not needs and _others_pieces_only(turns, stroke, objects))
    if answered is None and whose_is_open:
        players = tuple(range(1, turns.state.players + 1))
        needs = (*needs, Need("who_shot", None, None, players, turns.player))
    who_is_assumed = any(need.kind == "who_shot" for need in needs)
    settled_player = turns.player if who_is_assumed or answered is not None else None
    return Settled(Judged(stroke.number, objects, settled_player, who_is_assumed), needs)


def settle_objects(
    state: GameState, stroke: StrokeClosed, player: int | None
) -> tuple[tuple[Judgement, ...], tuple[Need, ...]]:
    """What fell in `stroke`, judged in `state` with `player` shooting: sure, or assumed with a need for each."""
    if stroke.told.pocketed is not None or stroke.told.out is not None:
        return (), ()
    pots = _pots(state)
    for jumped in stroke.jumped:
        pots = take(pots, jumped)
    found: dict[str, Judgement] = {}
    for fallen in stroke.fallen:
        if is_nothing(fallen):
            how: How = "beam" if fallen.withdrawn is not None else "told"
            found[fallen.passage_id] = Judgement(fallen.passage_id, None, how)
        elif fallen.told is not None:
            named = meant(state, player, fallen.told)
            found[fallen.passage_id] = Judgement(fallen.passage_id, named, "told")
            pots = take(pots, _pot(state, fallen.place, named))
    left = pots
    open_now = [fallen for fallen in stroke.fallen if fallen.passage_id not in found]
    fell = [fallen for fallen in open_now if open_doubt(fallen) != "unclear"]
    pots, still_open = _narrow_until_stable(state, fell, pots, found)
    needs: dict[str, Need] = {}
    likely = pots
    for fallen in still_open:
        assumed = _assumed(
            state, player, fallen, narrow(fallen.candidates, _left_at(state, fallen.place, likely)), stroke
        )
        likely = take(likely, _pot(state, fallen.place, assumed))
        found[fallen.passage_id] = Judgement(fallen.passage_id, assumed, "assumed" if assumed else "unknown")
        kind: QuestionKind = "cue" if state.game == CARPETBALL else "what_fell"
        candidates = narrow(fallen.candidates, _left_at(state, fallen.place, pots))
        needs[fallen.passage_id] = Need(kind, fallen.passage_id, fallen.place, candidates, assumed, candidates)
    for fallen in open_now:
        _weigh(fallen, _left_at(state, fallen.place, left if fallen in fell else pots), found, needs)
        if fallen.passage_id in contested(stroke.fallen):
            _contest(fallen, found, needs)
    return (
        tuple(found[fallen.passage_id] for fallen in stroke.fallen),
        tuple(needs[fallen.passage_id] for fallen in stroke.fallen if fallen.passage_id in needs),
    )


def _weigh(fallen: Fallen, left: dict[str, int], found: dict[str, Judgement], needs: dict[str, Need]) -> None:
    """Let what is in doubt about the number of objects go before what they were: none is assumed, or one."""
    doubt, key = open_doubt(fallen), fallen.passage_id
    objects = narrow(fallen.candidates, left)
    most = sum(left[name] for name in objects)
    if doubt == "unclear":
        found[key] = Judgement(key, None, "assumed" if objects else "unknown")
        if objects:
            needs[key] = Need("did_it_fall", key, fallen.place, (True, False), False, objects)
    elif doubt == "possibly_two" and most > 1 and found[key].object is not None:
        found[key] = replace(found[key], how="assumed")
        needs[key] = Need("how_many", key, fallen.place, (0, 1, 2), 1, objects)


def _contest(fallen: Fallen, found: dict[str, Judgement], needs: dict[str, Need]) -> None:
    """Ask whether the first of those fell that cannot all have fallen; it is assumed that it did."""
    key = fallen.passage_id
    name = found[key].object
    if name is not None and key not in needs:
        found[key] = replace(found[key], how="assumed")
        needs[key] = Need("did_it_fall", key, fallen.place, (True, False), True, (name,))


def open_questions(fold: Fold) -> list[tuple[Question, Need]]:
    """What is asked now, oldest first, each with what it may be and what would be assumed."""
    needs = {
        (stroke.number, need.kind, need.passage_id): need
        for stroke in fold.waiting
        for need in settle(fold, stroke).needs
    }
    asked = (
        (question, needs.get((question.stroke, question.kind, question.passage_id))) for question in fold.questions
    )
    return [(question, need) for question, need in asked if need is not None]


def as_if_closed(stroke: OpenStroke) -> StrokeClosed:
    """The open stroke as it would be if it closed now."""
    return StrokeClosed(stroke.number, "quiet", None, 0, True, stroke.fallen, stroke.jumped)


def unknown_in(state: GameState, stroke: OpenStroke) -> tuple[Need, ...]:
    """What would be asked about the open stroke if it closed now, in order."""
    return settle_objects(state, as_if_closed(stroke), rules.player_on_turn(state))[1]


def open_candidates(state: GameState, fallen: Fallen) -> tuple[str, ...]:
    """What an object of a stroke could be, by itself, in `state`."""
    return narrow(fallen.candidates, _left_at(state, fallen.place, _pots(state)))


def meant(state: GameState, player: int | None, told: str) -> str:
    """The object that `own` or `other` means from `player`; other names are themselves."""
    if told not in ("own", "other") or player is None:
        return told
    own = rules.own_colour(state, player)
    if own is None:
        return told
    return own if told == "own" else _other_colour(own)


def observation(state: GameState, stroke: StrokeClosed, judged: Judged) -> rules.Observation:
    """The whole stroke as the rules want it."""
    objects = [j.object for j in judged.objects if j.object is not None]
    if state.game == CARPETBALL:
        places = {fallen.passage_id: fallen.place for fallen in stroke.fallen}
        out = stroke.told.out
        if out is None:
            balls = [places[j.passage_id] for j in judged.objects if j.object == "ball"]
            out = (balls.count("north"), balls.count("south"))
        return rules.Throw(out[0], out[1], stroke.told.off_table, stroke.told.short)
    pocketed = stroke.told.pocketed
    return rules.Stroke(tuple(objects) if pocketed is None else pocketed, stroke.jumped)


def _narrow_until_stable(
    state: GameState, open_now: list[Fallen], pots: dict[str, int], found: dict[str, Judgement]
) -> tuple[dict[str, int], list[Fallen]]:
    """Enter whatever has one candidate left, again and again, since each leaves less for the others."""
    # What the sensors leave alone goes first: it takes its object from those that could be several things.
    waiting = sorted(open_now, key=lambda fallen: len(fallen.candidates) > 1)
    changed = True
    while changed:
        changed = False
        for fallen in list(waiting):
            candidates = narrow(fallen.candidates, _left_at(state, fallen.place, pots))
            if len(candidates) > 1:
                continue
            how: How = "colour" if fallen.by_colour else "beam"
            known = candidates[0] if candidates else None
            found[fallen.passage_id] = Judgement(fallen.passage_id, known, how if known else "unknown")
            pots = take(pots, _pot(state, fallen.place, known))
            waiting.remove(fallen)
            changed = True
    return pots, [fallen for fallen in open_now if fallen in waiting]


def _assumed(
    state: GameState, player: int | None, fallen: Fallen, candidates: tuple[str, ...], stroke: StrokeClosed
) -> str | None:
    """The likeliest of `candidates`, in the order of the table's contract; None where none is left."""
    if state.game == CARPETBALL:
        first = _first_at_far_pit(state, player, stroke)
        preferred = ["cue", "ball"] if fallen.passage_id == first else ["ball", "cue"]
    else:
        own = rules.own_colour(state, player) if player is not None else None
        colours = ["white", "black"] if own is None else [own, _other_colour(own)]
        preferred = [*colours, "queen", "striker"]
    return next((name for name in preferred if name in candidates), None)


def end_of(state: GameState, player: int | None) -> str | None:
    """The end at which a player of carpetball stands."""
    ends: Any = rules.document(state)["ends"]
    return next((end for end in ("north", "south") if ends[end]["player"] == player), None)


def _first_at_far_pit(state: GameState, player: int | None, stroke: StrokeClosed) -> str | None:
    near = end_of(state, player)
    far = [fallen for fallen in stroke.fallen if fallen.place != near and not is_nothing(fallen)]
    far = [fallen for fallen in far if open_doubt(fallen) != "unclear"]
    return min(far, key=lambda fallen: fallen.started_ns).passage_id if far else None


def _others_pieces_only(turns: Turns, stroke: StrokeClosed, objects: tuple[Judgement, ...]) -> bool:
    """Quiet, no strike sensor, and nothing but the other side's pieces: perhaps the other side has shot."""
    if stroke.by != "quiet" or stroke.strike_sensor or turns.player is None:
        return False
    if turns.state.game not in SIDED_GAMES:
        return False
    fell = [judgement.object for judgement in objects if judgement.object is not None]
    own = rules.own_colour(turns.state, turns.player)
    return bool(fell) and own is not None and all(name == _other_colour(own) for name in fell)


def _other_colour(colour: str) -> str:
    return "black" if colour == "white" else "white"


def _pots(state: GameState) -> dict[str, int]:
    """What is left to fall: by object (carrom), or the balls by end and the cue ball (carpetball)."""
    left = dict(rules.on_table(state))
    if state.game == CARPETBALL:
        left["cue"] = 1
    return left


def _pot(state: GameState, place: str, name: str | None) -> str:
    """The pot that `name`, fallen at `place`, is taken from."""
    if name is None:
        return ""
    return place if state.game == CARPETBALL and name == "ball" else name


def _left_at(state: GameState, place: str, pots: dict[str, int]) -> dict[str, int]:
    """What is left of each object that could fall at `place`."""
    if state.game != CARPETBALL:
        return pots
    return {"ball": pots.get(place, 0), "cue": pots["cue"]}


def answered(stroke: StrokeClosed, passage_id: str, value: str | int) -> StrokeClosed:
    """`stroke` with what was answered about one of its passages."""
    fallen = (settled_as(f, value) if f.passage_id == passage_id else (f,) for f in stroke.fallen)
    return replace(stroke, fallen=tuple(each for settled in fallen for each in settled))
