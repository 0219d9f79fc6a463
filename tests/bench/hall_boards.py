"""The scoreboards of a hall: each follows one table, at whichever node of the cluster it finds.

A scoreboard subscribes by name to what it shows. A node of RabbitMQ keeps retained values
for itself: who connects to another node than the table gets none. So a scoreboard that has not heard each topic that
it shows a moment after it came asks for them with `sync`, and again until it has, each time after a longer wait:
hundreds that ask every moment keep a busy hall from answering. A state alone does not do: one that changes just then
comes by itself, and says nothing of the rest. It never goes back behind a `seq` that it has seen.
"""

import asyncio
import contextlib
import json
import random
import secrets
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import aiomqtt

from appliance.mqtt.topics import request_topic, to_json, topic

HOST = "127.0.0.1"
KEEPALIVE_S = 30
"""Hundreds of clients in one process on a busy machine may be slow to answer; a node that ends hangs up itself."""
ASK_AFTER_S = 1.0
MOST_S = 30.0
LEVELS = ("availability", "state", "health", "line")


@dataclass
class Scoreboard:
    """`ports`: its node's first, then those that it turns to when that one is away."""

    table: str
    ports: Sequence[int]
    shown: dict[str, str] = field(default_factory=dict)
    seq: int = -1
    received: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Of each state: its seq, its sum, the moment in nanoseconds, and since when it has listened."""
    availability: list[tuple[str, int]] = field(default_factory=list)
    messages: int = 0
    older: int = 0
    connects: int = 0
    asked: int = 0
    retained_at_first: int = 0
    since_ns: int = 0
    _told: set[str] = field(default_factory=set)

    async def follow(self, after_s: float) -> None:
        """Show the table until cancelled, from `after_s` on: nobody switches hundreds of displays on at once."""
        await asyncio.sleep(after_s)
        attempt = 0
        while True:
            port = self.ports[attempt % len(self.ports)]
            with contextlib.suppress(aiomqtt.MqttError, OSError):
                async with aiomqtt.Client(HOST, port, keepalive=KEEPALIVE_S, timeout=10) as client:
                    self.connects += 1
                    self._told.clear()
                    fresh = asyncio.Event()
                    asking = asyncio.create_task(self._ask(client, fresh))
                    try:
                        await client.subscribe([(topic(self.table, level), 1) for level in LEVELS])
                        self.since_ns = time.monotonic_ns()
                        async for message in client.messages:
                            self._hear(message, fresh)
                    finally:
                        asking.cancel()
                        await asyncio.gather(asking, return_exceptions=True)
            attempt += 1
            await asyncio.sleep(0.25)

    async def _ask(self, client: aiomqtt.Client, fresh: asyncio.Event) -> None:
        wait_s = ASK_AFTER_S * random.uniform(0.75, 1.25)
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(fresh.wait(), wait_s)
                return
            self.asked += 1
            request = to_json({"command": "sync", "transaction": secrets.token_hex(8)})
            await client.publish(request_topic(self.table), request, qos=1)
            wait_s = min(MOST_S, 3 * wait_s)

    def _hear(self, message: aiomqtt.Message, fresh: asyncio.Event) -> None:
        now_ns = time.monotonic_ns()
        payload = bytes(message.payload or b"").decode()  # type: ignore[arg-type]
        level = message.topic.value.rsplit("/", 1)[1]
        self.messages += 1
        self._told.add(level)
        if self._told.issuperset(LEVELS):
            fresh.set()
        if level == "state":
            seq = json.loads(payload)["seq"]
            self.retained_at_first += bool(message.retain)
            if seq < self.seq:
                self.older += 1
                return
            self.seq = seq
            self.received.append((seq, zlib.crc32(payload.encode()), now_ns, self.since_ns))
        elif level == "availability":
            self.availability.append((payload, now_ns))
        self.shown[level] = payload


def hush_the_library(loop: asyncio.AbstractEventLoop) -> None:
    """A connection that broke while it was made is known by then; the library's futures say it once more."""

    def hear(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if not isinstance(context.get("exception"), aiomqtt.MqttError | OSError | asyncio.CancelledError):
            loop.default_exception_handler(context)

    loop.set_exception_handler(hear)
