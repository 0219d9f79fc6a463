"""A host session and a simulated board at two ends of a wire, in virtual time.

`Bench` moves from one thing that happens to the next: a byte arriving, a deadline of either end, a step of
the script. Nothing waits and nothing sleeps.
"""

from collections.abc import Callable
from typing import TypeVar

from appliance.events import ColourReading, Edge, SourceInput
from appliance.link.session import HostSession
from sim.mcu import Mcu
from sim.wire import CLEAN, Faults, Wire

BOOT_ID = 0x12345678
CHANNELS = 12
SECOND_US = 1_000_000
HOST_STARTED_NS = 7_000_000_000_000
"""The host's clock when the board's simulator says 0: the two have nothing in common."""

Input = TypeVar("Input", bound=SourceInput)


class Bench:
    """The host acknowledges what it got `sync_us` later, as a journal would; None: never by itself."""

    def __init__(
        self,
        faults: Faults = CLEAN,
        *,
        seed: int = 1,
        mcu: Mcu | None = None,
        session: HostSession | None = None,
        sync_us: int | None = 5_000,
        now_us: int = 0,
    ) -> None:
        self.now_us = now_us
        self.mcu = mcu or Mcu(CHANNELS, BOOT_ID, now_us)
        self.wire = Wire(faults, seed)
        self.session = session or HostSession("board")
        self.sync_us = sync_us
        self.inputs: list[SourceInput] = []
        self.sent_by_host = b""
        self.durable: dict[int, int] = {}
        self._syncs: list[tuple[int, tuple[int, int]]] = []
        self._script: list[tuple[int, Callable[[], object]]] = []
        self.plugged = False

    @property
    def now_ns(self) -> int:
        return self.host_ns(self.now_us)

    @staticmethod
    def host_ns(at_us: int) -> int:
        return HOST_STARTED_NS + at_us * 1000

    def plug(self) -> "Bench":
        self.wire.open(self.now_us)
        self.session.connected(self.now_ns)
        self.plugged = True
        return self

    def unplug(self) -> None:
        self.plugged = False
        self._take(self.session.disconnected("pulled", self.now_ns))

    def restart_host(self) -> None:
        """Kill the host: a new session knows only what was durable, and asks the board for the rest."""
        self._syncs.clear()
        self.session = HostSession("board", resume=self.durable)
        self.plug()

    def at(self, at_us: int, do: Callable[[], object]) -> None:
        """Put something into the script."""
        self._script.append((at_us, do))
        self._script.sort(key=lambda step: step[0])

    def run(self, until_us: int) -> None:
        """Let time pass until `until_us`."""
        while True:
            next_us = min((at_us for at_us in self._next_times() if at_us is not None), default=until_us)
            self.now_us = max(self.now_us, min(next_us, until_us))
            self._happen()
            if next_us > until_us or (next_us <= self.now_us == until_us and not self._pending()):
                return

    def run_until(self, reached: Callable[[], bool], within_s: int = 600) -> None:
        """Let time pass until a condition holds."""
        deadline_us = self.now_us + within_s * SECOND_US
        while not reached():
            assert self.now_us < deadline_us, self.session.counters
            self.run(min(deadline_us, self.now_us + 10_000))

    def of(self, kind: type[Input]) -> list[Input]:
        return [value for value in self.inputs if isinstance(value, kind)]

    @property
    def edges(self) -> list[tuple[int, int]]:
        """(channel, level) of each edge delivered."""
        return [(edge.channel, edge.level) for edge in self.of(Edge)]

    def _next_times(self) -> list[int | None]:
        times: list[int | None] = [
            self._script[0][0] if self._script else None,
            self._syncs[0][0] if self._syncs else None,
        ]
        if self.plugged:
            deadline_ns = self.session.next_deadline_ns()
            times += [
                self.mcu.next_deadline_us(),
                self.wire.to_host.next_arrival_us(),
                self.wire.to_board.next_arrival_us(),
                None if deadline_ns is None else -((HOST_STARTED_NS - deadline_ns) // 1000),
            ]
        return times

    def _pending(self) -> bool:
        return any(at_us is not None and at_us <= self.now_us for at_us in self._next_times())

    def _happen(self) -> None:
        while self._script and self._script[0][0] <= self.now_us:
            self._script.pop(0)[1]()
        while self._syncs and self._syncs[0][0] <= self.now_us:
            boot_id, following = self._syncs.pop(0)[1]
            self.durable.pop(boot_id, None)
            self.durable[boot_id] = following
            self.session.acknowledge(boot_id, following)
        if not self.plugged:
            self.mcu.poll(self.now_us)
            return
        for chunk in self.wire.to_board.receive(self.now_us):
            self.mcu.receive(chunk, self.now_us)
        self.wire.to_host.send(self.mcu.poll(self.now_us), self.now_us)
        for chunk in self.wire.to_host.receive(self.now_us):
            self._take(self.session.receive(chunk, self.now_ns))
        self._take(self.session.expire(self.now_ns))
        sent = self.session.poll(self.now_ns)
        self.sent_by_host += sent
        self.wire.to_board.send(sent, self.now_us)

    def _take(self, inputs: list[SourceInput]) -> None:
        self.inputs += inputs
        named = [value.identity for value in inputs if isinstance(value, Edge | ColourReading)]
        if named and named[-1] is not None and self.sync_us is not None:
            durable = (named[-1].boot_id, named[-1].sequence + 1)
            self._syncs.append((self.now_us + self.sync_us, durable))
