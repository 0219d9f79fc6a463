"""What may be asked, and how everything else is refused with a sentence."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.mqtt.requests import MAX_BYTES, Request, RequestError, commands, parse_request

# one good request for every command of the contract, with all of its fields
GOOD: list[dict[str, Any]] = [
    {"command": "end_stroke", "player": 2},
    {"command": "stroke", "pocketed": ["white", "queen"], "jumped": []},
    {"command": "throw", "out": {"south": 2, "north": 0}, "off_table": 1, "short": False},
    {"command": "jumped", "objects": ["black"]},
    {"command": "break_not_made"},
    {"command": "no_stroke"},
    {"command": "line_up", "north": 5, "south": 4},
    {"command": "withdraw", "end": "north", "balls": 1},
    {"command": "next_board"},
    {"command": "next_round"},
    {"command": "object", "object": "own", "passage_id": "p3"},
    {"command": "object", "object": "striker", "place": "ne"},
    {"command": "answer", "question": "q7", "value": "white"},
    {"command": "answer", "value": 2},
    {"command": "answer", "value": True},
    {"command": "recount", "sides": {"A": {"pocketed": 5}}, "queen": {}, "turn": {"player": 2}},
    {"command": "recount", "on_board": {"white": 3}, "players": [{"player": 1, "score": 4}]},
    {"command": "recount", "ends": {"north": {"in_play": 2}}},
    {"command": "undo"},
    {"command": "redo"},
    {"command": "correct", "stroke": 7, "pocketed": ["white"], "jumped": [], "player": 1},
    {"command": "correct", "stroke": 7, "out": {"north": 1}, "off_table": 0},
    {"command": "correct", "stroke": 7, "void": True},
    {"command": "correct", "stroke": 7, "void": False},
    {"command": "correct", "stroke": 7, "claim": "p9", "object": "black"},
    {
        "command": "new_match",
        "game": "club_carrom",
        "players": ["Asha", {"id": "b2", "name": "Ben"}],
        "options": {"cc.target": 25},
        "position": {"board": 1},
        "abandon": True,
    },
    {"command": "pause"},
    {"command": "resume"},
    {"command": "abandon"},
    {"command": "players", "names": ["Asha", "Ben"]},
    {"command": "players", "swap": [1, 2]},
    {"command": "sync"},
    {"command": "diagnostics", "seconds": 30},
]


def parse(document: Any) -> Request | RequestError:
    return parse_request(json.dumps(document).encode(), retained=False)


def refused(payload: bytes) -> RequestError:
    answer = parse_request(payload, retained=False)
    assert isinstance(answer, RequestError)
    return answer


@pytest.mark.parametrize("document", GOOD, ids=lambda document: json.dumps(document)[:50])
def test_every_command_is_taken_with_its_fields_as_given(document: dict[str, Any]) -> None:
    fields = {key: value for key, value in document.items() if key != "command"}
    asked = {"transaction": "t-1", "expected_seq": 41, **document}
    assert parse(asked) == Request(document["command"], fields, "t-1", 41)
    assert parse(document) == Request(document["command"], fields, None, None)


def test_the_table_above_is_complete() -> None:
    assert {document["command"] for document in GOOD} == set(commands())


@pytest.mark.parametrize("document", GOOD, ids=lambda document: json.dumps(document)[:50])
def test_no_command_takes_a_field_that_it_does_not_have(document: dict[str, Any]) -> None:
    answer = parse({**document, "transaction": "t-1", "surprise": 1})
    assert isinstance(answer, RequestError)
    assert (answer.code, answer.transaction) == ("malformed", "t-1")
    assert '"surprise"' in answer.message


@pytest.mark.parametrize(
    ("document", "code", "words"),
    [
        ({"command": "undoo"}, "unknown_command", 'there is no command "undoo", did you mean "undo"?'),
        ({"command": "xyzzy"}, "unknown_command", "end_stroke, stroke"),
        ({"command": ["undo"]}, "malformed", '"command" must be a text'),
        ({}, "malformed", '"command" is missing'),
        ({"command": "correct", "strok": 3}, "malformed", 'no field "strok", did you mean "stroke"?'),
        ({"command": "undo", "player": 1}, "malformed", 'undo has no field "player"'),
        ({"command": "end_stroke", "player": True}, "malformed", '"player" must be a whole number, not true'),
        ({"command": "end_stroke", "player": "1"}, "malformed", '"player" must be a whole number, not "1"'),
        ({"command": "end_stroke", "player": 1.0}, "malformed", '"player"'),
        ({"command": "end_stroke", "player": 0}, "malformed", '"player" must be at least 1, not 0'),
        ({"command": "undo", "expected_seq": False}, "malformed", '"expected_seq"'),
        ({"command": "undo", "expected_seq": -1}, "malformed", '"expected_seq"'),
        ({"command": "undo", "transaction": 7}, "malformed", '"transaction" must be a text, not 7'),
        ({"command": "undo", "transaction": ""}, "malformed", '"transaction"'),
        ({"command": "undo", "transaction": "t" * 201}, "malformed", '"transaction"'),
        ({"command": "line_up", "north": 5}, "malformed", 'line_up needs the field "south"'),
        ({"command": "answer"}, "malformed", 'answer needs the field "value"'),
        ({"command": "answer", "value": 1.5}, "malformed", "an object, a number, a player, true or false"),
        ({"command": "answer", "value": None}, "malformed", "not null"),
        ({"command": "answer", "value": ["white"]}, "malformed", 'not ["white"]'),
        ({"command": "answer", "value": -1}, "malformed", "not -1"),
        ({"command": "object", "object": "whte"}, "malformed", 'did you mean "white"?'),
        ({"command": "object", "object": "cue", "place": "ne", "passage_id": "p1"}, "malformed", "not both"),
        ({"command": "correct", "stroke": 7}, "malformed", "needs what really was"),
        ({"command": "correct", "stroke": 7, "void": True, "out": {}}, "malformed", '"out"'),
        ({"command": "correct", "stroke": 7, "claim": "p1"}, "malformed", "belong together"),
        ({"command": "correct", "stroke": 0, "void": True}, "malformed", '"stroke"'),
        ({"command": "players"}, "malformed", 'either "names" or "swap"'),
        ({"command": "players", "names": ["A"], "swap": [1, 2]}, "malformed", 'either "names" or "swap"'),
        ({"command": "players", "swap": [1]}, "malformed", '"swap" must have at least 2 entries'),
        ({"command": "players", "swap": [1, True]}, "malformed", '"swap[1]"'),
        ({"command": "players", "swap": [2, 2]}, "malformed", "two different players"),
        ({"command": "players", "names": ["Asha", "Asha"]}, "malformed", '"Asha" stands there twice'),
        ({"command": "players", "names": ["As\nha"]}, "malformed", "control character"),
        ({"command": "players", "names": ["As\u0085ha"]}, "malformed", "control character"),
        ({"command": "players", "names": [" "]}, "malformed", '" " must not be blank'),
        ({"command": "players", "names": ["As\u2028ha"]}, "malformed", "line breaks"),
        ({"command": "players", "names": ["\u202eAsha"]}, "malformed", "turn the direction"),
        ({"command": "players", "names": ["", "Ben"]}, "malformed", '"names[0]"'),
        ({"command": "players", "names": ["x" * 41]}, "malformed", "at most 40 characters, this has 41"),
        ({"command": "new_match", "players": ["Asha"]}, "malformed", "at least 2 entries, this has 1"),
        ({"command": "new_match", "players": ["A", 5]}, "malformed", '"players[1]" must be a text, not 5'),
        ({"command": "new_match", "players": ["A", {"id": "b"}]}, "malformed", '"players[1].name"'),
        ({"command": "new_match", "players": ["A", {"id": "b", "name": "A"}]}, "malformed", "twice"),
        ({"command": "new_match", "game": "club"}, "malformed", 'did you mean "club_carrom"?'),
        ({"command": "new_match", "options": []}, "malformed", "an object in braces"),
        ({"command": "new_match", "abandon": 1}, "malformed", '"abandon" must be true or false, not 1'),
    ],
    ids=lambda value: json.dumps(value)[:60] if isinstance(value, dict) else None,
)
def test_what_is_wrong_is_named(document: dict[str, Any], code: str, words: str) -> None:
    answer = parse(document)
    assert isinstance(answer, RequestError)
    assert answer.code == code
    assert words in answer.message
    assert "\n" not in answer.message


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (b"", "not JSON"),
        (b"undo", "not JSON"),
        (b'{"command": "undo"', "not JSON"),
        (b'{"command": "undo"} {}', "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b'{"command": "\xc0\xaf"}', "not UTF-8"),
        (b'"undo"', "no JSON object"),
        (b'[{"command": "undo"}]', "no JSON object"),
        (b"null", "no JSON object"),
        (b'{"command": "redo", "command": "undo"}', 'the key "command" is there twice'),
        (b'{"command": "answer", "value": NaN}', "NaN is no JSON number"),
        (b'{"command": "answer", "value": -Infinity}', "no JSON number"),
        (b'{"command": "answer", "value": 1e999}', "number that is too large"),
        (b'{"command": "answer", "value": ' + b"9" * 5000 + b"}", "number that is too large"),
        (b'{"command": "undo", "expected_seq": 99999999999999999999}', "number that is too large"),
        (b'{"command": "answer", "value": "\\ud800"}', "half a character"),
        (b'{"\\udfff": 1, "command": "undo"}', "half a character"),
        (b"[" * 16_000, "nested"),
        (b'{"a":' * 2000 + b"1" + b"}" * 2000, "nested"),
        (b'{"command": "stroke", "pocketed": ' + b"[" * 20 + b"]" * 20 + b"}", "nested"),
    ],
)
def test_what_is_no_request_at_all(payload: bytes, words: str) -> None:
    answer = refused(payload)
    assert (answer.code, answer.transaction, answer.ignored) == ("malformed", None, False)
    assert words in answer.message


def test_the_size_is_checked_before_anything_is_read() -> None:
    room = MAX_BYTES - len(json.dumps({"command": "answer", "value": ""}))
    fits = json.dumps({"command": "answer", "value": "x" * room}).encode()
    assert len(fits) == 16 * 1024
    assert isinstance(parse_request(fits, retained=False), Request)
    assert refused(fits + b" ").code == "too_large"
    assert refused(b"[" * (MAX_BYTES + 1)).code == "too_large"


def test_a_retained_request_is_ignored_whatever_it_says() -> None:
    for payload in (b'{"command": "undo", "transaction": "t"}', b"nonsense", b""):
        answer = parse_request(payload, retained=True)
        assert isinstance(answer, RequestError)
        assert answer.ignored


def test_an_expected_seq_of_zero_is_not_no_expectation() -> None:
    assert parse({"command": "undo", "expected_seq": 0}) == Request("undo", {}, None, 0)


@given(st.binary(max_size=200))
def test_no_bytes_raise(payload: bytes) -> None:
    assert isinstance(parse_request(payload, retained=False), Request | RequestError)


_names = st.one_of(
    st.sampled_from(["command", "transaction", "expected_seq", "stroke", "player", "value", "names", "players"]),
    st.text(max_size=5),
)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(list(commands())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_names, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(_names, _values, max_size=6), st.sampled_from(list(commands())))
def test_no_json_raises_and_what_is_taken_can_be_sent_on(document: dict[str, Any], command: str) -> None:
    answer = parse_request(json.dumps({**document, "command": command}).encode(), retained=False)
    if isinstance(answer, Request):
        assert answer.command == command
        assert set(answer.fields) == set(document) - {"command", "transaction", "expected_seq"}
        json.dumps(dict(answer.fields), ensure_ascii=False, allow_nan=False).encode()
    else:
        assert answer.code in {"malformed", "too_large"}
        answer.message.encode()
