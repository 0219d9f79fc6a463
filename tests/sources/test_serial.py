"""The serial source on real pseudo-terminals: edges across cable pulls, ports that cannot be had, a clean stop."""

import asyncio
import errno
import os
import time
import tty
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random

import pytest
import serial

from appliance.events import Edge, EdgesLost, Levels, SourceBack, SourceInput, SourceLost
from appliance.link.framing import Deframer, encode
from appliance.link.messages import Ack, BoardCounters, ChannelLevels, EdgeEntry, Edges, Hello, HostHeartbeat, decode
from appliance.link.session import HostSession
from appliance.sources import serial as serial_source
from appliance.sources.serial import SerialSource
from sim.loop import VirtualLoop
from sim.mcu import Mcu
from sim.wire import PtyMcu

pytestmark = pytest.mark.real

BOOT_ID = 0x0BADCAFE
DEADLINE_S = 20


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the real tests try a port again after a tenth of the time."""
    monkeypatch.setattr(serial_source, "RETRY_FIRST_S", serial_source.RETRY_FIRST_S / 10)
    monkeypatch.setattr(serial_source, "RETRY_LAST_S", serial_source.RETRY_LAST_S / 10)


class Host:
    """A source, what it delivered, and a journal that syncs at once unless told otherwise."""

    def __init__(self, port: Path, now_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self.session = HostSession("board")
        self.source = SerialSource("board", str(port), 115200, self.session, self._deliver, now_ns)
        self.inputs: list[SourceInput] = []
        self.syncs = True
        self._news = asyncio.Event()

    def _deliver(self, inputs: list[SourceInput]) -> None:
        self.inputs += inputs
        self._news.set()
        delivered = self.source.delivered
        if self.syncs and delivered is not None:
            asyncio.get_running_loop().call_soon(self.source.acknowledge, *delivered)

    async def until(self, reached: Callable[[], bool]) -> None:
        """Wait until a condition on what was delivered holds."""
        async with asyncio.timeout(DEADLINE_S):
            while not reached():
                self._news.clear()
                await self._news.wait()

    def count(self, kind: type[SourceInput]) -> int:
        return sum(isinstance(value, kind) for value in self.inputs)

    @property
    def edges(self) -> list[tuple[int, int]]:
        return [(value.channel, value.level) for value in self.inputs if isinstance(value, Edge)]

    @property
    def reasons(self) -> list[str]:
        return [value.reason for value in self.inputs if isinstance(value, SourceLost)]


def now_us() -> int:
    return time.monotonic_ns() // 1000


def hurried(times: int) -> Callable[[], int]:
    """A clock that runs so many times faster than the real one."""
    began_ns = time.monotonic_ns()
    return lambda: (time.monotonic_ns() - began_ns) * times


@asynccontextmanager
async def running(host: Host, board: PtyMcu | None = None) -> AsyncIterator[None]:
    """Run the source, and the board if there is one, and stop both whatever happens."""
    try:
        if board is not None:
            board.start()
        host.source.start()
        yield
    finally:
        await host.source.stop()
        if board is not None:
            board.stop()


@asynccontextmanager
async def bare_pty(path: Path) -> AsyncIterator[int]:
    """A pty with nobody behind it; yields the far end."""
    master, slave = os.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    point(path, os.ttyname(slave))
    try:
        yield master
    finally:
        # A link left behind would lead to whoever gets this pty's number next.
        unpoint(path)
        os.close(slave)
        os.close(master)


def point(link: Path, target: str) -> None:
    link.unlink(missing_ok=True)
    link.symlink_to(target)


def unpoint(link: Path) -> None:
    link.unlink()


def fill(port: Path) -> None:
    """Write into a port that nobody reads until it does not take a single byte more."""
    descriptor = os.open(port, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        for size in (1024, 1):
            with suppress(BlockingIOError):
                while True:
                    os.write(descriptor, bytes(size))
    finally:
        os.close(descriptor)


def open_descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


# ------------------------------------------------------------------ edges


def test_edges_arrive_and_are_acknowledged(tmp_path: Path):
    async def play() -> None:
        board = PtyMcu(Mcu(12, BOOT_ID, now_us(), levels={7: 1}), tmp_path / "board", now_us)
        host = Host(board.path)
        async with running(host, board):
            await host.until(lambda: host.count(Levels) > 0)
            assert host.source.is_connected
            assert host.source.status == "connected"
            back, levels = host.inputs[:2]
            assert isinstance(back, SourceBack)
            assert isinstance(levels, Levels)
            assert dict(levels.levels)[7] == 1
            before_ns = time.monotonic_ns()
            for number in range(100):
                board.drive(number % 3, 1 - number // 3 % 2)
            async with asyncio.timeout(DEADLINE_S):
                await board.acknowledged()
            after_ns = time.monotonic_ns()
            assert host.edges == [(number % 3, 1 - number // 3 % 2) for number in range(100)]
            times = [value.at_ns for value in host.inputs if isinstance(value, Edge)]
            assert before_ns - 2_000_000 < times[0] <= times[-1] <= after_ns

    asyncio.run(play())


def test_twenty_cable_pulls_in_the_middle_of_traffic(tmp_path: Path):
    """FR-059, FR-060: the adapter comes back under another name each time; nothing is lost or doubled."""

    async def play() -> None:
        board = PtyMcu(Mcu(12, BOOT_ID, now_us()), tmp_path / "board", now_us)
        host = Host(board.path)
        driven: list[tuple[int, int]] = []

        def drive(count: int) -> None:
            for _ in range(count):
                driven.append((len(driven) % 12, 1 - len(driven) // 12 % 2))
                board.drive(*driven[-1])

        names = set()
        async with running(host, board):
            for cycle in range(20):
                await host.until(lambda wanted=cycle + 1: host.count(SourceBack) == wanted)  # type: ignore[misc]
                names.add(board.path.readlink())
                drive(10)
                # Half of the times the cable goes while the acknowledgements are still under way.
                if cycle % 2:
                    await host.until(lambda: host.edges == driven)
                board.unplug()
                drive(5)
                await host.until(lambda wanted=cycle + 1: host.count(SourceLost) >= wanted)  # type: ignore[misc]
                # Somebody else takes the name that has just become free.
                held = os.openpty() if cycle % 3 == 0 else ()
                board.replug()
                for descriptor in held:
                    os.close(descriptor)
            await host.until(lambda: host.count(SourceBack) == 21)
            async with asyncio.timeout(DEADLINE_S):
                await board.acknowledged()
        assert host.edges == driven
        assert not host.count(EdgesLost)
        assert len(names) > 1
        assert host.source.counters.boots == 1
        # Hung up, and at most once more because the port is not there.
        assert host.count(SourceLost) <= 40

    asyncio.run(play())


def test_a_board_that_falls_silent_is_lost_and_comes_back_by_itself(tmp_path: Path):
    async def play() -> None:
        async with bare_pty(tmp_path / "board") as master:
            host = Host(tmp_path / "board", hurried(20))
            async with running(host):
                os.write(master, encode(hello().to_bytes()))
                await host.until(lambda: host.count(SourceBack) == 1)
                await host.until(lambda: host.count(SourceLost) == 1)
                assert host.reasons == ["the board has fallen silent though its port is open"]
                os.write(master, encode(hello().to_bytes()))
                await host.until(lambda: host.count(SourceBack) == 2)

    asyncio.run(play())


def test_a_port_that_takes_no_bytes_blocks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The far end reads nothing: edges go on coming in, nobody spins, the last word goes out when it can."""
    real_write, refused = os.write, 0

    def count_refusals(descriptor: int, data: bytes) -> int:
        nonlocal refused
        try:
            return real_write(descriptor, data)
        except BlockingIOError:
            refused += 1
            raise

    async def play() -> None:
        count = 50
        async with bare_pty(tmp_path / "board") as master:
            host = Host(tmp_path / "board", hurried(5))
            async with running(host):
                os.write(master, encode(hello().to_bytes()))
                async with asyncio.timeout(DEADLINE_S):
                    while not host.count(Levels):  # nobody answers the host, so its patience with the clock has to end
                        os.write(master, encode(hello().to_bytes()))
                        await asyncio.sleep(0.005)
                fill(tmp_path / "board")
                for number in range(count):
                    edge = Edges(BOOT_ID & 0xFFFF, number, 1000 + number, (EdgeEntry(1000 + number, 0, 1),))
                    os.write(master, encode(edge.to_bytes()))
                    await host.until(lambda wanted=number + 1: len(host.edges) == wanted)  # type: ignore[misc]
                assert refused, "the port was full, so something must have been refused"
                # Now nothing comes in either: until the board counts as silent, a few tries and no more.
                before = refused
                await host.until(lambda: host.count(SourceLost) == 1)
                assert refused - before < 20
                deframer, acknowledged = Deframer(), 0
                os.write(master, encode(hello(seq=count, oldest=0).to_bytes()))
                async with asyncio.timeout(DEADLINE_S):
                    while acknowledged < count:
                        for message in await heard(master, deframer):
                            if isinstance(message, Ack | HostHeartbeat):
                                acknowledged = message.seq

    monkeypatch.setattr(os, "write", count_refusals)
    asyncio.run(play())


# ------------------------------------------------------------------ ports that cannot be had


def test_a_missing_port_is_said_once_and_found_when_it_comes(tmp_path: Path):
    async def play() -> None:
        board = PtyMcu(Mcu(2, BOOT_ID, now_us()), tmp_path / "board", now_us)
        host = Host(board.path)
        async with running(host):
            await host.until(lambda: host.count(SourceLost) == 1)
            assert host.reasons == [f"{board.path} is not there: is the board plugged in, and is this its name?"]
            assert host.source.status == host.reasons[0]
            assert not host.source.is_connected
            board.start()
            await host.until(lambda: host.count(SourceBack) == 1)
            assert len(host.reasons) == 1
        board.stop()

    asyncio.run(play())


def test_a_port_in_use_is_named_and_taken_when_it_is_free(tmp_path: Path):
    async def play() -> None:
        board = PtyMcu(Mcu(2, BOOT_ID, now_us()), tmp_path / "board", now_us)
        board.start()
        other = serial.Serial(str(board.path), exclusive=True)
        host = Host(board.path)
        async with running(host):
            await host.until(lambda: host.count(SourceLost) == 1)
            assert "in use by another program" in host.reasons[0]
            other.close()
            await host.until(lambda: host.count(SourceBack) == 1)
            # And the other way round: nobody else who asks for the port alone gets it from us.
            with pytest.raises(serial.SerialException):
                serial.Serial(str(board.path), exclusive=True)
        board.stop()

    asyncio.run(play())


def test_five_minutes_without_a_port_are_few_tries_and_one_sentence(monkeypatch: pytest.MonkeyPatch):
    """FR-057, in virtual time and with the true pauses."""
    monkeypatch.undo()
    tries = 0

    def refuse(self: serial.Serial) -> None:
        nonlocal tries
        tries += 1
        raise serial.SerialException(errno.ENOENT, "no such file")

    async def play() -> Host:
        loop = asyncio.get_running_loop()
        host = Host(Path("/dev/serial/by-id/board"), lambda: round(loop.time() * 1e9))
        async with running(host):
            await asyncio.sleep(300)
        return host

    monkeypatch.setattr(serial.Serial, "open", refuse)
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        host = runner.run(play())
    assert len(host.inputs) == 1
    assert 140 <= tries <= 160


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EACCES, "may not be opened"),
        (errno.EBUSY, "in use by another program"),
        (errno.ENXIO, "is not there"),
        (errno.EMFILE, "cannot be opened"),
    ],
)
def test_what_the_system_says_becomes_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str
):
    """FR-108."""
    port = tmp_path / "board"
    real_open = os.open

    def refuse(path: str, *args: int, **kwargs: int) -> int:
        if path == str(port):
            raise OSError(number, os.strerror(number), path)
        return real_open(path, *args, **kwargs)

    async def play() -> None:
        host = Host(port)
        async with running(host):
            await host.until(lambda: host.count(SourceLost) == 1)
        assert host.reasons[0].startswith(str(port))
        assert words in host.reasons[0]

    monkeypatch.setattr(os, "open", refuse)
    asyncio.run(play())


def test_a_file_is_no_serial_port(tmp_path: Path):
    async def play() -> None:
        (tmp_path / "notes.txt").write_text("not a port")
        host = Host(tmp_path / "notes.txt")
        async with running(host):
            await host.until(lambda: host.count(SourceLost) == 1)
        assert host.reasons == [f"{tmp_path / 'notes.txt'} is not a serial port"]

    asyncio.run(play())


def test_a_wrong_device_is_named_and_the_port_is_closed_in_between(tmp_path: Path):
    async def play() -> None:
        async with bare_pty(tmp_path / "board") as master:
            host = Host(tmp_path / "board", hurried(20))
            async with running(host):
                os.write(master, b"start\necho: Marlin\n\0")
                await host.until(lambda: host.count(SourceLost) == 1)
                assert "is no Pocketbeam board" in host.reasons[0]
                # The same port opened alone by somebody else: it is free while we wait for the next try.
                serial.Serial(str(tmp_path / "board"), exclusive=True).close()
                board = Mcu(2, BOOT_ID)
                os.write(master, board.poll(0))
                await asyncio.wait_for(pump_until_back(host, master, board), DEADLINE_S)

    asyncio.run(play())


def test_a_port_that_appears_and_vanishes_again_is_waited_for(tmp_path: Path):
    """FR-062: five times there for a moment, before any hello."""

    async def play() -> None:
        board = PtyMcu(Mcu(2, BOOT_ID, now_us()), tmp_path / "board", now_us)
        host = Host(board.path)
        async with running(host):
            for wanted in range(1, 6):
                await host.until(lambda wanted=wanted: host.count(SourceLost) >= wanted)  # type: ignore[misc]
                async with bare_pty(board.path) as master:
                    async with asyncio.timeout(DEADLINE_S):
                        await heard(master, Deframer())
            board.start()
            await host.until(lambda: host.count(SourceBack) == 1)
        board.stop()

    asyncio.run(play())


# ------------------------------------------------------------------ closing


def test_stop_leaves_nothing_open_and_delivers_nothing_more(tmp_path: Path):
    async def play() -> None:
        before = open_descriptors()
        board = PtyMcu(Mcu(2, BOOT_ID, now_us()), tmp_path / "board", now_us)
        host = Host(board.path)
        async with running(host, board):
            await host.until(lambda: host.count(SourceBack) == 1)
        delivered = len(host.inputs)
        assert open_descriptors() == before
        assert not board.path.exists()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        host.source.acknowledge(BOOT_ID, 0)
        await host.source.stop()
        assert len(host.inputs) == delivered

    asyncio.run(play())


def test_a_stop_while_waiting_for_the_port(tmp_path: Path):
    async def play() -> None:
        host = Host(tmp_path / "board")
        async with running(host):
            await host.until(lambda: host.count(SourceLost) == 1)
        async with bare_pty(tmp_path / "board"):
            pending = [handle for handle in asyncio.get_running_loop()._scheduled if not handle.cancelled()]  # type: ignore[attr-defined]
            assert pending == []

    asyncio.run(play())


# ------------------------------------------------------------------ the far end by hand


def hello(seq: int = 0, oldest: int = 0) -> Hello:
    return Hello(
        boot=BOOT_ID & 0xFFFF,
        seq=seq,
        tick=1000,
        firmware=(1, 0, 0),
        boot_id=BOOT_ID,
        reset_cause=1,
        board=0,
        tick_hz=1_000_000,
        oldest=oldest,
        ring=128,
        counters=BoardCounters(),
        levels=ChannelLevels(1, 0),
    )


async def heard(master: int, deframer: Deframer) -> list[object]:
    """Wait for bytes at the far end; return the messages in them."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(master, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(master)
    return [decode(found) for found in deframer.feed(os.read(master, 4096)) if isinstance(found, bytes)]


async def pump_until_back(host: Host, master: int, board: Mcu) -> None:
    """Let a board answer at the far end until the host has greeted it."""
    loop = asyncio.get_running_loop()

    def answer() -> None:
        board.receive(os.read(master, 4096), 0)
        os.write(master, board.poll(0))

    loop.add_reader(master, answer)
    try:
        await host.until(lambda: host.count(SourceBack) == 1)
    finally:
        loop.remove_reader(master)


@pytest.mark.parametrize("opens", ["before", "afterwards"])
def test_another_program_that_reads_the_port_takes_bytes_and_never_an_edge(tmp_path: Path, opens: str):
    """FR-058: it honours no lock, and what it has read the host never sees: told again, and counted as gaps."""

    async def play() -> None:
        board = PtyMcu(Mcu(12, BOOT_ID, now_us()), tmp_path / "board", now_us)
        host = Host(board.path)
        random = Random(58)
        stolen = 0
        board.start()
        thief = os.open(board.path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY) if opens == "before" else None
        async with running(host, board):
            await host.until(lambda: host.count(Levels) > 0)
            if thief is None:
                try:
                    thief = os.open(board.path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
                except OSError as error:
                    if error.errno != errno.EBUSY:
                        raise
                    return  # whoever is not root is kept out
            driven: list[tuple[int, int]] = []
            for number in range(100):
                driven.append((number % 3, 1 - number // 3 % 2))
                board.drive(*driven[-1])
                with suppress(BlockingIOError):
                    stolen += len(os.read(thief, random.randint(1, 40)))
                await asyncio.sleep(0)
            await host.until(lambda: host.edges == driven)
            async with asyncio.timeout(DEADLINE_S):
                await board.acknowledged()
            counters = host.source.counters
        os.close(thief)
        assert stolen > 100
        assert host.edges == driven
        assert not host.count(EdgesLost)
        assert counters.bad_frames + counters.gaps > 0, "what was missing was noticed"

    asyncio.run(play())
