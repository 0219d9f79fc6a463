"""The built firmware in real time behind a pty, and a cable to it that can be pulled."""

import asyncio
import contextlib
import os
import subprocess
import tty
from collections.abc import Iterator
from pathlib import Path

from appliance.link.framing import Deframer
from appliance.link.messages import Ack, Edges, Heartbeat, Hello, HostHeartbeat, decode
from tests.firmware.programs import Programs

_READ_BYTES = 4096


class Emulation:
    """The emulator, by its commands; times count from the command on."""

    def __init__(self, programs: Programs) -> None:
        self._process = subprocess.Popen(
            [programs.emulator, programs.elf, "--pty"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.port = self._process.stdout.readline().strip()

    def tell(self, *commands: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("".join(f"{command}\n" for command in commands))
        self._process.stdin.flush()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextlib.contextmanager
def emulation(programs: Programs) -> Iterator[Emulation]:
    """A board that has just been powered on."""
    running = Emulation(programs)
    try:
        yield running
    finally:
        running.close()


class Cable:
    """What lies between a board and the port `path`. A board keeps its power while the cable is pulled.

    Both directions are read along: `levels` are the board's newest, `acknowledged` counts the entries of its present
    boot that it may forget, `sent` those of all boots that have been on the line, as (boot, number).
    """

    def __init__(self, board: Emulation, path: Path) -> None:
        """Unplugged; needs a running event loop."""
        self.path = path
        self.levels = 0
        self.boot: int | None = None
        self.lost = self.resent = self.acknowledged = 0
        self.sent: set[tuple[int, int]] = set()
        self._board = os.open(board.port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        self._ends: tuple[int, int] | None = None
        self._from_board, self._from_host = Deframer(), Deframer()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._board, self._board_spoke)

    def plug(self) -> None:
        """The port is there, under a number of its own."""
        master, slave = os.openpty()
        tty.setraw(slave)
        os.set_blocking(master, False)
        self._ends = (master, slave)
        self._loop.add_reader(master, self._host_spoke)
        self.path.symlink_to(os.ttyname(slave))

    def pull(self) -> None:
        """Whoever has the port open sees it hang up; what the board says is lost."""
        if self._ends is None:
            return
        self.path.unlink()
        self._loop.remove_reader(self._ends[0])
        for end in self._ends:
            os.close(end)
        self._ends = None

    def close(self) -> None:
        """Throw it away."""
        self.pull()
        self._loop.remove_reader(self._board)
        os.close(self._board)

    def level(self, channel: int) -> int:
        """What the board last said of a channel."""
        return self.levels >> channel & 1

    def _board_spoke(self) -> None:
        data = os.read(self._board, _READ_BYTES)
        for found in self._from_board.feed(data):
            message = decode(found) if isinstance(found, bytes) else None
            match message:
                case Hello():
                    if message.boot != self.boot:
                        self.boot, self.acknowledged = message.boot, 0
                case Heartbeat():
                    self.levels = message.levels.mask
                    self.lost, self.resent = message.counters.lost, message.counters.resent
                case Edges():
                    self.sent |= {(message.boot, message.seq + n) for n in range(len(message.entries))}
        if self._ends is not None:
            with contextlib.suppress(BlockingIOError):
                os.write(self._ends[0], data)

    def _host_spoke(self) -> None:
        assert self._ends is not None
        data = os.read(self._ends[0], _READ_BYTES)
        for found in self._from_host.feed(data):
            message = decode(found) if isinstance(found, bytes) else None
            if isinstance(message, Ack | HostHeartbeat) and message.boot == self.boot:
                self.acknowledged = max(self.acknowledged, message.seq)
        os.write(self._board, data)


@contextlib.contextmanager
def cable(board: Emulation, path: Path) -> Iterator[Cable]:
    """A cable that is plugged in."""
    laid = Cable(board, path)
    laid.plug()
    try:
        yield laid
    finally:
        laid.close()
