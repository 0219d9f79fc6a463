"""How strokes open and close, from the contract: buttons, quiet time, strikes, late passages, the next thing.

Player 1 (Asha) breaks and is white, player 2 (Ben) is black.
"""

import pytest

from tests.support.session import Session


def test_done_closes_the_open_stroke():
    table = Session()
    table.passes("white", at=1)
    assert table.open_stroke["number"] == 1
    table.press(1, at=2)
    assert table.open_stroke is None
    assert table.strokes == [["white"]]
    assert table.turn == 1, "an own piece: another go"


def test_done_with_none_open_is_a_miss():
    table = Session()
    table.press(1, at=1)
    assert table.strokes == [[]]
    assert table.turn == 2
    assert table.names == ["stroke_closed", "stroke_missed", "turn_passed"]


def test_a_second_press_within_a_second_is_one_press():
    table = Session()
    table.press(1, at=1)
    seq = table.state.seq
    table.press(1, at=1.9)
    assert table.state.seq == seq
    assert table.strokes == [[]]


def test_a_second_press_after_a_second_is_another_one():
    table = Session()
    table.press(1, at=1)
    table.press(1, at=2.1)
    assert table.strokes == [[], [], []], "player 1 again: player 2's miss is assumed"
    assert table.turn == 2


def test_another_players_button_is_no_second_press():
    table = Session()
    table.press(1, at=1)
    table.press(2, at=1.2)
    assert table.strokes == [[], []]
    assert table.turn == 1


def test_a_request_is_simply_done_however_soon():
    table = Session()
    table.do("end_stroke", at=1)
    table.do("end_stroke", at=1.1)
    assert table.strokes == [[], []]


def test_quiet_time_closes_without_a_player():
    table = Session()
    table.passes("white", at=1, ms=500)
    table.clock(7.4)
    assert table.open_stroke is not None, "it counts from the passage's end, at 1.5"
    table.clock(7.5)
    assert table.open_stroke is None
    assert table.strokes == [["white"]]
    assert table.news[0] == {"event": "stroke_closed", "stroke": 1, "by": "quiet", "player": None}


def test_quiet_time_counts_from_the_last_passage():
    table = Session()
    table.passes("white", at=1)
    table.passes("white", at=5, place="sw")
    table.clock(10.9)
    assert table.open_stroke is not None
    table.clock(11.1)
    assert table.strokes == [["white", "white"]]


def test_a_passage_that_goes_on_prolongs_the_quiet_time():
    table = Session()
    table.passes("white", at=1, ms=30)
    table.passes("white", at=1, ms=4000)
    assert len(table.open_stroke["fallen"]) == 1, "the same passage, revised"
    table.clock(10.9)
    assert table.open_stroke is not None
    table.clock(11)
    assert table.strokes == [["white"]]


def test_quiet_time_zero_closes_nothing():
    table = Session(quiet_s=0)
    table.passes("white", at=1)
    table.clock(1000)
    assert table.open_stroke is not None


def test_quiet_time_stands_still_while_paused():
    table = Session()
    table.passes("white", at=1, ms=0)
    table.do("pause", at=3)
    table.clock(100)
    assert table.open_stroke is not None
    table.do("resume", at=103)
    table.clock(106.9)
    assert table.open_stroke is not None, "2 s had passed, 4 are left"
    table.clock(107)
    assert table.strokes == [["white"]]


def test_a_reboot_starts_the_quiet_time_anew():
    table = Session()
    table.passes("white", at=100)
    table.reboot(at=2)
    table.clock(7.9)
    assert table.open_stroke is not None
    table.clock(8)
    assert table.strokes == [["white"]]


def quiet(table, at=1.0):
    """A stroke of an own piece that closed quietly; returns when."""
    table.passes("white", at=at, ms=0)
    table.clock(at + 6)
    return at + 6


def test_done_within_three_seconds_of_a_quiet_close_only_confirms_it():
    table = Session()
    closed = quiet(table)
    table.press(1, at=closed + 3)
    assert table.strokes == [["white"]]


def test_done_more_than_three_seconds_later_is_a_miss():
    table = Session()
    closed = quiet(table)
    table.press(1, at=closed + 3.1)
    assert table.strokes == [["white"], []]


def test_another_player_confirms_nothing():
    table = Session()
    closed = quiet(table)
    table.press(2, at=closed + 1)
    assert table.strokes == [["white"], [], []], "Asha's next go is assumed missed, and Ben's is a miss"
    assert table.turn == 1


def test_a_press_by_nobody_in_particular_confirms_nothing():
    table = Session()
    closed = quiet(table)
    table.do("end_stroke", at=closed + 1)
    assert table.strokes == [["white"], []]


def test_with_a_passage_since_done_closes_that():
    table = Session()
    closed = quiet(table)
    table.passes("white", at=closed + 1)
    table.press(1, at=closed + 2)
    assert table.strokes == [["white"], ["white"]]


def test_a_confirming_press_after_a_stroke_that_passed_the_turn():
    table = Session(strike=True)
    table.strike(1)
    table.clock(7)
    assert table.turn == 2, "a stroke that was felt and in which nothing fell is a miss"
    table.press(1, at=8)
    assert table.strokes == [[]], "Asha was on turn in it"
    assert table.turn == 2


def test_who_was_on_turn_is_meant_as_play_stands_not_as_the_settled_score_stands():
    table = Session(unknown="ask", strike=True)
    table.strike(1)
    table.passes("black", "queen", at=1.5, ms=0)
    table.clock(7.5)
    assert table.pending == [1]
    table.strike(20)
    table.clock(26)
    assert table.pending == [1, 2], "after the foul that is assumed, stroke 2 is Ben's"
    table.press(2, at=27)
    assert table.pending == [1, 2]


def test_a_confirming_press_at_the_end_of_a_board_does_not_set_up_the_next():
    table = Session(position=NEARLY_WON)
    table.passes("white", at=1, ms=0)
    table.clock(7)
    assert table.rules["phase"] == "board_over"
    table.press(1, at=9)
    assert table.rules["phase"] == "board_over"
    table.press(1, at=11)
    assert table.rules["board"] == 2


# White has one piece left and has covered the queen; black has four left.
NEARLY_WON = {
    "sides": {"A": {"pocketed": 8}, "B": {"pocketed": 5}},
    "queen": {"status": "covered", "side": "A"},
    "turn": {"player": 1},
}


def test_a_strike_opens_a_stroke_and_closes_the_one_before():
    table = Session(strike=True)
    table.strike(1)
    assert table.open_stroke == {"number": 1, "player": 1, "fallen": [], "jumped": []}
    table.strike(20)
    assert table.strokes == [[]]
    assert table.open_stroke["number"] == 2
    assert table.open_stroke["player"] == 2


@pytest.mark.parametrize("call", ["break_not_made", "no_stroke"])
def test_the_first_strike_after_a_reboot_counts_whatever_the_time_of_the_last_one(call):
    table = Session(strike=True)
    if call == "no_stroke":
        table.played()
    table.strike(1_000)
    table.do(call, at=1_001)
    table.reboot(at=5)  # the clock of the new boot begins from the start
    table.strike(10)
    assert table.document["stroke"] is not None, "compared with the clock of another boot, it came before the last one"


def test_a_strike_within_a_second_is_the_same_strike():
    table = Session(strike=True)
    table.strike(1)
    table.strike(1.9)
    assert table.strokes == []
    table.strike(2)
    assert table.strokes == [[]], "a second later it is another one"


def test_a_strike_a_moment_after_the_last_closes_no_stroke_that_a_passage_opened():
    table = Session(strike=True)
    table.strike(1)
    table.do("no_stroke", at=1.2)
    table.passes("white", at=1.4)
    table.strike(1.9)
    assert table.strokes == []
    assert len(table.open_stroke["fallen"]) == 1


def test_a_strike_closes_without_a_player():
    table = Session(strike=True)
    table.strike(1)
    table.passes("black", at=2)
    table.strike(20)
    assert table.questions == [], "with a strike sensor nobody is asked who shot"
    closed = next(event for event in table.events if event["event"] == "stroke_closed")
    assert closed["by"] == "strike"
    assert closed["player"] is None


def test_quiet_time_counts_from_the_strike():
    table = Session(strike=True)
    table.strike(1)
    table.clock(6.9)
    assert table.open_stroke is not None
    table.clock(7)
    assert table.strokes == [[]]


def test_a_strike_outside_play_starts_nothing():
    table = Session(strike=True, position=NEARLY_WON)
    table.passes("white", at=1)
    table.press(1, at=2)
    table.strike(3)
    assert table.open_stroke is None


def test_a_late_passage_amends_the_stroke_that_a_button_closed():
    table = Session()
    table.passes("white", at=1)
    table.press(1, at=2)
    table.passes("white", at=4)
    assert table.strokes == [["white", "white"]]
    assert table.names == ["corrected"]
    assert table.news[0]["before"]["sides"]["A"]["pocketed"] == 1
    assert table.news[0]["after"]["sides"]["A"]["pocketed"] == 2
    assert table.open_stroke is None


def test_a_late_passage_in_a_miss_gives_the_turn_back():
    table = Session()
    table.press(1, at=1)
    assert table.turn == 2
    table.passes("white", at=2)
    assert table.turn == 1
    assert table.strokes == [["white"]]


def test_a_passage_more_than_two_seconds_after_the_button_opens_the_next_stroke():
    table = Session()
    table.press(1, at=1)
    table.passes("black", at=3.1)
    assert table.strokes == [[]]
    assert table.open_stroke["number"] == 2


@pytest.mark.parametrize("close", ["quiet", "hand", "call"])
def test_after_any_other_close_a_passage_opens_the_next_stroke(close):
    table = Session()
    if close == "quiet":
        closed = quiet(table)
    elif close == "hand":
        closed = 1.0
        table.do("stroke", at=closed, pocketed=["white"])
    else:
        table.passes("white", at=1)
        closed = 2.0
        table.do("recount", at=closed, turn={"player": 1})
    table.passes("white", at=closed + 1)
    assert table.strokes == [["white"]]
    assert table.open_stroke["number"] == 2


def test_a_request_to_end_the_stroke_is_like_the_button():
    table = Session()
    table.do("end_stroke", at=1)
    table.passes("white", at=2)
    assert table.strokes == [["white"]]


def test_with_a_strike_between_a_passage_is_not_late():
    table = Session(strike=True)
    table.press(1, at=1)
    table.strike(1.5)
    table.passes("black", at=2)
    assert table.strokes == [[]]
    assert len(table.open_stroke["fallen"]) == 1


def test_a_late_passage_amends_past_the_end_of_a_board():
    table = Session(position=NEARLY_WON)
    table.passes("white", at=1)
    table.press(1, at=2)
    assert table.rules["board_result"] == {"winner": "A", "points": 4 + 5}
    table.passes("striker", at=3)
    assert table.rules["phase"] == "playing", "with the striker it was a foul: two pieces come back"
    assert table.names == ["corrected"]


def test_with_a_strike_after_the_end_of_a_board_nothing_is_amended():
    table = Session(strike=True, position=NEARLY_WON)
    table.passes("white", at=1)
    table.press(1, at=2)
    table.strike(2.5)
    table.passes("striker", at=3)
    assert table.rules["phase"] == "board_over"
    assert table.names == ["passage_not_scored"]


def test_a_late_passage_that_would_undo_a_later_call_belongs_to_what_is_played_now():
    table = Session(position=NEARLY_WON)
    table.passes("white", at=1)
    table.press(1, at=2)
    table.do("next_board", at=2.5)
    table.passes("striker", at=3)
    assert table.rules["board"] == 2, "the next board stands on that board's end"
    assert table.open_stroke is not None


@pytest.mark.parametrize("unknown", ["ask", "ask_then_assume", "assume"])
def test_so_does_one_that_would_undo_it_by_what_it_is_assumed_to_have_been(unknown):
    table = Session(position=NEARLY_WON, unknown=unknown)
    table.passes("white", at=1)
    table.press(1, at=2)
    table.do("next_board", at=2.5)
    table.passes(at=3)
    assert table.open_stroke is not None
    table.colour("black", at=3)
    table.press(2, at=10)
    table.press(1, at=20)
    assert table.rules["board"] == 2, "the next board stands on that board's end"


def test_a_late_passage_after_a_call_is_judged_with_its_own_stroke():
    table = Session()
    table.press(1, at=1)
    table.do("no_stroke", at=1.5)
    table.passes("white", at=2)
    assert table.lines == [{"type": "stroke", "pocketed": ["white"]}, {"type": "no_stroke"}]
    table.do("undo")
    assert table.strokes == [["white"]]
    assert table.pending == []


def test_a_late_passage_is_part_of_its_step():
    table = Session()
    table.press(1, at=1)
    table.passes("white", at=2)
    table.do("undo")
    assert table.lines == []
    assert table.unscored() == {"p1"}
    table.do("redo")
    assert table.strokes == [["white"]]
    assert table.unscored() == set()


def test_a_late_passage_that_is_unknown_asks():
    table = Session(unknown="ask")
    table.press(1, at=1)
    table.passes(at=2)
    assert table.pending == [1]
    assert table.turn == 1
    assert [question["kind"] for question in table.questions] == ["what_fell"]
    table.do("answer", value="black")
    assert table.strokes == [["black"]]


def test_a_colour_that_comes_after_the_next_close_revises_the_right_stroke():
    table = Session(unknown="assume")
    table.passes("white", "black", at=1, place="ne")
    table.press(1, at=1.2)
    table.press(2, at=1.4)
    assert table.strokes == [["white"], [], []]
    table.colour("black", at=1, place="ne")
    assert table.strokes == [["black"], []], "a foul passes the turn, so Ben's miss needs no other assumed"
    assert table.names == ["corrected"]
    assert table.turn == 1


# -- outside play


def test_outside_play_a_passage_is_not_scored_and_starts_nothing():
    table = Session(position=NEARLY_WON)
    table.played("white")
    table.passes("black", at=20)
    assert table.open_stroke is None
    assert table.names == ["passage_not_scored"]
    assert table.unscored() == {"p1"}


def test_paused_nothing_scores():
    table = Session()
    table.do("pause", at=1)
    assert table.document["paused"] is True
    table.passes("white", at=2)
    table.strike(3)
    assert table.names in ([], ["passage_not_scored"])
    assert table.open_stroke is None
    assert table.ask("end_stroke", at=4) == "wrong_phase"
    assert table.ask("stroke", at=4, pocketed=["white"]) == "wrong_phase"
    table.do("resume", at=5)
    assert table.document["paused"] is False
    assert table.lines == []
    assert table.unscored() == {"p1"}


def test_done_after_a_board_sets_up_the_next_one():
    table = Session(position=NEARLY_WON)
    table.played("white")
    table.press(2, at=50)
    assert table.rules["board"] == 2
    assert table.rules["phase"] == "playing"
    assert table.lines[-1] == {"type": "next_board"}


def test_done_after_a_match_begins_a_new_one_as_before():
    table = Session("new_carrom", players=("Asha", "Ben"), rules={"x.break_tries": 5}, position=NEARLY_WON)
    table.played("white")
    assert table.rules["phase"] == "match_over"
    table.press(2, at=50)
    assert table.document["match_id"] == "m2"
    assert table.rules["phase"] == "playing"
    assert table.side("A")["pocketed"] == 0, "a position is for one match"
    assert table.state.match.started.setup["line"]["options"]["x.break_tries"] == 5
    assert [player["name"] for player in table.document["players"]] == ["Asha", "Ben"]


def test_done_after_an_abandoned_match_begins_a_new_one():
    table = Session()
    table.played("white")
    table.do("abandon")
    table.press(1, at=50)
    assert table.document["match_id"] == "m2"


def test_done_in_a_line_up_lines_up_the_full_number():
    table = Session("carpetball")
    table.press(2, at=1)
    assert table.rules["phase"] == "round"
    assert [table.rules["ends"][end]["in_play"] for end in ("north", "south")] == [5, 5]


def test_done_after_a_round_starts_the_next_one():
    table = Session("carpetball")
    table.do("line_up", north=1, south=1)
    table.do("throw", out={"south": 1})
    table.do("throw", out={})
    assert table.rules["phase"] == "round_over"
    table.press(1, at=50)
    assert table.rules["round"] == 2
    assert table.rules["phase"] == "line_up"


def test_done_takes_the_assumption_that_ended_the_board():
    table = Session(position=NEARLY_WON)
    table.passes("white", "striker", at=1)
    table.press(1, at=2)
    assert table.rules["phase"] == "playing", "it waits for an answer"
    assert table.pending == [1]
    table.press(2, at=10)
    assert table.rules["board"] == 2
    assert table.side("A")["score"] == 4 + 5
    won = next(news for news in table.news if news["event"] == "board_won")
    assert won["certain"] is False


def test_done_takes_the_assumption_that_ended_the_match():
    table = Session("new_carrom", position=NEARLY_WON)
    table.passes("white", "striker", at=1)
    table.press(1, at=2)
    assert table.pending == [1]
    assert table.press(2, at=10) is None
    assert table.document["match_id"] == "m2"
    assert table.document["last_result"]["match_winner"] == "A"
    assert table.document["last_result"]["certain"] is False
    table.do("undo")
    assert table.rules["phase"] == "match_over"
    table.do("undo")
    assert table.pending == [1]
    assert len(table.questions) == 1, "the question opens again"
