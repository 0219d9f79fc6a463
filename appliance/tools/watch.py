"""`pocketbeam watch`: every beam of a running table, live, in a terminal; plain lines where output is none.

It asks the table for diagnostics, again and again for as long as it runs, so that they end by themselves when
nobody watches any more. A table that does not know them is watched by its health alone.
"""

import asyncio
import contextlib
import json
import secrets
import shutil
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

import aiomqtt

from appliance.mqtt.topics import request_topic, to_json, topic
from appliance.mqtt.transport import BrokerSettings
from appliance.mqtt.visitor import VisitError, visit
from appliance.tools.view import View

DIAGNOSTICS_S, RENEW_S = 30, 20.0
DRAW_S = 0.1
RETRY_S = 1.0
_LEVELS = ("availability", "line", "health", "info", "response")
_HOME, _REST_OF_LINE, _REST_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"
_CLEAR, _HIDE_CURSOR, _SHOW_CURSOR = "\x1b[2J", "\x1b[?25l", "\x1b[?25h"


@dataclass(frozen=True, slots=True)
class Watched:
    """A table, where it is heard, and the beams and buttons that are known beforehand."""

    table: str
    broker: BrokerSettings
    inputs: Sequence[str] = ()


class Watcher:
    """Keeps a view up to date and shows it, until it is told to stop."""

    def __init__(self, watched: Watched, out: IO[str]) -> None:
        """Nothing is connected yet."""
        self._watched = watched
        self._out = out
        self._draws = out.isatty()
        self._view = View(watched.table)
        for name in watched.inputs:
            self._view.wire(name)
        self._transaction = secrets.token_hex(8)
        self._subscribed: set[str] = set()
        self._trouble: str | None = None

    async def run(self) -> None:
        """Watch until cancelled; a broker that is away is looked for again."""
        drawing = asyncio.create_task(self._draw()) if self._draws else None
        try:
            if self._draws:
                print(_HIDE_CURSOR, _CLEAR, sep="", end="", file=self._out)
            while True:
                try:
                    async with visit(self._watched.broker) as client:
                        self._tell_trouble(None)
                        await self._follow(client)
                except VisitError as error:
                    self._tell_trouble(str(error))
                await asyncio.sleep(RETRY_S)
        finally:
            if drawing is not None:
                drawing.cancel()
                print(_SHOW_CURSOR, file=self._out, flush=True)

    async def _follow(self, client: aiomqtt.Client) -> None:
        self._subscribed.clear()
        for level in _LEVELS:
            await client.subscribe(topic(self._watched.table, level), qos=1)
        await self._subscribe(client, list(self._view.wires))
        asking = asyncio.create_task(self._ask(client))
        try:
            async for message in client.messages:
                payload = message.payload
                levels = message.topic.value.split("/")[2:]
                lines = self._hear(levels, payload if isinstance(payload, bytes) else b"")
                if not self._draws:
                    for line in lines:
                        print(line, file=self._out, flush=True)
                await self._subscribe(client, list(self._view.wires))
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    async def _subscribe(self, client: aiomqtt.Client, inputs: Sequence[str]) -> None:
        """By name: not every broker carries wildcards."""
        for name in inputs:
            if name not in self._subscribed:
                self._subscribed.add(name)
                await client.subscribe(topic(self._watched.table, "beam", name), qos=0)

    async def _ask(self, client: aiomqtt.Client) -> None:
        """Keep diagnostics on. A transaction that is asked again would only get its first answer again."""
        request = {"command": "diagnostics", "seconds": DIAGNOSTICS_S}
        while True:
            self._transaction = secrets.token_hex(8)
            payload = to_json({**request, "transaction": self._transaction})
            with contextlib.suppress(aiomqtt.MqttError):  # whoever reads the messages is told too
                await client.publish(request_topic(self._watched.table), payload, qos=1)
            await asyncio.sleep(RENEW_S)

    def _hear(self, levels: list[str], payload: bytes) -> list[str]:
        """The lines that a message is worth."""
        kind = levels[0]
        if kind in ("line", "availability"):
            return self._view.hear_text(kind, payload.decode("utf-8", "replace"))
        try:
            document: dict[str, Any] = json.loads(payload)
            match kind:
                case "health":
                    return self._view.hear_health(document, asyncio.get_running_loop().time())
                case "beam":
                    return self._view.hear_beam(document)
                case "info":
                    for beam in document["beams"]:
                        self._view.wire(beam["id"])
                case "response" if document["transaction"] == self._transaction and not document["ok"]:
                    self._view.remark = "this table tells no single passages: it is watched by its health alone"
                    return [self._view.remark]
        except (ValueError, LookupError, TypeError):
            return [f"{'/'.join(levels)} carries something that is no document of a table"]
        return []

    def _tell_trouble(self, sentence: str | None) -> None:
        if sentence == self._trouble:
            return
        self._trouble = self._view.remark = sentence
        if sentence is not None and not self._draws:
            print(sentence, file=self._out, flush=True)

    async def _draw(self) -> None:
        loop = asyncio.get_running_loop()
        shown: list[str] = []
        while True:
            columns, rows = shutil.get_terminal_size()
            screen = self._view.screen(loop.time(), columns, rows - 1)
            if screen != shown:
                shown = screen
                text = "".join(f"{line}{_REST_OF_LINE}\r\n" for line in screen)
                print(_HOME, text, _REST_OF_SCREEN, sep="", end="", file=self._out, flush=True)
            await asyncio.sleep(DRAW_S)


async def watch(watched: Watched, out: IO[str]) -> int:
    """Watch until SIGINT or SIGTERM, which is how it ends well; the exit status."""
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    watching = asyncio.create_task(Watcher(watched, out).run())
    ending = asyncio.create_task(stopping.wait())
    await asyncio.wait({watching, ending}, return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    watching.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await watching
    return 0
