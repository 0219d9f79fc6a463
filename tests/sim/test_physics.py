"""Pulse widths and misses follow the figures that the sensing policy was made with.

Those figures were drawn with other code; what is compared is the distribution, within a tolerance.
"""

from random import Random

import pytest

from sim import physics
from sim.parameters import parameters

NUMBERS = parameters()
COUNT = 5000
SHARES = (0.01, 0.05, 0.5, 0.95, 0.99)


def quantiles_ms(widths_us: list[int]) -> list[float]:
    ordered = sorted(widths_us)
    return [ordered[int(share * len(ordered))] / 1000 for share in SHARES]


def firsts(pulses: list[list[physics.Pulse]]) -> list[int]:
    return [each[0][1] - each[0][0] for each in pulses if each]


@pytest.mark.parametrize(
    ("name", "expected", "unseen"),
    [
        ("white", (15.1, 19.9, 34.6, 52.5, 60.4), 0.013),
        ("striker", (15.2, 21.4, 42.4, 66.2, 76.7), 0.008),
    ],
)
def test_a_disc_tumbles_past_one_beam(name: str, expected: tuple[float, ...], unseen: float) -> None:
    rng = Random(1)
    fallen = [physics.throat(name, NUMBERS, rng) for _ in range(COUNT)]
    assert quantiles_ms(firsts(fallen)) == pytest.approx(expected, rel=0.22)
    assert sum(not pulses for pulses in fallen) / COUNT == pytest.approx(unseen, abs=0.005)
    doubles = sum(len(pulses) == 2 for pulses in fallen) / COUNT
    assert doubles == pytest.approx(0.06, abs=0.01)


def test_nothing_slips_by_two_crossed_beams() -> None:
    rng = Random(2)
    assert all(physics.throat("white", NUMBERS, rng, beams=2) for _ in range(COUNT))


def test_a_disc_that_falls_flat_is_quick() -> None:
    rng = Random(3)
    fallen = [physics.chute("white", NUMBERS, rng) for _ in range(COUNT)]
    assert all(fallen)
    assert 10 < quantiles_ms(firsts(fallen))[0] < quantiles_ms(firsts(fallen))[-1] < 60


@pytest.mark.parametrize(
    ("name", "expected"), [("ball", (6.8, 10.5, 36.5, 126, 213)), ("cue", (6.5, 8.3, 22.5, 60.5, 91))]
)
def test_a_ball_crosses_a_pit_s_edge(name: str, expected: tuple[float, ...]) -> None:
    rng = Random(4)
    widths = firsts([physics.pit_edge(name, NUMBERS, rng)[0] for _ in range(COUNT)])
    assert quantiles_ms(widths) == pytest.approx(expected, rel=0.15)


def test_edge_on_beside_the_beam_a_disc_is_not_seen_and_flat_on_it_is() -> None:
    man = physics.Disc(15.5, 8.0)
    assert physics.chord(man, (1.0, 0.0, 0.0), 6.0, 0) is None
    assert physics.chord(man, (1.0, 0.0, 0.0), 6.0, 1) is not None
    flat = physics.chord(man, (0.0, 0.0, 1.0), 6.0, 0)
    assert flat == pytest.approx((-4.0, 4.0))
    upright = physics.chord(man, (0.0, 1.0, 0.0), 0.0, 0)
    assert upright == pytest.approx((-15.5, 15.5))


def test_balls_that_touch_in_a_trough_leave_light_between_them_low_down_and_none_at_their_middle() -> None:
    diameter = NUMBERS.number("size.ball_diameter_mm")
    width = 4.0

    def clear_ms(height_mm: float, speed: float) -> float:
        broken_us = physics.rolling(diameter, height_mm, speed, width)[0][1]
        return diameter / speed - broken_us / 1000

    assert clear_ms(NUMBERS.number("trough.beam_height_mm"), 1.4) > 8, "pulses closer than 8 ms are one passage"
    assert clear_ms(diameter / 2, 0.7) < 0


def test_the_magnet_sensor_feels_the_cue_ball_alone_and_while_it_breaks_the_beam() -> None:
    rng = Random(5)
    assert not any(physics.trough("ball", NUMBERS, rng).magnet for _ in range(100))
    for _ in range(300):
        seen = physics.trough("cue", NUMBERS, rng)
        ((broken, whole),), ((felt, gone),) = seen.beam, seen.magnet
        assert felt < whole
        assert broken < gone


def test_overlapping_pulses_of_one_wire_are_one() -> None:
    assert physics.joined([(5, 9), (0, 6), (12, 14)]) == [(0, 9), (12, 14)]
