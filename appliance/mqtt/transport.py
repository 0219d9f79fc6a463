"""A TCP (or TLS) connection to a broker, made without a thread, and the sentences for when it cannot be made.

The MQTT library would connect in a thread that cannot be cancelled and hides what went wrong. A hundred
tables that wait for an absent broker would wait for each other's threads, and stopping would wait for all.
"""

import asyncio
import contextlib
import errno
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from os import fspath
from typing import Any, Protocol

from appliance.mqtt.tls import FilePath, RejectedError, TlsSettings, reason, tls_context, tls_sentence

__all__ = [
    "BrokerSettings",
    "RejectedError",
    "UnreachableError",
    "open_socket",
    "open_stream",
    "read_password",
    "tls_context",
]

CONNECT_TIMEOUT_S = 5.0
HANDSHAKE_TIMEOUT_S = 10.0


class BrokerSettings(Protocol):
    """Section `[mqtt]` of the configuration."""

    @property
    def host(self) -> str:
        """Name or address."""

    @property
    def port(self) -> int:
        """TCP port."""

    @property
    def username(self) -> str | None:
        """None: anonymous."""

    @property
    def password_file(self) -> FilePath | None:
        """A file whose first line is the password."""

    @property
    def tls(self) -> TlsSettings | None:
        """None: plain TCP."""


class UnreachableError(Exception):
    """There is no connection; the text is a sentence for the table's owner."""


def read_password(settings: BrokerSettings) -> str | None:
    """The first line of the password file, read anew for each connection; RejectedError with a sentence."""
    if settings.password_file is None:
        return None
    path = fspath(settings.password_file)
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise RejectedError(f"the password file {path} cannot be read: {why}") from None


async def open_socket(host: str, port: int, context: ssl.SSLContext | None) -> socket.socket:
    """A connected, non-blocking socket without delay, through TLS where a context is given."""
    sock = await _connect(host, port)
    if context is None:
        return sock
    wrapped = context.wrap_socket(sock, server_hostname=host, do_handshake_on_connect=False)
    try:
        async with _handshaking(host, port):
            await _handshake(wrapped)
    except BaseException:
        wrapped.close()
        raise
    return wrapped


async def open_stream(
    host: str, port: int, context: ssl.SSLContext | None, *, limit: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """The same connection as a pair of streams, which read ahead `limit` bytes."""
    sock = await _connect(host, port)
    try:
        if context is None:
            return await asyncio.open_connection(sock=sock, limit=limit)
        async with _handshaking(host, port):
            return await asyncio.open_connection(sock=sock, ssl=context, server_hostname=host, limit=limit)
    except BaseException:
        sock.close()
        raise


@contextlib.asynccontextmanager
async def _handshaking(host: str, port: int) -> AsyncIterator[None]:
    """In here everything that goes wrong is a broker's that answered."""
    try:
        async with asyncio.timeout(HANDSHAKE_TIMEOUT_S):
            yield
    except TimeoutError:
        raise RejectedError(f"{host}:{port} does not answer in TLS: is it a port for TLS?") from None
    except OSError as error:
        raise RejectedError(tls_sentence(error, host, port)) from None


async def _connect(host: str, port: int) -> socket.socket:
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            addresses = await _addresses(host, port)
    except TimeoutError:
        raise UnreachableError(f'looking up the name "{host}" takes too long') from None
    except (socket.gaierror, UnicodeError):
        raise UnreachableError(f'the name "{host}" is not known in this network') from None
    problem: OSError | None = None
    for family, address in addresses:
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setblocking(False)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await loop.sock_connect(sock, address)
        except OSError as error:
            sock.close()
            problem = error
        except BaseException:
            sock.close()
            raise
        else:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
    raise UnreachableError(_unreachable_sentence(problem, host, port))


async def _addresses(host: str, port: int) -> list[tuple[int, Any]]:
    """Where the name leads; numbers are read at once, because a look-up takes a thread."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except socket.gaierror:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [(family, address) for family, _, _, _, address in found]


async def _handshake(sock: ssl.SSLSocket) -> None:
    loop = asyncio.get_running_loop()
    while True:
        try:
            sock.do_handshake()
        except ssl.SSLWantReadError:
            await _ready(sock, loop.add_reader, loop.remove_reader)
        except ssl.SSLWantWriteError:
            await _ready(sock, loop.add_writer, loop.remove_writer)
        else:
            return


async def _ready(sock: socket.socket, add: Callable[..., None], remove: Callable[..., bool]) -> None:
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def now() -> None:
        if not ready.done():
            ready.set_result(None)

    add(sock, now)
    try:
        await ready
    finally:
        remove(sock)


def _unreachable_sentence(error: OSError | None, host: str, port: int) -> str:
    where = f"{host}:{port}"
    if isinstance(error, TimeoutError):
        return f"{where} does not answer within {CONNECT_TIMEOUT_S:g} s"
    if error is not None and error.errno == errno.ECONNREFUSED:
        return f"nothing listens at {where}: is the broker running?"
    return f"{where} cannot be reached: {reason(error) if error else 'the name leads nowhere'}"
