"""Undo and redo: any depth, across boards, back into the previous match; what is a step and what is none."""

import pytest

from tests.support.session import Session
from tests.table.test_closing import NEARLY_WON


def kept(table):
    """What undo and redo must restore: everything that follows from the steps, and the steps."""
    return table.state.match.steps, table.state.fold, table.document["rules"], table.lines


def test_undo_takes_the_last_stroke_back_and_redo_takes_it_again():
    table = Session()
    table.played("white")
    before = kept(table)
    table.played()
    after = kept(table)
    table.do("undo")
    assert kept(table) == before
    assert table.names == ["undone"]
    assert table.news[0]["stroke"] == 2
    table.do("redo")
    assert kept(table) == after
    assert table.names == ["redone"]


def test_undo_at_every_depth_and_redo_back_to_the_end():
    table = Session("club_carrom", position=NEARLY_WON)
    seen = [kept(table)]
    for command, fields in [
        ("stroke", {"pocketed": ["white"]}),
        ("next_board", {}),
        ("break_not_made", {}),
        ("stroke", {"pocketed": ["black"]}),
        ("no_stroke", {}),
        ("recount", {"sides": {"A": {"pocketed": 3}}}),
        ("correct", {"stroke": 2, "pocketed": []}),
        ("players", {"swap": [1, 2]}),
        ("abandon", {}),
    ]:
        table.do(command, **fields)
        seen.append(kept(table))
    for expected in reversed(seen[:-1]):
        table.do("undo")
        assert kept(table) == expected
    assert table.ask("undo") == "nothing_to_undo"
    for expected in seen[1:]:
        table.do("redo")
        assert kept(table) == expected
    assert table.ask("redo") == "nothing_to_redo"


def test_seq_grows_through_undo_and_redo():
    table = Session()
    table.played("white")
    seq = table.state.seq
    table.do("undo")
    table.do("redo")
    assert table.state.seq == seq + 2


def test_undo_reaches_into_the_previous_match_and_redo_comes_back():
    table = Session("new_carrom", position=NEARLY_WON)
    start = kept(table)
    table.played("white")
    over = kept(table)
    table.do("new_match")
    second = kept(table)
    table.played("white")
    table.played()
    end = kept(table)
    for _ in range(3):
        table.do("undo")
    assert table.document["match_id"] == "m1"
    assert kept(table) == over
    assert table.rules["phase"] == "match_over"
    table.do("undo")
    assert kept(table) == start
    table.do("redo")
    assert kept(table) == over
    table.do("redo")
    assert kept(table) == second
    assert table.document["match_id"] == "m2"
    table.do("redo")
    table.do("redo")
    assert kept(table) == end


def test_what_fell_outside_play_can_be_claimed_back_in_the_previous_match_too():
    table = Session(position=NEARLY_WON, rules={"cc.target": 5})
    table.played("white")
    passage = table.passes("black", at=10)
    table.do("new_match")
    assert table.unscored() == set()
    second = table.passes("white", at=20)
    table.do("undo")
    table.do("undo")
    assert table.unscored() == {passage}
    table.do("redo")
    assert table.unscored() == {second}, "each match has its own"
    table.do("undo")
    table.do("correct", stroke=1, claim=passage, object="black")
    assert table.strokes == [["white", "black"]]


def test_a_match_number_is_never_used_twice():
    table = Session()
    table.do("new_match")
    table.do("undo")
    assert table.document["match_id"] == "m1"
    table.do("new_match")
    assert table.document["match_id"] == "m3"


def test_a_new_step_in_the_previous_match_ends_the_redo_of_the_next():
    table = Session("new_carrom", position=NEARLY_WON)
    table.played("white")
    table.do("new_match")
    table.do("undo")
    table.do("undo")
    table.played()
    assert table.ask("redo") == "nothing_to_redo"


def test_undo_drops_an_open_stroke_whole():
    table = Session()
    table.played("white")
    first = table.passes("white", at=10)
    second = table.passes("striker", at=10.5, place="se")
    table.do("jumped", objects=["black"])
    table.do("undo")
    assert table.open_stroke is None
    assert table.strokes == [["white"]], "the stroke before stays"
    assert table.unscored() == {first, second}
    assert table.names == ["undone", "passage_not_scored", "passage_not_scored"]
    assert table.news[0]["stroke"] == 2


def test_the_passages_of_an_undone_stroke_are_not_scored_and_its_number_is_free():
    table = Session()
    passage = table.passes("white", at=1)
    table.press(1, at=2)
    table.do("undo")
    assert table.unscored() == {passage}
    table.passes("black", at=20)
    assert table.open_stroke["number"] == 1
    assert table.open_stroke["fallen"][0]["passage_id"] == "p2", "a passage's id is never used twice"


def test_redo_counts_the_passages_again():
    table = Session()
    table.passes("white", at=1)
    table.press(1, at=2)
    table.do("undo")
    table.do("redo")
    assert table.unscored() == set()
    assert table.ask("correct", stroke=1, claim="p1", object="white") == "malformed", "it counts already"


def test_a_passage_right_after_an_undo_amends_nothing():
    table = Session()
    table.played("white")
    table.press(1, at=1)
    table.do("undo", at=1.5)
    table.passes("white", at=2)
    assert table.strokes == [["white"]]
    assert table.open_stroke is not None


def test_an_undone_answer_opens_its_question_again():
    table = Session(unknown="ask")
    table.passes(at=1)
    table.press(1, at=2)
    asked = table.questions
    table.do("answer", value="black")
    table.do("undo")
    assert table.questions == asked
    assert table.pending == [1]
    table.do("answer", value="white")
    assert table.strokes == [["white"]]


def test_an_undone_stroke_opens_the_question_again_that_it_had_assumed():
    table = Session(unknown="ask_then_assume")
    table.passes(at=1)
    table.press(1, at=2)
    asked = table.questions
    table.press(1, at=20)
    assert table.pending == []
    table.do("undo")
    assert table.questions == asked
    assert table.pending == [1]


def test_a_stroke_goes_with_the_misses_that_it_assumed():
    table = Session()
    table.press(2, at=1)
    assert table.strokes == [[], []]
    table.do("undo")
    assert table.strokes == []
    assert table.turn == 1


def test_a_new_step_ends_redo():
    table = Session()
    table.played("white")
    table.do("undo")
    table.played()
    assert table.ask("redo") == "nothing_to_redo"


@pytest.mark.parametrize("what", ["passage", "pause", "names"])
def test_what_is_no_step_ends_no_redo(what):
    table = Session()
    table.played("white")
    table.do("undo")
    if what == "passage":
        table.passes("white", at=1)
        table.do("undo")
    elif what == "pause":
        table.do("pause")
        table.do("resume")
    else:
        table.do("players", names=["Chidi", "Dana"])
    table.do("redo")
    assert table.strokes == [["white"]]


def test_names_and_pauses_are_not_undone():
    table = Session()
    table.played("white")
    table.do("players", names=["Chidi", "Dana"])
    table.do("pause")
    table.do("undo")
    assert table.lines == []
    assert [player["name"] for player in table.document["players"]] == ["Chidi", "Dana"]
    assert table.document["paused"] is True


def test_a_new_name_stays_in_the_match_before():
    table = Session()
    table.played("white")
    table.do("new_match", abandon=True)
    table.do("players", names=["Chidi", "Dana"])
    table.do("undo")
    assert table.document["match_id"] == "m1"
    assert [player["name"] for player in table.document["players"]] == ["Chidi", "Dana"]


def test_a_swap_is_undone():
    table = Session()
    table.do("players", swap=[1, 2])
    assert [player["name"] for player in table.document["players"]] == ["Ben", "Asha"]
    table.do("undo")
    assert [player["name"] for player in table.document["players"]] == ["Asha", "Ben"]


def test_new_match_and_its_abandonment_are_undone_one_after_the_other():
    table = Session()
    table.played("white")
    played = kept(table)
    table.do("new_match", abandon=True)
    table.do("undo")
    assert table.document["match_id"] == "m1"
    assert table.document["last_result"]["abandoned"] is True
    table.do("undo")
    assert kept(table) == played
    assert table.document["last_result"] is None


def test_an_undone_claim_can_be_claimed_again():
    table = Session()
    table.do("pause")
    passage = table.passes("white", at=1)
    table.do("resume")
    table.played()
    table.do("correct", stroke=1, claim=passage, object="white")
    assert table.side("A")["pocketed"] == 1
    assert table.unscored() == set()
    table.do("undo")
    assert table.side("A")["pocketed"] == 0
    assert table.unscored() == {passage}
    table.do("correct", stroke=1, claim=passage, object="white")
    assert table.side("A")["pocketed"] == 1


def test_redo_waits_until_the_open_stroke_is_closed():
    table = Session()
    table.played("white")
    table.do("undo")
    table.passes("white", at=1)
    before = table.state
    assert table.ask("redo") == "wrong_phase"
    assert table.state == before


def test_undo_right_after_a_match_was_won_reopens_it():
    table = Session("new_carrom", position=NEARLY_WON)
    table.played("white")
    assert table.document["last_result"] is not None
    table.do("undo")
    assert table.rules["phase"] == "playing"
    assert table.document["last_result"] is None
    assert table.side("A")["pocketed"] == 8


def test_nothing_to_undo_and_nothing_to_redo():
    table = Session()
    assert table.ask("undo") == "nothing_to_undo"
    assert table.ask("redo") == "nothing_to_redo"


def test_the_second_of_two_undos_that_saw_the_same_is_outdated():
    table = Session()
    table.played("white")
    table.played("white")
    seen = table.state.seq
    assert table.ask("undo", expected_seq=seen) is None
    assert table.ask("undo", expected_seq=seen) == "outdated"
    assert table.strokes == [["white"]]
