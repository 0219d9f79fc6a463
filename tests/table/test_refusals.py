"""Every refusal of the table: its code, a sentence, and nothing changed."""

import pytest

from tests.support.session import Session
from tests.table.test_closing import NEARLY_WON


def fresh():
    return Session()


def board_over():
    table = Session(position=NEARLY_WON)
    table.played("white")
    return table


def match_over():
    table = Session("new_carrom", position=NEARLY_WON)
    table.played("white")
    return table


def throwing():
    table = Session("carpetball")
    table.do("line_up", north=5, south=5)
    return table


@pytest.mark.parametrize(
    ("table", "command", "fields", "code"),
    [
        (fresh, "dance", {}, "unknown_command"),
        (fresh, "throw", {"out": {}}, "unknown_command"),
        (fresh, "line_up", {"north": 5, "south": 5}, "unknown_command"),
        (throwing, "stroke", {"pocketed": []}, "unknown_command"),
        (throwing, "no_stroke", {}, "unknown_command"),
        (throwing, "jumped", {"objects": ["white"]}, "unknown_command"),
        (fresh, "stroke", {}, "malformed"),
        (fresh, "stroke", {"pocketed": 3}, "malformed"),
        (fresh, "stroke", {"pocketed": ["purple"]}, "malformed"),
        (fresh, "stroke", {"pocketed": [], "player": 1}, "malformed"),
        (fresh, "no_stroke", {"now": True}, "malformed"),
        (throwing, "throw", {"out": {"north": True}}, "malformed"),
        (throwing, "throw", {"out": {"north": -1}}, "malformed"),
        (throwing, "withdraw", {"end": "east", "balls": 1}, "malformed"),
        (fresh, "end_stroke", {"player": 3}, "malformed"),
        (fresh, "end_stroke", {"player": 0}, "malformed"),
        (fresh, "end_stroke", {"player": "1"}, "malformed"),
        (fresh, "end_stroke", {"player": True}, "malformed"),
        (fresh, "recount", {"sides": 5}, "malformed"),
        (fresh, "object", {"object": "ball"}, "malformed"),
        (fresh, "object", {}, "malformed"),
        (fresh, "object", {"object": ["white"]}, "malformed"),
        (fresh, "stroke", {"pocketed": ["queen", "queen"]}, "impossible_count"),
        (fresh, "recount", {"sides": {"A": {"pocketed": 9}}}, "impossible_count"),
        (throwing, "throw", {"out": {"north": 6}}, "impossible_count"),
        (throwing, "withdraw", {"end": "north", "balls": 6}, "impossible_count"),
        (fresh, "next_board", {}, "wrong_phase"),
        (board_over, "stroke", {"pocketed": []}, "wrong_phase"),
        (board_over, "no_stroke", {}, "wrong_phase"),
        (board_over, "jumped", {"objects": ["white"]}, "wrong_phase"),
        (board_over, "recount", {"turn": {"player": 1}}, "wrong_phase"),
        (match_over, "next_board", {}, "wrong_phase"),
        (match_over, "stroke", {"pocketed": []}, "wrong_phase"),
        (match_over, "abandon", {}, "wrong_phase"),
        (throwing, "next_round", {}, "wrong_phase"),
        (throwing, "line_up", {"north": 5, "south": 5}, "wrong_phase"),
        (lambda: Session("money_carrom"), "next_board", {}, "wrong_phase"),
        (fresh, "undo", {}, "nothing_to_undo"),
        (fresh, "redo", {}, "nothing_to_redo"),
        (board_over, "new_match", {}, "match_running"),
        (fresh, "answer", {"value": "white"}, "no_such_question"),
        (fresh, "object", {"object": "white"}, "no_such_question"),
        (fresh, "correct", {"stroke": 1, "pocketed": []}, "no_such_stroke"),
    ],
)
def test_it_is_refused_with_its_code_and_nothing_has_changed(table, command, fields, code):
    session = table()
    before = session.state
    assert session.ask(command, **fields) == code
    assert session.refused.message
    assert session.refused.message[0] == session.refused.message[0].strip()
    assert session.state == before


# -- expected_seq


def test_outdated_since_a_step():
    table = Session()
    seen = table.state.seq
    table.played("white")
    assert table.ask("end_stroke", expected_seq=seen) == "outdated"


def test_outdated_since_an_amendment():
    table = Session()
    table.press(1, at=1)
    seen = table.state.seq
    table.passes("white", at=2)
    assert table.ask("undo", at=3, expected_seq=seen) == "outdated"


def test_outdated_in_the_future():
    table = Session()
    assert table.ask("end_stroke", expected_seq=table.state.seq + 1) == "outdated"


@pytest.mark.parametrize("what", ["passage", "pause", "resume", "names"])
def test_not_outdated_by_what_is_no_step(what):
    table = Session()
    table.played("white")
    seen = table.state.seq
    if what == "passage":
        table.passes("white", at=1)
    elif what == "names":
        table.do("players", names=["Chidi", "Dana"])
    else:
        table.do("pause")
        table.do("resume")
    assert table.ask("end_stroke", at=2, expected_seq=seen) is None


@pytest.mark.parametrize("step", ["undo", "redo", "new_match", "abandon", "swap", "recount", "answer", "correct"])
def test_outdated_by_every_step(step):
    table = Session(unknown="ask")
    table.played("white")
    table.played("white")
    table.do("undo")
    if step == "answer":
        table.passes("white", "black", at=1)
        table.do("end_stroke", at=2)
    seen = table.state.seq
    fields = {
        "swap": {"swap": [1, 2]},
        "new_match": {"abandon": True},
        "recount": {"sides": {"A": {"pocketed": 2}}},
        "answer": {"value": "white"},
        "correct": {"stroke": 1, "pocketed": []},
    }.get(step, {})
    table.do({"swap": "players"}.get(step, step), at=20, **fields)
    assert table.ask("end_stroke", at=30, expected_seq=seen) == "outdated"


def test_pausing_twice_and_resuming_twice_is_no_harm():
    table = Session()
    table.do("pause")
    seq = table.state.seq
    table.do("pause")
    assert table.state.seq == seq
    table.do("resume")
    table.do("resume")
    assert table.document["paused"] is False
