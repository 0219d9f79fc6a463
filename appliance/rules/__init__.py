"""The rules of the four games: pure values in, values out, and every decision with its reason.

`start` makes the first state of a match from a set-up. `decide` says what an observation means in a state: a
ruling (events and instructions for hands) or a refusal. `evolve` folds one event into the state and cannot fail
on what `decide` produced. Nothing here knows a clock, a sensor or a broker. Undo is not a rule: whoever keeps
the history takes a state back.

Who knows what: `carrom` is what the three carrom sheets share, `sides` what Club and New Carrom share beyond
that (sides, queen, dues), and `club`, `new_carrom`, `money`, `carpetball` only their own differences, beside the
rule numbers of their sheets.
"""

import json
from collections.abc import Mapping

from appliance.rules import carpetball, club, money, new_carrom, sides
from appliance.rules.carpetball import CarpetballState
from appliance.rules.events import Event
from appliance.rules.money import MoneyState
from appliance.rules.observations import (
    BreakNotMade,
    LineUp,
    NextBoard,
    NextRound,
    NoStroke,
    Observation,
    Recount,
    Stroke,
    Throw,
    Undo,
    Withdraw,
    observation_document,
    parse_observation,
)
from appliance.rules.options import GAMES, Options, option_kinds, options_document, parse_options
from appliance.rules.parsing import BadInput
from appliance.rules.positions import Position
from appliance.rules.setup import (
    PLAYERS,
    GameState,
    Setup,
    document,
    parse_setup,
    setup_document,
    start,
    state_fields,
    state_from_fields,
)
from appliance.rules.sides import SidesState
from appliance.rules.values import Instruction, Refusal, Ruling

__all__ = [
    "GAMES",
    "PLAYERS",
    "BadInput",
    "BreakNotMade",
    "Event",
    "GameState",
    "Instruction",
    "LineUp",
    "NextBoard",
    "NextRound",
    "NoStroke",
    "Observation",
    "Options",
    "Position",
    "Recount",
    "Refusal",
    "Ruling",
    "Setup",
    "Stroke",
    "Throw",
    "Undo",
    "Withdraw",
    "apply",
    "decide",
    "document",
    "evolve",
    "from_text",
    "miss",
    "observation_document",
    "on_table",
    "option_kinds",
    "options_document",
    "own_colour",
    "parse_observation",
    "parse_options",
    "parse_setup",
    "player_on_turn",
    "setup_document",
    "start",
    "to_text",
]

_SHEETS = {"club_carrom": club.SHEET, "new_carrom": new_carrom.SHEET}


def decide(state: GameState, observation: Observation) -> Ruling | Refusal:
    """Say what an observation means in this state, or why it cannot be. `Undo` is never for the rules to do."""
    if isinstance(observation, Undo):
        return Refusal("nothing_to_undo", "a state alone has nothing to take back")
    if isinstance(state, SidesState):
        return sides.decide(state, observation, _SHEETS[state.game])
    if isinstance(state, MoneyState):
        return money.decide(state, observation)
    return carpetball.decide(state, observation)


def evolve(state: GameState, event: Event) -> GameState:
    """Fold one event into the state; it never fails on what `decide` produced for that state."""
    if isinstance(state, SidesState):
        return sides.evolve(state, event)
    if isinstance(state, MoneyState):
        return money.evolve(state, event)
    return carpetball.evolve(state, event)


def apply(state: GameState, observation: Observation) -> tuple[GameState, Ruling] | Refusal:
    """Decide, and fold all the events of the ruling into the state."""
    ruling = decide(state, observation)
    if isinstance(ruling, Refusal):
        return ruling
    for event in ruling.events:
        state = evolve(state, event)
    return state, ruling


def to_text(state: GameState) -> str:
    """Return the whole state, hidden parts and options included, as one line."""
    return json.dumps(state_fields(state), separators=(",", ":"))


def from_text(text: str) -> GameState:
    """Return the state that `to_text` wrote; `BadInput` where it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput("state", "the text of a state is needed here, and this is not JSON") from error
    return state_from_fields(value)


def player_on_turn(state: GameState) -> int | None:
    """Return the player whose turn it is (carpetball: who throws next), None when nobody's."""
    if isinstance(state, CarpetballState):
        return None if state.end is None else carpetball.player_at(state, state.end)
    return state.player


def on_table(state: GameState) -> Mapping[str, int]:
    """Return how many of each object are on the table (carpetball: balls in play at each end)."""
    if isinstance(state, SidesState):
        return sides.on_table(state)
    if isinstance(state, MoneyState):
        return money.on_table(state)
    return {"north": state.north, "south": state.south}


def own_colour(state: GameState, player: int) -> str | None:
    """Return the colour of a player's side on this board; None in Money and Carpetball."""
    return sides.colour_of(state, sides.side_of(player)) if isinstance(state, SidesState) else None


def miss(state: GameState) -> Observation:
    """Return the observation of a stroke or throw in which nothing happened."""
    return Throw(0, 0) if isinstance(state, CarpetballState) else Stroke(())
