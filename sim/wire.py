"""Serial lines to break: an in-memory wire with faults, and a real pseudo-terminal.

`Wire` joins two ends that are only bytes and time. Each direction is a FIFO, as a serial line is: bytes may
be chopped, lost, garbled or late, they never overtake each other. Every fault comes from a seed.
`PtyMcu` puts a simulated board behind a pty, for programs that open a path.
"""

import asyncio
import os
import tty
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from sim.mcu import CAUSE_POWER_ON, Mcu

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Faults:
    """What a wire does to each chunk of bytes written to it, each direction for itself.

    `lose_frames` and `hurt_frames` are probabilities that a frame vanishes or loses one byte; `lose_bytes`
    and `flip_bits` hold for every single byte. `delay_us` is the longest delay; each chunk gets a random one.
    `junk` is the most random bytes that come before everything else each time the line is opened.
    """

    bytewise: bool = False
    lose_frames: float = 0.0
    hurt_frames: float = 0.0
    lose_bytes: float = 0.0
    flip_bits: float = 0.0
    delay_us: int = 0
    junk: int = 0


CLEAN = Faults()


class Line:
    """One direction of a wire: what is sent comes out at the other end, as far as the faults let it."""

    def __init__(self, faults: Faults, random: Random) -> None:
        """Begin empty and open."""
        self.faults = faults
        self._random = random
        self._chunks: deque[tuple[int, bytes]] = deque()
        self._paused = False
        self._clear_us = 0

    def open(self, now_us: int) -> None:
        """Begin anew: what was under way is gone, junk may come first."""
        self._chunks.clear()
        if self.faults.junk:
            junk = self._random.randbytes(self._random.randint(0, self.faults.junk))
            self._put(junk, now_us)

    def send(self, data: bytes, now_us: int) -> None:
        """Write `data` into the line."""
        damaged = b"".join(self._damage(frame) for frame in _frames(data))
        if self.faults.bytewise:
            for index in range(len(damaged)):
                self._put(damaged[index : index + 1], now_us)
        elif damaged:
            self._put(damaged, now_us)

    def receive(self, now_us: int) -> list[bytes]:
        """Return the chunks that have arrived."""
        arrived: list[bytes] = []
        while not self._paused and self._chunks and self._chunks[0][0] <= now_us:
            arrived.append(self._chunks.popleft()[1])
        return arrived

    def next_arrival_us(self) -> int | None:
        """Return when the next chunk arrives; None while nothing is under way or the line is paused."""
        return None if self._paused or not self._chunks else self._chunks[0][0]

    def pause(self) -> None:
        """Hold everything back."""
        self._paused = True

    def resume(self) -> None:
        """Let everything that was held back arrive."""
        self._paused = False

    def _put(self, data: bytes, now_us: int) -> None:
        delay_us = self._random.randint(0, self.faults.delay_us)
        self._clear_us = max(self._clear_us, now_us + delay_us)
        self._chunks.append((self._clear_us, data))

    def _damage(self, frame: bytes) -> bytes:
        faults, random = self.faults, self._random
        if random.random() < faults.lose_frames:
            return b""
        hurt = bytearray(frame)
        if random.random() < faults.hurt_frames:
            del hurt[random.randrange(len(hurt))]
        if faults.lose_bytes:
            hurt = bytearray(byte for byte in hurt if random.random() >= faults.lose_bytes)
        if faults.flip_bits:
            for index in range(len(hurt)):
                if random.random() < faults.flip_bits:
                    hurt[index] ^= 1 << random.randrange(8)
        return bytes(hurt)


class Wire:
    """Both directions between a host and a board."""

    def __init__(self, faults: Faults = CLEAN, seed: int = 0) -> None:
        """Begin open and empty."""
        random = Random(seed)
        self.to_host = Line(faults, random)
        self.to_board = Line(faults, random)

    def open(self, now_us: int) -> None:
        """Begin both directions anew, as when a cable is plugged in."""
        self.to_host.open(now_us)
        self.to_board.open(now_us)

    def pause(self) -> None:
        """Hold back both directions."""
        self.to_host.pause()
        self.to_board.pause()

    def resume(self) -> None:
        """Let both directions run again."""
        self.to_host.resume()
        self.to_board.resume()


class PtyMcu:
    """Runs a simulated board behind a pseudo-terminal, in the running event loop.

    `path` is a symbolic link that stays the same when the pty behind it changes, as the names under
    /dev/serial/by-id do. `now_us` is the board's time; where it is not the event loop's own, whoever moves it
    calls `flush` after each step. Bytes that find the pty full are lost and counted, as on a line without
    flow control.
    """

    def __init__(self, mcu: Mcu, path: Path, now_us: Callable[[], int]) -> None:
        """Prepare; nothing exists before `start`."""
        self.mcu = mcu
        self.path = path
        self.bytes_lost = 0
        self._now_us = now_us
        self._master: int | None = None
        self._slave: int | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._empty = asyncio.Event()

    def start(self) -> None:
        """Plug the board in."""
        self.replug()

    def stop(self) -> None:
        """Unplug it and remove the link."""
        self.unplug()

    def replug(self) -> None:
        """Open a new pty and point `path` to it; the board has kept its power, its ring and its boot id."""
        if self._master is not None:
            return
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        fresh = self.path.with_name(self.path.name + ".new")
        fresh.symlink_to(os.ttyname(self._slave))
        fresh.replace(self.path)
        asyncio.get_running_loop().add_reader(self._master, self._readable)
        self.flush()

    def unplug(self) -> None:
        """Pull the cable: whoever has the port open sees it hang up, and the link is gone."""
        if self._master is None or self._slave is None:
            return
        asyncio.get_running_loop().remove_reader(self._master)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.path.unlink(missing_ok=True)
        os.close(self._slave)
        os.close(self._master)
        self._master = self._slave = None

    def drive(self, channel: int, level: int, at_us: int | None = None) -> None:
        """Set the level of a channel, now unless `at_us` says when, and send what follows from it."""
        self.mcu.drive(channel, level, self._now_us() if at_us is None else at_us)
        self.flush()

    def report_colour(self, channel: int, object: str, at_us: int | None = None) -> None:
        """Report a colour at a channel, now unless `at_us` says when, and send it."""
        self.mcu.report_colour(channel, object, self._now_us() if at_us is None else at_us)
        self.flush()

    def reset(self, cause: int = CAUSE_POWER_ON, at_us: int | None = None) -> None:
        """Restart the board's firmware under the next boot id."""
        self.mcu.reset(cause, self._now_us() if at_us is None else at_us)
        self.flush()

    async def acknowledged(self) -> None:
        """Wait until the host has acknowledged every entry."""
        self._note_kept()
        await self._empty.wait()

    def flush(self) -> None:
        """Send whatever is due at the board's present time; does nothing while unplugged."""
        self._note_kept()
        if self._master is None:
            return
        now_us = self._now_us()
        data = self.mcu.poll(now_us)
        if data:
            try:
                written = os.write(self._master, data)
            except BlockingIOError:
                written = 0
            self.bytes_lost += len(data) - written
        if self._timer is not None:
            self._timer.cancel()
        delay_s = max(0, self.mcu.next_deadline_us() - now_us) / _MILLION
        self._timer = asyncio.get_running_loop().call_later(delay_s, self.flush)

    def _readable(self) -> None:
        assert self._master is not None
        self.mcu.receive(os.read(self._master, 4096), self._now_us())
        self.flush()

    def _note_kept(self) -> None:
        if self.mcu.kept:
            self._empty.clear()
        else:
            self._empty.set()


def _frames(data: bytes) -> list[bytes]:
    """Cut bytes behind each delimiter, without a look at what is in them."""
    pieces = data.split(b"\0")
    return [piece + b"\0" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])
