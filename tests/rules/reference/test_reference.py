"""The naive reference against the worked scenarios: what it is compared with must be right itself."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.rules import reference
from tests.rules.reference.random_games import random_game

FOLDER = Path(__file__).parents[2] / "scenarios"
SCENARIOS = [json.loads(line) for path in sorted(FOLDER.glob("*.jsonl")) for line in path.read_text().splitlines()]


def stands_in(listed: Any, told: Any) -> bool:
    """Whether everything listed stands in what was told with the same value."""
    if isinstance(listed, dict):
        return isinstance(told, dict) and all(key in told and stands_in(listed[key], told[key]) for key in listed)
    if isinstance(listed, list):
        return (
            isinstance(told, list)
            and len(listed) == len(told)
            and all(stands_in(one, other) for one, other in zip(listed, told, strict=True))
        )
    return type(listed) is type(told) and listed == told


def test_all_scenarios_are_here() -> None:
    assert len(SCENARIOS) == 160


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[scenario["id"] for scenario in SCENARIOS])
def test_scenario(scenario: dict[str, Any]) -> None:
    steps = scenario["steps"]
    answers = reference.play(scenario["start"]["game"], scenario["setup"], [step["observation"] for step in steps])
    expected = [scenario["start"], *(step["state"] for step in steps)]
    for listed, told in zip(expected, answers, strict=True):
        assert "refused" not in told
        assert stands_in(listed, told["state"]), (listed, told["state"])


@pytest.mark.parametrize("game", ["club_carrom", "new_carrom"])
def test_a_side_that_owes_has_nothing_down_and_an_uncovered_queen_is_with_the_side_on_turn(game: str) -> None:
    for seed in range(100):
        for told in reference.play(game, *random_game(game, seed, 40)):
            state = told["state"]
            for side in state["sides"].values():
                assert 0 <= side["pocketed"] <= 9
                assert side["due"] == 0 or side["pocketed"] == 0
            if state["queen"]["status"] == "uncovered":
                assert state["turn"]["side"] == state["queen"]["side"]


def test_money_adds_up_to_the_value_of_a_set() -> None:
    for seed in range(200):
        setup, observations = random_game("money_carrom", seed, 40)
        setup.pop("position", None)
        observations = [observation for observation in observations if observation["type"] != "recount"]
        white, black, queen = setup.get("options", {}).get("mc.values", [1, 2, 5])
        for told in reference.play("money_carrom", setup, observations):
            left = told["state"]["on_board"]
            scores = sum(player["score"] for player in told["state"]["players"])
            value = left["white"] * white + left["black"] * black + left["queen"] * queen
            assert scores + value == 9 * white + 9 * black + queen


def test_undo_goes_back_through_everything() -> None:
    for game in reference.GAMES:
        for seed in range(50):
            setup, observations = random_game(game, seed, 40)
            observations = [observation for observation in observations if observation["type"] != "undo"]
            forth = reference.play(game, setup, observations)
            accepted = [told["state"] for told in forth if "refused" not in told]
            back = reference.play(game, setup, observations + [{"type": "undo"}] * len(accepted))
            returned = [told["state"] for told in back[len(forth) :]]
            assert returned == [*reversed(accepted[:-1]), accepted[0]]
            assert back[-1]["refused"] == {"code": "nothing_to_undo"}


def test_the_same_seed_makes_the_same_game() -> None:
    for game in reference.GAMES:
        assert random_game(game, 7, 40) == random_game(game, 7, 40)
        assert random_game(game, 7, 40) != random_game(game, 8, 40)
