"""The real firmware in an emulated ATmega328P against the appliance's own session, at exact microseconds."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from appliance.events import Brightness, ColourReading, Edge, EdgeId, Levels, SourceBack, SourceLost
from appliance.link.configuration import READING, BoardConfiguration, ColourSensor
from appliance.link.session import LinkState
from tests.firmware.bench import SECOND_US, Bench
from tests.firmware.board import CHANNELS
from tests.firmware.programs import Programs, make

pytestmark = pytest.mark.real

INPUTS = range(12)
"""What is watched before the host says otherwise."""

STAMP_LATENCY_US = 20
"""From a change at a pin to the stamp, while nothing else happens: a handful of instructions."""

CAUSE_POWER_ON, CAUSE_RESET_LINE, CAUSE_WATCHDOG = 1, 2, 4

ScriptedEdge = tuple[int, int, int]


def play(bench: Bench, script: list[ScriptedEdge]) -> list[tuple[int, int]]:
    """Put a script of (microseconds, channel, level) before the board; return what has to come of it."""
    script = sorted(script)
    bench.board.edges(script)
    return [(channel, level) for _, channel, level in script]


def passages(bench: Bench, count: int, *, every_us: int = 50_000, dwell_us: int = 20_000) -> list[ScriptedEdge]:
    """Passages through one beam after the other, from a tenth of a second ahead."""
    start_us = bench.board.now_us + 100_000
    script = []
    for number in range(count):
        at_us, channel = start_us + number * every_us, number % len(INPUTS)
        script += [(at_us, channel, 1), (at_us + dwell_us, channel, 0)]
    return script


def is_taken(bench: Bench, count: int) -> bool:
    """Whether so many edges have been delivered or reported lost, and the board has been told."""
    return bench.taken >= count and not bench.waiting


# ------------------------------------------------------------------ coming up


def test_it_says_who_it_is(bench: Bench):
    (hello,) = bench.hellos[:1]
    assert (hello.protocol, hello.board, hello.tick_hz, hello.ring) == (1, 1, 1_000_000, 128)
    assert (hello.reset_cause, hello.seq, hello.oldest) == (CAUSE_POWER_ON, 0, 0)
    assert (hello.levels.channels, hello.levels.mask) == (CHANNELS, 0)
    assert bench.session.state is LinkState.UP
    assert bench.session.counters.bad_frames == 0
    assert len(bench.heartbeats) >= 4


def test_each_boot_has_an_id_of_its_own(bench: Bench):
    for _ in range(5):
        bench.board.tell("reset")
        bench.run_for(SECOND_US // 2)
    ids = {hello.boot_id for hello in bench.hellos}
    assert len(ids) == 6
    assert len({boot_id & 0xFFFF for boot_id in ids}) == 6
    assert len({boot_id >> 16 for boot_id in ids}) == 1


# ------------------------------------------------------------------ edges


def test_every_input_reports_its_edges_with_their_ticks(bench: Bench):
    script = passages(bench, 2 * len(INPUTS))
    expected = play(bench, script)
    bench.run_until(lambda: is_taken(bench, len(script)))
    assert bench.edges == expected
    assert bench.lost == 0
    at_us = [at_us for at_us, _, _ in sorted(script)]
    late_us = [bench.ticks[number].tick - at_us[number] for number in range(len(script))]
    assert max(late_us) - min(late_us) <= STAMP_LATENCY_US
    for edge, scripted_us in zip(bench.of(Edge), at_us, strict=True):
        assert abs(edge.at_ns - bench.host_ns(scripted_us)) < 2_000_000


def test_a_channel_that_is_no_input_yet_is_left_alone(bench: Bench):
    play(bench, [(bench.board.now_us + 1000 * n, channel, 1) for n, channel in enumerate(range(12, CHANNELS))])
    bench.run_for(SECOND_US)
    assert bench.edges == []
    assert bench.heartbeats[-1].levels.mask == 0


def test_two_passages_five_milliseconds_apart_in_one_pocket(bench: Bench):
    start_us = bench.board.now_us + 10_000
    times_us = [start_us, start_us + 4_000, start_us + 5_000, start_us + 9_000]
    play(bench, [(at_us, 3, 1 - n % 2) for n, at_us in enumerate(times_us)])
    bench.run_until(lambda: is_taken(bench, 4))
    assert bench.edges == [(3, 1), (3, 0), (3, 1), (3, 0)]
    ticks = [bench.ticks[number].tick for number in range(4)]
    for width, wanted in zip([b - a for a, b in pairwise(ticks)], [4000, 1000, 4000], strict=True):
        assert abs(width - wanted) <= STAMP_LATENCY_US


@pytest.mark.parametrize("within_us", [0, 1, 5, 20])
def test_all_inputs_at_once(bench: Bench, within_us: int):
    start_us = bench.board.now_us + 10_000
    random_order = random.Random(within_us).sample(list(INPUTS), len(INPUTS))
    for repeat in range(10):
        at_us = start_us + repeat * 100_000
        script = [(at_us + n * within_us // len(INPUTS), c, 1 - repeat % 2) for n, c in enumerate(random_order)]
        play(bench, script)
    bench.run_until(lambda: is_taken(bench, 10 * len(INPUTS)))
    assert bench.lost == 0
    for repeat in range(10):
        burst = range(repeat * len(INPUTS), (repeat + 1) * len(INPUTS))
        assert sorted(bench.edges[n] for n in burst) == [(channel, 1 - repeat % 2) for channel in INPUTS]
        ticks = [bench.ticks[n].tick for n in burst]
        assert max(ticks) - min(ticks) <= within_us + 3 * STAMP_LATENCY_US


def test_ten_inputs_at_a_kilohertz_for_a_second(bench: Bench):
    """Far more than the line carries: every edge is delivered, or counted as lost, and there is no third way."""
    start_us = bench.board.now_us + 10_000
    channels = INPUTS[:10]
    play(bench, [(start_us + n * 500 + c * 7, c, 1 - n % 2) for n in range(2000) for c in channels])
    bench.run(start_us + 2 * SECOND_US)
    assert len(bench.edges) + bench.lost == 20_000
    assert len(bench.edges) > 1_000
    assert bench.session.counters.board_lost == bench.lost
    assert bench.session.counters.bad_frames == 0
    assert bench.board.resets == 0
    assert bench.session.counters.boots == 1
    # Each channel's last level is known whatever was lost.
    assert bench.of(Levels)[-1].levels == tuple((channel, 0) for channel in range(CHANNELS))


def test_as_much_as_the_line_carries_loses_nothing(bench: Bench):
    start_us = bench.board.now_us + 10_000
    expected = play(bench, [(start_us + n * 1000, n % 10, 1 - n // 10 % 2) for n in range(5000)])
    bench.run_until(lambda: is_taken(bench, 5000))
    assert bench.edges == expected
    assert bench.lost == 0


# ------------------------------------------------------------------ resets


def test_reset_in_the_middle_of_a_frame(bench: Bench):
    expected = play(bench, passages(bench, 4))
    bench.run_until(lambda: is_taken(bench, len(expected)))
    start_us = bench.board.now_us
    play(bench, [(start_us + 1000 + n * 100, n % 12, 1) for n in range(8)])
    bench.run(start_us + 4000)
    before = len(bench.edges)
    assert before == len(expected) + 1, "the first edge has gone alone, the frame of the others has not ended yet"
    bench.board.tell("reset")
    bench.run_for(SECOND_US)
    assert bench.session.state is LinkState.UP
    assert bench.hellos[-1].reset_cause == CAUSE_RESET_LINE
    assert bench.hellos[-1].levels.mask == 0xFF
    assert bench.session.counters.boots == 2
    assert len(bench.edges) == before, "nothing of the broken frame counts"
    play(bench, [(bench.board.now_us + 1000, 2, 0)])
    bench.run_until(lambda: is_taken(bench, before + 1))
    assert bench.edges[-1] == (2, 0)
    assert bench.of(Edge)[-1].identity == EdgeId(bench.hellos[-1].boot_id, 0)


def test_a_loop_that_hangs_is_reset_by_the_watchdog_once(bench: Bench):
    play(bench, [(bench.board.now_us + 1000, 5, 1)])
    bench.run_for(100_000)
    bench.board.tell("hang")
    hung_us = bench.board.now_us
    bench.run_until(lambda: len(bench.hellos) > 1, within_us=SECOND_US)
    assert bench.board.now_us - hung_us < 700_000
    assert bench.hellos[-1].reset_cause == CAUSE_WATCHDOG
    assert bench.hellos[-1].levels.mask == 1 << 5
    bench.run_for(10 * SECOND_US)
    assert bench.board.resets == 1
    assert bench.session.state is LinkState.UP


def test_behind_an_old_boot_loader_the_watchdog_never_resets_the_chip(bench: Bench):
    """That loader runs with the watchdog still on after a reset by it, for ever: so there must be no reset."""
    bench.board.tell("flash 7800 0c9434bc", "reset")
    bench.run_for(SECOND_US)
    bench.board.tell("hang")
    hung_us, resets, boots = bench.board.now_us, bench.board.resets, len(bench.hellos)
    bench.run_until(lambda: len(bench.hellos) > boots, within_us=SECOND_US)
    assert bench.board.now_us - hung_us < 700_000
    assert bench.hellos[-1].reset_cause == CAUSE_WATCHDOG
    assert bench.hellos[-1].boot_id != bench.hellos[0].boot_id
    expected = play(bench, passages(bench, 12))
    bench.run_until(lambda: is_taken(bench, len(expected)))
    assert bench.edges == expected
    assert bench.board.resets == resets


# ------------------------------------------------------------------ the line


def test_garbage_from_the_host_does_nothing(bench: Bench):
    """FR-063."""
    noise = random.Random(5)
    expected = play(bench, passages(bench, 100))
    for _ in range(100):
        bench.board.hear(b"AT+GCAP\r\n" + noise.randbytes(64))
        bench.run_for(40_000)
    bench.run_until(lambda: is_taken(bench, len(expected)))
    assert bench.edges == expected
    assert bench.lost == 0
    assert bench.board.resets == 0
    assert bench.session.counters.board_bad_frames > 20


@pytest.mark.parametrize("seed", range(3))
def test_bytes_lost_both_ways(bench: Bench, seed: int):
    chance = random.Random(seed)

    def losing(data: bytes) -> bytes:
        return bytes(byte for byte in data if chance.random() > 0.01)

    bench.to_host = bench.to_board = losing
    expected = play(bench, passages(bench, 200, every_us=60_000, dwell_us=4_000))
    bench.run_until(lambda: is_taken(bench, len(expected)))
    assert bench.edges == expected
    assert bench.lost == 0
    assert bench.session.counters.bad_frames > 5
    assert bench.session.counters.board_resent > 5


def test_a_cable_pulled_and_plugged_again(bench: Bench):
    expected = play(bench, passages(bench, 60, every_us=100_000))
    for _ in range(3):
        bench.run_for(SECOND_US)
        bench.unplug("pulled")
        bench.run_for(SECOND_US // 2)
        bench.plug()
    bench.run_until(lambda: is_taken(bench, len(expected)))
    assert bench.edges == expected
    assert len(bench.of(SourceLost)) == 3
    assert len(bench.of(SourceBack)) == 4
    assert bench.session.counters.boots == 1


@pytest.mark.parametrize("passage_count", [60, 200])
def test_a_host_that_stalls_gets_what_the_ring_holds_and_the_count_of_the_rest(bench: Bench, passage_count: int):
    script = passages(bench, passage_count, every_us=50_000)
    expected = play(bench, script)
    bench.is_stalled = True
    bench.run_for(20 * SECOND_US)
    assert bench.edges == []
    bench.is_stalled = False
    bench.run_until(lambda: is_taken(bench, len(expected)))
    kept = min(len(expected), 128)
    assert bench.edges == expected[:kept]
    assert bench.lost == len(expected) - kept
    assert bench.session.counters.boots == 1


# ------------------------------------------------------------------ an input gone wild


@pytest.mark.parametrize("half_us", [10, 100])
def test_a_square_wave_on_one_input_leaves_the_others_alone(bench: Bench, half_us: int):
    """50 kHz and 5 kHz for five seconds, then peace."""
    wild, span_us = 7, 5 * SECOND_US
    start_us = bench.board.now_us + 1000
    bench.board.tell(f"wave {start_us} {wild} {half_us} {span_us // half_us}")
    script = [(at, c, level) for at, c, level in passages(bench, 48, every_us=100_000) if c != wild]
    expected = play(bench, script)
    before = len(bench.heartbeats)
    bench.run(start_us + span_us)
    assert len(bench.heartbeats) - before >= 15
    others = [edge for edge in bench.edges if edge[0] != wild]
    assert others == expected
    assert bench.board.resets == 0
    assert bench.session.counters.boots == 1
    assert len(bench.edges) - len(others) < 1000
    # Muted at almost every moment, and said so.
    muted = [heartbeat.standing.muted for heartbeat in bench.heartbeats[before:] if heartbeat.standing]
    assert set(muted) <= {0, 1 << wild}
    assert muted.count(1 << wild) >= len(muted) - 2
    assert list(bench.session.outages) == [wild]
    # Within two seconds of peace it counts again.
    bench.run_for(2 * SECOND_US)
    assert bench.session.outages == {}
    calm = len(bench.edges)
    play(bench, [(bench.board.now_us + 1000, wild, 1), (bench.board.now_us + 30_000, wild, 0)])
    bench.run_for(SECOND_US)
    assert bench.edges[calm:] == [(wild, 1), (wild, 0)]


# ------------------------------------------------------------------ wraps and drift


def symbol(programs: Programs, name: str) -> int:
    """The address of a variable in the chip's memory."""
    return int(make("address", f"OF={name}").split()[0], 16) & 0xFFFF


def test_the_clock_wraps(bench: Bench, programs: Programs):
    """After 71 minutes; here a second after the start."""
    bench.board.tell("reset")
    bench.run_for(1_000)
    ahead = (1 << 32) - 31 * 32_768
    bench.board.tell(f"poke {symbol(programs, 'clock_base'):x} {ahead.to_bytes(4, 'little').hex()}")
    bench.run_for(SECOND_US // 2)
    assert bench.hellos[-1].tick > ahead
    script = passages(bench, 300, every_us=7_000, dwell_us=3_000)
    expected = play(bench, script)
    bench.run_until(lambda: is_taken(bench, len(expected)))
    assert bench.edges == expected
    ticks = [bench.ticks[number].tick for number in range(len(expected))]
    assert ticks[0] > 1 << 31 > ticks[-1]
    widths = [(b - a) % (1 << 32) for a, b in zip(ticks[::2], ticks[1::2], strict=True)]
    assert all(abs(width - 3_000) <= STAMP_LATENCY_US for width in widths)
    for edge, (at_us, _, _) in zip(bench.of(Edge), sorted(script), strict=True):
        assert abs(edge.at_ns - bench.host_ns(at_us)) < 2_000_000


def test_the_clock_never_steps_back_where_its_timer_overflows(bench: Bench):
    """An edge in the very moment of an overflow finds it counted or pending, and is stamped right in both cases."""
    period_us, start_us = 32_768, bench.board.now_us + 10_000
    play(bench, [(start_us, 0, 1)])
    bench.run_until(lambda: is_taken(bench, 1))
    offset = bench.ticks[0].tick - start_us
    overflow_us = (bench.board.now_us + offset) // period_us * period_us + period_us - offset
    around = range(-30, 30)
    script = [(overflow_us + (n + 1) * period_us + shift, 0, n % 2) for n, shift in enumerate(around)]
    play(bench, script)
    bench.run_until(lambda: is_taken(bench, 1 + len(script)))
    for number, (at_us, _, _) in enumerate(script):
        assert abs(bench.ticks[number + 1].tick - at_us - offset) <= STAMP_LATENCY_US


def test_the_numbers_wrap(bench: Bench):
    count = 66_000
    start_us = bench.board.now_us + 10_000
    expected = play(bench, [(start_us + n * 800, n % 12, 1 - n // 12 % 2) for n in range(count)])
    bench.run_until(lambda: is_taken(bench, count), within_us=90 * SECOND_US)
    assert bench.edges == expected
    assert bench.lost == 0
    assert [edge.identity.sequence for edge in bench.of(Edge) if edge.identity] == list(range(count))


@pytest.mark.parametrize("drift_ppm", [-5_000, 5_000])
def test_a_resonator_half_a_percent_off(bench: Bench, drift_ppm: int):
    bench.unplug("to begin with another clock")
    bench.drift_ppm = drift_ppm
    bench.plug()
    bench.run_for(5 * SECOND_US)
    script = passages(bench, 200)
    expected = play(bench, script)
    bench.run_until(lambda: is_taken(bench, len(expected)))
    assert bench.edges == expected
    for edge, (at_us, _, _) in zip(bench.of(Edge), sorted(script), strict=True):
        assert abs(edge.at_ns - bench.host_ns(at_us)) < 2_000_000


# ------------------------------------------------------------------ what the host makes of it


D13_LAMP, D12_LAMP, POCKET, BUTTON = 17, 10, 13, 14
WANTED = BoardConfiguration(
    channels=CHANNELS,
    inputs=0x0FF | 1 << POCKET | 1 << BUTTON,
    pull_ups=1 << BUTTON,
    outputs=1 << D13_LAMP | 1 << D12_LAMP,
    rest=1 << D12_LAMP,
    mute_after=20,
    sensors=(
        ColourSensor(channel=POCKET, analog=4, classes=((60, 2), (150, 3), (255, 1), (0, 0)), after=1),
        ColourSensor(
            channel=0, analog=5, classes=((100, 4), (0, 0), (0, 0), (0, 0)), wants_lowest=True, active_level=0
        ),
    ),
)
BLACK, QUEEN, WHITE = 500, 2_000, 4_500
"""Millivolts that mean them at the first sensor, of 5,000."""


@pytest.fixture
def configured(bench: Bench) -> Bench:
    # The button is up: its line is high before the board knows that it is an input.
    play(bench, [(bench.board.now_us + 1_000, BUTTON, 1)])
    bench.run_for(10_000)
    bench.restart_host(WANTED)
    bench.run_for(SECOND_US // 2)
    return bench


def test_a_configuration_is_taken_up_and_echoed(configured: Bench):
    bench = configured
    standing = bench.heartbeats[-1].standing
    assert standing is not None
    assert standing.config == WANTED.checksum
    assert bench.edges == [], "the level of a new input is no edge"
    levels = dict(bench.of(Levels)[-1].levels)
    assert (levels[BUTTON], levels[D12_LAMP], levels[D13_LAMP]) == (1, 1, 0)
    assert (bench.board.drives("B", 5), bench.board.drives("B", 4), bench.board.drives("C", 2)) == (0, 1, None)
    expected = play(bench, [(bench.board.now_us + 1_000 * n, c, 1 - n % 2) for n, c in enumerate([13, 13, 9, 9, 0, 0])])
    bench.run_for(SECOND_US // 2)
    assert bench.edges == [edge for edge in expected if edge[0] != 9], "channel 9 is no input any more"


def test_lamps_are_lit_and_rest_when_the_host_is_gone(configured: Bench):
    bench = configured
    bench.session.show({D13_LAMP: 1, D12_LAMP: 0})
    bench.run_for(SECOND_US // 10)
    assert (bench.board.drives("B", 5), bench.board.drives("B", 4)) == (1, 0)
    bench.is_stalled = True
    bench.run_for(4 * SECOND_US)
    assert (bench.board.drives("B", 5), bench.board.drives("B", 4)) == (1, 0)
    bench.run_for(2 * SECOND_US)
    assert (bench.board.drives("B", 5), bench.board.drives("B", 4)) == (0, 1)
    bench.is_stalled = False
    bench.run_for(SECOND_US)
    assert (bench.board.drives("B", 5), bench.board.drives("B", 4)) == (1, 0)


def test_after_a_reset_it_is_configured_and_lit_again(configured: Bench):
    bench = configured
    bench.session.show({D13_LAMP: 1})
    bench.run_for(SECOND_US // 10)
    bench.board.tell("reset")
    bench.run_for(5_000)
    assert bench.board.drives("B", 5) is None
    bench.run_for(SECOND_US)
    assert (bench.board.drives("B", 5), bench.board.drives("B", 4)) == (1, 1)
    assert bench.edges == []


def show(bench: Bench, *millivolts: int) -> None:
    """Let pieces pass the first sensor, a fifth of a second apart; around them it sees nothing but the dark chute."""
    start_us = bench.board.now_us + 10_000
    script: list[ScriptedEdge] = []
    for number, seen in enumerate(millivolts):
        at_us = start_us + number * 200_000
        bench.board.tell(f"adc {at_us - 1_000} 4 {BLACK // 2}")
        bench.board.tell(f"adc {at_us + 5_000} 4 {seen}")
        bench.board.tell(f"adc {at_us + 15_000} 4 {BLACK // 2}")
        script += [(at_us, POCKET, 1), (at_us + 20_000, POCKET, 0)]
    play(bench, script)
    bench.run_for(SECOND_US)


def test_a_sensor_says_what_has_passed(configured: Bench):
    bench = configured
    show(bench, WHITE, BLACK, QUEEN, WHITE)
    seen = [value for value in bench.inputs if isinstance(value, Edge | ColourReading)]
    assert [reading.object for reading in bench.of(ColourReading)] == ["white", "black", "queen", "white"]
    for number in range(4):
        kinds = [type(value) for value in seen[3 * number : 3 * number + 3]]
        assert kinds == [Edge, Edge, ColourReading]


def test_two_sensors_at_once(configured: Bench):
    """The second one is at a beam whose passages are low levels, and its lowest reading counts."""
    bench = configured
    at_us = bench.board.now_us + 10_000
    play(bench, [(at_us - 5_000, 0, 1), (at_us, POCKET, 1), (at_us, 0, 0)])
    bench.board.tell(f"adc {at_us - 1_000} 4 {WHITE}", f"adc {at_us - 1_000} 5 5000", f"adc {at_us + 8_000} 5 1000")
    play(bench, [(at_us + 6_000, 0, 1), (at_us + 20_000, POCKET, 0)])
    bench.run_for(SECOND_US // 2)
    assert [(reading.channel, reading.object) for reading in bench.of(ColourReading)] == [(POCKET, "white")]
    at_us = bench.board.now_us + 10_000
    play(bench, [(at_us, 0, 0), (at_us + 6_000, 0, 1)])
    bench.run_for(SECOND_US // 2)
    assert [(reading.channel, reading.object) for reading in bench.of(ColourReading)][1:] == [(0, "striker")]


def test_a_sensor_that_is_calibrated_tells_what_it_reads(configured: Bench):
    """Its only class stands for the reading itself; of 255 steps of 5 V, half are told."""
    bench = configured
    raw = ColourSensor(channel=POCKET, analog=4, classes=((255, READING),), after=1)
    bench.restart_host(replace(WANTED, sensors=(raw,)))
    bench.run_for(SECOND_US // 2)
    show(bench, WHITE, BLACK, QUEEN)
    assert [reading.reading for reading in bench.of(Brightness)] == pytest.approx([230, 25, 102], abs=2)
    assert bench.of(ColourReading) == []


def test_the_host_says_how_fast_is_too_fast(configured: Bench):
    bench = configured
    start_us = bench.board.now_us + 10_000
    bench.board.tell(f"wave {start_us} 3 400 2500", f"wave {start_us} 4 1600 620")
    bench.run_for(SECOND_US // 2)
    assert list(bench.session.outages) == [3]
