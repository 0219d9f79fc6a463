"""`pocketbeam bridge`: the broker's side of bridges. Each has a connection of its own, and so a will of its own.

The table's topics are subscribed to by name, each of them: not every broker brings what it keeps to a wildcard.
"""

import asyncio
import contextlib
import logging
import random
import signal
from collections.abc import Sequence

import aiomqtt

from appliance.bridges.choose import Bridge
from appliance.mqtt.backoff import Backoff
from appliance.mqtt.client import number
from appliance.mqtt.topics import Message
from appliance.mqtt.versions import MQTT_5, Outcome, next_attempt
from appliance.mqtt.visitor import VisitError, Visitor, visit

SILENT_S = 10.0
"""A table that has said nothing for so long after a new connection is remarked on."""
FAREWELL_S = 1.0
_REFUSED = 0x80

_log = logging.getLogger(__name__)


class Running:
    """One bridge and its connection."""

    def __init__(self, bridge: Bridge) -> None:
        """Nothing is connected yet."""
        self._bridge = bridge
        self._follower = bridge.follower
        self._where = f"{bridge.broker.host}:{bridge.broker.port}"
        self._backoff = Backoff()
        self._level = MQTT_5
        self._not_allowed: set[str] = set()
        self._trouble = ""
        self._unreadable = 0

    async def run(self) -> None:
        """Kept up until it is cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            began_at: float | None = None
            outcome, problem = Outcome.WELCOMED, ""
            try:
                async with visit(self._bridge.broker, will=self._will(), level=self._level) as client:
                    began_at = loop.time()
                    await self._follow(client)
            except VisitError as error:
                outcome, problem = error.outcome, str(error)
            tried = self._level
            self._level, at_once = next_attempt(tried, outcome)
            if at_once:
                continue
            # A broker that only does not know version 5 is well; the next attempt shows.
            if not (tried == MQTT_5 and outcome is Outcome.NO_ANSWER):
                self._tell(problem)
            reached = outcome is not Outcome.NOT_REACHED
            held_s = 0.0 if began_at is None else loop.time() - began_at
            await asyncio.sleep(self._backoff.next_s(reached=reached, held_s=held_s, random=random.random()))

    def _will(self) -> aiomqtt.Will | None:
        for message in self._follower.mapper.clear():
            return aiomqtt.Will(message.topic, message.payload, message.qos, message.retain)
        return None

    async def _follow(self, client: Visitor) -> None:
        self._follower.connected()
        for topic in self._follower.topics:
            granted = await client.subscribe(topic, qos=1)
            if any(number(code) >= _REFUSED for code in granted):
                raise VisitError(f"the broker at {self._where} lets nobody listen to {topic}")
        self._trouble = ""
        _log.info('%s follows the table "%s" at %s', self._bridge.name, self._bridge.table, self._where)
        beside = [asyncio.create_task(self._remark()), asyncio.create_task(self._keep_up(client))]
        try:
            async for message in client.messages:
                payload = message.payload if isinstance(message.payload, bytes) else b""
                await self._say(client, self._follower.hear(message.topic.value, payload, bool(message.retain)))
                self._count(message.topic.value)
        except asyncio.CancelledError:
            with contextlib.suppress(aiomqtt.MqttError, TimeoutError):
                async with asyncio.timeout(FAREWELL_S):
                    await self._say(client, self._follower.mapper.clear())
            raise
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)

    async def _keep_up(self, client: Visitor) -> None:
        """Say what stands again and again, where the device needs it; whoever reads is told of a broken connection."""
        if (every_s := self._follower.mapper.refresh_s) is not None:
            while True:
                await asyncio.sleep(every_s)
                with contextlib.suppress(aiomqtt.MqttError):
                    await self._say(client, self._follower.again())

    async def _say(self, client: Visitor, messages: Sequence[Message]) -> None:
        for message in messages:
            refused = client.refused
            await client.publish(message.topic, message.payload, message.qos, message.retain)
            if client.refused != refused and message.topic not in self._not_allowed:
                self._not_allowed.add(message.topic)
                _log.warning("the broker at %s lets this account not write to %s", self._where, message.topic)

    async def _remark(self) -> None:
        await asyncio.sleep(SILENT_S)
        if not self._follower.heard:
            table = self._bridge.table
            _log.warning('nothing is heard of the table "%s" at %s: does it run with this broker?', table, self._where)

    def _count(self, topic: str) -> None:
        if self._follower.unreadable != self._unreadable:
            self._unreadable = self._follower.unreadable
            _log.warning("%s carries something that is no document of a table", topic)

    def _tell(self, sentence: str) -> None:
        """Say what is wrong, once for as long as it stays the same."""
        if sentence != self._trouble:
            self._trouble = sentence
            _log.warning("%s: %s", self._bridge.name, sentence)


async def _run(bridges: Sequence[Bridge]) -> None:
    stopping = asyncio.Event()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(signal_number, stopping.set)
    running = [asyncio.create_task(Running(bridge).run()) for bridge in bridges]
    ending = asyncio.create_task(stopping.wait())
    try:
        done, _ = await asyncio.wait({ending, *running}, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in (ending, *running):
            task.cancel()
        await asyncio.gather(ending, *running, return_exceptions=True)


def run(bridges: Sequence[Bridge]) -> int:
    """Run until SIGINT or SIGTERM, which is how a bridge ends well; the exit status."""
    asyncio.run(_run(bridges))
    return 0
