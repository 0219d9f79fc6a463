"""What a board is told to be: which channels are inputs and outputs, and what its colour sensors mean.

A configuration is the body of one message, and the board echoes its check sum in every heartbeat for as long as it
is in force, so that a host sees at once when a reset has wiped it out. Numbers stay as they are on the wire; the
page for implementers is docs/protocol.md.
"""

from dataclasses import dataclass, replace
from typing import Self

from appliance.link.framing import Rejection, crc16

MAX_SENSORS = 4
MAX_CLASSES = 4
MAX_MUTE_AFTER = 64
READING = 7
"""The object code of a class whose readings the board tells as they are, for whoever calibrates."""
MAX_ANALOG = 7
AFTER_UNIT_US = 1 << 16

_MAX_CHANNELS = 64
_WANTS_LOWEST = 0x10
_ACTIVE_HIGH = 0x20
_SENSOR_BYTES = 9
_NOTHING = 0xFFFF


@dataclass(frozen=True, slots=True)
class ColourSensor:
    """A sensor at an analog input that tells what has passed the beam at `channel`.

    The board takes the highest reading (0 to 255 of its supply), or the lowest, from the moment when the channel
    goes to `active_level` until `after` units of `AFTER_UNIT_US` after it has left it. `classes` are up to four pairs
    (limit, object code): the first whose limit is not below the reading is the object; code 0 is none, `READING` the
    reading itself.
    """

    channel: int
    analog: int
    classes: tuple[tuple[int, int], ...]
    after: int = 0
    wants_lowest: bool = False
    active_level: int = 1

    def to_bytes(self) -> bytes:
        """Return the nine bytes of the sensor."""
        classes = (*self.classes, *(((0, 0),) * (MAX_CLASSES - len(self.classes))))
        objects = sum(code << 4 * place for place, (_, code) in enumerate(classes))
        flags = (_WANTS_LOWEST if self.wants_lowest else 0) | (_ACTIVE_HIGH if self.active_level else 0)
        limits = bytes(limit for limit, _ in classes)
        return bytes([self.channel, self.analog | flags, self.after]) + limits + objects.to_bytes(2, "little")

    @classmethod
    def from_bytes(cls, data: bytes) -> Self | None:
        """Read nine bytes; None where one of them is outside its range."""
        objects = int.from_bytes(data[7:9], "little")
        codes = [objects >> 4 * place & 0xF for place in range(MAX_CLASSES)]
        analog = data[1] & ~(_WANTS_LOWEST | _ACTIVE_HIGH)
        if analog > MAX_ANALOG or max(codes) > READING:
            return None
        return cls(
            channel=data[0],
            analog=analog,
            classes=tuple(zip(data[3:7], codes, strict=True)),
            after=data[2],
            wants_lowest=bool(data[1] & _WANTS_LOWEST),
            active_level=int(bool(data[1] & _ACTIVE_HIGH)),
        )


@dataclass(frozen=True, slots=True)
class BoardConfiguration:
    """The channels below `channels`, as bit masks, and the sensors; every other channel is left alone.

    `rest` are the levels of the outputs while the host wants no others. `mute_after` is how many changes within 16 ms
    (2**14 microseconds) mute an input; 0 leaves it to the board.
    """

    channels: int
    inputs: int
    pull_ups: int = 0
    outputs: int = 0
    rest: int = 0
    mute_after: int = 0
    sensors: tuple[ColourSensor, ...] = ()

    def to_bytes(self) -> bytes:
        """Return the body of the message."""
        width = (self.channels + 7) // 8
        masks = (self.inputs, self.pull_ups, self.outputs, self.rest)
        return (
            bytes([self.channels])
            + b"".join(mask.to_bytes(width, "little") for mask in masks)
            + bytes([self.mute_after, len(self.sensors)])
            + b"".join(sensor.to_bytes() for sensor in self.sensors)
        )

    @classmethod
    def from_bytes(cls, body: bytes) -> Self | Rejection:
        """Read a body, or say why it is none."""
        width = (body[0] + 7) // 8 if body else 0
        start = 1 + 4 * width
        if len(body) < start + 2:
            return Rejection.LENGTH
        mute_after, count = body[start], body[start + 1]
        if count > MAX_SENSORS or len(body) != start + 2 + count * _SENSOR_BYTES:
            return Rejection.LENGTH
        masks = [int.from_bytes(body[1 + n * width : 1 + (n + 1) * width], "little") for n in range(4)]
        ends = range(start + 2, len(body), _SENSOR_BYTES)
        sensors = [ColourSensor.from_bytes(body[at : at + _SENSOR_BYTES]) for at in ends]
        well = tuple(sensor for sensor in sensors if sensor is not None)
        found = cls(body[0], masks[0], masks[1], masks[2], masks[3], mute_after, well)
        return found if len(well) == count and found.is_sound else Rejection.VALUE

    @property
    def is_sound(self) -> bool:
        """Whether no channel is two things, or one that it cannot be."""
        return (
            self.channels <= _MAX_CHANNELS
            and self.mute_after <= MAX_MUTE_AFTER
            and not (self.inputs | self.outputs) >> self.channels
            and not self.inputs & self.outputs
            and not self.pull_ups & ~self.inputs
            and not self.rest & ~self.outputs
            and all(self.inputs >> sensor.channel & 1 for sensor in self.sensors)
        )

    def within(self, channels: int) -> Self:
        """Return what of this a board with so many channels can be."""
        mask = (1 << channels) - 1
        return replace(
            self,
            channels=min(self.channels, channels),
            inputs=self.inputs & mask,
            pull_ups=self.pull_ups & mask,
            outputs=self.outputs & mask,
            rest=self.rest & mask,
            sensors=tuple(sensor for sensor in self.sensors if sensor.channel < channels),
        )

    @property
    def checksum(self) -> int:
        """The word by which a board says that it is in force; never 0, which means none is."""
        return crc16(self.to_bytes()) or _NOTHING
