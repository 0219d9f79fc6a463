"""The least that can speak MQTT: a blocking socket, for floors that no library has a part in."""

import socket
import struct


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("!H", len(data)) + data


def _packet(head: int, body: bytes) -> bytes:
    length, size = b"", len(body)
    while True:
        size, low = size >> 7, size & 0x7F
        length += bytes([low | (0x80 if size else 0)])
        if not size:
            return bytes([head]) + length + body


class PlainMqtt:
    """One connection; `publish` waits for nothing, `receive` blocks until a message is there."""

    def __init__(self, host: str, port: int, name: str) -> None:
        self._socket = socket.create_connection((host, port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = b""
        self._messages: list[tuple[str, bytes]] = []
        self._next_id = 0
        self._socket.sendall(_packet(0x10, _text("MQTT") + bytes([4, 2]) + struct.pack("!H", 0) + _text(name)))
        self._wait_for(0x20)

    def subscribe(self, topic: str) -> None:
        """Listen at QoS 1."""
        self._socket.sendall(_packet(0x82, self._id() + _text(topic) + b"\x01"))
        self._wait_for(0x90)

    def publish(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        """Say something at QoS 1."""
        self._socket.sendall(_packet(0x32 | retain, _text(topic) + self._id() + payload))

    def receive(self, within_s: float = 10.0) -> tuple[str, bytes]:
        """The next message; TimeoutError where none comes."""
        self._socket.settimeout(within_s)
        while not self._messages:
            self._take()
        return self._messages.pop(0)

    def drain(self, quiet_s: float) -> None:
        """Forget what has come, until nothing more has for `quiet_s`."""
        try:
            while True:
                self.receive(quiet_s)
        except TimeoutError:
            pass

    def close(self) -> None:
        """Say goodbye."""
        self._socket.sendall(b"\xe0\x00")
        self._socket.close()

    def _id(self) -> bytes:
        self._next_id = self._next_id % 65_535 + 1
        return struct.pack("!H", self._next_id)

    def _wait_for(self, head: int) -> None:
        self._socket.settimeout(10)
        while self._take() & 0xF0 != head & 0xF0:
            pass

    def _take(self) -> int:
        """One packet: its first byte. Messages are kept and acknowledged."""
        while (found := self._whole()) is None:
            data = self._socket.recv(65_536)
            if not data:
                raise ConnectionError("the broker has closed the connection")
            self._buffer += data
        head, body = found
        if head & 0xF0 == 0x30:
            end = 2 + int.from_bytes(body[:2])
            topic = body[2:end].decode()
            if head & 0x06:
                self._socket.sendall(_packet(0x40, body[end : end + 2]))
                end += 2
            self._messages.append((topic, body[end:]))
        return head

    def _whole(self) -> tuple[int, bytes] | None:
        size = shift = 0
        for index in range(1, min(5, len(self._buffer))):
            byte = self._buffer[index]
            size |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                end = index + 1 + size
                if len(self._buffer) < end:
                    return None
                packet = self._buffer[0], self._buffer[index + 1 : end]
                self._buffer = self._buffer[end:]
                return packet
        return None
