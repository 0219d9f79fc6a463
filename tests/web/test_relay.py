"""The relay between a WebSocket and the broker's port, over real sockets."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from appliance.config import Tls
from appliance.web.relay import MAX_MESSAGE_BYTES
from appliance.web.server import WebServer
from tests.support.brokers import Settings
from tests.web.conftest import HOST, Broker
from tests.web.packets import PINGREQ, connect, packets, publish

pytestmark = pytest.mark.real

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
MIB = 1024 * 1024


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(4096):
            writer.write(data)
            await writer.drain()
    writer.close()


def relayed(
    broker: Handler | None,
    body: Callable[[WebServer, int], Awaitable[None]],
    settings: Callable[[int], Settings] = Settings,
    listen: str = HOST,
    **options: int,
) -> None:
    """Run `body` with a server in front of a pretended broker; None: nobody listens there."""

    async def run() -> None:
        listener = await asyncio.start_server(broker or echo, HOST, 0)
        broker_port = listener.sockets[0].getsockname()[1]
        if broker is None:
            listener.close()
        server = WebServer(listen, 0, settings(broker_port), "t1", **options)
        port = await server.start()
        try:
            async with asyncio.timeout(20):
                await body(server, port)
        finally:
            await server.stop()
            listener.close()

    asyncio.run(run())


def page(port: int, origin: str | None = None) -> open_websocket:
    return open_websocket(
        f"ws://{HOST}:{port}/mqtt",
        subprotocols=[Subprotocol("mqtt")],
        origin=Origin(origin) if origin else None,
        max_size=None,
        compression=None,
    )


async def gather(socket: ClientConnection, size: int) -> bytes:
    collected = bytearray()
    while len(collected) < size:
        collected += await socket.recv(decode=False)
    return bytes(collected)


async def opened(socket: ClientConnection) -> None:
    """Begin as a page does, and take the echo of it away."""
    await socket.send(connect("my-own-id"))
    size = len(connect("pocketbeam-page-0123456789abcdef"))
    (echoed,) = packets(await gather(socket, size))
    assert echoed.texts(10)[0].startswith(b"pocketbeam-page-")


def said(payload: bytes) -> bytes:
    """What a page may say that visits the machine itself."""
    return publish("pocketbeam/t1/request", payload)


async def closing(socket: ClientConnection) -> tuple[int, str]:
    await socket.wait_closed()
    assert socket.close_code is not None
    return socket.close_code, socket.close_reason or ""


def test_bytes_pass_both_ways_however_they_are_cut() -> None:
    async def body(server: WebServer, port: int) -> None:
        async with page(port, f"http://{HOST}:{port}") as socket:
            assert socket.subprotocol == "mqtt"
            await opened(socket)
            one, two = said(b"one"), said(b"two")
            await socket.send(one[:5])
            await socket.send([one[5:6], b"", one[6:] + two[:1]])
            await socket.send(two[1:] + PINGREQ)
            assert await gather(socket, len(one + two) + 2) == one + two + PINGREQ
        assert server.counters.relays == 1

    relayed(echo, body)


def test_much_data_arrives_whole_and_in_order() -> None:
    async def body(_: WebServer, port: int) -> None:
        numbers = b"".join(index.to_bytes(4, "big") for index in range(MIB // 2))
        sent = b"".join(said(numbers[start : start + 10_000]) for start in range(0, len(numbers), 10_000))
        async with page(port) as socket:
            await opened(socket)

            async def send() -> None:
                for start in range(0, len(sent), 50_000):
                    await socket.send(sent[start : start + 50_000])

            sending = asyncio.create_task(send())
            assert await gather(socket, len(sent)) == sent
            await sending

    relayed(echo, body)


def test_a_page_that_does_not_read_stops_the_broker() -> None:
    pushed = 0
    stalled = asyncio.Event()

    async def flood(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal pushed
        with suppress(OSError, TimeoutError):
            while True:
                writer.write(b"x" * 65536)
                async with asyncio.timeout(1):
                    await writer.drain()
                pushed += 65536
        stalled.set()
        writer.close()

    async def body(_: WebServer, port: int) -> None:
        _, writer = await asyncio.open_connection(HOST, port)
        writer.write(
            b"GET /mqtt HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Protocol: mqtt\r\n\r\n"
        )
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        await stalled.wait()
        writer.close()

    relayed(flood, body)
    # What the system's own socket buffers hold on both connections, and no more.
    assert 0 < pushed < 32 * MIB


def test_a_broker_that_does_not_read_stops_the_page() -> None:
    over = asyncio.Event()

    async def deaf(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        await over.wait()
        writer.transport.abort()

    async def body(_: WebServer, port: int) -> None:
        sent = 0
        much = said(b"x" * 10_000) * 5
        async with page(port) as socket:
            await socket.send(connect())
            with suppress(TimeoutError):
                while sent < 64 * MIB:
                    async with asyncio.timeout(1):
                        await socket.send(much)
                    sent += len(much)
            socket.transport.abort()
        over.set()
        assert sent < 32 * MIB

    relayed(deaf, body)


def test_a_broker_away_is_said_with_the_close() -> None:
    async def body(_: WebServer, port: int) -> None:
        async with page(port) as socket:
            assert await closing(socket) == (4001, "the broker cannot be reached")

    relayed(None, body)


@pytest.mark.parametrize(
    "settings",
    [
        lambda port: Settings(port, tls=Tls()),  # where there is none
        lambda port: Settings(port, tls=Tls(ca=Path("/nowhere"))),
        lambda port: Settings(port, username="appliance", password_file=Path("/nowhere")),
    ],
    ids=["no TLS", "no authority", "no password"],
)
def test_a_broker_that_cannot_be_trusted_is_said_with_the_close(settings: Callable[[int], Settings]) -> None:
    async def body(_: WebServer, port: int) -> None:
        async with page(port) as socket:
            code, reason = await closing(socket)
            assert code == 4003
            assert "/nowhere" not in reason  # what our files are called is no matter of a visitor's

    async def unwilling(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"this is no TLS\n")
        writer.close()

    relayed(unwilling, body, settings)


def test_a_page_that_oversteps_is_told_so_and_the_broker_never_hears_of_it() -> None:
    heard = bytearray()

    async def listening(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(4096):
                heard.extend(data)
        writer.close()

    async def body(_: WebServer, port: int) -> None:
        async with page(port) as socket:
            await socket.send(connect() + publish("pocketbeam/t1/state", b"forged"))
            assert await closing(socket) == (1008, "a page may only look")

    relayed(listening, body)
    assert b"forged" not in heard


def test_a_program_that_begins_with_version_5_learns_that_it_has_to_try_another() -> None:
    async def body(_: WebServer, port: int) -> None:
        async with page(port) as socket:
            await socket.send(connect(level=5))
            (welcome,) = packets(await gather(socket, 5))
            assert (welcome.kind, welcome.body[1]) == (2, 0x84)
            assert await closing(socket) == (1008, "pages speak MQTT 3.1.1")

    relayed(echo, body)


@pytest.mark.parametrize(
    ("settings", "listen", "header", "may"),
    [
        (Settings, HOST, {}, True),
        (Settings, "0.0.0.0", {}, False),
        (Settings, HOST, {"X-Forwarded-For": "192.0.2.7"}, False),
        (Settings, HOST, {"Host": "evil.example"}, False),  # whose name was made to lead here
        (lambda port: Settings(port, username="appliance"), HOST, {}, False),
    ],
    ids=["on this machine", "from the network", "through a proxy", "by another name", "at a broker with accounts"],
)
def test_where_a_page_may_ask_without_an_account(
    settings: Callable[[int], Settings], listen: str, header: dict[str, str], may: bool
) -> None:
    async def body(_: WebServer, port: int) -> None:
        address = f"ws://{HOST}:{port}/mqtt"
        async with open_websocket(address, subprotocols=[Subprotocol("mqtt")], additional_headers=header) as socket:
            await socket.send(connect() + said(b"undo"))
            if may:
                assert said(b"undo") in await gather(socket, len(said(b"undo")) + 10)
            else:
                assert await closing(socket) == (1008, "without an account of the broker a page may only look")

    relayed(echo, body, settings, listen)


def test_a_broker_that_goes_is_said_after_its_last_bytes() -> None:
    async def short(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"last")
        writer.close()

    async def body(_: WebServer, port: int) -> None:
        async with page(port) as socket:
            assert await socket.recv() == b"last"
            assert await closing(socket) == (4002, "the broker went away")

    relayed(short, body)


@pytest.mark.parametrize("politely", [True, False])
def test_a_page_that_goes_leaves_the_broker(politely: bool) -> None:
    ended = asyncio.Event()

    async def watching(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert packets(await reader.readexactly(len(connect("pocketbeam-page-0123456789abcdef"))))
        with suppress(OSError):
            assert await reader.read() == b""
        ended.set()
        writer.close()

    async def body(_: WebServer, port: int) -> None:
        async with page(port) as socket:
            await socket.send(connect())
            if politely:
                await socket.close()
            else:
                socket.transport.abort()
            await ended.wait()

    relayed(watching, body)


def test_text_is_refused() -> None:
    async def body(_: WebServer, port: int) -> None:
        async with page(port) as socket:
            await socket.send("hello")
            assert (await closing(socket))[0] == 1003

    relayed(echo, body)


def test_an_oversized_message_is_refused() -> None:
    async def body(_: WebServer, port: int) -> None:
        async with page(port) as socket:
            await socket.send(b"x" * (MAX_MESSAGE_BYTES + 1))
            assert (await closing(socket))[0] == 1009

    relayed(echo, body)


def test_a_page_of_another_site_is_refused() -> None:
    async def body(server: WebServer, port: int) -> None:
        with pytest.raises(InvalidStatus) as caught:
            await page(port, "http://evil.example")
        assert caught.value.response.status_code == 403
        assert caught.value.response.body == b"A page of another site may not connect to this table.\n"
        assert server.counters.relays_refused == 1

    relayed(echo, body)


def test_the_subprotocol_must_be_mqtt() -> None:
    async def body(_: WebServer, port: int) -> None:
        with pytest.raises(InvalidStatus) as caught:
            await open_websocket(f"ws://{HOST}:{port}/mqtt", subprotocols=[Subprotocol("chat")])
        assert caught.value.response.status_code == 400

    relayed(echo, body)


def test_one_page_too_many_is_told_so_and_a_place_becomes_free_again() -> None:
    async def body(server: WebServer, port: int) -> None:
        async with page(port), page(port) as second:
            assert await closing(second) == (1013, "too many pages are open at once")
        assert server.counters.relays_refused == 1
        async with page(port) as third:
            await opened(third)

    relayed(echo, body, max_relays=1)


def test_stopping_says_goodbye() -> None:
    async def body(server: WebServer, port: int) -> None:
        async with page(port) as socket:
            await opened(socket)
            stopping = asyncio.create_task(server.stop())
            assert await closing(socket) == (1001, "the appliance is stopping")
            await stopping

    relayed(echo, body)


def test_mqtt_passes_to_a_real_broker(broker: Broker, pages: str) -> None:
    state = json.dumps({"name": "Ünï 🙂", "filler": "x" * 30_000})
    broker.publish("pocketbeam/t1/state", state)
    received: list[str] = []
    came = threading.Event()
    client = Client(CallbackAPIVersion.VERSION2, transport="websockets")
    client.ws_set_options(path="/mqtt")

    def on_message(_client: Client, _userdata: object, message: object) -> None:
        received.append(message.payload.decode())  # type: ignore[attr-defined]
        came.set()

    client.on_message = on_message
    client.on_connect = lambda *_: client.subscribe("pocketbeam/t1/state", 1)
    client.connect(HOST, int(pages.rpartition(":")[2]))
    client.loop_start()
    try:
        assert came.wait(5)
        came.clear()
        broker.publish("pocketbeam/t1/state", "live")
        assert came.wait(5)
        assert received == [state, "live"]
    finally:
        client.disconnect()
        client.loop_stop()
    assert received == [state, "live"]
