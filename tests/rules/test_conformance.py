"""The laws of every game over random games; `tests/rules/conformance.py --games N` plays more of them."""

import io
import json
import random

import pytest

from appliance import rules
from appliance.score import score
from tests.rules.conformance import play_game, random_observation, random_setup

GAMES = 1000
CHUNKS = 4


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("game", rules.GAMES)
def test_laws_hold_in_random_games(game: str, chunk: int) -> None:
    accepted = sum(play_game(game, seed) for seed in range(chunk, GAMES, CHUNKS))
    assert accepted > GAMES  # the games were played, not refused


@pytest.mark.parametrize("game", rules.GAMES)
def test_undo_at_every_depth_gives_an_equal_state(game: str) -> None:
    for seed in range(100):
        play_game(game, seed, refold=True)


@pytest.mark.parametrize("game", rules.GAMES)
def test_undo_through_score_walks_back_through_every_state(game: str) -> None:
    for seed in range(25):
        dice = random.Random(seed)
        setup = random_setup(game, dice)
        state = rules.start(setup)
        documents, lines = [rules.document(state)], [rules.setup_document(setup)]
        for _ in range(30):
            observation = random_observation(state, dice)
            lines.append(rules.observation_document(observation))
            outcome = rules.apply(state, observation)
            if not isinstance(outcome, rules.Refusal):
                state = outcome[0]
                documents.append(rules.document(state))
        played = len(lines)
        lines += [{"type": "undo"}] * len(documents)
        out, err = io.StringIO(), io.StringIO()
        assert score(game, (json.dumps(line).encode() for line in lines), out, err) == 0, err.getvalue()
        answers = [json.loads(line) for line in out.getvalue().splitlines()]
        undone = answers[played:]
        assert [answer["state"] for answer in undone[:-1]] == documents[-2::-1]
        assert undone[-1]["refused"]["code"] == "nothing_to_undo"
        assert undone[-1]["state"] == documents[0]
