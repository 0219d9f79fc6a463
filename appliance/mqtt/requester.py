"""One request from a shell: sent, and its answer waited for."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from appliance.mqtt.requests import MAX_BYTES, MAX_TRANSACTION
from appliance.mqtt.topics import request_topic, to_json, topic
from appliance.mqtt.transport import BrokerSettings
from appliance.mqtt.visitor import VisitError, Visitor, visit

ANSWER_WITHIN_S = 5.0


class RequesterError(ConnectionError):
    """There is no answer; the text is one sentence."""


@dataclass(slots=True)
class _Conversation:
    """How far it came: what the table has said about itself is None where it has said nothing, ever."""

    connected: bool = False
    availability: str | None = None


async def send(
    settings: BrokerSettings,
    table: str,
    command: str,
    fields: Mapping[str, Any],
    timeout_s: float = ANSWER_WITHIN_S,
) -> dict[str, Any]:
    """Publishes a request and returns the table's response document; RequesterError where none comes.

    A transaction of its own is added unless `fields` has one; the answer is told by it. ValueError, with a
    sentence, for what no table could answer.
    """
    request = {"transaction": secrets.token_hex(8), **fields, "command": command}
    transaction = request["transaction"]
    if not isinstance(transaction, str) or not 1 <= len(transaction) <= MAX_TRANSACTION:
        raise ValueError(f"a transaction is a text of 1 to {MAX_TRANSACTION} characters, by which the answer is told")
    payload = to_json(request).encode()
    if len(payload) > MAX_BYTES:
        raise ValueError(f"the request has {len(payload)} bytes, a table reads {MAX_BYTES}")
    heard = _Conversation()
    try:
        async with asyncio.timeout(timeout_s), _listening(settings, table) as client:
            heard.connected = True
            await client.publish(request_topic(table), payload, qos=1)
            return await _answer(client, table, transaction, heard)
    except TimeoutError:
        raise RequesterError(_silence(heard, settings, table, timeout_s)) from None
    except VisitError as error:
        raise RequesterError(str(error)) from None


@asynccontextmanager
async def _listening(settings: BrokerSettings, table: str) -> AsyncIterator[Visitor]:
    async with visit(settings) as client:
        await client.subscribe([(topic(table, "availability"), 1), (topic(table, "response"), 1)])
        yield client


async def _answer(client: Visitor, table: str, transaction: str, heard: _Conversation) -> dict[str, Any]:
    availability = topic(table, "availability")
    async for message in client.messages:
        payload = message.payload if isinstance(message.payload, bytes) else b""
        if message.topic.value == availability:
            heard.availability = payload.decode("utf-8", "replace")
            continue
        answer = _document(payload)
        if answer.get("transaction") == transaction:
            return answer
    raise VisitError("the broker closed the connection")


def _silence(heard: _Conversation, settings: BrokerSettings, table: str, timeout_s: float) -> str:
    """Why there may be no answer."""
    where, time = f"{settings.host}:{settings.port}", f"did not answer within {timeout_s:g} s"
    if not heard.connected:
        return f"the broker at {where} {time}"
    match heard.availability:
        case None:
            return f'the table "{table}" {time}, and nothing was ever heard of it at {where}: is the id right?'
        case "offline":
            return f'the table "{table}" {time}: it is offline'
        case _:
            return f'the table "{table}" {time}, though it is online: may this account send requests?'


def _document(payload: bytes) -> dict[str, Any]:
    try:
        document = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
