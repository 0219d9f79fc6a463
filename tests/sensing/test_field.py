"""What has happened to others who count with beams, each tried by the product's own numbers.

The names say what was seen; nothing here is a point that was not made, and no bad beam stops the others.
"""

from collections.abc import Iterable
from random import Random

import pytest

from appliance.sensing.bank import InputBlocked, InputNoisy, InputWell, Uncounted
from appliance.sensing.debounce import Condition
from appliance.sensing.health import health_of
from tests.sensing.lines import MS, Lines, pit, pocket

NE, NW, SE, SW = (pocket(name, channel) for channel, name in enumerate(("ne", "nw", "se", "sw")))


def square(name: str, hz: float, seconds: float, rng: Random, start_ms: float = 1000) -> list[tuple[str, float, float]]:
    """An irregular square wave: each half period between half and one and a half of what it should be."""
    found: list[tuple[str, float, float]] = []
    at_ms, half_ms = start_ms, 500 / hz
    while at_ms < start_ms + seconds * 1000:
        width, gap = half_ms * rng.uniform(0.5, 1.5), half_ms * rng.uniform(0.5, 1.5)
        found.append((name, round(at_ms, 3), round(width, 3)))
        at_ms += width + gap
    return found


def sure(lines: Lines, name: str) -> int:
    """How many passages of a beam would count with nobody asked: possibly two is one, unclear is none."""
    return sum(each.beam.id == name and each.reason is None and each.doubt != "unclear" for each in lines.final())


def played_with_time(lines: Lines, pulses: Iterable[tuple[str, float, float]], until_ms: float) -> None:
    """Pulses with a heartbeat every 250 ms between them."""
    beats = ((250.0 * n, None, False) for n in range(1, int(until_ms / 250) + 1))
    edges = ((at, name, active) for name, start, ms in pulses for at, active in ((start, True), (start + ms, False)))
    for at, name, active in sorted((*beats, *edges), key=lambda each: each[0]):
        if name is None:
            lines.time(at)
        else:
            lines.edge(name, active, at)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("hz", [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 50])
def test_a_bad_contact_brings_at_most_3_points_before_it_is_noisy(hz, seed):
    lines = Lines(NE, NW)
    storm = square("ne", hz, 30, Random(seed))
    others = [("nw", 2000 + 3000 * n, 30) for n in range(10)]
    played_with_time(lines, [*storm, *others], 60_000)
    assert sure(lines, "ne") <= 3
    assert lines.counted().count("nw") == 10, "the others still score"
    if hz >= 3:
        assert lines.told(InputNoisy) or lines.told(InputBlocked)
    assert lines.bank.lines["ne"].is_serviceable, "quiet again, it is back in service"


@pytest.mark.parametrize("seed", range(20))
def test_a_floating_input_from_power_up_is_a_fault_within_5_s_and_no_point(seed):
    rng = Random(seed)
    lines = Lines(NE, NW)
    at_ms, level, pulses, since = 0.0, False, [], 0.0
    while at_ms < 20_000:
        at_ms += 1000 / rng.uniform(0.2, 200)
        level = not level
        if not level:
            pulses.append(("ne", since, at_ms - since))
        since = at_ms
    played_with_time(lines, pulses, 20_000)
    faults = [each for each in lines.signals if isinstance(each, InputNoisy | InputBlocked) and each.input is NE]
    assert min(fault.since_ns for fault in faults) <= 5_000 * MS
    settled = [each for each in lines.final() if each.passage.started_ns < 15_000 * MS]
    assert [each for each in settled if each.reason is None and each.doubt != "unclear"] == []


def test_a_sensor_unplugged_in_the_game_is_a_fault_and_no_point():
    lines = Lines(NE, NW)
    lines.pulses(("ne", 1000, 30), ("nw", 2000, 30))
    lines.edge("ne", True, 10_000)
    lines.time(16_000)
    assert [fault.input for fault in lines.told(InputBlocked)] == [NE]
    assert lines.counted() == ["ne", "nw"]


@pytest.mark.parametrize("dark_ms", [0.5, 0.9, 1.4, 2, 5, 8])
@pytest.mark.parametrize("hz", [100, 120])
@pytest.mark.parametrize("make", [pocket, pit], ids=["pocket", "pit"])
@pytest.mark.parametrize("together", [True, False], ids=["in phase", "out of phase"])
def test_lamps_bring_no_point_and_are_named(make, hz, dark_ms, together):
    period = 1000 / hz
    if dark_ms >= period - 0.3:
        pytest.skip("that would be dark for good")
    beams = [make(name, channel) for channel, name in enumerate(("a", "b", "c", "d"))]
    lines = Lines(*beams)
    shift = 0 if together else period / 4
    seconds = 4
    lines.pulses(
        *(
            (each.id, round(1000 + period * n + shift * i, 3), dark_ms)
            for n in range(hz * seconds)
            for i, each in enumerate(beams)
        )
    )
    assert [sure(lines, each.id) for each in beams] == [0, 0, 0, 0]
    now_ns = (1000 + seconds * 1000) * MS
    for each in beams:
        health = health_of(lines.bank.lines[each.id], now_ns)
        assert "ambient IR interference" in (health.reason or "").replace("Ambient", "ambient")
        assert health.state == ("noisy" if dark_ms >= 1.5 else "ok")


def test_sunlight_that_holds_a_beam_dark_and_lets_it_chatter_brings_no_point():
    rng = Random(1)
    lines = Lines(NE, NW)
    lines.edge("ne", True, 1_000)
    lines.time(10_000)
    assert health_of(lines.bank.lines["ne"], 300_000 * MS).since_ns == 1_000 * MS, "since it began, by its own clock"
    lines.edge("ne", False, 481_000)
    chatter = square("ne", 15, 120, rng, start_ms=481_030)
    played = max(start + ms for _, start, ms in chatter)
    lines.pulses(*chatter)
    lines.time(played + 2_900)
    assert not lines.bank.lines["ne"].is_serviceable
    lines.time(played + 3_100)
    assert lines.bank.lines["ne"].is_serviceable, "back by itself"
    lines.pulses(("ne", played + 5_000, 30))
    assert lines.counted() == ["ne"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("hz", [1, 2, 5, 10, 20])
def test_what_rests_and_jitters_on_the_edge_of_a_beam_is_at_most_one_point(hz, seed):
    rng = Random(seed)
    lines = Lines(NE)
    at_ms, pulses = 1000.0, []
    while at_ms < 300_000:
        dark = 1000 / hz * rng.uniform(0.8, 1.2)
        gap = rng.uniform(2, 60)
        pulses.append(("ne", round(at_ms, 3), round(dark, 3)))
        at_ms += dark + gap
    played_with_time(lines, pulses, at_ms)
    assert sure(lines, "ne") <= 1
    assert not lines.bank.lines["ne"].is_serviceable
    lines.time(at_ms + 3_100)
    lines.pulses(("ne", at_ms + 5_000, 30))
    assert lines.final()[-1].reason is None, "clear for the settling time, the next disc counts"


def test_an_emitter_too_dim_from_the_start_stops_nothing_else():
    lines = Lines(NE, NW, SE, SW, dark=("ne",))
    lines.pulses(*((name, 2000 + 1000 * n, 30) for n, name in enumerate(("nw", "se", "sw") * 4) if n < 10))
    assert len(lines.counted()) == 10
    health = health_of(lines.bank.lines["ne"], 42_000 * MS)
    assert health.state == "blocked"
    assert health.reason is not None
    assert health.reason.startswith("Blocked at start, 42 s")


def test_a_receiver_tube_that_narrows_the_view_leaves_near_misses():
    lines = Lines(NE)
    widths = (12, 4, 1, 0.3)
    lines.pulses(*(("ne", 1000 + 3000 * (100 * i + n), ms) for i, ms in enumerate(widths) for n in range(100)))
    counters = lines.bank.lines["ne"].debouncer.counters
    assert len(lines.counted()) == 200
    assert (counters.passages, counters.glitches, counters.near_misses) == (200, 200, 200)


def test_a_thousand_spikes_are_no_noise_and_hide_no_disc():
    rng = Random(7)
    lines = Lines(NE)
    spikes = [("ne", 1000 + 60 * n + rng.uniform(0, 30), rng.uniform(0.02, 0.2)) for n in range(1000)]
    lines.pulses(*spikes, ("ne", 1000 + 60 * 500 + 45, 3))
    assert len(lines.counted()) == 1
    assert lines.bank.lines["ne"].debouncer.counters.glitches == 1000


def test_each_disc_counts_though_one_lay_in_the_beam_for_half_a_minute_before_it():
    lines = Lines(NE)
    for n in range(3):
        start = 1000 + 60_000 * n
        lines.edge("ne", True, start)
        lines.time(start + 10_000)
        lines.edge("ne", False, start + 30_000)
        lines.time(start + 32_000)
        lines.pulses(("ne", start + 35_000, 30))
    assert lines.counted() == ["ne"] * 3
    assert len(lines.told(InputWell)) == 3


def test_mixed_polarities_count_and_the_wrong_one_is_suspected():
    low = [pocket(name, channel) for channel, name in enumerate(("ne", "nw"))]
    lines = Lines(*low, SE, SW)
    lines.pulses(*((name, 1000 + 2000 * n, 30) for n, name in enumerate(("ne", "nw", "se", "sw") * 5)))
    assert len(lines.counted()) == 20
    swapped = Lines(NE, dark=("ne",))
    for n in range(5):
        swapped.edge("ne", False, 5_000 + 2_000 * n)
        swapped.edge("ne", True, 5_030 + 2_000 * n)
    swapped.time(16_000)
    health = health_of(swapped.bank.lines["ne"], 16_000 * MS)
    assert health.state == "polarity_suspect"
    assert "blocked_level" in (health.reason or "")
    assert swapped.counted() == []


def test_a_beam_never_clear_in_a_minute_is_dark():
    lines = Lines(NE, dark=("ne",))
    assert health_of(lines.bank.lines["ne"], 59_999 * MS).state == "blocked"
    health = health_of(lines.bank.lines["ne"], 60_000 * MS)
    assert (health.state, health.since_ns) == ("dark", 0)
    lines.edge("ne", False, 70_000)
    lines.time(72_000)
    assert health_of(lines.bank.lines["ne"], 72_000 * MS).state == "ok"


def test_a_block_in_the_game_is_told_since_when_and_what_to_do():
    lines = Lines(NE)
    lines.edge("ne", True, 1_000)
    lines.time(9_000)
    health = health_of(lines.bank.lines["ne"], 9_000 * MS)
    assert (health.state, health.since_ns) == ("blocked", 1_000 * MS)
    assert "net" in (health.reason or "")
    lines.edge("ne", False, 10_000)
    lines.time(10_500)
    assert "quiet for a second" in (health_of(lines.bank.lines["ne"], 10_500 * MS).reason or "")


def test_a_line_without_a_level_is_unknown():
    lines = Lines(NE)
    lines.bank.lines["ne"].debouncer.condition = Condition.UNKNOWN
    assert health_of(lines.bank.lines["ne"], 1).since_ns is None


def test_a_hand_that_collects_pieces_is_no_object():
    rng = Random(3)
    lines = Lines(NE)
    at_ms, pulses = 1000.0, []
    for _ in range(4):
        total = rng.uniform(500, 4_500)
        first = total * 0.6
        pulses += [("ne", at_ms, first), ("ne", at_ms + first + 120, 80), ("ne", at_ms + first + 400, 60)]
        at_ms += total + 10_000
    lines.pulses(*pulses)
    assert lines.counted() == []
    assert {each.reason for each in lines.final()} == {Uncounted.HAND}
