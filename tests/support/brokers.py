"""Real brokers on free loopback ports, and a subscriber that records what it hears."""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from appliance.mqtt.broker import EmbeddedBroker
from tests.support.ports import free_port

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Settings:
    """A table's `[mqtt]` section."""

    port: int
    host: str = HOST
    username: str | None = None
    password_file: Path | None = None
    tls: Any = None


def listens(port: int) -> bool:
    """Whether somebody takes a connection at a loopback port."""
    with contextlib.suppress(OSError), socket.create_connection((HOST, port), 0.2):
        return True
    return False


class Mosquitto:
    """A mosquitto process with its configuration in `directory`; it may be stopped and started again."""

    def __init__(self, directory: Path, *, persistence: bool = False, extra: str = "") -> None:
        program = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
        if program is None:
            pytest.fail("mosquitto is not installed: apt-get install mosquitto")
        self._program = program
        self._directory = directory
        self._persistence = persistence
        self._extra = extra
        self._process: subprocess.Popen[bytes] | None = None
        self._known = False
        self.port = free_port()

    @property
    def settings(self) -> Settings:
        return Settings(self.port)

    def start(self) -> int:
        """Starts it and returns the port once it answers.

        A port taken meanwhile is replaced the first time; later it is waited for, because everybody else looks there.
        """
        for _ in range(5):
            self._process = self._spawn()
            if self._wait_until_it_listens():
                self._known = True
                return self.port
            self.stop()
            if self._known:
                time.sleep(0.5)
            else:
                self.port = free_port()
        pytest.fail(f"mosquitto does not start at port {self.port}: {self.log.read_text(errors='replace')}")

    def stop(self) -> None:
        """An orderly end (persistence is written); one that is frozen is thawed first."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def kill(self) -> None:
        """An end without a word."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._process = None

    def freeze(self) -> None:
        """It stays connected and says nothing any more, like a cable pulled far away."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on where it was frozen."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    @property
    def log(self) -> Path:
        """What it writes down; `log_type all` in `extra` makes it tell everything."""
        return self._directory / "mosquitto.log"

    def _spawn(self) -> subprocess.Popen[bytes]:
        configuration = self._directory / "mosquitto.conf"
        lines = [
            f"listener {self.port} {HOST}",
            "allow_anonymous true",
            "set_tcp_nodelay true",
            f"persistence {'true' if self._persistence else 'false'}",
            f"persistence_location {self._directory}/",
            self._extra,
        ]
        # started as root it would give its rights up and lose its own directory
        if os.geteuid() == 0:
            lines.append("user root")
        configuration.write_text("\n".join(lines) + "\n")
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [self._program, "-c", str(configuration)], stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )

    def _wait_until_it_listens(self) -> bool:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and self._process and self._process.poll() is None:
            if listens(self.port):
                return True
            time.sleep(0.01)
        return False


@contextlib.contextmanager
def mosquitto(directory: Path, *, persistence: bool = False, extra: str = "") -> Iterator[Mosquitto]:
    """A running mosquitto; `extra` is added to its configuration (`max_packet_size 4096`)."""
    broker = Mosquitto(directory, persistence=persistence, extra=extra)
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()


@contextlib.asynccontextmanager
async def embedded(port: int = 0) -> AsyncIterator[int]:
    """The running embedded broker's port."""
    broker = EmbeddedBroker(HOST, port)
    bound = await broker.start()
    try:
        yield bound
    finally:
        await broker.stop()


@dataclass(frozen=True, slots=True)
class Heard:
    """One received message."""

    topic: str
    payload: str
    retained: bool


class Recorder:
    """Everything that arrived, in order; `retained` is what a newcomer would see by these messages.

    `only`: filters; what matches none of them is left out. The embedded broker sends more than was asked for.
    """

    def __init__(self, client: aiomqtt.Client, only: tuple[str, ...] = ()) -> None:
        self.client = client
        self._only = only
        self._arrived = asyncio.Condition()
        self.messages: list[Heard] = []

    @property
    def latest(self) -> dict[str, str]:
        """The newest payload of each topic."""
        return {heard.topic: heard.payload for heard in self.messages}

    def payloads(self, topic: str) -> list[str]:
        """What arrived under one topic, in order."""
        return [heard.payload for heard in self.messages if heard.topic == topic]

    async def wait_for(self, predicate: Callable[["Recorder"], Any], within_s: float = 10.0) -> Any:
        """The predicate's first true value; a failed test with what was heard instead after `within_s` seconds."""
        try:
            async with asyncio.timeout(within_s), self._arrived:
                return await self._arrived.wait_for(lambda: predicate(self))
        except TimeoutError:
            heard = "\n".join(f"  {heard}" for heard in self.messages[-40:])
            raise AssertionError(f"this did not come about in {within_s} s; heard:\n{heard}") from None

    async def publish(self, topic: str, payload: str | bytes | None, *, qos: int = 1, retain: bool = False) -> None:
        """Says something on the same connection."""
        await self.client.publish(topic, payload, qos=qos, retain=retain)

    async def listen(self) -> None:
        """Records until the connection ends."""
        with contextlib.suppress(aiomqtt.MqttError):
            async for message in self.client.messages:
                if self._only and not any(message.topic.matches(each) for each in self._only):
                    continue
                payload = message.payload
                text = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
                async with self._arrived:
                    self.messages.append(Heard(message.topic.value, text, bool(message.retain)))
                    self._arrived.notify_all()


@contextlib.asynccontextmanager
async def recorder(port: int, *topics: str, qos: int = 1, only_asked: bool = False) -> AsyncIterator[Recorder]:
    """A subscriber to `topics` (everything by default) that records from the moment this is entered."""
    async with aiomqtt.Client(HOST, port) as client:
        recording = Recorder(client, topics if only_asked else ())
        listening = asyncio.create_task(recording.listen())
        try:
            for topic in topics or ("#",):
                await client.subscribe(topic, qos=qos)
            yield recording
        finally:
            listening.cancel()
            await asyncio.wait({listening})


async def until(condition: Callable[[], Any], within_s: float = 10.0, *, what: str = "") -> None:
    """Waits until something in this process is true; for what comes over a broker, use a Recorder."""
    try:
        async with asyncio.timeout(within_s):
            while not condition():  # noqa: ASYNC110 - anything in this process may make it true
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"{what or 'a condition'} did not come about in {within_s} s") from None


def child_table(port: int, table: str = "club-1") -> "subprocess.Popen[bytes]":
    """The link of a table in a process of its own, which a test can kill without a word."""
    program = (
        "import asyncio, sys\n"
        "from appliance.mqtt.client import MqttLink\n"
        "from tests.support.brokers import Settings\n"
        "link = MqttLink(Settings(int(sys.argv[1])), sys.argv[2], on_request=print, on_connection=print)\n"
        "asyncio.run(link.run())\n"
    )
    return subprocess.Popen([sys.executable, "-c", program, str(port), table], stdout=subprocess.DEVNULL)
