"""Messages against the shared vectors, in both directions, and against every small damage of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.link.framing import MAX_FRAME, Deframer, Rejection, encode
from appliance.link.messages import (
    MAX_ENTRIES,
    OBJECT_CODES,
    Ack,
    BoardCounters,
    BrightnessEntry,
    ChannelLevels,
    ColourEntry,
    EdgeEntry,
    Edges,
    ForeignHello,
    Heartbeat,
    Hello,
    HelloRequest,
    HostHeartbeat,
    LostEntry,
    Message,
    Nak,
    UnknownEntry,
    UnknownKind,
    decode,
)
from tests.link.vectors import Vector, build, describe, read_vectors

VECTORS = read_vectors()
MESSAGES = [vector for vector in VECTORS if vector.name not in ("bad", "unknown", "foreign_hello")]

U8, U16, U32 = st.integers(0, 0xFF), st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF)
CHANNELS = st.integers(0, 63)
LEVELS = st.integers(0, 64).flatmap(
    lambda channels: st.builds(ChannelLevels, st.just(channels), st.integers(0, (1 << channels) - 1))
)
COUNTERS = st.builds(BoardCounters, U32, U16, U16)
ENTRIES = st.one_of(
    st.builds(EdgeEntry, U32, CHANNELS, st.integers(0, 1)),
    st.builds(ColourEntry, U32, CHANNELS, st.sampled_from(sorted(OBJECT_CODES))),
    st.builds(BrightnessEntry, U32, CHANNELS, st.integers(0, 127).map(lambda half: 2 * half)),
    st.builds(LostEntry, U32, st.integers(1, 0x3FFF)),
    st.builds(UnknownEntry, U32, st.integers(0xC0, 0xFF), U8),
    st.builds(UnknownEntry, U32, CHANNELS, st.integers(2, 0xFF)),
)
HELLOS = U32.flatmap(
    lambda boot_id: st.builds(
        Hello,
        boot=st.just(boot_id & 0xFFFF),
        seq=U16,
        tick=U32,
        firmware=st.tuples(U8, U8, U8),
        boot_id=st.just(boot_id),
        reset_cause=U8,
        board=U8,
        tick_hz=st.integers(1, 0xFFFFFFFF),
        oldest=U16,
        ring=U16,
        counters=COUNTERS,
        levels=LEVELS,
    )
)
ANY_MESSAGE = st.one_of(
    HELLOS,
    st.builds(Edges, U16, U16, U32, st.lists(ENTRIES, min_size=1, max_size=MAX_ENTRIES).map(tuple)),
    st.builds(Heartbeat, U16, U16, U32, U16, COUNTERS, LEVELS),
    st.builds(HelloRequest, U8),
    st.builds(Ack, U16, U16),
    st.builds(Nak, U16, U16),
    st.builds(HostHeartbeat, U16, U16, st.integers(1, 0xFFFF)),
)


def read(data: bytes) -> list[Message | ForeignHello | UnknownKind | Rejection]:
    """What a receiver makes of bytes off the wire."""
    return [found if isinstance(found, Rejection) else decode(found) for found in Deframer().feed(data)]


def test_the_vectors_cover_every_kind_and_every_rejection():
    assert {vector.name for vector in MESSAGES} == {
        *("hello", "edges", "heartbeat", "hello_request", "ack", "nak", "host_heartbeat", "config", "output")
    }
    reasons = {vector.text.removeprefix("bad ") for vector in VECTORS if vector.name == "bad"}
    assert reasons == {rejection.name.lower() for rejection in Rejection}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.text[:40])
def test_bytes_are_read_as_the_vectors_say(vector: Vector):
    assert [describe(message) for message in read(vector.frame)] == [vector.text]


@pytest.mark.parametrize("vector", MESSAGES, ids=lambda vector: vector.text[:40])
def test_messages_are_written_as_the_vectors_say(vector: Vector):
    assert encode(build(vector).to_bytes()).hex() == vector.frame.hex()


@given(ANY_MESSAGE)
def test_every_message_survives_the_wire_and_keeps_its_bounds(message):
    frame = encode(message.to_bytes())
    assert read(frame) == [message]
    assert len(frame) <= MAX_FRAME


@given(st.binary(min_size=1, max_size=120))
def test_a_payload_of_any_bytes_is_a_message_that_says_the_same_bytes_or_nothing(payload):
    message = decode(payload)
    if not isinstance(message, Rejection | UnknownKind | ForeignHello):
        assert message == HelloRequest(payload[5]) if payload[0] == 0x81 else message.to_bytes() == payload


def _damages(frame: bytes) -> list[bytes]:
    flips = [
        frame[:at] + bytes([frame[at] ^ 1 << bit]) + frame[at + 1 :] for at in range(len(frame)) for bit in range(8)
    ]
    deletions = [frame[:at] + frame[at + 1 :] for at in range(len(frame))]
    duplications = [frame[: at + 1] + frame[at:] for at in range(len(frame))]
    transpositions = [
        frame[:at] + frame[at + 1 : at + 2] + frame[at : at + 1] + frame[at + 2 :] for at in range(len(frame) - 1)
    ]
    return [damaged for damaged in flips + deletions + duplications + transpositions if damaged != frame]


@pytest.mark.parametrize("vector", MESSAGES, ids=lambda vector: vector.text[:40])
def test_no_small_damage_makes_another_message(vector: Vector):
    """FR-067: single bits flipped, single bytes lost, doubled, swapped, with a whole frame behind."""
    follower = HostHeartbeat(0x5678, 3, 7)
    sent = build(vector)
    for damaged in _damages(vector.frame):
        messages = read(damaged + encode(follower.to_bytes()) + b"\0" + encode(follower.to_bytes()))
        # In step again at the second follower at the latest; the first may have run into the damage.
        assert messages[-1] == follower
        good = [message for message in messages if not isinstance(message, Rejection)]
        # Two equal bytes swapped, or the closing zero doubled, are no damage: the message itself may pass.
        assert all(message in (sent, follower) for message in good)
        if sent not in good:
            assert len(messages) > len(good)
