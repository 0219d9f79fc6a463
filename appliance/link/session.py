"""The host's end of the serial link: bytes and time in, source inputs and bytes out.

The board numbers every entry (edges, colours, its own losses) and keeps it until the host says that it is
durable; the host takes entries strictly in order, so that each is handed over exactly once, whatever the
wire repeats, loses or garbles (`ledger.py` keeps the numbers, one for each boot met lately: a board that was
taken away and comes back tells again what it has not heard to be safe). Entries known to exist that have not come
make a gap; a gap or a bad frame is one rejection condition: one NAK, and no other until the stream is whole
again. A heartbeat's levels belong after all entries below its number; while some are missing they wait.

Of a board just met nobody knows how late its first messages were: its ring may come in while the program is
still starting. So what they say is kept until an answer has come back quickly enough to show the way of the
clocks, or for `SETTLE_NS`; else a pulse between a late message and a punctual one would shrink to nothing.

Nothing here reads a clock or a port: `now_ns` comes from outside, never runs backwards, and
`next_deadline_ns` says when `expire` and `poll` want to be called although nothing was received.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType

from appliance.events import (
    Brightness,
    ColourReading,
    Edge,
    EdgeId,
    EdgesLost,
    Levels,
    SourceBack,
    SourceInput,
    SourceLost,
)
from appliance.link import framing
from appliance.link.clockmap import ClockMap
from appliance.link.configuration import BoardConfiguration
from appliance.link.counters import Countable, LinkCounters
from appliance.link.ledger import SEQ_WRAP, Ledger
from appliance.link.messages import (
    PROTOCOL_VERSION,
    Ack,
    BrightnessEntry,
    ChannelLevels,
    ColourEntry,
    EdgeEntry,
    Edges,
    Entry,
    ForeignHello,
    Heartbeat,
    Hello,
    HelloRequest,
    HostHeartbeat,
    LostEntry,
    Message,
    Nak,
    UnknownKind,
    decode,
)
from appliance.link.upkeep import Upkeep

HELLO_PERIOD_NS = 500_000_000
HELLO_PATIENCE_NS = 5_000_000_000
SILENCE_NS = 3_000_000_000
HEARTBEAT_PERIOD_NS = 970_000_000
"""An odd period, so that it does not beat with the board's."""

SETTLE_NS = 600_000_000
"""So long at most the clock of a board just met is sought, while what it says is kept."""
QUICK_NS = 40_000_000
"""An answer as quick as this shows the way of the clocks well enough."""

BOOTS_KEPT = 8
"""Of so many boots that were met before the present one it is known how far they had come."""

_AT_ONCE_NS = 0
_MAX_TOKEN = 0xFFFF


class LinkState(Enum):
    """How far the session has come."""

    CLOSED = "closed"
    GREETING = "greeting"
    UP = "up"


@dataclass(frozen=True, slots=True)
class _WaitingLevels:
    """Levels that hold after every entry below `number`, read at the unwrapped `tick`."""

    number: int
    tick: int
    levels: ChannelLevels


@dataclass(frozen=True, slots=True)
class _Kept:
    """A message, its unwrapped tick, and whether the board was what it should be when it came."""

    message: Hello | Edges | Heartbeat
    tick: int
    is_believed: bool


class HostSession:
    """One source's link. `resume`: by boot id, the newest last, the next number after what is durable.

    `configuration` is what the board is to be; None leaves it as it is.
    """

    def __init__(
        self,
        source: str,
        *,
        resume: Mapping[int, int] = MappingProxyType({}),
        configuration: BoardConfiguration | None = None,
    ) -> None:
        """Begin closed."""
        self._source = source
        self._state = LinkState.CLOSED
        self._former = {boot_id: Ledger(following) for boot_id, following in resume.items()}
        newest: tuple[int | None, Ledger] = self._former.popitem() if self._former else (None, Ledger(0))
        self._boot_id, self._ledger = newest
        self._deframer = framing.Deframer()
        self._clock: ClockMap | None = None
        self._hello: Hello | ForeignHello | None = None
        self._waiting: _WaitingLevels | None = None
        self._kept: list[_Kept] = []
        self._settle_by_ns: int | None = None
        self._count = LinkCounters()
        self._upkeep = Upkeep(configuration)

        self._lead_in = b""
        self._ask_at_ns: int | None = None
        self._give_up_at_ns: int | None = None
        self._heard_at_ns = 0
        self._heard_anything = False
        self._bad_frames_before = 0
        self._refusal: str | None = None
        self._heartbeat_at_ns = 0
        self._ack_due = False
        self._nak_due = False
        self._rejecting = False
        self._token = 0
        self._token_sent_ns: int | None = None
        self._reported: str | None = None

    # ---------------------------------------------------------------- what the outside may ask

    @property
    def state(self) -> LinkState:
        """How far the session has come."""
        return self._state

    @property
    def hello(self) -> Hello | ForeignHello | None:
        """The newest HELLO, be it one of a protocol version that this program does not speak."""
        return self._hello

    @property
    def reason(self) -> str | None:
        """Why the source is not there, in a sentence; None while it is, or before anything is known."""
        return self._reported

    @property
    def unanswered(self) -> bool:
        """Whether the port is open and nobody has said hello in time: it is worth opening anew."""
        return self._state is LinkState.GREETING and self._give_up_at_ns is None

    @property
    def delivered(self) -> tuple[int, int] | None:
        """(boot id, next number) of what has been handed over: for `acknowledge` once it is synced."""
        return None if self._boot_id is None else (self._boot_id, self._ledger.expected)

    @property
    def counters(self) -> LinkCounters:
        """A snapshot of the counters."""
        return replace(
            self._count,
            discarded_bytes=self._deframer.discarded_bytes,
            skew_ppb=self._clock.skew_ppb if self._clock else 0,
            board_muted=self._upkeep.muted,
        )

    @property
    def outages(self) -> Mapping[int, str]:
        """By channel, why it cannot be used although the board is there."""
        return self._upkeep.outages if self._state is LinkState.UP else {}

    @property
    def status(self) -> str:
        """How the link stands, in words; each channel that is out is named with its reason."""
        if self._state is not LinkState.UP:
            return self._reported or "connecting"
        return "; ".join(f"channel {channel}: {reason}" for channel, reason in self.outages.items()) or "connected"

    def next_deadline_ns(self) -> int | None:
        """Return when time alone will have something to do or to send; None while the port is closed."""
        if self._state is LinkState.CLOSED:
            return None
        if self._ack_due or self._nak_due:
            return _AT_ONCE_NS
        times = (self._ask_at_ns, self._give_up_at_ns, self._settle_by_ns)
        deadlines = [at_ns for at_ns in times if at_ns is not None]
        if self._state is LinkState.UP:
            deadlines += [self._heartbeat_at_ns, self._heard_at_ns + SILENCE_NS]
            if (upkeep_ns := self._upkeep.next_deadline_ns()) is not None:
                deadlines.append(upkeep_ns)
        return min(deadlines)

    # ---------------------------------------------------------------- what happens to it

    def connected(self, now_ns: int) -> None:
        """Begin to greet whoever is at the port that has just been opened."""
        self._deframer.restart()
        self._heard_anything = False
        self._bad_frames_before = self._count.bad_frames
        self._refusal = None
        # Ends whatever half a frame the board may still hold from before.
        self._lead_in = framing.DELIMITER
        self._greet(now_ns)

    def disconnected(self, reason: str, now_ns: int) -> list[SourceInput]:
        """Stop: the port is closed, or could not be opened, for `reason` (a sentence)."""
        self._state = LinkState.CLOSED
        return self._settle() + self._lost(reason, now_ns)

    def receive(self, data: bytes, now_ns: int) -> list[SourceInput]:
        """Take in bytes from the port; return what they bring, in order."""
        inputs: list[SourceInput] = []
        if self._state is LinkState.CLOSED:
            return inputs
        for found in self._deframer.feed(data):
            message = found if isinstance(found, framing.Rejection) else decode(found)
            if isinstance(message, framing.Rejection):
                self._bump("bad_frames")
                self._reject()
            else:
                self._bump("frames")
                inputs += self._message(message, now_ns)
        return inputs

    def expire(self, now_ns: int) -> list[SourceInput]:
        """Return what time alone brings: a board fallen silent, a device that never answers."""
        if self._state is LinkState.UP and now_ns >= self._heard_at_ns + SILENCE_NS:
            self._bump("silences")
            inputs = self._settle()
            self._greet(now_ns)
            return inputs + self._lost("the board has fallen silent though its port is open", now_ns)
        give_up_at_ns = self._give_up_at_ns
        if self._state is LinkState.GREETING and give_up_at_ns is not None and now_ns >= give_up_at_ns:
            self._give_up_at_ns = None
            return self._lost(self._refusal or self._no_hello(), now_ns)
        if self._settle_by_ns is not None and now_ns >= self._settle_by_ns:
            return self._settle()
        return []

    def acknowledge(self, boot_id: int, next_sequence: int) -> None:
        """Note that everything below `next_sequence` is durable; the next `poll` tells the board."""
        if boot_id == self._boot_id:
            before = self._ledger.durable
            self._ledger.make_durable(next_sequence)
            self._ack_due |= self._ledger.durable > before
        elif boot_id in self._former:
            self._former[boot_id].make_durable(next_sequence)

    def show(self, levels: Mapping[int, int]) -> None:
        """Let outputs have these levels, by channel, from now on; the next `poll` tells the board."""
        self._upkeep.show(levels)

    def poll(self, now_ns: int) -> bytes:
        """Return the bytes to send now."""
        out = bytearray()
        if self._ask_at_ns is not None and now_ns >= self._ask_at_ns:
            out += framing.encode(HelloRequest().to_bytes())
            self._ask_at_ns = now_ns + HELLO_PERIOD_NS
        if self._state is LinkState.UP and self._boot_id is not None:
            boot = self._boot_id & 0xFFFF
            durable = self._ledger.durable % SEQ_WRAP
            if self._nak_due:
                self._bump("naks")
                out += framing.encode(Nak(boot, self._ledger.expected % SEQ_WRAP).to_bytes())
            if now_ns >= self._heartbeat_at_ns:
                self._token = self._token % _MAX_TOKEN + 1
                self._token_sent_ns = now_ns
                self._heartbeat_at_ns = now_ns + HEARTBEAT_PERIOD_NS
                out += framing.encode(HostHeartbeat(boot, durable, self._token).to_bytes())
            elif self._ack_due:
                out += framing.encode(Ack(boot, durable).to_bytes())
            out += self._upkeep.poll(boot, now_ns)
        self._ack_due = self._nak_due = False
        if out:
            out[:0], self._lead_in = self._lead_in, b""
        return bytes(out)

    # ---------------------------------------------------------------- messages of the board

    def _message(self, message: Message | ForeignHello | UnknownKind, now_ns: int) -> list[SourceInput]:
        self._heard_anything = True
        match message:
            case Hello():
                return self._take_hello(message, now_ns)
            case ForeignHello():
                return self._refuse(message, now_ns)
            case Edges() | Heartbeat() if not self._is_known(message):
                # A board that is up under another boot has been reset: its hello was lost.
                self._bump("strangers")
                if self._ask_at_ns is None:
                    self._ask_at_ns = now_ns
            case Edges():
                return self._tell(message, self._clock_sample(message, now_ns, None))
            case Heartbeat():
                return self._take_heartbeat(message, now_ns)
            case _:
                self._bump("unknown_kinds")
        return []

    def _is_known(self, message: Edges | Heartbeat) -> bool:
        if self._state is not LinkState.UP or self._boot_id is None or message.boot != self._boot_id & 0xFFFF:
            return False
        # Numbers of one boot never go back; where a heartbeat's do, the boot is not the one it claims.
        return isinstance(message, Edges) or self._ledger.unwrap(message.seq) >= self._ledger.expected

    def _take_hello(self, hello: Hello, now_ns: int) -> list[SourceInput]:
        self._hello = hello
        inputs: list[SourceInput] = []
        is_back = self._state is not LinkState.UP
        ledger = self._ledger if hello.boot_id == self._boot_id else self._former.get(hello.boot_id)
        if ledger is None:
            ledger = Ledger(hello.oldest)
        elif ledger.unwrap(hello.seq) < ledger.expected:
            # The board counts from the start again under an old boot id. A fresh lap of numbers keeps
            # its entries apart from those already taken.
            lap = (ledger.expected // SEQ_WRAP + 1) * SEQ_WRAP
            ledger = Ledger(lap + hello.oldest)
        if ledger is not self._ledger:
            inputs += self._meet(hello, ledger, now_ns)
            is_back = True
        elif self._clock is None:
            self._meet_clock(hello, now_ns)
        if is_back:
            inputs.append(SourceBack(self._source, hello.boot_id, now_ns))
            self._state, self._reported, self._refusal = LinkState.UP, None, None
            self._heartbeat_at_ns = now_ns
            self._token_sent_ns = None
            self._rejecting = False
            self._upkeep.greeted(hello, now_ns)
        self._ask_at_ns = self._give_up_at_ns = None
        tick = self._clock_sample(hello, now_ns, None)
        oldest = self._ledger.unwrap(hello.oldest)
        if oldest > self._ledger.expected:
            self._bump("gaps")
            inputs.append(EdgesLost(self._source, self._ledger.skip_to(oldest), now_ns))
        return inputs + self._tell(hello, tick)

    def _refuse(self, hello: ForeignHello, now_ns: int) -> list[SourceInput]:
        self._hello = hello
        inputs = self._settle()
        self._refusal = (
            f"the board speaks protocol {hello.protocol}, this program protocol {PROTOCOL_VERSION}: "
            f"flash the firmware that belongs to this program"
        )
        self._greet(now_ns)
        return inputs + self._lost(self._refusal, now_ns)

    def _meet(self, hello: Hello, ledger: Ledger, now_ns: int) -> list[SourceInput]:
        """Go over to another boot; what is known to have died with the last one is lost."""
        inputs = self._settle()
        if self._ledger.missing:
            inputs.append(EdgesLost(self._source, self._ledger.missing, now_ns))
        self._bump("boots")
        if self._boot_id is not None:
            self._former[self._boot_id] = self._ledger
        self._boot_id, self._ledger = hello.boot_id, ledger
        self._former.pop(hello.boot_id, None)
        while len(self._former) > BOOTS_KEPT:
            del self._former[next(iter(self._former))]
        self._meet_clock(hello, now_ns)
        self._waiting = None
        return inputs

    def _meet_clock(self, hello: Hello, now_ns: int) -> None:
        self._clock = ClockMap(hello.tick_hz, floor_ns=self._clock.floor_ns if self._clock else 0)
        self._settle_by_ns = now_ns + SETTLE_NS

    def _take_heartbeat(self, heartbeat: Heartbeat, now_ns: int) -> list[SourceInput]:
        sent_ns = None
        is_quick = False
        if heartbeat.echo == self._token and self._token_sent_ns is not None:
            sent_ns, self._token_sent_ns = self._token_sent_ns, None
            self._count = replace(self._count, round_trip_ns=now_ns - sent_ns)
            is_quick = now_ns - sent_ns <= QUICK_NS
            if self._settle_by_ns is not None and not is_quick:
                self._heartbeat_at_ns = now_ns
        tick = self._clock_sample(heartbeat, now_ns, sent_ns)
        self._upkeep.heard(heartbeat, now_ns)
        inputs = self._tell(heartbeat, tick)
        return self._settle() if is_quick and self._settle_by_ns is not None else inputs

    def _tell(self, message: Hello | Edges | Heartbeat, tick: int) -> list[SourceInput]:
        """Return what a message brings, or keep it while the board's clock is not known."""
        kept = _Kept(message, tick, self._upkeep.in_force)
        if self._settle_by_ns is None:
            return self._follow(kept)
        self._kept.append(kept)
        return []

    def _settle(self) -> list[SourceInput]:
        """Take the clock for known; return what was kept."""
        self._settle_by_ns = None
        kept, self._kept = self._kept, []
        return [value for each in kept for value in self._follow(each)]

    def _follow(self, kept: _Kept) -> list[SourceInput]:
        if isinstance(kept.message, Edges):
            return self._take_edges(kept.message, kept.tick)
        return self._stand(kept.message, kept.tick, is_believed=kept.is_believed)

    def _stand(self, message: Hello | Heartbeat, tick: int, *, is_believed: bool) -> list[SourceInput]:
        """Note how things stand at the board after all entries below the message's number."""
        counters = message.counters
        self._count = replace(
            self._count,
            board_lost=counters.lost,
            board_bad_frames=counters.bad_frames,
            board_resent=counters.resent,
        )
        number = self._ledger.unwrap(message.seq)
        self._ledger.announce(number)
        # Pins that are not yet what they should be say nothing of the table.
        self._waiting = _WaitingLevels(number, tick, message.levels) if is_believed else None
        if self._ledger.missing:
            if isinstance(message, Heartbeat):
                self._gap()
        else:
            self._rejecting = False
        return self._ripe_levels()

    def _take_edges(self, edges: Edges, frame_tick: int) -> list[SourceInput]:
        first = self._ledger.unwrap(edges.seq)
        self._ledger.announce(first + len(edges.entries))
        if first > self._ledger.expected:
            self._gap()
            return []
        inputs: list[SourceInput] = []
        old = min(self._ledger.expected - first, len(edges.entries))
        self._bump("duplicates", old)
        # The acknowledgement of these was lost on the way.
        self._ack_due |= first < self._ledger.durable
        for entry in edges.entries[old:]:
            self._rejecting = False
            inputs += self._take_entry(entry, frame_tick)
            inputs += self._ripe_levels()
        return inputs

    def _take_entry(self, entry: Entry, frame_tick: int) -> list[SourceInput]:
        assert self._clock is not None
        assert self._boot_id is not None
        number = self._ledger.take(nameless=not isinstance(entry, EdgeEntry | ColourEntry))
        self._ack_due |= self._ledger.durable > number
        at_ns = self._clock.to_ns(self._clock.before(frame_tick, entry.tick))
        self._bump("entries")
        match entry:
            case EdgeEntry():
                identity = EdgeId(self._boot_id, number)
                return [Edge(self._source, entry.channel, entry.level, at_ns, identity)]
            case ColourEntry():
                identity = EdgeId(self._boot_id, number)
                return [ColourReading(self._source, entry.channel, entry.object, at_ns, identity)]
            case BrightnessEntry():
                return [Brightness(self._source, entry.channel, entry.reading, at_ns)]
            case LostEntry():
                return [EdgesLost(self._source, entry.count, at_ns, EdgeId(self._boot_id, number))]
            case _:
                self._bump("unknown_entries")
                return []

    def _ripe_levels(self) -> list[SourceInput]:
        """Return the waiting levels if every entry before them has just been handed over."""
        waiting = self._waiting
        if waiting is None or waiting.number != self._ledger.expected or self._clock is None:
            return []
        self._waiting = None
        return [Levels(self._source, waiting.levels.pairs(), self._clock.to_ns(waiting.tick))]

    # ---------------------------------------------------------------- small steps

    def _clock_sample(self, message: Hello | Edges | Heartbeat, now_ns: int, sent_ns: int | None) -> int:
        assert self._clock is not None
        self._heard_at_ns = now_ns
        tick = self._clock.extend(message.tick, now_ns)
        self._clock.sample(tick, now_ns, sent_ns)
        return tick

    def _greet(self, now_ns: int) -> None:
        if self._state is not LinkState.GREETING:
            self._give_up_at_ns = now_ns + HELLO_PATIENCE_NS
            self._ask_at_ns = now_ns
        self._state = LinkState.GREETING
        self._waiting = None

    def _lost(self, reason: str, now_ns: int) -> list[SourceInput]:
        """Report a loss, each reason once."""
        if reason == self._reported:
            return []
        self._reported = reason
        return [SourceLost(self._source, reason, now_ns)]

    def _no_hello(self) -> str:
        seconds = HELLO_PATIENCE_NS // 1_000_000_000
        if self._heard_anything:
            return f"the board answers but has not said hello within {seconds} s"
        if self._count.bad_frames > self._bad_frames_before:
            return (
                f"what is at the port is no Pocketbeam board, or its speed is another: it sends bytes, "
                f"but no hello within {seconds} s"
            )
        return (
            f"nothing at the port has said hello within {seconds} s: is it the right port, "
            f"and does the board carry the Pocketbeam firmware?"
        )

    def _gap(self) -> None:
        if not self._rejecting:
            self._bump("gaps")
        self._reject()

    def _reject(self) -> None:
        """Ask once for what may be missing; the board's own time-out does the rest."""
        if self._state is LinkState.UP and not self._rejecting:
            self._rejecting = self._nak_due = True

    def _bump(self, what: Countable, by: int = 1) -> None:
        self._count = self._count.plus(what, by)
