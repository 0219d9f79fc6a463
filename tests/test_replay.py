"""`replay`: recordings worked out by hand, bad recordings, and the same output each time."""

import io
import json
from typing import Any

import pytest

from appliance import replay, rules
from sim import device
from sim.actions import Call, Over
from sim.driver import script
from sim.layout import SOURCE, layout_of
from sim.players import simulate
from tests.support.validated import validate

CONFIG: dict[str, Any] = {
    "table": {"id": "t1", "game": "club_carrom", "players": ["Asha", "Ben"], "unknown_object": "ask"},
    "sources": [{"id": "board", "kind": "serial", "port": "/dev/none"}],
    "beams": [
        {"id": "ne", "source": "board", "channel": 0, "place": "ne"},
        {"id": "nw", "source": "board", "channel": 1, "place": "nw", "passes": ["striker"]},
    ],
    "buttons": [{"id": "done-1", "source": "board", "channel": 8, "action": "done", "player": 1}],
}
HEAD = {"recording": 1, "config": CONFIG}
LEVELS = {"t_us": 0, "source": "board", "levels": {"0": 0, "1": 0, "8": 1}}
S = 1_000_000


def fall(t_us: int, channel: int = 0, dwell_us: int = 35_000, colour: str | None = None) -> list[dict[str, Any]]:
    """A break and a clear, and what the colour sensor makes of it."""
    lines: list[dict[str, Any]] = [
        {"t_us": t_us, "source": "board", "channel": channel, "level": 1},
        {"t_us": t_us + dwell_us, "source": "board", "channel": channel, "level": 0},
    ]
    if colour is not None:
        lines.append({"t_us": t_us + dwell_us + 60_000, "source": "board", "channel": channel, "colour": colour})
    return lines


def press(t_us: int) -> list[dict[str, Any]]:
    return [
        {"t_us": t_us, "source": "board", "channel": 8, "level": 0},
        {"t_us": t_us + 80_000, "source": "board", "channel": 8, "level": 1},
    ]


def run(*lines: Any) -> tuple[int, list[dict[str, Any]], str]:
    """The exit status, what was printed, and what was said on standard error."""
    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    out, err = io.StringIO(), io.StringIO()
    status = replay.replay(raw, out, err)
    return status, [json.loads(line) for line in out.getvalue().splitlines()], err.getvalue()


def played(*lines: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The events and the last state of a recording that is well."""
    status, printed, err = run(HEAD, LEVELS, *lines)
    assert (status, err) == (0, "")
    *events, last = printed
    assert set(last) == {"state"}
    for event in events:
        validate("pocketbeam/t1/event", json.dumps(event))
    validate("pocketbeam/t1/state", json.dumps(last["state"]))
    return events, last["state"]


def names(events: list[dict[str, Any]]) -> list[str]:
    return [event["event"] for event in events]


def at(event: dict[str, Any]) -> str:
    return str(event["at"])


class TestWorkedByHand:
    def test_a_white_and_a_quiet_time(self) -> None:
        events, state = played(*fall(1 * S, colour="white"), {"t_us": 10 * S, "end": True})
        assert names(events)[:2] == ["match_started", "passage"]
        assert at(events[0]) == "1970-01-01T00:00:00.000Z"
        assert at(events[1]) == "1970-01-01T00:00:01.035Z"
        assert (events[1]["passage_id"], events[1]["match_id"]) == ("p1", "m1")
        # The stroke was last active at 1.035 s and closes 6 s later; heartbeats tell it each quarter of a second.
        closed = next(event for event in events if event["event"] == "stroke_closed")
        assert at(closed) == "1970-01-01T00:00:07.250Z"
        assert state["rules"]["sides"]["A"]["pocketed"] == 1
        assert state["rules"]["turn"]["player"] == 1
        assert state["at"] == "1970-01-01T00:00:10.000Z"

    def test_time_runs_on_to_the_end_line_and_no_further(self) -> None:
        _, state = played(*fall(1 * S, colour="white"), {"t_us": 7 * S, "end": True})
        assert state["stroke"]["number"] == 1
        _, state = played(*fall(1 * S, colour="white"))
        assert state["stroke"]["number"] == 1

    def test_a_button_a_miss_and_an_undo(self) -> None:
        events, state = played(
            *fall(1 * S, colour="white"),
            *press(2 * S),
            *press(8 * S),
            {"t_us": 9 * S, "request": {"command": "undo"}},
            {"t_us": 10 * S, "end": True},
        )
        assert [name for name in names(events) if name in ("stroke_closed", "undone")] == [
            "stroke_closed",
            "stroke_closed",
            "undone",
        ]
        assert state["rules"]["turn"]["player"] == 1
        assert state["rules"]["sides"]["A"]["pocketed"] == 1

    def test_an_unknown_object_is_asked_for_and_named(self) -> None:
        events, state = played(
            *fall(1 * S), *press(2 * S), {"t_us": 5 * S, "request": {"command": "answer", "value": "white"}}
        )
        question = next(event for event in events if event["event"] == "question_opened")
        assert question["question"] == "q1"
        assert state["rules"]["sides"]["A"]["pocketed"] == 1

    def test_what_can_be_one_thing_only_is_known(self) -> None:
        _, state = played(*fall(1 * S, channel=1), *press(2 * S), {"t_us": 5 * S, "end": True})
        assert state["questions"] == []
        assert state["rules"]["sides"]["A"]["due"] == 1

    def test_a_beam_blocked_at_the_beginning_is_no_score(self) -> None:
        blocked = {"t_us": 0, "source": "board", "levels": {"0": 1, "1": 0, "8": 1}}
        status, printed, _ = run(
            HEAD, blocked, {"t_us": S, "source": "board", "channel": 0, "level": 0}, {"t_us": 9 * S, "end": True}
        )
        assert status == 0
        assert names(printed[:-1]) == ["match_started", "beam_fault", "beam_well"]
        assert printed[-1]["state"]["stroke"] is None

    def test_a_start_position(self) -> None:
        position = {"sides": {"A": {"pocketed": 7, "due": 0}, "B": {"pocketed": 3, "due": 0}}, "turn": {"player": 2}}
        status, printed, err = run({**HEAD, "start": position}, LEVELS)
        assert (status, err) == (0, "")
        assert printed[-1]["state"]["rules"]["sides"]["A"]["pocketed"] == 7
        assert printed[-1]["state"]["rules"]["turn"]["player"] == 2

    def test_years_in_which_nothing_falls_pass_in_no_time(self) -> None:
        years_us = 50 * 365 * 24 * 3600 * S
        events, state = played(*fall(1 * S, colour="white"), *fall(years_us, colour="black"))
        assert at(next(event for event in events if event["event"] == "stroke_closed")) == "1970-01-01T00:00:07.250Z"
        assert state["stroke"]["fallen"][0]["object"] == "black"
        assert state["at"].startswith("2019-")

    def test_a_refused_request_is_told_and_play_goes_on(self) -> None:
        status, printed, err = run(HEAD, LEVELS, {"t_us": S, "request": {"command": "next_board"}}, *fall(2 * S))
        assert status == 0
        assert err.startswith("pocketbeam: line 3: refused (wrong_phase): ")
        assert printed[-1]["state"]["stroke"] is not None


EDGE = {"t_us": 5, "source": "board", "channel": 0, "level": 1}


@pytest.mark.parametrize(
    ("lines", "number", "says"),
    [
        ([b""], 1, "empty"),
        ([b"{"], 1, "not JSON"),
        ([b"\xff"], 1, "not UTF-8"),
        ([b"[1]"], 1, "no object"),
        ([{"config": CONFIG}], 1, "begins with"),
        ([{"recording": 2, "config": CONFIG}], 1, "begins with"),
        ([{"recording": True, "config": CONFIG}], 1, "begins with"),
        ([{"recording": 1}], 1, "config"),
        ([{"recording": 1, "config": {"table": {"id": "t1", "game": "chess"}}}], 1, "config.table.game"),
        ([{**HEAD, "start": {"sides": {"A": {"pocketed": 10}}}}], 1, "start"),
        ([{**HEAD, "start": 5}], 1, "start"),
        ([{**HEAD, "strat": {}}], 1, "strat"),
        ([{"recording": 1, "config": {**CONFIG, "beems": []}}], 1, "config.beems"),
        ([HEAD, b"nonsense"], 2, "not JSON"),
        ([HEAD, b'{"t_us":5,"t_us":6,"end":true}'], 2, '"t_us": this field stands twice'),
        ([HEAD, b'{"t_us":5,"request":{"command":"stroke","pocketed":[],"pocketed":["white"]}}'], 2, '"pocketed"'),
        ([HEAD, b'{"t_us":NaN,"end":true}'], 2, "NaN"),
        ([HEAD, b'{"t_us":' + b"9" * 10_000 + b"}"], 2, "too long"),
        ([HEAD, b"[" * 200_000], 2, "deeply"),
        ([HEAD, b'{"t_us":5,"request":{"command":"players","names":["\\ud800","Ben"]}}'], 2, "half a character"),
        ([HEAD, {"source": "board"}], 2, "t_us"),
        ([HEAD, {**EDGE, "t_us": -1}], 2, "t_us"),
        ([HEAD, {**EDGE, "t_us": 1.5}], 2, "t_us"),
        ([HEAD, {**EDGE, "t_us": True}], 2, "t_us"),
        ([HEAD, b"", EDGE, {**EDGE, "t_us": 4}], 4, "t_us: 4"),
        ([HEAD, {**EDGE, "t_us": 10**30}], 2, "t_us"),
        ([HEAD, {**EDGE, "source": "bored"}], 2, "source"),
        ([HEAD, {**EDGE, "source": ["board"]}], 2, "source"),
        ([HEAD, {**EDGE, "channel": "0"}], 2, "channel"),
        ([HEAD, {**EDGE, "channel": -1}], 2, "channel"),
        ([HEAD, {**EDGE, "level": 2}], 2, "level"),
        ([HEAD, {**EDGE, "level": True}], 2, "level"),
        ([HEAD, {**EDGE, "level": [1]}], 2, "level"),
        ([HEAD, {"t_us": 5, "source": "board", "channel": 0}], 2, "level"),
        ([HEAD, {**EDGE, "lvl": 1}], 2, "lvl"),
        ([HEAD, {"t_us": 5, "source": "board", "levels": [0]}], 2, "levels"),
        ([HEAD, {"t_us": 5, "source": "board", "levels": {"x": 0}}], 2, "levels"),
        ([HEAD, {"t_us": 5, "source": "board", "levels": {"0": 7}}], 2, "levels.0"),
        ([HEAD, {"t_us": 5, "source": "board", "levels": {"9" * 10_000: 0}}], 2, "levels"),
        ([HEAD, {"t_us": 5, "source": "board", "channel": 0, "colour": 3}], 2, "colour"),
        ([HEAD, {"t_us": 5, "source": "board", "channel": 0, "colour": "whit"}], 2, "colour"),
        ([HEAD, {"t_us": 5, "source": "board", "channel": 0, "colour": ["white"]}], 2, "colour"),
        ([HEAD, {"t_us": 5, "request": "undo"}], 2, "request"),
        ([HEAD, {"t_us": 5, "end": False}], 2, "end"),
        ([HEAD, {"t_us": 5, "end": True, "level": 1}], 2, "level"),
    ],
)
def test_bad_input_is_one_sentence_with_line_and_field(lines: list[Any], number: int, says: str) -> None:
    status, _, err = run(*lines)
    assert status == 2
    assert err.startswith(f"pocketbeam: line {number}: "), err
    assert says in err
    assert err.count("\n") == 1


def test_what_some_editors_begin_a_text_with_is_no_part_of_it() -> None:
    marked = b"\xef\xbb\xbf" + json.dumps(HEAD).encode() + b"\r\n"
    assert run(marked, b"\r\n", {"t_us": S, "end": True}) == run(HEAD, {"t_us": S, "end": True})


def test_what_came_before_a_bad_line_has_been_printed() -> None:
    status, printed, _ = run(HEAD, LEVELS, *fall(S), b"nonsense")
    assert status == 2
    assert names(printed) == ["match_started", "passage"]


def recording_of(game: str, seed: int) -> tuple[list[dict[str, Any]], rules.GameState]:
    """A simulated match as a recording."""
    match = simulate(game, ("Asha", "Ben"), seed)
    layout = layout_of(game)
    beams = [
        {"id": s.id, "source": SOURCE, "channel": s.channel, "place": s.place, **({"end": s.end} if s.end else {})}
        for s in layout.sensors
    ]
    config = {
        "table": {"id": "t1", "game": game, "players": ["Asha", "Ben"], "unknown_object": "ask"},
        "sources": [{"id": SOURCE, "kind": "serial", "port": "/dev/none"}],
        "beams": beams,
    }
    levels = {str(channel): level for channel, level in layout.idle_levels().items()}
    lines: list[dict[str, Any]] = [
        {"recording": 1, "config": config},
        {"t_us": 0, "source": SOURCE, "levels": levels},
    ]
    for item in script(match):
        match item:
            case device.Edge(at_us, channel, level):
                lines.append({"t_us": at_us, "source": SOURCE, "channel": channel, "level": level})
            case device.Colour(at_us, channel, name):
                lines.append({"t_us": at_us, "source": SOURCE, "channel": channel, "colour": name})
            case Call(at_us, request):
                lines.append({"t_us": at_us, "request": dict(request)})
            case Over(at_us):
                lines.append({"t_us": at_us, "end": True})
    return lines, match.final


@pytest.mark.parametrize("game", rules.GAMES)
def test_a_recorded_match_comes_to_what_was_played_and_to_the_same_words_each_time(game: str) -> None:
    lines, final = recording_of(game, seed=3)
    first, second = run(*lines), run(*lines)
    assert first == second
    status, printed, err = first
    assert (status, err) == (0, "")
    assert printed[-1]["state"]["rules"] == rules.document(final)
    ids = [event["event_id"] for event in printed[:-1]]
    assert len(ids) == len(set(ids))
