"""Frames on the serial line: where one ends, and whether it arrived whole.

A frame is COBS(payload + CRC) followed by one zero byte. COBS leaves no zero inside, so a zero is always
an end: whatever is lost or garbled, the next zero puts the reader back in step at the cost of the frames
it touched. The CRC is CRC-16 with polynomial 0x1021 and initial value 0xFFFF, high byte first, so that
the CRC over payload and CRC together is zero. The page for implementers is docs/protocol.md.
"""

from binascii import crc_hqx
from dataclasses import dataclass
from enum import Enum

from cobs import cobs

MAX_FRAME = 64
"""The longest frame in bytes on the wire, its zero byte included."""

DELIMITER = b"\0"
_CRC_INITIAL = 0xFFFF
_CRC_BYTES = 2


class Rejection(Enum):
    """Why bytes between two delimiters are no message of this protocol."""

    OVERLONG = "longer than any frame"
    COBS = "not COBS"
    SHORT = "too short for a frame"
    CRC = "check sum wrong"
    LENGTH = "length wrong for its kind"
    VALUE = "a field outside its range"


class Verdict(Enum):
    """What `parse` found at the head of a buffer."""

    PAYLOAD = "payload"
    NEED_MORE = "need more"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of parsing: `used` bytes of the buffer are dealt with, whatever the verdict."""

    verdict: Verdict
    used: int
    payload: bytes = b""
    rejection: Rejection | None = None


def crc16(data: bytes) -> int:
    """Return the CRC of `data`; 0x29B1 for the nine digits `123456789`."""
    return crc_hqx(data, _CRC_INITIAL)


def encode(payload: bytes) -> bytes:
    """Return the frame that carries `payload`."""
    checked = payload + crc16(payload).to_bytes(_CRC_BYTES, "big")
    return bytes(cobs.encode(checked)) + DELIMITER


def parse(buffer: bytes) -> Step:
    """Judge the head of `buffer`: a payload, bad bytes, or nothing to say yet. Never raises.

    Delimiters in a row are idle line and no fault; they are used up with NEED_MORE.
    """
    start = len(buffer) - len(buffer.lstrip(DELIMITER))
    end = buffer.find(DELIMITER, start)
    if end < 0:
        if len(buffer) - start >= MAX_FRAME:
            return Step(Verdict.BAD, len(buffer), rejection=Rejection.OVERLONG)
        return Step(Verdict.NEED_MORE, start)
    used = end + 1
    if used - start > MAX_FRAME:
        return Step(Verdict.BAD, used, rejection=Rejection.OVERLONG)
    try:
        checked = bytes(cobs.decode(buffer[start:end]))
    except cobs.DecodeError:
        return Step(Verdict.BAD, used, rejection=Rejection.COBS)
    if len(checked) <= _CRC_BYTES:
        return Step(Verdict.BAD, used, rejection=Rejection.SHORT)
    if crc16(checked) != 0:
        return Step(Verdict.BAD, used, rejection=Rejection.CRC)
    return Step(Verdict.PAYLOAD, used, checked[:-_CRC_BYTES])


class Deframer:
    """Cuts a stream of bytes, however it is chopped, into payloads and rejections.

    It keeps at most one unfinished frame (`MAX_FRAME` bytes) and counts everything that it throws away.
    """

    def __init__(self) -> None:
        """Begin in step: the first byte may begin a frame."""
        self.discarded_bytes = 0
        self._buffer = b""
        self._skipping = False

    def restart(self) -> None:
        """Forget an unfinished frame: the line was opened anew."""
        self.discarded_bytes += len(self._buffer)
        self._buffer = b""
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes | Rejection]:
        """Return what `data` completed, in order: payloads, and one rejection for each bad frame."""
        found: list[bytes | Rejection] = []
        if self._skipping:
            data = self._skip(data)
        self._buffer += data
        while self._buffer:
            step = parse(self._buffer)
            if step.rejection is not None:
                self.discarded_bytes += step.used
                # An overlong frame that has not ended yet goes on in the bytes to come.
                self._skipping = self._buffer[step.used - 1] != 0
                found.append(step.rejection)
            elif step.verdict is Verdict.PAYLOAD:
                found.append(step.payload)
            self._buffer = self._buffer[step.used :]
            if step.verdict is Verdict.NEED_MORE:
                break
        return found

    def _skip(self, data: bytes) -> bytes:
        end = data.find(DELIMITER)
        skipped = len(data) if end < 0 else end + 1
        self.discarded_bytes += skipped
        self._skipping = end < 0
        return data[skipped:]
