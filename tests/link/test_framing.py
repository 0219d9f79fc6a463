"""Frames: where they end, that nothing damaged passes, and that everything discarded is counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.link.framing import MAX_FRAME, Deframer, Rejection, Verdict, crc16, encode, parse

PAYLOADS = st.binary(min_size=1, max_size=MAX_FRAME - 4)


def test_crc_has_the_published_check_value():
    assert crc16(b"123456789") == 0x29B1


def test_a_known_frame():
    # CRC of 0x82 worked out with pencil-and-paper division of 0x82 into x^16+x^12+x^5+1, register 0xFFFF.
    remainder = 0xFFFF ^ (0x82 << 8)
    for _ in range(8):
        remainder = (remainder << 1) ^ (0x11021 if remainder & 0x8000 else 0)
    assert encode(b"\x82") == b"\x04\x82" + remainder.to_bytes(2, "big") + b"\0"


@given(PAYLOADS)
def test_round_trip_without_a_zero_inside(payload):
    frame = encode(payload)
    assert frame.index(0) == len(frame) - 1
    step = parse(frame)
    assert (step.verdict, step.used, step.payload) == (Verdict.PAYLOAD, len(frame), payload)


@given(st.binary(max_size=3 * MAX_FRAME))
def test_any_bytes_get_a_verdict_and_progress(data):
    step = parse(data)
    assert 0 <= step.used <= len(data)
    assert step.used > 0 or step.verdict is Verdict.NEED_MORE
    if step.verdict is Verdict.NEED_MORE:
        assert len(data) - step.used < MAX_FRAME


@given(st.lists(PAYLOADS, max_size=5), st.data())
def test_any_chopping_gives_the_same_payloads(payloads, data):
    stream = b"".join(encode(payload) for payload in payloads)
    deframer = Deframer()
    found = []
    while stream:
        length = data.draw(st.integers(1, len(stream)))
        found += deframer.feed(stream[:length])
        stream = stream[length:]
    assert found == payloads
    assert deframer.discarded_bytes == 0


@given(st.binary(max_size=400), PAYLOADS)
def test_after_any_junk_and_a_delimiter_the_next_frame_is_taken(junk, payload):
    """FR-064."""
    deframer = Deframer()
    deframer.feed(junk)
    assert deframer.feed(b"\0" + encode(payload))[-1] == payload


@pytest.mark.parametrize("length", [MAX_FRAME - 1, MAX_FRAME, MAX_FRAME + 1, 1000])
def test_an_overlong_frame_is_one_rejection_and_every_byte_of_it_is_counted(length):
    deframer = Deframer()
    found = []
    for byte in b"\x01" * length + b"\0" + encode(b"\x82"):
        found += deframer.feed(bytes([byte]))
    overlong = length + 1 > MAX_FRAME
    assert found == [Rejection.OVERLONG if overlong else Rejection.CRC, b"\x82"]
    assert deframer.discarded_bytes == length + 1


def test_idle_line_is_no_fault():
    deframer = Deframer()
    assert deframer.feed(b"\0\0\0" + encode(b"\x82") + b"\0\0") == [b"\x82"]
    assert deframer.discarded_bytes == 0


def test_a_line_opened_anew_forgets_half_a_frame_and_counts_it():
    deframer = Deframer()
    deframer.feed(encode(b"\x82\x83")[:3])
    deframer.restart()
    assert deframer.feed(encode(b"\x84")) == [b"\x84"]
    assert deframer.discarded_bytes == 3
