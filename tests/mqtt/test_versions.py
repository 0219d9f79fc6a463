"""MQTT 5 where the broker knows it, 3.1.1 where it does not, and found out within seconds."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from appliance.mqtt.client import KEEPALIVE_S, MqttLink
from appliance.mqtt.topics import Message
from appliance.mqtt.versions import MQTT_5, MQTT_311, Outcome, next_attempt
from tests.support import brokers
from tests.support.brokers import HOST, Settings, until


@pytest.mark.parametrize(
    ("level", "outcome", "then", "at_once"),
    [
        (MQTT_5, Outcome.WELCOMED, MQTT_5, False),
        (MQTT_5, Outcome.REFUSED, MQTT_5, False),
        (MQTT_5, Outcome.WRONG_VERSION, MQTT_311, True),
        (MQTT_5, Outcome.NO_ANSWER, MQTT_311, False),
        (MQTT_5, Outcome.NOT_REACHED, MQTT_5, False),
        (MQTT_311, Outcome.WELCOMED, MQTT_5, False),
        (MQTT_311, Outcome.REFUSED, MQTT_311, False),
        (MQTT_311, Outcome.WRONG_VERSION, MQTT_5, False),
        (MQTT_311, Outcome.NO_ANSWER, MQTT_5, False),
        (MQTT_311, Outcome.NOT_REACHED, MQTT_5, False),
    ],
)
def test_what_is_tried_next(level: int, outcome: Outcome, then: int, at_once: bool) -> None:
    assert next_attempt(level, outcome) == (then, at_once)


@pytest.mark.parametrize("outcomes", [(a, b) for a in Outcome for b in Outcome], ids=str)
def test_no_answer_whatever_makes_attempts_without_a_wait_follow_each_other(outcomes: tuple[Outcome, Outcome]) -> None:
    level, waits = MQTT_5, []
    for outcome in outcomes * 4:
        level, at_once = next_attempt(level, outcome)
        waits.append(at_once)
    assert not any(first and second for first, second in itertools.pairwise(waits))


# --- brokers that do not know version 5 --------------------------------------------------------------------


class OldBroker:
    """It speaks 3.1.1, and to version 5 answers `to_5`, if anything, and hangs up. `levels`: who came."""

    def __init__(self, to_5: bytes) -> None:
        self._to_5 = to_5
        self.levels: list[int] = []
        self._writers: list[asyncio.StreamWriter] = []

    def hang_up(self) -> None:
        """On everybody."""
        for writer in self._writers:
            writer.transport.abort()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while True:
                kind, length = await reader.readexactly(2)
                body = await reader.readexactly(length)
                if kind >> 4 == 1:
                    self.levels.append(body[6])
                    if body[6] == MQTT_5:
                        writer.write(self._to_5)
                        break
                    writer.write(bytes([0x20, 2, 0, 0]))
                elif kind >> 4 == 8:
                    writer.write(bytes([0x90, 3]) + body[:2] + b"\1")
                elif kind >> 4 == 3:
                    writer.write(bytes([0x40, 2]) + body[2 + int.from_bytes(body[:2], "big") :][:2])
        writer.close()


@contextlib.asynccontextmanager
async def served(broker: OldBroker) -> AsyncIterator[int]:
    server = await asyncio.start_server(broker, HOST, 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@contextlib.asynccontextmanager
async def linked(port: int, keepalive_s: int = KEEPALIVE_S) -> AsyncIterator[list[tuple[bool, str]]]:
    """A table's connection that has much to say at once, and what it says about itself."""
    news: list[tuple[bool, str]] = []
    link = MqttLink(
        Settings(port),
        "club-1",
        on_request=lambda payload, retained: None,
        on_connection=lambda connected, reason: news.append((connected, reason)),
        keepalive_s=keepalive_s,
    )
    for number in range(20):
        link.publish(Message(f"pocketbeam/club-1/score/{number}", str(number), True, 1))
    task = asyncio.create_task(link.run())
    try:
        yield news
    finally:
        task.cancel()
        await asyncio.wait_for(task, 10)


REFUSED_IN_311 = bytes([0x20, 2, 0, 1])
REFUSED_IN_5 = bytes([0x20, 3, 0, 0x84, 0])


@pytest.mark.real
@pytest.mark.parametrize(
    ("to_5", "why"),
    [
        (REFUSED_IN_311, None),
        (REFUSED_IN_5, None),
        (b"", "closed the connection"),
        (bytes([0x20, 2, 0, 2]), "does not speak MQTT"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "closed the connection"),
    ],
    ids=["refused in 3.1.1", "refused in 5", "hung up", "mistaken for another fault", "another language"],
)
def test_a_broker_that_knows_no_version_5_has_the_table_within_ten_seconds(to_5: bytes, why: str | None) -> None:
    broker = OldBroker(to_5)

    async def run() -> None:
        async with served(broker) as port:
            began = time.monotonic()
            async with linked(port) as news:
                await until(lambda: news and news[-1] == (True, ""))
            assert time.monotonic() - began < 10
            assert broker.levels == [MQTT_5, MQTT_311]
            told = [reason for connected, reason in news if not connected]
            assert len(told) == (0 if why is None else 1), "a version that is not known is no news"
            assert [reason for reason in told if (why or "") not in reason] == []

    asyncio.run(run())


class NewBroker:
    """It speaks version 5, with these properties in its welcome, and may say `goodbye` to the first message.

    `heard`: what it was told, by kind of message.
    """

    def __init__(self, properties: bytes, goodbye: bytes = b"") -> None:
        self._goodbye = goodbye
        self._welcome = bytes([0x20, 3 + len(properties), 0, 0, len(properties)]) + properties
        self.heard: list[int] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while True:
                kind, length = await reader.readexactly(2)
                body = await reader.readexactly(length)
                self.heard.append(kind >> 4)
                if kind >> 4 == 1:
                    writer.write(self._welcome)
                elif kind >> 4 == 8:
                    writer.write(bytes([0x90, 4]) + body[:2] + b"\0\1")
                elif kind >> 4 == 12:
                    writer.write(b"\xd0\0")
                elif self._goodbye:
                    writer.write(self._goodbye)
                    break
        writer.close()


@pytest.mark.real
def test_a_broker_that_asks_for_more_frequent_signs_of_life_gets_them() -> None:
    broker = NewBroker(bytes([0x13, 0, 1]))  # a keepalive of one second, where the table has a minute

    async def run() -> None:
        async with served(broker) as port, linked(port, keepalive_s=12) as news:
            await until(lambda: broker.heard.count(12) >= 2)
            assert news == [(True, "")]

    asyncio.run(run())


@pytest.mark.real
def test_a_broker_that_takes_two_messages_at_once_gets_two() -> None:
    broker = NewBroker(bytes([0x21, 0, 2]))

    async def run() -> None:
        async with served(broker) as port, linked(port, keepalive_s=1) as news:
            await until(lambda: 12 in broker.heard, what="a sign of life behind the messages")
            assert (broker.heard.count(3), news) == (2, [(True, "")])

    asyncio.run(run())


@pytest.mark.real
@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0x8E, "closed the connection: another program has come with our client id"),
        (0x8B, "is stopping"),
        (0x97, "closed the connection (Quota exceeded)"),
    ],
)
def test_a_broker_that_ends_the_connection_says_why(code: int, words: str) -> None:
    broker = NewBroker(b"", goodbye=bytes([0xE0, 2, code, 0]))

    async def run() -> None:
        async with served(broker) as port, linked(port) as news:
            await until(lambda: len(news) >= 2)
            assert news[:2] == [(True, ""), (False, f"the broker at {HOST}:{port} {words}")]

    asyncio.run(run())


@pytest.mark.real
def test_a_broker_that_learns_version_5_is_spoken_to_in_it_after_its_restart(tmp_path: Path) -> None:
    old = OldBroker(REFUSED_IN_311)
    new = brokers.Mosquitto(tmp_path, extra="log_type all")

    async def run() -> None:
        server = await asyncio.start_server(old, HOST, new.port)
        async with linked(new.port) as news:
            await until(lambda: news and news[-1] == (True, ""))
            server.close()
            old.hang_up()
            await asyncio.to_thread(new.start)
            await until(lambda: not news[-1][0])
            await until(lambda: news[-1] == (True, ""))
            assert "(p5, " in (tmp_path / "mosquitto.log").read_text()
        assert old.levels == [MQTT_5, MQTT_311]

    try:
        asyncio.run(run())
    finally:
        new.stop()
