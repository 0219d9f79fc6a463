"""The umpire's calls: what they take the place of, what they close, and what hands must then do."""

import pytest

from tests.support.session import Session


@pytest.mark.parametrize("call", ["break_not_made", "no_stroke"])
def test_these_take_the_place_of_the_open_strokes_passages(call):
    table = Session()
    first = table.passes("white", at=1)
    second = table.passes("queen", at=1.3, place="se")
    table.do(call, at=2)
    assert table.open_stroke is None
    assert table.lines == [{"type": call}]
    assert table.turn == 1
    assert table.unscored() == {first, second}, "kept as superseded, and can be claimed"
    assert told_not_scored(table) == [first, second]


def told_not_scored(table):
    return [news["passage_id"] for news in table.news if news["event"] == "passage_not_scored"]


def test_what_a_call_took_is_told_though_the_call_itself_waits():
    table = Session(unknown="ask")
    table.passes(at=1)
    table.press(1, at=2)
    taken = table.passes("white", at=10)
    table.do("no_stroke", at=11)
    assert table.pending == [1]
    assert told_not_scored(table) == [taken]


def test_their_number_is_free_for_the_stroke_that_follows():
    table = Session()
    table.passes("white", at=1)
    table.do("no_stroke", at=2)
    table.passes("white", at=3)
    assert table.open_stroke["number"] == 1


def test_a_break_that_is_over_refuses_and_leaves_the_open_stroke():
    table = Session()
    table.played("white")
    table.passes("white", at=1)
    before = table.state
    assert table.ask("break_not_made", at=2) == "wrong_phase"
    assert table.state == before


def lined_up():
    table = Session("carpetball", unknown="assume")
    table.do("line_up", north=5, south=4)
    return table


def test_withdraw_takes_the_place_of_the_passages_at_its_own_pit():
    table = lined_up()
    passage = table.passes("ball", at=1, place="south")
    table.do("withdraw", end="south", balls=1, at=2)
    assert table.open_stroke is None
    assert table.lines[1:] == [{"type": "withdraw", "end": "south", "balls": 1}]
    assert table.rules["ends"]["south"]["in_play"] == 3
    assert table.turn == "north", "nobody has thrown"
    assert table.unscored() == {passage}


def test_withdraw_leaves_the_passages_at_the_other_pit_to_the_throw():
    table = lined_up()
    mine = table.passes("ball", at=1, place="north")
    table.passes("ball", at=1.5, place="south")
    table.do("withdraw", end="north", balls=1, at=2)
    assert [line["type"] for line in table.lines] == ["line_up", "throw", "withdraw"]
    assert table.lines[1]["out"] == {"north": 0, "south": 1}
    assert [table.rules["ends"][end]["in_play"] for end in ("north", "south")] == [4, 3]
    assert table.unscored() == {mine}


def test_jumped_adds_to_the_open_stroke():
    table = Session("new_carrom")
    table.passes("white", at=1)
    table.do("jumped", objects=["black"], at=2)
    assert table.open_stroke["jumped"] == ["black"]
    table.do("jumped", objects=["black", "queen"], at=2.5)
    assert table.open_stroke["jumped"] == ["black", "black", "queen"]
    table.press(1, at=3)
    assert table.lines == [{"type": "stroke", "pocketed": ["white"], "jumped": ["black", "black", "queen"]}]


def test_jumped_opens_a_stroke_if_none_is_open():
    table = Session("new_carrom")
    table.do("jumped", objects=["black"], at=2)
    assert table.open_stroke["number"] == 1
    table.clock(7.9)
    assert table.open_stroke is not None
    table.clock(8)
    assert table.lines == [{"type": "stroke", "pocketed": [], "jumped": ["black"]}]


@pytest.mark.parametrize("objects", [None, [], "white", ["ball"], [1], 5])
def test_jumped_wants_objects(objects):
    table = Session()
    before = table.state
    assert table.ask("jumped", objects=objects) == "malformed"
    assert table.refused.message.startswith("objects: ")
    assert table.state == before


def test_carpetball_knows_no_jumped():
    table = Session("carpetball")
    assert table.ask("jumped", objects=["white"]) == "unknown_command"
    assert "jumped" in table.refused.message


def test_more_cannot_jump_than_there_is():
    table = Session()
    table.passes("queen", at=1)
    assert table.ask("jumped", objects=["queen"], at=2) == "impossible_count"


def test_a_recount_closes_the_open_stroke_first():
    table = Session()
    table.passes("white", at=1)
    table.do("recount", sides={"B": {"pocketed": 4}}, at=2)
    assert [line["type"] for line in table.lines] == ["stroke", "recount"]
    assert table.side("A")["pocketed"] == 1
    assert table.side("B")["pocketed"] == 4
    closed = next(event for event in table.events if event["event"] == "stroke_closed")
    assert closed["by"] == "call"
    table.do("undo")
    assert [line["type"] for line in table.lines] == ["stroke"], "the call and the stroke are two steps"


def test_a_refused_call_closes_nothing():
    table = Session()
    table.passes("white", at=1)
    before = table.state
    assert table.ask("next_board", at=2) == "wrong_phase"
    assert table.ask("recount", sides={"A": {"pocketed": 9}}, at=2) == "impossible_count"
    assert table.state == before


def test_by_hand_takes_the_place_of_what_the_beams_saw():
    table = Session()
    passage = table.passes("white", at=1)
    table.do("stroke", pocketed=["white", "white"], at=2)
    assert table.open_stroke is None
    assert table.strokes == [["white", "white"]]
    assert table.state.fold.strokes[0].stroke.number == 1
    assert table.state.fold.strokes[0].stroke.superseded[0].passage_id == passage
    assert table.unscored() == {passage}
    assert told_not_scored(table) == [passage]


def test_by_hand_keeps_what_was_called_jumped_unless_it_says_otherwise():
    table = Session("new_carrom")
    table.do("jumped", objects=["black"], at=1)
    table.do("stroke", pocketed=["white"], at=2)
    assert table.lines == [{"type": "stroke", "pocketed": ["white"], "jumped": ["black"]}]
    table.do("jumped", objects=["black"], at=11)
    table.do("stroke", pocketed=["white"], jumped=[], at=12)
    assert table.lines[-1] == {"type": "stroke", "pocketed": ["white"]}


def test_calls_are_refused_while_paused_but_a_recount_is_not():
    table = Session()
    table.do("pause")
    for call, fields in [
        ("no_stroke", {}),
        ("break_not_made", {}),
        ("jumped", {"objects": ["white"]}),
        ("next_board", {}),
    ]:
        assert table.ask(call, **fields) == "wrong_phase"
    table.do("recount", sides={"A": {"pocketed": 3}})
    assert table.side("A")["pocketed"] == 3


# -- instructions for hands


def returned(table):
    return [(i["object"], i["count"], i["by_player"]) for i in table.document["instructions"] if i["do"] == "return"]


def test_instructions_stay_until_the_next_judged_stroke():
    table = Session()
    table.played("white", "striker")
    # The club's foul costs one piece already pocketed: the white one. The opponent places it.
    assert returned(table) == [("white", 1, 2)]
    table.passes("black", at=1)
    assert returned(table) == [("white", 1, 2)]
    table.do("no_stroke", at=2)
    assert returned(table) == [("white", 1, 2)], "a call that changes nothing takes nothing from the hands"
    table.played("black")
    assert returned(table) == []


def test_instructions_of_an_assumed_miss_are_not_lost():
    table = Session(position={"sides": {"A": {"pocketed": 1}}, "queen": {"status": "on_board", "side": None}})
    table.played("queen")
    assert table.rules["turn"]["must_cover"] is True
    table.press(2, at=10)
    assert table.strokes == [["queen"], [], []], "Asha's cover is assumed missed"
    assert ("queen", 1) in [(name, count) for name, count, _ in returned(table)]


def test_a_new_board_clears_the_instructions():
    table = Session(
        position={
            "sides": {"A": {"pocketed": 8}, "B": {"pocketed": 5}},
            "queen": {"status": "covered", "side": "A"},
            "turn": {"player": 2},
        }
    )
    table.played("striker")
    assert returned(table) == [("black", 1, 1)]
    table.played("white")
    table.do("next_board")
    assert returned(table) == []
