"""Whether a broker does what a table needs, tried with a topic of its own that is removed again.

Needed: QoS 1 both ways, and a retained message for whoever subscribes to its topic by name. A wildcard that
brings retained messages too is a comfort of some displays; nothing of ours relies on it.
"""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiomqtt

from appliance.mqtt.client import number
from appliance.mqtt.topics import BASE, request_topic, topic
from appliance.mqtt.transport import BrokerSettings
from appliance.mqtt.visitor import VisitError, visit
from appliance.tools.findings import Finding, note, well, wrong

PART = "broker"
PATIENCE_S = 3.0
_REFUSED = 0x80


async def check_broker(settings: BrokerSettings, table: str) -> list[Finding]:
    """What the broker is good for; the first thing that is wrong ends the look."""
    where = f"{settings.host}:{settings.port}"
    scratch = topic(table, f"doctor-{secrets.token_hex(4)}")
    try:
        async with visit(settings) as client:
            try:
                found = await _try(client, settings, table, scratch)
            finally:
                with contextlib.suppress(aiomqtt.MqttError):
                    await client.publish(scratch, None, qos=1, retain=True)
    except VisitError as error:
        return [wrong(PART, f"{error} (the score is kept all the same, and nobody sees it)")]
    return found or [well(PART, f"{where} takes and keeps what a table says (QoS 1, retained, wildcards)")]


async def _try(client: aiomqtt.Client, settings: BrokerSettings, table: str, scratch: str) -> list[Finding]:
    for needed in (request_topic(table), scratch):
        granted = number((await client.subscribe(needed, qos=1))[0])
        if granted >= _REFUSED:
            who = settings.username or "anybody without a user name"
            return [wrong(PART, f"it lets {who} not listen to {needed}: allow that in its access list")]
        if granted == 0:
            return [wrong(PART, "it grants no QoS 1, so a message can be lost on the way: use another broker")]
    try:
        await client.publish(scratch, "well?", qos=1, retain=True)
    except aiomqtt.MqttError:
        return [wrong(PART, "it does not acknowledge what is sent with QoS 1: use another broker")]
    live = await _next(client, scratch)
    if live is None:
        return [wrong(PART, f"it takes a message for {scratch} and passes it on to nobody: is writing there allowed?")]
    if live.qos == 0:
        return [wrong(PART, "it passes messages on without QoS 1, so one can be lost on the way: use another broker")]
    async with _listening(settings, scratch) as newcomer:
        kept = await _next(newcomer, scratch)
    if kept is None or not kept.retain:
        sentence = "it keeps no retained messages, so a display that comes later sees nothing until the score changes"
        return [wrong(PART, f"{sentence}: switch retained messages on, or use another broker")]
    async with _listening(settings, f"{BASE}/{table}/+") as newcomer:
        kept = await _next(newcomer, scratch)
        await client.publish(scratch, "and now?", qos=1, retain=True)
        seen = await _next(newcomer, scratch)
    if seen is None:
        return [note(PART, "it carries no wildcards: displays of others must subscribe to each topic by name")]
    if kept is None:
        return [note(PART, "it brings no retained messages to a wildcard: displays of others must subscribe by name")]
    return []


@asynccontextmanager
async def _listening(settings: BrokerSettings, pattern: str) -> AsyncIterator[aiomqtt.Client]:
    """A newcomer that has subscribed."""
    async with visit(settings) as client:
        await client.subscribe(pattern, qos=1)
        yield client


async def _next(client: aiomqtt.Client, wanted: str) -> aiomqtt.Message | None:
    """The next message of a topic; None where none comes in time."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            async for message in client.messages:
                if message.topic.value == wanted:
                    return message
    except TimeoutError:
        pass
    return None
