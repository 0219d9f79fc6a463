"""What the service manager is told: ready, alive, stopping, and one line on how things stand.

systemd gives the process the address of a datagram socket (NOTIFY_SOCKET) and says how long it may be silent
(WATCHDOG_USEC) before it is taken for dead, killed and started again. Without an address nothing is told.

The pings come from the event loop through which every edge goes, so a loop that hangs is silent by itself. But
a loop may turn while a part of the table is dead: a timer that an error has ended, a thread that hands over no
edges any more. So before each ping every table is asked whether a part of it stands still. A board, a
controller or a broker that is missing is no such part: what looks for it moves, and a restart would bring
nothing but a gap.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

PINGS_IN_TIME = 3
"""So many pings are planned in the time that the manager waits for one."""
STATUS_EVERY_S = 10.0
"""How often the status line is looked at where nobody waits for pings."""
STATUS_LENGTH = 400

_log = logging.getLogger(__name__)


class ServiceManager:
    """The way to the service manager, where there is one."""

    def __init__(self, address: str | None = None, watchdog_s: float | None = None) -> None:
        """Only remember. `address` is a path, or `@` and an abstract name; `watchdog_s`: how long silence may last."""
        self.address = address
        self.watchdog_s = watchdog_s
        self._socket: socket.socket | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], process_id: int) -> "ServiceManager":
        """As sd_notify(3) and sd_watchdog_enabled(3) say; the watchdog may be meant for another process."""
        address = environment.get("NOTIFY_SOCKET", "")
        microseconds = environment.get("WATCHDOG_USEC", "")
        mine = environment.get("WATCHDOG_PID", str(process_id)) == str(process_id)
        watched = mine and microseconds.isascii() and microseconds.isdigit() and int(microseconds) > 0
        return cls(
            address if address.startswith(("/", "@")) else None,
            int(microseconds) / 1_000_000 if watched else None,
        )

    def tell(self, *lines: str) -> bool:
        """Send `NAME=value` lines in one datagram, without ever waiting; whether they were taken."""
        if self.address is None:
            return False
        address = "\0" + self.address[1:] if self.address.startswith("@") else self.address
        try:
            if self._socket is None:
                self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
            self._socket.sendto("\n".join(lines).encode(), address)
        except OSError as error:
            _log.warning("the service manager could not be told %s: %s", lines[0], error.strerror)
            return False
        return True

    def close(self) -> None:
        """Tell nothing more."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self.address = None


class Watched(Protocol):
    """What is asked of a table."""

    def standing_still(self, now_ns: int) -> str | None:
        """Which part must be dead, because it has not moved for long; None where all of them move."""

    def summary(self) -> str:
        """How the table stands, in one line."""


class Pulse:
    """Tells the service manager of some tables, from their event loop."""

    def __init__(self, manager: ServiceManager, tables: Sequence[Watched], now_ns: Callable[[], int]) -> None:
        """Only remember; nothing is told before `ready`. `now_ns` is the clock that the tables go by."""
        self._manager = manager
        self._tables = tables
        self._now_ns = now_ns
        self._timer: asyncio.TimerHandle | None = None
        self._status = ""
        self._reason: str | None = None
        watchdog_s = manager.watchdog_s
        self._every_s = STATUS_EVERY_S if watchdog_s is None else watchdog_s / PINGS_IN_TIME
        self._ready = False

    def ready(self) -> None:
        """The tables are in service: say so, and from now on that they live."""
        if self._manager.address is not None:
            self._beat()

    def stop(self) -> None:
        """The end has begun; what is still to be done may take as long as the manager allows for it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._manager.address is not None:
            self._manager.tell("STOPPING=1", "STATUS=stopping")
        self._manager.close()

    def _beat(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._every_s, self._beat)
        now_ns = self._now_ns()
        reason = next(filter(None, (table.standing_still(now_ns) for table in self._tables)), None)
        if reason is not None and reason != self._reason:
            _log.error("%s; the service manager will end this process and start it again", reason)
        self._reason = reason
        status = reason or "; ".join(table.summary() for table in self._tables)
        if len(status) > STATUS_LENGTH:
            status = f"{status[:STATUS_LENGTH]}…"
        lines = [] if self._ready else ["READY=1"]
        if self._manager.watchdog_s is not None and reason is None:
            lines.append("WATCHDOG=1")
        if status != self._status:
            lines.append(f"STATUS={status}")
        if lines and self._manager.tell(*lines):
            self._ready, self._status = True, status
