"""The server over real sockets: what it serves, and how it says no."""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from appliance.web.assets import STATIC
from appliance.web.http import MAX_HEAD_BYTES
from appliance.web.server import WebServer, WebServerError
from tests.support.brokers import Settings

HOST = "127.0.0.1"
pytestmark = pytest.mark.real


def serve(body: Callable[[WebServer, int], Awaitable[None]], **options: int) -> None:
    async def run() -> None:
        server = WebServer(HOST, 0, Settings(9), ["t1", "t2"], "club", **options)
        port = await server.start()
        try:
            async with asyncio.timeout(20):
                await body(server, port)
        finally:
            await server.stop()

    asyncio.run(run())


async def ask(port: int, request: bytes) -> tuple[int, dict[str, str], bytes]:
    reader, writer = await asyncio.open_connection(HOST, port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    return int(first.split(" ")[1]), dict(line.split(": ", 1) for line in lines), body


async def get(port: int, path: str, *headers: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    lines = (f"{method} {path} HTTP/1.1", "Host: board.local", *headers, "", "")
    return await ask(port, "\r\n".join(lines).encode())


def is_sentence(body: bytes) -> bool:
    text = body.decode().strip()
    return text[0].isupper() and text.endswith(".") and "\n" not in text


@pytest.mark.parametrize(
    ("path", "file", "content_type"),
    [
        ("/", "index.html", "text/html; charset=utf-8"),
        ("/index.html?table=t1", "index.html", "text/html; charset=utf-8"),
        ("/board.css", "board.css", "text/css; charset=utf-8"),
        ("/board.js", "board.js", "text/javascript; charset=utf-8"),
        ("/icon.svg", "icon.svg", "image/svg+xml"),
        ("/vendor/mqtt.esm.js", "vendor/mqtt.esm.js", "text/javascript; charset=utf-8"),
    ],
)
def test_files_are_served_whole(path: str, file: str, content_type: str) -> None:
    async def body(_: WebServer, port: int) -> None:
        status, headers, content = await get(port, path)
        assert status == 200
        assert content == (STATIC / file).read_bytes()
        assert headers["Content-Type"] == content_type
        assert headers["Content-Length"] == str(len(content))
        assert headers["Cache-Control"] == "no-cache"

    serve(body)


def test_every_answer_carries_the_security_headers() -> None:
    async def body(_: WebServer, port: int) -> None:
        for path, method in (("/", "GET"), ("/board.js", "HEAD"), ("/none", "GET"), ("/", "POST"), ("/mqtt", "GET")):
            _, headers, _ = await get(port, path, method=method)
            policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
            assert policy["default-src"] == "'self'"
            assert policy["connect-src"] == "'self'"
            assert headers["X-Content-Type-Options"] == "nosniff"

    serve(body)


def test_a_known_copy_is_not_sent_again() -> None:
    async def body(_: WebServer, port: int) -> None:
        _, headers, _ = await get(port, "/board.css")
        status, again, content = await get(port, "/board.css", f"If-None-Match: {headers['ETag']}")
        assert (status, content, again["ETag"]) == (304, b"", headers["ETag"])
        assert (await get(port, "/board.css", 'If-None-Match: "old"'))[0] == 200

    serve(body)


def test_head_gives_the_head_alone() -> None:
    async def body(_: WebServer, port: int) -> None:
        _, headers, content = await get(port, "/board.css")
        assert await get(port, "/board.css", method="HEAD") == (200, headers, b"")
        assert headers["Content-Length"] == str(len(content))

    serve(body)


@pytest.mark.parametrize(
    ("head", "may_ask"),
    [
        ("Host: board.local", False),
        ("Host: localhost:8080", True),
        ("Host: 127.0.0.1:8080", True),
        ("Host: 127.0.0.1:8080\r\nX-Forwarded-For: 192.0.2.7", False),
    ],
)
def test_the_page_learns_its_tables_and_whether_it_may_ask_them(head: str, may_ask: bool) -> None:
    async def body(_: WebServer, port: int) -> None:
        request = f"GET /table.json HTTP/1.1\r\n{head}\r\n\r\n"
        status, headers, content = await ask(port, request.encode())
        assert (status, headers["Content-Type"]) == (200, "application/json")
        assert json.loads(content) == {"base": "club", "tables": ["t1", "t2"], "may_ask": may_ask}

    serve(body)


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/vendor/../../server.py",
        "/%2e%2e/server.py",
        "/..%2fserver.py",
        "//etc/passwd",
        "/vendor",
        "/vendor/",
        "/server.py",
        "/\\..\\server.py",
        "/board.css/",
    ],
)
def test_nothing_else_can_be_reached(path: str) -> None:
    async def body(_: WebServer, port: int) -> None:
        status, headers, content = await get(port, path)
        assert status == 404
        assert headers["Content-Type"] == "text/plain; charset=utf-8"
        assert is_sentence(content)

    serve(body)


def test_other_methods_are_refused() -> None:
    async def body(_: WebServer, port: int) -> None:
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            status, headers, content = await get(port, "/", "Content-Length: 2", method=method)
            assert (status, headers["Allow"]) == (405, "GET, HEAD")
            assert is_sentence(content)

    serve(body)


def test_a_plain_request_at_the_relay_is_told_so() -> None:
    async def body(_: WebServer, port: int) -> None:
        status, headers, content = await get(port, "/mqtt")
        assert (status, headers["Upgrade"]) == (426, "websocket")
        assert is_sentence(content)

    serve(body)


def test_bad_requests_are_answered_and_counted() -> None:
    async def body(server: WebServer, port: int) -> None:
        status, _, content = await ask(port, b"\x16\x03\x01 hello\r\n\r\n")
        assert status == 400
        assert is_sentence(content)
        status, _, content = await ask(port, b"GET / HTTP/1.1\r\nX: " + b"x" * MAX_HEAD_BYTES)
        assert status == 431
        assert is_sentence(content)
        assert server.counters.bad_requests == 2

    serve(body)


def test_connections_are_bounded_and_counted() -> None:
    async def body(server: WebServer, port: int) -> None:
        _, waiting = await asyncio.open_connection(HOST, port)
        waiting.write(b"GET / HTTP/1.1\r\n")
        await waiting.drain()
        assert (await get(port, "/"))[0] == 200
        _, second = await asyncio.open_connection(HOST, port)
        second.write(b"G")
        status, _, content = await get(port, "/")
        assert status == 503
        assert is_sentence(content)
        assert server.counters.connections_refused == 1
        for writer in (waiting, second):
            writer.close()
            await writer.wait_closed()

    serve(body, max_connections=2)


def test_stop_ends_open_connections_without_a_word_and_start_works_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def run() -> None:
        server = WebServer(HOST, 0, Settings(9), "t1")
        await server.stop()
        for _ in range(2):
            port = await server.start()
            reader, writer = await asyncio.open_connection(HOST, port)
            writer.write(b"GET / HT")
            await writer.drain()
            await server.stop()
            with suppress(ConnectionResetError):
                assert await reader.read() == b""
            with suppress(ConnectionResetError):
                writer.close()
                await writer.wait_closed()
            with socket.socket() as probe:
                assert probe.connect_ex((HOST, port)) != 0

    asyncio.run(run())
    assert caplog.records == []


def test_a_taken_port_is_one_sentence() -> None:
    async def run() -> None:
        with socket.socket() as other:
            other.bind((HOST, 0))
            other.listen()
            port = other.getsockname()[1]
            with pytest.raises(WebServerError) as caught:
                await WebServer(HOST, port, Settings(9), "t1").start()
        text = str(caught.value)
        assert text == (
            f"The pages cannot listen on 127.0.0.1:{port}: another program uses this port; "
            "choose another in [web] listen."
        )

    asyncio.run(run())


def test_an_address_of_another_computer_is_one_sentence() -> None:
    async def run() -> None:
        with pytest.raises(WebServerError, match=r"^The pages cannot listen on 192\.0\.2\.1:80: .*\.$"):
            await WebServer("192.0.2.1", 80, Settings(9), "t1").start()

    asyncio.run(run())
