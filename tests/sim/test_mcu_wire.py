"""The wire itself: what it does to bytes is what it says, and the same again from the same seed."""

import pytest

from sim.wire import CLEAN, Faults, Wire

FRAMES = [bytes([number % 255 + 1]) * 20 + b"\0" for number in range(2000)]
STREAM = b"".join(FRAMES)


def through(faults: Faults, seed: int = 4) -> bytes:
    wire = Wire(faults, seed)
    wire.to_host.send(STREAM, 0)
    return b"".join(wire.to_host.receive(10_000_000))


def test_a_clean_wire_changes_nothing():
    assert through(CLEAN) == STREAM


def test_bytewise_means_every_byte_for_itself():
    wire = Wire(Faults(bytewise=True))
    wire.to_board.send(b"abc", 5)
    assert wire.to_board.receive(5) == [b"a", b"b", b"c"]


def test_a_fifth_of_the_frames_is_lost_and_the_others_are_whole():
    frames = through(Faults(lose_frames=0.2)).split(b"\0")[:-1]
    assert len(frames) == pytest.approx(1600, abs=100)
    assert {frame + b"\0" for frame in frames} <= set(FRAMES)


def test_single_bytes_are_lost():
    assert len(through(Faults(hurt_frames=0.2))) == pytest.approx(len(STREAM) - 400, abs=100)
    assert len(through(Faults(lose_bytes=0.2))) == pytest.approx(len(STREAM) * 0.8, rel=0.02)


def test_bits_are_flipped_one_in_a_byte():
    received = through(Faults(flip_bits=0.1))
    differing = [a ^ b for a, b in zip(received, STREAM, strict=True) if a != b]
    assert len(differing) == pytest.approx(len(STREAM) * 0.1, rel=0.05)
    assert all(difference.bit_count() == 1 for difference in differing)


def test_the_same_seed_gives_the_same_faults_and_another_gives_others():
    faults = Faults(lose_frames=0.1, flip_bits=0.01, delay_us=1000)
    assert through(faults, 1) == through(faults, 1) != through(faults, 2)


def test_delayed_bytes_never_overtake_each_other():
    wire = Wire(Faults(delay_us=1000), seed=3)
    received = b""
    for at_us in range(200):
        wire.to_host.send(bytes([at_us]), at_us * 10)
    late = 0
    for at_us in range(3000):
        chunk = b"".join(wire.to_host.receive(at_us))
        late += sum(at_us > byte * 10 for byte in chunk)
        received += chunk
    assert received == bytes(range(200))
    assert late > 150


def test_pause_holds_back_and_opening_anew_drops_what_was_under_way():
    wire = Wire()
    wire.pause()
    wire.to_host.send(b"x", 0)
    assert wire.to_host.receive(1) == []
    assert wire.to_host.next_arrival_us() is None
    wire.resume()
    assert wire.to_host.receive(2) == [b"x"]
    wire.to_host.send(b"y", 3)
    wire.open(4)
    assert wire.to_host.receive(5) == []


def test_junk_comes_first_on_opening():
    lengths = set()
    for seed in range(50):
        wire = Wire(Faults(junk=40), seed)
        wire.open(0)
        wire.to_host.send(b"hello\0", 0)
        received = b"".join(wire.to_host.receive(0))
        assert received.endswith(b"hello\0")
        lengths.add(len(received) - 6)
    assert max(lengths) <= 40
    assert len(lengths) > 20
