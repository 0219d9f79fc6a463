"""What the service manager is told of a table, in virtual time: hours of idling, and parts that die."""

import asyncio
import itertools
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from appliance.config import Settings, from_document
from appliance.daemon import STILL_NS, TableDaemon
from appliance.engine import Engine
from appliance.events import SourceInput
from appliance.link.session import HostSession
from appliance.mqtt.topics import Message
from appliance.notify import Pulse, ServiceManager
from appliance.ports import REAL, Ports
from appliance.sources.gpio import GpioSource, Pins
from appliance.sources.header import DeafError, GpiozeroPins, HeaderError
from sim.layout import configuration_text
from sim.loop import VirtualClock, VirtualLoop
from tests.support.ring1 import Disk, DiskJournal

ROOT = Path(__file__).resolve().parents[2]
WATCHDOG_S = 30.0
PLANNED_S = 10.0
DAY_S = 24 * 3600.0
DEAD_BY_S = STILL_NS / 1e9 + PLANNED_S + 1.0
PIN = 17


class Told(ServiceManager):
    """A service manager that notes what it is told, and when."""

    def __init__(self, watchdog_s: float | None = WATCHDOG_S) -> None:
        super().__init__("/nowhere", watchdog_s)
        self.lines: list[tuple[float, str]] = []

    def tell(self, *lines: str) -> bool:
        at_s = asyncio.get_running_loop().time()
        self.lines += [(at_s, line) for line in lines]
        return True

    def times(self, line: str) -> list[float]:
        return [at_s for at_s, told in self.lines if told == line]

    @property
    def status(self) -> str:
        return [line for _, line in self.lines if line.startswith("STATUS=")][-1].removeprefix("STATUS=")


class NoBroker:
    """A connection that never comes about, or ends in an error."""

    def __init__(self, on_connection: Callable[[bool, str], None], ends_after_s: float = 10 * DAY_S) -> None:
        self._on_connection = on_connection
        self._ends_after_s = ends_after_s
        self.published: list[Message] = []

    async def run(self) -> None:
        self._on_connection(False, "nobody answers")
        await asyncio.sleep(self._ends_after_s)
        raise RuntimeError("an error of the connection")

    def publish(self, message: Message) -> None:
        self.published.append(message)

    def republish(self) -> None:
        pass

    def counters(self) -> dict[str, int]:
        return {}


class Header:
    """Pins that are there, gone, or deaf."""

    def __init__(self) -> None:
        self.trouble: HeaderError | None = None

    def open(self) -> "Header":
        self.check()
        return self

    def claim(self, number: int, pull: str, on_edge: Callable[[int, int, int], None]) -> None:
        self.check()

    def claim_output(self, number: int, level: int) -> None:
        self.check()

    def check(self) -> None:
        if self.trouble is not None:
            raise self.trouble

    def level(self, number: int) -> int:
        return 0

    def write(self, number: int, level: int) -> None:
        self.check()

    def close(self) -> None:
        pass


class Kept:
    """A daemon whose board is missing, on pins that can be troubled, with nobody at the broker's address."""

    def __init__(self, *, pins: bool = False, broker_ends_after_s: float = 10 * DAY_S) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        self.disk, self.header, self.manager = Disk(), Header(), Told()

        def journal(settings: Settings, *hooks: Callable[[Any], None]) -> DiskJournal:
            return DiskJournal(self.disk, *hooks)

        def publisher(settings: Settings, on_request: object, on_connection: Callable[[bool, str], None]) -> NoBroker:
            self.broker = NoBroker(on_connection, broker_ends_after_s)
            return self.broker

        def header_pins(
            source_id: str, wanted: Pins, deliver: Callable[[list[SourceInput]], None], clock: VirtualClock
        ) -> GpioSource:
            return GpioSource(source_id, wanted, deliver, clock.monotonic_ns, self.header.open)

        clock = VirtualClock(loop)
        self.daemon = TableDaemon(
            _settings(pins),
            clock,
            Ports(journal, REAL.source, publisher, header_pins),  # type: ignore[arg-type]
        )
        self.pulse = Pulse(self.manager, [self.daemon], clock.monotonic_ns)

    async def __aenter__(self) -> "Kept":
        await self.daemon.start()
        self.pulse.ready()
        return self

    async def __aexit__(self, *error: object) -> None:
        self.pulse.stop()
        await self.daemon.stop()

    async def pings_later(self) -> bool:
        """Whether there are pings a good while from now."""
        await asyncio.sleep(DEAD_BY_S)
        before = len(self.manager.times("WATCHDOG=1"))
        await asyncio.sleep(60)
        return len(self.manager.times("WATCHDOG=1")) > before


def _settings(pins: bool) -> Settings:
    document = tomllib.loads(
        configuration_text(
            "club_carrom",
            ("Asha", "Ben"),
            port="/nowhere/board",
            state_dir="/nowhere",
            mqtt_host="localhost",
            mqtt_port=1,
            web_listen=None,
            table="t1",
            options=None,
        )
    )
    if pins:
        document["sources"].append({"id": "pins", "kind": "gpio"})
        document["buttons"] = [{"id": "done", "source": "pins", "pin": f"GPIO{PIN}", "action": "done", "player": 1}]
    return from_document(document)


def quietly(main: Any) -> None:
    """Run in virtual time; an error in a callback is logged and ends that callback, as it would in service."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.get_loop().set_exception_handler(lambda loop, context: None)
        runner.run(main)


def test_a_day_of_idling_without_broker_and_board_is_a_ping_each_planned_interval() -> None:
    """FR-106."""

    async def main() -> None:
        async with Kept() as kept:
            await asyncio.sleep(DAY_S)
            pings_s = kept.manager.times("WATCHDOG=1")
            assert len(pings_s) == DAY_S / PLANNED_S + 1
            gaps_s = {round(later - earlier, 6) for earlier, later in itertools.pairwise(pings_s)}
            assert gaps_s == {PLANNED_S}
            assert kept.manager.times("READY=1") == [0.0]
            assert "/nowhere/board is not there" in kept.manager.status
            assert "nobody answers" in kept.manager.status
            statuses = [line for _, line in kept.manager.lines if line.startswith("STATUS=")]
            assert len(statuses) <= 2, "the status was told again without a change"

    quietly(main())


def test_nothing_is_shown_and_so_nothing_ready_before_the_recovery_is_durable() -> None:
    async def main() -> None:
        kept = Kept()
        kept.disk.sync_s = 0.01
        kept.disk.stall()
        await kept.daemon.start()
        await asyncio.sleep(8)
        assert not kept.daemon.shown.is_set()
        assert not kept.broker.published
        kept.disk.go_on()
        await asyncio.wait_for(kept.daemon.shown.wait(), 1)
        assert kept.broker.published[0].topic.endswith("/state")
        await kept.daemon.stop()

    quietly(main())


def test_the_end_is_told_and_nothing_after_it() -> None:
    async def main() -> None:
        async with Kept() as kept:
            await asyncio.sleep(15)
            kept.pulse.stop()
            assert kept.manager.lines[-2:] == [(15.0, "STOPPING=1"), (15.0, "STATUS=stopping")]
            said = len(kept.manager.lines)
            await asyncio.sleep(60)
            assert len(kept.manager.lines) == said

    quietly(main())


def test_no_ping_once_an_error_has_ended_the_clock_of_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with Kept() as kept:
            assert await kept.pings_later()

            def broken(*arguments: object) -> list[object]:
                raise RuntimeError("an error of the engine")

            monkeypatch.setattr(Engine, "tick", broken)
            assert not await kept.pings_later()
            assert kept.manager.status == "table t1: the clock of the game stands still"

    quietly(main())


def test_no_ping_once_an_error_has_ended_the_search_for_the_board(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with Kept() as kept:

            def broken(*arguments: object) -> list[object]:
                raise RuntimeError("an error of the link")

            monkeypatch.setattr(HostSession, "disconnected", broken)
            assert not await kept.pings_later()
            assert kept.manager.status == "table t1: source board stands still"

    quietly(main())


def test_no_ping_once_nobody_looks_after_the_connection_to_the_broker() -> None:
    async def main() -> None:
        kept = Kept(broker_ends_after_s=100)
        await kept.daemon.start()
        kept.pulse.ready()
        assert await kept.pings_later()
        await asyncio.sleep(100)
        assert not await kept.pings_later()
        assert "broker" in kept.manager.status
        kept.pulse.stop()
        with pytest.raises(RuntimeError, match="an error of the connection"):
            await kept.daemon.stop()

    quietly(main())


TROUBLES: Mapping[str, tuple[HeaderError | None, bool]] = {
    "well": (None, True),
    "the controller is gone": (HeaderError("the controller is gone"), True),
    "the thread that hears the edges is dead": (DeafError("the library hears nothing"), False),
}


@pytest.mark.parametrize(("trouble", "lives"), TROUBLES.values(), ids=TROUBLES.keys())
def test_pins_that_are_gone_are_waited_for_and_a_library_that_is_deaf_is_not(
    trouble: HeaderError | None, lives: bool
) -> None:
    async def main() -> None:
        async with Kept(pins=True) as kept:
            assert await kept.pings_later()
            kept.header.trouble = trouble
            for _ in range(5):
                assert await kept.pings_later() is lives

    quietly(main())


def test_without_a_watchdog_the_status_alone_is_told() -> None:
    async def main() -> None:
        kept = Kept()
        kept.manager.watchdog_s = None
        async with kept:
            await asyncio.sleep(60)
            assert kept.manager.times("READY=1") == [0.0]
            assert not kept.manager.times("WATCHDOG=1")
            assert "nobody answers" in kept.manager.status

    quietly(main())


def test_what_was_not_taken_is_told_again() -> None:
    async def main() -> None:
        async with Kept() as kept:
            assert kept.manager.times("READY=1") == [0.0]
        deaf = Kept()
        taken = deaf.manager.tell
        deaf.manager.tell = lambda *lines: False  # type: ignore[method-assign]
        async with deaf:
            await asyncio.sleep(5)
            deaf.manager.tell = taken  # type: ignore[method-assign]
            await asyncio.sleep(10)
            assert len(deaf.manager.times("READY=1")) == 1

    quietly(main())


def test_pins_whose_library_has_lost_its_thread_are_deaf() -> None:
    hears = [True]
    pins = GpiozeroPins(SimpleNamespace(), None, lambda: hears[0])
    pins.check()
    hears[0] = False
    with pytest.raises(DeafError, match="restart"):
        pins.check()


@pytest.mark.real
def test_the_library_has_the_thread_that_is_asked_after() -> None:
    """Its name is private; should it change, a dead one would go unnoticed."""
    ask = "from appliance.sources.header import _library; print(_library()[0]._notify_thread.is_alive())"
    told = subprocess.run([sys.executable, "-c", ask], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert told.stdout == "True\n"
