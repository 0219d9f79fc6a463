"""The cue ball's magnet: fields by hand, and a cue ball that no passage hides from three switches."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.wiring import inputs_of
from sim import physics
from sim.magnet import (
    ACROSS,
    ALONG,
    UP,
    Roll,
    Switch,
    Vector,
    dipole_a_m2,
    felt_mm,
    field_mt,
    gain,
    least_felt_mt,
    rotated,
    sphere_mm3,
)
from sim.parameters import Parameters, parameters
from sim.tiers import TIERS, settings_of
from tests.sensing.lines import Lines

NUMBERS = parameters()
RADIUS = NUMBERS.number("size.cue_diameter_mm") / 2
EARTH_MT = 0.07
"""More than the Earth's field anywhere."""


def switch(axis: Vector, at: Vector = (0, 0, 0), operate_mt: float = 2.0, release_mt: float = 1.0) -> Switch:
    return Switch(at, axis, operate_mt, release_mt)


def length(vector: Vector) -> float:
    return math.sqrt(sum(each * each for each in vector))


def test_a_sphere_of_15_mm_is_a_dipole_of_1_77_a_m2_for_a_remanence_of_4_pi_tenths_tesla() -> None:
    # That remanence is a million A/m; 15 mm are 1.7671 cm³.
    assert dipole_a_m2(0.4 * math.pi, sphere_mm3(15)) == pytest.approx(1.7671, abs=1e-4)


def test_the_field_on_the_axis_is_twice_that_beside_it_and_the_other_way_round() -> None:
    # 1e-7 T m/A · 1 A m² / (0.1 m)³ = 0.1 mT.
    assert field_mt(UP, (0, 0, 100)) == pytest.approx((0, 0, 0.2))
    assert field_mt(UP, (0, 100, 0)) == pytest.approx((0, 0, -0.1))
    assert field_mt(UP, (200, 0, 0)) == pytest.approx((0, 0, -0.0125))
    # At 45° the radial part is √2, the other half of it: 0.1 mT · (1.5, 0, 0.5).
    away = 100 / math.sqrt(2)
    assert field_mt(UP, (away, 0, away)) == pytest.approx((0.15, 0, 0.05))


def test_two_switches_have_a_direction_that_neither_feels_and_three_in_one_place_have_none() -> None:
    ball = (0.0, 0.0, 100.0)
    up, along, across = switch(UP), switch(ALONG), switch(ACROSS)
    assert [gain(each, ball) for each in (up, along, across)] == [
        pytest.approx((0, 0, 0.2)),
        pytest.approx((-0.1, 0, 0)),
        pytest.approx((0, -0.1, 0)),
    ]
    assert least_felt_mt((up, across), ball, 1) == 0
    assert least_felt_mt((up, across, across), ball, 1) == 0
    # All three feel the same of (2, 2, 1)/3: 0.2/3 mT.
    assert least_felt_mt((up, along, across), ball, 1) == pytest.approx(0.2 / 3)
    assert least_felt_mt((up, along, across), ball, 1.5) == pytest.approx(0.1)


@given(
    st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda v: length(v) > 0.1),
    st.floats(-10, 10),
    st.floats(-10, 10),
)
def test_one_of_three_feels_at_least_that_much_whichever_way_the_magnet_points(
    direction: Vector, beside: float, along: float
) -> None:
    three = (switch(UP), switch(ALONG, (0, -4, 0)), switch(ACROSS, (0, 4, -1)))
    ball = (along, beside, 33.0)
    felt = max(abs(sum(g * d for g, d in zip(gain(each, ball), direction, strict=True))) for each in three)
    assert felt / length(direction) >= least_felt_mt(three, ball, 1) * (1 - 1e-9)


def test_a_ball_that_rolls_turns_with_its_way() -> None:
    quarter = RADIUS * math.pi / 2
    rolls = (0.0, 1 / RADIUS, 0.0)
    # What looks ahead looks down a quarter of a turn later; what looks to the side stays as it is.
    assert rotated(ALONG, rolls, quarter) == pytest.approx((0, 0, -1))
    assert rotated(UP, rolls, quarter) == pytest.approx((1, 0, 0))
    assert rotated(ACROSS, rolls, quarter) == pytest.approx(ACROSS)
    assert rotated(UP, (0.0, 0.0, 0.0), quarter) == UP


def test_a_switch_turns_on_at_its_operate_point_and_off_at_its_release_point() -> None:
    # Across, beside its axis: 100 mT mm³ / r³ is 2 mT at r³ = 50,000 (36.84 mm) and 1 mT at 100,000 (46.42 mm).
    slides = Roll(0, 30, ACROSS, (0, 0, 0))
    ((start, end),) = felt_mm(slides, [switch(ACROSS)], 120)
    assert start == pytest.approx(-math.sqrt(36.84**2 - 30**2), abs=0.1)
    assert end == pytest.approx(math.sqrt(46.42**2 - 30**2), abs=0.1)
    assert felt_mm(slides, [switch(UP), switch(ALONG)], 120) == [], "it lies across both of them"


def test_what_switches_on_one_wire_feel_is_felt_from_the_first_to_the_last() -> None:
    slides = Roll(0, 30, ACROSS, (0, 0, 0))
    near, far = switch(ACROSS), switch(ACROSS, (20, 0, 0))
    ((start, end),) = felt_mm(slides, [far, near], 120)
    assert (start, end) == (
        pytest.approx(felt_mm(slides, [near], 120)[0][0]),
        pytest.approx(felt_mm(slides, [far], 120)[0][1]),
    )
    assert len(felt_mm(slides, [near, switch(ACROSS, (80, 0, 0))], 150)) == 2


def least_left_mt(magnet_left: float) -> float:
    """What is felt at least at the trough with everything at its worst: depth, the ball's place, the magnet."""
    depth = NUMBERS.values["magnet"]["switch_depth_mm"]["uniform"][1]
    apart = NUMBERS.number("magnet.switches_apart_mm")
    three = [switch(UP, (0, 0, -depth)), switch(ALONG, (0, -apart, -depth)), switch(ACROSS, (0, apart, -depth))]
    weakest_t = NUMBERS.values["magnet"]["remanence_t"]["uniform"][0]
    dipole = dipole_a_m2(weakest_t, sphere_mm3(NUMBERS.number("magnet.sphere_mm"))) * magnet_left
    room = NUMBERS.number("trough.width_mm") / 2 - RADIUS
    return min(least_felt_mt(three, (0, room * tenth / 10, RADIUS), dipole) for tenth in range(-10, 11))


def test_at_the_table_s_switches_the_cue_ball_is_felt_whichever_way_it_lies() -> None:
    operate_mt = NUMBERS.values["magnet"]["operate_mt"]["clip"][1]
    weakest = NUMBERS.values["magnet"]["left"]["uniform"][0]
    assert least_left_mt(weakest) > operate_mt + EARTH_MT
    assert least_left_mt(0.75) < operate_mt, "with a quarter of the magnet gone it is no certainty any more"


def test_no_cue_ball_rolls_by_unfelt_and_none_is_felt_in_pieces() -> None:
    rng = Random(6)
    for _ in range(1000):
        ((start, end),) = physics.cue_felt_mm(NUMBERS, rng)
        assert start <= 0 <= end
        assert max(-start, end) < NUMBERS.number("magnet.looked_at_mm"), "nothing is felt further off"


def passing(names: list[str], speed_m_s: float, rng: Random) -> list[tuple[str, int, int]]:
    """What the beam and the magnet sensor of a trough make of balls that touch each other."""
    numbers = Parameters({**NUMBERS.values, "trough": {**NUMBERS.values["trough"], "speed_m_s": speed_m_s}})
    found: list[tuple[str, int, int]] = []
    front_mm = 0.0
    for name in names:
        diameter = NUMBERS.number(f"size.{name}_diameter_mm")
        middle_us = 1_000_000 + round((front_mm + diameter / 2) * 1_000 / speed_m_s)
        front_mm += diameter
        seen = physics.trough(name, numbers, rng)
        begins_us = middle_us - seen.beam[0][1] // 2
        found += [("north", begins_us + start, begins_us + end) for start, end in seen.beam]
        found += [("north-cue", begins_us + start, begins_us + end) for start, end in seen.magnet]
    return found


@pytest.mark.parametrize("speed_m_s", [0.2, 0.35, 0.7, 1.5])
def test_of_balls_that_touch_all_but_one_count_whichever_of_them_is_the_cue_ball(speed_m_s: float) -> None:
    rng = Random(7)
    inputs = [each for each in inputs_of(settings_of(TIERS["C2"], "carpetball")) if each.id in ("north", "north-cue")]
    for number in range(60):
        names = ["ball"] * (number % 3)
        names.insert(rng.randint(0, len(names)), "cue")
        lines = Lines(*inputs)
        lines.pulses(
            *((name, start / 1000, (end - start) / 1000) for name, start, end in passing(names, speed_m_s, rng))
        )
        for quarter in range(20):
            lines.time(3000 + 250 * quarter)
        told = [each for each in lines.final() if each.reason is None]
        assert sorted(each.candidates for each in told) == [("ball",)] * (len(names) - 1) + [("cue",)], names
        assert all(each.doubt is None for each in told)
