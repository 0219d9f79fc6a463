"""Strokes a second through decide and evolve, beside the bare decoding of the same observations from JSON.

`python tests/bench/strokes.py [--strokes 20000]`: one core, no input or output; the best of five runs each.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from appliance import rules

NEEDED = 20_000  # strokes a second


def observation(state: rules.GameState, dice: random.Random) -> rules.Observation:
    """A stroke or throw such as people make them: mostly none or one object, now and then more."""
    if state.phase == "line_up":
        return rules.LineUp(5, 5)
    if state.phase == "round_over":
        return rules.NextRound()
    if state.phase == "board_over":
        return rules.NextBoard()
    table = rules.on_table(state)
    if state.game == "carpetball":
        out = [min(table[end], dice.choice([0, 0, 1, 1, 2])) for end in ("north", "south")]
        return rules.Throw(out[0], out[1], int(dice.random() < 0.05))
    there = [thing for thing, count in table.items() for _ in range(count)]
    return rules.Stroke(tuple(dice.sample(there, min(len(there), dice.choice([0, 0, 1, 1, 1, 2])))))


def matches(game: str, strokes: int) -> list[list[rules.Observation]]:
    """Whole matches of that many observations together, each to be played from its start."""
    dice = random.Random(1)
    played: list[list[rules.Observation]] = [[]]
    first = state = rules.start(rules.parse_setup(game, {"type": "setup"}))
    for _ in range(strokes):
        if state.phase == "match_over":
            played.append([])
            state = first
        one = observation(state, dice)
        outcome = rules.apply(state, one)
        assert not isinstance(outcome, rules.Refusal)
        played[-1].append(one)
        state = outcome[0]
    return played


def best(run: Callable[[], None]) -> float:
    """Seconds of the fastest of five runs."""
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        run()
        times.append(time.perf_counter() - begun)
    return min(times)


def measure(game: str, strokes: int) -> float:
    """Print the figures of a game and return its strokes a second."""
    played = matches(game, strokes)
    lines = [json.dumps(rules.observation_document(one)) for match in played for one in match]
    first = rules.start(rules.parse_setup(game, {"type": "setup"}))

    def play() -> None:
        for match in played:
            state = first
            for one in match:
                ruling = rules.decide(state, one)
                assert isinstance(ruling, rules.Ruling)
                for event in ruling.events:
                    state = rules.evolve(state, event)

    def floor() -> None:
        for line in lines:
            json.loads(line)

    rate, bare = strokes / best(play), strokes / best(floor)
    print(f"{game:13} {rate:9,.0f} strokes/s   JSON decoding alone {bare:9,.0f}/s   ratio {bare / rate:5.1f}")
    return rate


def main() -> int:
    """Measure every game; 1 where one of them is too slow."""
    parser = argparse.ArgumentParser(description="Strokes a second through decide and evolve.")
    parser.add_argument("--strokes", type=int, default=20_000)
    strokes = parser.parse_args().strokes
    return int(min(measure(game, strokes) for game in rules.GAMES) < NEEDED)


if __name__ == "__main__":
    sys.exit(main())
