"""What an AWTRIX clock is told through a match of each game; the payloads are worked out by hand from its manual."""

import json
from typing import Any

import pytest

from appliance.bridges.awtrix import Awtrix, drawable
from appliance.bridges.settings import AwtrixSettings
from tests.bridges.played import Played, Said
from tests.support.session import Session

INK, SOFT, TURN, WON = "FFFFFF", "808080", "FFC832", "50E080"
PAGE, NOTE = "awtrix_1a2b3c/custom/pocketbeam-t1_", "awtrix_1a2b3c/notify"


def clock(table: Session, **settings: object) -> Played:
    return Played(Awtrix("t1", AwtrixSettings(prefix="awtrix_1a2b3c", **settings)), table)  # type: ignore[arg-type]


def page(*parts: tuple[str, str]) -> Said:
    return PAGE, {"text": [{"t": text, "c": colour} for text, colour in parts], "lifetime": 180}, True


def note(text: str, colour: str) -> Said:
    return NOTE, {"text": text, "color": f"#{colour}", "repeat": 2, "duration": 8}, False


def _json(news: dict[str, Any]) -> bytes:
    return json.dumps(news).encode()


GONE: Said = (PAGE, None, True)
DASH = ("-", SOFT)


def nearly(a: int, b: int) -> dict[str, object]:
    """One piece each to the end of a board, the queen covered by A, who is on turn."""
    return {
        "sides": {"A": {"pocketed": 8, "score": a}, "B": {"pocketed": 8, "score": b}},
        "queen": {"status": "covered", "side": "A"},
        "turn": {"player": 1},
    }


def test_a_match_of_club_carrom() -> None:
    played = clock(Session(players=("Asha", "Ben"), position=nearly(22, 9)))
    assert played.comes() == [page(("22", TURN), DASH, ("9", INK))]
    # One black piece is left, and the queen counts five: 22 + 6.
    assert played.stroke("white") == [page(("28", INK), DASH, ("9", INK))]
    # Ben breaks the second board, and any board makes Asha's 28 a 29.
    assert played.asks("next_board") == [page(("28", INK), DASH, ("9", TURN)), note("Match point Asha", TURN)]
    played.asks("recount", **{**nearly(28, 9), "turn": {"player": 1}})
    # Asha is black now.
    assert played.stroke("black") == [page(("34", WON), DASH, ("9", INK)), note("Asha wins", WON)]
    assert played.asks("new_match") == [page(("0", TURN), DASH, ("0", INK))]


def test_a_match_of_new_carrom_between_pairs() -> None:
    names = ("Asha", "Ben", "Chitra", "Dan")
    played = clock(Session("new_carrom", players=names, rules={"nc.match": "best_of_3"}, position=nearly(0, 0)))
    assert played.comes() == [page(("0", TURN), DASH, ("0", INK))]
    assert played.stroke("white") == [page(("1", INK), DASH, ("0", INK))]
    assert played.asks("next_board") == [page(("1", INK), DASH, ("0", TURN)), note("Match point Asha & Chitra", TURN)]
    played.asks("recount", sides=nearly(1, 0)["sides"], queen={"status": "covered", "side": "A"}, turn={"player": 1})
    assert played.stroke("black") == [page(("2", WON), DASH, ("0", INK)), note("Asha & Chitra win", WON)]


def test_a_game_of_money_carrom() -> None:
    position = {
        "players": [{"player": 1, "score": 9}, {"player": 2, "score": 15}, {"player": 3, "score": 0}],
        "on_board": {"white": 3, "black": 2, "queen": 0},
        "turn": {"player": 1},
    }
    table = Session("money_carrom", ("Asha", "Ben", "Chitra"), rules={"mc.end": "first_to_17"}, position=position)
    played = clock(table)
    assert played.comes() == [page(("9", TURN), DASH, ("15", INK), DASH, ("0", INK))]
    assert played.stroke() == [page(("9", INK), DASH, ("15", TURN), DASH, ("0", INK))]
    # A black piece counts two.
    assert played.stroke("black") == [page(("9", INK), DASH, ("17", WON), DASH, ("0", INK)), note("Ben wins", WON)]


def test_a_round_of_carpetball() -> None:
    played = clock(Session("carpetball", players=("Asha", "Ben", "Chitra")))
    assert played.comes() == [page(("Line up", INK))]
    assert played.asks("line_up", north=5, south=5) == [page(("5", TURN), DASH, ("5", INK))]
    assert played.throw(south=2) == [page(("5", INK), DASH, ("3", TURN))]
    assert played.throw(north=1) == [page(("4", TURN), DASH, ("3", INK))]
    assert played.throw(south=3) == [page(("4", INK), DASH, ("0", TURN))]  # Ben's final throw
    assert played.throw() == [page(("4", WON), DASH, ("0", INK)), note("Asha wins", WON)]
    assert played.asks("next_round") == [page(("Line up", INK))]


def test_a_draw_is_nobodys() -> None:
    played = clock(Session(rules={"cc.max_boards": 1}, position=nearly(3, 9)))
    played.comes()
    assert played.stroke("white") == [page(("9", INK), DASH, ("9", INK)), note("Draw", INK)]


def test_a_win_that_rests_on_an_assumption_has_a_question_mark() -> None:
    table = Session(unknown="assume", position=nearly(27, 9))
    played = clock(table)
    played.comes()
    table.passes("white", "black", at=1)
    table.clock(8)
    assert table.rules["match_winner"] == "A"
    told = [played.hears("event", _json(news), retained=False) for news in played.events()]
    assert [each for each in told if each] == [[note("Asha wins?", WON)]]


def test_a_correction_that_ends_a_match_is_told_and_one_that_does_not_is_not() -> None:
    played = clock(Session(position=nearly(27, 9)))
    played.comes()
    assert played.stroke("striker") == [page(("27", INK), DASH, ("9", TURN))]
    assert played.asks("correct", stroke=1, pocketed=[]) == []
    assert played.asks("correct", stroke=1, pocketed=["white"]) == [
        page(("33", WON), DASH, ("9", INK)),
        note("Asha wins", WON),
    ]
    assert played.asks("correct", stroke=1, pocketed=[]) == [page(("27", INK), DASH, ("9", TURN))]


def test_what_is_open_or_paused_shows() -> None:
    table = Session(unknown="ask", position=nearly(3, 9))
    played = clock(table)
    played.comes()
    table.passes("white", "queen", "black", at=1)
    table.press(1, at=2)
    assert played.hears_state() == [page(("3", TURN), DASH, ("9", INK), ("?", TURN))]
    assert played.asks("answer", value="white") == [page(("9", INK), DASH, ("9", INK))]
    assert played.asks("next_board") == [page(("9", INK), DASH, ("9", TURN))]
    assert played.asks("pause") == [page(("9", SOFT), DASH, ("9", SOFT))]
    assert played.asks("resume") == [page(("9", INK), DASH, ("9", TURN))]


def test_the_page_goes_with_the_table_and_comes_with_it() -> None:
    played = clock(Session(position=nearly(3, 9)))
    shown = page(("3", TURN), DASH, ("9", INK))
    assert played.comes() == [shown]
    assert played.hears("availability", b"offline") == [GONE]
    assert played.hears_state() == []
    assert played.hears("availability", b"online") == [shown]
    assert played.comes() == [shown], "after a new connection, for a broker that has forgotten it"
    played.follower.connected()
    assert played.hears("availability", b"offline") == [GONE]


def test_icon_label_and_lifetime_are_the_owners() -> None:
    played = clock(Session(), icon="87", label="Table 1", lifetime_s=600)
    [(_, document, _)] = played.comes()
    assert document == {
        "text": [
            {"t": "Table 1 ", "c": SOFT},
            {"t": "0", "c": TURN},
            {"t": "-", "c": SOFT},
            {"t": "0", "c": INK},
        ],
        "lifetime": 600,
        "icon": "87",
    }
    assert played.follower.mapper.refresh_s == 200


def test_no_pages_name_begins_with_anothers() -> None:
    """A clock that removes a page removes all whose names begin like it."""
    settings = AwtrixSettings(prefix="clock")
    names = [Awtrix(table, settings).clear()[0].topic for table in ("t", "t-", "t1", "t1-", "t10", "t1-t1")]
    assert not [(one, other) for one in names for other in names if one != other and other.startswith(one)]


@pytest.mark.parametrize(
    ("name", "drawn"),
    [
        ("Asha", "Asha"),
        ("Zoë Müller", "Zoë Müller"),
        ("Łukasz Żółć", "Łukasz Żółć"),
        ("Иван", "Иван"),
        ("Ştefan Čapek", "Stefan Capek"),
        ("🎯 Ben 🎯", "Ben"),
        ("A–B", "AB"),
        ("{{zigbee2mqtt/bridge/info}}", "((zigbee2mqtt/bridge/info))"),
        ("\u202eBen", "Ben"),
        ("עשא", "Player 1"),
        ("आशा", "Player 1"),
        ("…", "Player 1"),
    ],
)
def test_names_come_in_the_letters_that_the_clock_has(name: str, drawn: str) -> None:
    assert drawable(name, "Player 1") == drawn


def test_a_name_cannot_make_the_clock_listen_to_a_topic() -> None:
    played = clock(Session(players=("{{secret}}", "Ben"), position=nearly(27, 9)))
    played.comes()
    assert played.stroke("white")[1] == note("((secret)) wins", WON)
