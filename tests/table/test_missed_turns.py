"""Turns that were missed without a press: assumed where one is enough, asked about where it takes more.

A stroke names the player whose button closed it. If that player is not on turn but would be after one missed
stroke, the miss is assumed: it has no number, says that it is assumed, and is exported as an empty stroke.
"""

from tests.support.session import Session


def test_one_miss_is_assumed_shown_as_assumed_and_has_no_number():
    table = Session()
    table.passes("black", at=1)
    table.press(2, at=2)
    missed = [news for news in table.news if news["event"] == "stroke_missed"]
    assert len(missed) == 1
    assert missed[0]["player"] == 1
    assert missed[0]["assumed"] is True
    assert "stroke" not in missed[0]
    scored = next(news for news in table.news if news["event"] == "stroke_scored")
    assert scored["stroke"] == 1
    assert scored["player"] == 2
    assert "assumed" not in scored
    assert table.lines == [{"type": "stroke", "pocketed": []}, {"type": "stroke", "pocketed": ["black"]}]
    table.passes("black", at=20)
    assert table.open_stroke["number"] == 2


def test_the_miss_is_derived_anew_when_the_past_changes():
    table = Session()
    table.passes("white", at=1)
    table.press(1, at=2)
    table.passes("black", at=11)
    table.press(2, at=12)
    assert table.strokes == [["white"], [], ["black"]]
    table.do("correct", stroke=1, pocketed=[])
    assert table.strokes == [[], ["black"]], "Asha has missed in stroke 1, so nothing need be assumed"
    table.do("correct", stroke=1, pocketed=["white"])
    assert table.strokes == [["white"], [], ["black"]]


def test_a_stroke_that_names_nobody_is_of_whoever_is_on_turn():
    table = Session(strike=True)
    table.strike(1)
    table.strike(20)
    table.passes("black", at=21)
    table.clock(40)
    assert table.strokes == [[], ["black"]]
    assert table.side("B")["pocketed"] == 1
    table.do("correct", stroke=1, pocketed=["white"])
    assert table.side("B")["pocketed"] == 0, "now Asha was on turn in stroke 2, and it was a foul"


def test_with_four_players_the_third_asks_who_shot():
    table = Session(players=("Asha", "Ben", "Chidi", "Dana"), unknown="ask")
    table.press(3, at=1)
    assert [(q["kind"], q["assumed"]) for q in table.questions] == [("who_shot", 1)]
    assert table.lines == []


def test_unanswered_it_was_the_player_on_turn_and_nothing_is_assumed_missed():
    table = Session(players=("Asha", "Ben", "Chidi", "Dana"), unknown="assume")
    table.passes("white", at=1)
    table.press(4, at=2)
    assert table.strokes == [["white"]]
    assert table.turn == 1


def test_the_player_before_is_three_turns_away():
    table = Session(players=("Asha", "Ben", "Chidi", "Dana"), unknown="ask")
    table.press(1, at=1)
    table.press(1, at=20)
    assert [q["kind"] for q in table.questions] == ["who_shot"]
    table.do("answer", value=1)
    assert table.strokes == [[], [], [], [], []]
    assert table.turn == 2


def test_money_consumes_missed_turns_within_the_one_miss():
    table = Session("money_carrom", players=("Asha", "Ben", "Chidi"))
    table.press(1, at=1)
    table.passes("striker", at=11)
    table.press(2, at=12)
    table.press(3, at=21)
    assert table.rules["players"][1]["missed_turns"] == 1
    assert table.turn == 1
    # Asha's miss is assumed, Ben's turn is missed on the way, and Chidi has shot.
    table.passes("white", at=31)
    table.press(3, at=32)
    assert table.questions == []
    assert table.rules["players"][1]["missed_turns"] == 0
    assert [player["score"] for player in table.rules["players"]] == [0, 0, 1]
    assert table.lines[-2:] == [{"type": "stroke", "pocketed": []}, {"type": "stroke", "pocketed": ["white"]}]
    assert "turn_missed" in table.names


def test_a_queen_that_an_assumed_miss_leaves_uncovered_goes_back():
    table = Session(position={"sides": {"A": {"pocketed": 1}}, "turn": {"player": 1}})
    table.passes("queen", at=1)
    table.press(1, at=2)
    assert table.rules["queen"] == {"status": "uncovered", "side": "A"}
    table.passes("black", at=11)
    table.press(2, at=12)
    assert table.rules["queen"] == {"status": "on_board", "side": None}
    assert table.side("B")["pocketed"] == 1
    returned = next(news for news in table.news if news["event"] == "queen_returned")
    assert returned["assumed"] is True


def test_carpetball_alternates_by_the_same_rule():
    table = Session("carpetball")
    table.do("line_up", north=5, south=5)
    table.passes("ball", at=1, place="north")
    table.press(2, at=2)
    assert [line["type"] for line in table.lines] == ["line_up", "throw", "throw"]
    assert table.lines[1]["out"] == {"north": 0, "south": 0}
    assert table.lines[2]["out"] == {"north": 1, "south": 0}


def test_a_miss_that_would_end_the_round_does_not_bring_the_player_to_the_table():
    table = Session("carpetball", unknown="ask")
    table.do("line_up", north=1, south=1)
    table.passes("ball", at=1, place="south")
    table.press(1, at=2)
    assert table.rules["turn"] == {"end": "south", "final_throw": True}
    table.press(1, at=11)
    assert [q["kind"] for q in table.questions] == ["who_shot"]
    table.do("answer", value=2)
    assert table.rules["round_winner"] == 1
