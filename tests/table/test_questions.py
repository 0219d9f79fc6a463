"""What the beams cannot tell: asked, answered, assumed; narrowing; own and other; who shot.

Player 1 (Asha, side A) breaks and is white, player 2 (Ben, side B) is black.
"""

import pytest

from appliance.sensing.signals import Uncounted
from appliance.table.inputs import Request
from tests.support.session import CARROM, Session, ns


def fell(table):
    """What the last judged stroke was taken to be: (object, how) of each passage."""
    judged = table.state.fold.strokes[-1].judged.objects
    return [(judgement.object, judgement.how) for judgement in judged]


# -- when a question opens and when it takes its assumption


def test_a_question_opens_when_the_stroke_closes():
    table = Session(unknown="ask")
    passage = table.passes(at=1)
    assert table.questions == []
    assert table.open_stroke["fallen"] == [
        {
            "passage_id": passage,
            "place": "ne",
            "object": None,
            "candidates": list(CARROM),
            "how": "unknown",
            "provisional": True,
            "doubt": None,
        }
    ]
    table.press(1, at=2)
    assert table.names == ["stroke_closed", "question_opened"]
    assert table.questions == [
        {
            "id": "q1",
            "stroke": 1,
            "kind": "what_fell",
            "place": "ne",
            "candidates": list(CARROM),
            "assumed": "white",
            "passage_id": passage,
        }
    ]
    assert [stroke["number"] for stroke in table.document["pending"]] == [1]
    assert table.document["pending"][0]["fallen"][0]["provisional"] is False
    assert table.rules["sides"]["A"]["pocketed"] == 0, "the score shows the last settled state"


def test_ask_waits_for_the_answer():
    table = Session(unknown="ask")
    table.passes(at=1)
    table.press(1, at=2)
    table.press(1, at=20)
    table.press(2, at=40)
    assert table.pending == [1, 2, 3]
    assert table.lines == []
    table.do("answer", value="white")
    assert table.pending == []
    assert table.strokes == [["white"], [], []]
    assert fell_of(table, 1) == [("white", "told")]


def fell_of(table, number):
    judged = table.state.fold.judged_stroke(number).judged.objects
    return [(judgement.object, judgement.how) for judgement in judged]


def test_ask_then_assume_waits_until_the_next_stroke_has_closed():
    table = Session(unknown="ask_then_assume")
    table.passes(at=1)
    table.press(1, at=2)
    table.passes("white", at=20)
    assert table.pending == [1], "an open stroke does not press for an answer"
    table.press(1, at=21)
    assert table.pending == []
    assert table.strokes == [["white"], ["white"]]
    assert fell_of(table, 1) == [("white", "assumed")]
    answered = next(news for news in table.news if news["event"] == "question_answered")
    assert answered == {"event": "question_answered", "question": "q1", "stroke": 1, "value": "white", "assumed": True}


def test_assume_takes_it_at_once():
    table = Session(unknown="assume")
    table.passes(at=1)
    table.press(1, at=2)
    assert table.pending == []
    assert table.questions == []
    assert fell(table) == [("white", "assumed")]


def test_when_nine_wait_the_oldest_takes_its_assumption():
    table = Session(unknown="ask", position={"sides": {"A": {"pocketed": 1}}})
    for number in range(8):
        table.passes(at=10 * number + 1)
        table.do("end_stroke", at=10 * number + 5)
    assert table.pending == [1, 2, 3, 4, 5, 6, 7, 8]
    table.passes(at=101)
    table.do("end_stroke", at=105)
    assert table.pending == [2, 3, 4, 5, 6, 7, 8, 9]
    assert fell_of(table, 1) == [("white", "assumed")]


def test_later_strokes_queue_behind_and_are_judged_in_order():
    table = Session(unknown="ask")
    table.passes(at=1)
    table.do("end_stroke", at=2)
    table.passes("queen", at=11)
    table.do("end_stroke", at=12)
    table.passes("white", at=21)
    table.do("end_stroke", at=22)
    table.do("answer", value="white")
    assert table.strokes == [["white"], ["queen"], ["white"]]
    assert table.rules["queen"] == {"status": "covered", "side": "A"}


def test_the_answer_that_was_not_assumed_turns_the_rest():
    table = Session(unknown="ask")
    table.passes("white", "black", at=1)
    table.do("end_stroke", at=2)
    table.passes("black", at=11)
    table.do("end_stroke", at=12)
    table.do("answer", value="black")
    assert table.strokes == [["black"], ["black"]]
    assert table.side("B")["pocketed"] == 1, "the first was a foul of white's: it comes back; the second is Ben's own"
    assert table.turn == 2


def test_a_call_queues_behind_a_pending_stroke_where_the_table_asks():
    table = Session(unknown="ask")
    table.passes(at=1)
    table.press(1, at=2)
    table.do("no_stroke", at=10)
    assert table.lines == []
    table.do("answer", value="striker")
    assert [line["type"] for line in table.lines] == ["stroke", "no_stroke"]


def test_a_recount_waits_for_the_answer_where_the_table_only_asks():
    table = Session(unknown="ask")
    table.passes(at=1)
    table.press(1, at=2)
    table.do("recount", sides={"A": {"pocketed": 5}})
    assert table.pending == [1]
    table.do("answer", value="white")
    assert table.side("A")["pocketed"] == 5


def test_a_recount_takes_the_assumption_where_the_table_assumes():
    table = Session(unknown="ask_then_assume")
    table.passes(at=1)
    table.press(1, at=2)
    table.do("recount", sides={"A": {"pocketed": 5}})
    assert table.pending == []
    assert table.side("A")["pocketed"] == 5


# -- narrowing


def test_one_candidate_is_known():
    table = Session(unknown="ask")
    table.passes("striker", at=1)
    table.press(1, at=2)
    assert fell(table) == [("striker", "beam")]


def test_a_colour_narrows_to_one():
    table = Session(unknown="ask")
    table.passes(at=1)
    table.colour("black", at=1)
    shown = table.open_stroke["fallen"][0]
    assert (shown["object"], shown["how"]) == ("black", "colour")
    table.press(1, at=2)
    assert fell(table) == [("black", "colour")]


def test_a_colour_that_the_beam_cannot_pass_tells_nothing():
    table = Session(unknown="ask")
    table.passes("white", "black", at=1)
    table.colour("striker", at=1)
    table.press(1, at=2)
    assert table.questions[0]["candidates"] == ["white", "black"]


def test_a_colour_late_by_the_close_still_narrows():
    table = Session(unknown="ask")
    table.passes(at=1)
    table.press(1, at=1.1)
    assert table.pending == [1]
    table.colour("white", at=1)
    assert table.pending == []
    assert table.strokes == [["white"]]
    assert table.names == ["corrected"]


def test_what_is_not_left_cannot_have_fallen():
    table = Session(
        unknown="ask",
        position={
            "sides": {"A": {"pocketed": 8}, "B": {"pocketed": 3}},
            "queen": {"status": "covered", "side": "B"},
            "turn": {"player": 2},
        },
    )
    table.passes("white", "queen", at=1)
    table.press(2, at=2)
    assert fell(table) == [("white", "beam")], "the queen is off the board"


def test_narrowing_takes_what_is_known_from_what_is_not():
    table = Session(unknown="ask", position={"sides": {"A": {"pocketed": 1}}})
    table.passes("striker", at=1, place="ne")
    table.passes("queen", "striker", at=1.2, place="nw")
    table.press(1, at=2)
    assert fell(table) == [("striker", "beam"), ("queen", "beam")], "there is only one striker"


def test_an_answer_that_leaves_one_thing_for_another_question_answers_that_too():
    table = Session(unknown="ask")
    table.passes("queen", "white", at=1, place="ne")
    table.passes("queen", "striker", at=1.2, place="nw")
    table.press(1, at=2)
    assert [question["id"] for question in table.questions] == ["q1", "q2"]
    table.do("answer", question="q2", value="queen")
    assert table.questions == []
    answered = [(news["question"], news["value"]) for news in table.news if news["event"] == "question_answered"]
    assert sorted(answered) == [("q1", "white"), ("q2", "queen")]
    assert all("assumed" not in news for news in table.news), "nothing was assumed: nothing else was left"


def test_with_no_candidate_left_it_is_not_scored():
    table = Session(
        unknown="ask",
        position={
            "sides": {"A": {"pocketed": 2}, "B": {"pocketed": 3}},
            "queen": {"status": "covered", "side": "B"},
            "turn": {"player": 1},
        },
    )
    passage = table.passes("queen", at=1)
    table.press(1, at=2)
    assert table.strokes == [[]]
    assert "passage_not_scored" in table.names
    assert table.unscored() == {passage}


# -- the assumed order


@pytest.mark.parametrize(
    ("candidates", "pocketed", "player", "assumed"),
    [
        (CARROM, (0, 0), 1, "white"),
        (CARROM, (0, 0), 2, "black"),
        (("white", "queen", "striker"), (0, 0), 2, "white"),
        (("queen", "striker"), (1, 1), 1, "queen"),
        (("black", "queen", "striker"), (1, 1), 1, "black"),
    ],
)
@pytest.mark.parametrize("game", ["club_carrom", "new_carrom"])
def test_carrom_assumes_the_shooters_own_then_the_others_then_the_queen(game, candidates, pocketed, player, assumed):
    sides = {"A": {"pocketed": pocketed[0]}, "B": {"pocketed": pocketed[1]}}
    table = Session(game, unknown="ask", position={"sides": sides, "turn": {"player": player}})
    table.passes(*candidates, at=1)
    table.press(player, at=2)
    assert table.questions[0]["assumed"] == assumed


def test_it_assumes_only_by_what_is_left():
    table = Session(unknown="assume", position={"sides": {"A": {"pocketed": 8}}, "turn": {"player": 1}})
    table.passes("white", "black", at=1, place="ne")
    table.passes("white", "black", at=1.3, place="se")
    table.press(1, at=2)
    assert sorted(name for name, _ in fell(table)) == ["black", "white"], "one white was left"


def test_money_assumes_white_black_queen_striker():
    table = Session("money_carrom", unknown="ask")
    table.passes(at=1)
    table.press(1, at=2)
    assert table.questions[0]["assumed"] == "white"
    money = {"players": [{"player": 1, "score": 27}], "on_board": {"white": 0, "black": 0, "queen": 1}}
    table = Session("money_carrom", unknown="ask", position=money)
    table.passes(at=1)
    table.press(1, at=2)
    assert table.questions[0]["assumed"] == "queen"
    assert table.questions[0]["candidates"] == ["queen", "striker"]


def lined_up(unknown="ask", **more):
    table = Session("carpetball", unknown=unknown, **more)
    table.do("line_up", north=5, south=5)
    return table


def test_carpetball_assumes_the_first_at_the_far_pit_to_be_the_cue_ball():
    table = lined_up("assume")
    table.passes(at=1, place="north")
    table.passes(at=1.2, place="south")
    table.passes(at=1.4, place="south")
    table.press(1, at=3)
    assert fell(table) == [("ball", "assumed"), ("cue", "assumed"), ("ball", "assumed")]
    assert [table.rules["ends"][end]["in_play"] for end in ("north", "south")] == [4, 4]


def test_carpetballs_far_pit_is_the_other_end_from_the_thrower():
    table = lined_up("assume")
    table.press(1, at=1)
    table.passes(at=11, place="north")
    table.passes(at=11.2, place="north")
    table.press(2, at=12)
    assert fell(table) == [("cue", "assumed"), ("ball", "assumed")]
    assert table.rules["ends"]["north"]["in_play"] == 4


def test_carpetball_asks_about_the_cue_ball():
    table = lined_up("ask")
    table.passes(at=1, place="south")
    table.press(1, at=2)
    assert [(q["kind"], q["assumed"], q["candidates"]) for q in table.questions] == [("cue", "cue", ["ball", "cue"])]
    table.do("answer", value=False)
    assert fell(table) == [("ball", "told")]


def test_where_the_cue_ball_is_known_the_rest_are_balls():
    table = lined_up("ask")
    table.passes("ball", "cue", at=1, place="south", beam="pit")
    table.passes("cue", at=1.3, place="south", beam="magnet")
    table.press(1, at=2)
    assert fell(table) == [("ball", "beam"), ("cue", "beam")]


def test_an_assumption_never_flips_by_itself():
    table = Session(unknown="assume", position={"sides": {"A": {"pocketed": 7}}, "turn": {"player": 1}})
    table.passes("white", at=1)
    table.press(1, at=2)
    table.passes("white", "black", at=21)
    table.press(1, at=22)
    assert fell_of(table, 2) == [("white", "assumed")]
    table.do("correct", stroke=1, pocketed=["queen"])
    assert fell_of(table, 2) == [("white", "assumed")]
    table.do("correct", stroke=1, pocketed=[], jumped=[])
    assert fell_of(table, 2) == [("white", "assumed")], "Ben would be on turn: still what was taken to be white"


# -- answers


def test_an_answer_can_name_its_question():
    table = Session(unknown="ask")
    table.passes(at=1, place="ne")
    table.passes(at=1.3, place="se")
    table.press(1, at=2)
    first, second = (question["id"] for question in table.questions)
    table.do("answer", question=second, value="striker")
    assert [question["id"] for question in table.questions] == [first]
    table.do("answer", value="black")
    assert table.strokes == [["black", "striker"]]


def test_own_and_other_are_meant_from_the_strokes_player():
    table = Session(unknown="ask", position={"sides": {"A": {"pocketed": 1}, "B": {"pocketed": 1}}})
    table.press(1, at=1)
    table.passes(at=11)
    table.press(2, at=12)
    table.do("answer", value="own")
    assert table.strokes == [[], ["black"]]
    table.passes(at=31)
    table.press(2, at=32)
    table.do("answer", value="other")
    assert table.strokes[-1] == ["white"]


def test_own_is_meant_when_the_stroke_is_judged():
    table = Session(unknown="ask")
    table.passes(at=1)
    table.do("object", object="own", at=1.5)
    table.press(2, at=2)
    assert table.strokes == [[], ["black"]], "Ben closed it: Asha's miss is assumed and own is black"


@pytest.mark.parametrize("value", ["purple", "ball", None, 3, True, [], {}])
def test_an_answer_of_another_kind_is_malformed(value):
    table = Session(unknown="ask")
    table.passes(at=1)
    table.press(1, at=2)
    before = table.state
    assert table.ask("answer", value=value) == "malformed"
    assert table.refused.message.startswith("value: ")
    assert table.state == before


def test_a_wrong_answer_is_told_every_right_one():
    table = Session(unknown="ask")
    table.passes("white", at=1, doubt="unclear")
    table.press(1, at=2)
    assert table.ask("answer", value="maybe") == "malformed"
    assert table.refused.message.startswith("value: 'maybe' is none of true, false, white, black")


def test_an_answer_that_the_beam_cannot_have_passed_is_refused():
    table = Session(unknown="ask")
    table.passes("white", "black", at=1)
    table.press(1, at=2)
    assert table.ask("answer", value="striker") == "impossible_count"


def test_an_answer_of_which_none_is_left_is_refused():
    table = Session(
        unknown="ask", position={"sides": {"A": {"pocketed": 1}}, "queen": {"status": "covered", "side": "A"}}
    )
    table.passes(at=1)
    table.press(1, at=2)
    assert table.ask("answer", value="queen") == "impossible_count"


def test_no_question_no_answer():
    table = Session()
    assert table.ask("answer", value="white") == "no_such_question"
    table.passes(at=1)
    table.press(1, at=2)
    assert table.ask("answer", question="q9", value="white") == "no_such_question"


def queen_or_black():
    """Ben has one black down, so his own piece is assumed, and the queen may have been it."""
    table = Session(unknown="ask", position={"sides": {"B": {"pocketed": 1}}, "turn": {"player": 2}})
    table.passes("black", "queen", at=1)
    table.press(2, at=2)
    return table


def test_an_answer_that_makes_a_queued_stroke_impossible_is_refused():
    table = queen_or_black()
    table.do("stroke", at=20, pocketed=["queen"])
    before = table.state
    assert table.ask("answer", value="queen") == "later_stroke_impossible"
    assert table.refused.stroke == 2
    assert table.state == before
    table.do("answer", value="black")
    assert table.strokes == [["black"], ["queen"]]


def test_so_is_one_that_makes_a_stroke_impossible_that_waits_behind_another_question():
    table = queen_or_black()
    table.passes("black", "striker", at=11)
    table.press(2, at=12)
    table.do("stroke", at=20, pocketed=["queen"])
    assert table.pending == [1, 2, 3]
    assert table.ask("answer", value="queen") == "later_stroke_impossible"
    assert table.refused.stroke == 3


# -- object keys


def test_an_object_key_names_the_newest_unknown_of_the_open_stroke():
    table = Session(unknown="ask")
    table.passes(at=1, place="ne")
    table.passes(at=1.5, place="se")
    table.passes("striker", at=1.8, place="sw")
    table.do("object", object="queen")
    shown = table.open_stroke["fallen"]
    assert [fallen["object"] for fallen in shown] == [None, "queen", "striker"]
    assert shown[1]["how"] == "told"
    table.do("object", object="white")
    table.press(1, at=3)
    assert table.strokes == [["white", "queen", "striker"]]


def keyed(table, name, at, *, amid=frozenset()):
    return table.take(Request("object", ns(at), {"object": name}, button=f"key-{name}", amid=amid))


def named(table):
    return [fallen["object"] for fallen in table.open_stroke["fallen"]]


def test_a_key_means_what_nobody_can_have_seen_before_the_press_only_after_the_rest():
    table = Session(unknown="ask")
    table.passes(at=1, place="ne")
    table.passes(at=1.96, place="se")
    keyed(table, "queen", 2)
    assert named(table) == ["queen", None]
    keyed(table, "white", 2)
    assert named(table) == ["queen", "white"]


def test_a_key_names_nothing_that_came_after_the_press():
    """It is told when it is let go, and a finger can have been through a pocket by then."""
    table = Session(unknown="ask")
    table.passes("white", at=1, place="ne")
    table.passes(at=2.05, place="se")
    assert keyed(table, "white", 2).code == "no_such_question"
    assert named(table) == ["white", None]


def test_a_key_names_nothing_that_was_still_in_a_beam():
    table = Session(unknown="ask")
    table.passes(at=1, place="ne")
    table.passes(at=1.9, place="se", ms=149)
    in_se = frozenset({("se", ns(1.9))})
    keyed(table, "queen", 2, amid=in_se)
    assert named(table) == ["queen", None]
    assert keyed(table, "white", 2, amid=in_se).code == "no_such_question"
    keyed(table, "white", 3)
    assert named(table) == ["queen", "white"]


def test_what_a_key_was_taken_to_name_and_turns_out_to_be_a_hand_is_none():
    table = Session(unknown="ask")
    table.passes(at=1, place="ne")
    table.passes(at=2, place="se", ms=80)
    keyed(table, "queen", 2.1)
    assert named(table) == [None, "queen"]
    table.withdraws(at=2, known=2.5, place="se", ms=80, reason=Uncounted.HAND)
    assert named(table) == [None]
    keyed(table, "queen", 4)
    assert named(table) == ["queen"]


def test_what_a_key_was_taken_to_name_and_turns_out_to_be_unclear_is_asked_about():
    table = Session(unknown="ask")
    table.passes(at=2, place="se", ms=80)
    keyed(table, "queen", 2.1)
    table.passes(at=2, place="se", ms=80, doubt="unclear")
    assert named(table) == [None]
    table.press(1, at=4)
    assert [question["kind"] for question in table.questions] == ["did_it_fall"]
    table.do("answer", value=True)
    assert table.strokes == [["queen"]], "if it fell, it was what the key said"


def test_a_key_for_the_cue_ball_names_what_fell_into_the_far_pit_before_an_own_ball():
    table = lined_up("ask")
    table.passes(at=2, place="south", doubt="unclear")
    table.passes(at=2.5, place="south", doubt="unclear")
    table.passes(at=3, place="north")
    keyed(table, "cue", 4)
    assert named(table) == [None, "cue", "ball"]
    assert keyed(table, "cue", 5) is not None, "there is one"
    assert named(table) == [None, "cue", "ball"]
    table.press(1, at=6)
    for question in table.questions:
        table.do("answer", question=question["id"], value=True)
    assert [table.rules["ends"][end]["in_play"] for end in ("north", "south")] == [4, 4]
    # The other player's throw, while the first one still waits: now north is far.
    table = lined_up("ask")
    table.passes(at=2, place="south")
    table.press(1, at=3)
    assert table.pending == [1]
    table.passes(at=12, place="north")
    table.passes(at=13, place="south")
    keyed(table, "cue", 14)
    assert named(table) == ["cue", "ball"]


@pytest.mark.parametrize("name", ["own", "other"])
def test_a_key_that_says_whose_it_was_leaves_both_colours(name):
    table = Session(unknown="ask")
    table.passes(at=2, place="se", ms=80)
    keyed(table, name, 2.1)
    table.passes(at=2, place="se", ms=80, doubt="unclear")
    table.press(1, at=4)
    table.do("answer", value=True)
    assert [(q["kind"], q["candidates"]) for q in table.questions] == [("what_fell", ["white", "black"])]


def test_another_press_of_that_key_leaves_the_first_as_it_was_meant():
    """A key for the cue ball, pressed twice by mistake, and a hand that takes the ball out meanwhile."""
    table = lined_up("ask")
    table.passes(at=2, place="south")
    keyed(table, "cue", 3)
    table.passes(at=2, place="south", doubt="unclear")
    table.passes(at=3.3, place="south", doubt="unclear")
    keyed(table, "cue", 3.6)
    table.press(1, at=10)
    for question in table.questions:
        table.do("answer", question=question["id"], value=True)
    assert table.pending == []
    assert [table.rules["ends"][end]["in_play"] for end in ("north", "south")] == [5, 5]


@pytest.mark.parametrize("reason", [Uncounted.NOISE, Uncounted.DIP])
def test_what_a_key_has_named_stays_when_its_beam_fails_afterwards(reason):
    table = Session(unknown="ask")
    table.passes(at=2, place="se")
    keyed(table, "queen", 3)
    table.withdraws(at=2, known=4, place="se", reason=reason)
    assert named(table) == ["queen"]


def test_what_somebody_pointed_at_stays_what_it_was_said_to_be():
    table = Session(unknown="ask")
    table.passes(at=2, place="se", ms=80)
    table.do("object", object="queen", passage_id="p1")
    table.withdraws(at=2, known=2.5, place="se", ms=80, reason=Uncounted.HAND)
    assert named(table) == ["queen"]


def test_a_key_names_what_surely_fell_before_what_perhaps_did_not():
    table = Session(unknown="ask")
    table.passes(at=1, place="ne")
    table.passes(at=2, place="se", ms=200, doubt="unclear")
    keyed(table, "white", 3)
    assert named(table) == ["white", None]
    keyed(table, "queen", 4)
    assert named(table) == ["white", "queen"]


@pytest.mark.parametrize("doubt", [None, "unclear"])
def test_a_request_names_the_newest_whatever_it_is(doubt):
    """A program may have seen it in the very moment, and says where if it means another."""
    table = Session(unknown="ask")
    table.passes(at=1, place="ne")
    table.passes(at=1.99, place="se", doubt=doubt)
    table.do("object", object="queen", at=2)
    assert named(table) == [None, "queen"]


def test_an_object_request_can_say_where():
    table = Session(unknown="ask")
    table.passes(at=1, place="ne")
    table.passes(at=1.5, place="se")
    table.do("object", object="queen", place="ne")
    assert [fallen["object"] for fallen in table.open_stroke["fallen"]] == ["queen", None]
    table.do("object", object="white", passage_id="p2")
    table.press(1, at=3)
    assert table.strokes == [["queen", "white"]]


def test_with_none_open_it_names_that_of_the_last_one_closed():
    table = Session(unknown="ask")
    table.passes(at=1, place="ne")
    table.passes(at=1.5, place="se")
    table.press(1, at=3)
    table.do("object", object="queen")
    assert [question["passage_id"] for question in table.questions] == ["p1"]
    table.do("object", object="white")
    assert table.strokes == [["white", "queen"]]


def test_it_never_reaches_back_behind_an_open_stroke():
    table = Session(unknown="ask")
    table.passes(at=1)
    table.press(1, at=2)
    table.passes("white", at=11)
    before = table.state
    assert table.ask("object", object="queen") == "no_such_question"
    assert table.state == before
    table.do("object", object="black", passage_id="p1")
    assert table.strokes == [["black"]], "a request that names the passage means it"


def test_after_an_assumption_it_corrects():
    table = Session(unknown="assume")
    table.passes(at=1)
    table.press(1, at=2)
    assert table.strokes == [["white"]]
    table.do("object", object="black")
    assert table.strokes == [["black"]]
    assert table.names == ["corrected"]
    assert fell(table) == [("black", "told")]


def test_there_is_only_one_queen_to_name():
    table = Session(unknown="ask", position={"sides": {"A": {"pocketed": 1}}})
    table.passes(at=1, place="ne")
    table.passes(at=1.5, place="se")
    table.do("object", object="queen")
    assert table.ask("object", object="queen") == "impossible_count"
    table.press(1, at=2)
    assert table.questions[0]["candidates"] == ["white", "black", "striker"]
    assert table.ask("answer", value="queen") == "impossible_count"


def test_what_was_named_and_fits_no_longer_counts_for_nothing_and_says_so():
    table = Session(unknown="ask_then_assume", position={"sides": {"A": {"pocketed": 1}}})
    table.passes("queen", "striker", at=1)
    table.press(1, at=2)
    second = table.passes("queen", "striker", at=11)
    table.do("object", object="queen", at=11.5)
    table.press(1, at=12)
    assert table.strokes == [["queen"]], "assumed now, so there is no queen for stroke 2"
    assert table.unscored() == {second}
    told = next(news for news in table.news if news["event"] == "passage_not_scored")
    assert told["stroke"] == 2
    assert table.turn == 1
    table.do("correct", stroke=2, pocketed=["striker"])
    assert table.strokes == [["queen"], ["striker"]]


def test_with_nothing_unknown_an_object_key_means_nothing():
    table = Session(unknown="ask")
    table.passes("white", at=1)
    table.press(1, at=2)
    assert table.ask("object", object="black") == "no_such_question"


# -- who shot


def others_only(table, at=1.0):
    """A stroke of Asha's turn with only black in it, closed by quiet time; returns when."""
    table.passes("black", at=at, ms=0)
    table.clock(at + 6)
    return at + 6


def test_only_the_opponents_pieces_and_quiet_ask_who_shot():
    table = Session(unknown="ask")
    others_only(table)
    asked = table.questions
    assert [(q["kind"], q["candidates"], q["assumed"], q["place"]) for q in asked] == [("who_shot", [1, 2], 1, None)]
    table.do("answer", value=2)
    assert table.strokes == [[], ["black"]]
    assert table.turn == 2


def test_who_shot_is_assumed_to_be_the_player_on_turn():
    table = Session(unknown="ask_then_assume")
    others_only(table)
    table.do("end_stroke", at=20)
    assert table.strokes[0] == ["black"]
    assert table.side("B")["pocketed"] == 0, "Asha's foul: it comes back"
    answered = next(news for news in table.news if news["event"] == "question_answered")
    assert answered["value"] == 1
    assert answered["assumed"] is True


def test_the_next_players_done_within_ten_seconds_answers_it():
    table = Session(unknown="ask")
    closed = others_only(table)
    table.press(2, at=closed + 10)
    assert table.strokes == [[], ["black"]]
    assert table.questions == []
    assert table.names[:1] == ["question_answered"]


def test_the_next_players_done_later_than_that_is_a_stroke():
    table = Session(unknown="ask")
    closed = others_only(table)
    table.press(2, at=closed + 10.1)
    assert table.pending == [1, 2]


def test_the_confirming_press_of_the_player_on_turn_answers_it_too():
    table = Session(unknown="ask")
    closed = others_only(table)
    table.press(1, at=closed + 2)
    assert table.questions == []
    assert table.strokes == [["black"]]


@pytest.mark.parametrize("extra", ["white", "queen", "striker"])
def test_with_anything_else_in_it_nobody_is_asked(extra):
    table = Session(unknown="ask")
    table.passes("black", at=1, place="ne")
    table.passes(extra, at=1.2, place="se")
    table.clock(10)
    assert table.questions == []


def test_closed_by_a_button_nobody_is_asked():
    table = Session(unknown="ask")
    table.passes("black", at=1)
    table.press(1, at=2)
    assert table.questions == []


@pytest.mark.parametrize("game", ["money_carrom", "carpetball"])
def test_where_there_are_no_opponents_pieces_nobody_is_asked(game):
    table = Session(game, unknown="ask")
    if game == "carpetball":
        table.do("line_up", north=5, south=5)
    table.passes("ball" if game == "carpetball" else "black", at=1, place="north")
    table.clock(10)
    assert table.questions == []


def test_more_than_one_miss_asks_who_shot():
    table = Session(unknown="ask", players=("Asha", "Ben", "Chidi", "Dana"))
    table.passes("white", at=1)
    table.press(3, at=2)
    assert [(q["kind"], q["candidates"], q["assumed"]) for q in table.questions] == [("who_shot", [1, 2, 3, 4], 1)]
    table.do("answer", value=3)
    assert table.strokes == [[], [], ["white"]]
    assert table.turn == 3


@pytest.mark.parametrize("value", [0, 3, "1", True, None])
def test_who_shot_wants_a_player(value):
    table = Session(unknown="ask")
    others_only(table)
    assert table.ask("answer", value=value) == "malformed"
    assert table.refused.message.startswith("value: ")


# -- certain


def test_a_result_that_rests_on_an_assumption_is_not_certain():
    nearly = {"sides": {"A": {"pocketed": 8}}, "queen": {"status": "covered", "side": "A"}, "turn": {"player": 1}}
    table = Session(unknown="assume", position=nearly)
    table.passes("white", "striker", at=1)
    table.press(1, at=2)
    assert table.document["last_result"]["certain"] is False
    table.do("object", object="white")
    assert table.document["last_result"]["certain"] is True, "now somebody has confirmed it"


def test_an_assumption_does_not_outlast_its_board():
    table = Session(unknown="assume", position={"sides": {"A": {"pocketed": 1}}, "turn": {"player": 1}})
    table.passes(at=1)
    table.press(1, at=2)
    table.do("recount", sides={"A": {"pocketed": 8}}, queen={"status": "covered", "side": "A"}, turn={"player": 1})
    table.played("white")
    assert table.document["last_result"]["certain"] is False
    table.do("next_board")
    table.do("recount", sides={"B": {"pocketed": 8}}, queen={"status": "covered", "side": "B"}, turn={"player": 2})
    table.played("white")
    assert table.document["last_result"]["certain"] is True
