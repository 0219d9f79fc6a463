"""Where answers go: always on `response`, and where an MQTT 5 client wants them, as long as that is no trick."""

import json
from dataclasses import replace
from typing import Any

import pytest

from appliance.mqtt.replies import MAX_CORRELATION, MAX_TOPIC, ReplyTo, admit, problem, response_messages
from appliance.mqtt.requests import Request, RequestError
from appliance.mqtt.topics import Message, response_message
from tests.support import mqtt_examples as examples
from tests.support.ring1 import Table, play

UNDO = Request("undo", {}, "t1", None)
MALFORMED = RequestError("malformed", "the request is not JSON", None)
OWN = "pocketbeam/club-1/response"


@pytest.mark.parametrize(
    "topic",
    [
        "tablet",
        "club/tablet-7/answers",
        "/leading/and/trailing/",
        "Größe und 🎯/x",
        "pocketbeams/club-1/state",
        "x" * MAX_TOPIC,
        OWN,
        f"{OWN}/tablet-7",
    ],
)
def test_a_topic_of_the_clients_own_is_taken(topic: str) -> None:
    reply_to = ReplyTo(topic, b"\x00\xff")
    assert problem(reply_to, "club-1", "homeassistant") is None
    assert admit(UNDO, reply_to, "club-1", "homeassistant") == (UNDO, reply_to)


@pytest.mark.parametrize(
    ("topic", "words"),
    [
        ("", "1 to 256 characters"),
        ("x" * (MAX_TOPIC + 1), "1 to 256 characters, this one has 257"),
        ("answers/#", "no wildcards"),
        ("answers/+/x", "no wildcards"),
        ("answers\x00", "control characters"),
        ("answers\n", "control characters"),
        ("$SYS/broker", 'below "$SYS"'),
        ("$share/group/x", 'below "$share"'),
        ("homeassistant/device/x/config", 'below "homeassistant"'),
        ("homeassistant", 'below "homeassistant"'),
        ("pocketbeam", "alone"),
        ("pocketbeam/club-1/state", "alone"),
        ("pocketbeam/club-1/request", "alone"),
        ("pocketbeam/club-2/request", "alone"),
        ("pocketbeam/club-2/response", "alone"),
        ("pocketbeam/club-2/response/x", "alone"),
        (f"{OWN}/a/b", "alone"),
        (f"{OWN}/", "alone"),
        (f"{OWN}/Tablet", "alone"),
    ],
)
def test_a_topic_that_is_no_place_for_an_answer_is_refused_in_words(topic: str, words: str) -> None:
    reply_to = ReplyTo(topic)
    refused, where = admit(UNDO, reply_to, "club-1", "homeassistant")
    assert isinstance(refused, RequestError)
    assert (refused.code, refused.transaction, refused.ignored, where) == ("not_allowed", "t1", False, None)
    assert words in refused.message
    assert len(refused.message) < 200, "it does not carry the topic around"
    assert admit(MALFORMED, reply_to, "club-1", "homeassistant") == (MALFORMED, None)


def test_where_home_automation_takes_settings_from_is_configured() -> None:
    assert problem(ReplyTo("ha/device/x"), "club-1", "homeassistant") is None
    assert problem(ReplyTo("ha/device/x"), "club-1", "ha/discovery") is not None


def test_correlation_data_has_a_limit() -> None:
    assert problem(ReplyTo("tablet", b"x" * MAX_CORRELATION), "club-1", "homeassistant") is None
    assert problem(ReplyTo("tablet", b"x" * (MAX_CORRELATION + 1)), "club-1", "homeassistant") is not None


def test_one_answer_as_one_message_or_two() -> None:
    usual = response_message(examples.DONE)
    assert (usual.topic, usual.retain, usual.qos) == (OWN, False, 1)
    assert response_messages(examples.DONE, None) == [usual]
    asked = replace(usual, topic="tablet", correlation=b"7")
    assert response_messages(examples.DONE, ReplyTo("tablet", b"7")) == [asked, usual]
    assert response_messages(examples.DONE, ReplyTo(OWN, b"7")) == [replace(usual, correlation=b"7")]


# --- at a table ---------------------------------------------------------------------------------------------


class Tablet:
    """A table, and what goes out of it as an answer: where, with what, and the answer."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.answers: list[tuple[str, bytes | None, dict[str, Any]]] = []
        hear = table.broker.hear

        def noted(message: Message) -> None:
            document = json.loads(message.payload) if (message.payload or "").startswith("{") else {}
            if document.get("schema") == "pocketbeam.response/1":
                self.answers.append((message.topic, message.correlation, document))
            hear(message)

        table.broker.hear = noted  # type: ignore[method-assign]

    async def ask(self, payload: str, topic: str, correlation: bytes | None = None) -> list[tuple[str, bytes | None]]:
        """Where the answers went, and with what correlation data."""
        before = len(self.answers)
        self.table.port.on_request(payload.encode(), False, ReplyTo(topic, correlation))  # type: ignore[call-arg]
        await self.table.run_for(0.1)
        return [(topic, correlation) for topic, correlation, _ in self.answers[before:]]


def test_the_answer_goes_to_the_response_topic_with_the_correlation_data_and_to_everybody() -> None:
    async def main() -> None:
        async with Table() as table:
            tablet = Tablet(table)
            went = await tablet.ask('{"command": "pause"}', "club/tablet/answers", b"\x00\x07")
            assert went == [("club/tablet/answers", b"\x00\x07"), ("pocketbeam/t1/response", None)]
            assert [answer["ok"] for _, _, answer in tablet.answers] == [True, True]
            assert table.state["paused"] is True

    play(main())


@pytest.mark.parametrize("payload", ["{", '{"command": "dance"}', '{"command": "undo"}', '{"command": "diagnostics"}'])
def test_every_kind_of_answer_goes_there(payload: str) -> None:
    async def main() -> None:
        async with Table() as table:
            went = await Tablet(table).ask(payload, "club/tablet/answers", b"c")
            assert went == [("club/tablet/answers", b"c"), ("pocketbeam/t1/response", None)]

    play(main())


def test_a_repeated_request_is_answered_where_it_is_repeated_from_and_done_once() -> None:
    async def main() -> None:
        async with Table() as table:
            tablet = Tablet(table)
            stroke = '{"command": "stroke", "pocketed": ["white"], "transaction": "t"}'
            await tablet.ask(stroke, "club/one/answers", b"1")
            seq = table.state["seq"]
            went = await tablet.ask(stroke, "club/two/answers", b"2")
            assert went == [("club/two/answers", b"2"), ("pocketbeam/t1/response", None)]
            assert table.state["seq"] == seq
            first, _, again, _ = (answer for _, _, answer in tablet.answers)
            assert (again["ok"], again["transaction"], again["seq"]) == (True, "t", first["seq"])

    play(main())


@pytest.mark.parametrize("topic", ["pocketbeam/t1/request", "pocketbeam/t1/state", "$SYS/x/y", "homeassistant/a/b"])
def test_a_request_with_a_response_topic_that_cannot_be_is_not_done(topic: str) -> None:
    async def main() -> None:
        async with Table() as table:
            tablet, before = Tablet(table), table.state
            assert await tablet.ask('{"command": "pause", "transaction": "t"}', topic) == [
                ("pocketbeam/t1/response", None)
            ]
            ((_, _, answer),) = tablet.answers
            assert (answer["transaction"], answer["error"]["code"]) == ("t", "not_allowed")
            assert table.state == before
            # the same transaction from a place that can be is done: nothing was remembered
            await tablet.ask('{"command": "pause", "transaction": "t"}', "club/tablet/answers")
            assert table.state["paused"] is True

    play(main())


def test_no_answer_before_it_is_durable() -> None:
    async def main() -> None:
        async with Table(sync_s=0.5) as table:
            tablet = Tablet(table)
            went = await tablet.ask('{"command": "pause"}', "club/tablet/answers")
            assert went == [], "the disk is not ready"
            await table.run_for(1)
            assert [topic for topic, _, _ in tablet.answers] == ["club/tablet/answers", "pocketbeam/t1/response"]

    play(main())
