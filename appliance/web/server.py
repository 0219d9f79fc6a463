"""The pages' server: static files, `/table.json`, and the relay at `/mqtt`, all at one address.

So a page needs nothing but the address it came from, with any broker behind it and under any path prefix of a
proxy that strips it. Connections are counted and bounded; what was turned away is counted too.
"""

import asyncio
import errno
import json
from asyncio import StreamReader, StreamWriter
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

from appliance.mqtt.transport import BrokerSettings
from appliance.web import assets
from appliance.web.guard import Rights
from appliance.web.http import (
    MAX_HEAD_BYTES,
    BadRequestError,
    Request,
    is_loopback,
    parse_head,
    response,
    sentence,
    tag_matches,
)
from appliance.web.relay import Relay, close_stream

MAX_CONNECTIONS = 128
MAX_RELAYS = 64
HEAD_TIMEOUT_S = 10.0
SEND_TIMEOUT_S = 30.0


class WebServerError(Exception):
    """The pages cannot be served; the message is one sentence for the table's owner."""


@dataclass(slots=True)
class WebCounters:
    """What the server has done and turned away since it was made."""

    relays: int = 0
    relays_refused: int = 0
    connections_refused: int = 0
    bad_requests: int = 0


class WebServer:
    """Serves the pages of one or several tables and relays them to the broker. Does nothing until `start`."""

    def __init__(
        self,
        host: str,
        port: int,
        broker: BrokerSettings,
        table: str | Sequence[str],
        base: str = "pocketbeam",
        *,
        max_connections: int = MAX_CONNECTIONS,
        max_relays: int = MAX_RELAYS,
    ) -> None:
        """Remember where to listen (port 0: any free one), who the broker is, and which tables to show."""
        self.counters = WebCounters()
        self._host = host
        self._port = port
        self._broker = broker
        self._tables = [table] if isinstance(table, str) else list(table)
        self._base = base
        self._max_connections = max_connections
        self._max_relays = max_relays
        self._relays = 0
        self._assets: dict[str, assets.Asset] = {}
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        """Listen; the port that was really bound. Raises `WebServerError` with a sentence."""
        self._assets = assets.load()
        try:
            self._server = await asyncio.start_server(self._accept, self._host, self._port, limit=MAX_HEAD_BYTES)
        except OSError as error:
            raise WebServerError(self._why_not(error)) from error
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        """Stop listening and close every connection; harmless when not started."""
        if self._server is None:
            return
        self._server.close()
        connections = tuple(self._connections)
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None

    def _why_not(self, error: OSError) -> str:
        where = f"{self._host}:{self._port}"
        if error.errno == errno.EADDRINUSE:
            return (
                f"The pages cannot listen on {where}: another program uses this port; choose another in [web] listen."
            )
        if error.errno == errno.EACCES:
            return (
                f"The pages cannot listen on {where}: the system does not allow it; "
                "choose a port from 1024 up in [web] listen."
            )
        return (
            f"The pages cannot listen on {where}: {error.strerror or error}; "
            "[web] listen needs an address of this computer, such as “127.0.0.1:8080”."
        )

    def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        # Tasks of our own: asyncio's would log a traceback for each that `stop` cancels.
        task = asyncio.create_task(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            if len(self._connections) > self._max_connections:
                self.counters.connections_refused += 1
                text = "Too many connections at once; try again in a moment."
                await self._send(writer, sentence(HTTPStatus.SERVICE_UNAVAILABLE, text))
            else:
                await self._converse(reader, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass  # The client is gone or too slow: there is nobody left to tell.
        finally:
            await close_stream(writer)

    async def _converse(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_TIMEOUT_S):
                head = await reader.readuntil(b"\r\n\r\n")
            request = parse_head(head)
        except asyncio.LimitOverrunError:
            self.counters.bad_requests += 1
            text = f"The request's head is longer than {MAX_HEAD_BYTES} bytes."
            await self._send(writer, sentence(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, text))
            return
        except BadRequestError as error:
            self.counters.bad_requests += 1
            await self._send(writer, sentence(HTTPStatus.BAD_REQUEST, str(error)))
            return
        if request.path == "/mqtt" and request.method == "GET" and request.wants_websocket:
            await self._relay(request, head, reader, writer)
        else:
            await self._send(writer, self._answer(request))

    async def _relay(self, request: Request, head: bytes, reader: StreamReader, writer: StreamWriter) -> None:
        if not request.from_own_page:
            self.counters.relays_refused += 1
            text = "A page of another site may not connect to this table."
            await self._send(writer, sentence(HTTPStatus.FORBIDDEN, text))
            return
        relay = Relay(reader, writer)
        if self._relays >= self._max_relays:
            self.counters.relays_refused += 1
            await relay.refuse(head)
            return
        self.counters.relays += 1
        self._relays += 1
        try:
            rights = Rights(self._base, tuple(self._tables), may_ask=self._may_ask(request))
            await relay.run(head, self._broker, rights)
        finally:
            self._relays -= 1

    def _may_ask(self, request: Request) -> bool:
        """Here, and at a broker that asks nobody who they are, a page gets no more than its visitor has."""
        return is_loopback(self._host) and request.is_of_this_machine and self._broker.username is None

    def _table(self, request: Request) -> assets.Asset:
        """What the board has to know before it connects."""
        told = {"base": self._base, "tables": self._tables, "may_ask": self._may_ask(request)}
        return assets.asset(json.dumps(told).encode(), "application/json")

    async def _send(self, writer: StreamWriter, data: bytes) -> None:
        # With no room in our own buffer `drain` means that the system has taken every byte.
        writer.transport.set_write_buffer_limits(0)
        async with asyncio.timeout(SEND_TIMEOUT_S):
            writer.write(data)
            await writer.drain()
            if writer.can_write_eof():
                writer.write_eof()

    def _answer(self, request: Request) -> bytes:
        head_only = request.method == "HEAD"
        if request.method not in ("GET", "HEAD"):
            return sentence(
                HTTPStatus.METHOD_NOT_ALLOWED,
                "These pages can only be read: GET and HEAD are allowed.",
                more=(("Allow", "GET, HEAD"),),
            )
        if request.path == "/mqtt":
            return sentence(
                HTTPStatus.UPGRADE_REQUIRED,
                "This address speaks MQTT over WebSocket; the board is at the address without “mqtt”.",
                head_only=head_only,
                more=(("Upgrade", "websocket"),),
            )
        found = self._table(request) if request.path == "/table.json" else self._assets.get(request.path)
        if found is None:
            text = "There is no such page here; the board is at “/”."
            return sentence(HTTPStatus.NOT_FOUND, text, head_only=head_only)
        more = (("ETag", found.etag), ("Cache-Control", "no-cache"))
        if tag_matches(request.headers.get("if-none-match", ""), found.etag):
            return response(HTTPStatus.NOT_MODIFIED, b"", found.content_type, more=more)
        body, packing = found.for_reader(request.headers.get("accept-encoding", ""))
        return response(HTTPStatus.OK, body, found.content_type, head_only=head_only, more=(*more, *packing))
