"""The simulated clock moves only when it is moved, and never back."""

from sim.clock import SimClock


def test_time_stands_still_until_it_is_moved_on():
    clock = SimClock()
    start_us, wall_ns = clock.now_us(), clock.wall_ns()
    assert (clock.now_us(), clock.wall_ns()) == (start_us, wall_ns)
    clock.advance_to_us(start_us + 250_000)
    assert clock.now_us() == start_us + 250_000
    assert clock.wall_ns() - wall_ns == 250_000_000
    assert clock.monotonic_ns() == clock.now_us() * 1_000


def test_time_does_not_go_back():
    clock = SimClock()
    clock.advance_to_us(9_000_000)
    clock.advance_to_us(8_000_000)
    assert clock.now_us() == 9_000_000
