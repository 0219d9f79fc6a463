"""Beams of one group see the same objects: what they tell is one passage, as narrow as all of them together."""

from appliance.events import ColourReading
from appliance.sensing.bank import ColourSeen, InputNoisy, Uncounted
from tests.sensing.lines import MS, Lines, pit, pocket

A = pocket("a", 0, exclusive="ne")
B = pocket("b", 1, exclusive="ne")
ALONE = pocket("c", 2)
BALLS = pit("pit", 0, exclusive="south")
MAGNET = pocket("magnet", 1, passes=("cue",), exclusive="south", settings=BALLS.settings)


def test_crossed_beams_see_one_disc():
    lines = Lines(A, B)
    lines.pulses(("a", 1000, 30), ("b", 1005, 35))
    (only,) = lines.final()
    assert (only.beam, only.passage.started_ns, only.passage.ended_ns) == (A, 1000 * MS, 1040 * MS)


def test_a_disc_that_passes_beside_one_beam_is_seen_by_the_other():
    lines = Lines(A, B)
    lines.pulses(("b", 1000, 30), ("a", 3000, 30))
    assert lines.counted() == ["b", "a"]


def test_less_than_40_ms_apart_is_one_and_40_ms_are_two():
    lines = Lines(A, B)
    lines.pulses(("a", 1000, 30), ("b", 1069.999, 30), ("a", 5000, 30), ("b", 5070, 30))
    assert [each.passage.started_ns for each in lines.final()] == [1000 * MS, 5000 * MS, 5070 * MS]


def test_beams_of_no_group_and_of_another_one_are_two():
    lines = Lines(A, ALONE, pocket("d", 3, exclusive="sw"))
    lines.pulses(("a", 1000, 30), ("c", 1010, 30), ("d", 1020, 30))
    assert sorted(lines.counted()) == ["a", "c", "d"]


def test_two_followers_are_two_though_one_beam_runs_them_together():
    lines = Lines(A, B)
    # 75 ms clear at one beam, 65 ms at the other.
    lines.pulses(("a", 1000, 30), ("b", 1000, 35), ("a", 1105, 30), ("b", 1100, 35))
    assert lines.counted() == ["a", "a"]


def test_the_beam_that_is_least_in_doubt_decides():
    lines = Lines(A, B)
    lines.pulses(("a", 1000, 120), ("b", 1010, 30))
    assert [each.doubt for each in lines.signals] == [None, None], "a disc that tumbles past one of them for long"
    assert lines.counted() == ["b"]


def test_what_all_of_them_doubt_is_in_doubt():
    lines = Lines(A, B)
    lines.pulses(("a", 1000, 120), ("b", 1010, 95))
    assert [each.doubt for each in lines.final()] == ["possibly_two"]


def test_a_magnet_sensor_tells_the_cue_ball():
    lines = Lines(BALLS, MAGNET)
    lines.pulses(("pit", 1000, 50), ("magnet", 1060, 20), ("pit", 3000, 50))
    first, second = lines.final()
    assert (first.beam, first.candidates) == (BALLS, ("cue",))
    assert second.candidates == ("ball", "cue")


def test_the_narrower_beam_may_be_the_first():
    lines = Lines(BALLS, MAGNET)
    lines.pulses(("magnet", 1000, 20), ("pit", 1030, 50))
    (only,) = lines.final()
    assert (only.beam, only.candidates) == (MAGNET, ("cue",))


def test_beams_that_have_nothing_in_common_leave_what_the_first_can_pass():
    other = pocket("b", 1, passes=("striker",), exclusive="ne")
    lines = Lines(pocket("a", 0, passes=("white",), exclusive="ne"), other)
    lines.pulses(("a", 1000, 30), ("b", 1005, 30))
    assert [each.candidates for each in lines.final()] == [("white",)]


def test_a_colour_beside_any_of_them_names_the_object_as_it_was_told():
    lines = Lines(A, B)
    lines.pulses(("a", 1000, 30), ("b", 1005, 35))
    assert lines.bank.feed(ColourReading("board", 1, "white", 1_100 * MS)) == [ColourSeen(A, 1000 * MS, "white")]


def test_a_hand_at_one_of_them_is_a_hand_at_all():
    lines = Lines(A, B)
    lines.pulses(("b", 900, 30), ("a", 1000, 600), ("b", 1200, 50), ("b", 1700, 40))
    assert lines.counted() == []
    assert {each.reason for each in lines.final()} == {Uncounted.HAND}


def test_a_noisy_beam_takes_nothing_from_the_good_one_across():
    lines = Lines(A, B)
    storm = [("a", 1000 + 75 * n, 20) for n in range(60)]
    lines.pulses(*storm, ("b", 1000 + 75 * 50, 30))
    assert len(lines.told(InputNoisy)) == 1
    assert lines.counted() == ["b"]
