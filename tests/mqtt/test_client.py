"""The connection to real brokers: nothing stale, nothing lost silently, and no broker's fault stops a table."""

import asyncio
import contextlib
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from appliance.mqtt.client import MqttLink
from appliance.mqtt.topics import Message
from appliance.mqtt.versions import MQTT_311
from tests.support import brokers
from tests.support.brokers import HOST, Mosquitto, Recorder, Settings, child_table, recorder, until
from tests.support.certificates import certificate
from tests.support.links import LinkedTable
from tests.support.ports import free_port

pytestmark = pytest.mark.real

AVAILABILITY = "pocketbeam/club-1/availability"
STATE = "pocketbeam/club-1/state"
LINE = "pocketbeam/club-1/line"
EVENT = "pocketbeam/club-1/event"
REQUEST = "pocketbeam/club-1/request"


def value(topic: str, payload: str | None) -> Message:
    return Message(topic, payload, True, 1)


def event(payload: str) -> Message:
    return Message(EVENT, payload, False, 1)


@contextlib.asynccontextmanager
async def table(settings: Settings, **options: Any) -> AsyncIterator[LinkedTable]:
    """A running link, cancelled at the end: that it then returns by itself is part of every test."""
    made = LinkedTable(
        MqttLink(
            settings,
            "club-1",
            on_request=lambda payload, retained: made.requests.append((payload, retained)),
            on_connection=lambda connected, reason: made.news.append((connected, reason)),
            **options,
        )
    )
    running = asyncio.create_task(made.link.run())
    try:
        yield made
    finally:
        running.cancel()
        await asyncio.wait_for(running, 10)
        await until(lambda: not left_behind(), what="the end of the link's tasks")


def left_behind() -> list[str]:
    """Tasks of links that still run."""
    names = (str(getattr(task.get_coro(), "__qualname__", "")) for task in asyncio.all_tasks())
    return [name for name in names if name.startswith(("Connection.", "MqttLink."))]


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Mosquitto]:
    with brokers.mosquitto(tmp_path) as broker:
        yield broker


async def snapshot(port: int, *, expect: int) -> dict[str, str]:
    """What a newcomer is told by the broker alone, as soon as that is so many topics."""
    told: dict[str, str] = {}
    async with asyncio.timeout(10):
        while len(told) < expect:
            async with recorder(port, "#", "done") as heard:
                await heard.publish("done", "")
                await heard.wait_for(lambda heard: "done" in heard.latest)
                told = {message.topic: message.payload for message in heard.messages if message.retained}
    return told


def test_birth_then_state_then_the_rest_and_offline_at_the_end(mosquitto: Mosquitto) -> None:
    async def run() -> None:
        async with recorder(mosquitto.port) as heard:
            async with table(mosquitto.settings) as club:
                club.link.publish(value(LINE, "l"))
                club.link.publish(value(STATE, "s"))
                club.link.publish(event("e"))
                await heard.wait_for(lambda heard: len(heard.messages) == 4)
            await heard.wait_for(lambda heard: heard.latest[AVAILABILITY] == "offline")
            assert [(m.topic, m.payload) for m in heard.messages] == [
                (AVAILABILITY, "online"),
                (STATE, "s"),
                (LINE, "l"),
                (EVENT, "e"),
                (AVAILABILITY, "offline"),
            ]
            assert club.news == [(True, "")]
        assert await snapshot(mosquitto.port, expect=3) == {AVAILABILITY: "offline", STATE: "s", LINE: "l"}

    asyncio.run(run())


def test_what_waits_is_sent_before_the_goodbye(mosquitto: Mosquitto) -> None:
    async def run() -> None:
        async with recorder(mosquitto.port) as heard:
            async with table(mosquitto.settings) as club:
                await until(lambda: club.connected)
                for number in range(300):
                    club.link.publish(event(str(number)))
            await heard.wait_for(lambda heard: heard.latest.get(AVAILABILITY) == "offline")
            assert heard.payloads(EVENT) == [str(number) for number in range(300)]

    asyncio.run(run())


def test_a_publish_is_in_the_socket_when_it_returns(mosquitto: Mosquitto) -> None:
    """The loop is held after the publish; the subscriber, another process, hears of it all the same."""

    async def run() -> None:
        async with table(mosquitto.settings) as club:
            await until(lambda: club.connected)
            with subscriber(mosquitto.port) as listener:
                assert listener.stdout is not None
                lines = iter(listener.stdout.readline, "")
                heard = [next(line for line in lines if "received SUBACK" in line)]
                club.link.publish(event("now"))
                heard += lines
                assert "now\n" in heard, heard
                assert listener.wait(10) == 0

    asyncio.run(run())


def subscriber(port: int) -> "subprocess.Popen[str]":
    """Another process that hears one event and ends."""
    command = f"stdbuf -oL mosquitto_sub -h {HOST} -p {port} -q 1 -C 1 -W 10 -d -t {EVENT}"
    return subprocess.Popen(command.split(), stdout=subprocess.PIPE, text=True)


def test_the_will_speaks_for_a_table_that_was_killed(mosquitto: Mosquitto) -> None:
    async def run() -> None:
        async with recorder(mosquitto.port) as heard:
            with child_table(mosquitto.port) as child:
                await heard.wait_for(lambda heard: heard.payloads(AVAILABILITY) == ["online"])
                child.kill()
            await heard.wait_for(lambda heard: heard.payloads(AVAILABILITY) == ["online", "offline"])
            # and a newcomer after the next start is not left with the will
            async with table(mosquitto.settings):
                await heard.wait_for(lambda heard: len(heard.payloads(AVAILABILITY)) == 3)
                assert await snapshot(mosquitto.port, expect=1) == {AVAILABILITY: "online"}

    asyncio.run(run())


def test_a_broker_that_forgot_everything_is_told_again(mosquitto: Mosquitto) -> None:
    async def run() -> None:
        async with table(mosquitto.settings) as club:
            club.link.publish(value(STATE, "s1"))
            club.link.publish(value(LINE, "l1"))
            club.link.publish(value("pocketbeam/club-1/score/1", None))
            await until(lambda: club.connected)
            for _ in range(2):
                mosquitto.kill()
                await until(lambda: not club.connected)
                mosquitto.start()
                restarted = time.monotonic()
                told = await snapshot(mosquitto.port, expect=3)
                assert told == {AVAILABILITY: "online", STATE: "s1", LINE: "l1"}
                assert time.monotonic() - restarted < 5
            assert club.link.counters()["connects"] == 3
            assert [connected for connected, _ in club.news] == [True, False, True, False, True]
            assert "closed the connection" in club.news[1][1]

    asyncio.run(run())


def test_after_an_outage_there_is_no_backlog_of_values(mosquitto: Mosquitto) -> None:
    async def run() -> None:
        async with table(mosquitto.settings) as club:
            await until(lambda: club.connected)
            mosquitto.stop()
            await until(lambda: not club.connected)
            for number in range(86_400):
                club.link.publish(value(STATE, f"s{number}"))
            for number in range(1500):
                club.link.publish(event(str(number)))
            assert club.link.counters()["queued"] == 1000
            assert club.link.counters()["dropped"] == 500
            mosquitto.start()
            async with recorder(mosquitto.port) as heard:
                await heard.wait_for(lambda heard: STATE in heard.latest)
                assert heard.payloads(STATE) == ["s86399"]
            await until(lambda: club.link.counters()["queued"] == 0)

    asyncio.run(run())


class CutWire:
    """A TCP relay to a broker that can be cut, so that the broker itself forgets nothing."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._writers: list[asyncio.StreamWriter] = []
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.passed = 0
        self.cut_after: int | None = None

    async def __aenter__(self) -> "CutWire":
        self._server = await asyncio.start_server(self._serve, HOST, 0)
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        if self._tasks:
            await asyncio.wait(self._tasks)

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        there_reader, there_writer = await asyncio.open_connection(HOST, self._target)
        self._writers += [writer, there_writer]
        await asyncio.gather(self._pipe(reader, there_writer, count=True), self._pipe(there_reader, writer))

    async def _pipe(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, count: bool = False) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(512):
                if count and self.cut_after is not None:
                    left = self.cut_after - self.passed
                    data = data[: max(left, 0)]
                    self.passed += len(data)
                writer.write(data)
                if count and self.cut_after is not None and self.passed >= self.cut_after:
                    await writer.drain()
                    self.cut()
        writer.transport.abort()


def test_a_connection_cut_in_the_middle_of_anything_loses_no_event(mosquitto: Mosquitto) -> None:
    """Cut after every so many bytes; each event arrives, in order at its first arrival, the newest value last."""
    rounds = 12

    async def run() -> None:
        async with (
            CutWire(mosquitto.port) as wire,
            recorder(mosquitto.port) as heard,
            table(Settings(wire.port)) as club,
        ):
            for number in range(rounds):
                await until(lambda: club.connected)
                wire.passed, wire.cut_after = 0, 7 + 41 * number
                for part in range(20):
                    club.link.publish(event(f"{number}.{part}"))
                    club.link.publish(value(STATE, f"{number}.{part}"))
                await until(lambda: not club.connected)
                wire.cut_after = None
                # the waits grow with each cut; they are tried elsewhere
                club.link._backoff.rejections = 0
            last = f"{rounds - 1}.19"
            await heard.wait_for(lambda heard: last in heard.payloads(EVENT) and heard.latest[STATE] == last)
            expected = [f"{number}.{part}" for number in range(rounds) for part in range(20)]
            assert list(dict.fromkeys(heard.payloads(EVENT))) == expected

    asyncio.run(run())


def test_a_request_reaches_the_table_and_a_retained_one_is_marked(mosquitto: Mosquitto) -> None:
    async def run() -> None:
        async with recorder(mosquitto.port) as heard:
            await heard.publish(REQUEST, b"old", retain=True)
            async with table(mosquitto.settings) as club:
                await until(lambda: club.requests == [(b"old", True)])
                await heard.publish(REQUEST, b"\xff{}")
                await heard.publish(REQUEST, b"")
                await until(lambda: club.requests[1:] == [(b"\xff{}", False), (b"", False)])
                await heard.publish(REQUEST, b"new", retain=True)
                await heard.publish(REQUEST, None, retain=True)
                await until(lambda: club.requests[3:] == [(b"new", True), (b"", True)])

    asyncio.run(run())


def test_a_table_that_answers_from_within_a_request(mosquitto: Mosquitto) -> None:
    async def run() -> None:
        link: MqttLink

        def answer(payload: bytes, retained: bool) -> None:
            link.publish(event(payload.decode()))

        link = MqttLink(mosquitto.settings, "club-1", on_request=answer, on_connection=lambda *news: None)
        running = asyncio.create_task(link.run())
        async with recorder(mosquitto.port) as heard:
            await heard.wait_for(lambda heard: heard.latest.get(AVAILABILITY) == "online")
            for number in range(20):
                await heard.publish(REQUEST, str(number))
            await heard.wait_for(lambda heard: len(heard.payloads(EVENT)) == 20)
            assert heard.payloads(EVENT) == [str(number) for number in range(20)]
        running.cancel()
        await running

    asyncio.run(run())


def test_hooks_that_raise_are_counted_and_end_nothing(mosquitto: Mosquitto, caplog: pytest.LogCaptureFixture) -> None:
    def fail(*anything: object) -> None:
        raise RuntimeError("broken hook")

    async def run() -> None:
        link = MqttLink(mosquitto.settings, "club-1", on_request=fail, on_connection=fail)
        running = asyncio.create_task(link.run())
        async with recorder(mosquitto.port) as heard:
            await heard.wait_for(lambda heard: heard.latest.get(AVAILABILITY) == "online")
            await heard.publish(REQUEST, b"x")
            await until(lambda: link.counters()["hook_errors"] == 2)
            link.publish(event("still here"))
            await heard.wait_for(lambda heard: heard.payloads(EVENT) == ["still here"])
        running.cancel()
        await running

    asyncio.run(run())
    assert "broken hook" in caplog.text


def test_a_broker_that_is_absent_at_the_start_is_found_when_it_comes(tmp_path: Path) -> None:
    broker = Mosquitto(tmp_path)

    async def run() -> None:
        async with table(broker.settings) as club:
            await until(lambda: club.link.counters()["failures"] >= 2)
            assert club.news == [(False, f"nothing listens at {HOST}:{broker.port}: is the broker running?")]
            club.link.publish(value(STATE, "s"))
            broker.start()
            try:
                await until(lambda: club.connected)
                assert await snapshot(broker.port, expect=2) == {AVAILABILITY: "online", STATE: "s"}
            finally:
                broker.stop()

    asyncio.run(run())


class Polite:
    """A broker that answers everything in MQTT 3.1.1, until it is told to be silent; `granted` is its word
    on listening, and `then` what it says after that.
    """

    def __init__(self, granted: int = 1, then: bytes = b"") -> None:
        self.granted = granted
        self.then = then
        self.pings = 0
        self.silent = False

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                kind, length = await reader.readexactly(2)
                body = await reader.readexactly(length)
                self.pings += kind == 0xC0
                if not self.silent:
                    writer.write(self._answer(kind, body))

    def _answer(self, kind: int, body: bytes) -> bytes:
        match kind >> 4:
            case 1:
                return welcome(body)
            case 3:
                topic_length = int.from_bytes(body[:2], "big")
                return bytes([0x40, 2]) + body[2 + topic_length :][:2]
            case 8:
                return bytes([0x90, 3]) + body[:2] + bytes([self.granted]) + self.then
            case 12:
                return bytes([0xD0, 0])
            case _:
                return b""


def test_a_silent_loss_is_noticed_within_one_and_a_half_keepalives() -> None:
    keepalive_s = 2
    polite = Polite()

    async def run() -> None:
        async with server(polite) as (port, _), table(Settings(port), keepalive_s=keepalive_s) as club:
            await until(lambda: polite.pings == 3)
            assert club.news == [(True, "")], "an idle connection that is well stays"
            polite.silent = True
            began = time.monotonic()
            await until(lambda: not club.connected)
            assert time.monotonic() - began < keepalive_s * 1.5
            assert club.news[-1] == (False, f"the broker at {HOST}:{port} has gone silent")

    asyncio.run(run())


def test_a_broker_that_lets_nobody_listen_is_told_of() -> None:
    async def run() -> None:
        async with server(Polite(granted=0x80)) as (port, _), table(Settings(port)) as club:
            await until(lambda: club.news)
            assert club.news == [(True, f"the broker lets nobody listen to {REQUEST}")]

    asyncio.run(run())


def test_a_flood_of_requests_reaches_the_table_or_the_counter() -> None:
    asked = len(REQUEST).to_bytes(2, "big") + REQUEST.encode() + b"{}"
    polite = Polite(then=(bytes([0x30, len(asked)]) + asked) * 5000)

    async def run() -> None:
        async with server(polite) as (port, _), table(Settings(port)) as club:
            await until(lambda: len(club.requests) + club.link.counters()["requests_dropped"] == 5000)
            assert club.connected
            assert set(club.requests) == {(b"{}", False)}

    asyncio.run(run())


def test_a_backlog_of_requests_keeps_no_sign_of_life_from_the_broker() -> None:
    """Each takes 0.3 s of the one thread there is; a broker gives up on whoever is silent for 3 s."""
    asked = len(REQUEST).to_bytes(2, "big") + REQUEST.encode() + b"{}"
    polite = Polite(then=(bytes([0x30, len(asked)]) + asked) * 15)
    signs: list[int] = []

    async def run() -> None:
        async with server(polite) as (port, _), table(Settings(port), keepalive_s=2) as club:

            def slow(payload: bytes, retained: bool) -> None:
                time.sleep(0.3)
                signs.append(polite.pings)

            club.link._on_request = slow  # type: ignore[assignment]
            await until(lambda: len(signs) == 15, 30)
            assert club.news == [(True, "")]
            assert signs[-1] >= 3, "while it was busy for 4.5 s"

    asyncio.run(run())


def test_stopping_does_not_wait_for_a_broker_that_has_gone_silent(mosquitto: Mosquitto) -> None:
    async def run() -> None:
        async with table(mosquitto.settings) as club:
            await until(lambda: club.connected)
            mosquitto.freeze()
            began = time.monotonic()
        assert time.monotonic() - began < 5
        mosquitto.stop()

    asyncio.run(run())


def test_a_full_socket_holds_values_back_and_the_newest_one_comes(mosquitto: Mosquitto) -> None:
    big = "x" * 100_000

    async def run() -> None:
        async with table(mosquitto.settings) as club:
            await until(lambda: club.connected)
            mosquitto.freeze()
            for number in range(200):
                club.link.publish(value(STATE, f"{number} {big}"))
                club.link.publish(Message("pocketbeam/club-1/beam/ne", big, False, 0))
            mosquitto.thaw()
            async with recorder(mosquitto.port, STATE) as heard:
                await heard.wait_for(lambda heard: heard.latest.get(STATE) == f"199 {big}")
            await until(lambda: club.link.counters()["queued"] == 0)

    asyncio.run(run())


def test_what_a_broker_has_said_is_too_big_is_not_sent_and_counted(tmp_path: Path) -> None:
    """In MQTT 5 it says so; what is small enough goes on, on the same connection."""
    with brokers.mosquitto(tmp_path, extra="max_packet_size 4096") as broker:

        async def run() -> None:
            async with table(broker.settings) as club, recorder(broker.port) as heard:
                await heard.wait_for(lambda heard: AVAILABILITY in heard.latest)
                for message in (
                    value(STATE, "x" * 5000),
                    event("x" * 4096),
                    event("x" * 4000),
                    value(LINE, "ä" * 2100),
                ):
                    club.link.publish(message)
                await heard.wait_for(lambda heard: heard.payloads(EVENT) == ["x" * 4000])
                club.link.publish(value(STATE, "small again"))
                await heard.wait_for(lambda heard: heard.payloads(STATE) == ["small again"])
                counters = club.link.counters()
                assert (counters["refused"], counters["connects"], counters["failures"]) == (3, 1, 0)
                assert LINE not in heard.latest

        asyncio.run(run())


def test_an_event_that_the_broker_finds_too_big_is_given_up_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In MQTT 3.1.1 it only hangs up."""
    monkeypatch.setattr("appliance.mqtt.client.next_attempt", lambda level, outcome: (MQTT_311, False))
    with brokers.mosquitto(tmp_path, extra="max_packet_size 4096") as broker:

        async def run() -> None:
            async with recorder(broker.port) as heard, table(broker.settings) as club:
                club.link._level = MQTT_311  # no attempt has been made yet
                await heard.wait_for(lambda heard: AVAILABILITY in heard.latest)
                club.link.publish(event("x" * 5000))
                club.link.publish(event("behind it"))
                for losses in range(1, 7):
                    await until(lambda losses=losses: club.link.counters()["failures"] == losses)  # type: ignore[misc]
                    club.link._backoff.rejections = 0
                await heard.wait_for(lambda heard: heard.payloads(EVENT) == ["behind it"])
                assert club.link.counters()["refused"] == 1

        asyncio.run(run())


def test_two_programs_with_one_name_do_not_storm_the_broker(mosquitto: Mosquitto) -> None:
    """Each throws the other out; the waits keep growing although every connection was accepted."""

    async def run() -> None:
        async with table(mosquitto.settings) as one:
            await until(lambda: one.connected)
            async with aiomqtt.Client(HOST, mosquitto.port, identifier="pocketbeam-club-1"):
                await until(lambda: not one.connected)
                assert "closed the connection" in one.news[-1][1]
            for round_number in range(2, 4):
                await until(lambda: one.connected)
                async with aiomqtt.Client(HOST, mosquitto.port, identifier="pocketbeam-club-1"):
                    await until(lambda: not one.connected)
                # Less what it has got back for the time that it was connected: a step takes 22 s.
                assert round_number - 0.5 < one.link._backoff.rejections <= round_number

    asyncio.run(run())


Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any]


def welcome(connect: bytes) -> bytes:
    """The answer of a broker that speaks 3.1.1 alone to the body of a CONNECT."""
    return bytes([0x20, 2, 0, connect[6] == 5])


async def close_at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Accepts and hangs up."""


async def close_after_the_welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Lets the table in, in MQTT 5, and throws it out."""
    await reader.read(1024)
    writer.write(bytes([0x20, 3, 0, 0, 0]))
    await writer.drain()


async def speak_another_language(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A web server."""
    await reader.read(1024)
    writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
    await writer.drain()


def refuse(code: int) -> Handler:
    """A broker that says no, in MQTT 3.1.1."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1024)
        writer.write(bytes([0x20, 2, 0, code]))
        await writer.drain()

    return handler


@contextlib.asynccontextmanager
async def server(handler: Handler) -> AsyncIterator[tuple[int, list[float]]]:
    """A server that handles each connection and closes it; its port, and when it was called."""
    calls: list[float] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls.append(time.monotonic())
        with contextlib.suppress(OSError):
            await handler(reader, writer)
            writer.close()
            await writer.wait_closed()

    listening = await asyncio.start_server(handle, HOST, 0)
    try:
        yield listening.sockets[0].getsockname()[1], calls
    finally:
        listening.close()
        await listening.wait_closed()


@pytest.mark.parametrize(
    ("handler", "words"),
    [
        (close_at_once, "closed the connection"),
        (close_after_the_welcome, "closed the connection"),
        (speak_another_language, "the connection"),
        (refuse(2), "refuses the client id"),
        (refuse(3), "is not available yet"),
        (refuse(4), "refuses the user name or the password"),
        (refuse(5), "check user name, password and rights"),
    ],
)
def test_a_broker_that_does_not_want_us_is_tried_ever_more_seldom(handler: Handler, words: str) -> None:
    async def run() -> None:
        async with server(handler) as (port, calls), table(Settings(port)) as club:
            await until(lambda: len(calls) == 3)
            gaps = [later - earlier for earlier, later in pairwise(calls)]
            assert gaps[0] >= 0.375
            assert gaps[0] < gaps[1]
            assert words in club.news[-1][1]
            assert str(port) in club.news[-1][1]
            assert len(club.news) == len(set(club.news)), "each piece of news once"

    asyncio.run(run())


def test_what_cannot_be_reached_is_said_in_a_sentence() -> None:
    async def run(settings: Settings, words: str) -> None:
        async with table(settings) as club:
            await until(lambda: club.news)
            assert club.news == [(False, words)]

    port = free_port()
    asyncio.run(run(Settings(port), f"nothing listens at {HOST}:{port}: is the broker running?"))
    asyncio.run(
        run(
            Settings(port, host="no-such-host.invalid"),
            'the name "no-such-host.invalid" is not known in this network',
        )
    )
    asyncio.run(
        run(
            Settings(port, username="u", password_file=Path("/no/such/file")),
            "the password file /no/such/file cannot be read: No such file or directory",
        )
    )


def test_stopping_while_a_connection_is_being_made(tmp_path: Path) -> None:
    """Somebody listens and never answers, not even with a welcome."""
    with socket.create_server((HOST, 0)) as deaf:
        deaf.setblocking(False)

        async def run() -> None:
            async with table(Settings(deaf.getsockname()[1])):
                accepted, _ = await asyncio.get_running_loop().sock_accept(deaf)
                began = time.monotonic()
            assert time.monotonic() - began < 1
            accepted.close()

        asyncio.run(run())


def test_user_name_and_password(tmp_path: Path) -> None:
    passwords = tmp_path / "passwords"
    subprocess.run(["mosquitto_passwd", "-c", "-b", str(passwords), "club", "geheim ß"], check=True, timeout=10)
    secret = tmp_path / "secret"
    secret.write_text("geheim ß\n", encoding="utf-8")
    extra = f"allow_anonymous false\npassword_file {passwords}"
    with brokers.mosquitto(tmp_path, extra=extra) as broker:

        async def run() -> None:
            async with table(Settings(broker.port, username="club", password_file=secret)) as club:
                await until(lambda: club.connected)
            async with table(Settings(broker.port)) as club:
                await until(lambda: club.news)
                assert "check user name, password and rights" in club.news[0][1]

        asyncio.run(run())


def test_a_broker_that_forbids_listening_still_gets_the_score(tmp_path: Path) -> None:
    rights = tmp_path / "rights"
    rights.write_text("topic write pocketbeam/club-1/#\ntopic read pocketbeam/club-1/state\n")
    with brokers.mosquitto(tmp_path, extra=f"acl_file {rights}") as broker:

        async def run() -> None:
            async with recorder(broker.port, STATE) as heard, table(broker.settings) as club:
                club.link.publish(value(STATE, "s"))
                await heard.wait_for(lambda heard: heard.payloads(STATE) == ["s"])

        asyncio.run(run())


def test_republish_sends_everything_retained_again(mosquitto: Mosquitto) -> None:
    def counts(heard: Recorder) -> tuple[int, ...]:
        return tuple(len(heard.payloads(topic)) for topic in (AVAILABILITY, STATE, LINE))

    async def run() -> None:
        async with recorder(mosquitto.port) as heard, table(mosquitto.settings) as club:
            club.link.publish(value(LINE, "l"))
            club.link.publish(value(STATE, "s"))
            await heard.wait_for(lambda heard: counts(heard) == (1, 1, 1))
            club.link.republish()
            await heard.wait_for(lambda heard: counts(heard) == (2, 2, 2))
            assert heard.messages[4].topic == STATE

    asyncio.run(run())


@dataclass(frozen=True)
class Tls:
    ca: Path | None
    cert: Path | None = None
    key: Path | None = None


def test_tls_is_used_verified_and_its_failures_are_said(tmp_path: Path) -> None:
    good, other = certificate(tmp_path, "localhost"), certificate(tmp_path, "elsewhere")
    plain_port = free_port()
    extra = f"listener {plain_port} {HOST}\nallow_anonymous true"
    tls = f"certfile {good}\nkeyfile {good}"
    with brokers.mosquitto(tmp_path, extra=f"{tls}\n{extra}") as broker:

        async def news(settings: Settings) -> tuple[bool, str]:
            async with table(settings) as club:
                club.link.publish(value(STATE, "s" * 100_000))
                await until(lambda: club.news)
                if club.connected:
                    await until(lambda: club.link.counters()["unacknowledged"] == 0)
                return club.news[0]

        async def run() -> None:
            port = broker.port
            assert await news(Settings(port, "localhost", tls=Tls(good))) == (True, "")
            assert await snapshot(plain_port, expect=2) == {AVAILABILITY: "offline", STATE: "s" * 100_000}
            for settings, words in (
                (Settings(port, tls=Tls(good)), f'the certificate of {HOST}:{port} is for other names than "{HOST}"'),
                (
                    Settings(port, "localhost", tls=Tls(other)),
                    f"the certificate of localhost:{port} is signed by nobody whom this table trusts",
                ),
                (
                    Settings(port, "localhost", tls=Tls(None)),
                    f"the certificate of localhost:{port} is signed by nobody whom this table trusts",
                ),
                (Settings(plain_port, "localhost", tls=Tls(good)), f"localhost:{plain_port} "),
                (Settings(port, tls=None), "the broker at"),
                (Settings(port, tls=Tls(tmp_path / "no")), f"the file of authorities {tmp_path}/no cannot be used"),
                (Settings(port, tls=Tls(good, other, good)), f"the client certificate {other} with {good} cannot"),
            ):
                connected, reason = await news(settings)
                assert not connected
                assert words in reason

        asyncio.run(run())


def test_an_expired_certificate_is_not_accepted(tmp_path: Path) -> None:
    expired = certificate(tmp_path, "localhost", end="20200102000000Z")
    with brokers.mosquitto(tmp_path, extra=f"certfile {expired}\nkeyfile {expired}") as broker:

        async def run() -> None:
            async with table(Settings(broker.port, "localhost", tls=Tls(expired))) as club:
                await until(lambda: club.news)
                connected, reason = club.news[0]
                assert not connected
                assert reason.startswith(f"the certificate of localhost:{broker.port} has expired: ")

        asyncio.run(run())
