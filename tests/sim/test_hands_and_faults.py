"""Hands are long and ragged, and each fault looks like what it is named after."""

from random import Random
from statistics import median

import pytest

from sim.falls import carpetball_shot, carrom_shot
from sim.faults import FAULTS, SENSOR_FAULTS, BeamPulse, sensor_faults
from sim.hands import hand, one_ball
from sim.parameters import parameters
from sim.rig import Rig
from sim.tiers import TIERS, settings_of

NUMBERS = parameters()
BEAMS = ("ne", "nw", "se", "sw")
DAY_US = 24 * 3600 * 1_000_000


def pulses(name: str, days: int = 1) -> list[BeamPulse]:
    return sensor_faults([name], BEAMS, (0, days * DAY_US), NUMBERS, Random(1))


def test_a_hand_takes_about_a_second_and_breaks_the_beam_about_twice() -> None:
    rng = Random(1)
    hands = [hand(NUMBERS, rng) for _ in range(2000)]
    assert median(each[-1][1] - each[0][0] for each in hands) == pytest.approx(1_100_000, rel=0.1)
    assert sum(map(len, hands)) / len(hands) == pytest.approx(2.2, abs=0.15)
    assert all(start < end for each in hands for start, end in each)


def test_a_hand_that_puts_one_ball_down_is_shorter() -> None:
    rng = Random(2)
    assert median(one_ball(NUMBERS, rng)[-1][1] for _ in range(1000)) == pytest.approx(500_000, rel=0.2)


@pytest.mark.parametrize("name", SENSOR_FAULTS)
def test_every_sensor_fault_comes_about_by_its_name(name: str) -> None:
    found = pulses(name)
    assert found, name
    assert all(start < end for _, start, end in found)
    assert {beam for beam, _, _ in found} <= set(BEAMS)


def test_glitches_are_too_short_for_a_near_miss() -> None:
    assert max(end - start for _, start, end in pulses("glitches")) <= 200


def test_lamps_flicker_in_all_beams_with_twice_the_mains_frequency() -> None:
    found = pulses("lamps")
    assert {beam for beam, _, _ in found} == set(BEAMS)
    first = sorted(start for beam, start, _ in found if beam == "ne")[:2]
    assert first[1] - first[0] in (10_000, 8_333)


def test_a_dip_takes_all_beams_within_two_milliseconds() -> None:
    found = sorted(pulses("dips"), key=lambda each: each[1])[:4]
    assert {beam for beam, _, _ in found} == set(BEAMS)
    assert found[-1][1] - found[0][1] < 2_000


def test_a_fading_emitter_ends_in_the_dark() -> None:
    found = pulses("dimming", days=2)
    assert max(end - start for _, start, end in found) > 20_000_000
    assert min(end - start for _, start, end in found) < 10_000


def test_no_fault_without_its_name() -> None:
    assert sensor_faults([], BEAMS, (0, DAY_US), NUMBERS, Random(1)) == []
    assert len(FAULTS) == len(set(FAULTS)) == 15


def shots(tier: str, game: str, count: int) -> list:  # type: ignore[type-arg]
    rng = Random(7)
    rig = Rig(settings_of(TIERS[tier], game))
    draw = carpetball_shot if game == "carpetball" else carrom_shot
    if game == "carpetball":
        assert rig.request("line_up", north=5, south=5)
    return [draw(rig.state.fold.rules, TIERS[tier], 1_000_000, NUMBERS, rng).stroke for _ in range(count)]


def test_as_much_falls_in_a_stroke_as_among_mixed_players() -> None:
    strokes = shots("T1", "club_carrom", 4000)
    counts = [len(stroke.drops) for stroke in strokes]
    shares = [counts.count(number) / len(counts) for number in range(4)]
    assert shares == pytest.approx([0.62, 0.31, 0.06, 0.01], abs=0.02)
    strikers = sum(any(drop.object == "striker" for drop in stroke.drops) for stroke in strokes) / len(strokes)
    assert strikers == pytest.approx(0.06, abs=0.012)


def test_followers_are_as_tight_as_they_are_said_to_be() -> None:
    rng = Random(8)
    gaps = sorted(NUMBERS.draw("stroke.follow_s", rng) for _ in range(20_000))
    found = [gaps[int(share * len(gaps))] for share in (0.001, 0.01, 0.05, 0.5, 0.99)]
    assert found == pytest.approx([0.012, 0.021, 0.036, 0.41, 2.6], rel=0.25)


def test_as_many_throws_of_two_balls_merge_at_a_pit_s_edge_as_was_estimated() -> None:
    two = [stroke for stroke in shots("C1", "carpetball", 4000) if len(stroke.drops) == 2]
    merged = sum(stroke.merged > 0 for stroke in two) / len(two)
    assert merged == pytest.approx(0.29, abs=0.08)


def test_a_chute_puts_discs_one_behind_the_other() -> None:
    for stroke in shots("T3", "club_carrom", 3000):
        assert stroke.merged == 0
