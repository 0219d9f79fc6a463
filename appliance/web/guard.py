"""What a page may say to the broker: its packets read one by one, and let through or not. Pure, no I/O.

Whoever can open a page can speak MQTT through it, so a page is trusted with no more than a look at the tables:
it may subscribe below their topics, and the relay's own account at the broker is used for nothing else. A page
may send requests only where it could have sent them to the broker itself: with an account of its own, which it
names when it connects, or at a broker that lets everybody on this machine in. The first packet is rewritten: the
client id is ours, so that nobody throws a table off the broker by using its id; no will; no session that stays.

A connection that tries anything else ends with a sentence. Only whole packets go on to the broker.
"""

from dataclasses import dataclass

from appliance.mqtt.requests import MAX_BYTES
from appliance.mqtt.topics import request_topic

MAX_PACKET_BYTES = MAX_BYTES + 1024

_CONNECT, _PUBLISH, _SUBSCRIBE = 1, 3, 8
_HARMLESS = (4, 5, 6, 7, 10, 12, 14)
"""Acknowledgements, UNSUBSCRIBE, PINGREQ and DISCONNECT."""
_USER, _PASSWORD, _WILL, _CLEAN = 0x80, 0x40, 0x04, 0x02
_VERSIONS = {(b"MQIsdp", 3), (b"MQTT", 4)}
_WRONG_VERSION = bytes((0x20, 3, 0, 0x84, 0))
"""As version 5 says it, in which clients begin that know more than one."""


class NotAllowedError(Exception):
    """The page may not do that; the text is a sentence of less than 120 bytes."""

    def __init__(self, sentence: str, answer: bytes = b"") -> None:
        """`answer`: what MQTT has to say to it, so that a program can try something else."""
        super().__init__(sentence)
        self.answer = answer


@dataclass(frozen=True, slots=True)
class Rights:
    """Who speaks for a page that has no account of its own, and whether such a page may ask for something."""

    base: str
    tables: tuple[str, ...]
    username: str | None = None
    password: str | None = None
    may_ask: bool = False


class Guard:
    """One page's side of a conversation."""

    def __init__(self, rights: Rights, client_id: str) -> None:
        """`client_id` takes the place of the page's own."""
        self._rights = rights
        self._client_id = client_id
        self._may_ask = rights.may_ask
        self._requests = {request_topic(table, base=rights.base) for table in rights.tables}
        self._waiting = bytearray()
        self._is_connected = False

    def hear(self, data: bytes) -> bytes:
        """What of `data`, and of what waited, goes on to the broker; NotAllowedError."""
        self._waiting += data
        passed = bytearray()
        while (packet := self._next()) is not None:
            passed += self._judge(*packet)
        return bytes(passed)

    def _next(self) -> tuple[int, bytes] | None:
        """The first byte and the body of the next whole packet."""
        length, shift, at = 0, 0, 1
        while True:
            if at >= len(self._waiting):
                return None
            length |= (self._waiting[at] & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if self._waiting[at - 1] < 0x80:
                break
            if shift > 21:
                raise NotAllowedError("that is no MQTT")
        if length > MAX_PACKET_BYTES:
            raise NotAllowedError(f"a packet of {length} bytes is too long")
        if len(self._waiting) < at + length:
            return None
        first, body = self._waiting[0], bytes(self._waiting[at : at + length])
        del self._waiting[: at + length]
        return first, body

    def _judge(self, first: int, body: bytes) -> bytes:
        kind = first >> 4
        if self._is_connected == (kind == _CONNECT):
            raise NotAllowedError("MQTT begins with one CONNECT")
        if kind == _CONNECT:
            return self._connect(_Reader(body))
        if kind == _PUBLISH:
            self._check_publish(first, _Reader(body))
        elif kind == _SUBSCRIBE:
            self._check_subscribe(_Reader(body))
        elif kind not in _HARMLESS:
            raise NotAllowedError("that is no MQTT of a client")
        return _packet(first, body)

    def _connect(self, reader: "_Reader") -> bytes:
        name, version, flags = reader.text(), reader.number(1), reader.number(1)
        if (name, version) not in _VERSIONS:
            raise NotAllowedError("pages speak MQTT 3.1.1", _WRONG_VERSION)
        keepalive = reader.number(2)
        reader.text()  # the page's client id
        if flags & _WILL:
            raise NotAllowedError("a page has no will")
        if flags & _USER:
            username: bytes | None = reader.text()
            password = reader.text() if flags & _PASSWORD else None
            # The broker knows who that is, and what they may: where it asks nobody, a name proves nothing.
            self._may_ask = self._may_ask or self._rights.username is not None
        else:
            username, password = _encoded(self._rights.username), _encoded(self._rights.password)
        self._is_connected = True
        flags = _CLEAN | (_USER if username is not None else 0) | (_PASSWORD if password is not None else 0)
        body = _text(name) + bytes((version, flags)) + keepalive.to_bytes(2, "big") + _text(self._client_id.encode())
        body += b"".join(_text(part) for part in (username, password) if part is not None)
        return _packet(_CONNECT << 4, body)

    def _check_publish(self, first: int, reader: "_Reader") -> None:
        topic = reader.text().decode("utf-8", "replace")
        if topic not in self._requests:
            raise NotAllowedError("a page may only look")
        if not self._may_ask:
            raise NotAllowedError("without an account of the broker a page may only look")
        if first & 0x01:
            raise NotAllowedError("a request is never retained")

    def _check_subscribe(self, reader: "_Reader") -> None:
        reader.number(2)
        while not reader.is_at_end:
            topic, _ = reader.text().decode("utf-8", "replace"), reader.number(1)
            if not topic.startswith(f"{self._rights.base}/"):
                raise NotAllowedError(f"a page may only look at what is below {self._rights.base}/")


class _Reader:
    """The fields of a packet, one after the other."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._body)

    def number(self, size: int) -> int:
        return int.from_bytes(self._take(size), "big")

    def text(self) -> bytes:
        return self._take(self.number(2))

    def _take(self, size: int) -> bytes:
        if self._at + size > len(self._body):
            raise NotAllowedError("that is no MQTT")
        self._at += size
        return self._body[self._at - size : self._at]


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _text(data: bytes) -> bytes:
    return len(data).to_bytes(2, "big") + data


def _packet(first: int, body: bytes) -> bytes:
    length, rest = bytearray(), len(body)
    while True:
        length.append(rest & 0x7F | (0x80 if rest > 0x7F else 0))
        rest >>= 7
        if not rest:
            return bytes((first,)) + bytes(length) + body
