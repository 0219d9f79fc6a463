"""The embedded broker itself: how it starts, what it refuses, and that it leaves nothing behind."""

import asyncio
import logging
import socket

import pytest

from appliance.mqtt.broker import EmbeddedBroker, EmbeddedBrokerError
from tests.support.brokers import HOST, recorder, until

pytestmark = pytest.mark.real

EVENT = "pocketbeam/club-1/event"


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
