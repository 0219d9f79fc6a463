"""Corrections: what really was, folded again; one event with before and after; nothing changed where it cannot be."""

import pytest

from tests.support.session import Session
from tests.table.test_closing import NEARLY_WON


def three():
    """White, white, a miss; then black, and a miss: strokes 1 to 5."""
    table = Session()
    for pocketed in (["white"], ["white"], [], ["black"], []):
        table.played(*pocketed)
    return table


def test_pocketed_rewrites_the_stroke_and_all_that_follows():
    table = three()
    table.do("correct", stroke=1, pocketed=["white", "white"])
    assert table.strokes == [["white", "white"], ["white"], [], ["black"], []]
    assert table.side("A")["pocketed"] == 3


def test_one_event_with_before_and_after_and_no_other():
    table = three()
    before = table.rules
    table.do("correct", stroke=2, pocketed=[])
    assert table.names == ["corrected"]
    assert table.news[0] == {"event": "corrected", "stroke": 2, "before": before, "after": table.rules}
    assert table.rules != before


def test_one_event_even_where_a_board_is_won_by_it():
    table = Session(position=NEARLY_WON)
    table.played()
    table.do("correct", stroke=1, pocketed=["white"])
    assert table.rules["phase"] == "board_over"
    assert table.names == ["corrected"]
    assert table.document["last_result"]["board_result"] == {"winner": "A", "points": 9}


def test_fields_left_out_stay():
    table = Session()
    table.played("white", jumped=("black",))
    table.do("correct", stroke=1, pocketed=["white", "white"])
    assert table.lines == [{"type": "stroke", "pocketed": ["white", "white"], "jumped": ["black"]}]
    table.do("correct", stroke=1, jumped=[])
    assert table.lines == [{"type": "stroke", "pocketed": ["white", "white"]}]


def test_a_players_correction_leaves_what_the_beams_saw():
    table = Session()
    table.passes("black", at=1)
    table.press(1, at=2)
    assert table.strokes == [["black"]]
    table.do("correct", stroke=1, player=2)
    assert table.strokes == [[], ["black"]], "Asha's miss is assumed"
    assert table.turn == 2


def test_a_correction_to_a_player_two_turns_away_assumes_both_misses():
    table = Session(players=("Asha", "Ben", "Chidi", "Dana"))
    table.played("white")
    table.do("correct", stroke=1, player=3)
    assert table.strokes == [[], [], ["white"]]
    assert table.turn == 3


def test_void_never_happened_and_its_number_stays():
    table = Session()
    table.played("white")
    table.played()
    table.played("black")
    table.do("correct", stroke=2, void=True)
    assert table.strokes == [["white"], ["black"]]
    assert table.turn == 2, "Asha's black was a foul"
    table.passes("black", at=1)
    assert table.open_stroke["number"] == 4


def test_what_was_void_can_be_brought_back():
    table = Session()
    table.passes("white", at=1)
    table.press(1, at=2)
    table.do("correct", stroke=1, void=True)
    assert table.strokes == []
    table.do("correct", stroke=1, void=False)
    assert table.strokes == [["white"]]
    assert table.unscored() == set()


def test_the_passages_of_a_void_stroke_can_be_claimed_for_the_right_one():
    table = Session()
    table.passes("white", at=1)
    table.press(1, at=2)
    second = table.passes("white", at=20)
    table.press(1, at=21)
    table.do("correct", stroke=2, void=True)
    assert table.unscored() == {second}
    table.do("correct", stroke=1, claim=second, object="white")
    assert table.strokes == [["white", "white"]]
    assert table.unscored() == set()


def test_a_passage_claimed_for_its_own_stroke_counts_once():
    position = {"sides": {"A": {"pocketed": 2}}, "queen": {"status": "covered", "side": "A"}}
    table = Session(position=position)
    passage = table.passes("queen", at=1)
    table.press(1, at=2)
    assert table.unscored() == {passage}, "there was no queen to fall"
    table.do("correct", stroke=1, claim=passage, object="white")
    assert table.strokes == [["white"]]


def test_a_claim_adds_to_what_a_person_told():
    table = Session()
    passage = table.passes("black", at=1)
    table.do("stroke", at=2, pocketed=["white"])
    assert table.unscored() == {passage}, "kept as superseded"
    table.do("correct", stroke=1, claim=passage, object="white")
    assert table.strokes == [["white", "white"]]


def test_out_and_off_table_for_a_throw():
    table = Session("carpetball")
    table.do("line_up", north=5, south=5)
    table.passes("ball", at=1, place="south")
    table.press(1, at=2)
    table.do("correct", stroke=1, off_table=1)
    assert table.rules["ends"]["south"]["in_play"] == 4
    assert table.rules["ends"]["north"]["in_play"] == 4, "the thrower pits one for the ball that flew"
    table.do("correct", stroke=1, out={"north": 0, "south": 2}, off_table=0)
    assert table.rules["ends"]["south"]["in_play"] == 3
    assert table.rules["ends"]["north"]["in_play"] == 5


def test_a_pending_stroke_can_be_corrected_and_is_then_settled():
    table = Session(unknown="ask")
    table.passes(at=1)
    table.press(1, at=2)
    table.passes("white", at=11)
    table.press(1, at=12)
    assert table.pending == [1, 2]
    table.do("correct", stroke=1, pocketed=["white", "striker"])
    assert table.questions == []
    assert table.strokes == [["white", "striker"], [], ["white"]], "it passed the turn: Ben's miss is assumed"
    table.do("undo")
    assert table.pending == [1, 2]
    assert len(table.questions) == 1


def test_naming_the_player_of_a_pending_stroke_answers_who_shot():
    table = Session(unknown="ask")
    table.passes("black", at=1, ms=0)
    table.clock(7)
    assert table.questions[0]["kind"] == "who_shot"
    table.do("correct", stroke=1, player=1)
    assert table.questions == []
    assert table.strokes == [["black"]]
    table.do("undo")
    assert table.questions[0]["kind"] == "who_shot"


def test_naming_a_player_of_a_pending_stroke_who_is_two_turns_away():
    table = Session(unknown="ask", players=("Asha", "Ben", "Chidi", "Dana"))
    table.passes(at=1)
    table.press(1, at=2)
    table.do("correct", stroke=1, player=3)
    assert [question["kind"] for question in table.questions] == ["what_fell"]
    table.do("answer", value="own")
    assert table.strokes == [[], [], ["white"]]


def test_a_void_pending_stroke_lets_the_others_go_on():
    table = Session(unknown="ask")
    passage = table.passes(at=1)
    table.press(1, at=2)
    table.played("white")
    table.do("correct", stroke=1, void=True)
    assert table.pending == []
    assert table.strokes == [["white"]]
    assert table.unscored() == {passage}
    table.do("correct", stroke=1, void=False)
    assert table.pending == [1, 2], "it is looked at afresh, and nobody has said what fell"
    assert [question["kind"] for question in table.questions] == ["what_fell"]


def test_nothing_is_asked_about_a_void_stroke_that_waits_for_its_turn():
    table = Session(unknown="ask")
    table.passes(at=1)
    table.press(1, at=2)
    table.passes(at=10)
    table.press(1, at=11)
    table.do("correct", stroke=2, void=True)
    assert [question["stroke"] for question in table.questions] == [1]
    assert table.pending == [1, 2]
    table.do("undo")
    assert [(question["id"], question["stroke"]) for question in table.questions] == [("q1", 1), ("q2", 2)]
    table.do("redo")
    table.do("answer", value="white")
    assert table.pending == []
    assert table.strokes == [["white"]]


def test_a_correction_reaches_back_across_boards():
    table = Session(position=NEARLY_WON)
    table.press(1, at=1)
    table.press(2, at=11)
    table.passes("white", at=21)
    table.press(1, at=22)
    assert table.side("A")["score"] == 4 + 5
    table.press(1, at=31)
    table.press(2, at=41)
    assert table.rules["board"] == 2
    table.do("correct", stroke=2, pocketed=["black"])
    assert table.side("A")["score"] == 3 + 5, "black had one piece less on the board"
    assert table.rules["board"] == 2
    assert table.strokes == [[], ["black"], [], ["white"], []], "Asha's winning stroke: Ben's next miss is assumed"


def impossible(table, **fields):
    before = table.state
    code = table.ask("correct", **fields)
    assert table.state == before, "nothing changed"
    return code, table.refused.stroke


def test_a_later_stroke_that_becomes_impossible_is_named():
    table = Session(position={"sides": {"A": {"pocketed": 1}}})
    table.played("white")
    table.played("queen")
    table.played("white")
    table.played()
    assert impossible(table, stroke=1, pocketed=["queen", "white"]) == ("later_stroke_impossible", 2)


def test_the_stroke_itself_that_cannot_have_been():
    table = three()
    assert impossible(table, stroke=2, pocketed=["queen", "queen"]) == ("impossible_count", 2)


def test_a_later_stroke_that_would_fall_outside_play_is_named():
    table = Session(position=NEARLY_WON)
    table.played()
    table.played()
    table.played("white")
    assert impossible(table, stroke=1, pocketed=["white"]) == ("later_stroke_impossible", 2)


def test_a_later_call_that_becomes_impossible_names_the_stroke_after_it():
    table = Session(position=NEARLY_WON)
    table.played("white")
    table.do("next_board")
    table.played("black")
    assert impossible(table, stroke=1, pocketed=[]) == ("later_stroke_impossible", 2)


def test_a_later_call_with_no_stroke_after_it_names_none():
    table = Session(position=NEARLY_WON)
    table.played("white")
    table.do("next_board")
    assert impossible(table, stroke=1, pocketed=[]) == ("later_stroke_impossible", None)


@pytest.mark.parametrize("stroke", [0, 6, -1, "1", None, True, 1.0])
def test_a_stroke_that_there_is_not(stroke):
    assert impossible(three(), stroke=stroke, pocketed=[])[0] == "no_such_stroke"


def test_the_open_stroke_cannot_be_corrected_yet():
    table = Session()
    table.passes("white", at=1)
    assert impossible(table, stroke=1, pocketed=[])[0] == "no_such_stroke"


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"pocketed": 3},
        {"pocketed": ["ball"]},
        {"out": {"north": 1}},
        {"off_table": 1},
        {"void": "yes"},
        {"void": None},
        {"player": 3},
        {"player": None},
        {"player": True},
        {"claim": "p9", "object": "white"},
        {"claim": "p9"},
        {"claim": ["p1"], "object": "white"},
        {"claim": "p1", "object": ["white"]},
    ],
)
def test_what_is_no_correction_is_malformed(fields):
    assert impossible(three(), stroke=1, **fields)[0] == "malformed"


def test_a_later_correction_adds_to_an_earlier_one():
    table = three()
    table.do("correct", stroke=1, pocketed=["white", "white"])
    table.do("correct", stroke=1, jumped=["black"])
    assert table.lines[0] == {"type": "stroke", "pocketed": ["white", "white"], "jumped": ["black"]}


def test_a_correction_survives_later_strokes_and_a_refold():
    table = three()
    table.do("correct", stroke=1, pocketed=["white", "striker"])
    assert table.strokes[0] == ["white", "striker"]
    table.played("white")
    table.do("undo")
    assert table.strokes[0] == ["white", "striker"]
