"""Requests and answers as a client sees them: `pocketbeam run`, a real mosquitto, MQTT 3.1.1 and 5."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, get_args

import aiomqtt
import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from appliance.mqtt import models
from appliance.mqtt.client import MqttLink
from appliance.mqtt.replies import ReplyTo, response_messages
from tests.security.lan import Lan, lan
from tests.support import mqtt_examples as examples
from tests.support.brokers import HOST, Mosquitto, mosquitto, until
from tests.support.processes import Program, program
from tests.support.validated import validate

pytestmark = pytest.mark.real

V311, V5 = aiomqtt.ProtocolVersion.V311, aiomqtt.ProtocolVersion.V5
BOTH = pytest.mark.parametrize("version", [V311, V5], ids=["3.1.1", "5"])
BASE = "pocketbeam/t1"
STATE, RESPONSE, REQUEST = (f"{BASE}/{level}" for level in ("state", "response", "request"))
CONFIGURATION = """
[table]
id = "t1"
game = "club_carrom"
players = ["Asha", "Ben"]
quiet_time_s = 0
state_dir = "{directory}/state"
[mqtt]
port = {port}
"""


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    with mosquitto(tmp_path_factory.mktemp("broker"), extra="log_type all") as running:
        yield running


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory, broker: Mosquitto) -> Iterator[Program]:
    """A table that is scored by hand."""
    directory = tmp_path_factory.mktemp("table")
    (directory / "state").mkdir()
    config = directory / "t1.toml"
    config.write_text(CONFIGURATION.format(directory=directory, port=broker.port))
    with program(directory, "run", "--config", str(config)) as running:
        asyncio.run(a_new_match(broker.port))
        yield running


@dataclass
class Client:
    """Somebody who asks a table; what arrives is checked, and kept by topic with its correlation data."""

    mqtt: aiomqtt.Client
    arrived: list[tuple[str, Any, bytes | None]] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def listen(self) -> None:
        async for message in self.mqtt.messages:
            topic, payload = message.topic.value, bytes(message.payload)
            content = validate(topic, payload)
            self.arrived.append((topic, content, getattr(message.properties, "CorrelationData", None)))
            self.news.set()

    async def until(self, condition: Callable[[], Any]) -> Any:
        """The condition's first true value."""
        async with asyncio.timeout(20):
            while not (found := condition()):
                self.news.clear()
                await self.news.wait()
            return found

    def contents(self, topic: str) -> list[dict[str, Any]]:
        """What arrived under a topic, in order."""
        return [content for where, content, _ in self.arrived if where == topic]

    def answers(self, transaction: str | None) -> list[tuple[str, Any, bytes | None]]:
        return [
            each for each in self.arrived if isinstance(each[1], dict) and each[1].get("transaction", 0) == transaction
        ]

    async def ask(self, document: Any, properties: Properties | None = None) -> dict[str, Any]:
        """The answer to one request."""
        transaction = document.get("transaction", secrets.token_hex(4))
        count = len(self.answers(transaction))
        payload = json.dumps({"transaction": transaction, **document})
        await self.mqtt.publish(REQUEST, payload, qos=1, properties=properties)
        await self.until(lambda: len(self.answers(transaction)) > count)
        answer: dict[str, Any] = self.answers(transaction)[count][1]
        assert answer["transaction"] == transaction, "it is echoed"
        return answer

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = next(content for topic, content, _ in reversed(self.arrived) if topic == STATE)
        return found

    async def reaches(self, seq: int) -> dict[str, Any]:
        """The state, once it shows that number."""
        await self.until(lambda: any(topic == STATE and content["seq"] >= seq for topic, content, _ in self.arrived))
        return self.state


@asynccontextmanager
async def client(port: int, version: aiomqtt.ProtocolVersion, *more: str) -> AsyncIterator[Client]:
    """A client that hears state, answers and `more`."""
    async with aiomqtt.Client(HOST, port, protocol=version) as mqtt:
        made = Client(mqtt)
        listening = asyncio.create_task(made.listen())
        for topic in (STATE, RESPONSE, *more):
            await mqtt.subscribe(topic, qos=1)
        try:
            yield made
        finally:
            listening.cancel()
            await asyncio.wait({listening})
            if not listening.cancelled() and (error := listening.exception()) is not None:
                raise error


async def a_new_match(port: int, version: aiomqtt.ProtocolVersion = V311) -> None:
    async with client(port, version) as asking:
        await asking.until(lambda: asking.contents(STATE))
        answer = await asking.ask({"command": "new_match", "game": "club_carrom", "abandon": True})
        assert answer["ok"] is True


def at_the_table(
    broker: Mosquitto, version: Any, *more: str
) -> Callable[[Callable[[Client], Coroutine[Any, Any, None]]], None]:
    """Runs a scene with a client and a new match."""

    def run(scene: Callable[[Client], Coroutine[Any, Any, None]]) -> None:
        async def main() -> None:
            await a_new_match(broker.port, version)
            async with client(broker.port, version, *more) as asking:
                await asking.until(lambda: asking.contents(STATE))
                await scene(asking)

        asyncio.run(main())

    return run


def test_the_table_speaks_version_5_with_this_broker(table: Program, broker: Mosquitto) -> None:
    log = broker.log.read_text()
    assert "as pocketbeam-t1 (p5, " in log


@BOTH
def test_a_request_is_done_once_however_often_it_comes(version: Any, table: Program, broker: Mosquitto) -> None:
    async def scene(asking: Client) -> None:
        stroke = {"command": "stroke", "pocketed": ["white"], "transaction": secrets.token_hex(4)}
        first = await asking.ask(stroke)
        assert first["ok"] is True
        state = await asking.reaches(first["seq"])
        assert state["rules"]["sides"]["A"]["pocketed"] == 1
        for _ in range(3):
            again = await asking.ask(stroke)
            assert {**again, "at": first["at"]} == first
        # whatever else is asked with it: the transaction was answered
        other = await asking.ask({"command": "pause", "transaction": stroke["transaction"]})
        assert {**other, "at": first["at"]} == first
        later = await asking.ask({"command": "pause"})
        assert later["seq"] == first["seq"] + 1, "nothing happened in between"
        await asking.ask({"command": "resume"})

    at_the_table(broker, version)(scene)


@BOTH
def test_of_two_umpires_who_saw_the_same_the_second_is_out_of_date(
    version: Any, table: Program, broker: Mosquitto
) -> None:
    """Both press `next player` at the same moment: the turn passes once."""

    async def scene(asking: Client) -> None:
        seen = asking.state["seq"]
        requests = ({"command": "end_stroke", "expected_seq": seen} for _ in range(2))
        first, second = await asyncio.gather(*map(asking.ask, requests))
        assert (first["ok"], second["ok"]) == (True, False)
        assert second["error"]["code"] == "outdated"
        state = await asking.reaches(first["seq"])
        assert state["rules"]["turn"]["player"] == 2
        third = await asking.ask({"command": "end_stroke", "expected_seq": state["seq"]})
        assert third["ok"] is True

    at_the_table(broker, version)(scene)


REFUSALS: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    # code: what is done before, and what is refused then
    "malformed": ([], {"command": "end_stroke", "player": "Asha"}),
    "unknown_command": ([], {"command": "dance"}),
    "wrong_phase": ([], {"command": "next_board"}),
    "impossible_count": ([], {"command": "stroke", "pocketed": ["queen", "queen"]}),
    "outdated": ([], {"command": "undo", "expected_seq": 2**50}),
    "nothing_to_undo": ([], {"command": "undo"}),
    "nothing_to_redo": ([], {"command": "redo"}),
    "match_running": ([{"command": "stroke", "pocketed": []}], {"command": "new_match"}),
    "no_such_question": ([], {"command": "answer", "question": "q9", "value": 1}),
    "no_such_stroke": ([], {"command": "correct", "stroke": 9, "void": True}),
    "later_stroke_impossible": (
        [{"command": "stroke", "pocketed": ["white"]}, {"command": "stroke", "pocketed": ["white"] * 8}],
        {"command": "correct", "stroke": 1, "pocketed": ["white"] * 3},
    ),
    "too_large": ([], {"command": "pause", "note": "x" * 17_000}),
}


@BOTH
def test_every_refusal_has_its_code_and_a_sentence_and_changes_nothing(
    version: Any, table: Program, broker: Mosquitto
) -> None:
    async def scene(asking: Client) -> None:
        for code, (before, request) in REFUSALS.items():
            answer = await asking.ask({"command": "new_match", "game": "club_carrom", "abandon": True})
            for each in before:
                answer = await asking.ask(each)
                assert answer["ok"] is True, (each, answer)
            while code == "nothing_to_undo" and (undone := await asking.ask(request))["ok"]:
                answer = undone  # a new match is a step too, and so on back to the first
            state = await asking.reaches(answer["seq"])
            refused = await answered(asking, code, request)
            assert (refused["ok"], refused["error"]["code"]) == (False, code)
            assert refused["error"]["message"]
            assert (await asking.ask({"command": "sync"}))["seq"] == answer["seq"]
            assert {**asking.state, "at": state["at"]} == state

    async def answered(asking: Client, code: str, request: dict[str, Any]) -> dict[str, Any]:
        if code != "too_large":
            return await asking.ask(request)
        # Nobody reads so much, so nobody knows its transaction.
        count = len(asking.answers(None))
        await asking.mqtt.publish(REQUEST, json.dumps({"transaction": "t", **request}), qos=1)
        await asking.until(lambda: len(asking.answers(None)) > count)
        refusal: dict[str, Any] = asking.answers(None)[count][1]
        return refusal

    at_the_table(broker, version)(scene)


def test_those_are_all_the_codes() -> None:
    """`not_allowed` is about response topics, below."""
    assert {*REFUSALS, "not_allowed"} == set(get_args(models.ErrorCode))


# --- response topic and correlation data, which only version 5 has -----------------------------------------


def wants(topic: str, correlation: bytes | None = None) -> Properties:
    properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
    properties.ResponseTopic = topic
    if correlation is not None:
        properties.CorrelationData = correlation
    return properties


@pytest.mark.parametrize("where", ["clients/tablet-7/answers", f"{BASE}/response/tablet-7"])
def test_the_answer_comes_where_the_client_wants_it_with_its_data(
    where: str, table: Program, broker: Mosquitto
) -> None:
    async def scene(asking: Client) -> None:
        await asking.ask({"command": "pause", "transaction": "t1-" + where}, wants(where, b"\x00\xff7"))
        await asking.until(lambda: len(asking.answers("t1-" + where)) == 2)
        (first, second) = asking.answers("t1-" + where)
        assert {first[0], second[0]} == {where, RESPONSE}
        assert first[1] == second[1]
        assert {first[2], second[2]} == {b"\x00\xff7", None}
        await asking.ask({"command": "resume"})

    at_the_table(broker, V5, where)(scene)


def test_a_client_that_names_the_usual_topic_gets_one_answer_with_its_data(table: Program, broker: Mosquitto) -> None:
    async def scene(asking: Client) -> None:
        await asking.ask({"command": "sync", "transaction": "u1"}, wants(RESPONSE, b"7"))
        await asking.ask({"command": "sync", "transaction": "u2"})
        assert [(topic, data) for topic, _, data in asking.answers("u1")] == [(RESPONSE, b"7")]

    at_the_table(broker, V5)(scene)


def test_a_request_without_a_transaction_is_known_by_its_correlation_data(table: Program, broker: Mosquitto) -> None:
    async def scene(asking: Client) -> None:
        for number in range(5):
            data = bytes([number])
            properties = wants("clients/a", data)
            await asking.mqtt.publish(REQUEST, '{"command": "sync"}', qos=1, properties=properties)
        answers = await asking.until(
            lambda: (
                [data for topic, _, data in asking.arrived if topic == "clients/a"][4:]
                and [data for topic, _, data in asking.arrived if topic == "clients/a"]
            )
        )
        assert answers == [bytes([number]) for number in range(5)]

    at_the_table(broker, V5, "clients/a")(scene)


@pytest.mark.parametrize("where", [REQUEST, STATE, "pocketbeam/t2/request", "homeassistant/a/b"])
def test_nobody_speaks_in_the_tables_name_through_a_response_topic(
    where: str, table: Program, broker: Mosquitto
) -> None:
    async def scene(asking: Client) -> None:
        state = asking.state
        refused = await asking.ask({"command": "pause"}, wants(where))
        assert (refused["ok"], refused["error"]["code"]) == (False, "not_allowed")
        assert (await asking.ask({"command": "sync"}))["seq"] == state["seq"]
        assert [topic for topic, _, _ in asking.arrived if topic not in (STATE, RESPONSE)] == []

    more = [] if where.startswith(BASE) else [where]
    at_the_table(broker, V5, *more)(scene)


def test_at_a_broker_with_accounts_an_answer_goes_where_an_umpire_may_listen_and_nowhere_else() -> None:
    """With the rights that `broker-config` writes. What is lost elsewhere is counted, and costs nothing else."""
    mine, elsewhere = f"{RESPONSE}/tablet-7", "zigbee2mqtt/lamp/set"

    async def main(broker: Lan) -> None:
        settings = broker.settings("appliance")
        link = MqttLink(settings, "t1", on_request=lambda *request: None, on_connection=lambda *news: None)
        running = asyncio.create_task(link.run())
        try:
            async with broker.client("umpire", RESPONSE, mine) as umpire:
                for where in (mine, elsewhere):
                    for message in response_messages(examples.DONE | {"table": "t1"}, ReplyTo(where, b"7")):
                        link.publish(message)
                await umpire.wait_for(lambda heard: len(heard.payloads(RESPONSE)) == 2)
                assert len(umpire.payloads(mine)) == 1
                await until(lambda: link.counters()["unacknowledged"] == 0)
                assert (link.counters()["refused"], link.counters()["connects"]) == (1, 1)
        finally:
            running.cancel()
            await running

    with lan() as broker:
        asyncio.run(main(broker))
