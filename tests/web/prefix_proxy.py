"""The least of a reverse proxy: one path prefix, taken off before the request goes on."""

import asyncio
from contextlib import suppress

HOST = "127.0.0.1"


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


class PrefixProxy:
    """Listens on a free port in front of `port`."""

    def __init__(self, prefix: str, port: int) -> None:
        self._prefix = prefix
        self._port = port
        self._server: asyncio.Server | None = None
        self._busy: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        self._server = await asyncio.start_server(self._accept, HOST, 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        await asyncio.gather(*self._busy)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._busy.add(asyncio.create_task(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.readline()
        behind_reader, behind = await asyncio.open_connection(HOST, self._port)
        behind.write(first.replace(f" {self._prefix}/".encode(), b" /", 1))
        await asyncio.gather(_copy(reader, behind), _copy(behind_reader, writer))
