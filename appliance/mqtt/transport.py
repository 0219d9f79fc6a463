"""A TCP (or TLS) connection to a broker, made without a thread, and the sentences for when it cannot be made.

The MQTT library would connect in a thread that cannot be cancelled and hides what went wrong. A hundred
tables that wait for an absent broker would wait for each other's threads, and stopping would wait for all.
"""

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable
from os import PathLike, fspath
from typing import Any, Protocol

CONNECT_TIMEOUT_S = 5.0
HANDSHAKE_TIMEOUT_S = 10.0

FilePath = PathLike[str] | str


class TlsSettings(Protocol):
    """Files for TLS; without `ca` the system's authorities are trusted."""

    @property
    def ca(self) -> FilePath | None:
        """Authorities to trust."""

    @property
    def cert(self) -> FilePath | None:
        """This client's certificate."""

    @property
    def key(self) -> FilePath | None:
        """The certificate's key, where it is not in the same file."""


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


class RejectedError(Exception):
    """Somebody answered and does not want us, or is not who they should be; the text is a sentence."""


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


def tls_context(settings: TlsSettings) -> ssl.SSLContext:
    """Certificates and names are always verified; RejectedError names the file that is wrong."""
    ca, certificate, key = (
        None if path is None else fspath(path) for path in (settings.ca, settings.cert, settings.key)
    )
    try:
        context = ssl.create_default_context(cafile=ca)
    except (OSError, ssl.SSLError) as error:
        raise RejectedError(f"the file of authorities {ca} cannot be used: {_reason(error)}") from None
    if certificate is not None:
        try:
            context.load_cert_chain(certificate, key)
        except (OSError, ssl.SSLError) as error:
            files = certificate if key is None else f"{certificate} with {key}"
            raise RejectedError(f"the client certificate {files} cannot be used: {_reason(error)}") from None
    return context


async def open_socket(host: str, port: int, context: ssl.SSLContext | None) -> socket.socket:
    """A connected, non-blocking socket without delay, through TLS where a context is given."""
    sock = await _connect(host, port)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if context is None:
        return sock
    wrapped = context.wrap_socket(sock, server_hostname=host, do_handshake_on_connect=False)
    try:
        async with asyncio.timeout(HANDSHAKE_TIMEOUT_S):
            await _handshake(wrapped)
    except TimeoutError:
        wrapped.close()
        raise RejectedError(f"{host}:{port} does not answer in TLS: is it a port for TLS?") from None
    except OSError as error:
        wrapped.close()
        raise RejectedError(_tls_sentence(error, host, port)) from None
    except BaseException:
        wrapped.close()
        raise
    return wrapped


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


def _reason(error: OSError) -> str:
    return getattr(error, "reason", None) or error.strerror or str(error)


def _unreachable_sentence(error: OSError | None, host: str, port: int) -> str:
    where = f"{host}:{port}"
    if isinstance(error, TimeoutError):
        return f"{where} does not answer within {CONNECT_TIMEOUT_S:g} s"
    if error is not None and error.errno == errno.ECONNREFUSED:
        return f"nothing listens at {where}: is the broker running?"
    return f"{where} cannot be reached: {_reason(error) if error else 'the name leads nowhere'}"


def _tls_sentence(error: OSError, host: str, port: int) -> str:
    where = f"{host}:{port}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate of {where} is not accepted: {error.verify_message}"
    if isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
        return f"{where} does not speak TLS: is it the port for plain MQTT?"
    if isinstance(error, ssl.SSLError):
        return f"TLS with {where} fails: {_reason(error)}"
    return f"{where} closes the connection during the TLS handshake: is it a port for TLS?"
