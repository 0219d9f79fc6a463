"""`pocketbeam score`: answers a line at a time, undo at any depth, and one sentence about a bad line."""

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

from appliance.score import score

HIT = b'{"type":"stroke","pocketed":["white"]}\n'
MISS = b'{"type":"stroke","pocketed":[]}\n'
UNDO = b'{"type":"undo"}\n'


def run(game: str, *lines: bytes) -> tuple[int, list[Any], str]:
    out, err = io.StringIO(), io.StringIO()
    status = score(game, lines, out, err)
    return status, [json.loads(line) for line in out.getvalue().splitlines()], err.getvalue()


def test_answers_come_line_by_line() -> None:
    class Screen(io.StringIO):
        flushed = 0

        def flush(self) -> None:
            self.flushed = len(self.getvalue().splitlines())

    out = Screen()

    def lines() -> Iterator[bytes]:
        for number in range(3):
            assert out.flushed == number
            yield MISS

    assert score("club_carrom", lines(), out, io.StringIO()) == 0
    assert out.flushed == 3


def test_set_up_empty_lines_and_endings() -> None:
    status, answers, err = run(
        "club_carrom", b"\xef\xbb\xbf", b"\r\n", b'{"type":"setup","players":4}\r\n', b"  \n", HIT
    )
    assert (status, err) == (0, "")
    assert [answer["state"]["turn"]["player"] for answer in answers] == [1, 1]
    assert answers[0]["instructions"] == []
    assert answers[1]["state"]["sides"]["A"]["pocketed"] == 1


def test_no_lines_at_all() -> None:
    assert run("money_carrom") == (0, [], "")


def test_refusals_change_nothing_and_are_no_part_of_the_history() -> None:
    impossible = b'{"type":"stroke","pocketed":["queen","queen"]}'
    status, answers, err = run("money_carrom", HIT, impossible, impossible, b'{"type":"next_board"}', UNDO, UNDO, UNDO)
    assert (status, err) == (0, "")
    codes = [answer.get("refused", {}).get("code") for answer in answers]
    expected = [None, "impossible_count", "impossible_count", "wrong_phase", None, "nothing_to_undo", "nothing_to_undo"]
    assert codes == expected
    assert {answer["state"]["players"][0]["score"] for answer in answers[:4]} == {1}
    assert {answer["state"]["players"][0]["score"] for answer in answers[4:]} == {0}
    assert all(answer["events"] == [] and answer["instructions"] == [] for answer in answers if "refused" in answer)
    assert all(answer["refused"]["message"] for answer in answers if "refused" in answer)


def test_undo_goes_back_across_a_board() -> None:
    setup = {"sides": {"A": {"pocketed": 8}}, "queen": {"status": "covered", "side": "A"}}
    status, answers, _ = run(
        "club_carrom", json.dumps({"type": "setup", "position": setup}).encode(), HIT, b'{"type":"next_board"}',
        MISS, UNDO, UNDO, UNDO,
    )  # fmt: skip
    assert status == 0
    boards = [(answer["state"]["board"], answer["state"]["phase"]) for answer in answers]
    assert boards[1:] == [
        (1, "board_over"), (2, "playing"), (2, "playing"), (2, "playing"), (1, "board_over"), (1, "playing"),
    ]  # fmt: skip
    assert answers[-1]["state"] == answers[0]["state"]
    assert answers[-1]["events"] == [{"event": "undone"}]


CARROM_BAD: list[tuple[bytes, str]] = [
    (b"{", "JSON"),
    (b"nonsense", "JSON"),
    (b"[]", "object"),
    (b"5", "object"),
    (b"null", "object"),
    (b'"stroke"', "object"),
    (b"\xff\xfe", "UTF-8"),
    (b'{"type":"stroke","pocketed":["wh\xefte"]}', "UTF-8"),
    (b'{"type":"stroke","pocketed":[NaN]}', "NaN"),
    (b'{"type":"stroke","pocketed":[],"x":Infinity}', "Infinity"),
    (b"[" * 200_000, "deeply"),
    (b'{"type":"stroke","pocketed":' + b"[" * 200_000, "deeply"),
    (b'{"type":"stroke","pocketed":' + b"9" * 10_000 + b"}", "too long"),
    (b'{"type":"stroke","type":"undo","pocketed":[]}', '"type"'),
    (b"{}", "type"),
    (b'{"type":null}', "type"),
    (b'{"type":["stroke"]}', "type"),
    (b'{"type":"strok","pocketed":[]}', '"stroke"'),
    (b'{"type":"throw","out":{}}', "type"),
    (b'{"type":"setup"}', "first line"),
    (b'{"type":"undo","depth":2}', "depth"),
    (b'{"type":"stroke"}', "pocketed"),
    (b'{"type":"stroke","pocketed":3}', "pocketed"),
    (b'{"type":"stroke","pocketed":"white"}', "pocketed"),
    (b'{"type":"stroke","pocketed":{"white":1}}', "pocketed"),
    (b'{"type":"stroke","pocketed":[true]}', "pocketed"),
    (b'{"type":"stroke","pocketed":[["white"]]}', "pocketed"),
    (b'{"type":"stroke","pocketed":["whit"]}', '"white"'),
    (b'{"type":"stroke","pocketed":["\\ud800"]}', "pocketed"),
    (b'{"type":"stroke","pocketed":[],"jumped":["ball"]}', "jumped"),
    (b'{"type":"stroke","pocketed":[],"jumped":null}', "jumped"),
    (b'{"type":"stroke","pocketed":[],"jumpt":[]}', '"jumped"'),
    (b'{"type":"recount","turn":{"player":true}}', "turn.player"),
    (b'{"type":"recount","turn":{"plaer":1}}', "turn.plaer"),
]
SIDES_BAD: list[tuple[bytes, str]] = [
    (b'{"type":"recount","sides":{"A":{"pocketed":-1}}}', "sides.A.pocketed"),
    (b'{"type":"recount","sides":{"A":{"pocketed":1.0}}}', "sides.A.pocketed"),
    (b'{"type":"recount","sides":{"A":3}}', "sides.A"),
    (b'{"type":"recount","queen":{"status":"lost"}}', "queen.status"),
    (b'{"type":"recount","on_board":{}}', "on_board"),
]
MONEY_BAD: list[tuple[bytes, str]] = [
    (b'{"type":"recount","on_board":{"white":-1}}', "on_board.white"),
    (b'{"type":"recount","on_board":{"striker":1}}', "on_board.striker"),
    (b'{"type":"recount","players":[{"missed_turns":2}]}', "players[0].missed_turns"),
    (b'{"type":"recount","players":[3]}', "players[0]"),
    (b'{"type":"recount","sides":{}}', "sides"),
]
BALL_BAD: list[tuple[bytes, str]] = [
    (b'{"type":"stroke","pocketed":[]}', "type"),
    (b'{"type":"line_up","north":5}', "south"),
    (b'{"type":"line_up","north":true,"south":5}', "north"),
    (b'{"type":"line_up","north":"5","south":5}', "north"),
    (b'{"type":"line_up","north":-1,"south":5}', "north"),
    (b'{"type":"throw","out":[1,0]}', "out"),
    (b'{"type":"throw","out":{"east":1}}', "out.east"),
    (b'{"type":"throw","out":{"north":-1}}', "out.north"),
    (b'{"type":"throw","off_table":1.5}', "off_table"),
    (b'{"type":"throw","short":1}', "short"),
    (b'{"type":"withdraw","end":"north"}', "balls"),
    (b'{"type":"withdraw","end":"norht","balls":1}', '"north"'),
    (b'{"type":"recount","ends":{"north":{"in_play":-2}}}', "ends.north.in_play"),
]


@pytest.mark.parametrize(
    ("game", "line", "told"),
    [
        *((game, *case) for game in ("club_carrom", "money_carrom") for case in CARROM_BAD),
        *((game, *case) for game in ("club_carrom", "new_carrom") for case in SIDES_BAD),
        *(("money_carrom", *case) for case in MONEY_BAD),
        *(("carpetball", *case) for case in BALL_BAD),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_bad_line_ends_the_run(game: str, line: bytes, told: str) -> None:
    good = b'{"type":"line_up","north":5,"south":4}\n' if game == "carpetball" else HIT
    status, answers, err = run(game, good, b"\n", line + b"\n", good)
    assert status == 2
    assert len(answers) == 1
    assert err.count("\n") == 1
    assert err.isascii()
    assert len(err) < 400
    assert "line 3" in err
    assert told in err


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b'{"type":"setup","players":3}', "players"),
        (b'{"type":"setup","options":{"cc.traget":25}}', '"cc.target"'),
        (b'{"type":"setup","options":{"cc.overshoot":"keep"}}', "not available yet"),
        (b'{"type":"setup","options":{"cc.target":"many"}}', "cc.target"),
        (b'{"type":"setup","position":{"sides":{"A":{"pocketed":9}}}}', "position.sides.A.pocketed"),
        (b'{"type":"setup","playes":2}', '"players"'),
    ],
)
def test_a_bad_set_up_ends_the_run(line: bytes, told: str) -> None:
    status, answers, err = run("club_carrom", line, HIT)
    assert (status, answers) == (2, [])
    assert "line 1" in err
    assert told in err


def test_an_unknown_game() -> None:
    status, answers, err = run("club_carom", HIT)
    assert (status, answers) == (2, [])
    assert '"club_carrom"' in err


def test_huge_counts_are_refused_not_believed() -> None:
    status, answers, _ = run(
        "carpetball",
        b'{"type":"line_up","north":1' + b"0" * 4000 + b',"south":5}',
        b'{"type":"line_up","north":5,"south":5}',
        b'{"type":"throw","off_table":1' + b"0" * 4000 + b"}",
    )  # fmt: skip
    assert status == 0
    assert [answer.get("refused", {}).get("code") for answer in answers] == [
        "impossible_count",
        None,
        "impossible_count",
    ]
    assert all(len(json.dumps(answer)) < 1000 for answer in answers)
