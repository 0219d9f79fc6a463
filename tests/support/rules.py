"""Short ways to set a board up and play on it in tests of the rules."""

import json
from pathlib import Path
from typing import Any

from appliance import rules

Document = dict[str, Any]
SCENARIOS = Path(__file__).parent.parent / "scenarios"


def begin(game: str, options: Document | None = None, players: int = 2, **position: Any) -> rules.GameState:
    """The first state of a match, with a position where one is given."""
    setup: Document = {"type": "setup", "players": players, "options": options or {}}
    if position:
        setup["position"] = position
    return rules.start(rules.parse_setup(game, setup))


def sides(
    game: str,
    a: Document,
    b: Document,
    queen: tuple[str, str | None] = ("on_board", None),
    player: int = 1,
    options: Document | None = None,
    players: int = 2,
) -> rules.GameState:
    """A board of Club or New Carrom in play."""
    status, side = queen
    return begin(
        game,
        options,
        players,
        sides={"A": a, "B": b},
        queen={"status": status, "side": side},
        turn={"player": player},
    )


def play(state: rules.GameState, *observations: Document) -> rules.GameState:
    """The state after observations that must all be accepted."""
    for document in observations:
        outcome = rules.apply(state, rules.parse_observation(state.game, document))
        assert not isinstance(outcome, rules.Refusal), (document, outcome)
        state = outcome[0]
    return state


def stroke(state: rules.GameState, *pocketed: str, jumped: tuple[str, ...] = ()) -> Document:
    """The state as JSON after one stroke."""
    return rules.document(play(state, {"type": "stroke", "pocketed": list(pocketed), "jumped": list(jumped)}))


def ruled(state: rules.GameState, document: Document) -> rules.Ruling:
    """The ruling on an observation that must be accepted."""
    ruling = rules.decide(state, rules.parse_observation(state.game, document))
    assert isinstance(ruling, rules.Ruling), ruling
    return ruling


def refused(state: rules.GameState, document: Document) -> str:
    """The code with which an observation is refused."""
    refusal = rules.decide(state, rules.parse_observation(state.game, document))
    assert isinstance(refusal, rules.Refusal), document
    assert refusal.message
    return refusal.code


def scenarios() -> list[tuple[str, Document]]:
    """Every scenario with the game that it belongs to."""
    return [
        (path.name.split(".")[0], json.loads(line))
        for path in sorted(SCENARIOS.glob("*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]


def missing(expected: Any, told: Any, at: str = "state") -> str | None:
    """Where `told` lacks something of `expected`; more than that it may hold."""
    if isinstance(expected, dict) and isinstance(told, dict):
        pairs = [(f"{at}.{name}", expected[name], told.get(name, "nothing")) for name in expected]
    elif isinstance(expected, list) and isinstance(told, list) and len(expected) == len(told):
        pairs = [(f"{at}[{n}]", one, two) for n, (one, two) in enumerate(zip(expected, told, strict=True))]
    elif type(expected) is type(told) and expected == told:
        return None
    else:
        return f"{at}: {told!r} instead of {expected!r}"
    return next((found for found in (missing(one, two, path) for path, one, two in pairs) if found), None)
