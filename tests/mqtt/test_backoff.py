"""The waits between attempts: soon after an outage, seldom at a broker that throws us out."""

import pytest

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
        thrown_out.append(backoff.next_s(reached=True, held_s=1.0, random=0.5))
        backoff.next_s(reached=False, held_s=0.0, random=0.5)
    assert thrown_out == [0.5, 1, 2, 4]


@pytest.mark.parametrize("held_s", [0.0, 0.05, 20.0])
def test_a_broker_that_throws_us_out_sees_at_most_thirty_attempts_in_ten_minutes(held_s: float) -> None:
    elapsed, attempts = 0.0, 0
    for wait in waits(1000, reached=True, held_s=held_s, random=0.0):
        attempts += 1
        elapsed += wait + held_s
        if elapsed > 600:
            break
    assert attempts <= 30


def test_a_connection_that_held_ends_the_growth() -> None:
    backoff = Backoff()
    for _ in range(8):
        backoff.next_s(reached=True, held_s=0.05, random=0.5)
    assert backoff.next_s(reached=True, held_s=STEADY_S, random=0.5) == 0.5
    assert backoff.next_s(reached=True, held_s=0.05, random=0.5) == 1


def test_many_tables_do_not_come_back_at_the_same_moment() -> None:
    assert (waits(1, reached=False, random=0.0)[0], waits(1, reached=False, random=1.0)[0]) == (0.375, 0.625)
