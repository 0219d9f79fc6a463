"""A board at a serial port: the port, the timers and the reopening around a `HostSession`.

The session decides everything about bytes; this file only opens the port by its path, carries bytes both
ways without ever waiting, and calls the session when its time comes. A port that hangs up, vanishes, is
refused or never answers is closed and opened again by path, each time after a longer pause, so that an
adapter which comes back under another number is found through its stable name. What is in the way is one
sentence for the table's owner, said once.
"""

import asyncio
import errno
import os
import termios
from collections.abc import Callable, Mapping
from contextlib import suppress

import serial

from appliance.events import SourceInput
from appliance.grammar import how_many
from appliance.link.counters import LinkCounters
from appliance.link.messages import BOARDS, ForeignHello, Hello
from appliance.link.session import HostSession, LinkState

RETRY_FIRST_S = 0.25
RETRY_LAST_S = 2.0
BLOCKED_PAUSE_S = 0.1
"""How long a port that takes no bytes is left alone, unless bytes come in meanwhile."""
_READ_BYTES = 4096
_CONTROL_FLAGS = 2
_SPECIAL_CHARACTERS = 6


class SerialSource:
    """Keeps one board's link up. `now_ns` is the host's monotonic clock; `deliver` gets inputs in order."""

    def __init__(
        self,
        source_id: str,
        port: str,
        baud: int,
        session: HostSession,
        deliver: Callable[[list[SourceInput]], None],
        now_ns: Callable[[], int],
    ) -> None:
        """Only remember; nothing is opened before `start`."""
        self.source_id = source_id
        self.port = port
        self._baud = baud
        self._session = session
        self._deliver = deliver
        self._now_ns = now_ns
        self._device: serial.Serial | None = None
        self._unsent = b""
        self._timer: asyncio.TimerHandle | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._retry_after_s = RETRY_FIRST_S
        self._moved_at_ns = 0

    # ---------------------------------------------------------------- what the daemon does and asks

    def start(self) -> None:
        """Open the port now, or as soon as it is there; needs a running event loop."""
        self._open()

    async def stop(self) -> None:
        """Close the port and cancel every timer; nothing is delivered any more."""
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        self._close()

    def acknowledge(self, boot_id: int, next_sequence: int) -> None:
        """Tell the board at once that everything below `next_sequence` is durable."""
        self._session.acknowledge(boot_id, next_sequence)
        self._send()

    def show(self, levels: Mapping[int, int]) -> None:
        """Set outputs by channel, now and again whenever the board does not show them."""
        self._session.show(levels)
        self._send()

    @property
    def status(self) -> str:
        """How the link stands, in words."""
        return self._session.status

    @property
    def outages(self) -> Mapping[int, str]:
        """By channel: why it cannot be used, while the others can; nothing while the board is not heard."""
        return self._session.outages

    @property
    def is_connected(self) -> bool:
        """Whether the board has said hello and is heard."""
        return self._session.state is LinkState.UP

    @property
    def counters(self) -> LinkCounters:
        """A snapshot of what the link has counted."""
        return self._session.counters

    @property
    def moved_at_ns(self) -> int:
        """When the port was last attended to, or tried."""
        return self._moved_at_ns

    @property
    def hello(self) -> Hello | ForeignHello | None:
        """What the board last said about itself."""
        return self._session.hello

    @property
    def board(self) -> str | None:
        """What the board said about itself, in words; None before it has, and for one of another protocol."""
        hello = self._session.hello
        if not isinstance(hello, Hello):
            return None
        board = BOARDS.get(hello.board, f"board {hello.board}")
        firmware = ".".join(map(str, hello.firmware))
        inputs = how_many(hello.levels.channels, "input")
        return f"{board}, firmware {firmware}, protocol {hello.protocol}, {inputs}"

    @property
    def delivered(self) -> tuple[int, int] | None:
        """(boot id, next number) of what has been delivered: what may be acknowledged once it is synced."""
        return self._session.delivered

    # ---------------------------------------------------------------- the port

    def _open(self) -> None:
        self._moved_at_ns = self._now_ns()
        self._retry = None
        device = serial.Serial()
        device.port = self.port
        device.baudrate = self._baud
        device.timeout = device.write_timeout = 0
        device.exclusive = True
        try:
            device.open()
            _set_up(device.fileno())
        except (OSError, ValueError, termios.error) as error:
            device.close()
            self._fail(_why_not_opened(self.port, error))
            return
        self._device = device
        asyncio.get_running_loop().add_reader(device.fileno(), self._readable)
        self._session.connected(self._now_ns())
        self._send()

    def _close(self) -> None:
        """Close the port without waiting for bytes that nobody will take any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        device, self._device = self._device, None
        self._unsent = b""
        if device is None:
            return
        asyncio.get_running_loop().remove_reader(device.fileno())
        with suppress(OSError, termios.error):
            device.reset_output_buffer()
        device.close()

    def _fail(self, reason: str) -> None:
        """Give the port up for now; try again by path after a pause that grows until a board says hello."""
        self._close()
        self._hand_over(self._session.disconnected(reason, self._now_ns()))
        self._retry = asyncio.get_running_loop().call_later(self._retry_after_s, self._open)
        self._retry_after_s = min(2 * self._retry_after_s, RETRY_LAST_S)

    # ---------------------------------------------------------------- bytes and time

    def _due(self) -> None:
        # Bytes that have been waiting while the loop was held up come before any judgement on silence.
        self._timer = None
        self._readable()

    def _readable(self) -> None:
        self._moved_at_ns = self._now_ns()
        assert self._device is not None
        try:
            data = os.read(self._device.fileno(), _READ_BYTES)
        except BlockingIOError:
            pass
        except OSError:
            self._hang_up()
        else:
            if data:
                self._hand_over(self._session.receive(data, self._now_ns()))
            else:
                self._hang_up()
        self._attend()

    def _hang_up(self) -> None:
        self._fail(f"{self.port} has hung up: the board was unplugged or has lost its power")

    def _attend(self) -> None:
        self._hand_over(self._session.expire(self._now_ns()))
        if self._session.state is LinkState.UP:
            self._retry_after_s = RETRY_FIRST_S
        if self._session.unanswered:
            self._fail(self._session.reason or "")
        else:
            self._send()

    def _send(self) -> None:
        """Send what the session has to say, as far as the port takes it now, and set the timer."""
        if self._device is None:
            return
        if not self._unsent:
            self._unsent = self._session.poll(self._now_ns())
        if self._unsent:
            try:
                self._unsent = self._unsent[os.write(self._device.fileno(), self._unsent) :]
            except BlockingIOError:
                pass
            except OSError as error:
                self._fail(f"{self.port} takes no more bytes ({error.strerror}): the board was unplugged")
                return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadline_ns = self._session.next_deadline_ns()
        if deadline_ns is not None:
            # The session has nothing more to say before the port has taken what it said last.
            least_s = BLOCKED_PAUSE_S if self._unsent else 0.0
            delay_s = max(least_s, (deadline_ns - self._now_ns()) / 1e9)
            self._timer = asyncio.get_running_loop().call_later(delay_s, self._due)

    def _hand_over(self, inputs: list[SourceInput]) -> None:
        if inputs:
            self._deliver(inputs)


def _set_up(fileno: int) -> None:
    """Change what pyserial leaves otherwise.

    DTR stays up when the port is closed: on many boards its drop and rise is the reset button. And reading
    nothing then means a hang-up alone; while the line is merely idle it is `BlockingIOError`.
    """
    attributes = termios.tcgetattr(fileno)
    attributes[_CONTROL_FLAGS] &= ~termios.HUPCL
    attributes[_SPECIAL_CHARACTERS][termios.VMIN] = 1
    attributes[_SPECIAL_CHARACTERS][termios.VTIME] = 0
    termios.tcsetattr(fileno, termios.TCSANOW, attributes)


def _why_not_opened(port: str, error: Exception) -> str:
    """Return a sentence on what stands between us and the port, and what would help."""
    match _error_number(error):
        case errno.ENOENT | errno.ENODEV | errno.ENXIO:
            return f"{port} is not there: is the board plugged in, and is this its name?"
        case errno.EACCES | errno.EPERM:
            return f"{port} may not be opened: the user needs to be in the group that owns it (often dialout)"
        case errno.EBUSY | errno.EAGAIN:
            return f"{port} is in use by another program: close that one, the port is tried again by itself"
        case errno.ENOTTY | errno.EISDIR | errno.EINVAL:
            return f"{port} is not a serial port"
        case _:
            return f"{port} cannot be opened ({error})"


def _error_number(error: BaseException | None) -> int | None:
    """Return the system's error number; pyserial sometimes hides it in the exception before its own."""
    while error is not None:
        number = error.errno if isinstance(error, OSError) else next(iter(error.args), None)
        if isinstance(number, int):
            return number
        error = error.__context__
    return None
