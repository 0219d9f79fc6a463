"""The rig: wires that several things can break, time that passes, and people who press."""

from sim.rig import Rig
from sim.tiers import TIERS, settings_of

MS = 1_000


def rig() -> Rig:
    found = Rig(settings_of(TIERS["T1"], "club_carrom"))
    found.advance(1_000 * MS)
    return found


def test_what_falls_is_shown_and_closed_by_quiet_time() -> None:
    table = rig()
    table.pulse("ne", 1_500 * MS, 1_530 * MS)
    table.advance(2_000 * MS)
    assert table.shown["stroke"]["fallen"][0]["place"] == "ne"
    table.advance(7_600 * MS)
    assert table.shown["stroke"] is None
    assert [q["kind"] for q in table.shown["questions"]] == ["what_fell"]


def test_two_things_in_one_beam_are_one_pulse() -> None:
    table = rig()
    table.pulse("ne", 1_500 * MS, 1_530 * MS)
    table.pulse("ne", 1_520 * MS, 1_550 * MS)
    table.advance(2_000 * MS)
    (only,) = table.state.stroke.fallen if table.state.stroke else ()
    assert only.started_ns == 1_500 * MS * 1_000


def test_a_button_is_pressed_like_anything_else() -> None:
    table = rig()
    table.pulse("done-1", 1_500 * MS, 1_600 * MS)
    table.advance(2_000 * MS)
    assert table.shown["rules"]["turn"]["player"] == 2


def test_a_colour_belongs_to_what_just_passed() -> None:
    table = Rig(settings_of(TIERS["T3"], "club_carrom"))
    table.advance(1_000 * MS)
    table.pulse("ne", 1_500 * MS, 1_530 * MS)
    table.colour("ne", 1_580 * MS, "queen")
    table.advance(2_000 * MS)
    assert table.shown["stroke"]["fallen"][0]["object"] == "queen"


def test_time_may_pass_in_one_piece_while_nothing_moves() -> None:
    table = rig()
    table.advance(3_600_000 * MS)
    table.pulse("ne", 3_600_500 * MS, 3_600_530 * MS)
    table.advance(3_601_000 * MS)
    assert len(table.shown["stroke"]["fallen"]) == 1


def test_a_beam_that_stays_broken_is_told() -> None:
    table = rig()
    table.pulse("ne", 1_500 * MS, 9_000 * MS)
    table.advance(20_000 * MS)
    assert [news["event"] for news in table.news if news["event"].startswith("beam")] == ["beam_fault", "beam_well"]
    assert table.shown["stroke"] is None


def test_what_was_judged_stays_as_it_was_once_it_is_sealed() -> None:
    table = rig()
    table.request("stroke", pocketed=["white"])
    table.seal()
    assert table.request("correct", stroke=1, pocketed=["black"])
    (entry,) = table.judged.values()
    assert entry.observation is not None
    assert entry.observation["pocketed"] == ["white"]


def test_what_becomes_a_question_again_has_not_been_judged() -> None:
    """The first piece of a hand, late after `done`, and the long one that shows what it was."""
    table = Rig(settings_of(TIERS["T2"], "club_carrom"))
    table.advance(1_000 * MS)
    table.pulse("done-1", 1_100 * MS, 1_200 * MS)
    table.pulse("ne-striker", 2_000 * MS, 2_060 * MS)
    table.advance(2_100 * MS)
    assert [each.observation and each.observation["pocketed"] for each in table.judged.values()] == [["striker"]]
    table.pulse("ne-striker", 2_200 * MS, 2_450 * MS)
    table.advance(2_900 * MS)
    assert table.shown["pending"]
    assert table.judged == {}
