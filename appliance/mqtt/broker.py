"""The embedded broker, for the demo and for tests: on the loopback interface only, open to everybody there.

It forgets everything when it stops and has known defects (`tests/mqtt/test_brokers.py` lists them), so it
never serves a real table. Its library is an optional dependency, imported when a broker starts.
"""

import contextlib
import ipaddress
import logging
import socket
from typing import Any


class EmbeddedBrokerError(Exception):
    """The broker cannot start; the text is a sentence."""


class EmbeddedBroker:
    """A small MQTT broker inside this process."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Does nothing yet; port 0 is any free one."""
        self._host = host
        self._port = port
        self._broker: Any = None

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
        self._check_port()
        broker = Broker(
            {
                "listeners": {"default": {"type": "tcp", "bind": f"{self._host}:{self._port}"}},
                "plugins": {
                    "amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True},
                },
            }
        )
        try:
            await broker.start()
        except Exception as error:
            raise EmbeddedBrokerError(f"the embedded broker cannot start: {error}") from None
        self._broker = broker
        port: int = broker._servers["default"].instance.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        """Disconnects everybody and stops listening; does nothing where it never started."""
        broker, self._broker = self._broker, None
        if broker is not None:
            with contextlib.suppress(Exception):
                await broker.shutdown()

    def _check_port(self) -> None:
        """Tries the port first: the library reports a taken one less clearly."""
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                sock.bind((self._host, self._port))
            except OSError as error:
                raise EmbeddedBrokerError(
                    f"port {self._port} at {self._host} cannot be used: {error.strerror}"
                ) from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _silence() -> None:
    """What the libraries have to say is about their inside; what matters to people is said by the table."""
    for name in ("amqtt", "transitions"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
