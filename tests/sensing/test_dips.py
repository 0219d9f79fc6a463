"""Supply dips: all serviceable beams of a source, three at least, changing within 2 ms of each other."""

from dataclasses import replace

import pytest

from appliance.events import Edge, Levels
from appliance.sensing.bank import StrikeSeen, StrikeSensor, Uncounted
from appliance.sensing.debounce import STRIKE_SENSOR
from tests.sensing.lines import MS, Lines, pit, pocket

FOUR = tuple(pocket(name, channel) for channel, name in enumerate(("ne", "nw", "se", "sw")))


def reasons(lines):
    return {each.reason for each in lines.final()}


def test_all_at_once_is_no_passage():
    lines = Lines(*FOUR)
    lines.pulses(*((each.id, 1000 + 0.5 * n, 30) for n, each in enumerate(FOUR)))
    assert reasons(lines) == {Uncounted.DIP}
    assert all(each.reason is not None for each in lines.signals), "nothing was shown, not even for a moment"
    assert [lines.bank.lines[each.id].debouncer.counters.uncounted for each in FOUR] == [1, 1, 1, 1]


@pytest.mark.parametrize(("last_ms", "counted"), [(2, 0), (2.001, 4)])
def test_within_2_ms(last_ms, counted):
    lines = Lines(*FOUR)
    starts = (0, 0.5, 1, last_ms)
    widths = (30, 33, 36, 39)
    lines.pulses(*((each.id, 1000 + starts[n], widths[n]) for n, each in enumerate(FOUR)))
    assert len(lines.counted()) == counted


def test_one_beam_that_stays_intact_shows_that_it_is_none():
    lines = Lines(*FOUR)
    lines.pulses(("ne", 1000, 30), ("nw", 1000, 30), ("se", 1000, 30))
    assert len(lines.counted()) == 3


@pytest.mark.parametrize(
    ("pulses", "doubts"),
    [
        ([("north", 1000, 30), ("south", 1002, 50)], {"north": "unclear", "south": "unclear"}),
        ([("north", 1000, 30), ("south", 1002.001, 30)], {"north": None, "south": None}),
        ([("north", 1000, 200), ("south", 1100, 30)], {"north": None, "south": "unclear"}),
        ([("north", 1000, 200), ("south", 1180, 30)], {"north": None, "south": "unclear"}),
        ([("north", 1000, 30), ("south", 1100, 30)], {"north": None, "south": None}),
    ],
    ids=["at once", "not at once", "while the other is broken", "until it is clear", "apart"],
)
def test_two_beams_are_too_few_to_tell_and_the_table_asks(pulses, doubts):
    """A hand in one pit is no witness; while it is there, nothing falls into the other."""
    lines = Lines(pit("north", 0), pit("south", 1))
    lines.pulses(*pulses)
    assert {each.beam.id: each.doubt for each in lines.final()} == doubts


@pytest.mark.parametrize("told_ms", [(), (4900,), (5050, 5200)])
def test_a_beam_out_of_service_is_no_witness_and_no_part_of_a_dip_whenever_time_is_told(told_ms):
    lines = Lines(pit("north", 0), pit("south", 1))
    lines.edge("south", True, 1)
    for at_ms in told_ms:
        lines.time(at_ms)
    lines.pulses(("north", 5500, 30))
    assert [each.doubt for each in lines.final()] == [None]


def test_a_break_that_a_heartbeat_tells_of_begins_anew():
    lines = Lines(pit("north", 0), pit("south", 1))
    lines.pulses(("north", 1000, 30), ("south", 1000, 30))
    lines.signals += lines.bank.feed(Levels("board", ((0, 1), (1, 0)), 5000 * MS))
    lines.edge("north", False, 5030)
    assert [each.doubt for each in lines.final()] == ["unclear", "unclear", None]


def test_a_beam_that_a_lamp_breaks_for_a_moment_bears_witness():
    lines = Lines(pit("north", 0), pit("south", 1))
    lines.pulses(("north", 1000, 30), ("south", 1001, 0.5))
    assert [each.doubt for each in lines.final()] == [None]


def test_three_beams_side_by_side_are_no_dip_whether_they_are_one_group_or_not():
    beams = [replace(pocket("a", 0, exclusive="x"), place="ne"), replace(pocket("b", 1, exclusive="x"), place="ne")]
    lines = Lines(*beams, replace(pocket("c", 2), place="ne"))
    lines.pulses(("a", 1000, 30), ("b", 1000.5, 30), ("c", 1001, 30))
    assert lines.counted() == ["a", "c"]


def test_two_beams_are_asked_about_where_no_other_could_tell():
    lines = Lines(*FOUR, dark=("sw",))
    lines.edge("se", True, 500)
    lines.pulses(("ne", 1000, 30), ("nw", 1000, 30))
    assert [each.doubt for each in lines.final()] == ["unclear", "unclear"]


def test_two_crossed_beams_that_see_one_object_at_once_are_no_dip():
    beams = [replace(pocket(name, channel, exclusive="ne"), place="ne") for channel, name in enumerate("ab")]
    lines = Lines(*beams)
    lines.pulses(("a", 1000, 30), ("b", 1000, 30))
    assert [each.doubt for each in lines.final()] == [None]


def test_a_beam_out_of_service_has_no_say():
    lines = Lines(*FOUR, dark=("sw",))
    lines.pulses(("ne", 1000, 30), ("nw", 1000, 30), ("se", 1000, 30))
    assert lines.counted() == []


def test_beams_at_one_place_may_see_one_object_at_once():
    beams = [replace(pocket(name, channel, exclusive="ne"), place="ne") for channel, name in enumerate("abc")]
    lines = Lines(*beams)
    lines.pulses(("a", 1000, 30), ("b", 1000, 30), ("c", 1000, 30))
    assert lines.counted() == ["a"]


def test_beams_of_another_source_have_no_say():
    lines = Lines(*FOUR[:3], pocket("sw", 0, source="other"))
    lines.pulses(("ne", 1000, 30), ("nw", 1000, 30), ("se", 1000, 30))
    assert lines.counted() == []


def test_a_disc_that_is_in_a_beam_when_the_supply_dips_counts():
    lines = Lines(*FOUR)
    lines.pulses(("sw", 990, 60), *((each.id, 1000, 20) for each in FOUR[:3]))
    assert lines.counted() == ["sw"]


def test_a_disc_just_before_a_dip_stays():
    lines = Lines(*FOUR)
    lines.pulses(("sw", 900, 30), *((each.id, 1000 + 40 * n, 20) for n in (0,) for each in FOUR))
    lines.pulses(("sw", 1085, 20))
    assert lines.counted() == ["sw"] * 2


def test_a_dip_of_which_all_recover_at_once_takes_back_what_it_showed():
    lines = Lines(*FOUR)
    lines.pulses(*((each.id, 1000 + 20 * n, 100 - 20 * n + 0.5 * n) for n, each in enumerate(FOUR)))
    assert lines.counted() == []
    assert any(each.reason is None for each in lines.signals), "they were shown as they recovered"


def test_a_lamp_that_makes_all_of_them_flicker_together_brings_nothing():
    lines = Lines(*FOUR)
    lines.pulses(*((each.id, 1000 + 10 * n, 5) for n in range(1_000) for each in FOUR))
    assert lines.counted() == []


SPIKES = [(each.id, 1000 + 10 * n, 1) for n in range(40) for each in FOUR]
"""A lamp at 100 Hz in all four, for 1 ms each time: too short to be noise."""


@pytest.mark.parametrize("phase_ms", [0, 0.3, 0.9, 1, 1.5, 2.5, 5, 8.5, 9.5])
@pytest.mark.parametrize("width_ms", [29, 30, 30.5, 33])
def test_a_disc_counts_while_a_lamp_flickers_in_all_of_them(phase_ms, width_ms):
    lines = Lines(*FOUR)
    start = 1200 + phase_ms
    others = [spike for spike in SPIKES if spike[0] != "sw"]
    # What hides behind the disc is not seen in its own beam.
    own = [s for s in SPIKES if s[0] == "sw" and (s[1] + 1 < start or s[1] > start + width_ms)]
    lines.pulses(("sw", start, width_ms), *others, *own)
    assert lines.counted() == ["sw"]
    (only,) = [each for each in lines.final() if each.reason is None]
    assert only.doubt is None


@pytest.mark.parametrize(("width_ms", "counted"), [(1.5, []), (4.9, []), (5, ["sw"])])
def test_what_hardly_outlasts_a_spike_in_the_others_is_the_same_dip(width_ms, counted):
    lines = Lines(*FOUR)
    lines.pulses(("sw", 1000, width_ms), *((each.id, 1000.5, 1.2) for each in FOUR[:3]))
    assert lines.counted() == counted


def test_a_dip_in_which_some_recover_at_once_is_one_all_the_same():
    lines = Lines(*FOUR, pocket("fifth", 4))
    lines.pulses(("ne", 1000, 1.2), *((name, 1000, 30) for name in ("nw", "se", "sw", "fifth")))
    assert lines.counted() == []


def test_a_strike_is_not_felt_by_a_dip():
    sensor = StrikeSensor("strike", "board", 4, None, 1, STRIKE_SENSOR)
    lines = Lines(*FOUR, sensor)
    lines.pulses(*((name, 1000, 10) for name in (*(each.id for each in FOUR), "strike")))
    lines.pulses(("strike", 3000, 10))
    assert lines.told(StrikeSeen) == [StrikeSeen(sensor, 3000 * MS)]


def test_what_goes_on_in_a_dip_keeps_no_stroke_open():
    lines = Lines(*FOUR)
    for each in FOUR:
        lines.bank.feed(Edge("board", each.channel, 1, 1000 * MS))
    assert lines.bank.breaking_since_ns() is None
