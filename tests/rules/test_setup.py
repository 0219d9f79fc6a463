"""Set-ups, positions and texts: what is read, what is kept, and what is said about bad ones."""

from typing import Any

import pytest

from appliance import rules
from tests.support.rules import begin, play


def test_defaults() -> None:
    for game in rules.GAMES:
        setup = rules.parse_setup(game, {"type": "setup"})
        assert (setup.players, setup.position) == (2, None)
        assert rules.parse_setup(game, rules.setup_document(setup)) == setup


def test_a_right_can_be_denied_only_by_a_set_up() -> None:
    queen = {"type": "stroke", "pocketed": ["queen"]}
    for given, must_cover in (({}, True), ({"queen_right": False}, False), ({"queen_right": True}, True)):
        state = begin("club_carrom", sides={"A": {"pocketed": 2, **given}})
        turn: Any = rules.document(play(state, queen))["turn"]
        assert turn["must_cover"] is must_cover
    held = begin("new_carrom", queen={"status": "uncovered"}, turn={"player": 2})
    document: Any = rules.document(held)
    assert document["queen"] == {"status": "uncovered", "side": "B"}
    assert document["turn"]["must_cover"]
    turn = rules.document(play(held, {"type": "stroke", "pocketed": ["black", "striker"]}))["turn"]
    assert turn == {"player": 2, "side": "B", "must_cover": True}


def test_carpetball_positions() -> None:
    def told(**position: Any) -> Any:
        return rules.document(begin("carpetball", players=4, **position))

    south: Any = told(turn={"end": "south"})
    assert (south["phase"], south["turn"]["end"]) == ("line_up", "south")
    one: Any = told(ends={"north": {"in_play": 2}})
    assert (one["phase"], one["ends"]["south"]["in_play"]) == ("round", 5)
    cleared: Any = told(ends={"south": {"in_play": 0}, "north": {"in_play": 2}}, turn={"end": "south"})
    assert cleared["turn"] == {"end": "south", "final_throw": True}
    standoff: Any = told(phase="standoff", ends={"north": {"in_play": 1}})
    assert standoff["ends"]["south"]["in_play"] == 2
    assert standoff["queue"] == [3, 4]


def test_a_whole_state_of_the_first_board_is_a_position() -> None:
    for game in rules.GAMES:
        told = rules.document(begin(game))
        setup = rules.parse_setup(game, {"type": "setup", "position": told})
        assert rules.document(rules.start(setup)) == told
        assert rules.parse_setup(game, rules.setup_document(setup)) == setup


CARROM_POSITIONS: list[tuple[dict[str, Any], str]] = [
    ({"sides": {"A": {"pocketed": 9}}}, "position.sides.A.pocketed"),
    ({"sides": {"A": {"pocketed": -1}}}, "position.sides.A.pocketed"),
    ({"sides": {"A": {"pocketed": True}}}, "position.sides.A.pocketed"),
    ({"sides": {"A": {"pocketed": 1, "due": 1}}}, "position.sides.A.due"),
    ({"sides": {"A": {"score": 10**30}}}, "position.sides.A.score"),
    ({"sides": {"A": {"queen_right": 1}}}, "position.sides.A.queen_right"),
    ({"sides": {"A": {"colour": "black"}}}, "position.sides.A.colour"),
    ({"sides": {"C": {}}}, "position.sides.C"),
    ({"sides": []}, "position.sides"),
    ({"queen": {"status": "gone"}}, "position.queen.status"),
    ({"queen": {"status": "covered"}}, "position.queen.side"),
    ({"queen": {"status": "on_board", "side": "A"}}, "position.queen.side"),
    ({"queen": {"status": "uncovered", "side": "B"}}, "position.queen.side"),
    ({"turn": {"player": 3}}, "position.turn.player"),
    ({"turn": {"player": "1"}}, "position.turn.player"),
    ({"turn": {"player": 2, "side": "A"}}, "position.turn.side"),
    ({"turn": None}, "position.turn"),
    ({"board": 3}, "position.board"),
    ({"board": True}, "position.board"),
    ({"phase": "board_over"}, "position.phase"),
    ({"board_result": {"winner": "A"}}, "position.board_result"),
    ({"qeen": {}}, "position.qeen"),
]
MONEY_POSITIONS: list[tuple[dict[str, Any], str]] = [
    ({"on_board": {"white": 10}}, "position.on_board.white"),
    ({"on_board": {"white": 0, "black": 0, "queen": 0}}, "position.on_board"),
    ({"players": {}}, "position.players"),
    ({"players": [{}, {}, {}]}, "position.players"),
    ({"players": [{"player": 2}, {}]}, "position.players"),
    ({"players": [{"missed_turns": 2}]}, "position.players[0].missed_turns"),
    ({"turn": {"player": 0}}, "position.turn.player"),
]
BALL_POSITIONS: list[tuple[dict[str, Any], str]] = [
    ({"phase": "round_over"}, "position.phase"),
    ({"ends": {"north": {"in_play": 6}}}, "position.ends.north.in_play"),
    ({"ends": {"south": {"in_play": 0}}}, "position.ends.south.in_play"),
    ({"ends": {"north": {"in_play": 2}}, "turn": {"final_throw": True}}, "position.ends.north.in_play"),
    ({"phase": "line_up", "ends": {"north": {"in_play": 2}}}, "position.phase"),
    ({"turn": {"end": "north"}, "first_thrower": "south"}, "position.first_thrower"),
    ({"turn": {"end": "east"}}, "position.turn.end"),
    ({"queue": [3]}, "position.queue"),
    ({"ends": {"north": {"player": 2}}}, "position.ends.north.player"),
]


@pytest.mark.parametrize(
    ("game", "position", "field"),
    [
        *(("club_carrom", *case) for case in CARROM_POSITIONS),
        *(("new_carrom", *case) for case in CARROM_POSITIONS),
        *(("money_carrom", *case) for case in MONEY_POSITIONS),
        *(("carpetball", *case) for case in BALL_POSITIONS),
    ],
)
def test_positions_that_cannot_be(game: str, position: dict[str, Any], field: str) -> None:
    with pytest.raises(rules.BadInput) as caught:
        rules.parse_setup(game, {"type": "setup", "position": position})
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("game", "setup", "field"),
    [
        ("club_carrom", {"players": 3}, "players"),
        ("club_carrom", {"players": True}, "players"),
        ("money_carrom", {"players": 5}, "players"),
        ("carpetball", {"players": 10**12}, "players"),
        ("carpetball", {"players": 1}, "players"),
        ("club_carrom", {"options": []}, "options"),
        ("club_carrom", {"option": {}}, "option"),
        ("club_carrom", {"position": None}, "position"),
        ("club_carrom", {"type": "stroke"}, "type"),
        ("snooker", {}, "game"),
    ],
)
def test_set_ups_that_cannot_be(game: str, setup: dict[str, Any], field: str) -> None:
    with pytest.raises(rules.BadInput) as caught:
        rules.parse_setup(game, {"type": "setup", **setup})
    assert caught.value.field == field


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"game":"club"}', '{"game":"club_carrom"}', "[" * 100_000, '{"game":"carpetball","x":1}']
)
def test_texts_that_are_no_state(text: str) -> None:
    with pytest.raises(rules.BadInput):
        rules.from_text(text)


def test_text_keeps_what_the_document_hides() -> None:
    options = {"cc.target": 15}
    one = begin("club_carrom", options, sides={"A": {"queen_right": True}})
    two = begin("club_carrom", options)
    assert one != two
    text = rules.to_text(one)
    assert "\n" not in text
    assert rules.from_text(text) == one
