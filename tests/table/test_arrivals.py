"""Carpetball with a beam across each throwing line: the ball crosses that of the end that it is thrown to."""

import pytest

from tests.support.session import Session


def table() -> Session:
    found = Session("carpetball", strike=True, quiet_s=10)
    found.do("line_up", north=5, south=5)
    return found


@pytest.mark.parametrize("after_s", [0.4, 1.3, 3.3, 4.4])
def test_the_ball_that_arrives_is_no_strike(after_s: float) -> None:
    played = table()
    played.strike(1, "north", across=True)
    played.strike(1 + after_s, "south", across=True)
    played.passes("ball", at=1 + after_s + 0.5, place="south")
    assert played.open_stroke["number"] == 1
    assert [each["object"] for each in played.open_stroke["fallen"]] == ["ball"]


def test_what_rolls_to_and_fro_over_the_line_as_it_arrives_is_none_either() -> None:
    played = table()
    played.strike(1, "north", across=True)
    for at in (3, 3.4, 4):
        played.strike(at, "south", across=True)
    assert played.open_stroke["number"] == 1


def test_who_has_the_ball_throws_it_back() -> None:
    played = table()
    played.strike(1, "north", across=True)
    played.strike(3, "south", across=True)
    played.strike(4.01, "south", across=True)
    assert played.open_stroke["number"] == 2
    assert played.turn == "south"


def test_a_ball_that_never_arrives_is_fetched_and_thrown_back() -> None:
    played = table()
    played.strike(1, "north", across=True)
    played.strike(6.01, "south", across=True)
    assert played.open_stroke["number"] == 2


def test_the_next_throw_s_ball_arrives_as_well() -> None:
    played = table()
    played.strike(1, "north", across=True)
    played.strike(3, "south", across=True)
    played.strike(9, "south", across=True)
    played.strike(11, "north", across=True)
    assert played.open_stroke["number"] == 2


def test_one_who_throws_twice_is_felt_at_the_same_end() -> None:
    played = table()
    played.strike(1, "north", across=True)
    played.strike(2.5, "north", across=True)
    assert played.open_stroke["number"] == 2


def test_after_a_reboot_a_strike_is_a_strike() -> None:
    played = table()
    played.strike(1, "north", across=True)
    played.reboot(2)
    played.strike(3, "south", across=True)
    assert played.open_stroke["number"] == 2


def test_a_sensor_that_feels_throws_alone_sees_no_arrivals() -> None:
    played = table()
    played.strike(1, "north")
    played.strike(2.5, "south")
    assert played.open_stroke["number"] == 2
    assert played.turn == "south"
