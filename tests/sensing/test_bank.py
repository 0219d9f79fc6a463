"""The bank: names, polarity, colours, presses, and what restarts and losses leave of it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.events import ColourReading, Edge, EdgesLost, Levels, SourceBack, SourceInput, SourceLost
from appliance.sensing.bank import (
    Beam,
    Button,
    ColourSeen,
    InputBlocked,
    InputWell,
    PassageSeen,
    Pressed,
    SensorBank,
    StrikeSeen,
    StrikeSensor,
    TableSignal,
)
from appliance.sensing.debounce import BUTTON, CARROM_POCKET, STRIKE_SENSOR, Condition, Passage, Pulses

MS = 1_000_000
SECOND = 1_000_000_000

NE = Beam("ne", "board", 0, "ne", ("white", "striker"), 1, CARROM_POCKET)
SINGLE_FILE = replace(CARROM_POCKET, min_dwell_ns=6 * MS, long_single_ns=None, long_single_percent=None)
SW = Beam("sw", "board", 1, "sw", ("white", "striker"), 0, CARROM_POCKET)
FAR = Beam("se", "other", 0, "se", ("white",), 1, CARROM_POCKET)
STRIKE = StrikeSensor("thump", "board", 2, "north", 1, STRIKE_SENSOR)
UNDO = Button("undo", "board", 8, "undo", (("player", 1),), 0, BUTTON)
ALL = (NE, SW, FAR, STRIKE, UNDO)
RESTING = ((0, 0), (1, 1), (2, 0), (8, 1))


def begun() -> SensorBank:
    bank = SensorBank(ALL)
    assert feed(bank, SourceBack("board", 7, 0), Levels("board", RESTING, 0)) == []
    assert feed(bank, SourceBack("other", 3, 0), Levels("other", ((0, 0),), 0)) == []
    return bank


def feed(bank: SensorBank, *items: SourceInput) -> list[TableSignal]:
    return [signal for item in items for signal in bank.feed(item)]


def pulse(source: str, channel: int, active_level: int, start_ms: int, end_ms: float) -> tuple[Edge, Edge]:
    return (
        Edge(source, channel, active_level, start_ms * MS),
        Edge(source, channel, 1 - active_level, round(end_ms * MS)),
    )


def test_each_input_has_its_own_polarity():
    bank = begun()
    high = feed(bank, *(edge for n in range(5) for edge in pulse("board", 0, 1, 1_000 * n + 1_000, 1_000 * n + 1_020)))
    low = feed(bank, *(edge for n in range(5) for edge in pulse("board", 1, 0, 1_000 * n + 6_000, 1_000 * n + 6_020)))
    assert high == [PassageSeen(NE, Passage((1_000 * n + 1_000) * MS, (1_000 * n + 1_020) * MS)) for n in range(5)]
    assert low == [PassageSeen(SW, Passage((1_000 * n + 6_000) * MS, (1_000 * n + 6_020) * MS)) for n in range(5)]


def test_channels_of_two_sources_are_two_channels():
    bank = begun()
    edges = [*pulse("board", 0, 1, 1_000, 1_020), *pulse("other", 0, 1, 1_005, 1_030)]
    assert feed(bank, *sorted(edges, key=lambda edge: edge.at_ns)) == [
        PassageSeen(NE, Passage(1_000 * MS, 1_020 * MS)),
        PassageSeen(FAR, Passage(1_005 * MS, 1_030 * MS)),
    ]


def test_a_beam_with_the_wrong_polarity_is_blocked_and_the_others_score():
    wrong = Beam("nw", "board", 0, "nw", ("white",), 0, CARROM_POCKET)
    bank = SensorBank([wrong, SW])
    assert feed(bank, Levels("board", ((0, 0), (1, 1)), 5)) == [InputBlocked(wrong, 5)]
    assert feed(bank, *pulse("board", 1, 0, 100, 120)) == [PassageSeen(SW, Passage(100 * MS, 120 * MS))]


def test_edges_of_unknown_channels_are_counted():
    bank = begun()
    assert feed(bank, *pulse("board", 5, 1, 100, 120), *pulse("nobody", 0, 1, 100, 120)) == []
    assert bank.unknown_channels == 4
    assert feed(bank, Levels("board", (*RESTING, (5, 1)), 1 * SECOND)) == []
    assert bank.unknown_channels == 4, "that a board has more channels than are in use is nothing strange"


def test_a_strike_is_told_once_with_its_end_of_the_table():
    bank = begun()
    first, second = pulse("board", 2, 1, 100, 105), pulse("board", 2, 1, 130, 135)
    assert feed(bank, *first) == [StrikeSeen(STRIKE, 100 * MS)]
    assert feed(bank, *second) == []
    assert feed(bank, *pulse("board", 2, 1, 1_500, 1_505)) == [StrikeSeen(STRIKE, 1_500 * MS)]


def test_a_press_is_told_once_however_the_button_chatters_when_let_go():
    bank = begun()
    assert feed(bank, *pulse("board", 8, 0, 100, 200)) == [Pressed(UNDO, 100 * MS)]
    chatter = [edge for n in range(6) for edge in pulse("board", 8, 0, 202 + 4 * n, 204 + 4 * n)]
    assert feed(bank, *chatter) == []
    assert feed(bank, *pulse("board", 8, 0, 300, 400)) == [Pressed(UNDO, 300 * MS)]


@pytest.mark.parametrize(
    ("down", "amid"),
    [(90, set()), (100, {("ne", 100 * MS)}), (150, {("ne", 100 * MS)}), (200, set())],
    ids=["before", "as it begins", "within", "as it ends"],
)
def test_a_press_tells_which_passage_was_going_on_as_the_button_went_down(down, amid):
    bank = begun()
    edges = [*pulse("board", 0, 1, 100, 200), *pulse("board", 8, 0, down, 260)]
    signals = feed(bank, *sorted(edges, key=lambda edge: edge.at_ns))
    assert [signal for signal in signals if isinstance(signal, Pressed)] == [
        Pressed(UNDO, down * MS, amid=frozenset(amid))
    ]


def test_a_press_tells_a_passage_that_another_one_of_its_beam_has_followed_since():
    bank = begun()
    edges = [*pulse("board", 0, 1, 100, 200), *pulse("board", 0, 1, 300, 320), *pulse("board", 8, 0, 150, 400)]
    signals = feed(bank, *sorted(edges, key=lambda edge: edge.at_ns))
    assert Pressed(UNDO, 150 * MS, amid=frozenset({("ne", 100 * MS)})) in signals


def test_a_press_tells_a_passage_as_it_was_told_where_another_beam_saw_it_first():
    bank = SensorBank([replace(NE, exclusive="ne"), replace(NE, id="ne-across", channel=3, exclusive="ne"), UNDO])
    feed(bank, Levels("board", ((0, 0), (3, 0), (8, 1)), 0))
    edges = [
        *pulse("board", 0, 1, 100, 130),
        *pulse("board", 3, 1, 110, 160),
        *pulse("board", 8, 0, 140, 260),
    ]
    signals = feed(bank, *sorted(edges, key=lambda edge: edge.at_ns))
    assert Pressed(UNDO, 140 * MS, amid=frozenset({("ne", 100 * MS)})) in signals


def test_a_stuck_button_is_a_fault_and_no_press():
    bank = begun()
    down, up = pulse("board", 8, 0, 1_000, 9_000)
    assert feed(bank, down, Levels("board", ((8, 0),), 7 * SECOND)) == [InputBlocked(UNDO, 1 * SECOND)]
    assert feed(bank, up) == []
    assert feed(bank, Levels("board", ((8, 1),), 11 * SECOND)) == [InputWell(UNDO, 10 * SECOND + 20 * MS)]


def test_a_heartbeat_lets_time_pass_for_levels_that_it_does_not_tell():
    bank = begun()
    feed(bank, Edge("board", 0, 1, 1 * SECOND))
    assert feed(bank, Levels("other", ((0, 0),), 9 * SECOND)) == [], "another source's clock says nothing"
    assert feed(bank, Levels("board", ((1, 1),), 6 * SECOND)) == [InputBlocked(NE, 1 * SECOND)]


# -- colours -----------------------------------------------------------------------------------------------


def test_a_colour_belongs_to_the_newest_passage():
    bank = begun()
    feed(bank, *pulse("board", 0, 1, 1_000, 1_020), *pulse("board", 0, 1, 1_500, 1_520))
    assert feed(bank, ColourReading("board", 0, "white", 1_530 * MS)) == [ColourSeen(NE, 1_500 * MS, "white")]


def test_a_colour_of_a_lengthened_passage_names_its_beginning():
    bank = begun()
    feed(bank, *pulse("board", 0, 1, 1_000, 1_020), *pulse("board", 0, 1, 1_050, 1_070))
    assert feed(bank, ColourReading("board", 0, "white", 1_080 * MS)) == [ColourSeen(NE, 1_000 * MS, "white")]


@pytest.mark.parametrize(("late_ns", "placed"), [(1 * SECOND, True), (1 * SECOND + 1, False)])
def test_a_colour_is_good_for_a_second(late_ns, placed):
    bank = begun()
    feed(bank, *pulse("board", 0, 1, 1_000, 1_020))
    assert bool(feed(bank, ColourReading("board", 0, "white", 1_020 * MS + late_ns))) is placed
    assert bank.unplaced_colours == (0 if placed else 1)


@pytest.mark.parametrize(
    ("later_ms", "twice"), [(9, False), (14.9, False), (15, True)], ids=["a bounce", "hardly an object", "an object"]
)
def test_a_colour_says_whether_two_objects_can_have_passed(later_ms, twice):
    slides = Beam("ne", "board", 0, "ne", NE.passes, 1, SINGLE_FILE)
    bank = SensorBank([slides])
    feed(bank, Levels("board", ((0, 0),), 0))
    feed(bank, *pulse("board", 0, 1, 1_000, 1_014), *pulse("board", 0, 1, 1_050, 1_050 + later_ms))
    (seen,) = feed(bank, ColourReading("board", 0, "white", 1_080 * MS))
    assert seen == ColourSeen(slides, 1_000 * MS, "white", twice)


def test_what_is_long_enough_for_an_object_is_known_from_those_before():
    slides = Beam("ne", "board", 0, "ne", NE.passes, 1, SINGLE_FILE)
    bank = SensorBank([slides])
    feed(bank, Levels("board", ((0, 0),), 0))
    for second in range(1, 22):
        feed(bank, *pulse("board", 0, 1, second * 1000, second * 1000 + 32))
    for second, later_ms, twice in ((30, 15.9, False), (40, 16, True)):
        start = second * 1000
        feed(bank, *pulse("board", 0, 1, start, start + 20), *pulse("board", 0, 1, start + 50, start + 50 + later_ms))
        (seen,) = feed(bank, ColourReading("board", 0, "white", (start + 80) * MS))
        assert seen.twice is twice


def test_colours_of_nothing_are_counted():
    bank = begun()
    feed(bank, *pulse("board", 8, 0, 100, 200), *pulse("board", 2, 1, 100, 200))
    readings = [ColourReading("board", channel, "white", 300 * MS) for channel in (0, 8, 2, 63)]
    assert feed(bank, *readings, ColourReading("nobody", 0, "white", 300 * MS)) == []
    assert bank.unplaced_colours == 5


# -- restarts and losses -----------------------------------------------------------------------------------


def test_a_lost_link_changes_nothing_by_itself():
    bank = begun()
    down, up = pulse("board", 0, 1, 1_000, 1_020)
    assert feed(bank, down, SourceLost("board", "unplugged", 1_005 * MS), SourceBack("board", 7, 1_500 * MS)) == []
    assert feed(bank, up) == [PassageSeen(NE, Passage(1_000 * MS, 1_020 * MS))]


@pytest.mark.parametrize("boot_id", [8, None], ids=["rebooted", "has no boots"])
def test_a_reboot_voids_the_pulses_of_its_source_alone(boot_id):
    bank = begun()
    feed(bank, Edge("board", 0, 1, 1_000 * MS), Edge("other", 0, 1, 1_000 * MS))
    feed(bank, SourceBack("board", boot_id, 1_005 * MS), Levels("board", RESTING, 1_006 * MS))
    assert feed(bank, Edge("board", 0, 0, 1_020 * MS), Edge("other", 0, 0, 1_020 * MS)) == [
        PassageSeen(FAR, Passage(1_000 * MS, 1_020 * MS))
    ]


def test_a_source_without_boots_begins_anew_each_time_it_is_back():
    bank = SensorBank(ALL)
    feed(bank, SourceBack("board", None, 0), Levels("board", RESTING, 0))
    feed(bank, Edge("board", 0, 1, 1_000 * MS), SourceBack("board", None, 1_005 * MS))
    assert feed(bank, Levels("board", RESTING, 1_006 * MS)) == []


def test_lost_edges_void_the_pulses_of_their_source_alone():
    bank = begun()
    feed(bank, Edge("board", 0, 1, 1_000 * MS), Edge("other", 0, 1, 1_000 * MS), EdgesLost("board", 9, 1_005 * MS))
    assert bank.breaking_since_ns() == 1_000 * MS, "that of the other source"
    assert feed(bank, Levels("board", RESTING, 1_010 * MS)) == []
    assert feed(bank, Edge("other", 0, 0, 1_020 * MS)) == [PassageSeen(FAR, Passage(1_000 * MS, 1_020 * MS))]
    assert bank.breaking_since_ns() is None


def test_a_restart_goes_on_in_the_middle_of_a_passage():
    bank = SensorBank(ALL)
    bank.resume("board", 7)
    feed(bank, Edge("board", 0, 1, 1_000 * MS))
    assert bank.breaking_since_ns() == 1_000 * MS
    assert feed(bank, SourceBack("board", 7, 1_010 * MS)) == []
    assert feed(bank, Edge("board", 0, 0, 1_020 * MS), Levels("board", RESTING, 1_250 * MS)) == [
        PassageSeen(NE, Passage(1_000 * MS, 1_020 * MS))
    ]


def test_a_restart_lengthens_the_passage_that_it_had_shown():
    bank = SensorBank(ALL)
    bank.resume("board", 7)
    feed(bank, *pulse("board", 0, 1, 1_000, 1_020), SourceBack("board", 7, 1_030 * MS))
    assert feed(bank, *pulse("board", 0, 1, 1_050, 1_070)) == [
        PassageSeen(NE, Passage(1_000 * MS, 1_070 * MS, 2, Pulses(20 * MS, 20 * MS)), "possibly_two")
    ]


def test_a_beam_blocked_since_long_before_a_restart_is_no_lost_edge():
    bank = SensorBank(ALL)
    bank.resume("board", 7)
    feed(bank, *pulse("board", 1, 0, 1_000, 1_020), SourceBack("board", 7, 2_000 * MS))
    dark = ((0, 1), (1, 1), (2, 0), (8, 1))
    assert feed(bank, Levels("board", dark, 2_000 * MS)) == [InputBlocked(NE, 2_000 * MS)]
    assert feed(bank, Edge("board", 0, 0, 3_000 * MS), Levels("board", RESTING, 5_000 * MS)) == [
        InputWell(NE, 4_003 * MS)
    ]


def test_levels_make_beams_known_that_had_no_edge_before_a_restart():
    bank = SensorBank(ALL)
    bank.resume("board", 7)
    feed(bank, SourceBack("board", 7, 2_000 * MS), Levels("board", RESTING, 2_000 * MS))
    ne = bank.lines["ne"].debouncer
    assert ne.condition is Condition.OK
    far = bank.lines["se"].debouncer
    assert far.condition is Condition.UNKNOWN


EVENTS = st.lists(
    st.tuples(st.integers(0, 300_000), st.integers(0, 3), st.integers(0, 1), st.sampled_from("eeeeeelbxo")),
    max_size=60,
)


@given(EVENTS)
def test_whatever_a_source_does_the_last_levels_hold_and_nothing_breaks(events):
    bank = SensorBank(ALL)
    now_ns, boot = 0, 1
    channels = (0, 1, 2, 8)
    told: dict[tuple[str, int], PassageSeen] = {}
    for gap_us, which, level, what in events:
        now_ns += gap_us * 1_000
        channel = channels[which]
        match what:
            case "e":
                item: SourceInput = Edge("board", channel, level, now_ns)
            case "l":
                item = Levels("board", tuple((c, level) for c in channels), now_ns)
            case "b":
                boot += 1
                item = SourceBack("board", boot, now_ns)
            case "x":
                item = EdgesLost("board", 1, now_ns)
            case _:
                item = SourceLost("board", "unplugged", now_ns)
        for signal in bank.feed(item):
            if isinstance(signal, PassageSeen):
                key = (signal.beam.id, signal.passage.started_ns)
                before = told.get(key)
                assert signal != before, "told again only with something new"
                if before is not None:
                    assert signal.passage.ended_ns >= before.passage.ended_ns
                    assert signal.reason is not None or before.reason is None, "what was withdrawn stays so"
                told[key] = signal
    feed(bank, Levels("board", RESTING, now_ns + 1 * SECOND), Levels("board", RESTING, now_ns + 10 * SECOND))
    for name in ("ne", "sw", "thump", "undo"):
        debouncer = bank.lines[name].debouncer
        assert debouncer.active is False
        assert debouncer.condition is Condition.OK
    assert bank.breaking_since_ns() is None
