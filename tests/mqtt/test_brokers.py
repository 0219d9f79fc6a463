"""One suite for every broker: what a table and its displays rely on.

A broker's known defect is a strict expected failure that says what it means for people; when a newer version
mends it, the suite says so.
"""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Protocol

import aiomqtt
import pytest

from appliance.mqtt.broker import EmbeddedBroker, EmbeddedBrokerError
from appliance.mqtt.client import MqttLink
from appliance.mqtt.topics import Message
from tests.support.brokers import HOST, Mosquitto, Settings, child_table, recorder, until

pytestmark = pytest.mark.real

AVAILABILITY = "pocketbeam/club-1/availability"
STATE = "pocketbeam/club-1/state"
LINE = "pocketbeam/club-1/line"
EVENT = "pocketbeam/club-1/event"
REQUEST = "pocketbeam/club-1/request"


class Broker(Protocol):
    """A broker that can be restarted on its port."""

    port: int

    async def start(self) -> None: ...
    async def stop(self) -> None: ...


class Embedded:
    def __init__(self, directory: Path) -> None:
        self.port = 0
        self._broker: EmbeddedBroker | None = None

    async def start(self) -> None:
        self._broker = EmbeddedBroker(HOST, self.port)
        self.port = await self._broker.start()

    async def stop(self) -> None:
        if self._broker:
            await self._broker.stop()


class Process:
    def __init__(self, directory: Path) -> None:
        self._broker = Mosquitto(directory, persistence=True)
        self.port = self._broker.port

    async def start(self) -> None:
        self.port = self._broker.start()

    async def stop(self) -> None:
        self._broker.stop()


BROKERS: dict[str, Callable[[Path], Broker]] = {"mosquitto": Process, "embedded": Embedded}
EVERY = list(BROKERS)


def except_embedded(consequence: str) -> list[object]:
    """Every broker, the embedded one expected to fail with this consequence for people."""
    defect = pytest.mark.xfail(reason=consequence, raises=AssertionError)
    return [pytest.param(kind, marks=defect) if kind == "embedded" else kind for kind in EVERY]


@contextlib.asynccontextmanager
async def running(kind: str, directory: Path) -> AsyncIterator[Broker]:
    broker = BROKERS[kind](directory)
    await broker.start()
    try:
        yield broker
    finally:
        await broker.stop()


def with_broker(kind: str, directory: Path, scenario: Callable[[Broker], Awaitable[None]]) -> None:
    async def run() -> None:
        async with running(kind, directory) as broker:
            await scenario(broker)

    asyncio.run(run())


@contextlib.asynccontextmanager
async def link(port: int) -> AsyncIterator[tuple[MqttLink, list[tuple[bytes, bool]], list[tuple[bool, str]]]]:
    """A table's link, what was asked of it and what it said about its connection."""
    requests: list[tuple[bytes, bool]] = []
    news: list[tuple[bool, str]] = []
    made = MqttLink(
        Settings(port),
        "club-1",
        on_request=lambda payload, retained: requests.append((payload, retained)),
        on_connection=lambda connected, reason: news.append((connected, reason)),
    )
    task = asyncio.create_task(made.run())
    try:
        yield made, requests, news
    finally:
        task.cancel()
        await asyncio.wait_for(task, 10)


# --- a table on this broker ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVERY)
def test_a_table_is_born_speaks_hears_and_says_goodbye(kind: str, tmp_path: Path) -> None:
    async def scenario(broker: Broker) -> None:
        async with recorder(broker.port, AVAILABILITY, STATE, EVENT) as heard:
            async with link(broker.port) as (table, requests, _):
                table.publish(Message(STATE, "s", True, 1))
                table.publish(Message(EVENT, "e", False, 1))
                await heard.wait_for(lambda heard: heard.latest.get(EVENT) == "e")
                await heard.publish(REQUEST, b"ask")
                await until(lambda: requests == [(b"ask", False)])
            await heard.wait_for(lambda heard: heard.payloads(AVAILABILITY) == ["online", "offline"])
            assert heard.payloads(STATE) == ["s"]

    with_broker(kind, tmp_path, scenario)


@pytest.mark.parametrize("kind", EVERY)
def test_a_killed_table_is_offline_for_those_who_listen_and_those_who_come(kind: str, tmp_path: Path) -> None:
    async def scenario(broker: Broker) -> None:
        async with recorder(broker.port, AVAILABILITY) as heard:
            with child_table(broker.port) as child:
                await heard.wait_for(lambda heard: heard.payloads(AVAILABILITY) == ["online"])
                child.kill()
            await heard.wait_for(lambda heard: heard.payloads(AVAILABILITY) == ["online", "offline"])
        async with recorder(broker.port, AVAILABILITY) as newcomer:
            await newcomer.wait_for(lambda heard: heard.payloads(AVAILABILITY) == ["offline"])

    with_broker(kind, tmp_path, scenario)


@pytest.mark.parametrize("kind", EVERY)
def test_a_retained_request_is_marked_as_such(kind: str, tmp_path: Path) -> None:
    async def scenario(broker: Broker) -> None:
        async with recorder(broker.port, "nothing") as other:
            await other.publish(REQUEST, b"old", retain=True)
            async with link(broker.port) as (_, requests, _news):
                await until(lambda: requests)
                assert requests == [(b"old", True)]

    with_broker(kind, tmp_path, scenario)


@pytest.mark.parametrize("kind", EVERY)
def test_a_table_survives_the_broker_and_shows_its_score_again(kind: str, tmp_path: Path) -> None:
    async def scenario(broker: Broker) -> None:
        async with link(broker.port) as (table, _, news):
            table.publish(Message(STATE, "s", True, 1))
            await until(lambda: news)
            await broker.stop()
            await until(lambda: not news[-1][0])
            table.publish(Message(STATE, "newer", True, 1))
            await broker.start()
            await until(lambda: news[-1][0])
            async with recorder(broker.port, STATE, AVAILABILITY) as newcomer:
                await newcomer.wait_for(lambda heard: heard.latest == {STATE: "newer", AVAILABILITY: "online"})

    with_broker(kind, tmp_path, scenario)


# --- what displays rely on ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("filter_", [STATE, "pocketbeam/club-1/+", "pocketbeam/#", "#"])
def test_a_newcomer_gets_the_newest_retained_value_once(kind: str, filter_: str, tmp_path: Path) -> None:
    async def scenario(broker: Broker) -> None:
        async with recorder(broker.port, "nothing") as speaker:
            for payload in ("old", "new"):
                await speaker.publish(STATE, payload, retain=True)
            async with recorder(broker.port, filter_) as newcomer:
                await newcomer.wait_for(lambda heard: STATE in heard.latest)
                await speaker.publish(STATE, "live", retain=True)
                await newcomer.wait_for(lambda heard: heard.latest[STATE] == "live")
                assert [(m.payload, m.retained) for m in newcomer.messages] == [("new", True), ("live", False)]

    with_broker(kind, tmp_path, scenario)


@pytest.mark.parametrize("kind", EVERY)
def test_an_empty_payload_removes_a_retained_value(kind: str, tmp_path: Path) -> None:
    async def scenario(broker: Broker) -> None:
        async with recorder(broker.port, "nothing") as speaker:
            await speaker.publish(LINE, "l", retain=True)
            await speaker.publish(LINE, None, retain=True)
            await speaker.publish(STATE, "s", retain=True)
            async with recorder(broker.port, LINE, STATE) as newcomer:
                await newcomer.wait_for(lambda heard: STATE in heard.latest)
                assert [m for m in newcomer.messages if m.retained] == [
                    m for m in newcomer.messages if m.topic == STATE
                ]

    with_broker(kind, tmp_path, scenario)


@pytest.mark.parametrize(
    "kind",
    except_embedded(
        "A client that connects gets retained messages that only other clients asked for: a display that "
        "listens to one table may show another one's, so it has to look at the topic."
    ),
)
def test_nobody_gets_what_only_others_asked_for(kind: str, tmp_path: Path) -> None:
    async def scenario(broker: Broker) -> None:
        async with recorder(broker.port, "#") as other:
            await other.publish(STATE, "s", retain=True)
            await other.wait_for(lambda heard: STATE in heard.latest)
            async with recorder(broker.port, LINE) as newcomer:
                await other.publish(LINE, "l")
                await newcomer.wait_for(lambda heard: LINE in heard.latest)
                assert [message.topic for message in newcomer.messages] == [LINE]

    with_broker(kind, tmp_path, scenario)


@pytest.mark.parametrize(
    "kind",
    except_embedded(
        "A program with a durable session that was away gets nothing of what happened meanwhile: a logger "
        "that restarts has gaps. Displays do not mind, they live on retained values."
    ),
)
def test_a_durable_session_gets_what_happened_while_it_was_away(kind: str, tmp_path: Path) -> None:
    async def scenario(broker: Broker) -> None:
        async with aiomqtt.Client(HOST, broker.port, identifier="logger", clean_session=False) as logger:
            await logger.subscribe(EVENT, qos=1)
        async with recorder(broker.port, EVENT) as speaker:
            await speaker.publish(EVENT, "missed")
            await speaker.wait_for(lambda heard: EVENT in heard.latest)
            async with aiomqtt.Client(HOST, broker.port, identifier="logger", clean_session=False) as logger:
                await speaker.publish(EVENT, "live")
                await speaker.wait_for(lambda heard: heard.latest[EVENT] == "live")
                arrived: list[object] = []
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(2):
                        async for message in logger.messages:
                            arrived.append(message.payload)
                            if len(arrived) == 2:
                                break
                assert arrived == [b"missed", b"live"]

    with_broker(kind, tmp_path, scenario)


@pytest.mark.parametrize(
    "kind",
    except_embedded(
        "Retained values are gone after a restart of the broker, until the table says them again; what a "
        "table said that is away itself stays unknown."
    ),
)
def test_retained_values_outlive_the_broker(kind: str, tmp_path: Path) -> None:
    async def scenario(broker: Broker) -> None:
        async with recorder(broker.port, "nothing") as speaker:
            await speaker.publish(STATE, "s", retain=True)
        await broker.stop()
        await broker.start()
        async with recorder(broker.port, STATE, "done") as newcomer:
            await newcomer.publish("done", "")
            await newcomer.wait_for(lambda heard: "done" in heard.latest)
            assert newcomer.payloads(STATE) == ["s"]

    with_broker(kind, tmp_path, scenario)


@pytest.mark.parametrize(
    "kind",
    except_embedded(
        "Two programs with the same table's name both stay connected and contradict each other, where "
        "another broker throws the first one out, which then says so."
    ),
)
def test_the_second_client_with_a_name_throws_the_first_one_out(kind: str, tmp_path: Path) -> None:
    async def scenario(broker: Broker) -> None:
        will = aiomqtt.Will("will", b"w", 1)
        async with recorder(broker.port, "will") as heard, contextlib.AsyncExitStack() as stack:
            first = aiomqtt.Client(HOST, broker.port, identifier="same", will=will)
            with contextlib.suppress(aiomqtt.MqttError):
                async with first:
                    second = aiomqtt.Client(HOST, broker.port, identifier="same")
                    await stack.enter_async_context(second)
                    await heard.wait_for(lambda heard: heard.payloads("will") == ["w"], within_s=3)
            await second.subscribe("echo", qos=1)
            await second.publish("echo", "e", qos=1)
            message = await anext(aiter(second.messages))
            assert message.payload == b"e"

    with_broker(kind, tmp_path, scenario)


@pytest.mark.parametrize("kind", EVERY)
def test_order_and_completeness_of_a_burst(kind: str, tmp_path: Path) -> None:
    async def scenario(broker: Broker) -> None:
        async with recorder(broker.port, EVENT) as heard, link(broker.port) as (table, _, news):
            await until(lambda: news)
            for number in range(500):
                table.publish(Message(EVENT, str(number), False, 1))
            await heard.wait_for(lambda heard: len(heard.messages) == 500, within_s=30)
            assert heard.payloads(EVENT) == [str(number) for number in range(500)]

    with_broker(kind, tmp_path, scenario)


@pytest.mark.parametrize("kind", EVERY)
def test_big_payloads_and_odd_names(kind: str, tmp_path: Path) -> None:
    payload = '{"name": "<b>Ålä</b> # + / עידו 👩‍👩‍👧"}' + "x" * 200_000

    async def scenario(broker: Broker) -> None:
        async with recorder(broker.port, STATE) as heard, link(broker.port) as (table, _, _news):
            table.publish(Message(STATE, payload, True, 1))
            await heard.wait_for(lambda heard: heard.payloads(STATE) == [payload])

    with_broker(kind, tmp_path, scenario)


# --- the embedded broker itself -----------------------------------------------------------------------------


def test_the_embedded_broker_leaves_nothing_behind_and_says_nothing(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    async def run() -> None:
        broker = EmbeddedBroker()
        port = await broker.start()
        async with recorder(port) as heard:
            await heard.publish(EVENT, "e")
            await heard.wait_for(lambda heard: EVENT in heard.latest)
            # somebody who is no MQTT client, and somebody who leaves in the middle of a word
            for word in (b"GET / HTTP/1.1\r\n\r\n", b"\x10"):
                with socket.create_connection((HOST, port)) as stranger:
                    stranger.sendall(word)
            await broker.stop()
        await broker.stop()
        await until(lambda: len(asyncio.all_tasks()) == 1, what="the end of the broker's tasks")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((HOST, port)).close()

    asyncio.run(run(), debug=True)
    mentioned = [record.name for record in caplog.records if record.name.split(".")[0] in ("amqtt", "transitions")]
    assert mentioned == []
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
    assert capfd.readouterr() == ("", "")


def test_a_port_that_is_taken_is_said_in_a_sentence() -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EmbeddedBrokerError, match=f"^port {port} at 127.0.0.1 cannot be used: Address already"):
            asyncio.run(EmbeddedBroker(HOST, port).start())


def test_the_embedded_broker_stays_on_the_loopback_interface() -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        with pytest.raises(EmbeddedBrokerError, match="loopback"):
            asyncio.run(EmbeddedBroker(host).start())


def test_a_missing_library_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "amqtt.broker", None)
    with pytest.raises(EmbeddedBrokerError, match=r"needs the package amqtt: pip install"):
        asyncio.run(EmbeddedBroker().start())
