"""How a match begins: the game, how many play, the house rules, and perhaps a position to start from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from appliance.rules import carpetball, money, sides
from appliance.rules.carpetball import CarpetballState
from appliance.rules.money import MoneyState
from appliance.rules.options import (
    CarpetballOptions,
    MoneyOptions,
    Options,
    check_game,
    options_document,
    parse_options,
)
from appliance.rules.parsing import BadInput, mapping, needed, show, whole
from appliance.rules.positions import (
    CarpetballPosition,
    MoneyPosition,
    Position,
    SidesPosition,
    contradiction,
    parse_position,
    position_document,
)
from appliance.rules.sides import SidesState

GameState = SidesState | MoneyState | CarpetballState

# How many can play: Club and New Carrom know two sides (K1, N2), a queue at a carpetball table has no end.
PLAYERS = {
    "money_carrom": (2, 3, 4),
    "club_carrom": (2, 4),
    "new_carrom": (2, 4),
    "carpetball": tuple(range(2, 101)),
}


@dataclass(frozen=True, slots=True)
class Setup:
    """What a match is started with."""

    game: str
    players: int
    options: Options
    position: Position | None = None


def parse_setup(game: str, value: object) -> Setup:
    """Read a `setup` line; whatever it leaves out is two players, the default rules and a fresh board."""
    numbers = PLAYERS[check_game(game)]
    fields = mapping(value, "", ("type", "players", "options", "position"))
    if needed(fields, "type") != "setup":
        raise BadInput("type", f'"setup" is needed here, not {show(fields["type"])}')
    players = whole(fields.get("players", 2), "players")
    if players not in numbers:
        listed = ", ".join(map(str, numbers)) if len(numbers) < 9 else f"{numbers[0]} to {numbers[-1]}"
        raise BadInput("players", f"{game} is played by {listed}, not by {show(players)}")
    options = parse_options(game, fields.get("options", {}))
    position = parse_position(game, fields["position"]) if "position" in fields else None
    setup = Setup(game, players, options, position)
    start(setup)
    return setup


def setup_document(setup: Setup) -> dict[str, object]:
    """Return the `setup` line; reading it again gives an equal set-up."""
    document: dict[str, object] = {
        "type": "setup",
        "players": setup.players,
        "options": options_document(setup.options),
    }
    if setup.position is not None:
        document["position"] = position_document(setup.position)
    return document


def document(state: GameState) -> dict[str, object]:
    """Return the state as JSON, as every scoreboard gets it."""
    if isinstance(state, SidesState):
        return sides.document(state)
    if isinstance(state, MoneyState):
        return money.document(state)
    return carpetball.document(state)


def start(setup: Setup) -> GameState:
    """Return the first state of a match; `BadInput` where the position of the set-up cannot be."""
    state = _fresh(setup.game, setup.players, setup.options)
    position = setup.position
    if position is None:
        return state
    wrong = None
    if isinstance(state, CarpetballState):
        state = carpetball.begun(state, cast(CarpetballPosition, position))
    elif isinstance(state, MoneyState):
        wrong = money.flaw(state, cast(MoneyPosition, position))
        state = state if wrong else money.placed(state, cast(MoneyPosition, position))
    else:
        state = sides.placed(state, cast(SidesPosition, position), at_start=True)
        wrong = sides.flaw(state)
    if wrong is not None:
        raise BadInput(f"position.{wrong[0]}", wrong[1])
    differs = contradiction(position, document(state))
    if differs is not None:
        path, said, holds = differs
        raise BadInput(f"position.{path}", f"{show(said)} does not follow from the rest; it is {show(holds)} here")
    return state


def _fresh(game: str, players: int, options: Options) -> GameState:
    if isinstance(options, CarpetballOptions):
        return carpetball.fresh(game, players, options)
    if isinstance(options, MoneyOptions):
        return money.fresh(game, players, options)
    return SidesState(game, players, options)


# One line of text for a whole state, hidden parts included


def state_fields(state: GameState) -> dict[str, object]:
    """Return every field of a state as JSON, options and hidden parts included."""
    fields: dict[str, object] = {name: getattr(state, name) for name in type(state).__slots__}
    fields["options"] = options_document(state.options)
    if isinstance(state, SidesState):
        for side in ("a", "b"):
            mine = getattr(state, side)
            fields[side] = {name: getattr(mine, name) for name in type(mine).__slots__}
    return fields


def state_from_fields(value: object) -> GameState:
    """Return the state that `state_fields` wrote; `BadInput` where it is none."""
    if not isinstance(value, Mapping) or "game" not in value:
        raise BadInput("state", f"the text of a state is needed here, not {show(value)}")
    game = check_game(value["game"])
    kinds: dict[str, type[GameState]] = {"money_carrom": MoneyState, "carpetball": CarpetballState}
    kind = kinds.get(game, SidesState)
    fields = dict(mapping(value, "state", tuple(kind.__slots__)))
    for name in kind.__slots__:
        needed(fields, name, "state")
    fields["options"] = parse_options(game, fields["options"])
    for name, item in fields.items():
        if isinstance(item, list):
            fields[name] = tuple(item)
    if kind is SidesState:
        for side in ("a", "b"):
            account = mapping(fields[side], f"state.{side}", tuple(sides.Side.__slots__))
            for name in sides.Side.__slots__:
                needed(account, name, f"state.{side}")
            fields[side] = sides.Side(**account)  # type: ignore[arg-type]
    return kind(**fields)  # type: ignore[arg-type]
