"""The messages of the serial protocol as values, and their bytes.

Every message is a frozen dataclass with `to_bytes` and `from_bytes`; the tables at the end of the file
map kinds to them. All numbers are little-endian. A board puts its boot tag, a sequence number and its
tick into every message; the host answers with the same boot tag, so that nothing meant for an earlier
boot is ever obeyed. Sequence numbers (16 bits) and ticks (32 bits) stay wrapped here: whoever receives
them unwraps them. The page for implementers is docs/protocol.md.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Self

from appliance.link.configuration import BoardConfiguration
from appliance.link.framing import Rejection

PROTOCOL_VERSION = 1
MAX_CHANNELS = 64
MAX_ENTRIES = 8
"""The most entries in one EDGES message; it keeps a frame within `MAX_FRAME` bytes."""

OBJECT_CODES: Mapping[str, int] = MappingProxyType(
    {"white": 1, "black": 2, "queen": 3, "striker": 4, "ball": 5, "cue": 6}
)
_OBJECTS = {code: name for name, code in OBJECT_CODES.items()}

RESET_CAUSES: Mapping[int, str] = MappingProxyType(
    {0: "unknown", 1: "power on", 2: "reset line", 3: "brown-out", 4: "watchdog", 5: "software"}
)
BOARDS: Mapping[int, str] = MappingProxyType({0: "simulated board", 1: "ATmega328P (Arduino Uno, Nano)"})

MAX_LOST = 0x3FFF
"""The largest count that one entry of lost edges can carry."""

_BOARD_HEADER = struct.Struct("<BHHI")
_HOST_HEADER = struct.Struct("<BHH")
_ENTRY = struct.Struct("<IBB")
_COUNTERS = struct.Struct("<IHH")
_HELLO = struct.Struct("<BBBBIBBIHH")
_ANY_HELLO = struct.Struct("<BBBBI")
_ECHO = struct.Struct("<H")
_CHECKSUM = struct.Struct("<H")

_SORT_EDGE = 0x00
_SORT_COLOUR = 0x40
_SORT_LOST = 0x80
_SORT_MASK = 0xC0
_TOLD_READING = 0x80


class MessageError(ValueError):
    """Bytes that passed the check sum but are no message; `rejection` says why."""

    def __init__(self, rejection: Rejection) -> None:
        """Keep the reason."""
        super().__init__(rejection.value)
        self.rejection = rejection


# ------------------------------------------------------------------ entries of the board's numbered ring


@dataclass(frozen=True, slots=True)
class EdgeEntry:
    """One change of level at a channel, stamped with the board's tick."""

    tick: int
    channel: int
    level: int

    def to_bytes(self) -> bytes:
        """Return the six bytes of the entry."""
        return _ENTRY.pack(self.tick, _SORT_EDGE | self.channel, self.level)


@dataclass(frozen=True, slots=True)
class ColourEntry:
    """What a colour or tag sensor saw at a channel, by the name of the object."""

    tick: int
    channel: int
    object: str

    def to_bytes(self) -> bytes:
        """Return the six bytes of the entry."""
        return _ENTRY.pack(self.tick, _SORT_COLOUR | self.channel, OBJECT_CODES[self.object])


@dataclass(frozen=True, slots=True)
class BrightnessEntry:
    """What a colour sensor read at a channel, 0 to 254 of its supply: an even number, for half of it is on the wire."""

    tick: int
    channel: int
    reading: int

    def to_bytes(self) -> bytes:
        """Return the six bytes of the entry."""
        return _ENTRY.pack(self.tick, _SORT_COLOUR | self.channel, _TOLD_READING | self.reading >> 1)


@dataclass(frozen=True, slots=True)
class LostEntry:
    """The word that `count` entries found no room in the ring between this entry and the one before it."""

    tick: int
    count: int

    def to_bytes(self) -> bytes:
        """Return the six bytes of the entry."""
        return _ENTRY.pack(self.tick, _SORT_LOST | self.count >> 8, self.count & 0xFF)


@dataclass(frozen=True, slots=True)
class UnknownEntry:
    """An entry that this version cannot read; it is counted and acknowledged, never refused for ever."""

    tick: int
    what: int
    arg: int

    def to_bytes(self) -> bytes:
        """Return the six bytes of the entry."""
        return _ENTRY.pack(self.tick, self.what, self.arg)


Entry = EdgeEntry | ColourEntry | BrightnessEntry | LostEntry | UnknownEntry


def _entry(tick: int, what: int, arg: int) -> Entry:
    sort, low = what & _SORT_MASK, what & ~_SORT_MASK
    if sort == _SORT_EDGE and arg in (0, 1):
        return EdgeEntry(tick, low, arg)
    if sort == _SORT_COLOUR and arg in _OBJECTS:
        return ColourEntry(tick, low, _OBJECTS[arg])
    if sort == _SORT_COLOUR and arg & _TOLD_READING:
        return BrightnessEntry(tick, low, (arg & ~_TOLD_READING) << 1)
    if sort == _SORT_LOST and low << 8 | arg:
        return LostEntry(tick, low << 8 | arg)
    return UnknownEntry(tick, what, arg)


# ------------------------------------------------------------------ parts that two messages share


@dataclass(frozen=True, slots=True)
class BoardCounters:
    """What a board counts about itself since its boot; each number wraps at its width."""

    lost: int = 0
    bad_frames: int = 0
    resent: int = 0

    def to_bytes(self) -> bytes:
        """Return the eight bytes of the counters."""
        return _COUNTERS.pack(self.lost, self.bad_frames, self.resent)


@dataclass(frozen=True, slots=True)
class ChannelLevels:
    """The levels of channels 0 to `channels` - 1; bit n of `mask` is the level of channel n."""

    channels: int
    mask: int

    def to_bytes(self) -> bytes:
        """Return the number of channels and then one bit for each, lowest first."""
        return bytes([self.channels]) + self.mask.to_bytes((self.channels + 7) // 8, "little")

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read levels that fill `data` exactly."""
        if not data or len(data) != 1 + (data[0] + 7) // 8:
            raise MessageError(Rejection.LENGTH)
        levels = cls(data[0], int.from_bytes(data[1:], "little"))
        if levels.channels > MAX_CHANNELS or levels.mask >> levels.channels:
            raise MessageError(Rejection.VALUE)
        return levels

    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Return (channel, level) for every channel."""
        return tuple((channel, self.mask >> channel & 1) for channel in range(self.channels))


# ------------------------------------------------------------------ from the board to the host


@dataclass(frozen=True, slots=True)
class Hello:
    """Who the board is. `seq` is the number its next entry will get, `oldest` the first it still keeps."""

    KIND: ClassVar[int] = 0x01

    boot: int
    seq: int
    tick: int
    firmware: tuple[int, int, int]
    boot_id: int
    reset_cause: int
    board: int
    tick_hz: int
    oldest: int
    ring: int
    counters: BoardCounters
    levels: ChannelLevels
    protocol: int = PROTOCOL_VERSION

    def to_bytes(self) -> bytes:
        """Return the payload."""
        return (
            _BOARD_HEADER.pack(self.KIND, self.boot, self.seq, self.tick)
            + _HELLO.pack(
                self.protocol,
                *self.firmware,
                self.boot_id,
                self.reset_cause,
                self.board,
                self.tick_hz,
                self.oldest,
                self.ring,
            )
            + self.counters.to_bytes()
            + self.levels.to_bytes()
        )

    @classmethod
    def from_bytes(cls, payload: bytes) -> Self:
        """Read a payload of this kind."""
        _, boot, seq, tick = _unpack(_BOARD_HEADER, payload)
        body = payload[_BOARD_HEADER.size :]
        protocol, *firmware, boot_id, cause, board, tick_hz, oldest, ring = _unpack(_HELLO, body)
        rest = body[_HELLO.size :]
        hello = cls(
            boot=boot,
            seq=seq,
            tick=tick,
            protocol=protocol,
            firmware=(firmware[0], firmware[1], firmware[2]),
            boot_id=boot_id,
            reset_cause=cause,
            board=board,
            tick_hz=tick_hz,
            oldest=oldest,
            ring=ring,
            counters=BoardCounters(*_unpack(_COUNTERS, rest)),
            levels=ChannelLevels.from_bytes(rest[_COUNTERS.size :]),
        )
        if boot != boot_id & 0xFFFF or not tick_hz:
            raise MessageError(Rejection.VALUE)
        return hello


@dataclass(frozen=True, slots=True)
class ForeignHello:
    """A HELLO of another protocol version: what every version says in the same place, and no more."""

    boot: int
    protocol: int
    firmware: tuple[int, int, int]
    boot_id: int

    @classmethod
    def from_bytes(cls, payload: bytes) -> Self:
        """Read the beginning of a HELLO payload of any version."""
        _, boot, _, _ = _unpack(_BOARD_HEADER, payload)
        protocol, major, minor, patch, boot_id = _unpack(_ANY_HELLO, payload[_BOARD_HEADER.size :])
        return cls(boot, protocol, (major, minor, patch), boot_id)


@dataclass(frozen=True, slots=True)
class Edges:
    """Entries of the ring, numbered upwards from `seq`; the board repeats them until acknowledged."""

    KIND: ClassVar[int] = 0x02

    boot: int
    seq: int
    tick: int
    entries: tuple[Entry, ...]

    def to_bytes(self) -> bytes:
        """Return the payload."""
        header = _BOARD_HEADER.pack(self.KIND, self.boot, self.seq, self.tick)
        return header + b"".join(entry.to_bytes() for entry in self.entries)

    @classmethod
    def from_bytes(cls, payload: bytes) -> Self:
        """Read a payload of this kind."""
        _, boot, seq, tick = _unpack(_BOARD_HEADER, payload)
        body = payload[_BOARD_HEADER.size :]
        if not body or len(body) % _ENTRY.size or len(body) > MAX_ENTRIES * _ENTRY.size:
            raise MessageError(Rejection.LENGTH)
        return cls(boot, seq, tick, tuple(_entry(*fields) for fields in _ENTRY.iter_unpack(body)))


@dataclass(frozen=True, slots=True)
class Standing:
    """How a board that can be configured stands: the check sum in force (0: none), a bit for each muted input."""

    config: int
    muted: int


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The board's levels at `tick`, after every entry below `seq`; `echo` repeats a host's token or is 0."""

    KIND: ClassVar[int] = 0x03

    boot: int
    seq: int
    tick: int
    echo: int
    counters: BoardCounters
    levels: ChannelLevels
    standing: Standing | None = None

    def to_bytes(self) -> bytes:
        """Return the payload."""
        payload = (
            _BOARD_HEADER.pack(self.KIND, self.boot, self.seq, self.tick)
            + _ECHO.pack(self.echo)
            + self.counters.to_bytes()
            + self.levels.to_bytes()
        )
        if self.standing is None:
            return payload
        muted = self.standing.muted.to_bytes((self.levels.channels + 7) // 8, "little")
        return payload + _CHECKSUM.pack(self.standing.config) + muted

    @classmethod
    def from_bytes(cls, payload: bytes) -> Self:
        """Read a payload of this kind."""
        _, boot, seq, tick = _unpack(_BOARD_HEADER, payload)
        body = payload[_BOARD_HEADER.size :]
        (echo,) = _unpack(_ECHO, body)
        rest = body[_ECHO.size :]
        counters = BoardCounters(*_unpack(_COUNTERS, rest))
        rest = rest[_COUNTERS.size :]
        width = (rest[0] + 7) // 8 if rest else 0
        levels = ChannelLevels.from_bytes(rest[: 1 + width])
        standing = _standing(rest[1 + width :], levels.channels)
        return cls(boot, seq, tick, echo, counters, levels, standing)


def _standing(data: bytes, channels: int) -> Standing | None:
    if not data:
        return None
    if len(data) != _CHECKSUM.size + (channels + 7) // 8:
        raise MessageError(Rejection.LENGTH)
    (config,) = _CHECKSUM.unpack_from(data)
    muted = int.from_bytes(data[_CHECKSUM.size :], "little")
    if muted >> channels:
        raise MessageError(Rejection.VALUE)
    return Standing(config, muted)


# ------------------------------------------------------------------ from the host to the board


@dataclass(frozen=True, slots=True)
class HelloRequest:
    """The host has just come, or has lost the thread: say hello and send everything again."""

    KIND: ClassVar[int] = 0x81

    protocol: int = PROTOCOL_VERSION

    def to_bytes(self) -> bytes:
        """Return the payload; it is for any boot, so the tag and the number are 0."""
        return _HOST_HEADER.pack(self.KIND, 0, 0) + bytes([self.protocol])

    @classmethod
    def from_bytes(cls, payload: bytes) -> Self:
        """Read a payload of this kind."""
        if len(payload) != _HOST_HEADER.size + 1:
            raise MessageError(Rejection.LENGTH)
        return cls(payload[_HOST_HEADER.size])


@dataclass(frozen=True, slots=True)
class Ack:
    """Every entry below `seq` is durable at the host: the board may forget it."""

    KIND: ClassVar[int] = 0x82

    boot: int
    seq: int

    def to_bytes(self) -> bytes:
        """Return the payload."""
        return _HOST_HEADER.pack(self.KIND, self.boot, self.seq)

    @classmethod
    def from_bytes(cls, payload: bytes) -> Self:
        """Read a payload of this kind."""
        return cls(*_bare(payload))


@dataclass(frozen=True, slots=True)
class Nak:
    """Something was missed: send again from `seq`. It releases nothing."""

    KIND: ClassVar[int] = 0x83

    boot: int
    seq: int

    def to_bytes(self) -> bytes:
        """Return the payload."""
        return _HOST_HEADER.pack(self.KIND, self.boot, self.seq)

    @classmethod
    def from_bytes(cls, payload: bytes) -> Self:
        """Read a payload of this kind."""
        return cls(*_bare(payload))


@dataclass(frozen=True, slots=True)
class HostHeartbeat:
    """An Ack that asks for a heartbeat at once, with `token` (never 0) echoed."""

    KIND: ClassVar[int] = 0x84

    boot: int
    seq: int
    token: int

    def to_bytes(self) -> bytes:
        """Return the payload."""
        return _HOST_HEADER.pack(self.KIND, self.boot, self.seq) + _ECHO.pack(self.token)

    @classmethod
    def from_bytes(cls, payload: bytes) -> Self:
        """Read a payload of this kind."""
        if len(payload) != _HOST_HEADER.size + _ECHO.size:
            raise MessageError(Rejection.LENGTH)
        _, boot, seq = _unpack(_HOST_HEADER, payload)
        (token,) = _unpack(_ECHO, payload[_HOST_HEADER.size :])
        return cls(boot, seq, token)


@dataclass(frozen=True, slots=True)
class Config:
    """What the board is to be from now on; it answers with a heartbeat once it is."""

    KIND: ClassVar[int] = 0x85

    boot: int
    configuration: BoardConfiguration

    def to_bytes(self) -> bytes:
        """Return the payload; it acknowledges nothing, so its number is 0."""
        return _HOST_HEADER.pack(self.KIND, self.boot, 0) + self.configuration.to_bytes()

    @classmethod
    def from_bytes(cls, payload: bytes) -> Self:
        """Read a payload of this kind."""
        _, boot, _ = _unpack(_HOST_HEADER, payload)
        configuration = BoardConfiguration.from_bytes(payload[_HOST_HEADER.size :])
        if isinstance(configuration, Rejection):
            raise MessageError(configuration)
        return cls(boot, configuration)


@dataclass(frozen=True, slots=True)
class Output:
    """The levels that the outputs are to have; bits of other channels mean nothing. Answered with a heartbeat."""

    KIND: ClassVar[int] = 0x86

    boot: int
    levels: ChannelLevels

    def to_bytes(self) -> bytes:
        """Return the payload; it acknowledges nothing, so its number is 0."""
        return _HOST_HEADER.pack(self.KIND, self.boot, 0) + self.levels.to_bytes()

    @classmethod
    def from_bytes(cls, payload: bytes) -> Self:
        """Read a payload of this kind."""
        _, boot, _ = _unpack(_HOST_HEADER, payload)
        return cls(boot, ChannelLevels.from_bytes(payload[_HOST_HEADER.size :]))


BoardMessage = Hello | Edges | Heartbeat
HostMessage = HelloRequest | Ack | Nak | HostHeartbeat | Config | Output
Message = BoardMessage | HostMessage


@dataclass(frozen=True, slots=True)
class UnknownKind:
    """A whole frame of a kind that the reader does not know: counted and ignored, not an error."""

    kind: int


_BY_KIND: dict[int, type[Message]] = {
    kind.KIND: kind for kind in (Hello, Edges, Heartbeat, HelloRequest, Ack, Nak, HostHeartbeat, Config, Output)
}


def decode(payload: bytes) -> Message | ForeignHello | UnknownKind | Rejection:
    """Return the message in a payload that passed its check sum, or why there is none. Never raises."""
    if not payload:
        return Rejection.SHORT
    kind = _BY_KIND.get(payload[0])
    if kind is None:
        return UnknownKind(payload[0])
    try:
        if kind is Hello and (foreign := ForeignHello.from_bytes(payload)).protocol != PROTOCOL_VERSION:
            return foreign
        return kind.from_bytes(payload)
    except MessageError as error:
        return error.rejection


def _unpack(layout: struct.Struct, data: bytes) -> tuple[int, ...]:
    if len(data) < layout.size:
        raise MessageError(Rejection.LENGTH)
    return layout.unpack_from(data)


def _bare(payload: bytes) -> tuple[int, int]:
    if len(payload) != _HOST_HEADER.size:
        raise MessageError(Rejection.LENGTH)
    _, boot, seq = _unpack(_HOST_HEADER, payload)
    return boot, seq
