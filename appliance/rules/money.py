"""Money Carrom: everybody for themselves, every piece a target (M2), the highest total wins (M4).

There are no sides, no cover and no dues: a piece counts for whoever pockets it, at once. The striker ends the
go and costs the next turn (M8); such flags are consumed in the order of play, so two of them cancel out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from appliance.rules.carrom import (
    SET,
    break_not_made,
    fold_break_missed,
    jumped,
    more_than_there_are,
    next_player,
    no_stroke,
    not_playing,
    tally,
)
from appliance.rules.copying import changed
from appliance.rules.events import (
    BreakMissed,
    Event,
    Foul,
    GameEnded,
    NoStrokeMade,
    PieceJumped,
    PieceReturned,
    PointsScored,
    Recounted,
    StrokeMissed,
    StrokeScored,
    TurnForfeited,
    TurnMissed,
    TurnPassed,
)
from appliance.rules.observations import BreakNotMade, NoStroke, Observation, Recount, Stroke
from appliance.rules.options import MoneyOptions
from appliance.rules.parsing import amount
from appliance.rules.positions import MoneyPosition, contradiction
from appliance.rules.values import Instruction, Refusal, Ruling, impossible_count, wrong_phase


@dataclass(frozen=True, slots=True)
class MoneyState:
    """A game of Money between two strokes.

    `scores` and `missed` (0 or 1: a turn to miss) are by player; `white`, `black`, `queen` are on the board;
    `queen_holder` is who pocketed the queen, None where nobody did or nobody is known to.
    """

    game: str
    players: int
    options: MoneyOptions
    scores: tuple[int, ...]
    missed: tuple[int, ...]
    phase: str = "playing"
    break_made: bool = False
    tries: int = 0
    player: int | None = 1
    white: int = SET
    black: int = SET
    queen: int = 1
    queen_holder: int | None = None
    winners: tuple[int, ...] = ()


def fresh(game: str, players: int, options: MoneyOptions) -> MoneyState:
    """Return the start of a game."""
    return MoneyState(game, players, options, (0,) * players, (0,) * players)


def on_table(state: MoneyState) -> dict[str, int]:
    """Return how many of each object are on the board."""
    return {"white": state.white, "black": state.black, "queen": state.queen, "striker": 1}


def document(state: MoneyState) -> dict[str, object]:
    """Return the state as JSON."""
    return {
        "game": state.game,
        "phase": state.phase,
        "board": 1,
        "turn": None if state.player is None else {"player": state.player},
        "players": [
            {"player": number, "score": score, "missed_turns": missed}
            for number, (score, missed) in enumerate(zip(state.scores, state.missed, strict=True), 1)
        ],
        "on_board": {"white": state.white, "black": state.black, "queen": state.queen},
        "match_winners": list(state.winners),
    }


def decide(state: MoneyState, observation: Observation) -> Ruling | Refusal:
    """Say what an observation means now, or why it cannot be; the phase is checked before the counts."""
    if isinstance(observation, Stroke):
        return _stroke(state, observation)
    if isinstance(observation, NoStroke):
        return no_stroke(state)
    if isinstance(observation, BreakNotMade):
        passing = () if state.player is None else _pass(state, state.player, state.missed)
        return break_not_made(state, state.options.break_tries, passing)
    if isinstance(observation, Recount):
        return _recount(state, observation)
    if state.player is None:
        return not_playing(state)
    return wrong_phase("one game of Money is a match: there is no next board")


def _pass(state: MoneyState, player: int, missed: tuple[int, ...]) -> tuple[Event, ...]:
    """Pass the turn clockwise (M3); whoever has a turn to miss misses it on the way (M8)."""
    events: list[Event] = []
    waiting = {number for number, flag in enumerate(missed, 1) if flag}
    turn = next_player(player, state.players)
    while turn in waiting:
        waiting.remove(turn)
        events.append(TurnMissed(turn))
        turn = next_player(turn, state.players)
    return (*events, TurnPassed(turn, player))


def _stroke(state: MoneyState, stroke: Stroke) -> Ruling | Refusal:
    """Score one whole stroke of the player on turn."""
    player, options = state.player, state.options
    if player is None:
        return not_playing(state)
    counts = tally(stroke)
    refusal = more_than_there_are(counts, state.white, state.black, state.queen)
    if refusal is not None:
        return refusal
    placer = next_player(player, state.players)
    pocketed = counts.white + counts.black + counts.queen
    scored = StrokeScored(player, counts.white, counts.black, counts.queen)
    events: list[Event] = [scored if pocketed else StrokeMissed(player)]
    flown, instructions = jumped(counts, player, placer, "centre")
    events += flown
    missed = state.missed
    returned = counts.striker > 0 and options.striker_with_piece == "return"
    if counts.striker:
        events.append(Foul(player, ("striker",), 0))
        if options.striker == "skip_next":
            events.append(TurnForfeited(player))
            missed = (*missed[: player - 1], 1, *missed[player:])
    gained = 0
    if returned:
        for name, count in (("white", counts.white), ("black", counts.black), ("queen", counts.queen)):
            if count:
                events.append(PieceReturned(name, count, "striker"))
                place = "centre_spot" if name == "queen" else "centre_circle"
                instructions.append(Instruction("return", name, count, place, placer))
    elif pocketed:
        white, black, queen = options.values
        gained = counts.white * white + counts.black * black + counts.queen * queen
        events.append(PointsScored(player, gained))
    left = state.white + state.black + state.queen - (0 if returned else pocketed)
    score = state.scores[player - 1] + gained
    if left == 0 or _reached(options, score):
        scores = (*state.scores[: player - 1], score, *state.scores[player:])
        holder = player if counts.queen and not returned else state.queen_holder
        events.append(GameEnded(_winners(options, scores, holder)))
    elif counts.striker or not pocketed:
        events += _pass(state, player, missed)
    return Ruling(tuple(events), tuple(instructions))


def _reached(options: MoneyOptions, score: int) -> bool:
    """Whether a score ends the game before the last piece (`mc.end`)."""
    return options.end != "all_pieces" and score >= int(options.end.removeprefix("first_to_"))


def _winners(options: MoneyOptions, scores: tuple[int, ...], queen_holder: int | None) -> tuple[int, ...]:
    """M4: the best score wins; among equals, all of them or the one with the queen (`mc.tie`)."""
    best = max(scores)
    winners = tuple(number for number, score in enumerate(scores, 1) if score == best)
    if options.tie == "queen_holder" and queen_holder in winners:
        return (queen_holder,)
    return winners


# Positions and recounts


def placed(state: MoneyState, position: MoneyPosition) -> MoneyState:
    """Return the state with a position put in; the break counts as made.

    A queen put back onto the board, or taken off it by hand, was pocketed by nobody known.
    """
    scores, missed = list(state.scores), list(state.missed)
    for part in position.players:
        if part.score is not None:
            scores[part.player - 1] = part.score
        if part.missed_turns is not None:
            missed[part.player - 1] = part.missed_turns
    queen = state.queen if position.queen is None else position.queen
    return changed(
        state,
        scores=tuple(scores),
        missed=tuple(missed),
        white=state.white if position.white is None else position.white,
        black=state.black if position.black is None else position.black,
        queen=queen,
        queen_holder=state.queen_holder if queen == state.queen else None,
        player=state.player if position.player is None else position.player,
        break_made=True,
        tries=0,
    )


def flaw(state: MoneyState, position: MoneyPosition) -> tuple[str, str] | None:
    """Return the field and the sentence about what cannot be set in this state."""
    for part in position.players:
        if not 1 <= part.player <= state.players:
            return "players", f"there is no player {amount(part.player)}; players are 1 to {state.players}"
    if position.player is not None and not 1 <= position.player <= state.players:
        return "turn.player", f"there is no player {amount(position.player)}; players are 1 to {state.players}"
    after = placed(state, position)
    for name, count, most in (("white", after.white, SET), ("black", after.black, SET), ("queen", after.queen, 1)):
        if count > most:
            return f"on_board.{name}", f"a set holds {most}, not {amount(count)}"
    if after.white + after.black + after.queen == 0:
        return "on_board", "with nothing left on the board the game would be over"
    return None


def _recount(state: MoneyState, recount: Recount) -> Ruling | Refusal:
    """Put the present game right by hand; nothing is won, paid or passed by it."""
    if state.player is None:
        return not_playing(state)
    position = recount.position
    assert isinstance(position, MoneyPosition)
    wrong = flaw(state, position)
    if wrong is not None:
        return impossible_count(f"{wrong[0]}: {wrong[1]}")
    differs = contradiction(position, document(placed(state, position)))
    if differs is not None:
        return impossible_count(f"{differs[0]}: a recount cannot make this {differs[1]}")
    return Ruling((Recounted(position),))


# Evolving


def _fold_scored(state: MoneyState, event: StrokeScored) -> MoneyState:
    return changed(
        state,
        white=state.white - event.white,
        black=state.black - event.black,
        queen=state.queen - event.queen,
        queen_holder=event.player if event.queen else state.queen_holder,
        break_made=True,
        tries=0,
    )


def _fold_returned(state: MoneyState, event: PieceReturned) -> MoneyState:
    if event.object == "queen":
        return changed(state, queen=1, queen_holder=None)
    return changed(state, **{event.object: getattr(state, event.object) + event.count})


def _with_missed(state: MoneyState, player: int, flag: int) -> MoneyState:
    return changed(state, missed=(*state.missed[: player - 1], flag, *state.missed[player:]))


def _fold_points(state: MoneyState, event: PointsScored) -> MoneyState:
    at = event.player - 1
    return changed(state, scores=(*state.scores[:at], state.scores[at] + event.points, *state.scores[at + 1 :]))


def _fold_ended(state: MoneyState, event: GameEnded) -> MoneyState:
    return changed(state, phase="match_over", player=None, winners=event.winners, missed=(0,) * state.players)


def _fold_recounted(state: MoneyState, event: Recounted) -> MoneyState:
    assert isinstance(event.position, MoneyPosition)
    return placed(state, event.position)


_FOLD: dict[type[Event], Callable[[MoneyState, Any], MoneyState]] = {
    StrokeScored: _fold_scored,
    StrokeMissed: lambda state, _: changed(state, break_made=True, tries=0),
    PieceJumped: lambda state, _: state,
    Foul: lambda state, _: state,
    NoStrokeMade: lambda state, _: state,
    TurnForfeited: lambda state, event: _with_missed(state, event.player, 1),
    TurnMissed: lambda state, event: _with_missed(state, event.player, 0),
    PieceReturned: _fold_returned,
    PointsScored: _fold_points,
    TurnPassed: lambda state, event: changed(state, player=event.player),
    BreakMissed: fold_break_missed,
    GameEnded: _fold_ended,
    Recounted: _fold_recounted,
}


def evolve(state: MoneyState, event: Event) -> MoneyState:
    """Fold one event into the state."""
    return _FOLD[type(event)](state, event)
