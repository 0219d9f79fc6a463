"""The appliance's own session and the emulated board at two ends of a line, in virtual time.

`Bench` moves from one thing that happens to the next; nothing waits and nothing sleeps. What the host has
taken it acknowledges `sync_us` later, as a journal would.
"""

from collections.abc import Callable
from typing import TypeVar

from appliance.events import ColourReading, Edge, EdgesLost, SourceInput
from appliance.link.configuration import BoardConfiguration
from appliance.link.framing import Deframer
from appliance.link.messages import EdgeEntry, Edges, Heartbeat, Hello, decode
from appliance.link.session import HostSession
from tests.firmware.board import EmulatedBoard

SECOND_US = 1_000_000
HOST_STARTED_NS = 7_000_000_000_000
"""The host's clock when the emulator's says 0: the two have nothing in common."""

Input = TypeVar("Input", bound=SourceInput)
Line = Callable[[bytes], bytes]


class Bench:
    def __init__(self, board: EmulatedBoard, *, sync_us: int = 5_000) -> None:
        self.board = board
        self.session = HostSession("board")
        self.sync_us = sync_us
        self.drift_ppm = 0
        """How much faster the host's clock runs than the board's."""
        self.inputs: list[SourceInput] = []
        self.taken = 0
        """How many edges have been delivered or reported lost."""
        self.hellos: list[Hello] = []
        self.heartbeats: list[Heartbeat] = []
        self.ticks: dict[int, EdgeEntry] = {}
        """What the board said about each number, by the number on the wire."""
        self.to_host: Line = bytes
        self.to_board: Line = bytes
        self.is_stalled = False
        self._ear = Deframer()
        self._syncs: list[tuple[int, tuple[int, int]]] = []

    @property
    def now_ns(self) -> int:
        return self.host_ns(self.board.now_us)

    def host_ns(self, at_us: int) -> int:
        """The host's clock at a time of the emulator's."""
        return HOST_STARTED_NS + at_us * (SECOND_US + self.drift_ppm) // 1000

    def _emulator_us(self, at_ns: int) -> int:
        return -((HOST_STARTED_NS - at_ns) * 1000 // (SECOND_US + self.drift_ppm))

    @property
    def waiting(self) -> bool:
        """Whether something is delivered and not durable yet."""
        return bool(self._syncs)

    def plug(self) -> "Bench":
        self.session.connected(self.now_ns)
        self._speak()
        return self

    def restart_host(self, configuration: BoardConfiguration | None = None) -> None:
        """Another host takes over; it knows what this one has made durable."""
        self._syncs.clear()
        resume = self.session.delivered
        self.session = HostSession("board", resume=dict([resume] if resume else []), configuration=configuration)
        self.plug()

    def unplug(self, reason: str) -> None:
        self._take(self.session.disconnected(reason, self.now_ns))
        self._syncs.clear()

    def run(self, until_us: int) -> None:
        """Let time pass until then."""
        while self.board.now_us < until_us:
            self._hear(self.board.run(min([until_us, *self._deadlines()])))
            self._sync()
            self._take(self.session.expire(self.now_ns))
            self._speak()

    def run_for(self, span_us: int) -> None:
        self.run(self.board.now_us + span_us)

    def run_until(self, reached: Callable[[], bool], within_us: int = 30 * SECOND_US) -> None:
        deadline_us = self.board.now_us + within_us
        while not reached():
            assert self.board.now_us < deadline_us, (self.session.counters, self.session.reason)
            self.run(min(deadline_us, self.board.now_us + 2_000))

    def of(self, kind: type[Input]) -> list[Input]:
        return [value for value in self.inputs if isinstance(value, kind)]

    @property
    def edges(self) -> list[tuple[int, int]]:
        """(channel, level) of each edge delivered."""
        return [(edge.channel, edge.level) for edge in self.of(Edge)]

    @property
    def lost(self) -> int:
        """How many edges were reported lost."""
        return sum(loss.count for loss in self.of(EdgesLost))

    def _deadlines(self) -> list[int]:
        if self.is_stalled:
            return []
        deadline_ns = self.session.next_deadline_ns()
        times = [at_us for at_us, _ in self._syncs[:1]]
        if deadline_ns is not None:
            times.append(max(self.board.now_us + 1, self._emulator_us(deadline_ns)))
        return times

    def _hear(self, data: bytes) -> None:
        for found in self._ear.feed(data):
            message = decode(found) if isinstance(found, bytes) else found
            if isinstance(message, Hello):
                self.hellos.append(message)
            elif isinstance(message, Heartbeat):
                self.heartbeats.append(message)
            elif isinstance(message, Edges):
                for place, entry in enumerate(message.entries):
                    if isinstance(entry, EdgeEntry):
                        self.ticks[(message.seq + place) % (1 << 16)] = entry
        data = self.to_host(data)
        if not self.is_stalled:
            self._take(self.session.receive(data, self.now_ns))

    def _sync(self) -> None:
        while not self.is_stalled and self._syncs and self._syncs[0][0] <= self.board.now_us:
            self.session.acknowledge(*self._syncs.pop(0)[1])

    def _speak(self) -> None:
        if not self.is_stalled:
            self.board.hear(self.to_board(self.session.poll(self.now_ns)))

    def _take(self, inputs: list[SourceInput]) -> None:
        self.inputs += inputs
        self.taken += sum(value.count if isinstance(value, EdgesLost) else isinstance(value, Edge) for value in inputs)
        named = [value.identity for value in inputs if isinstance(value, Edge | ColourReading)]
        if named and named[-1] is not None:
            durable = (named[-1].boot_id, named[-1].sequence + 1)
            self._syncs.append((self.board.now_us + self.sync_us, durable))
