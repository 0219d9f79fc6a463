"""Beams and buttons on the pins of the host itself.

A pin's edge is stamped by the kernel and handed over from a thread of the library; that thread only puts it
into a queue. Levels are read at the start and every heartbeat, so that an edge which the kernel's buffer
dropped leaves no wrong level for long. A reading may be older than an edge that is still on its way, so it
waits for a moment, and counts only for pins that have been still since.

A pin that cannot be claimed is left out and tried again; the others go on. When the controller goes away,
everything is closed and looked for again by its label.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from appliance.events import Edge, Levels, SourceBack, SourceInput, SourceLost
from appliance.sources.header import HeaderError, PinsPort, Pull, open_header

HEARTBEAT_S = 0.25
SETTLE_S = 0.02
RETRY_FIRST_S = 0.5
RETRY_LAST_S = 10.0
QUEUE_LIMIT = 50_000
NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class GpioCounters:
    """What the source has counted since it was made."""

    edges: int = 0
    edges_dropped: int = 0
    levels_repaired: int = 0
    opened: int = 0
    pins_out: int = 0


class GpioSource:
    """The pins of one header. `pulls` names the inputs by GPIO number, each with its pull."""

    def __init__(
        self,
        source_id: str,
        pulls: Mapping[int, Pull],
        outputs: tuple[int, ...],
        deliver: Callable[[list[SourceInput]], None],
        now_ns: Callable[[], int],
        open_pins: Callable[[], PinsPort] = open_header,
    ) -> None:
        """Only remember; nothing is claimed before `start`."""
        self.source_id = source_id
        self._pulls = dict(pulls)
        self._outputs = outputs
        self._deliver = deliver
        self._now_ns = now_ns
        self._open_pins = open_pins
        self._pins: PinsPort | None = None
        self._reason: str | None = "not opened yet"
        self._queue: deque[tuple[int, int, int]] = deque()
        self._levels: dict[int, int] = {}
        self._last_edge_ns: dict[int, int] = {}
        self._out: dict[int, str] = {}
        self._lamps: dict[int, int] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._retry_s = RETRY_FIRST_S
        self._edges = self._dropped = self._repaired = self._opened = 0

    # -- what the daemon does and asks ---------------------------------------------------------------------

    def start(self) -> None:
        """Claim the pins now, or as soon as they can be had; needs a running event loop."""
        self._loop = asyncio.get_running_loop()
        self._open()

    async def stop(self) -> None:
        """Let go of the pins; nothing is delivered any more."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._close()

    def acknowledge(self, boot_id: int, next_sequence: int) -> None:
        """A pin repeats nothing, so there is nothing to acknowledge."""

    @property
    def is_connected(self) -> bool:
        """Whether the header is open and at least one pin is watched."""
        return self._pins is not None

    @property
    def status(self) -> str:
        """How the pins stand; a pin that is out is named with its reason."""
        if self._reason is not None:
            return self._reason
        return "; ".join(self._out.values()) if self._out else "connected"

    @property
    def counters(self) -> GpioCounters:
        """A snapshot of what was counted."""
        return GpioCounters(self._edges, self._dropped, self._repaired, self._opened, len(self._out))

    def write(self, number: int, level: int) -> None:
        """Set an output; a lamp whose pin is out is set when it comes back."""
        self._lamps[number] = level
        if self._pins is None or number in self._out:
            return
        try:
            self._pins.write(number, level)
        except HeaderError as error:
            self._lose(str(error))

    # -- opening -------------------------------------------------------------------------------------------

    def _open(self) -> None:
        try:
            self._pins = self._open_pins()
        except HeaderError as error:
            self._reason = str(error)
            self._retry_later(self._open)
            return
        self._reason = None
        self._opened += 1
        self._out = dict.fromkeys((*self._pulls, *self._outputs), "")
        at_ns = self._now_ns()
        self._deliver([SourceBack(self.source_id, None, at_ns)])
        self._claim_missing()
        self._beat()

    def _claim_missing(self) -> None:
        """Claim every pin that is out; what cannot be had is tried again later, the others are not disturbed."""
        assert self._pins is not None
        for number in tuple(self._out):
            try:
                if number in self._pulls:
                    self._pins.claim(number, self._pulls[number], self._on_edge)
                    self._levels[number] = self._pins.level(number)
                else:
                    self._pins.claim_output(number)
                    self._pins.write(number, self._lamps.get(number, 0))
            except HeaderError as error:
                self._out[number] = str(error)
            else:
                del self._out[number]
        if self._out:
            self._retry_later(self._claim_missing)
        else:
            self._retry_s = RETRY_FIRST_S

    def _retry_later(self, again: Callable[[], None]) -> None:
        assert self._loop is not None
        self._timers["retry"] = self._loop.call_later(self._retry_s, again)
        self._retry_s = min(RETRY_LAST_S, self._retry_s * 2)

    def _lose(self, reason: str) -> None:
        """The controller is gone: close what is left of it, say so, and look for it again."""
        self._close()
        self._reason = reason
        for name in ("beat", "settle", "retry"):
            if name in self._timers:
                self._timers.pop(name).cancel()
        self._deliver([SourceLost(self.source_id, reason, self._now_ns())])
        self._retry_s = RETRY_FIRST_S
        self._retry_later(self._open)

    def _close(self) -> None:
        pins, self._pins = self._pins, None
        self._levels.clear()
        self._last_edge_ns.clear()
        self._queue.clear()
        if pins is not None:
            pins.close()

    # -- edges ---------------------------------------------------------------------------------------------

    def _on_edge(self, number: int, level: int, at_ns: int) -> None:
        """On the library's thread: put the edge into the queue and wake the loop, nothing else."""
        if len(self._queue) >= QUEUE_LIMIT:
            self._dropped += 1
            return
        self._queue.append((number, level, at_ns))
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._drain)

    def _drain(self) -> None:
        """On the loop: hand over everything in the queue, in the order of the kernel's stamps."""
        taken: list[tuple[int, int, int]] = []
        while self._queue:
            taken.append(self._queue.popleft())
        if self._pins is None or not taken:
            return
        taken.sort(key=lambda edge: edge[2])
        self._edges += len(taken)
        edges: list[SourceInput] = []
        for number, level, at_ns in taken:
            self._levels[number] = level
            self._last_edge_ns[number] = at_ns
            edges.append(Edge(self.source_id, number, level, at_ns))
        self._deliver(edges)

    # -- levels --------------------------------------------------------------------------------------------

    def _beat(self) -> None:
        assert self._loop is not None
        if self._pins is None:
            return
        read_ns = self._now_ns()
        try:
            readings = {number: self._pins.level(number) for number in self._pulls if number not in self._out}
        except HeaderError as error:
            self._lose(str(error))
            return
        self._timers["settle"] = self._loop.call_later(SETTLE_S, self._settled, read_ns, readings)
        self._timers["beat"] = self._loop.call_later(HEARTBEAT_S, self._beat)

    def _settled(self, read_ns: int, readings: Mapping[int, int]) -> None:
        """What was read a moment ago, corrected by the edges that have come since."""
        self._drain()
        if self._pins is None:
            return
        for number, level in readings.items():
            still = self._last_edge_ns.get(number, 0) < read_ns
            if still and self._levels.get(number) != level:
                self._repaired += 1
                self._levels[number] = level
        self._deliver([Levels(self.source_id, tuple(sorted(self._levels.items())), read_ns)])
