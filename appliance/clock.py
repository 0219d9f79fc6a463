"""The only file that asks the system for the time.

Order and durations come from the monotonic clock; wall time is told to people and never compared, because a
Raspberry Pi without a clock chip starts with a wrong one and jumps when the network comes. Whether wall time
can be believed is asked of the kernel, where every time service (timesyncd, chrony, ntpd) leaves its word.
"""

import time
import uuid
from pathlib import Path
from typing import Protocol

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_TIMESYNC_MARK = Path("/run/systemd/timesync/synchronized")
_TIME_ERROR = 5  # what adjtimex(2) returns while the kernel's clock is not synchronised
_TIMEX_BYTES = 1024  # more than struct timex takes on any architecture
_BELIEVE_FOR_NS = 5_000_000_000


class Clock(Protocol):
    """What the daemon needs of time; tests give it a virtual one."""

    def monotonic_ns(self) -> int:
        """Nanoseconds since some fixed point of this boot; never goes back."""

    def wall_ns(self) -> int:
        """Nanoseconds since the epoch, UTC, for people to read."""

    def synchronised(self) -> bool:
        """Whether a time service has set the wall clock."""

    def boot_id(self) -> str:
        """The name of this boot of the host: monotonic times are comparable only within one."""


class SystemClock:
    """The clock of the machine that we run on."""

    def __init__(self) -> None:
        """Ask nothing yet."""
        self._synchronised = False
        self._asked_at_ns: int | None = None
        self._boot_id: str | None = None

    def monotonic_ns(self) -> int:
        """Nanoseconds of the monotonic clock."""
        return time.monotonic_ns()

    def wall_ns(self) -> int:
        """Nanoseconds since the epoch."""
        return time.time_ns()

    def synchronised(self) -> bool:
        """Whether the wall clock is synchronised; asked of the system at most every five seconds."""
        now_ns = time.monotonic_ns()
        if self._asked_at_ns is None or now_ns - self._asked_at_ns >= _BELIEVE_FOR_NS:
            self._synchronised = _kernel_synchronised()
            self._asked_at_ns = now_ns
        return self._synchronised

    def boot_id(self) -> str:
        """The kernel's boot id; where there is none, a fresh one, as if each start were a new boot."""
        if self._boot_id is None:
            try:
                self._boot_id = _BOOT_ID.read_text("ascii").strip()
            except OSError:
                self._boot_id = str(uuid.uuid4())
        return self._boot_id


def _kernel_synchronised() -> bool:
    """The kernel's answer, or timesyncd's mark where the kernel does not let us ask."""
    import ctypes  # not needed by a program that never asks

    try:
        state = int(ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES)))
    except (OSError, AttributeError):
        state = -1
    if state < 0:
        return _TIMESYNC_MARK.exists()
    return state != _TIME_ERROR
