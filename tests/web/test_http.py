"""Request heads and answers, as bytes."""

from http import HTTPStatus

import pytest

from appliance.web.http import BadRequestError, Request, accepts, parse_head, response, tag_matches


def head(*lines: str) -> bytes:
    return "\r\n".join((*lines, "", "")).encode("latin-1")


def test_a_head_is_read() -> None:
    request = parse_head(head("GET /board.css?v=1 HTTP/1.0", "Host: board.local", "IF-None-Match:  x "))
    assert (request.method, request.path) == ("GET", "/board.css")
    assert request.headers == {"host": "board.local", "if-none-match": "x"}
    assert not request.wants_websocket


@pytest.mark.parametrize(
    "lines",
    [
        ("nonsense",),
        ("GET /",),
        ("GET / SPDY/3",),
        ("GET board.css HTTP/1.1",),
        ("GET / HTTP/1.1", "no colon"),
        ("GET / HTTP/1.1", "Spaced : x"),
    ],
)
def test_a_bad_head_is_refused(lines: tuple[str, ...]) -> None:
    with pytest.raises(BadRequestError, match=r"\.$"):
        parse_head(head(*lines))


@pytest.mark.parametrize(
    ("headers", "own"),
    [
        (("Host: board.local:8080",), True),
        (("Host: board.local:8080", "Origin: http://board.local:8080"), True),
        (("Host: board.local", "Origin: https://BOARD.local:8443"), True),
        (("Host: [::1]:8080", "Origin: http://[::1]:8080"), True),
        (("Host: 127.0.0.1:8080", "X-Forwarded-Host: club.example", "Origin: https://club.example"), True),
        (("Host: board.local", "Origin: http://evil.example"), False),
        (("Host: board.local", "Origin: http://board.local.evil.example"), False),
        (("Host: board.local", "Origin: null"), False),
        (("Host: board.local", "Origin: http://["), False),
        (("Origin: http://board.local",), False),
    ],
)
def test_only_pages_of_the_same_host_are_own(headers: tuple[str, ...], own: bool) -> None:
    assert parse_head(head("GET /mqtt HTTP/1.1", *headers)).from_own_page is own


def test_an_answer_to_head_states_the_length_and_keeps_the_body() -> None:
    whole = response(HTTPStatus.OK, b"12345", "text/plain")
    assert whole.endswith(b"\r\n\r\n12345")
    assert response(HTTPStatus.OK, b"12345", "text/plain", head_only=True) == whole.removesuffix(b"12345")
    assert b"\r\nContent-Length: 5\r\n" in whole


@pytest.mark.parametrize(
    ("sent", "same"), [("", False), ('"a"', True), ('W/"a"', True), ('"b", "a"', True), ("*", True), ('"b"', False)]
)
def test_tags_are_compared(sent: str, same: bool) -> None:
    assert tag_matches(sent, '"a"') is same
    assert tag_matches(sent, 'W/"a"') is same


@pytest.mark.parametrize(
    ("header", "packed"),
    [
        ("", False),
        ("gzip", True),
        ("deflate, GZIP;q=0.5", True),
        ("br, gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("gzip-like", False),
    ],
)
def test_a_client_says_how_it_takes_a_file(header: str, packed: bool) -> None:
    assert accepts(header, "gzip") is packed


@pytest.mark.parametrize(
    ("headers", "of_this_machine"),
    [
        ({"host": "127.0.0.1:8080"}, True),
        ({"host": "localhost"}, True),
        ({"host": "[::1]:8080"}, True),
        ({"host": "LOCALHOST:8080"}, True),
        ({"host": "192.168.1.4:8080"}, False),
        ({"host": "club.local"}, False),
        ({"host": "127.0.0.1.evil.example"}, False),
        ({"host": "localhost.evil.example"}, False),
        ({"host": "127.0.0.1", "x-forwarded-for": "192.0.2.1"}, False),
        ({"host": "127.0.0.1", "forwarded": "for=192.0.2.1"}, False),
        ({"host": "127.0.0.1", "x-forwarded-proto": "https"}, False),
        ({"host": "["}, False),
        ({}, False),
    ],
)
def test_who_sits_at_this_machine(headers: dict[str, str], of_this_machine: bool) -> None:
    assert Request("GET", "/mqtt", headers).is_of_this_machine == of_this_machine
