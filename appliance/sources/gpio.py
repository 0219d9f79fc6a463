"""Beams, buttons and lamps on the pins of the host itself.

A pin's edge is stamped by the kernel and handed over from a thread of the library; that thread only puts it
into a queue. Levels are read at the start, every heartbeat and after a queue that was full, so that an edge
which was dropped anywhere leaves no wrong level for long. A reading may be older than an edge that is still on
its way, so it waits for a moment, and counts only for pins that have been still since.

A pin that cannot be claimed is left out and tried again, ever more rarely; the others go on. When the
controller goes away, everything is closed and looked for again by its label. Nothing here makes the loop wait
for longer than it takes to claim a pin, a few milliseconds: letting go takes longer and has a thread of its own.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from appliance.events import Edge, EdgesLost, Levels, SourceBack, SourceInput, SourceLost
from appliance.sources.header import DeafError, HeaderError, PinsPort, Pull, open_header

HEARTBEAT_S = 0.25
SETTLE_S = 0.02
RETRY_FIRST_S = 0.5
RETRY_LAST_S = 10.0
QUEUE_LIMIT = 50_000


@dataclass(frozen=True, slots=True)
class Pins:
    """What a source claims, by GPIO number: inputs with their pull, outputs with their level at rest."""

    pulls: Mapping[int, Pull]
    outputs: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class GpioCounters:
    """What the source has counted since it was made; `pins_out` is how many are out now."""

    edges: int = 0
    edges_dropped: int = 0
    levels_repaired: int = 0
    opened: int = 0
    pins_out: int = 0


class GpioSource:
    """Some pins of the header, as a source of edges and a place for lamps."""

    def __init__(
        self,
        source_id: str,
        wanted: Pins,
        deliver: Callable[[list[SourceInput]], None],
        now_ns: Callable[[], int],
        open_pins: Callable[[], PinsPort] = open_header,
    ) -> None:
        """Only remember; nothing is claimed before `start`. `now_ns` is the kernel's monotonic clock."""
        self.source_id = source_id
        self._wanted = wanted
        self._shown = dict(wanted.outputs)
        self._deliver = deliver
        self._now_ns = now_ns
        self._open_pins = open_pins
        self._pins: PinsPort | None = None
        self._reason = "the pins are not open yet"
        self._queue: deque[tuple[int, int, int]] = deque()
        self._waking = False
        self._told_dropped = 0
        self._levels: dict[int, int] = {}
        self._last_edge_ns: dict[int, int] = {}
        self._out: dict[int, str] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._retry_s = RETRY_FIRST_S
        self._letting_go: asyncio.Future[None] | None = None
        self._edges = self._dropped = self._repaired = self._opened = 0
        self._moved_at_ns = 0

    # -- what the daemon does and asks ---------------------------------------------------------------------

    def start(self) -> None:
        """Claim the pins now, or as soon as they can be had; needs a running event loop."""
        self._loop = asyncio.get_running_loop()
        self._open()

    async def stop(self) -> None:
        """Put the outputs to rest and let go of the pins; nothing is delivered any more."""
        if self._pins is not None:
            with suppress(HeaderError):
                for number, level in self._wanted.outputs.items():
                    if number not in self._out:
                        self._pins.write(number, level)
        self._close()
        if self._letting_go is not None:
            await self._letting_go

    def acknowledge(self, boot_id: int, next_sequence: int) -> None:
        """A pin repeats nothing, so there is nothing to acknowledge."""

    def show(self, levels: Mapping[int, int]) -> None:
        """Set outputs by GPIO number; one whose pin is out is set when it comes back."""
        changed = {number: level for number, level in levels.items() if self._shown.get(number) != level}
        self._shown.update(changed)
        if self._pins is None:
            return
        try:
            for number, level in changed.items():
                if number not in self._out:
                    self._pins.write(number, level)
        except HeaderError as error:
            self._lose(str(error))

    @property
    def is_connected(self) -> bool:
        """Whether the header is open and at least one of the pins can be used."""
        return self._pins is not None and (not self._all or len(self._out) < len(self._all))

    @property
    def status(self) -> str:
        """How the pins stand; each that is out is named with its reason."""
        reasons = self._out.values() if self._pins is not None else (self._reason,)
        return "; ".join(reasons) or "connected"

    @property
    def outages(self) -> Mapping[int, str]:
        """By GPIO number: why that pin is out, while the others are watched."""
        return dict(self._out) if self._pins is not None else dict.fromkeys(self._all, self._reason)

    @property
    def counters(self) -> GpioCounters:
        """A snapshot of what was counted."""
        return GpioCounters(self._edges, self._dropped, self._repaired, self._opened, len(self.outages))

    @property
    def moved_at_ns(self) -> int:
        """When the pins were last read, or the controller looked for; a library that hears nothing does not count."""
        return self._moved_at_ns

    @property
    def _all(self) -> tuple[int, ...]:
        return (*self._wanted.pulls, *self._wanted.outputs)

    # -- opening -------------------------------------------------------------------------------------------

    def _open(self) -> None:
        try:
            pins = self._open_pins()
        except HeaderError as error:
            if not isinstance(error, DeafError):  # looking for a controller helps, looking for a dead thread does not
                self._moved_at_ns = self._now_ns()
            self._reason = str(error)
            self._retry_later(self._open)
            return
        self._pins = pins
        self._opened += 1
        self._retry_s = RETRY_FIRST_S
        self._out = dict.fromkeys(self._all, "")
        at_ns = self._now_ns()
        self._claim_missing()
        self._deliver([SourceBack(self.source_id, None, at_ns)])
        self._beat()

    def _claim_missing(self) -> None:
        """Claim every pin that is out; what cannot be had is tried again later, the others are not disturbed."""
        pins = self._pins
        if pins is None:
            return
        for number in tuple(self._out):
            try:
                if number in self._wanted.pulls:
                    pins.claim(number, self._wanted.pulls[number], self._on_edge)
                    self._levels[number] = pins.level(number)
                else:
                    pins.claim_output(number, self._shown[number])
            except HeaderError as error:
                self._out[number] = str(error)
            else:
                del self._out[number]
        if self._out:
            self._retry_later(self._claim_missing)

    def _retry_later(self, again: Callable[[], None]) -> None:
        self._set_timer("retry", self._retry_s, again)
        self._retry_s = min(RETRY_LAST_S, self._retry_s * 2)

    def _lose(self, reason: str) -> None:
        """The controller is gone: close what is left of it, say so, and look for it again."""
        self._close()
        self._reason = reason
        self._deliver([SourceLost(self.source_id, reason, self._now_ns())])
        self._retry_s = RETRY_FIRST_S
        self._retry_later(self._open)

    def _close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._levels.clear()
        self._last_edge_ns.clear()
        self._queue.clear()
        self._out.clear()
        pins, self._pins = self._pins, None
        if pins is not None and self._loop is not None:
            self._letting_go = self._loop.run_in_executor(None, pins.close)

    # -- edges ---------------------------------------------------------------------------------------------

    def _on_edge(self, number: int, level: int, at_ns: int) -> None:
        """On the library's thread: put the edge into the queue and wake the loop, nothing else."""
        if len(self._queue) >= QUEUE_LIMIT:
            self._dropped += 1
        else:
            self._queue.append((number, level, at_ns))
        if not self._waking and self._loop is not None:
            self._waking = True
            with suppress(RuntimeError):  # the loop has ended: nobody is left to be told
                self._loop.call_soon_threadsafe(self._drain)

    def _drain(self) -> None:
        """On the loop: hand over everything in the queue, in the order of the kernel's stamps."""
        self._waking = False
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
        lost, self._told_dropped = self._dropped - self._told_dropped, self._dropped
        if lost:
            self._deliver([EdgesLost(self.source_id, lost, self._now_ns())])
            # What was read before is older than what was lost.
            if "settle" in self._timers:
                self._timers.pop("settle").cancel()
            self._set_timer("beat", SETTLE_S, self._beat)

    # -- levels --------------------------------------------------------------------------------------------

    def _beat(self) -> None:
        if self._pins is None:
            return
        read_ns = self._now_ns()
        try:
            self._pins.check()
            readings = {number: self._pins.level(number) for number in self._wanted.pulls if number not in self._out}
        except HeaderError as error:
            self._lose(str(error))
            return
        self._moved_at_ns = read_ns
        self._set_timer("settle", SETTLE_S, lambda: self._settled(read_ns, readings))
        self._set_timer("beat", HEARTBEAT_S, self._beat)

    def _settled(self, read_ns: int, readings: Mapping[int, int]) -> None:
        """What was read a moment ago, corrected by the edges that have come since."""
        told = self._told_dropped
        self._drain()
        if self._pins is None or told != self._told_dropped:  # edges were lost: the levels are read anew
            return
        for number, level in readings.items():
            still = self._last_edge_ns.get(number, 0) < read_ns
            if still and self._levels.get(number) != level:
                self._repaired += 1
                self._levels[number] = level
        self._deliver([Levels(self.source_id, tuple(sorted(self._levels.items())), read_ns)])

    def _set_timer(self, name: str, delay_s: float, call: Callable[[], None]) -> None:
        """Each timer is set once: a new time takes the place of the old one."""
        assert self._loop is not None
        if name in self._timers:
            self._timers[name].cancel()
        self._timers[name] = self._loop.call_later(delay_s, call)
