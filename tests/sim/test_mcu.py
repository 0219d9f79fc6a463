"""The simulated board against the protocol page, one rule at a time."""

import pytest

from appliance.link.framing import Deframer, Rejection, encode
from appliance.link.messages import (
    Ack,
    ColourEntry,
    EdgeEntry,
    Edges,
    Heartbeat,
    Hello,
    HelloRequest,
    HostHeartbeat,
    HostMessage,
    LostEntry,
    Message,
    Nak,
    UnknownKind,
    decode,
)
from sim.mcu import CAUSE_WATCHDOG, HEARTBEAT_PERIOD_US, RESEND_AFTER_US, Mcu

BOOT_ID = 0xABCD1234
TAG = 0x1234


def said(mcu: Mcu, now_us: int) -> list[Message | UnknownKind | Rejection]:
    return [found if isinstance(found, Rejection) else decode(found) for found in Deframer().feed(mcu.poll(now_us))]


def hear(mcu: Mcu, message: HostMessage, now_us: int) -> None:
    mcu.receive(encode(message.to_bytes()), now_us)


def quiet(channels: int = 4, **kwargs: int) -> Mcu:
    """A board that has said its hello and its first heartbeat at 0."""
    mcu = Mcu(channels, BOOT_ID, **kwargs)
    mcu.poll(0)
    return mcu


def numbers(messages: list[Message | UnknownKind | Rejection]) -> list[int]:
    """The entries' numbers in what was said."""
    return [
        message.seq + offset
        for message in messages
        if isinstance(message, Edges)
        for offset in range(len(message.entries))
    ]


def test_it_says_hello_at_boot_behind_a_delimiter_and_then_its_heartbeat():
    mcu = Mcu(4, BOOT_ID, levels={1: 1})
    data = mcu.poll(0)
    assert data[0] == 0
    hello, heartbeat = (decode(found) for found in Deframer().feed(data) if isinstance(found, bytes))
    assert isinstance(hello, Hello)
    assert (hello.boot_id, hello.boot, hello.seq, hello.oldest) == (BOOT_ID, TAG, 0, 0)
    assert hello.levels.pairs() == ((0, 0), (1, 1), (2, 0), (3, 0))
    assert isinstance(heartbeat, Heartbeat)
    assert said(mcu, HEARTBEAT_PERIOD_US - 1) == []
    assert len(said(mcu, HEARTBEAT_PERIOD_US)) == 1


def test_edges_go_out_at_once_several_in_a_frame():
    mcu = quiet()
    for number in range(20):
        mcu.drive(2, 1 - number % 2, 1000 + number)
    assert mcu.next_deadline_us() == 0
    frames = said(mcu, 1100)
    assert [len(frame.entries) for frame in frames if isinstance(frame, Edges)] == [8, 8, 4]
    assert numbers(frames) == list(range(20))
    assert isinstance(frames[0], Edges)
    assert frames[0].entries[0] == EdgeEntry(1000, 2, 1)
    assert said(mcu, 1200) == []


def test_a_level_that_does_not_change_is_no_edge():
    mcu = quiet()
    mcu.drive(0, 0, 10)
    assert mcu.kept == 0


def test_entries_are_kept_until_they_are_acknowledged_and_sent_again_meanwhile():
    mcu = quiet()
    mcu.drive(0, 1, 10)
    mcu.report_colour(0, "queen", 20)
    assert numbers(said(mcu, 30)) == [0, 1]
    assert numbers(said(mcu, 30 + RESEND_AFTER_US)) == [0, 1]
    hear(mcu, Ack(TAG, 1), 300_000)
    assert mcu.kept == 1
    again = said(mcu, 300_000 + RESEND_AFTER_US)
    assert numbers(again) == [1]
    assert [entry for frame in again if isinstance(frame, Edges) for entry in frame.entries] == [
        ColourEntry(20, 0, "queen")
    ]
    hear(mcu, Ack(TAG, 2), 600_000)
    assert mcu.kept == 0
    assert mcu.counters.resent == 3
    assert numbers(said(mcu, 10_000_000)) == []


@pytest.mark.parametrize("seq", [0, 4, 5, 1000, 0x8000, 0xFFFF])
def test_an_acknowledgement_of_what_does_not_exist_changes_nothing(seq: int):
    mcu = quiet()
    for number in range(3):
        mcu.drive(0, 1 - number % 2, number)
    mcu.poll(10)
    hear(mcu, Ack(TAG, seq), 20)
    assert mcu.kept == 3


@pytest.mark.parametrize(
    "message", [Ack(TAG + 1, 2), HostHeartbeat(TAG + 1, 2, 9), Nak(TAG + 1, 0)], ids=lambda m: type(m).__name__
)
def test_what_is_meant_for_another_boot_changes_nothing(message: HostMessage):
    mcu = quiet()
    mcu.drive(0, 1, 1)
    mcu.drive(0, 0, 2)
    mcu.poll(3)
    hear(mcu, message, 4)
    assert mcu.kept == 2
    assert said(mcu, 5) == []


def test_a_nak_sends_again_from_its_number_and_forgets_nothing():
    mcu = quiet()
    for number in range(5):
        mcu.drive(0, 1 - number % 2, number)
    mcu.poll(10)
    hear(mcu, Nak(TAG, 3), 20)
    assert numbers(said(mcu, 30)) == [3, 4]
    assert mcu.kept == 5
    hear(mcu, Nak(TAG, 6), 40)
    assert said(mcu, 50) == []


def test_a_request_brings_hello_and_everything_again():
    mcu = quiet()
    mcu.drive(0, 1, 1)
    mcu.poll(2)
    hear(mcu, HelloRequest(), 3)
    hello, edges = said(mcu, 4)
    assert isinstance(hello, Hello)
    assert (hello.seq, hello.oldest) == (1, 0)
    assert numbers([edges]) == [0]


def test_a_heartbeat_of_the_host_acknowledges_and_is_answered_at_once():
    mcu = quiet()
    mcu.drive(0, 1, 1)
    mcu.poll(2)
    hear(mcu, HostHeartbeat(TAG, 1, 777), 3)
    assert mcu.kept == 0
    (heartbeat,) = said(mcu, 4)
    assert isinstance(heartbeat, Heartbeat)
    assert (heartbeat.echo, heartbeat.seq, heartbeat.levels.mask) == (777, 1, 1)
    (unasked,) = said(mcu, 4 + HEARTBEAT_PERIOD_US)
    assert isinstance(unasked, Heartbeat)
    assert unasked.echo == 0


def test_a_full_ring_reports_its_loss_in_its_place():
    mcu = quiet(ring=4)
    for number in range(7):
        mcu.drive(0, 1 - number % 2, number)
    assert mcu.kept == 4
    assert mcu.counters.lost == 3
    mcu.poll(10)
    hear(mcu, Ack(TAG, 1), 20)
    # The one place that is free goes to the report; the next edge is lost again.
    mcu.drive(1, 1, 30)
    frames = said(mcu, 40)
    assert numbers(frames) == [4]
    assert isinstance(frames[0], Edges)
    assert frames[0].entries == (LostEntry(20, 3),)
    hear(mcu, Ack(TAG, 5), 50)
    mcu.drive(1, 0, 60)
    (frame,) = said(mcu, 70)
    assert isinstance(frame, Edges)
    assert frame.entries == (LostEntry(50, 1), EdgeEntry(60, 1, 0))
    assert mcu.counters.lost == 4


def test_a_reset_forgets_the_ring_and_keeps_the_levels():
    mcu = quiet()
    mcu.drive(3, 1, 1)
    mcu.reset(CAUSE_WATCHDOG, 1000)
    hello = said(mcu, 1000)[0]
    assert isinstance(hello, Hello)
    assert (hello.boot_id, hello.reset_cause, hello.seq, hello.tick) == (BOOT_ID + 1, CAUSE_WATCHDOG, 0, 0)
    assert hello.levels.mask == 0b1000
    assert mcu.kept == 0


def test_its_counters_wrap_as_on_the_wire():
    mcu = quiet(first_tick=(1 << 32) - 5, first_sequence=65_535)
    mcu.drive(0, 1, 2)
    mcu.drive(0, 0, 8)
    (frame,) = said(mcu, 9)
    assert isinstance(frame, Edges)
    assert (frame.seq, frame.tick) == (65_535, 4)
    assert [entry.tick for entry in frame.entries] == [(1 << 32) - 3, 3]
    hear(mcu, Ack(TAG, 1), 10)
    assert mcu.kept == 0


def test_its_resonator_may_be_off():
    assert quiet(drift_ppm=5000).tick(1_000_000) == 1_005_000
    assert quiet(drift_ppm=-5000).tick(1_000_000) == 995_000


@pytest.mark.parametrize("junk", [b"AT\r\nAT+CGMI\r\n\0", bytes(range(255, -1, -1)), b"\xff" * 300 + b"\0"])
def test_junk_from_the_host_does_nothing_but_count(junk: bytes):
    """FR-063: modem commands and random bytes at any time."""
    mcu = quiet()
    mcu.drive(0, 1, 1)
    mcu.poll(2)
    mcu.receive(junk, 3)
    assert said(mcu, 4) == []
    assert mcu.kept == 1
    assert mcu.counters.bad_frames == 1
    hear(mcu, Ack(TAG, 1), 5)
    assert mcu.kept == 0
