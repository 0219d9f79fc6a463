"""What a page may say to the broker, packet by packet; the packets are made and read without the guard's code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.web.guard import MAX_PACKET_BYTES, Guard, NotAllowedError, Rights
from tests.web.packets import DISCONNECT, PINGREQ, Packet, connect, packet, packets, publish, subscribe, text

ID = "pocketbeam-page-0"
OPEN = Rights("pocketbeam", ("t1", "t2"), may_ask=True)
LOOKING = Rights("pocketbeam", ("t1", "t2"))
TABLES_OWN = Rights("pocketbeam", ("t1", "t2"), "appliance", "secret")
REQUEST = publish("pocketbeam/t1/request", b'{"command": "undo"}')
LATER = [packet(0x40, b"\x00\x01"), packet(0x50, b"\x00\x01"), packet(0x62, b"\x00\x01"), packet(0x70, b"\x00\x01")]


def passed(rights: Rights, *said: bytes) -> bytes:
    """What goes on to the broker of what a page says."""
    guard = Guard(rights, ID)
    return b"".join(guard.hear(each) for each in said)


@pytest.mark.parametrize("cut", [1, 2, 3, 7, 1000])
def test_a_page_connects_follows_a_table_and_leaves(cut: int) -> None:
    follow = subscribe("pocketbeam/t1/state", "pocketbeam/t1/event", "pocketbeam/+/line", "pocketbeam/#")
    rest = follow + PINGREQ + b"".join(LATER) + packet(0xA2, b"\x00\x09" + text("pocketbeam/t1/state")) + DISCONNECT
    whole = connect() + rest
    heard = passed(LOOKING, *(whole[at : at + cut] for at in range(0, len(whole), cut)))
    assert heard == connect(ID) + rest


@pytest.mark.parametrize(
    ("rights", "own", "becomes"),
    [
        (OPEN, connect("pocketbeam-t1"), connect(ID)),
        (TABLES_OWN, connect("pocketbeam-t1"), connect(ID, "appliance", "secret")),
        (TABLES_OWN, connect("", "umpire", "hers"), connect(ID, "umpire", "hers")),
        (TABLES_OWN, connect("", "umpire"), connect(ID, "umpire")),
        (OPEN, connect("x", clean=False), connect(ID)),
        (Rights("b", ("t",), "ünï", "🙂"), connect(), connect(ID, "ünï", "🙂")),
    ],
    ids=["nobody", "the table's account", "its own account", "no password", "no session stays", "any letters"],
)
def test_who_a_page_is_at_the_broker(rights: Rights, own: bytes, becomes: bytes) -> None:
    assert passed(rights, own) == becomes


@pytest.mark.parametrize(
    ("rights", "first", "may"),
    [
        (OPEN, connect(), True),
        (LOOKING, connect(), False),
        (TABLES_OWN, connect(), False),
        (TABLES_OWN, connect("", "umpire", "hers"), True),  # and then the broker judges
        (LOOKING, connect("", "umpire", "hers"), False),  # it would ask nobody for the password
    ],
    ids=["here", "from the network", "by the table's account", "by its own", "by a name that nobody checks"],
)
def test_who_may_ask(rights: Rights, first: bytes, may: bool) -> None:
    guard = Guard(rights, ID)
    guard.hear(first)
    if may:
        assert guard.hear(REQUEST) == REQUEST
    else:
        with pytest.raises(NotAllowedError, match="without an account of the broker a page may only look"):
            guard.hear(REQUEST)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        *((publish(topic, b"x"), "a page may only look") for topic in (
            "pocketbeam/t1/state", "pocketbeam/t1/availability", "pocketbeam/t1/response", "pocketbeam/t3/request",
            "homeassistant/device/t1/config", "homeassistant/status", "pocketbeam/t1/request/",
            "/pocketbeam/t1/request", "pocketbeam/+/request", "pocketbeam/t1/request\0", "", b"\xff\xfe",
        )),
        (publish("pocketbeam/t1/request", b"{}", retain=True), "a request is never retained"),
        *((subscribe(topic), "a page may only look at what is below pocketbeam/") for topic in (
            "#", "+/t1/state", "$SYS/#", "homeassistant/#", "pocketbeam", "pocketbeamer/x", "$share/g/pocketbeam/#", "",
        )),
        (subscribe("pocketbeam/t1/state", "#"), "a page may only look at what is below pocketbeam/"),
        (connect(), "MQTT begins with one CONNECT"),
        (packet(0x20, b"\0\0"), "that is no MQTT of a client"),
        (packet(0x90, b"\0\1\0"), "that is no MQTT of a client"),
        (packet(0x00, b""), "that is no MQTT of a client"),
        (packet(0xF0, b""), "that is no MQTT of a client"),
        (packet(0x30, b"\x00\x30short"), "that is no MQTT"),
        (packet(0x82, b"\x00"), "that is no MQTT"),
        (packet(0x82, b"\x00\x01\x00\x01"), "that is no MQTT"),
        (b"\x30\xff\xff\xff\xff\x01", "that is no MQTT"),
        (b"\x30\xff\xff\xff\x7f", "a packet of 268435455 bytes is too long"),
        (publish("pocketbeam/t1/request", b"x" * MAX_PACKET_BYTES), "too long"),
    ],
)  # fmt: skip
def test_what_no_page_may_say(said: bytes, sentence: str) -> None:
    guard = Guard(OPEN, ID)
    guard.hear(connect())
    with pytest.raises(NotAllowedError, match=sentence) as caught:
        guard.hear(PINGREQ + said)
    assert len(str(caught.value).encode()) < 120  # what a WebSocket's close can carry


@pytest.mark.parametrize(
    ("first", "sentence"),
    [
        (REQUEST, "MQTT begins with one CONNECT"),
        (PINGREQ, "MQTT begins with one CONNECT"),
        (b"GET / HTTP/1.1\r\n\r\n" * 10, "MQTT"),
        (connect(level=5), "pages speak MQTT 3.1.1"),
        (connect(level=132), "pages speak MQTT 3.1.1"),
        (connect(will=("pocketbeam/t1/availability", "offline")), "a page has no will"),
        (packet(0x10, b"\x00"), "that is no MQTT"),
        (packet(0x10, text("MQTT") + b"\x04"), "that is no MQTT"),
        (packet(0x10, text("MQTT") + b"\x04\xc2\x00\x3c" + text("id")), "that is no MQTT"),
    ],
)
def test_how_no_page_may_begin(first: bytes, sentence: str) -> None:
    with pytest.raises(NotAllowedError, match=sentence):
        passed(OPEN, first)


def test_a_packet_waits_until_it_is_whole_and_takes_no_more_room_than_it_may() -> None:
    guard = Guard(OPEN, ID)
    guard.hear(connect())
    longest = publish("pocketbeam/t1/request", b"x" * (16 * 1024))
    assert guard.hear(longest[:-1]) == b""
    assert guard.hear(longest[-1:]) == longest


def is_allowed(each: Packet, number: int) -> bool:
    match each.kind:
        case 1:
            return number == 0 and each.texts(10) == [ID.encode(), b"appliance", b"secret"]
        case 8:
            at, filters = 2, []
            while at < len(each.body):
                size = int.from_bytes(each.body[at : at + 2], "big")
                filters.append(each.body[at + 2 : at + 2 + size])
                at += size + 3
            return all(one.startswith(b"pocketbeam/") for one in filters)
        case _:
            return each.kind in (4, 5, 6, 7, 10, 12, 14)


_topics = st.sampled_from(["pocketbeam/t1/request", "pocketbeam/t1/state", "#", "pocketbeam/#", "x", ""])
_said = st.one_of(
    st.builds(connect, st.text(max_size=3), clean=st.booleans(), level=st.integers(3, 5)),
    st.builds(publish, _topics, st.binary(max_size=5), retain=st.booleans()),
    st.builds(lambda each: subscribe(*each), st.lists(_topics, max_size=3)),
    st.builds(packet, st.integers(0, 255), st.binary(max_size=200)),
    st.binary(max_size=20),
)


@given(st.lists(_said, max_size=8), st.integers(1, 40), st.booleans())
def test_whatever_a_page_says_the_tables_account_is_used_for_looking_alone(
    said: list[bytes], cut: int, begins_well: bool
) -> None:
    whole = (connect() if begins_well else b"") + b"".join(said)
    guard, heard = Guard(TABLES_OWN, ID), b""
    try:
        for at in range(0, len(whole), cut):
            heard += guard.hear(whole[at : at + cut])
    except NotAllowedError:
        pass
    # Without a name of its own; who has one is not the table.
    through = packets(heard)
    if through and through[0].texts(10)[1:] == [b"appliance", b"secret"]:
        assert all(is_allowed(each, number) for number, each in enumerate(through))
    else:
        assert not through
