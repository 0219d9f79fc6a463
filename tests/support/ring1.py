"""A whole table in virtual time: the real daemon between a simulated board and a broker that only listens.

The parts outside the daemon outlive it, as they do in a club room: the board with its ring and the cable
(`Cable`), what is durable (`Disk`), what the broker retains (`Broker`) and the clock on the wall (`Wall`).
`Table` puts them around a daemon that may crash and start again, and speaks of what people do: `pass_object`,
`strike`, `press`, `request`.

Two promises are watched in every test, wherever something comes out: nothing numbered is published, and
nothing is acknowledged to the board, before it is durable, unless the table has said that it is not safe.
No real descriptor, thread or clock is touched.
"""

import asyncio
import json
import tomllib
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from appliance.clock import Clock
from appliance.config import Settings, from_document
from appliance.config.settings import Source as SourceSection
from appliance.daemon import HUNG_TICKS, TICK_S, TableDaemon
from appliance.events import SourceInput
from appliance.journal import Batch, DamagedJournalError, JournalHealth, Recovered, SourceRow
from appliance.journal.order import SeqGuard
from appliance.journal.store import Store
from appliance.link.configuration import BoardConfiguration
from appliance.link.session import HostSession, LinkState
from appliance.mqtt.home_assistant import Announced
from appliance.mqtt.outbox import Outbox
from appliance.mqtt.topics import Message, topic
from appliance.ports import Deliver, Ports, Progress
from appliance.table.model import SUPERSEDED
from appliance.table.view import observation_lines
from sim.device import COLOUR_AFTER_US
from sim.driver import Driver
from sim.layout import SOURCE, Layout, configuration_text, layout_of
from sim.loop import VirtualClock, VirtualLoop
from sim.mcu import CAUSE_WATCHDOG, Mcu
from sim.players import SimulatedMatch
from sim.wire import CLEAN, Faults, Wire
from tests.support.validated import validate

TABLE = "t1"
BOOT_ID = 0x00C0FFEE
_BUTTON_CHANNEL = 16
_CHANNELS = 24
ANSWER_WITHIN_S = 30.0
HUNG_S = HUNG_TICKS * TICK_S
MANY_BATCHES = 20_000
PROGRAM_ERROR = "an error in the program"
"""So the table tells of its own errors, which it survives and no test may."""

Document = dict[str, Any]


def play(main: Coroutine[Any, Any, Any]) -> Any:
    """Run a test's coroutine in virtual time. Whatever goes wrong in a callback ends it and fails the test."""
    wrong: list[BaseException] = []

    async def watched() -> Any:
        task = asyncio.current_task()
        assert task is not None

        def note(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            wrong.append(context.get("exception") or AssertionError(context["message"]))
            task.cancel()

        asyncio.get_running_loop().set_exception_handler(note)
        return await main

    try:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            result = runner.run(watched())
    except asyncio.CancelledError:
        if not wrong:
            raise
    if wrong:
        raise wrong[0]
    return result


class Wall:
    """The host's wall clock, which anybody may set at any time; `synchronised` is what the system says of it."""

    def __init__(self) -> None:
        self.offset_ns = 0
        self.synchronised = True

    def step(self, seconds: float) -> None:
        """Set the clock forward, or back."""
        self.offset_ns += round(seconds * 1_000_000_000)


class HostClock(VirtualClock):
    """The clocks of one boot of the host, which began at `booted_ns` of the loop's time."""

    def __init__(self, loop: VirtualLoop, boot_id: str, wall: Wall, booted_ns: int) -> None:
        super().__init__(loop, boot_id)
        self.booted_ns = booted_ns
        self._wall = wall

    def monotonic_ns(self) -> int:
        return super().monotonic_ns() - self.booted_ns

    def wall_ns(self) -> int:
        return super().wall_ns() + self._wall.offset_ns

    def synchronised(self) -> bool:
        return self._wall.synchronised


class Disk:
    """What is durable. `sync_s`: how long a sync takes; 0: no time at all. `stall` and `refuse` make it worse."""

    def __init__(self, sync_s: float = 0.0, store: Store | None = None) -> None:
        self.store = store or Store.create_in_memory()
        self.sync_s = sync_s
        self.stalled = False
        self._stalled_at_s = 0.0
        self._well_at_s = -1.0
        self.refusal: str | None = None
        self.on_batch: Callable[[int], None] = lambda number: None
        self.batches = 0
        self.most_batches = MANY_BATCHES
        self.journal: DiskJournal | None = None

    @property
    def seq(self) -> int:
        """The newest durable `seq`."""
        return self.store.end[0]

    @property
    def progress(self) -> dict[str, tuple[int, int]]:
        """By source: its boot, and up to where its entries are durable."""
        found = self.store.connection.execute("SELECT source, source_boot, next_sequence FROM progress ORDER BY turn")
        return {source: (boot, following) for source, boot, following in found}

    @property
    def is_unsafe(self) -> bool:
        """Whether the table may show what is not durable, and let boards forget it: the disk refuses, or hangs."""
        now_s = _loop().time()
        hung = self.stalled and now_s - self._stalled_at_s >= HUNG_S
        # The word that it works again takes a turn of the loop.
        return self.refusal is not None or hung or now_s == self._well_at_s

    def stall(self) -> None:
        """No sync ends before `go_on`."""
        self.stalled, self._stalled_at_s = True, _loop().time()

    def refuse(self, reason: str) -> None:
        """Whatever is written fails from now on, before `go_on`."""
        self.refusal = reason

    def go_on(self) -> None:
        """The disk works again."""
        if self.is_unsafe:
            self._well_at_s = _loop().time()
        self.stalled, self.refusal = False, None
        if self.journal is not None:
            self.journal.sync()


class DiskJournal:
    """The journal on a `Disk`: what is not synced when the process ends was never there."""

    def __init__(self, disk: Disk, on_synced: Callable[[int], None], on_safety: Callable[[str | None], None]) -> None:
        self._disk = disk
        self._on_synced = on_synced
        self._on_safety = on_safety
        self._guard = SeqGuard()
        self._waiting: deque[Batch] = deque()
        self._synced = 0
        self._high_water = 0
        self._failures = 0
        self._reason: str | None = None
        self._dead = False

    def open(self) -> Recovered:
        self._disk.journal = self
        recovered = self._disk.store.recover()
        self._guard.begin(recovered.last_seq)
        return recovered

    def append(self, batch: Batch) -> int:
        self._guard.admit(batch)
        self._waiting.append(batch)
        self._high_water = max(self._high_water, len(self._waiting))
        position = self._synced + len(self._waiting)
        disk = self._disk
        if disk.sync_s == 0:
            self.sync()
        elif len(self._waiting) == 1:
            asyncio.get_running_loop().call_later(disk.sync_s, self.sync)
        disk.batches += 1
        assert disk.batches < disk.most_batches, "the table writes without end"
        disk.on_batch(disk.batches)
        return position

    @property
    def synced(self) -> int:
        return self._synced

    def sync(self) -> None:
        """Everything that waits becomes durable, or the disk refuses it."""
        disk = self._disk
        if self._dead or disk.stalled or not self._waiting:
            return
        if disk.refusal is not None:
            self._failures += 1
            if self._reason is None:
                self._reason = disk.refusal
                self._on_safety(self._reason)
            return
        disk.store.write(self._waiting)
        self._synced += len(self._waiting)
        self._waiting.clear()
        self._on_synced(self._synced)
        if self._reason is not None:
            self._reason = None
            self._on_safety(None)

    def die(self) -> None:
        """The process is gone; what waited is lost."""
        self._dead = True
        self._waiting.clear()

    def rows_since(self, seq: int) -> tuple[SourceRow, ...]:
        return self._disk.store.rows_since(seq)

    def match_ended(self) -> None:
        pass

    def distrust(self, reason: str) -> Recovered:
        raise DamagedJournalError(reason)

    def health(self) -> JournalHealth:
        waiting = len(self._waiting)
        return JournalHealth(waiting, self._high_water, self._synced, self._failures, 0, not self._reason, self._reason)

    def close(self) -> None:
        self.sync()


class Kept:
    """What the table remembers of its announcements to Home Assistant, across its starts."""

    def __init__(self) -> None:
        self.announced: Announced | None = None

    def read(self) -> Announced | None:
        return self.announced

    def write(self, announced: Announced | None) -> None:
        self.announced = announced


class Cable:
    """A board with a cable that may be bad; a host's end plugs itself in."""

    def __init__(self, layout: Layout, faults: Faults, seed: int, levels: dict[int, int]) -> None:
        self._loop = _loop()
        self.mcu = Mcu(_CHANNELS, BOOT_ID + seed, self.now_us(), levels=levels)
        self.levels = dict(levels)
        self.driven_us = 0
        self.wire = Wire(faults, seed)
        self.layout = layout
        self.host: CableSource | None = None
        self.is_out = False
        self._source: CableSource | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._turning = False
        self._empty = asyncio.Event()

    def now_us(self) -> int:
        return self._loop.now_ns() // 1_000

    def advance_to_us(self, at_us: int) -> None:
        """Time goes by itself here."""

    def look_for(self, source: "CableSource") -> bool:
        """A daemon opens the port; whether it is there."""
        self._source = source
        return not self.is_out

    def pull(self) -> None:
        """Somebody pulls it out."""
        self.is_out = True
        if self.host is not None:
            self.host.unplug()

    def put_back(self) -> None:
        """Somebody puts it back, and the daemon finds it."""
        self.is_out = False
        if self._source is not None:
            self._source.start()

    def plug(self, host: "CableSource | None") -> None:
        """Another host's end, or none."""
        self.host = host
        self.wire.open(self.now_us())
        self.flush()

    def drive(self, channel: int, level: int, at_us: int) -> None:
        self.levels[channel] = level
        self.driven_us = at_us
        self.mcu.drive(channel, level, at_us)
        self.flush()

    def report_brightness(self, channel: int, reading: int, at_us: int) -> None:
        self.mcu.report_brightness(channel, reading, at_us)
        self.flush()

    def report_colour(self, channel: int, object: str, at_us: int) -> None:
        self.mcu.report_colour(channel, object, at_us)
        self.flush()

    def reset(self) -> None:
        """The board's firmware begins anew."""
        self.mcu.reset(CAUSE_WATCHDOG, self.now_us())
        self.flush()

    def swap(self, board: Mcu) -> None:
        """Another board at the same cable."""
        host = self.host
        if host is not None:
            host.unplug()
        self.mcu = board
        if host is not None:
            host.start()

    async def acknowledged(self) -> None:
        """Wait until the host has acknowledged every entry."""
        self._note_kept()
        await self._empty.wait()

    def flush(self) -> None:
        """Let bytes go both ways until nothing moves any more, and come back when something will."""
        if self._turning:
            return
        self._turning = True
        now_us = self.now_us()
        while self._turn(now_us):
            pass
        self._turning = False
        self._note_kept()
        due_us = [
            self.mcu.next_deadline_us(),
            self.wire.to_host.next_arrival_us(),
            self.wire.to_board.next_arrival_us(),
        ]
        if self.host is not None:
            due_us.append(self.host.deadline_us())
        if self._timer is not None:
            self._timer.cancel()
        delay_us = max(1, min(at_us for at_us in due_us if at_us is not None) - now_us)
        self._timer = self._loop.call_later(delay_us / 1e6, self.flush)

    def _turn(self, now_us: int) -> bool:
        moved = False
        if data := self.mcu.poll(now_us):
            self.wire.to_host.send(data, now_us)
        for chunk in self.wire.to_host.receive(now_us):
            moved = True
            if self.host is not None:
                self.host.receive(chunk)
        if self.host is not None and (data := self.host.poll()):
            self.wire.to_board.send(data, now_us)
        for chunk in self.wire.to_board.receive(now_us):
            moved = True
            self.mcu.receive(chunk, now_us)
        return moved

    def _note_kept(self) -> None:
        if self.mcu.kept:
            self._empty.clear()
        else:
            self._empty.set()


class CableSource:
    """The daemon's end of a `Cable`, in the shape of a source."""

    def __init__(
        self, source_id: str, cable: Cable, session: HostSession, deliver: Deliver, disk: Disk, clock: Clock
    ) -> None:
        self.source_id = source_id
        self._cable = cable
        self._session = session
        self._deliver = deliver
        self._disk = disk
        self._clock = clock

    def start(self) -> None:
        if not self._cable.look_for(self):
            self._hand_over(self._session.disconnected("the port is not there", self._now_ns()))
            return
        self._session.connected(self._now_ns())
        self._cable.plug(self)

    async def stop(self) -> None:
        if self._cable.host is self:
            self._cable.plug(None)

    def acknowledge(self, boot_id: int, next_sequence: int) -> None:
        durable = self._disk.progress.get(self.source_id)
        assert self._disk.is_unsafe or durable == (boot_id, max(next_sequence, durable[1])), (
            f"{next_sequence} was acknowledged, {durable} is durable"
        )
        self._session.acknowledge(boot_id, next_sequence)
        _loop().call_soon(self._cable.flush)

    def show(self, levels: Mapping[int, int]) -> None:
        self._session.show(levels)
        _loop().call_soon(self._cable.flush)

    @property
    def outages(self) -> Mapping[int, str]:
        return self._session.outages

    @property
    def is_connected(self) -> bool:
        return self._session.state is LinkState.UP

    @property
    def status(self) -> str:
        return self._session.status

    @property
    def counters(self) -> Any:
        return self._session.counters

    @property
    def moved_at_ns(self) -> int:
        return self._now_ns()

    def receive(self, data: bytes) -> None:
        self._hand_over(self._session.receive(data, self._now_ns()))

    def poll(self) -> bytes:
        self._hand_over(self._session.expire(self._now_ns()))
        return self._session.poll(self._now_ns())

    def deadline_us(self) -> int | None:
        deadline_ns = self._session.next_deadline_ns()
        booted_ns = _loop().now_ns() - self._now_ns()
        return None if deadline_ns is None else -(-(deadline_ns + booted_ns) // 1_000)

    def unplug(self) -> None:
        """The cable is pulled: the port hangs up."""
        self._cable.plug(None)
        self._hand_over(self._session.disconnected("the board was unplugged", self._now_ns()))

    def _hand_over(self, items: list[SourceInput]) -> None:
        if items:
            self._deliver(items)

    def _now_ns(self) -> int:
        return self._clock.monotonic_ns()


@dataclass(frozen=True, slots=True)
class Published:
    """One message as it went out, with its content checked against the contract."""

    at_s: float
    topic: str
    content: Any
    retained: bool


class Broker:
    """Keeps what was published, in order, and what is retained. It may be away, and forget."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._port: BrokerPort | None = None
        self.log: list[Published] = []
        self.retained: dict[str, str] = {}
        self.is_away = False
        self.lets_the_program_err = False

    def attach(self, port: "BrokerPort") -> None:
        """The table's connection."""
        self._port = port

    def leave(self, *, forgets: bool = False) -> None:
        """The broker ends; one without persistence `forgets` what it retained."""
        self.is_away = True
        if forgets:
            self.retained.clear()
        if self._port is not None:
            self._port.lose()

    def come_back(self) -> None:
        """It runs again, and the table finds it."""
        self.is_away = False
        if self._port is not None:
            self._port.find()

    def check(self, message: Message) -> None:
        """What is given to the connection is valid, and durable."""
        content = validate(message.topic, message.payload or "")
        assert self.lets_the_program_err or PROGRAM_ERROR not in (message.payload or ""), message.payload
        if isinstance(content, dict) and "seq" in content:
            assert content["seq"] <= self._disk.seq or self._disk.is_unsafe, (
                f"{message.topic} tells of {content['seq']}, durable is {self._disk.seq}: {message.payload}"
            )

    def hear(self, message: Message) -> None:
        """A message arrives."""
        topic, payload = message.topic.split("/", 2)[2], message.payload or ""
        content = json.loads(payload) if payload.startswith("{") and topic != "line" else payload or None
        self.log.append(Published(_loop().time(), topic, content, message.retain))
        if message.retain and payload:
            self.retained[topic] = payload
        elif message.retain:
            self.retained.pop(topic, None)


class BrokerPort:
    """The daemon's connection to a `Broker`: what waits while it is away waits in the real outbox."""

    def __init__(
        self, broker: Broker, on_request: Callable[[bytes, bool], None], on_connection: Callable[[bool, str], None]
    ) -> None:
        self._broker = broker
        self.on_request = on_request
        self.on_connection = on_connection
        self._outbox = Outbox((topic(TABLE, "state"),))
        self._sent = 0
        self.cut = False
        broker.attach(self)
        if not broker.is_away:
            self._outbox.opened()

    async def run(self) -> None:
        if self._broker.is_away:
            self.lose()
        else:
            self.on_connection(True, "")
        await asyncio.Event().wait()

    def find(self) -> None:
        """The broker is there."""
        if self.cut:
            return
        self._outbox.opened()
        self._pump()
        self.on_connection(True, "")

    def lose(self) -> None:
        """It is not."""
        if self.cut:
            return
        self._outbox.closed()
        self.on_connection(False, "nothing listens: is the broker running?")

    def publish(self, message: Message) -> None:
        if self.cut:
            return
        self._broker.check(message)
        self._outbox.put(message)
        self._pump()

    def republish(self) -> None:
        self._outbox.refresh()
        self._pump()

    def counters(self) -> dict[str, int]:
        return self._outbox.counters()

    def _pump(self) -> None:
        while (outgoing := self._outbox.take()) is not None:
            self._broker.hear(outgoing.message)
            self._sent += 1
            self._outbox.sent(self._sent, outgoing)
            self._outbox.acknowledged(self._sent)


def _loop() -> VirtualLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop


class Table:
    """A table as people stand around it; an asynchronous context manager."""

    def __init__(
        self,
        game: str = "club_carrom",
        players: Iterable[str] = ("Asha", "Ben"),
        *,
        options: Document | None = None,
        faults: Faults = CLEAN,
        seed: int = 0,
        sync_s: float = 0.0,
        levels: dict[int, int] | None = None,
        buttons: Iterable[Document] = (),
        home_assistant: bool = False,
        **table: Any,
    ) -> None:
        """`table` changes keys of the section `[table]`; `levels` those of the board's channels at the start.

        `home_assistant`: whether the table announces itself, which would only be in the way elsewhere.
        """
        text = configuration_text(
            game,
            tuple(players),
            port="/dev/none",
            state_dir="/nowhere",
            mqtt_host="localhost",
            mqtt_port=1,
            web_listen=None,
            table=TABLE,
            options=options,
        )
        document = tomllib.loads(text)
        document["table"].update(table)
        self._buttons = {
            button["id"]: {**button, "source": SOURCE, "channel": _BUTTON_CHANNEL + n}
            for n, button in enumerate(buttons)
        }
        document["buttons"] = list(self._buttons.values())
        document["home_assistant"] = {"enabled": home_assistant}
        self.document = document
        self.layout = layout_of(game)
        idle_buttons = {button["channel"]: 1 for button in self._buttons.values()}
        self._idle_levels = {**self.layout.idle_levels(), **idle_buttons}
        self._levels = {**self._idle_levels, **(levels or {})}
        self._faults = faults
        self._seed = seed
        self.disk = Disk(sync_s)
        self.broker = Broker(self.disk)
        self.wall = Wall()
        self.memory = Kept()
        self.boot_id = "virtual-boot-1"
        self._booted_ns = 0
        self.restarts = 0
        self._asked = 0
        self._started = asyncio.Event()

    async def __aenter__(self) -> "Table":
        self.cable = Cable(self.layout, self._faults, self._seed, self._levels)
        await self.start()
        await self.until(lambda: self.daemon.is_connected(SOURCE))
        return self

    async def __aexit__(self, *error: object) -> None:
        if error[0] is None:
            await self.daemon.stop()

    # -- the daemon ----------------------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        return from_document(self.document)

    async def start(self, boot_id: str | None = None) -> None:
        """Start a daemon on what is there; in the boot that there is, unless it is another one."""
        self.boot_id = boot_id or self.boot_id

        def journal(
            settings: Settings, on_synced: Callable[[int], None], on_safety: Callable[[str | None], None]
        ) -> DiskJournal:
            return DiskJournal(self.disk, on_synced, on_safety)

        def source(
            section: SourceSection, wanted: BoardConfiguration, progress: Progress, deliver: Deliver, clock: Clock
        ) -> CableSource:
            session = HostSession(section.id, resume=progress, configuration=wanted)
            return CableSource(section.id, self.cable, session, deliver, self.disk, clock)

        def publisher(
            settings: Settings, on_request: Callable[[bytes, bool], None], on_connection: Callable[[bool, str], None]
        ) -> BrokerPort:
            self.port = BrokerPort(self.broker, on_request, on_connection)
            return self.port

        clock = HostClock(_loop(), self.boot_id, self.wall, self._booted_ns)
        ports = Ports(journal, source, publisher, memory=lambda settings: self.memory)
        self.daemon = TableDaemon(self.settings, clock, ports)
        await self.daemon.start()
        self._started.set()

    def kill(self) -> None:
        """The daemon is gone between two instructions: nothing of it says goodbye."""
        self._started.clear()
        assert self.disk.journal is not None
        self.disk.journal.die()
        self.port.cut = True
        self.cable.plug(None)
        daemon = self.daemon
        for timer in daemon._timers.values():
            timer.cancel()
        assert daemon._publishing is not None
        daemon._publishing.cancel()
        self.restarts += 1

    async def restart(self, boot_id: str | None = None) -> None:
        """Kill the daemon and start another one."""
        self.kill()
        await self.start(boot_id or self.boot_id)

    async def reboot(self, boot_id: str) -> None:
        """The host loses its power: another boot, whose monotonic clock begins anew."""
        self.kill()
        # No two boots take equally long, to the nanosecond.
        self._booted_ns = _loop().now_ns() - 10_000_000_000 - 1_234_567 * self.restarts
        await self.start(boot_id)

    def restart_soon(self) -> None:
        """Kill the daemon as soon as it has done what it is doing, and start another one."""

        def now() -> None:
            if self._started.is_set():
                self.kill()
                self._starting = _loop().create_task(self.start())

        _loop().call_soon(now)

    # -- what people do ------------------------------------------------------------------------------------

    async def run_for(self, seconds: float) -> None:
        """Let time pass."""
        await asyncio.sleep(seconds)

    async def until(self, condition: Callable[[], Any], within_s: float = 60.0) -> None:
        """Let time pass until something is true."""
        deadline_s = _loop().time() + within_s
        while not condition():
            assert _loop().time() < deadline_s, f"not within {within_s} s"
            await asyncio.sleep(0.01)

    async def pass_object(self, place: str, dwell_ms: int = 35, object: str | None = None) -> None:
        """Something falls at a place; its colour, where told, is seen 60 ms later."""
        sensor = self.layout.beam_at(place)
        await self._pulse(sensor.channel, sensor.blocked_level, dwell_ms)
        if object is not None:
            await asyncio.sleep(0.06)
            self.cable.report_colour(sensor.channel, object, self.cable.now_us())

    async def strike(self, end: str | None = None) -> None:
        """A striker or a cue ball is sent off."""
        sensor = self.layout.strike_sensor(end)
        await self._pulse(sensor.channel, sensor.blocked_level, 10)

    async def press(self, button: str) -> None:
        """A finger on a button."""
        await self._pulse(self._buttons[button]["channel"], 0, 80)

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is in any beam, and no finger on a button."""
        return all(self.cable.levels[channel] == level for channel, level in self._idle_levels.items())

    @property
    def is_settled(self) -> bool:
        """Whether a board that begins anew loses nothing: nothing is in a beam, seen or not, and all is told."""
        thinking = self.cable.now_us() - self.cable.driven_us <= COLOUR_AFTER_US
        return self.is_at_rest and not thinking and not self.cable.mcu.kept

    def block(self, place: str) -> None:
        """Something comes to lie in a beam."""
        sensor = self.layout.beam_at(place)
        self.cable.drive(sensor.channel, sensor.blocked_level, self.cable.now_us())

    def clear(self, place: str) -> None:
        """A beam is free again."""
        sensor = self.layout.beam_at(place)
        self.cable.drive(sensor.channel, sensor.idle_level, self.cable.now_us())

    async def _pulse(self, channel: int, active: int, dwell_ms: int) -> None:
        self.cable.drive(channel, active, self.cable.now_us())
        await asyncio.sleep(dwell_ms / 1_000)
        self.cable.drive(channel, 1 - active, self.cable.now_us())

    async def request(self, document: Document, transaction: str | None = None) -> Document:
        """Ask for something and wait for the answer; asked again, with the same transaction, until there is one."""
        self._asked += 1
        transaction = transaction or f"q{self._asked}"
        before = len(self.broker.log)
        deadline_s = _loop().time() + ANSWER_WITHIN_S
        while _loop().time() < deadline_s:
            await self._started.wait()
            self.say(json.dumps({**document, "transaction": transaction}))
            for _ in range(100):
                answer = self._answer(transaction, before)
                if answer is not None:
                    return answer
                await asyncio.sleep(0.01)
        raise AssertionError(f"no answer to {document}")

    def say(self, payload: str, retained: bool = False) -> None:
        """A message on the request topic."""
        self.port.on_request(payload.encode(), retained)

    def _answer(self, transaction: str, after: int) -> Document | None:
        answers = (p.content for p in self.broker.log[after:] if p.topic == "response")
        return next((answer for answer in answers if answer["transaction"] == transaction), None)

    async def play(self, match: SimulatedMatch) -> None:
        """Simulated players play a whole match, and an umpire calls."""
        await Driver(self.cable, self.request, self.cable, speed=1.0).play(match)  # type: ignore[arg-type]

    # -- what can be seen ----------------------------------------------------------------------------------

    @property
    def state(self) -> Document:
        """The retained `state`."""
        return json.loads(self.broker.retained["state"])  # type: ignore[no-any-return]

    @property
    def health(self) -> Document:
        """The retained `health`."""
        return json.loads(self.broker.retained["health"])  # type: ignore[no-any-return]

    def told(self, topic: str) -> list[Any]:
        """Everything published under a topic, in order."""
        return [published.content for published in self.broker.log if published.topic == topic]

    def events(self, *names: str) -> list[Document]:
        """The events of these names (all by default), in order."""
        return [event for event in self.told("event") if not names or event["event"] in names]

    def unforeseen(self, *but: str) -> list[Document]:
        """The events that tell of trouble, other than these; a passage that a call takes the place of is none."""
        names = {"passage_not_scored", "beam_fault", "source_lost"} - set(but)
        return [event for event in self.events(*names) if event.get("reason") != SUPERSEDED]

    @property
    def lines(self) -> list[Document]:
        """The match's effective history as observation lines."""
        return [dict(line) for line in observation_lines(self.daemon.engine.state.match)]


def plain(document: Document) -> Document:
    """A document without what depends on when it was sent."""
    return {key: value for key, value in document.items() if key != "at"}


def in_no_order(line: Document) -> Document:
    """An observation line with its pieces sorted: inside a stroke there is no order."""
    return {name: sorted(value) if isinstance(value, list) else value for name, value in line.items()}


def slowed(faults: Faults, **changes: Any) -> Faults:
    """The same faults with changes."""
    return replace(faults, **changes)
