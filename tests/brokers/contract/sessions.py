"""Durable sessions: a logger or a bridge that was away is told what it missed, and once is enough."""

import asyncio
import contextlib
import queue
from collections.abc import Iterator
from dataclasses import dataclass, field

import aiomqtt
from paho.mqtt.client import CallbackAPIVersion
from paho.mqtt.client import Client as PahoClient

from tests.brokers.cases import case
from tests.brokers.people import at, hearing
from tests.support.broker_kinds import Broker
from tests.support.brokers import HOST


async def heard_by(client: aiomqtt.Client, topic: str, count: int, patience_s: float) -> list[object]:
    """The payloads of the next messages of a topic."""
    arrived: list[object] = []
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(patience_s):
            async for message in client.messages:
                if message.topic.value == topic:
                    arrived.append(message.payload)
                if len(arrived) == count:
                    break
    return arrived


@case(
    "A durable session gets what was sent with QoS 1 while it was away",
    embedded=(
        "A program with a durable session that was away gets nothing of what happened meanwhile: a logger that "
        "restarts has gaps. Displays do not mind, they live on retained values."
    ),
)
async def test_durable(broker: Broker, table: str, patience_s: float) -> None:
    event = at(table, "event")
    async with aiomqtt.Client(HOST, broker.port, identifier=table, clean_session=False) as logger:
        await logger.subscribe(event, qos=1)
    async with hearing(broker.port, event) as speaker:
        for number in range(20):
            await speaker.publish(event, f"missed {number}")
        await speaker.wait_for(lambda heard: len(heard.messages) == 20)
        async with aiomqtt.Client(HOST, broker.port, identifier=table, clean_session=False) as logger:
            await speaker.publish(event, "live")
            arrived = await heard_by(logger, event, 21, patience_s)
            assert sorted(map(str, arrived)) == sorted([*(f"b'missed {n}'" for n in range(20)), "b'live'"])


@case("A session that is not durable begins with nothing")
async def test_clean(broker: Broker, table: str, patience_s: float) -> None:
    event = at(table, "event")
    async with aiomqtt.Client(HOST, broker.port, identifier=table, clean_session=True) as display:
        await display.subscribe(event, qos=1)
    async with hearing(broker.port, event) as speaker:
        await speaker.publish(event, "missed")
        await speaker.wait_for(lambda heard: event in heard.latest)
        async with aiomqtt.Client(HOST, broker.port, identifier=table, clean_session=True) as display:
            await display.subscribe(event, qos=1)
            await speaker.publish(event, "live")
            assert await heard_by(display, event, 1, patience_s) == [b"live"]


@dataclass
class Forgetful:
    """A subscriber that acknowledges nothing, and whose connection breaks without a word."""

    client: PahoClient
    arrived: "queue.Queue[tuple[bytes, bool]]" = field(default_factory=queue.Queue)

    async def next(self, patience_s: float) -> tuple[bytes, bool]:
        """The next message: its payload, and whether it is marked as sent before."""
        try:
            return await asyncio.to_thread(self.arrived.get, timeout=patience_s)
        except queue.Empty:
            raise AssertionError("nothing came") from None


@contextlib.contextmanager
def forgetful(port: int, identifier: str, topic: str) -> Iterator[Forgetful]:
    client = PahoClient(
        CallbackAPIVersion.VERSION2, identifier, clean_session=False, manual_ack=True, reconnect_on_failure=False
    )
    made = Forgetful(client)
    subscribed: queue.Queue[None] = queue.Queue()
    client.on_connect = lambda *_: client.subscribe(topic, qos=1)
    client.on_subscribe = lambda *_: subscribed.put(None)
    client.on_message = lambda _client, _data, message: made.arrived.put((message.payload, message.dup))
    client.connect(HOST, port)
    client.loop_start()
    try:
        subscribed.get(timeout=20)
        yield made
    finally:
        sock = client.socket()
        if sock is not None:
            sock.shutdown(2)
        client.loop_stop()


@case(
    "What a durable session has not acknowledged comes again, marked as sent before",
    embedded="A logger that dies between hearing and writing has lost what it heard.",
)
async def test_duplicates(broker: Broker, table: str, patience_s: float) -> None:
    event = at(table, "event")
    async with hearing(broker.port, "nothing") as speaker:
        with forgetful(broker.port, table, event) as logger:
            await speaker.publish(event, "e")
            assert await logger.next(patience_s) == (b"e", False)
        with forgetful(broker.port, table, event) as logger:
            assert await logger.next(patience_s) == (b"e", True)
