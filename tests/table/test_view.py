"""What the state document shows of a stroke: from the first passage to the judgement.

That the document validates in every state that any test reaches is watched by the session itself.
"""

from tests.support.session import CARROM, Session


def test_a_fresh_table_shows_every_key():
    document = Session(players=("Asha", "Ben")).document
    assert document["match_id"] == "m1"
    assert document["seq"] == 1
    assert document["paused"] is False
    assert document["stroke"] is None
    assert document["pending"] == []
    assert document["questions"] == []
    assert document["instructions"] == []
    assert document["last_result"] is None
    assert document["players"] == [
        {"player": 1, "name": "Asha", "id": "Asha"},
        {"player": 2, "name": "Ben", "id": "Ben"},
    ]


def test_each_way_of_knowing():
    table = Session(unknown="ask")
    table.passes("striker", at=1, place="ne")
    table.passes(at=1.2, place="nw")
    table.colour("white", at=1.2, place="nw")
    table.passes(at=1.4, place="se")
    table.do("object", object="queen", place="se")
    table.passes(at=1.6, place="sw")
    shown = [(f["place"], f["object"], f["how"], f["provisional"]) for f in table.open_stroke["fallen"]]
    assert shown == [
        ("ne", "striker", "beam", True),
        ("nw", "white", "colour", True),
        ("se", "queen", "told", True),
        ("sw", None, "unknown", True),
    ]
    table.press(1, at=3)
    waiting = table.document["pending"][0]
    assert waiting["player"] == 1
    assert [(f["object"], f["how"], f["provisional"]) for f in waiting["fallen"]] == [
        ("striker", "beam", False),
        ("white", "colour", False),
        ("queen", "told", False),
        (None, "unknown", False),
    ]


def test_candidates_are_what_is_left():
    position = {"sides": {"A": {"pocketed": 3}}, "queen": {"status": "covered", "side": "A"}, "turn": {"player": 1}}
    table = Session(position=position)
    table.passes(at=1)
    assert table.open_stroke["fallen"][0]["candidates"] == ["white", "black", "striker"]
    assert CARROM == ("white", "black", "queen", "striker")


def test_a_passage_is_told_as_an_event():
    table = Session()
    table.passes("white", "black", at=1, beam="b1")
    assert table.news == [
        {
            "event": "passage",
            "stroke": 1,
            "passage_id": "p1",
            "beam": "b1",
            "place": "ne",
            "candidates": ["white", "black"],
        }
    ]


def test_the_instruction_to_return_is_shown():
    table = Session("new_carrom")
    table.played("white", "striker")
    # N7: the own piece comes up, and one more is owed as there is none to pay with.
    assert table.document["instructions"] == [
        {"do": "return", "object": "white", "count": 1, "to": "centre_circle", "by_player": 2}
    ]
    assert table.side("A")["due"] == 1


def test_the_last_result_stays_through_the_next_match():
    table = Session(
        "new_carrom",
        position={
            "sides": {"A": {"pocketed": 8}, "B": {"pocketed": 5}},
            "queen": {"status": "covered", "side": "A"},
            "turn": {"player": 1},
        },
    )
    table.played("white")
    result = table.document["last_result"]
    assert result["match_id"] == "m1"
    assert result["match_winner"] == "A"
    table.do("new_match")
    assert table.document["last_result"] == result
