"""A WebSocket on one side, the broker's TCP port (or TLS) on the other.

What the broker says goes on as it comes. What the page says passes a guard (`guard.py`), which lets whole
packets through and only those that a page may say. The relay reads from one side only after the other side has
taken what came before, so a slow reader slows its sender and no queue grows. The WebSocket protocol itself is
that of `websockets`, without its I/O: its ready-made server speaks no HTTP/1.0, no HEAD, and gathers whole
messages.

When the broker cannot be reached, cannot be trusted or goes away, the page learns it from the close code.
"""

import asyncio
import logging
import secrets
from asyncio import StreamReader, StreamWriter
from contextlib import suppress
from dataclasses import replace

from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from appliance.mqtt.transport import (
    BrokerSettings,
    RejectedError,
    UnreachableError,
    open_stream,
    read_password,
    tls_context,
)
from appliance.web.guard import Guard, NotAllowedError, Rights

BROKER_UNREACHABLE = 4001
BROKER_WENT_AWAY = 4002
BROKER_NOT_TRUSTED = 4003
NOT_ALLOWED = 1008
TOO_MANY_PAGES = 1013
GOING_AWAY = 1001
NOT_BINARY = 1003

MAX_MESSAGE_BYTES = 64 * 1024
CHUNK_BYTES = 16 * 1024
CLOSE_TIMEOUT_S = 1.0
SILENCE_S = 180.0

# The library logs every odd handshake with a traceback; for us a client's fault is the client's to read.
_silent = logging.getLogger(f"{__name__}.protocol")
_silent.addHandler(logging.NullHandler())
_silent.propagate = False


class Relay:
    """One page's connection. `run` lasts until either side is gone and leaves both closed."""

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Take over a connection whose request head has been read already."""
        self._reader = reader
        self._writer = writer
        self._protocol = ServerProtocol(subprotocols=[Subprotocol("mqtt")], max_size=MAX_MESSAGE_BYTES, logger=_silent)

    async def run(self, head: bytes, broker: BrokerSettings, rights: Rights) -> None:
        """Answer the handshake in `head` and relay to the broker, with its account where the page has none."""
        if not await self._handshake(head):
            return
        try:
            account = replace(rights, username=broker.username, password=read_password(broker))
            context = None if broker.tls is None else tls_context(broker.tls)
            streams = await open_stream(broker.host, broker.port, context, limit=CHUNK_BYTES)
        except UnreachableError:
            await self._close(BROKER_UNREACHABLE, "the broker cannot be reached")
            return
        except RejectedError:
            await self._close(BROKER_NOT_TRUSTED, "the broker is not who it should be, or our own files are wrong")
            return
        guard = Guard(account, f"{rights.base}-page-{secrets.token_hex(8)}")
        try:
            code, reason = await self._relay(*streams, guard)
            await self._close(code, reason)
        except asyncio.CancelledError:
            self._say_close(GOING_AWAY, "the appliance is stopping")
            raise
        finally:
            await close_stream(streams[1])

    async def refuse(self, head: bytes) -> None:
        """Answer the handshake only to say that too many pages are open: a page can read nothing else."""
        if await self._handshake(head):
            await self._close(TOO_MANY_PAGES, "too many pages are open at once")

    async def _handshake(self, head: bytes) -> bool:
        self._protocol.receive_data(head)
        events = self._protocol.events_received()
        if not events or not isinstance(events[0], Request):
            return False
        self._protocol.send_response(self._protocol.accept(events[0]))
        await self._flush()
        return self._protocol.state is State.OPEN

    async def _relay(self, broker_reader: StreamReader, broker_writer: StreamWriter, guard: Guard) -> tuple[int, str]:
        """Pump both ways until one side ends; the close code and reason that the page shall see."""
        up = asyncio.create_task(self._page_to_broker(broker_writer, guard))
        down = asyncio.create_task(self._broker_to_page(broker_reader))
        try:
            done, _ = await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            up.cancel()
            down.cancel()
            await asyncio.gather(up, down, return_exceptions=True)
        return (up if up in done else down).result()

    async def _page_to_broker(self, broker: StreamWriter, guard: Guard) -> tuple[int, str]:
        while True:
            try:
                async with asyncio.timeout(SILENCE_S):
                    data = await self._reader.read(CHUNK_BYTES)
            except TimeoutError:
                return GOING_AWAY, "nothing was heard from this page for three minutes"
            except OSError:
                data = b""
            if not data:
                self._protocol.receive_eof()
                return GOING_AWAY, ""
            self._protocol.receive_data(data)
            for event in self._protocol.events_received():
                if not isinstance(event, Frame):
                    continue
                if event.opcode is Opcode.TEXT:
                    return NOT_BINARY, "MQTT travels in binary messages"
                if event.opcode in (Opcode.BINARY, Opcode.CONT):
                    try:
                        broker.write(guard.hear(bytes(event.data)))
                    except NotAllowedError as error:
                        if error.answer:
                            self._protocol.send_binary(error.answer)
                        return NOT_ALLOWED, str(error)
            await self._flush()
            if self._protocol.state is not State.OPEN:
                return GOING_AWAY, ""
            try:
                await broker.drain()
            except OSError:
                return BROKER_WENT_AWAY, "the broker went away"

    async def _broker_to_page(self, broker: StreamReader) -> tuple[int, str]:
        while True:
            try:
                data = await broker.read(CHUNK_BYTES)
            except OSError:
                data = b""
            if not data or self._protocol.state is not State.OPEN:
                return BROKER_WENT_AWAY, "the broker went away"
            self._protocol.send_binary(data)
            await self._flush()

    def _say_close(self, code: int, reason: str) -> None:
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(code, reason)
        self._write_out()

    async def _close(self, code: int, reason: str) -> None:
        """Say goodbye and give the page a moment to answer it."""
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                self._say_close(code, reason)
                await self._writer.drain()
                while self._protocol.close_rcvd is None:
                    data = await self._reader.read(CHUNK_BYTES)
                    if not data:
                        return
                    self._protocol.receive_data(data)
                    self._protocol.events_received()
                    self._write_out()

    async def _flush(self) -> None:
        self._write_out()
        with suppress(OSError):
            await self._writer.drain()

    def _write_out(self) -> None:
        for data in self._protocol.data_to_send():
            # An empty item is the library's word for "end of file"; the owner closes the connection.
            if data:
                self._writer.write(data)


async def close_stream(writer: StreamWriter) -> None:
    """Close a connection, sending what is left, but never wait for a dead peer."""
    writer.close()
    try:
        async with asyncio.timeout(CLOSE_TIMEOUT_S):
            await writer.wait_closed()
    except (OSError, TimeoutError):
        writer.transport.abort()
