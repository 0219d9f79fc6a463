"""Passages that may be two, or none: asked, answered, assumed, taken back; in every mode, and after undo.

Player 1 (Asha, side A) breaks and is white, player 2 (Ben, side B) is black.
"""

import pytest

from appliance.table.inputs import Passed
from tests.support.session import CARROM, Session, ns
from tests.table.test_questions import fell

OPEN = {"A": {"pocketed": 1}}


def asked(table):
    return [(q["kind"], q["candidates"], q["assumed"]) for q in table.questions]


def stroke_with(doubt, *candidates, unknown="ask", **more):
    table = Session(unknown=unknown, **more)
    table.passes(*(candidates or ("white",)), at=1, doubt=doubt)
    table.press(1, at=3)
    return table


# -- asking


@pytest.mark.parametrize(
    ("doubt", "question"),
    [
        ("possibly_two", ("how_many", [0, 1, 2], 1)),
        ("unclear", ("did_it_fall", [True, False], False)),
    ],
)
def test_a_doubt_is_asked_about(doubt, question):
    table = stroke_with(doubt)
    assert asked(table) == [question]
    (shown,) = table.document["pending"][0]["fallen"]
    assert (shown["object"], shown["how"], shown["doubt"]) == (None, "unknown", doubt)
    assert table.strokes == []


@pytest.mark.parametrize(
    ("doubt", "value", "pocketed"),
    [
        ("possibly_two", 0, []),
        ("possibly_two", 1, ["white"]),
        ("possibly_two", 2, ["white", "white"]),
        ("possibly_two", "white", ["white"]),
        ("unclear", True, ["white"]),
        ("unclear", False, []),
        ("unclear", "white", ["white"]),
    ],
)
def test_an_answer_settles_it(doubt, value, pocketed):
    table = stroke_with(doubt)
    table.do("answer", value=value)
    assert table.questions == []
    assert table.strokes == [pocketed]
    assert table.state.fold.assumptions == frozenset()
    answered = next(news for news in table.news if news["event"] == "question_answered")
    assert answered["value"] == value
    assert type(answered["value"]) is type(value)


@pytest.mark.parametrize(
    ("doubt", "value", "code"),
    [
        ("possibly_two", 3, "malformed"),
        ("possibly_two", -1, "malformed"),
        ("possibly_two", True, "malformed"),
        ("possibly_two", None, "malformed"),
        ("unclear", 1, "malformed"),
        ("unclear", "purple", "malformed"),
        ("unclear", "black", "impossible_count"),
    ],
)
def test_an_answer_that_makes_no_sense_is_refused(doubt, value, code):
    table = stroke_with(doubt)
    assert table.ask("answer", value=value) == code
    assert len(table.questions) == 1


@pytest.mark.parametrize(("doubt", "pocketed"), [("possibly_two", ["white"]), ("unclear", [])])
@pytest.mark.parametrize("mode", ["assume", "ask_then_assume"])
def test_one_or_none_is_assumed(mode, doubt, pocketed):
    table = stroke_with(doubt, unknown=mode)
    if mode == "ask_then_assume":
        assert table.pending == [1]
        table.press(1, at=20)
        answered = next(news for news in table.news if news["event"] == "question_answered")
        assert (answered["value"], answered["assumed"]) == ({"possibly_two": 1, "unclear": False}[doubt], True)
    assert table.strokes[0] == pocketed
    assert 1 in table.state.fold.assumptions, "a board that rests on it is not certain"


def test_what_only_one_object_could_be_is_one():
    assert stroke_with("possibly_two", "striker").strokes == [["striker"]]


def test_what_cannot_be_on_the_table_is_not_asked_about():
    gone = {"queen": {"status": "covered", "side": "A"}, "sides": {"A": {"pocketed": 3}}}
    table = stroke_with("unclear", "queen", position=gone)
    assert table.questions == []
    assert table.strokes == [[]]


def test_what_it_was_is_asked_after_whether_it_fell():
    table = stroke_with("unclear", *CARROM)
    assert [kind for kind, _, _ in asked(table)] == ["did_it_fall"]
    table.do("answer", value=True)
    assert asked(table) == [("what_fell", list(CARROM), "white")]
    table.do("answer", value="black")
    assert table.strokes == [["black"]]


def test_of_two_each_is_asked_about():
    table = stroke_with("possibly_two", *CARROM, position={"sides": OPEN})
    table.do("answer", value=2)
    assert [(q["kind"], q["passage_id"]) for q in table.questions] == [("what_fell", "p1"), ("what_fell", "p1b")]
    table.do("answer", value="white")
    table.do("answer", value="striker")
    assert [sorted(stroke) for stroke in table.strokes] == [["striker", "white"]]
    assert fell(table) == [("white", "told"), ("striker", "told")]


def test_the_name_of_the_object_is_one_tap():
    for doubt in ("unclear", "possibly_two"):
        table = stroke_with(doubt, *CARROM)
        table.do("object", object="own")
        assert table.questions == []
        assert table.strokes == [["white"]]


def test_an_object_named_while_the_stroke_is_open_is_in_no_doubt():
    table = Session(unknown="ask")
    table.passes(at=1, doubt="unclear")
    table.do("object", object="black", at=2)
    assert table.open_stroke["fallen"][0]["doubt"] is None
    table.press(1, at=3)
    assert table.strokes == [["black"]]


def test_a_ball_that_may_not_have_fallen_is_not_taken_for_the_cue_ball():
    table = Session("carpetball", unknown="assume")
    table.do("line_up", north=5, south=5)
    far = "south" if table.turn == "north" else "north"
    table.passes(at=1, place=far, doubt="unclear")
    table.passes(at=2, place=far)
    table.passes(at=3, place=far)
    table.do("end_stroke", at=4)
    assert fell(table) == [(None, "assumed"), ("cue", "assumed"), ("ball", "assumed")]


# -- colours


def test_a_colour_settles_a_doubt():
    for doubt in ("possibly_two", "unclear"):
        table = Session(unknown="ask")
        table.passes(at=1, doubt=doubt)
        table.colour("white", at=1)
        table.press(1, at=3)
        assert table.questions == []
        assert fell(table) == [("white", "colour")]


@pytest.mark.parametrize("closes_after", [0, 1, 2], ids=["before both", "between", "after both"])
def test_two_colours_are_two_objects(closes_after):
    table = Session(unknown="ask")
    table.passes(at=1, doubt="possibly_two")
    for number, name in enumerate(("white", "striker")):
        if number == closes_after:
            table.press(1, at=1.2)
        table.colour(name, at=1)
    if closes_after == 2:
        table.press(1, at=1.2)
    assert table.pending == []
    assert [sorted(stroke) for stroke in table.strokes] == [["striker", "white"]]


def test_two_colours_of_what_is_surely_one_object_are_one():
    table = Session(unknown="ask")
    table.passes(at=1)
    table.colour("white", at=1)
    table.colour("white", at=1)
    table.press(1, at=3)
    assert table.strokes == [["white"]]


def test_what_bounces_keeps_its_colour():
    table = Session(unknown="ask")
    table.passes(at=1)
    table.colour("white", at=1)
    table.colour("queen", at=1)
    table.press(1, at=3)
    assert [sorted(stroke) for stroke in table.strokes] == [["queen", "white"]]


@pytest.mark.parametrize(("twice", "second"), [(True, "white"), (False, "queen"), (True, "queen")])
def test_two_colours_are_two_where_one_object_cannot_have_made_both(twice, second):
    table = Session(unknown="ask")
    table.passes(at=1, doubt="possibly_two")
    table.colour("white", at=1, twice=twice)
    table.colour(second, at=1, twice=twice)
    table.press(1, at=3)
    assert table.questions == []
    assert [sorted(stroke) for stroke in table.strokes] == [sorted(["white", second])]


def test_a_third_colour_makes_no_third_object():
    table = Session(unknown="ask")
    table.passes(at=1, doubt="possibly_two")
    for _ in range(3):
        table.colour("white", at=1, twice=True)
    table.press(1, at=3)
    assert table.strokes == [["white", "white"]]


@pytest.mark.parametrize(("answer", "pocketed"), [(1, ["white"]), (2, ["white", "white"]), (0, [])])
def test_the_same_colour_twice_of_what_may_have_bounced_is_asked_about(answer, pocketed):
    table = Session(unknown="ask")
    table.passes(at=1, doubt="possibly_two")
    table.colour("white", at=1)
    table.colour("white", at=1)
    table.press(1, at=3)
    assert asked(table) == [("how_many", [0, 1, 2], 1)]
    table.do("answer", value=answer)
    assert table.strokes == [pocketed]


# -- there is one striker, and one queen


def twice(*, unknown="ask", first=None, second=None, name="striker"):
    """A stroke in which two pockets tell of the striker."""
    table = Session(unknown=unknown)
    table.passes(name, at=1, place="ne", doubt=first)
    table.passes(name, at=4, place="sw", doubt=second)
    table.clock(11)
    return table


@pytest.mark.parametrize("name", ["striker", "queen"])
def test_what_falls_twice_in_a_stroke_and_is_there_once_is_asked_about(name):
    table = twice(name=name)
    assert asked(table) == [("did_it_fall", [True, False], True)]
    assert [(q["place"], table.pending) for q in table.questions] == [("ne", [1])]


def test_confirmed_the_other_one_is_none():
    table = twice()
    table.do("answer", value=True)
    assert table.questions == []
    assert table.strokes == [["striker"]]
    assert table.unscored() == {"p2"}


def test_denied_it_was_the_other_one():
    table = twice()
    table.do("answer", value=False)
    assert table.questions == []
    assert table.strokes == [["striker"]]
    assert table.unscored() == {"p1"}


def test_where_the_table_assumes_the_first_has_fallen_and_is_marked():
    table = twice(unknown="assume")
    assert table.strokes == [["striker"]]
    assert fell(table) == [("striker", "assumed"), (None, "unknown")]


def test_what_nobody_answers_is_told_as_assumed():
    table = twice(unknown="ask_then_assume")
    table.press(2, at=20)
    (answered,) = [event for event in table.events if event["event"] == "question_answered"]
    assert (answered["value"], answered["assumed"]) == (True, True)
    assert table.strokes == [["striker"], []]


@pytest.mark.parametrize("answers", [[True], [False, True], [False, False]])
def test_an_unclear_one_beside_it_makes_it_doubtful_too(answers):
    table = twice(second="unclear")
    for value in answers:
        table.do("answer", value=value)
    assert table.questions == []
    assert table.strokes == ([["striker"]] if True in answers else [])


def test_one_that_turns_out_to_be_a_hand_leaves_the_other_alone():
    table = Session(unknown="ask")
    table.passes("striker", at=1, place="ne")
    table.passes("striker", at=4, place="sw")
    table.withdraws(at=4, known=4.5, place="sw")
    table.clock(11)
    assert table.questions == []
    assert table.strokes == [["striker"]]


def test_two_men_of_one_colour_are_no_contradiction():
    table = Session(unknown="ask")
    table.passes("white", at=1, place="ne")
    table.passes("white", at=4, place="sw")
    table.clock(11)
    assert table.strokes == [["white", "white"]]


# -- what is known later


def test_a_doubt_may_come_later_and_go_again():
    table = Session(unknown="ask")
    table.passes("white", at=1)
    table.passes("white", at=1, ms=60, doubt="possibly_two")
    assert table.open_stroke["fallen"][0]["doubt"] == "possibly_two"
    table.passes("white", at=1, ms=60)
    assert table.open_stroke["fallen"][0]["doubt"] is None
    table.press(1, at=3)
    assert table.strokes == [["white"]]


def test_another_beam_may_narrow_it_later():
    table = Session(unknown="ask")
    table.passes(at=1)
    table.passes("striker", at=1)
    table.press(1, at=3)
    assert fell(table) == [("striker", "beam")]


def test_a_doubt_right_after_the_close_amends_the_stroke():
    table = Session(unknown="ask")
    table.passes("white", at=1)
    table.press(1, at=1.05)
    assert table.strokes == [["white"]]
    table.passes("white", at=1, ms=90, doubt="possibly_two")
    assert table.names == ["corrected"]
    assert asked(table) == [("how_many", [0, 1, 2], 1)]
    table.do("answer", value=2)
    assert table.strokes == [["white", "white"]]


def test_so_does_one_about_what_came_as_late_as_can_be():
    """The first piece of a hand, 1.9 s after the press, and the next one half a second later."""
    table = Session(unknown="assume")
    table.press(1, at=1)
    table.passes("white", at=2.9)
    assert table.strokes == [["white"]]
    table.take(Passed("ne", "ne", ("white",), ns(2.9), ns(2.93), "unclear", None, ns(3.4)))
    assert table.strokes == [[]]


# -- taken back


def test_what_was_shown_is_taken_back_with_its_stroke():
    table = Session()
    passage = table.passes(at=1)
    table.withdraws(at=1, known=2, reason="a hand")
    assert table.names == ["passage_not_scored"]
    assert table.news[0]["reason"] == "a hand"
    assert table.open_stroke is None
    assert table.unscored() == {passage}
    table.clock(20)
    assert table.lines == []
    assert table.turn == 1, "a hand passes no turn"


def test_the_others_of_the_stroke_stay():
    table = Session()
    table.passes("white", at=1)
    table.passes(at=2, place="nw")
    table.withdraws(at=2, place="nw", known=2.5)
    table.press(1, at=4)
    assert table.strokes == [["white"]]


def test_a_stroke_that_was_felt_goes_on_without_it():
    table = Session(strike=True)
    table.strike(1)
    table.passes(at=2)
    table.withdraws(at=2, known=3)
    assert table.open_stroke is not None
    table.clock(20)
    assert table.strokes == [[]], "the shot was made, and missed"


def test_what_somebody_has_named_is_not_taken_back():
    table = Session()
    table.passes(at=1)
    table.do("object", object="white", at=1.5)
    table.withdraws(at=1, known=2)
    table.press(1, at=3)
    assert table.strokes == [["white"]]


def test_what_never_was_shown_is_kept_and_starts_nothing():
    table = Session()
    table.withdraws(at=1, known=1.6, ms=600)
    assert table.names == ["passage_not_scored"]
    assert table.open_stroke is None
    assert table.unscored() == {"p1"}


def test_a_hand_after_a_quiet_close_does_not_make_a_miss_of_the_confirming_press():
    table = Session()
    table.passes("white", at=1)
    table.clock(8)
    table.withdraws(at=8, known=9, ms=900)
    table.press(1, at=9)
    assert table.strokes == [["white"]]


def test_taken_back_within_10_s_of_the_close_it_amends_the_stroke():
    table = Session()
    table.passes("white", at=1)
    table.press(1, at=1.1)
    assert table.side("A")["pocketed"] == 1
    table.withdraws(at=1, known=11.1)
    assert table.names == ["corrected"]
    assert table.strokes == [[]]
    assert table.unscored() == {"p1"}
    table.do("undo")
    assert table.lines == []
    table.do("redo")
    assert table.strokes == [[]]


def test_later_the_score_stays_and_people_are_told():
    table = Session()
    passage = table.passes("white", at=1)
    table.press(1, at=1.1)
    table.withdraws(at=1, known=11.101, reason="a hand")
    assert table.strokes == [["white"]]
    (news,) = table.news
    assert (news["event"], news["stroke"], news["passage_id"]) == ("passage_doubted", 1, passage)
    assert news["reason"] == "a hand"


def test_what_was_taken_back_can_be_claimed():
    table = Session()
    table.passes("white", at=1)
    passage = table.passes(at=2, place="nw")
    table.withdraws(at=2, place="nw", known=2.5)
    table.press(1, at=4)
    table.do("correct", stroke=1, claim=passage, object="white")
    assert table.strokes == [["white", "white"]]
    assert table.unscored() == set()


def test_what_nobody_said_fell_can_be_claimed():
    table = stroke_with("unclear", "white", unknown="assume")
    assert table.unscored() == {"p1"}
    table.do("correct", stroke=1, claim="p1", object="white")
    assert table.strokes == [["white"]]


# -- a stroke of nothing


def test_nothing_but_a_hand_is_no_stroke():
    table = Session(unknown="ask")
    table.passes(at=1, doubt="unclear")
    table.clock(20)
    assert table.pending == [1]
    table.do("answer", value=False)
    assert table.lines == []
    assert table.turn == 1


def test_the_players_own_word_makes_it_a_miss():
    table = Session(unknown="assume")
    table.passes(at=1, doubt="unclear")
    table.press(1, at=3)
    assert table.strokes == [[]]
    assert table.turn == 2


def test_a_stroke_of_nothing_can_be_corrected():
    table = Session(unknown="assume")
    table.passes("white", at=1, doubt="unclear")
    table.clock(20)
    assert table.lines == []
    table.do("correct", stroke=1, pocketed=["white"])
    assert table.strokes == [["white"]]


# -- undo and the fold


@pytest.mark.parametrize("value", [0, 1, 2])
def test_undo_opens_the_question_again_and_redo_answers_it(value):
    table = stroke_with("possibly_two")
    before = table.document
    table.do("answer", value=value)
    after = table.strokes
    table.do("undo")
    assert table.questions == before["questions"]
    assert table.document["pending"] == before["pending"]
    table.do("redo")
    assert table.strokes == after
    assert table.questions == []


def test_an_assumption_taken_does_not_flip_when_the_past_is_folded_again():
    table = Session(unknown="assume")
    table.played("white")
    table.passes("white", at=10, doubt="possibly_two")
    table.press(1, at=12)
    table.passes("white", at=20, doubt="unclear")
    table.press(1, at=22)
    assert table.strokes == [["white"], ["white"], []]
    table.do("correct", stroke=1, pocketed=["white", "white"])
    assert table.strokes == [["white", "white"], ["white"], []]


def test_the_pieces_are_all_there_after_two_in_one_pulse():
    table = stroke_with("possibly_two", *CARROM)
    table.do("answer", value=2)
    table.do("answer", value="white")
    table.do("answer", value="white")
    left = 19 - sum(table.side(side)["pocketed"] for side in "AB")
    assert left == 17


def test_what_is_known_of_a_passage_long_after_it_is_no_new_passage():
    table = Session()
    for number in range(4):
        table.passes("white", at=1 + 10 * number)
        table.clock(9 + 10 * number)
    table.take(Passed("ne", "ne", ("white",), ns(1), ns(1.03), None, None, ns(42)))
    assert table.open_stroke is None
    assert table.strokes == [["white"]] * 4
