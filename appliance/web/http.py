"""The little of HTTP that the pages need: one request head in, one answer out, then the connection closes.

Pure: bytes in, values out, no socket. Everything a page may load comes from its own address, and every
answer says so (`SECURITY_HEADERS`). Framing by other sites is left open on purpose: the board has nothing
to click, and home dashboards show it inside theirs.
"""

import ipaddress
import re
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

MAX_HEAD_BYTES = 16 * 1024

SECURITY_HEADERS = (
    (
        "Content-Security-Policy",
        "default-src 'self'; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)


class BadRequestError(Exception):
    """The bytes are no HTTP request; the message is one sentence for whoever sent them."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request head. Header names are in lower case; of a repeated header the last one counts."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def wants_websocket(self) -> bool:
        """Whether the client asks to go on as a WebSocket."""
        return self.headers.get("upgrade", "").strip().lower() == "websocket"

    @property
    def is_of_this_machine(self) -> bool:
        """Whether a visitor sits at this machine: asked for by an address of its own, and by no proxy for others.

        A page of another site can have its name lead here, but then the name is what it asks for.
        """
        through_proxy = any(name == "forwarded" or name.startswith("x-forwarded-") for name in self.headers)
        return not through_proxy and is_loopback(_host_of(f"//{self.headers.get('host', '')}") or "")

    @property
    def from_own_page(self) -> bool:
        """Whether a page of this very host asks (or no page at all: other programs send no `Origin`).

        Hosts are compared without their ports, and a proxy's `X-Forwarded-Host` counts as well: a foreign
        page can set neither.
        """
        origin = self.headers.get("origin")
        if origin is None:
            return True
        asking = _host_of(origin)
        forwarded = self.headers.get("x-forwarded-host", "").split(",")[0].strip()
        own = {_host_of(f"//{host}") for host in (self.headers.get("host", ""), forwarded) if host}
        return asking is not None and asking in own


def parse_head(head: bytes) -> Request:
    """Read a request head, up to and with its empty line."""
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1.") or not words[1].startswith("/"):
        raise BadRequestError("The first line is no HTTP/1 request, such as “GET / HTTP/1.1”.")
    headers: dict[str, str] = {}
    for line in lines[1:]:
        if not line:
            continue
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise BadRequestError("A header line is not of the form “Name: value”.")
        headers[name.lower()] = value.strip()
    return Request(words[0], words[1].partition("?")[0], headers)


def response(
    status: HTTPStatus,
    body: bytes,
    content_type: str,
    *,
    head_only: bool = False,
    more: tuple[tuple[str, str], ...] = (),
) -> bytes:
    """One whole answer. `head_only` leaves the body out but still states its length, as HEAD asks."""
    lines = [f"HTTP/1.1 {status.value} {status.phrase}", "Connection: close"]
    if status is not HTTPStatus.NOT_MODIFIED:
        lines += [f"Content-Type: {content_type}", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (*SECURITY_HEADERS, *more)]
    head = "\r\n".join((*lines, "", "")).encode("latin-1")
    return head if head_only or status is HTTPStatus.NOT_MODIFIED else head + body


def sentence(
    status: HTTPStatus, text: str, *, head_only: bool = False, more: tuple[tuple[str, str], ...] = ()
) -> bytes:
    """An answer that is one sentence for people."""
    body = f"{text}\n".encode()
    return response(
        status,
        body,
        "text/plain; charset=utf-8",
        head_only=head_only,
        more=(("Cache-Control", "no-store"), *more),
    )


def tag_matches(if_none_match: str, etag: str) -> bool:
    """Whether the client's copy, named by its `If-None-Match` header, is the present one."""
    known = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in known or etag.removeprefix("W/") in known


def accepts(accept_encoding: str, encoding: str) -> bool:
    """Whether the client's `Accept-Encoding` header names that encoding, and not to refuse it."""
    for part in accept_encoding.split(","):
        name, _, weight = part.partition(";")
        if name.strip().lower() == encoding:
            return re.fullmatch(r"q=0(\.0*)?", weight.strip(), re.IGNORECASE) is None
    return False


def _host_of(url: str) -> str | None:
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    return host.lower() if host else None


def is_loopback(host: str) -> bool:
    """Whether that is this machine, for itself alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
