"""The product's rules against a second, naive reading of them, over random games with random options.

`DIFFERENTIAL_GAMES=20000 pytest tests/rules/test_differential.py` plays that many games of each kind;
`DIFFERENTIAL_SEED` says where the seeds begin.
"""

import io
import json
import os
from typing import Any

import pytest

from appliance.score import OK, score
from tests.rules import reference
from tests.rules.reference import product
from tests.rules.reference.random_games import random_game

GAMES = int(os.environ.get("DIFFERENTIAL_GAMES", "2000"))
FIRST_SEED = int(os.environ.get("DIFFERENTIAL_SEED", "0"))
CHUNKS = 4
STROKES = 40


def disagreement(game: str, setup: dict[str, Any], observations: list[dict[str, Any]]) -> str | None:
    """Where the two readings first part, as lines that can be fed to `score`; None where they agree."""
    expected = reference.play(game, setup, observations)
    told = product.play(game, setup, observations)
    for number, (one, other) in enumerate(zip(expected, told, strict=True)):
        if one != other:
            lines = [json.dumps(setup), *(json.dumps(observation) for observation in observations[:number])]
            earlier = json.dumps(expected[number - 1]) if number else "(the start)"
            return "\n".join(
                [
                    *lines,
                    f"before:    {earlier}",
                    f"reference: {json.dumps(one)}",
                    f"product:   {json.dumps(other)}",
                ]
            )
    return None


@pytest.mark.timeout(0)
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("game", sorted(reference.GAMES))
def test_the_two_readings_agree(game: str, chunk: int) -> None:
    for seed in range(FIRST_SEED + chunk, FIRST_SEED + GAMES, CHUNKS):
        setup, observations = random_game(game, seed, STROKES)
        found = disagreement(game, setup, observations)
        assert found is None, f"{game}, seed {seed}:\n{found}"


@pytest.mark.parametrize("game", sorted(reference.GAMES))
def test_score_answers_long_games_with_undo_as_the_reference_does(game: str) -> None:
    for seed in range(FIRST_SEED, FIRST_SEED + 40):
        setup, observations = random_game(game, seed, 200)
        lines = [json.dumps(line).encode() + b"\n" for line in (setup, *observations)]
        out, err = io.StringIO(), io.StringIO()
        assert score(game, lines, out, err) == OK, f"{game}, seed {seed}: {err.getvalue()}"
        told = [json.loads(line) for line in out.getvalue().splitlines()]
        expected = reference.play(game, setup, observations)
        assert [answer["state"] for answer in told] == [answer["state"] for answer in expected], seed
        refused = [answer.get("refused", {}).get("code") for answer in told]
        assert refused == [answer.get("refused", {}).get("code") for answer in expected], seed
