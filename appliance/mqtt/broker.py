"""The embedded broker, for the demo and for tests: on the loopback interface only, open to everybody there.

It forgets everything when it stops and has known defects (`docs/hall.md` lists them), so it
never serves a real table. Its library is an optional dependency, imported when a broker starts.

The library's own way to stop may wait for ever for a client that is just saying something. Therefore the
connections are accepted here: stopping hangs up first, waits until the library has seen it, and then lets it
tidy up. And it speaks MQTT 3.1.1 alone, but waits for ever over the first message of version 5: that is looked
at here too, and answered as a broker should, so that the client can try again in 3.1.1.
"""

import asyncio
import contextlib
import ipaddress
import logging
import os
from typing import Any

_STOP_TIMEOUT_S = 2.0
_CONNECT = 0x10
_VERSION_5 = b"\x00\x04MQTT\x05"
_WRONG_VERSION = bytes([0x20, 2, 0, 1])


class EmbeddedBrokerError(Exception):
    """The broker cannot start; the text is a sentence."""


class EmbeddedBroker:
    """A small MQTT broker inside this process."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Does nothing yet; port 0 is any free one."""
        self._host = host
        self._port = port
        self._broker: Any = None
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def start(self) -> int:
        """Listens and returns the port; EmbeddedBrokerError with a sentence where that is not possible."""
        if not _is_loopback(self._host):
            raise EmbeddedBrokerError(
                f"the embedded broker listens on the loopback interface only, not on {self._host}"
            )
        try:
            from amqtt.broker import Broker
        except ImportError:
            raise EmbeddedBrokerError(
                "the embedded broker needs the package amqtt: pip install 'pocketbeam[demo]', "
                "or name a broker with --broker HOST:PORT"
            ) from None
        _silence()
        broker = Broker(
            {
                "listeners": {"default": {"type": "external", "bind": "accepted here"}},
                "plugins": {
                    "amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True},
                },
            }
        )
        await broker.start()
        self._broker = broker
        try:
            self._server = await asyncio.start_server(self._accept, self._host, self._port)
        except OSError as error:
            await self.stop()
            raise EmbeddedBrokerError(
                f"port {self._port} at {self._host} cannot be used: {os.strerror(error.errno or 0)}"
            ) from None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        """Hangs up on everybody and stops listening; does nothing where it never started."""
        server, self._server = self._server, None
        broker, self._broker = self._broker, None
        if server is not None:
            server.close()
        for writer in self._connections.values():
            writer.transport.abort()
        await _end(set(self._connections))
        if broker is not None:
            tidying = asyncio.create_task(broker.shutdown())
            await _end({tidying})

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._connections[task] = writer
        task.add_done_callback(self._connections.pop)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from amqtt.adapters import StreamWriterAdapter

        try:
            # A client may say anything, and the library may raise anything because of it.
            with contextlib.suppress(Exception):
                begun = await _beginning(reader)
                if begun.endswith(_VERSION_5):
                    writer.write(_WRONG_VERSION)
                    await writer.drain()
                    return
                await self._broker.external_connected(_Resumed(begun, reader), StreamWriterAdapter(writer), "default")
        finally:
            writer.transport.abort()


class _Resumed:
    """A stream from its beginning, which somebody has read already, in the library's shape of one."""

    def __init__(self, begun: bytes, reader: asyncio.StreamReader) -> None:
        self._begun = begun
        self._reader = reader

    async def read(self, n: int = -1) -> bytes:
        """Exactly `n` bytes, or all."""
        head, self._begun = (self._begun, b"") if n < 0 else (self._begun[:n], self._begun[n:])
        return head + (await self._reader.read() if n < 0 else await self._reader.readexactly(n - len(head)))

    def feed_eof(self) -> None:
        """No more comes."""
        self._reader.feed_eof()


async def _beginning(reader: asyncio.StreamReader) -> bytes:
    """The first message as far as it tells the version, or less of one that does not connect."""
    begun = await reader.readexactly(2)
    if begun[0] != _CONNECT:
        return begun
    while begun[-1] & 0x80 and len(begun) < 5:
        begun += await reader.readexactly(1)
    return begun + await reader.readexactly(len(_VERSION_5))


async def _end(tasks: set[asyncio.Task[None]]) -> None:
    """Waits for tasks that are about to end, and ends those that are not."""
    if tasks:
        _, still = await asyncio.wait(tasks, timeout=_STOP_TIMEOUT_S)
        for task in still:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _silence() -> None:
    """What the libraries have to say is about their inside; what matters to people is said by the table."""
    for name in ("amqtt", "transitions"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
