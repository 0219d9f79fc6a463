"""One request from a shell: sent, and its answer waited for."""

import asyncio
import json
import re
import secrets
from collections.abc import Mapping
from typing import Any

import aiomqtt

from appliance.mqtt.topics import BASE, request_topic, to_json, topic


class RequesterError(ConnectionError):
    """There is no answer; the text is one sentence."""


async def send(
    host: str,
    port: int,
    table: str,
    command: str,
    fields: Mapping[str, Any],
    timeout_s: float = 5.0,
    *,
    base: str = BASE,
) -> dict[str, Any]:
    """Publishes a request and returns the table's response document; RequesterError where none comes.

    A transaction of its own is added unless `fields` has one; the answer is told by it.
    """
    request = {"transaction": secrets.token_hex(8), **fields, "command": command}
    try:
        requests = request_topic(table, base=base)
        responses = topic(table, "response", base=base)
        payload = to_json(request)
    except ValueError as error:
        raise RequesterError(str(error)) from None
    try:
        async with asyncio.timeout(timeout_s):
            return await _ask(host, port, requests, responses, payload, request["transaction"])
    except TimeoutError:
        raise RequesterError(
            f'the table "{table}" did not answer within {timeout_s:g} s: is it running with this broker?'
        ) from None
    except (aiomqtt.MqttError, OSError) as error:
        why = re.sub(r"^\[\w+[ :]-?\d+\] ", "", str(error))
        raise RequesterError(f"the broker at {host}:{port} cannot be asked: {why}") from None


async def _ask(host: str, port: int, requests: str, responses: str, payload: str, transaction: Any) -> dict[str, Any]:
    async with aiomqtt.Client(host, port) as client:
        await client.subscribe(responses, qos=1)
        await client.publish(requests, payload, qos=1)
        async for message in client.messages:
            answer = _document(message.payload)
            if answer.get("transaction") == transaction:
                return answer
    raise aiomqtt.MqttError("the broker closed the connection")


def _document(payload: Any) -> dict[str, Any]:
    try:
        document = json.loads(payload)
    except (TypeError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
