"""MQTT 3.1.1 packets as a page sends them, and the reading of them, from the standard and nothing of ours."""

from dataclasses import dataclass

PINGREQ = b"\xc0\x00"
DISCONNECT = b"\xe0\x00"


def packet(first: int, body: bytes) -> bytes:
    length = bytearray()
    rest = len(body)
    while rest > 127:
        length.append(128 + rest % 128)
        rest //= 128
    return bytes([first]) + bytes([*length, rest]) + body


def text(content: str | bytes) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    return len(data).to_bytes(2, "big") + data


def connect(
    client_id: str = "me",
    username: str | None = None,
    password: str | None = None,
    *,
    will: tuple[str, str] | None = None,
    clean: bool = True,
    level: int = 4,
) -> bytes:
    flags = (2 if clean else 0) + (4 if will else 0)
    payload = text(client_id)
    for part in will or ():
        payload += text(part)
    if username is not None:
        flags += 128
        payload += text(username)
    if password is not None:
        flags += 64
        payload += text(password)
    return packet(0x10, text("MQTT") + bytes([level, flags]) + (60).to_bytes(2, "big") + payload)


def publish(topic: str | bytes, payload: bytes, *, retain: bool = False) -> bytes:
    return packet(0x31 if retain else 0x30, text(topic) + payload)


def subscribe(*filters: str) -> bytes:
    return packet(0x82, (7).to_bytes(2, "big") + b"".join(text(each) + b"\x01" for each in filters))


@dataclass(frozen=True, slots=True)
class Packet:
    kind: int
    flags: int
    body: bytes

    def texts(self, at: int) -> list[bytes]:
        """The texts from a place of the body on."""
        found = []
        while at < len(self.body):
            size = int.from_bytes(self.body[at : at + 2], "big")
            found.append(self.body[at + 2 : at + 2 + size])
            at += 2 + size
        return found


def packets(data: bytes) -> list[Packet]:
    """Every packet; what is left must be nothing."""
    found, at = [], 0
    while at < len(data):
        first, length, factor, at = data[at], 0, 1, at + 1
        while True:
            byte = data[at]
            length, factor, at = length + byte % 128 * factor, factor * 128, at + 1
            if byte < 128:
                break
        assert at + length <= len(data), "half a packet"
        found.append(Packet(first // 16, first % 16, data[at : at + length]))
        at += length
    return found
