"""Hands at the beams: long, ragged breaks, now and then in pieces."""

import math
from random import Random

from sim.parameters import Parameters
from sim.physics import US_PER_MS, US_PER_S, Pulse


def hand(numbers: Parameters, rng: Random) -> list[Pulse]:
    """A hand that reaches into a pocket or pit and comes out again; microseconds from its beginning."""
    length_us = round(numbers.draw("hand.length_s", rng) * US_PER_S)
    gaps = [round(numbers.draw("hand.gap_ms", rng) * US_PER_MS) for _ in range(_poisson(numbers, rng))]
    broken_us = max(length_us - sum(gaps), round(0.3 * length_us))
    cuts = sorted(rng.randint(0, broken_us) for _ in gaps)
    found: list[Pulse] = []
    at_us = 0
    for start, end, gap in zip([0, *cuts], [*cuts, broken_us], [*gaps, 0], strict=True):
        if end > start:
            found.append((at_us, at_us + end - start))
        at_us += end - start + gap
    return found


def one_ball(numbers: Parameters, rng: Random) -> list[Pulse]:
    """A hand that puts one ball into a pit: the ball and the hand behind it, or both as one."""
    length_us = round(numbers.draw("hand.one_ball_s", rng) * US_PER_S)
    if rng.random() < 0.5:
        return [(0, length_us)]
    cut = rng.randint(length_us // 4, 3 * length_us // 4)
    gap = round(numbers.draw("hand.gap_ms", rng) * US_PER_MS)
    return [(0, cut), (cut + gap, length_us + gap)]


def _poisson(numbers: Parameters, rng: Random) -> int:
    """How often a hand breaks the beam again."""
    least, count, product = math.exp(-numbers.number("hand.more_edges")), 0, rng.random()
    while product > least:
        count += 1
        product *= rng.random()
    return count
