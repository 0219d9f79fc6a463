"""What a broker does and does not do for a table, tried with a topic of its own that is removed again.

Needed: QoS 1 both ways, a retained message for whoever subscribes to its topic by name, and messages as long as
a table's. What else a broker lacks is told by its consequence: the table works around it, and programs of others
may not. Each trial is a question with one answer, a finding or none.
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
from appliance.mqtt.versions import MQTT_5
from appliance.mqtt.visitor import VisitError, Visitor, visit
from appliance.tools.findings import Finding, note, well, wrong

PART = "broker"
PATIENCE_S = 3.0
ROOMY_BYTES, NEEDED_BYTES = 64 * 1024, 16 * 1024
"""What a message may come to: of all that a table says the word to Home Assistant is the longest."""
_REFUSED = 0x80


async def check_broker(settings: BrokerSettings, table: str) -> list[Finding]:
    """What the broker is good for; the first thing that a table cannot do without ends the look."""
    where = f"{settings.host}:{settings.port}"
    scratch = topic(table, f"doctor-{secrets.token_hex(4)}")
    try:
        async with visit(settings) as client:
            trial = _Trial(settings, table, scratch, client)
            try:
                missing = await trial.essentials()
                if missing is not None:
                    return [missing]
                found = [each async for each in trial.comforts()]
            finally:
                with contextlib.suppress(aiomqtt.MqttError):
                    await client.publish(scratch, None, qos=1, retain=True)
    except VisitError as error:
        return [wrong(PART, f"{error} (the score is kept all the same, and nobody sees it)")]
    does = f"{where} takes and keeps what a table says (QoS 1, retained"
    if not found:
        return [well(PART, f"{does}, wildcards, will, MQTT 5, {ROOMY_BYTES // 1024} kB)")]
    return [well(PART, f"{does})"), *found]


class _Trial:
    """One look at a broker, through `client`, which listens to the topic of the trial."""

    def __init__(self, settings: BrokerSettings, table: str, scratch: str, client: Visitor) -> None:
        self._settings = settings
        self._table = table
        self._scratch = scratch
        self._client = client
        self._roomy = False

    async def essentials(self) -> Finding | None:
        """What a table cannot do without, and the broker does not do."""
        client, scratch = self._client, self._scratch
        for needed in (request_topic(self._table), scratch):
            granted = number((await client.subscribe(needed, qos=1))[0])
            if granted >= _REFUSED:
                who = self._settings.username or "anybody without a user name"
                return wrong(PART, f"it lets {who} not listen to {needed}: allow that in its access list")
            if granted == 0:
                return wrong(PART, "it grants no QoS 1, so a message can be lost on the way: use another broker")
        try:
            await client.publish(scratch, "well?", qos=1, retain=True)
        except aiomqtt.MqttError:
            return wrong(PART, "it does not acknowledge what is sent with QoS 1: use another broker")
        live = await _next(client, scratch)
        if live is None:
            sentence = f"it takes a message for {scratch} and passes it on to nobody"
            return wrong(PART, f"{sentence}: is writing there allowed?")
        if live.qos == 0:
            return wrong(PART, "it passes messages on without QoS 1, so one can be lost on the way: use another broker")
        async with self._listening(scratch) as newcomer:
            kept = await _next(newcomer, scratch)
        if kept is None or not kept.retain:
            sentence = "it keeps no retained messages: a display that comes later sees nothing until the score changes"
            return wrong(PART, f"{sentence}; switch retained messages on, or use another broker")
        self._roomy = await self._carries(ROOMY_BYTES)
        if not self._roomy and not await self._carries(NEEDED_BYTES):
            return wrong(
                PART,
                f"it takes no message of {NEEDED_BYTES // 1024} kB, and what a table says can be so long: raise its "
                "limit (mosquitto: max_packet_size, message_size_limit)",
            )
        return None

    async def comforts(self) -> AsyncIterator[Finding]:
        """What others may miss."""
        for question in (self._size, self._wildcards, self._others, self._will, self._version_5):
            found = await question()
            if found is not None:
                yield found

    async def _size(self) -> Finding | None:
        if self._roomy:
            return None
        sentence = f"it takes no message of {ROOMY_BYTES // 1024} kB"
        return note(PART, f"{sentence}: what a table says is shorter; what others send through it may not be")

    async def _wildcards(self) -> Finding | None:
        async with self._listening(f"{BASE}/{self._table}/+") as newcomer:
            kept = await _next(newcomer, self._scratch)
            await self._client.publish(self._scratch, "and now?", qos=1, retain=True)
            seen = await _next(newcomer, self._scratch)
        if seen is None:
            return note(
                PART, "it carries no wildcards: displays and tools of others must subscribe to each topic by name"
            )
        if kept is None or not kept.retain:
            return note(
                PART,
                "it brings no retained messages to a wildcard: a display of others that subscribes with one stays "
                "empty until the score changes; let it name each topic, as the pages of the table do",
            )
        return None

    async def _others(self) -> Finding | None:
        """Whether a newcomer is spared what only others have asked for."""
        own = f"{self._scratch}-b"
        async with self._listening(own) as newcomer:
            await newcomer.publish(own, "mine", qos=1)
            first = await _next(newcomer, None)
        if first is not None and first.topic.value != own:
            return note(
                PART,
                "it sends newcomers what only others have asked for: a display that does not look at the topic may "
                "show something else, such as another table",
            )
        return None

    async def _will(self) -> Finding | None:
        will = aiomqtt.Will(self._scratch, b"gone", 1)
        with contextlib.suppress(VisitError):
            async with visit(self._settings, will=will) as crashing:
                crashing.vanish()
                async for _ in crashing.messages:
                    pass
        if await _next(self._client, self._scratch, b"gone") is None:
            return note(
                PART,
                "it keeps no will: a table that loses its power or its network looks online; displays tell by the "
                "age of its health (valid_for_s)",
            )
        return None

    async def _version_5(self) -> Finding | None:
        try:
            async with visit(self._settings, level=MQTT_5, patience_s=PATIENCE_S):
                return None
        except VisitError:
            return note(
                PART,
                "it speaks MQTT 3.1.1 only: set Home Assistant to 3.1.1 for it, and expect no answers at a topic that "
                "a request names; programs that insist on MQTT 5 cannot use it",
            )

    async def _carries(self, size: int) -> bool:
        """Whether a message of so many bytes comes through; one that is too long may cost the connection."""
        try:
            async with self._listening(self._scratch) as guest:
                payload = b"x" * size
                await guest.publish(self._scratch, payload, qos=1, timeout=PATIENCE_S)
                return await _next(guest, self._scratch, payload) is not None
        except (VisitError, aiomqtt.MqttError):
            return False

    @asynccontextmanager
    async def _listening(self, pattern: str) -> AsyncIterator[Visitor]:
        """A newcomer that has subscribed."""
        async with visit(self._settings) as client:
            await client.subscribe(pattern, qos=1)
            yield client


async def _next(client: Visitor, wanted: str | None, payload: bytes | None = None) -> aiomqtt.Message | None:
    """The next message of a topic, or of any, and with this payload where one is given; None where none comes."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            async for message in client.messages:
                if wanted in (None, message.topic.value) and payload in (None, message.payload):
                    return message
    except TimeoutError:
        pass
    return None
