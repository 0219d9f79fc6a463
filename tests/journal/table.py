"""A whole daemon in this process, on a real journal in a real directory, with nobody between it and the test.

The table has no sensors and is scored by requests; what it publishes is caught where the broker would be.
"""

import asyncio
import contextlib
import json
import os
import subprocess
import tomllib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from appliance.clock import SystemClock
from appliance.config import from_document
from appliance.daemon import TableDaemon
from appliance.mqtt.topics import Message
from appliance.ports import REAL
from tests.journal.material import DEADLINE_S
from tests.support.validated import validate

Document = dict[str, Any]


class Caught:
    """What was published: the newest of each topic, and every event."""

    def __init__(self, on_request: Callable[[bytes, bool], None]) -> None:
        self.request = on_request
        self.latest: dict[str, Document] = {}
        self.events: list[Document] = []
        self.answers: dict[str, Document] = {}

    async def run(self) -> None:
        await asyncio.Event().wait()

    def publish(self, message: Message) -> None:
        topic = message.topic.split("/", 2)[2]
        content = validate(message.topic, message.payload or "")
        if topic == "event":
            self.events.append(content)
        elif topic == "response":
            self.answers[content["transaction"]] = content
        elif isinstance(content, dict):
            self.latest[topic] = content

    def republish(self) -> None:
        pass

    def counters(self) -> dict[str, int]:
        return {}


class Table:
    """A daemon that runs."""

    def __init__(self, daemon: TableDaemon, caught: Caught) -> None:
        self.daemon = daemon
        self.caught = caught
        self._asked = 0

    @property
    def journal(self) -> Document:
        found: Document = self.caught.latest["health"]["journal"]
        return found

    @property
    def pocketed(self) -> int:
        """White's count: one for each stroke that was scored."""
        return int(self.caught.latest["state"]["rules"]["sides"]["A"]["pocketed"])

    async def until(self, condition: Callable[[], Any]) -> None:
        deadline = asyncio.get_running_loop().time() + DEADLINE_S
        while not condition():
            assert asyncio.get_running_loop().time() < deadline, (self.caught.latest.get("health"), self.names())
            await asyncio.sleep(0.005)

    async def ask(self, command: str, **fields: Any) -> Document:
        self._asked += 1
        transaction = f"{self.daemon.engine.state.seq}-{self._asked}"
        self.caught.request(json.dumps({"transaction": transaction, "command": command, **fields}).encode(), False)
        await self.until(lambda: transaction in self.caught.answers)
        return self.caught.answers[transaction]

    async def score(self, strokes: int = 1) -> None:
        for _ in range(strokes):
            answer = await self.ask("stroke", pocketed=["white"])
            assert answer["ok"], answer

    def names(self) -> list[str]:
        return [event["event"] for event in self.caught.events]

    def told(self, name: str) -> list[Document]:
        return [event for event in self.caught.events if event["event"] == name]


@asynccontextmanager
async def playing(directory: Path, *, stop: bool = True) -> AsyncIterator[Table]:
    document = tomllib.loads(
        f'[table]\nid = "club-1"\ngame = "club_carrom"\nplayers = ["Asha", "Ben"]\nquiet_time_s = 0\n'
        f'state_dir = "{directory}"\n'
    )
    caught: list[Caught] = []

    def publisher(_settings: Any, on_request: Callable[[bytes, bool], None], _on_connection: Any) -> Caught:
        caught.append(Caught(on_request))
        return caught[0]

    settings = from_document(document, directory)
    daemon = TableDaemon(settings, SystemClock(), replace(REAL, publisher=publisher))
    await daemon.start()
    try:
        yield Table(daemon, caught[0])
    finally:
        if stop:
            await daemon.stop()


@contextlib.contextmanager
def small_disk(directory: Path, size: str) -> Iterator[Path | None]:
    """A file system of that size in memory; None where this process may not have one."""
    directory.mkdir()
    mounted = (
        os.geteuid() == 0
        and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(directory)], check=False, capture_output=True
        ).returncode
        == 0
    )
    try:
        yield directory if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(directory)], check=True)


def remount(disk: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(disk)], check=True)


def plug(disk: Path, place: Path) -> None:
    """Have the disk's files appear at another place too."""
    subprocess.run(["mount", "--bind", str(disk), str(place)], check=True)


def unplug(place: Path) -> None:
    """Have them disappear, whoever has them open."""
    subprocess.run(["umount", "--lazy", str(place)], check=True)
