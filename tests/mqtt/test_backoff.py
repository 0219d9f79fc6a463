"""The waits between attempts: soon after an outage, seldom at a broker that throws us out."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.mqtt.backoff import STEADY_S, Backoff


def waits(count: int, *, reached: bool, held_s: float = 0.0, random: float = 0.5) -> list[float]:
    backoff = Backoff()
    return [backoff.next_s(reached=reached, held_s=held_s, random=random) for _ in range(count)]


def test_an_absent_broker_is_found_within_three_seconds_for_ever() -> None:
    assert waits(4, reached=False) == [0.5, 1, 2, 2]
    assert max(waits(5000, reached=False, random=1.0)) <= 2.5


def test_a_long_absence_does_not_make_the_first_hiccup_after_it_a_long_wait() -> None:
    backoff = Backoff()
    for _ in range(5000):
        backoff.next_s(reached=False, held_s=0.0, random=0.5)
    assert backoff.next_s(reached=True, held_s=5.0, random=0.5) == 0.5


def test_absences_in_between_do_not_hide_that_we_are_thrown_out_again_and_again() -> None:
    backoff, thrown_out = Backoff(), []
    for _ in range(4):
        thrown_out.append(backoff.next_s(reached=True, held_s=0.0, random=0.5))
        backoff.next_s(reached=False, held_s=0.0, random=0.5)
    assert thrown_out == [0.5, 1, 2, 4]


@given(st.floats(0, 120))
def test_a_broker_that_throws_us_out_sees_at_most_thirty_attempts_in_ten_minutes(held_s: float) -> None:
    elapsed, attempts = 0.0, 0
    for wait in waits(1000, reached=True, held_s=held_s, random=0.0):
        attempts += 1
        elapsed += wait + held_s
        if elapsed > 600:
            break
    assert attempts <= 30


@given(st.randoms(use_true_random=False))
def test_two_programs_with_one_client_id_come_as_seldom(chance: Random) -> None:
    backoffs, due = (Backoff(), Backoff()), [0.0, 0.3]
    attempts: tuple[list[float], list[float]] = ([], [])
    now = 0.0
    while now < 3_600:
        now = min(due)
        mine = due.index(now)
        other = 1 - mine
        attempts[mine].append(now)
        due[mine] = math.inf
        if due[other] == math.inf:
            held_s = now - attempts[other][-1]
            due[other] = now + backoffs[other].next_s(reached=True, held_s=held_s, random=chance.random())
    for times in attempts:
        assert all(later - earlier > 600 for earlier, later in zip(times, times[30:], strict=False))


def test_a_connection_that_held_ends_the_growth() -> None:
    backoff = Backoff()
    for _ in range(8):
        backoff.next_s(reached=True, held_s=0.05, random=0.5)
    assert backoff.next_s(reached=True, held_s=STEADY_S, random=0.5) == 0.5
    assert backoff.next_s(reached=True, held_s=0.05, random=0.5) == pytest.approx(1, rel=0.01)


@pytest.mark.parametrize(("every_s", "times"), [(30, 100), (15, 6)])
def test_a_broker_that_is_started_anew_again_and_again_has_us_back_within_three_seconds(
    every_s: float, times: int
) -> None:
    backoff, wait = Backoff(), 0.0
    for _ in range(times):
        wait = backoff.next_s(reached=True, held_s=every_s - wait, random=1.0)
        assert wait < 3


def test_many_tables_do_not_come_back_at_the_same_moment() -> None:
    assert (waits(1, reached=False, random=0.0)[0], waits(1, reached=False, random=1.0)[0]) == (0.375, 0.625)
