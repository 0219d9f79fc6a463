"""A broker at the other end of a pair of sockets that fails its visitors where a script says, as a dying one does.

Meant for virtual time: such a pair hands over at once, so that nothing takes time but what the visitors wait for.
The library that they use tells its time by itself; `in_virtual_time` gives it the loop's.
"""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

import pytest

from appliance.mqtt.transport import UnreachableError
from appliance.mqtt.versions import MQTT_5
from tests.support.ring1 import play


class At(Enum):
    """The step at which it happens: what is answered, or else sent."""

    ACCEPT = auto()
    CONNECT = auto()
    SUBSCRIBE = auto()
    RETAINED = auto()
    PUBLISH = auto()


class How(Enum):
    """What becomes of the answer of that step, and of the connection."""

    REFUSES = "nobody listens"
    CLOSES = "closes"
    BREAKS_OFF = "closes in the middle of the answer"
    SILENT = "says nothing any more"
    FALLS_SILENT = "says nothing any more from the middle of the answer on"
    FORGETS = "leaves out this one, and is well otherwise"


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to one connection, after that many of the same step that went well."""

    at: At
    how: How
    after: int = 0

    def __str__(self) -> str:
        """For the names of tests."""
        return f"{self.at.name.lower()} {self.after}: {self.how.value}"


@dataclass(eq=False, slots=True)
class _Visit:
    """One connection, seen from the broker."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    fault: Fault | None
    level: int = 0
    well: int = 0
    topics: set[str] = field(default_factory=set)
    silent: bool = False

    def answer(self, at: At | None, packet: bytes) -> None:
        """Say something, as far as the script lets it; EOFError where it hangs up."""
        if self.silent:
            return
        due = self.fault is not None and self.fault.at is at
        if self.fault is None or not due or self.well < self.fault.after:
            self.well += due
            self.writer.write(packet)
            return
        how = self.fault.how
        if how is How.FORGETS:
            self.fault = None
        if how in (How.BREAKS_OFF, How.FALLS_SILENT):
            self.writer.write(packet[: len(packet) // 2])
        self.silent = how in (How.SILENT, How.FALLS_SILENT)
        if how in (How.CLOSES, How.BREAKS_OFF):
            raise EOFError


class ScriptedBroker:
    """It fails its first visitors by `faults`, one each, and is well from then on.

    `retained`: what it keeps; `heard`: the topics of what it was told, in order.
    """

    def __init__(self, *faults: Fault, retained: Mapping[str, bytes] | None = None) -> None:
        """Nobody is there yet."""
        self.retained = dict(retained or {})
        self.heard: list[str] = []
        self._faults = list(faults)
        self._visits: list[_Visit] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Condition()

    async def open_socket(self, host: str, port: int, context: object) -> socket.socket:
        """What takes the place of `transport.open_socket`."""
        fault = self._faults.pop(0) if self._faults else None
        if fault == Fault(At.ACCEPT, How.REFUSES):
            raise UnreachableError("nothing listens")
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        serving = asyncio.create_task(self._serve(ours, fault))
        self._tasks.add(serving)
        serving.add_done_callback(self._tasks.discard)
        return theirs

    async def until(self, condition: Callable[[], Any]) -> None:
        """Wait until something is true of what this broker has heard."""
        async with self._changed:
            await self._changed.wait_for(condition)

    async def say(self, topic: str, payload: bytes) -> None:
        """What another client publishes, retained."""
        self.retained[topic] = payload
        for visit in self._visits:
            if topic in visit.topics:
                visit.answer(None, _publish(visit, topic, payload, retain=False))

    async def end(self) -> None:
        """Hang up on everybody."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, sock: socket.socket, fault: Fault | None) -> None:
        if fault == Fault(At.ACCEPT, How.CLOSES):
            sock.close()
            return
        visit = _Visit(*await asyncio.open_connection(sock=sock), fault)
        self._visits.append(visit)
        try:
            with contextlib.suppress(EOFError, OSError):
                while True:
                    first, body = await _packet(visit.reader)
                    self._hear(visit, first, body)
                    async with self._changed:
                        self._changed.notify_all()
        finally:
            self._visits.remove(visit)
            visit.writer.transport.abort()

    def _hear(self, visit: _Visit, first: int, body: bytes) -> None:
        match first >> 4:
            case 1:
                visit.level = body[6]
                visit.answer(At.CONNECT, b"\x20\x03\0\0\0" if visit.level == MQTT_5 else b"\x20\x02\0\0")
            case 8:
                topics = _filters(visit.level, body)
                codes = (b"\0" if visit.level == MQTT_5 else b"") + b"\1" * len(topics)
                visit.answer(At.SUBSCRIBE, bytes([0x90, 2 + len(codes)]) + body[:2] + codes)
                visit.topics.update(topics)
                for topic in topics:
                    if topic in self.retained:
                        visit.answer(At.RETAINED, _publish(visit, topic, self.retained[topic], retain=True))
            case 3:
                topic, message_id, payload = _published(visit.level, first, body)
                self.heard.append(topic)
                if message_id:
                    visit.answer(At.PUBLISH, b"\x40\x02" + message_id)
                if first & 1 and not visit.silent:
                    self.retained[topic] = payload
            case 12:
                visit.answer(None, b"\xd0\0")
            case 14:
                raise EOFError


async def _packet(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    (first,) = await reader.readexactly(1)
    length = shift = 0
    while True:
        (byte,) = await reader.readexactly(1)
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return first, await reader.readexactly(length)


def _text(data: bytes) -> tuple[str, bytes]:
    end = 2 + int.from_bytes(data[:2], "big")
    return data[2:end].decode(), data[end:]


def _without_properties(level: int, data: bytes) -> bytes:
    """None of ours is longer than 127 bytes."""
    return data[1 + data[0] :] if level == MQTT_5 else data


def _filters(level: int, body: bytes) -> list[str]:
    rest, topics = _without_properties(level, body[2:]), []
    while rest:
        topic, rest = _text(rest)
        topics.append(topic)
        rest = rest[1:]
    return topics


def _published(level: int, first: int, body: bytes) -> tuple[str, bytes, bytes]:
    topic, rest = _text(body)
    size = 2 if first & 0x06 else 0
    return topic, rest[:size], _without_properties(level, rest[size:])


def _publish(visit: _Visit, topic: str, payload: bytes, *, retain: bool) -> bytes:
    name = topic.encode()
    body = len(name).to_bytes(2, "big") + name + (b"\0" if visit.level == MQTT_5 else b"") + payload
    length, size = len(body), b""
    while length > 0x7F:
        size += bytes([length & 0x7F | 0x80])
        length >>= 7
    return bytes([0x31 if retain else 0x30]) + size + bytes([length]) + body


def in_virtual_time(broker: ScriptedBroker, main: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Run `main` in virtual time, where every connection leads to `broker` and the library goes by the same time."""

    async def run() -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("appliance.mqtt.client.open_socket", broker.open_socket)
            patch.setattr("paho.mqtt.client.time_func", asyncio.get_running_loop().time)
            try:
                return await main()
            finally:
                await broker.end()

    return play(run())
