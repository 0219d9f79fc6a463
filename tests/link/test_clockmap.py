"""The clock mapping: right within 2 ms in spite of drift and late frames, never backwards, pulses stay true."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.events import Edge
from appliance.link.clockmap import ClockMap
from sim.mcu import Mcu
from sim.wire import Faults
from tests.link.bench import BOOT_ID, CHANNELS, SECOND_US, Bench

MS = 1_000_000
SECOND = 1000 * MS
WRAP = 1 << 32


class Board:
    """A clock off by `drift_ppm`, and messages that take their time."""

    def __init__(self, drift_ppm: int, *, seed: int = 1, hz: int = 1_000_000, first_tick: int = 12345) -> None:
        self.random = Random(seed)
        self.rate = hz * (1 + drift_ppm / 1e6)
        self.first_tick = first_tick
        self.clock = ClockMap(hz)
        self.began_ns = 5000 * SECOND

    def tick(self, at_ns: int) -> int:
        return self.first_tick + round((at_ns - self.began_ns) / 1e9 * self.rate)

    def message(self, built_ns: int, *, late_ns: int = 0, echoes: bool = False) -> int:
        """Let a message built at `built_ns` arrive; return the error of the mapping for its tick, in ns."""
        # One way out 0.7 to 1.2 ms, one way back 1.5 to 2.5 ms: frames at 115200 baud and a USB adapter.
        sent_ns = built_ns - self.random.randint(700_000, 1_200_000)
        received_ns = built_ns + self.random.randint(1_500_000, 2_500_000) + late_ns
        tick = self.clock.extend(self.tick(built_ns) % WRAP, received_ns)
        self.clock.sample(tick, received_ns, sent_ns if echoes else None)
        return self.clock.to_ns(tick) - built_ns


def run(board: Board, seconds: int, late: dict[int, int] | None = None, *, from_s: int = 0) -> list[tuple[float, int]]:
    """Four messages a second, every fourth an echo; `late` says how late those of a second are at most.

    Returns (second, error in ns) of each.
    """
    errors = []
    for number in range(from_s * 4, (from_s + seconds) * 4):
        most_ns = (late or {}).get(number // 4, 0)
        late_ns = board.random.randint(0, most_ns)
        built_ns = board.began_ns + number * 250 * MS
        errors.append((number / 4, board.message(built_ns, late_ns=late_ns, echoes=number % 4 == 0)))
    return errors


@pytest.mark.parametrize("hz", [1_000_000, 2_000_000, 250_000, 62_500])
@pytest.mark.parametrize("drift_ppm", [-5000, -300, 0, 40, 5000])
def test_within_two_milliseconds_from_the_second_second_on(drift_ppm: int, hz: int):
    board = Board(drift_ppm, hz=hz)
    errors = run(board, 300)
    assert max(abs(error) for second, error in errors if second >= 2) < 2 * MS
    assert abs(board.clock.skew_ppb + drift_ppm * 1000) < 150_000


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("drift_ppm", [-5000, 5000])
def test_late_messages_move_nothing(drift_ppm: int, seed: int):
    """A tenth of the seconds with up to 400 ms of delay, and once ten seconds in which everything is late."""
    board = Board(drift_ppm, seed=seed)
    late = {second: 400 * MS for second in range(5, 200) if board.random.random() < 0.1}
    late |= dict.fromkeys(range(100, 110), 800 * MS)
    errors = run(board, 200, late)
    calm = [abs(error) for second, error in errors if second >= 2 and not 100 <= second < 113]
    assert max(calm) < 2 * MS
    assert max(abs(error) for second, error in errors if second >= 100) < 6 * MS


def test_a_stalled_host_reads_everything_at_once_and_is_not_fooled():
    """Ten seconds of messages read in one go: the first of them ten seconds late."""
    board = Board(3000)
    run(board, 60)
    built = [board.began_ns + 60 * SECOND + number * 250 * MS for number in range(40)]
    read_ns = built[-1] + 2 * MS
    errors = [board.message(at_ns, late_ns=read_ns - at_ns) for at_ns in built]
    assert max(abs(error) for error in errors) < 6 * MS
    after = run(board, 30, from_s=71)
    assert max(abs(error) for second, error in after if second >= 73) < 2 * MS


def test_a_wire_that_turns_slow_soon_after_the_beginning_is_no_drift():
    """Half a second of punctual messages and then late ones look like a rate that no board has."""
    board = Board(0)
    late_ms = (0, 0, 0, 19, 20, 18, 19, 20, 18, 19, 0)
    errors = [
        board.message(board.began_ns + number * 250 * MS, late_ns=late * MS) for number, late in enumerate(late_ms)
    ]
    assert max(abs(error) for error in errors[2:]) < 4 * MS


def test_a_pulse_across_a_step_back_keeps_its_length():
    """Everything is 20 ms late until, in the middle of a pulse of 16 ms, an echo tells how late it all was."""
    board = Board(0)
    for number in range(4):
        board.message(board.began_ns + number * 250 * MS, late_ns=20 * MS)
    begins_ns = board.began_ns + 990 * MS
    began_ns = begins_ns + board.message(begins_ns, late_ns=20 * MS)
    board.message(begins_ns + 8 * MS, late_ns=15 * MS, echoes=True)
    ended_ns = begins_ns + 16 * MS + board.message(begins_ns + 16 * MS, late_ns=20 * MS)
    assert 10 * MS < ended_ns - began_ns <= 16 * MS


def test_a_pulse_keeps_its_length_where_a_slow_wire_lets_both_its_ends_go_at_once():
    """Everything is 20 ms late for so long that it looks like drift; then the wire is well, and what waited comes."""
    board = Board(0)
    for number in range(60):
        board.message(board.began_ns + number * 250 * MS, late_ns=0 if number < 4 else 20 * MS, echoes=number % 4 == 0)
    begins_ns = board.began_ns + 15_100 * MS
    began_ns = begins_ns + board.message(begins_ns, late_ns=20 * MS)
    ended_ns = begins_ns + 16 * MS + board.message(begins_ns + 16 * MS, late_ns=4 * MS)
    assert 12 * MS < ended_ns - began_ns < 20 * MS


def test_a_first_message_that_is_late_is_put_right_by_the_next():
    board = Board(0)
    board.message(board.began_ns, late_ns=300 * MS)
    assert abs(board.message(board.began_ns + 400 * MS)) < 3 * MS


def test_the_rate_may_change_slowly():
    """A resonator that warms by 30 °C in ten minutes: 900 ppm in all."""
    board = Board(0)
    errors = []
    tick, at_ns = 12345.0, board.began_ns
    board.tick = lambda _at_ns: round(tick)  # type: ignore[method-assign]
    for number in range(2400):
        errors.append(board.message(at_ns, echoes=number % 4 == 0))
        at_ns += 250 * MS
        tick += 250_000 * (1 + min(number / 2400, 1.0) * 900e-6)
    assert max(abs(error) for error in errors[8:]) < 2 * MS


@pytest.mark.parametrize("suspended_ms", [20, 1_000, 60_000, 100_000_000])
def test_a_host_clock_that_stood_still_while_the_board_ran(suspended_ms: int):
    """After a suspend the board is ahead of what the host expects; nothing may land in the future."""
    board = Board(100)
    run(board, 30)
    board.began_ns -= suspended_ms * MS
    for number in range(200):
        built_ns = board.began_ns + 30 * SECOND + suspended_ms * MS + number * 250 * MS
        error = board.message(built_ns, echoes=number % 4 == 0)
        assert error <= 2_500_000
        # What drift could explain is slewed, and looks like drift for half a minute.
        if number >= (20 if suspended_ms >= 1000 else 160):
            assert abs(error) < 3 * MS


def test_an_old_rate_is_forgotten():
    """An hour of one rate says nothing about the next minute."""
    board = Board(400)
    run(board, 3600)
    changed_ns = board.began_ns + 3600 * SECOND
    board.first_tick, board.began_ns = board.tick(changed_ns), changed_ns
    board.rate = 1_000_000 * (1 - 400e-6)
    errors = run(board, 120)
    assert max(abs(error) for second, error in errors if second >= 60) < 2 * MS
    assert abs(board.clock.skew_ppb - 400_000) < 100_000


def test_a_board_clock_that_stood_still_is_noticed_by_an_echo():
    board = Board(0)
    run(board, 30)
    board.began_ns += 20 * SECOND
    errors = run(board, 10, from_s=30)
    assert max(abs(error) for second, error in errors if second >= 32) < 2 * MS


@given(st.lists(st.tuples(st.integers(-2000, 400_000), st.integers(0, 900 * MS), st.booleans()), max_size=60))
def test_results_never_run_backwards_nor_far_ahead_of_the_message(steps: list[tuple[int, int, bool]]):
    clock = ClockMap(1_000_000, floor_ns=3)
    tick32, now_ns, last_ns = 1 << 31, 50 * SECOND, 3
    for ticks, passed_ns, echoes in steps:
        tick32, now_ns = (tick32 + ticks) % WRAP, now_ns + passed_ns
        tick = clock.extend(tick32, now_ns)
        clock.sample(tick, now_ns, now_ns - 5 * MS if echoes else None)
        mapped_ns = clock.to_ns(tick)
        assert last_ns <= mapped_ns <= now_ns + 100 * MS
        last_ns = mapped_ns


def test_a_new_boot_goes_on_where_the_last_one_stood():
    clock = ClockMap(1_000_000, floor_ns=77 * SECOND)
    tick = clock.extend(5, 70 * SECOND)
    clock.sample(tick, 70 * SECOND)
    assert clock.to_ns(tick) == 77 * SECOND


def test_ticks_wrap_between_messages_and_over_long_silences():
    clock = ClockMap(1_000_000)
    now_ns, true = 0, WRAP - 100
    begin = clock.extend(true % WRAP, now_ns)
    for passed_s in (0.0002, 1, 2000, 4000, 4294, 4295, 9000, 40_000, 100_000):
        true += round(passed_s * 1e6 * 1.005)
        now_ns += round(passed_s * 1e9)
        assert clock.extend(true % WRAP, now_ns) - begin == true - (WRAP - 100)


def test_a_tick_that_steps_back_a_little_is_no_wrap():
    clock = ClockMap(1_000_000)
    first = clock.extend(5_000_000, 0)
    assert clock.extend(5_000_000 - 1024, 1000) == first - 1024


def test_entries_lie_before_their_message():
    assert ClockMap.before(10_000, 9_000) == 9_000
    assert ClockMap.before(WRAP + 10, WRAP - 20) == WRAP - 20
    assert ClockMap.before(3 * WRAP + 10, 20) == 3 * WRAP + 10
    hour = 3_600_000_000
    assert ClockMap.before(5 * WRAP + 7, (5 * WRAP + 7 - hour) % WRAP) == 5 * WRAP + 7 - hour


@pytest.mark.parametrize("drift_ppm", [-5000, 5000])
def test_pulses_keep_their_length_and_edges_their_place_through_the_whole_link(drift_ppm: int):
    """Half a percent of drift, delays up to 30 ms: each edge within 2 ms, each pulse within 2 % of its length."""
    mcu = Mcu(CHANNELS, BOOT_ID, drift_ppm=drift_ppm, first_tick=WRAP - 20 * SECOND_US)
    bench = Bench(Faults(delay_us=2_000), mcu=mcu, seed=3).plug()
    random = Random(9)
    times_us, at_us = [], 10 * SECOND_US
    for _ in range(300):
        length_us = random.randint(10_000, 80_000)
        times_us += [at_us, at_us + length_us]
        at_us += length_us + random.randint(150_000, 400_000)
    for number, when_us in enumerate(times_us):
        bench.at(when_us, lambda v=1 - number % 2, t=when_us: mcu.drive(0, v, t))  # type: ignore[misc]
        if number % 40 == 0:
            bench.at(when_us, bench.wire.to_host.pause)
            bench.at(when_us + 700_000, bench.wire.to_host.resume)
    bench.run(at_us + SECOND_US)
    mapped = [edge.at_ns for edge in bench.of(Edge)]
    assert len(mapped) == len(times_us)
    worst = max(abs(ns - bench.host_ns(us)) for ns, us in zip(mapped, times_us, strict=True))
    assert worst < 2 * MS
    for index in range(0, len(mapped), 2):
        length_ns = (times_us[index + 1] - times_us[index]) * 1000
        assert abs(mapped[index + 1] - mapped[index] - length_ns) < 0.02 * length_ns
