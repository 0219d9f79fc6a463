"""A short visit at a table's broker, with the table's own settings and under another name.

For commands that look in beside a daemon: it has the client id `pocketbeam-<table>`, and a second connection
with that id would throw it out. Version 3.1.1 of MQTT does for them; in version 5 a broker also says what it does
not let them say.
"""

import logging
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiomqtt

from appliance.mqtt.client import ANSWER_TIMEOUT_S, KEEPALIVE_S, Connection, outcome_of, sentence
from appliance.mqtt.topics import BASE
from appliance.mqtt.transport import (
    BrokerSettings,
    RejectedError,
    UnreachableError,
    read_password,
    tls_context,
)
from appliance.mqtt.versions import MQTT_311, Outcome

_library_log = logging.getLogger(f"{__name__}.library")
# What the library has to say about a broken connection is said once, and better, by `VisitError`.
_library_log.setLevel(logging.CRITICAL + 1)


class VisitError(ConnectionError):
    """There is no connection, or it has ended; the text is one sentence."""

    def __init__(self, sentence: str, outcome: Outcome = Outcome.WELCOMED) -> None:
        """`outcome` tells what to try next."""
        super().__init__(sentence)
        self.outcome = outcome


class Visitor(Connection):
    """A client that knows how many of its messages the broker has refused (in version 5 it says so)."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """As the library's client; `open` connects."""
        super().__init__(*arguments, **options)
        self.refused = 0
        self.watch(self._answered, lambda: None)

    def _answered(self, message_id: int, refused: bool) -> None:
        self.refused += refused
        if waiting := self._pending_publishes.pop(message_id, None):
            waiting.set()

    def vanish(self) -> None:
        """Breaks the connection without a goodbye, as a client does that crashes."""
        sock = self._client.socket()
        if isinstance(sock, socket.socket):
            sock.shutdown(socket.SHUT_RDWR)


@asynccontextmanager
async def visit(
    settings: BrokerSettings,
    *,
    will: aiomqtt.Will | None = None,
    level: int = MQTT_311,
    patience_s: float = ANSWER_TIMEOUT_S,
) -> AsyncIterator[Visitor]:
    """A connected client; VisitError where there is none, or where it breaks inside the block."""
    welcomed = False
    try:
        client = Visitor(
            settings.host,
            settings.port,
            username=settings.username,
            password=read_password(settings),
            identifier=f"{BASE}-visitor-{secrets.token_hex(4)}",
            timeout=patience_s,
            keepalive=KEEPALIVE_S,
            protocol=aiomqtt.ProtocolVersion(level),
            will=will,
            logger=_library_log,
        )
        try:
            await client.open(None if settings.tls is None else tls_context(settings.tls))
            welcomed = True
            yield client
        finally:
            client.close()
    except UnreachableError as error:
        raise VisitError(str(error), Outcome.NOT_REACHED) from None
    except (RejectedError, aiomqtt.MqttError) as error:
        outcome = Outcome.WELCOMED if welcomed else outcome_of(error)
        raise VisitError(sentence(error, settings, welcomed=welcomed), outcome) from None
