"""One program a table: a second one would throw the first out at the broker, again and again, each way.

The lock on the state directory keeps two programs from one journal; this keeps two with journals of their own from
one name. It is an address among the host's abstract sockets, which ends with its process whatever way that dies,
needs no directory, and tells who holds it. Programs on two hosts are the broker's to keep apart.
"""

import errno
import hashlib
import socket
import struct
import time

from appliance.clock import SystemClock
from appliance.config import Settings
from appliance.journal import AlreadyRunningError

_PATIENCE_NS = 500_000_000  # a program that is just stopping gets this long to let go
_PAUSE_S = 0.02
_CREDENTIALS = struct.Struct("3i")


class TableName:
    """The right to be a table at a broker, from `acquire` to `release`."""

    def __init__(self, settings: Settings) -> None:
        """Take nothing yet."""
        self._table = settings.table.id
        self._broker = f"{settings.mqtt.host}:{settings.mqtt.port}"
        digest = hashlib.sha256(f"{self._broker}/{self._table}".encode()).hexdigest()
        self._address = f"\0pocketbeam-{digest}"
        self._socket: socket.socket | None = None

    def acquire(self) -> None:
        """Take the name; AlreadyRunningError naming the process that has it.

        Where the system has no such addresses, or keeps them from this program, there is nothing to take.
        """
        clock = SystemClock()
        give_up_ns = clock.monotonic_ns() + _PATIENCE_NS
        while not self._took():
            if clock.monotonic_ns() >= give_up_ns:
                raise AlreadyRunningError(
                    f"table {self._table} is already run by {self._holder()} at the broker {self._broker}"
                )
            time.sleep(_PAUSE_S)

    def release(self) -> None:
        """Let go of it."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _took(self) -> bool:
        try:
            taken = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        except OSError:
            return True
        try:
            taken.bind(self._address)
            taken.listen(1)
        except OSError as error:
            taken.close()
            return error.errno != errno.EADDRINUSE
        self._socket = taken
        return True

    def _holder(self) -> str:
        """Whoever listens there, as the kernel knows him."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
            try:
                asking.setblocking(False)
                asking.connect(self._address)
                credentials = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            except OSError:
                return "another process"
        process, _user, _group = _CREDENTIALS.unpack(credentials)
        return f"process {process}" if process else "another process"
