"""The scenarios that were worked by hand, and those in which one option makes the difference."""

import io
import json
from collections import Counter

import pytest

from appliance import rules
from appliance.score import score
from tests.support.rules import Document, missing, scenarios

ALL = scenarios()


def test_all_of_them_are_here() -> None:
    counted = Counter((game, one["id"].startswith("O-")) for game, one in ALL)
    assert {counted[game, False] for game in rules.GAMES} == {15}
    assert sum(counted[game, True] for game in rules.GAMES) == 100


@pytest.mark.parametrize(("game", "scenario"), ALL, ids=[one["id"] for _, one in ALL])
def test_scenario(game: str, scenario: Document) -> None:
    state = rules.start(rules.parse_setup(game, scenario["setup"]))
    assert missing(scenario["start"], rules.document(state)) is None
    for number, step in enumerate(scenario["steps"], 1):
        outcome = rules.apply(state, rules.parse_observation(game, step["observation"]))
        assert not isinstance(outcome, rules.Refusal), (number, outcome)
        state = outcome[0]
        assert missing(step["state"], rules.document(state)) is None, f"step {number}"


@pytest.mark.parametrize("game", rules.GAMES)
def test_scenarios_through_score(game: str) -> None:
    for of_game, scenario in ALL:
        if of_game != game:
            continue
        lines = [scenario["setup"], *(step["observation"] for step in scenario["steps"])]
        out, err = io.StringIO(), io.StringIO()
        assert score(game, (json.dumps(line).encode() for line in lines), out, err) == 0, err.getvalue()
        answers = [json.loads(line) for line in out.getvalue().splitlines()]
        expected = [scenario["start"], *(step["state"] for step in scenario["steps"])]
        for answer, state in zip(answers, expected, strict=True):
            assert missing(state, answer["state"]) is None, scenario["id"]
            assert set(answer) == {"state", "events", "instructions"}
