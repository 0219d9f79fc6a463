"""A simulated microcontroller that speaks the serial protocol as the firmware does.

It is a device, not a helper of the host: bytes and time in, bytes out, a ring of entries that are kept
until they are acknowledged, a 32-bit tick that wraps and may run fast or slow, a 16-bit sequence. Its rules
are deliberately few, so that eight bits can follow them:

* entries go out in order from `sent`; an acknowledgement moves the ring's start, a NAK moves `sent` back;
* when nothing is acknowledged for a quarter of a second, everything is sent again;
* a configuration is taken up at once and echoed until the next boot;
* a full ring takes nothing; what it lost is one entry of its own as soon as there is room again.

Times are the simulator's microseconds (`at_us`, `now_us`), which never run backwards.
"""

from collections import deque
from collections.abc import Mapping
from itertools import islice

from appliance.link import framing
from appliance.link.configuration import BoardConfiguration
from appliance.link.messages import (
    MAX_ENTRIES,
    MAX_LOST,
    PROTOCOL_VERSION,
    Ack,
    BoardCounters,
    BrightnessEntry,
    ChannelLevels,
    ColourEntry,
    Config,
    EdgeEntry,
    Edges,
    Entry,
    Heartbeat,
    Hello,
    HelloRequest,
    HostHeartbeat,
    LostEntry,
    Nak,
    Output,
    Standing,
    decode,
)

FIRMWARE = (1, 0, 0)
SIMULATED_BOARD = 0
CAUSE_POWER_ON = 1
CAUSE_RESET_LINE = 2
CAUSE_WATCHDOG = 4

HEARTBEAT_PERIOD_US = 250_000
RESEND_AFTER_US = 250_000
HOST_SILENCE_US = 5_000_000
"""The outputs go to rest when the host has said nothing for so long."""
DEFAULT_RING = 128

_SEQ_WRAP = 1 << 16
_TICK_WRAP = 1 << 32
_MILLION = 1_000_000


class Mcu:
    """One board with `channels` inputs, all at level 0 unless `levels` says otherwise.

    `first_tick` and `first_sequence` say where its counters begin, so that a wrap can be near; `drift_ppm`
    is how much too fast its resonator is.
    """

    def __init__(
        self,
        channels: int,
        boot_id: int,
        now_us: int = 0,
        *,
        levels: Mapping[int, int] | None = None,
        ring: int = DEFAULT_RING,
        first_tick: int = 0,
        first_sequence: int = 0,
        drift_ppm: int = 0,
        protocol: int = PROTOCOL_VERSION,
    ) -> None:
        """Power the board on at `now_us`."""
        self.boot_id = boot_id
        self._channels = channels
        self._ring = ring
        self._drift_ppm = drift_ppm
        self._protocol = protocol
        self._mask = 0
        for channel, level in (levels or {}).items():
            self._set_level(channel, level)
        self._boot(CAUSE_POWER_ON, now_us, first_tick, first_sequence)

    def _boot(self, cause: int, now_us: int, first_tick: int, first_sequence: int) -> None:
        self._cause = cause
        self._booted_us = now_us
        self._first_tick = first_tick
        self._deframer = framing.Deframer()
        self._entries: deque[Entry] = deque()
        self._oldest = self._sent = first_sequence
        self._highest_sent = first_sequence
        self._unrecorded = 0
        self._lost = self._bad_frames = self._resent = 0
        self._hello_due = True
        self._echo = 0
        self._heartbeat_us = now_us
        self._resend_at_us: int | None = None
        self._configuration: BoardConfiguration | None = None
        self._heard_us = now_us
        self._is_at_rest = True
        self._muted = 0

    # ---------------------------------------------------------------- what the table does to it

    def drive(self, channel: int, level: int, at_us: int) -> None:
        """Set the level of a channel; a change of an input is an edge."""
        if self._configuration is not None and not self._configuration.inputs >> channel & 1:
            return
        if level != self._mask >> channel & 1:
            self._set_level(channel, level)
            self._push(EdgeEntry(self.tick(at_us), channel, level))

    def report_brightness(self, channel: int, reading: int, at_us: int) -> None:
        """Report what the colour sensor at a channel reads, while it is being calibrated."""
        self._push(BrightnessEntry(self.tick(at_us), channel, reading))

    def report_colour(self, channel: int, object: str, at_us: int) -> None:
        """Report what the colour sensor at a channel has seen."""
        self._push(ColourEntry(self.tick(at_us), channel, object))

    def mute(self, *channels: int) -> None:
        """Say that these inputs, and no others, change too fast to be listened to."""
        self._muted = sum(1 << channel for channel in channels)

    def reset(self, cause: int, at_us: int, *, boot_id: int | None = None) -> None:
        """Restart the firmware: the ring and the counters are gone, the levels are what the pins say."""
        self.boot_id = (self.boot_id + 1) % (1 << 32) if boot_id is None else boot_id
        self._boot(cause, at_us, 0, 0)

    # ---------------------------------------------------------------- what can be seen of it

    def tick(self, at_us: int) -> int:
        """Return the board's tick at a time, wrapped."""
        elapsed = at_us - self._booted_us
        return (self._first_tick + elapsed + elapsed * self._drift_ppm // _MILLION) % _TICK_WRAP

    @property
    def kept(self) -> int:
        """How many entries wait for their acknowledgement."""
        return len(self._entries)

    @property
    def counters(self) -> BoardCounters:
        """What the board has counted since its boot, wrapped as on the wire."""
        return BoardCounters(self._lost % (1 << 32), self._bad_frames % _SEQ_WRAP, self._resent % _SEQ_WRAP)

    @property
    def configuration(self) -> BoardConfiguration | None:
        """What the host has told the board to be since its boot."""
        return self._configuration

    @property
    def outputs(self) -> int:
        """The levels of the outputs, bit n for channel n."""
        return self._mask & self._configuration.outputs if self._configuration is not None else 0

    # ---------------------------------------------------------------- the line

    def receive(self, data: bytes, now_us: int) -> None:
        """Take in bytes from the host; the answers wait for `poll`."""
        for found in self._deframer.feed(data):
            message = found if isinstance(found, framing.Rejection) else decode(found)
            match message:
                case framing.Rejection():
                    self._bad_frames += 1
                case Config() if message.configuration.channels > self._channels:
                    self._bad_frames += 1
                case Output() if message.levels.channels > self._channels:
                    self._bad_frames += 1
                case HelloRequest():
                    self._hello_due = True
                    self._rewind(self._oldest)
                case Ack() | HostHeartbeat() | Nak() | Config() | Output() if message.boot == self.boot_id & 0xFFFF:
                    self._heard_us = now_us
                    self._obey(message, now_us)

    def _obey(self, message: Ack | HostHeartbeat | Nak | Config | Output, now_us: int) -> None:
        match message:
            case Nak():
                self._rewind(self._oldest + (message.seq - self._oldest) % _SEQ_WRAP)
            case Config():
                if message.configuration != self._configuration:
                    self._configuration = message.configuration
                    self._mask &= message.configuration.inputs
                    self._show(message.configuration.rest, is_rest=True)
                self._heartbeat_us = now_us
            case Output():
                self._show(message.levels.mask, is_rest=False)
                self._heartbeat_us = now_us
            case _:
                self._release(message.seq, now_us)
                if isinstance(message, HostHeartbeat):
                    self._echo = message.token
                    self._heartbeat_us = now_us

    def _show(self, levels: int, *, is_rest: bool) -> None:
        outputs = self._configuration.outputs if self._configuration is not None else 0
        self._mask = self._mask & ~outputs | levels & outputs
        self._is_at_rest = is_rest

    def poll(self, now_us: int) -> bytes:
        """Return the bytes to send now: a hello, entries not sent yet, a heartbeat, what is due."""
        out = bytearray()
        if not self._is_at_rest and now_us >= self._heard_us + HOST_SILENCE_US:
            self._show(self._configuration.rest if self._configuration is not None else 0, is_rest=True)
        if self._hello_due:
            self._hello_due = False
            # A delimiter first, so that noise from the boot loader does not swallow the hello.
            out += framing.DELIMITER + framing.encode(self._hello(now_us).to_bytes())
        if self._resend_at_us is not None and now_us >= self._resend_at_us:
            self._resend_at_us = None
            self._rewind(self._oldest)
        while self._sent < self._next:
            out += framing.encode(self._edges(now_us).to_bytes())
        if self._entries and self._resend_at_us is None:
            self._resend_at_us = now_us + RESEND_AFTER_US
        if now_us >= self._heartbeat_us:
            self._heartbeat_us = now_us + HEARTBEAT_PERIOD_US
            out += framing.encode(self._heartbeat(now_us).to_bytes())
        return bytes(out)

    def next_deadline_us(self) -> int:
        """Return when `poll` has something to say although nothing happens; 0 for at once."""
        if self._hello_due or self._sent < self._next:
            return 0
        if self._resend_at_us is None:
            return self._heartbeat_us
        return min(self._heartbeat_us, self._resend_at_us)

    # ---------------------------------------------------------------- the ring

    @property
    def _next(self) -> int:
        return self._oldest + len(self._entries)

    def _push(self, entry: Entry) -> None:
        self._record_loss(entry.tick, room_for=2)
        if self._unrecorded or len(self._entries) >= self._ring:
            self._unrecorded += 1
            self._lost += 1
        else:
            self._entries.append(entry)

    def _record_loss(self, tick: int, room_for: int) -> None:
        if self._unrecorded and self._ring - len(self._entries) >= room_for:
            count = min(self._unrecorded, MAX_LOST)
            self._unrecorded -= count
            self._entries.append(LostEntry(tick, count))

    def _release(self, seq: int, now_us: int) -> None:
        count = (seq - self._oldest) % _SEQ_WRAP
        if not 0 < count <= len(self._entries):
            return
        for _ in range(count):
            self._entries.popleft()
        self._oldest += count
        self._sent = max(self._sent, self._oldest)
        self._highest_sent = max(self._highest_sent, self._oldest)
        self._resend_at_us = now_us + RESEND_AFTER_US if self._entries else None
        self._record_loss(self.tick(now_us), room_for=1)

    def _rewind(self, number: int) -> None:
        if self._oldest <= number <= self._sent:
            self._sent = number

    # ---------------------------------------------------------------- messages

    def _hello(self, now_us: int) -> Hello:
        return Hello(
            boot=self.boot_id & 0xFFFF,
            seq=self._next % _SEQ_WRAP,
            tick=self.tick(now_us),
            protocol=self._protocol,
            firmware=FIRMWARE,
            boot_id=self.boot_id,
            reset_cause=self._cause,
            board=SIMULATED_BOARD,
            tick_hz=_MILLION,
            oldest=self._oldest % _SEQ_WRAP,
            ring=self._ring,
            counters=self.counters,
            levels=ChannelLevels(self._channels, self._mask),
        )

    def _edges(self, now_us: int) -> Edges:
        first = self._sent - self._oldest
        entries = tuple(islice(self._entries, first, first + MAX_ENTRIES))
        frame = Edges(self.boot_id & 0xFFFF, self._sent % _SEQ_WRAP, self.tick(now_us), entries)
        self._sent += len(entries)
        self._resent += len(entries) - max(0, self._sent - self._highest_sent)
        self._highest_sent = max(self._highest_sent, self._sent)
        return frame

    def _heartbeat(self, now_us: int) -> Heartbeat:
        echo, self._echo = self._echo, 0
        return Heartbeat(
            boot=self.boot_id & 0xFFFF,
            seq=self._next % _SEQ_WRAP,
            tick=self.tick(now_us),
            echo=echo,
            counters=self.counters,
            levels=ChannelLevels(self._channels, self._mask),
            standing=Standing(self._configuration.checksum if self._configuration is not None else 0, self._muted),
        )

    def _set_level(self, channel: int, level: int) -> None:
        self._mask = self._mask & ~(1 << channel) | level << channel
