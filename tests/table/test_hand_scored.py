"""A table without sources, scored by requests alone: what every scenario says is what the table shows."""

import json
from pathlib import Path

import pytest

from tests.support.session import Session

SCENARIOS = Path(__file__).parent.parent / "scenarios"
GAMES = ("club_carrom", "new_carrom", "money_carrom", "carpetball")
NAMES = ("Asha", "Ben", "Chidi", "Dana", "Emre", "Fay", "Gus", "Hana")


def scenarios():
    found = []
    for game in GAMES:
        for name in (f"{game}.jsonl", f"{game}.options.jsonl"):
            for line in (SCENARIOS / name).read_text().splitlines():
                scenario = json.loads(line)
                found.append(pytest.param(game, scenario, id=f"{game}-{scenario['id']}"))
    return found


def holds(expected, found):
    """Everything in the listed state stands in the table's with the same value."""
    if isinstance(expected, dict):
        return all(key in found and holds(value, found[key]) for key, value in expected.items())
    if isinstance(expected, list):
        return len(expected) == len(found) and all(map(holds, expected, found))
    return expected == found


@pytest.mark.parametrize(("game", "scenario"), scenarios())
def test_requests_alone_score_the_scenario(game, scenario):
    setup = scenario["setup"]
    table = Session(
        game,
        NAMES[: setup.get("players", 2)],
        rules=setup.get("options"),
        position=setup.get("position"),
        check=False,
    )
    assert holds(scenario["start"], table.rules)
    states = [table.rules]
    for step in scenario["steps"]:
        observation = dict(step["observation"])
        command = observation.pop("type")
        code = table.ask(command, **observation)
        refused = step["state"] == states[-1] and code is not None
        assert code is None or refused, table.refused
        assert holds(step["state"], table.rules), (command, observation)
        if code is None:
            states.append(table.rules)
    assert table.refolded() == table.state
