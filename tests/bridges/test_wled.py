"""What a WLED strip is told through a match of each game; the payloads are worked out by hand from its manual."""

from typing import Any

from appliance.bridges.settings import WledSettings
from appliance.bridges.wled import Wled
from tests.bridges.played import Played, Said
from tests.bridges.test_awtrix import nearly
from tests.support.session import Session

PRESETS = {
    "match_ended": 10,
    "round_won": 10,
    "match_point": 9,
    "board_won": 8,
    "queen_covered": 7,
    "foul": 6,
    "points_scored": 5,
    "stroke_scored": 4,
}


def strip(table: Session, **settings: Any) -> Played:
    return Played(Wled("t1", WledSettings(**{"topic": "wled/hall", "presets": PRESETS, **settings})), table)


def told(document: dict[str, Any]) -> Said:
    return "wled/hall/api", document, False


def preset(number: int) -> Said:
    return told({"ps": number})


def test_a_match_of_club_carrom() -> None:
    played = strip(Session(position={**nearly(22, 9), "queen": {"status": "on_board", "side": None}}))
    assert played.comes() == []
    assert played.stroke("striker") == [preset(6)]
    assert played.stroke() == []
    # The striker's penalty was one of Asha's eight.
    assert played.stroke("queen") == [preset(4)]
    assert played.stroke("white") == [preset(4), preset(7)]
    assert played.stroke("white") == [preset(4), preset(8)]
    assert played.asks("next_board") == [preset(9)]
    played.asks("recount", **{**nearly(28, 9), "turn": {"player": 1}})
    assert played.stroke("black") == [preset(4), preset(8), preset(10)]


def test_of_events_that_come_together_the_one_that_stands_first_counts() -> None:
    """`match_ended` comes last of them; here it counts less than the stroke."""
    played = strip(Session(position=nearly(27, 9)), presets={"stroke_scored": 4, "match_ended": 10})
    played.comes()
    assert played.stroke("white") == [preset(4)]


def test_a_match_of_new_carrom() -> None:
    played = strip(Session("new_carrom", rules={"nc.match": "best_of_3"}, position=nearly(1, 0)))
    played.comes()
    assert played.stroke("white") == [preset(4), preset(8), preset(10)]


def test_a_game_of_money_carrom() -> None:
    position = {"players": [{"player": 1, "score": 14}], "turn": {"player": 1}}
    played = strip(Session("money_carrom", rules={"mc.end": "first_to_17"}, position=position))
    played.comes()
    assert played.stroke("white") == [preset(4), preset(5)]
    assert played.stroke("black") == [preset(4), preset(5), preset(10)]


def test_a_round_of_carpetball() -> None:
    played = strip(Session("carpetball"), presets={**PRESETS, "final_throw": 3, "lined_up": 2})
    played.comes()
    assert played.asks("line_up", north=5, south=5) == [preset(2)]
    assert played.throw(south=5) == [preset(4)], "the final throw counts less than a score"
    assert played.throw() == [preset(10)]


def test_with_a_base_the_strip_goes_back_by_itself() -> None:
    played = strip(Session(), base=1, shown_s=2.5)
    assert played.comes() == [preset(1)]
    back = {"playlist": {"ps": [4], "dur": [25], "repeat": 1, "end": 1}}
    assert played.stroke("white") == [told(back)]


def test_the_presets_of_a_table_that_comes_and_goes() -> None:
    played = strip(Session(), base=1, offline=2)
    assert played.comes() == [preset(1)]
    assert played.comes() == [], "a strip that somebody has switched off stays off when a broker comes back"
    assert played.hears("availability", b"offline") == [preset(2)]
    assert played.hears("availability", b"online") == [preset(1)]


def test_a_correction_that_ends_a_match_is_an_end() -> None:
    played = strip(Session(position=nearly(27, 9)))
    played.comes()
    played.stroke()
    assert played.asks("correct", stroke=1, pocketed=["white"]) == [preset(10)]
    assert played.asks("correct", stroke=1, pocketed=[]) == []


def test_a_correction_itself_may_have_a_preset() -> None:
    played = strip(Session(position=nearly(3, 9)), presets={"corrected": 3})
    played.comes()
    played.stroke()
    assert played.asks("correct", stroke=1, pocketed=["white"]) == [preset(3)]
