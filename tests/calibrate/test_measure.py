"""What hands show of a beam, and what follows: polarity, times, and when there is nothing to propose."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.tools.measure import LEVELS, MERGE_NS, Line, Measured, Pulse, counted, propose

MS = 1_000_000
USUAL = 1_500_000
GOOD = Measured(rest=0, broken=1, slow_ns=(40 * MS,) * 10, fast_ns=(6 * MS,) * 10)


def line(*edges: tuple[int, int], rest: int = 0) -> Line:
    found = Line(rest, rest, 0)
    for at_ns, level in edges:
        found.edge(level, at_ns)
    return found


def test_a_pulse_is_as_long_as_the_line_is_away_from_rest() -> None:
    found = line((10 * MS, 1), (45 * MS, 0), (300 * MS, 1), (306 * MS, 0))
    assert found.pulses == [Pulse(10 * MS, 35 * MS, 35 * MS), Pulse(300 * MS, 6 * MS, 6 * MS)]


def test_at_a_line_that_rests_high_the_low_stretches_are_the_pulses() -> None:
    assert line((10 * MS, 0), (45 * MS, 1), rest=1).pulses == [Pulse(10 * MS, 35 * MS, 35 * MS)]


def test_chatter_belongs_to_its_pulse_and_does_not_make_it_solid() -> None:
    found = line((0, 1), (20 * MS, 0), (30 * MS, 1), (31 * MS, 0))
    assert found.pulses == [Pulse(0, 31 * MS, 20 * MS)]
    assert not found.is_settled(100 * MS)
    assert found.is_settled(101 * MS)


@given(st.lists(st.integers(1, 200 * MS), min_size=2, max_size=40))
def test_pulses_are_apart_and_in_order(stretches: list[int]) -> None:
    found, at_ns, level = Line(0, 0, 0), 0, 0
    for stretch in stretches:
        at_ns, level = at_ns + stretch, 1 - level
        found.edge(level, at_ns)
    for one, two in pairwise(found.pulses):
        assert two.started_ns - (one.started_ns + one.width_ns) >= MERGE_NS
    assert all(0 < pulse.solid_ns <= pulse.width_ns for pulse in found.pulses)


def test_what_is_far_shorter_than_the_rest_is_no_passage() -> None:
    pulses = [Pulse(0, 30 * MS, 30 * MS), Pulse(1, 1 * MS, 1 * MS), Pulse(2, 40 * MS, 40 * MS)]
    assert counted(pulses) == [pulses[0], pulses[2]]
    assert counted([]) == []


def test_what_is_known_to_be_a_glitch_is_no_passage() -> None:
    pulses = [Pulse(0, 6 * MS, 6 * MS), Pulse(1, 1 * MS, 1 * MS)]
    assert counted(pulses) == pulses
    assert counted(pulses, 2 * MS) == pulses[:1]


def test_a_good_beam_needs_nothing() -> None:
    found = propose(GOOD, "high", USUAL)
    assert (found.blocked_level, found.min_dwell_ms, found.troubles) == (None, None, ())


@pytest.mark.parametrize("rest", [0, 1])
def test_polarity_is_what_was_seen(rest: int) -> None:
    seen = Measured(rest=rest, broken=1 - rest, slow_ns=GOOD.slow_ns, fast_ns=GOOD.fast_ns)
    right = LEVELS[1 - rest]
    assert propose(seen, right, USUAL).blocked_level is None
    assert propose(seen, LEVELS[rest], USUAL).blocked_level == right


def test_a_beam_that_always_reads_as_broken_gets_no_light() -> None:
    (trouble,) = propose(Measured(rest=1), "high", USUAL).troubles
    assert "no light arrives" in trouble


def test_a_beam_that_always_reads_as_clear_is_not_connected_or_sees_around_the_finger() -> None:
    (trouble,) = propose(Measured(rest=0), "high", USUAL).troubles
    assert "light reaches the receiver around the finger" in trouble


def test_a_beam_that_flickers_untouched_is_not_accepted() -> None:
    found = propose(Measured(0, 5, 1, GOOD.slow_ns, GOOD.fast_ns), "high", USUAL)
    assert not found.accepted
    assert "changed 5 times" in found.troubles[0]


def test_short_passages_get_a_shorter_time_and_glitches_a_longer_one() -> None:
    short = Measured(rest=0, broken=1, slow_ns=(8 * MS,) * 10, fast_ns=(2 * MS,) * 10)
    found = propose(short, "high", USUAL)
    assert found.accepted
    assert found.min_dwell_ms is not None
    assert found.min_dwell_ms <= 1.0
    noisy = Measured(rest=0, broken=1, slow_ns=(40 * MS,) * 10, fast_ns=(20 * MS,) * 10, glitches_ns=(1 * MS,))
    found = propose(noisy, "high", USUAL)
    assert found.accepted
    assert found.min_dwell_ms is not None
    assert 2.0 <= found.min_dwell_ms <= 10.0


def test_where_glitches_are_as_long_as_passages_no_time_helps() -> None:
    seen = Measured(rest=0, broken=1, slow_ns=(5 * MS,), fast_ns=(3 * MS,), glitches_ns=(2 * MS,))
    found = propose(seen, "high", USUAL)
    assert found.min_dwell_ms is None
    assert "no time tells them apart" in found.troubles[0]


@given(
    st.lists(st.integers(MS // 2, 100 * MS), min_size=1, max_size=20),
    st.lists(st.integers(1, 20 * MS), max_size=20),
)
def test_an_accepted_time_counts_every_passage_and_no_glitch(passages: list[int], glitches: list[int]) -> None:
    seen = Measured(rest=0, broken=1, fast_ns=tuple(passages), glitches_ns=tuple(glitches))
    found = propose(seen, "high", USUAL)
    if found.accepted:
        dwell_ns = USUAL if found.min_dwell_ms is None else found.min_dwell_ms * MS
        assert min(passages) >= 2 * dwell_ns - 10_000
        assert max(glitches, default=0) * 2 <= dwell_ns + 10_000


SEEN = {"black": (20, 26, 24), "queen": (98, 104, 100), "white": (228, 232, 230)}


def limits_of(
    readings: dict[str, tuple[int, ...]], configured: dict[str, int]
) -> tuple[dict[str, int] | None, tuple[str, ...]]:
    measured = Measured(0, 0, 1, (40 * MS,), (8 * MS,), (), tuple(readings.items()))
    found = propose(measured, "high", USUAL, configured)
    return None if found.limits is None else dict(found.limits), found.troubles


def test_limits_lie_in_the_middle_between_what_was_read():
    assert limits_of(SEEN, {}) == ({"black": 62, "queen": 166, "white": 255}, ())


def test_the_order_is_that_of_the_readings():
    """Where the brightest reads lowest, for instance."""
    seen = {"white": (20, 30), "black": (200, 210)}
    assert limits_of(seen, {"black": 100, "white": 255}) == ({"white": 115, "black": 255}, ())


@pytest.mark.parametrize(
    ("configured", "stays"),
    [
        ({"black": 62, "queen": 166, "white": 255}, True),
        ({"black": 79, "queen": 140, "white": 240}, True),
        ({"black": 44, "queen": 166, "white": 255}, True),
        ({"black": 43, "queen": 166, "white": 255}, False),  # a quarter of the room of 72 above 26 is 44
        ({"black": 80, "queen": 166, "white": 255}, False),  # and a quarter below 98 is 80
        ({"black": 62, "queen": 166, "white": 230}, False),
        ({"black": 62, "queen": 166, "white": 255, "striker": 254}, False),
    ],
)
def test_limits_that_hold_stay(configured: dict[str, int], stays: bool):
    found, troubles = limits_of(SEEN, configured)
    assert troubles == ()
    assert (found is None) == stays


def test_objects_that_look_the_same_are_told_and_the_file_is_left_alone():
    found, troubles = limits_of({**SEEN, "striker": (226, 230)}, {"black": 1})
    assert found is None
    assert troubles == (
        "its colour sensor reads up to 230 for striker and from 228 for white: no limit tells them apart, "
        "so look at its lamp, its distance and stray light",
    )


def test_an_object_that_was_not_shown_is_told():
    assert limits_of({**SEEN, "queen": ()}, {}) == (None, ("its colour sensor was not shown: queen",))
