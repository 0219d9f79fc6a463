"""A beam that only some objects of its group can break tells by its silence what an object was not."""

from appliance.sensing.bank import Beam
from appliance.sensing.debounce import CARPETBALL_CUE
from tests.sensing.lines import Lines, pit, pocket

BALLS = pit("pit", 0, exclusive="south")
MAGNET = pocket("magnet", 1, passes=("cue",), exclusive="south", settings=CARPETBALL_CUE)


def candidates(lines: Lines) -> list[tuple[str, ...]]:
    return [each.candidates for each in lines.final()]


def test_what_the_magnet_sensor_did_not_feel_is_not_the_cue_ball() -> None:
    lines = Lines(BALLS, MAGNET)
    lines.pulses(("pit", 1000, 50))
    lines.time(1549)
    assert candidates(lines) == [("ball", "cue")]
    lines.time(1550)
    assert candidates(lines) == [("ball",)]


def test_a_ball_and_the_cue_ball_that_touch_are_told_apart() -> None:
    lines = Lines(BALLS, MAGNET)
    # 58 mm apart at 0.7 m/s; the magnet sensor lies 30 mm behind the beam.
    lines.pulses(("pit", 1000, 62), ("pit", 1084, 62), ("magnet", 1141, 34))
    lines.pulses(("pit", 5000, 62), ("magnet", 5057, 34), ("pit", 5084, 62))
    lines.time(9000)
    assert candidates(lines) == [("ball",), ("cue",), ("cue",), ("ball",)]


def test_a_slow_cue_ball_is_felt_for_long_and_is_no_hand() -> None:
    lines = Lines(BALLS, MAGNET)
    # 0.2 m/s, felt from 70 mm before the sensor to 100 mm behind it; a ball touches the cue ball from behind.
    lines.pulses(("magnet", 1000, 850), ("pit", 1135, 225), ("pit", 1430, 215))
    lines.time(4000)
    assert sorted(candidates(lines)) == [("ball",), ("cue",)]
    assert len(lines.counted()) == 2


def test_a_cue_ball_that_is_felt_in_pieces_is_one() -> None:
    lines = Lines(BALLS, MAGNET)
    lines.pulses(("pit", 1000, 60), ("magnet", 1020, 20), ("magnet", 1065, 40), ("pit", 1084, 60))
    lines.time(4000)
    assert candidates(lines) == [("cue",), ("ball",)]


def test_a_magnet_sensor_that_is_out_tells_nothing() -> None:
    lines = Lines(BALLS, MAGNET, dark=["magnet"])
    lines.pulses(("pit", 1000, 50))
    lines.time(2000)
    assert candidates(lines) == [("ball", "cue")]


def test_crossed_beams_miss_a_disc_without_saying_anything_of_it() -> None:
    one, other = pocket("a", 0, exclusive="ne"), pocket("b", 1, exclusive="ne")
    lines = Lines(one, other)
    lines.pulses(("a", 1000, 30))
    lines.time(2000)
    assert candidates(lines) == [one.passes]


def test_a_hand_stays_a_hand() -> None:
    lines = Lines(BALLS, MAGNET)
    lines.pulses(("pit", 1000, 700))
    lines.time(3000)
    assert lines.counted() == []


def test_the_group_knows_beams_of_other_sources_too() -> None:
    far = Beam("magnet", "other", 0, "south", ("cue",), 1, BALLS.settings, "south")
    lines = Lines(BALLS, far)
    lines.pulses(("pit", 1000, 50))
    lines.time(2000)
    assert candidates(lines) == [("ball",)]
