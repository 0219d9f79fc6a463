"""Carpetball: two ends, balls lined up at each, one cue ball thrown to and fro.

A side that is cleared has one more throw (C6). If it clears the other too, or if one throw empties both, the
round is tied and a standoff decides, thrown first by whoever has the cue ball: the receiver of the last throw
(C8). `first` is the end that threw first in this round; it does so again when a tied standoff makes both line up
anew (C9).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from appliance.grammar import how_many
from appliance.rules.copying import changed
from appliance.rules.events import (
    BallsPaid,
    BallsWithdrawn,
    Event,
    FinalThrow,
    Foul,
    LinedUp,
    Recounted,
    RoundRestarted,
    RoundStarted,
    RoundWon,
    StandoffStarted,
    ThrowMissed,
    ThrowPassed,
    ThrowScored,
)
from appliance.rules.observations import LineUp, NextRound, Observation, Recount, Throw, Withdraw
from appliance.rules.options import CarpetballOptions
from appliance.rules.parsing import MOST, BadInput, amount
from appliance.rules.positions import ENDS, CarpetballPosition, contradiction
from appliance.rules.values import Instruction, Refusal, Ruling, impossible_count, wrong_phase


@dataclass(frozen=True, slots=True)
class CarpetballState:
    """A round of Carpetball between two throws.

    `north`, `south`: balls in play, 0 while lining up. `end` throws next, None once the round is over; `cue` is
    the end where the cue ball lies. `standoff` counts the standoffs since the last line-up.
    """

    game: str
    players: int
    options: CarpetballOptions
    north_player: int
    south_player: int
    queue: tuple[int, ...]
    first: str
    cue: str
    end: str | None
    phase: str = "line_up"
    round: int = 1
    north: int = 0
    south: int = 0
    final_throw: bool = False
    standoff: int = 0
    winner: str | None = None


def other_end(end: str) -> str:
    """Return the opposite end."""
    return "south" if end == "north" else "north"


def player_at(state: CarpetballState, end: str) -> int:
    """Return the player who stands at an end."""
    return state.north_player if end == "north" else state.south_player


def balls(state: CarpetballState, end: str) -> int:
    """Return the balls in play at an end."""
    return state.north if end == "north" else state.south


def fresh(game: str, players: int, options: CarpetballOptions) -> CarpetballState:
    """Return the start of the first round: player 1 at north, player 2 at south, the rest in the queue."""
    first = options.first_throw
    return CarpetballState(game, players, options, 1, 2, tuple(range(3, players + 1)), first, first, first)


def document(state: CarpetballState) -> dict[str, object]:
    """Return the state as JSON."""
    lining_up = state.phase == "line_up"
    return {
        "game": state.game,
        "phase": state.phase,
        "round": state.round,
        "turn": None if state.end is None else {"end": state.end, "final_throw": state.final_throw},
        "ends": {
            end: {"player": player_at(state, end), "in_play": None if lining_up else balls(state, end)} for end in ENDS
        },
        "queue": list(state.queue),
        "round_winner": None if state.winner is None else player_at(state, state.winner),
    }


def decide(state: CarpetballState, observation: Observation) -> Ruling | Refusal:
    """Say what an observation means now, or why it cannot be; the phase is checked before the counts."""
    if isinstance(observation, Throw):
        return _throw(state, observation)
    if isinstance(observation, LineUp):
        return _line_up(state, observation)
    if isinstance(observation, Withdraw):
        return _withdraw(state, observation)
    if isinstance(observation, NextRound):
        return _next_round(state)
    if isinstance(observation, Recount):
        return _recount(state, observation)
    return wrong_phase("there is no such observation in carpetball")


def _balls(count: int) -> str:
    return how_many(count, "ball") if abs(count) <= MOST else f"{amount(count)} of balls"


def _out_of_play(state: CarpetballState) -> Refusal:
    if state.phase == "line_up":
        return wrong_phase("the balls must be lined up first")
    return wrong_phase("the round is over; the next one must be started first")


def _line_up(state: CarpetballState, line_up: LineUp) -> Ruling | Refusal:
    """C2: each side chooses freely how many balls to line up, up to the most allowed."""
    if state.phase != "line_up":
        return wrong_phase("the balls are lined up only before a round")
    most = state.options.max_balls
    for end, count in (("north", line_up.north), ("south", line_up.south)):
        if not 1 <= count <= most:
            return impossible_count(f"from 1 to {most} balls can be lined up at the {end} end, not {amount(count)}")
    return Ruling((LinedUp(line_up.north, line_up.south),))


def _throw(state: CarpetballState, throw: Throw) -> Ruling | Refusal:
    """Settle one whole throw: what is out, then the penalty, then whose throw it is."""
    end, options = state.end, state.options
    if end is None or state.phase == "line_up":
        return _out_of_play(state)
    for name, out, there in (
        ("north", throw.out_north, state.north),
        ("south", throw.out_south, state.south),
    ):
        if out > there:
            return impossible_count(f"{_balls(out)} of the {name} end cannot be out: it has only {there} in play")
    there = state.north + state.south + 1
    if throw.off_table > there:
        return impossible_count(f"{_balls(throw.off_table)} cannot have left the table: it had only {there} on it")

    player, other = player_at(state, end), other_end(end)
    events: list[Event] = [
        ThrowScored(player, end, throw.out_north, throw.out_south, throw.short)
        if throw.out_north or throw.out_south
        else ThrowMissed(player, end, throw.short)
    ]
    instructions: list[Instruction] = []
    left = {"north": state.north - throw.out_north, "south": state.south - throw.out_south}
    if throw.off_table:
        # CS4: the thrower pits own balls, as far as there are any.
        if options.fly_penalty == "lose_round":
            events += (Foul(player, ("off_table",), 0), _won(state, other, "off_table"))
            return Ruling(tuple(events))
        due = min(1 if options.fly_penalty == "per_throw" else throw.off_table, left[end])
        events.append(Foul(player, ("off_table",), due))
        if due:
            left[end] -= due
            events.append(BallsPaid(player, end, due))
            instructions.append(Instruction("remove", "ball", due, f"{end}_pit", player))

    if left[end] == 0 and left[other] == 0:
        more, asked = _tie(state, other)
        events += more
        instructions += asked
    elif state.final_throw:
        events.append(_won(state, other, "final_throw_failed"))  # C7
    elif left[end] == 0:
        events.append(_self_cleared(state, end))
    elif left[other] == 0:
        merciful = options.mercy == "both" or (options.mercy == "challenger_only" and other == state.first)
        if merciful:
            events.append(FinalThrow(player_at(state, other), other, waived=False))  # C6
        else:
            events.append(_won(state, end, "cleared"))  # C10
    else:
        events.append(ThrowPassed(player_at(state, other), other))  # C4
    return Ruling(tuple(events), tuple(instructions))


def _won(state: CarpetballState, end: str, reason: str) -> RoundWon:
    return RoundWon(player_at(state, end), end, reason)


def _self_cleared(state: CarpetballState, end: str) -> Event:
    """A side lost its last ball by its own doing (`cb.self_cleared`): the opponent's throw has no target."""
    if state.options.self_cleared == "lose":
        return _won(state, other_end(end), "self_cleared")
    return FinalThrow(player_at(state, end), end, waived=True)


def _tie(state: CarpetballState, cue: str) -> tuple[list[Event], list[Instruction]]:
    """C8, C9: both sides are empty, and the cue ball lies at `cue`; a standoff, or both line up anew."""
    number = state.standoff + 1
    if number == 1:
        count = state.options.standoff_balls
    elif number == 2 and state.options.tie_path == "one_then_restart":
        count = 1
    else:
        return [RoundRestarted(player_at(state, state.first), state.first)], []
    asked = [Instruction("line_up", "ball", count, end, player_at(state, end)) for end in ENDS]
    return [StandoffStarted(player_at(state, cue), cue, count, number)], asked


def _withdraw(state: CarpetballState, withdraw: Withdraw) -> Ruling | Refusal:
    """CS3: an owner pits own balls, any number between throws; with the last one the side clears itself."""
    if state.end is None or state.phase == "line_up":
        return _out_of_play(state)
    end, there = withdraw.end, balls(state, withdraw.end)
    if not 1 <= withdraw.balls <= there:
        return impossible_count(
            f"{_balls(withdraw.balls)} cannot be withdrawn at the {end} end, which has {there} in play"
        )
    events: list[Event] = [BallsWithdrawn(player_at(state, end), end, withdraw.balls)]
    instructions: list[Instruction] = []
    if withdraw.balls == there:
        if state.final_throw and state.options.self_cleared != "lose":
            more, instructions = _tie(state, state.cue)
            events += more
        else:
            events.append(_self_cleared(state, end))
    return Ruling(tuple(events), tuple(instructions))


def _next_round(state: CarpetballState) -> Ruling | Refusal:
    """C11: the loser to the end of the queue, the first of the queue to the loser's end, to throw first."""
    if state.phase != "round_over" or state.winner is None:
        return wrong_phase("the next round starts only when this one is over")
    loser = other_end(state.winner)
    first, queue = loser, state.queue
    at = {end: player_at(state, end) for end in ENDS}
    if queue:
        queue = (*queue[1:], at[loser])
        at[loser] = state.queue[0]
    elif state.options.rematch_first == "winner":
        first = state.winner
    elif state.options.rematch_first == "alternate":
        first = other_end(state.first)
    return Ruling((RoundStarted(state.round + 1, at["north"], at["south"], queue, first),))


# Positions and recounts


def begun(state: CarpetballState, position: CarpetballPosition) -> CarpetballState:
    """Return a fresh state with the position of a set-up put in; `BadInput` where it cannot be."""
    end = position.end or position.first_thrower or state.first
    first = position.first_thrower or end
    in_play = {"north": position.north, "south": position.south}
    phase = position.phase or ("line_up" if in_play == dict.fromkeys(ENDS) else "round")
    state = changed(state, phase=phase, end=end, first=first, cue=end)
    if phase == "line_up":
        if first != end:
            raise BadInput("position.first_thrower", "while lining up, the end on turn is the one that throws first")
        if position.final_throw or in_play != dict.fromkeys(ENDS):
            raise BadInput("position.phase", "while lining up, no balls are in play")
        return state
    full = state.options.standoff_balls if phase == "standoff" else state.options.max_balls
    allowed = max(full, state.options.max_balls)
    counts = {name: full if count is None else count for name, count in in_play.items()}
    final = counts[end] == 0 if position.final_throw is None else position.final_throw
    for name in ENDS:
        least = 0 if final and name == end else 1
        most = 0 if final and name == end else allowed
        if not least <= counts[name] <= most:
            bounds = "no ball" if final and name == end else f"from {least} to {most} balls"
            raise BadInput(
                f"position.ends.{name}.in_play", f"there can be {bounds} in play here, not {amount(counts[name])}"
            )
    return changed(
        state,
        north=counts["north"],
        south=counts["south"],
        final_throw=final,
        standoff=1 if phase == "standoff" else 0,
    )


def placed(state: CarpetballState, position: CarpetballPosition) -> CarpetballState:
    """Return the state of a round with a recount put in; moving the throw moves the cue ball too."""
    return changed(
        state,
        north=state.north if position.north is None else position.north,
        south=state.south if position.south is None else position.south,
        end=position.end or state.end,
        cue=position.end or state.cue,
        first=position.first_thrower or state.first,
    )


def _recount(state: CarpetballState, recount: Recount) -> Ruling | Refusal:
    """Put the present round right by hand; it ends nothing, so an end has balls after it if it had any before."""
    if state.end is None or state.phase == "line_up":
        return _out_of_play(state)
    position = recount.position
    assert isinstance(position, CarpetballPosition)
    if position.end is not None and state.final_throw:
        return wrong_phase("the throw cannot be moved while a final throw is pending")
    most = state.options.max_balls
    for end, count in (("north", position.north), ("south", position.south)):
        if count is not None and balls(state, end) == 0:
            return impossible_count(f"the {end} end is cleared and has its final throw; it has no balls to count")
        if count is not None and not 1 <= count <= most:
            return impossible_count(f"from 1 to {most} balls can be in play at the {end} end, not {amount(count)}")
    if position.phase not in (None, state.phase):
        return impossible_count(f"phase: a recount cannot change it, and it is {state.phase}")
    if position.final_throw not in (None, state.final_throw):
        return impossible_count("turn.final_throw: a recount cannot change it")
    differs = contradiction(position, document(placed(state, position)))
    if differs is not None:
        return impossible_count(f"{differs[0]}: a recount cannot make this {differs[1]}")
    return Ruling((Recounted(position),))


# Evolving


def _less(state: CarpetballState, end: str, count: int, **changes: object) -> CarpetballState:
    return changed(state, **{end: balls(state, end) - count}, **changes)


def _fold_thrown(state: CarpetballState, event: ThrowScored) -> CarpetballState:
    return changed(state, north=state.north - event.north, south=state.south - event.south, cue=other_end(event.end))


def _fold_standoff(state: CarpetballState, event: StandoffStarted) -> CarpetballState:
    return changed(
        state,
        phase="standoff",
        end=event.end,
        final_throw=False,
        north=event.balls,
        south=event.balls,
        standoff=event.number,
    )


def _fold_restarted(state: CarpetballState, event: RoundRestarted) -> CarpetballState:
    return changed(
        state, phase="line_up", end=event.end, cue=event.end, final_throw=False, north=0, south=0, standoff=0
    )


def _fold_started(state: CarpetballState, event: RoundStarted) -> CarpetballState:
    return CarpetballState(
        state.game,
        state.players,
        state.options,
        event.north,
        event.south,
        event.queue,
        event.end,
        event.end,
        event.end,
        round=event.round,
    )


def _fold_recounted(state: CarpetballState, event: Recounted) -> CarpetballState:
    assert isinstance(event.position, CarpetballPosition)
    return placed(state, event.position)


_FOLD: dict[type[Event], Callable[[CarpetballState, Any], CarpetballState]] = {
    LinedUp: lambda state, event: changed(state, phase="round", north=event.north, south=event.south),
    ThrowScored: _fold_thrown,
    ThrowMissed: lambda state, event: changed(state, cue=other_end(event.end)),
    Foul: lambda state, _: state,
    BallsPaid: lambda state, event: _less(state, event.end, event.balls),
    BallsWithdrawn: lambda state, event: _less(state, event.end, event.balls),
    ThrowPassed: lambda state, event: changed(state, end=event.end),
    FinalThrow: lambda state, event: changed(state, end=event.end, final_throw=True),
    StandoffStarted: _fold_standoff,
    RoundRestarted: _fold_restarted,
    RoundWon: lambda state, event: changed(state, phase="round_over", end=None, final_throw=False, winner=event.end),
    RoundStarted: _fold_started,
    Recounted: _fold_recounted,
}


def evolve(state: CarpetballState, event: Event) -> CarpetballState:
    """Fold one event into the state."""
    return _FOLD[type(event)](state, event)
