"""Which lamp is lit, from the state alone."""

from dataclasses import replace

import pytest

from appliance.lamps import Lamp, is_lit, levels
from tests.support.session import Session

NEARLY_WON = {
    "sides": {"A": {"pocketed": 8}, "B": {"pocketed": 5}},
    "queen": {"status": "covered", "side": "A"},
    "turn": {"player": 1},
}
TURN = {player: Lamp("board", player, "turn", player, 1) for player in (1, 2, 3)}
QUESTION = Lamp("board", 8, "question", None, 1)
FAULT = Lamp("pins", 17, "fault", None, 0)


def on_turn(session: Session) -> list[int]:
    return [player for player, lamp in TURN.items() if is_lit(lamp, session.state, fault=False)]


def asks(session: Session) -> bool:
    return is_lit(QUESTION, session.state, fault=False)


def test_the_turn_lamp_follows_the_turn_and_undo() -> None:
    table = Session()
    assert on_turn(table) == [1]
    table.ask("done", at=10, player=1)
    assert on_turn(table) == [2]
    table.ask("undo", at=20)
    assert on_turn(table) == [1]


def test_while_nobody_is_on_turn_no_turn_lamp_is_lit() -> None:
    table = Session(position=NEARLY_WON)
    assert on_turn(table) == [1]
    table.played("white")
    assert table.rules["phase"] == "board_over"
    assert on_turn(table) == []
    table = Session()
    table.ask("abandon", at=1)
    assert on_turn(table) == []


def test_in_carpetball_it_is_the_thrower_s() -> None:
    table = Session("carpetball")
    assert on_turn(table) == [], "the balls are being lined up"
    table.do("line_up", at=1, north=5, south=4)
    before = on_turn(table)
    assert len(before) == 1
    table.ask("throw", at=5, out={"north": 0, "south": 0})
    assert len(on_turn(table)) == 1
    assert on_turn(table) != before


def test_the_question_lamp_is_lit_while_something_is_asked() -> None:
    table = Session(unknown="ask")
    assert not asks(table)
    table.passes(at=1)
    assert not asks(table), "the stroke is open, so nothing is asked yet"
    table.ask("done", at=3, player=1)
    assert asks(table)
    table.ask("answer", at=5, value="white")
    assert not asks(table)


@pytest.mark.parametrize("fault", [False, True])
def test_the_fault_lamp_shows_the_fault_and_no_other_does(fault: bool) -> None:
    table = Session()
    assert is_lit(FAULT, table.state, fault=fault) is fault
    assert on_turn(table) == [1]
    assert not asks(table)


def test_levels_are_told_by_source_with_each_lamp_s_own_polarity() -> None:
    state = Session().state
    inverted = replace(TURN[1], source="pins", lit_level=0)
    lamps = (TURN[1], TURN[2], QUESTION, inverted, FAULT)
    assert levels(lamps, state, fault=False) == {"board": {1: 1, 2: 0, 8: 0}, "pins": {1: 0, 17: 1}}
    assert levels(lamps, state, fault=True)["pins"] == {1: 0, 17: 0}
    assert levels((), state, fault=True) == {}
