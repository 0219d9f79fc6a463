"""A short visit at a table's broker, with the table's own settings and under another name.

For commands that look in beside a daemon: it has the client id `pocketbeam-<table>`, and a second connection
with that id would throw it out.
"""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiomqtt

from appliance.mqtt.client import ANSWER_TIMEOUT_S, KEEPALIVE_S, sentence
from appliance.mqtt.topics import BASE
from appliance.mqtt.transport import (
    BrokerSettings,
    RejectedError,
    UnreachableError,
    open_socket,
    read_password,
    tls_context,
)


class VisitError(ConnectionError):
    """There is no connection, or it has ended; the text is one sentence."""

    def __init__(self, sentence: str, *, reached: bool = True) -> None:
        """`reached`: something answered, even if only to throw us out."""
        super().__init__(sentence)
        self.reached = reached


@asynccontextmanager
async def visit(settings: BrokerSettings, *, will: aiomqtt.Will | None = None) -> AsyncIterator[aiomqtt.Client]:
    """A connected client; VisitError where there is none, or where it breaks inside the block."""
    try:
        context = None if settings.tls is None else tls_context(settings.tls)
        # The library says little about what is in the way of a connection; this does.
        (await open_socket(settings.host, settings.port, context)).close()
        async with aiomqtt.Client(
            settings.host,
            settings.port,
            username=settings.username,
            password=read_password(settings),
            tls_context=context,
            identifier=f"{BASE}-visitor-{secrets.token_hex(4)}",
            timeout=ANSWER_TIMEOUT_S,
            keepalive=KEEPALIVE_S,
            will=will,
        ) as client:
            yield client
    except UnreachableError as error:
        raise VisitError(str(error), reached=False) from None
    except RejectedError as error:
        raise VisitError(str(error)) from None
    except aiomqtt.MqttError as error:
        raise VisitError(sentence(error, settings)) from None
