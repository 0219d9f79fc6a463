"""The session over every kind of wire: the same edges in order, exactly once; only counters differ."""

import pytest

from appliance.events import (
    ColourReading,
    Edge,
    EdgeId,
    EdgesLost,
    Levels,
    SourceBack,
    SourceInput,
    SourceLost,
)
from appliance.link.configuration import BoardConfiguration
from appliance.link.framing import Deframer, Rejection, encode
from appliance.link.messages import (
    BoardCounters,
    ChannelLevels,
    EdgeEntry,
    Edges,
    Heartbeat,
    Hello,
    HelloRequest,
    HostHeartbeat,
    Message,
    Nak,
    Standing,
    UnknownEntry,
    UnknownKind,
    decode,
)
from appliance.link.session import BOOTS_KEPT, SETTLE_NS, HostSession, LinkState
from sim.mcu import CAUSE_WATCHDOG, Mcu
from sim.wire import Faults
from tests.link.bench import BOOT_ID, CHANNELS, SECOND_US, Bench

WIRES = {
    "clean": Faults(),
    "bytewise": Faults(bytewise=True, delay_us=300),
    "a fifth of the frames lost": Faults(lose_frames=0.2),
    "a byte lost in a fifth of the frames": Faults(hurt_frames=0.2),
    "a hundredth of the bytes lost": Faults(lose_bytes=0.01),
    "bits flipped": Faults(flip_bits=0.01),
    "delayed": Faults(delay_us=400_000),
    "junk on opening": Faults(junk=40),
    "everything at once": Faults(
        bytewise=True, lose_frames=0.1, hurt_frames=0.1, flip_bits=0.002, delay_us=2_000, junk=40
    ),
}

TAG = BOOT_ID & 0xFFFF


def play(bench: Bench, count: int, *, start_us: int = 2 * SECOND_US, every_us: int = 50_000) -> list[tuple[int, int]]:
    """Put `count` edges into the script; return what they are."""
    edges = [(number % CHANNELS, 1 - number // CHANNELS % 2) for number in range(count)]
    for number, (channel, level) in enumerate(edges):
        at_us = start_us + number * every_us
        bench.at(at_us, lambda c=channel, v=level, t=at_us: bench.mcu.drive(c, v, t))  # type: ignore[misc]
    return edges


def host_messages(data: bytes) -> list[Message | UnknownKind | Rejection]:
    return [found if isinstance(found, Rejection) else decode(found) for found in Deframer().feed(data)]


# ------------------------------------------------------------------ over every wire


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", WIRES)
def test_every_edge_once_and_in_order_over_any_wire(name: str, seed: int):
    bench = Bench(WIRES[name], seed=seed).plug()
    edges = play(bench, 400)
    bench.run_until(lambda: len(bench.edges) >= len(edges) and not bench.mcu.kept, within_s=60)
    assert bench.edges == edges
    assert [edge.identity for edge in bench.of(Edge)] == [EdgeId(BOOT_ID, n) for n in range(len(edges))]
    assert not bench.of(EdgesLost)
    times = [value.at_ns for value in bench.inputs if isinstance(value, Edge | Levels)]
    assert times == sorted(times)
    if name in ("clean", "bytewise"):
        counters = bench.session.counters
        assert (counters.bad_frames, counters.duplicates, counters.gaps, counters.naks) == (0, 0, 0, 0)
        assert bench.mcu.counters == BoardCounters()
    elif name not in ("delayed", "junk on opening"):
        assert bench.session.counters.naks > 0
        assert bench.mcu.counters.resent > 0


def test_a_paused_wire_delays_and_changes_nothing_else():
    bench = Bench().plug()
    edges = play(bench, 60)
    for second in (2, 3):
        bench.at(second * SECOND_US, bench.wire.pause)
        bench.at(second * SECOND_US + 700_000, bench.wire.resume)
    bench.run(6 * SECOND_US)
    assert bench.edges == edges
    assert not bench.of(SourceLost)
    assert not bench.mcu.kept


@pytest.mark.parametrize("seed", range(3))
def test_levels_never_come_before_an_edge_that_they_include(seed: int):
    """What the levels say always equals what the edges handed over before them add up to."""
    bench = Bench(Faults(lose_frames=0.3), seed=seed).plug()
    play(bench, 300)
    bench.run(40 * SECOND_US)
    assert not bench.of(EdgesLost)
    summed = dict.fromkeys(range(CHANNELS), 0)
    checked = 0
    for value in bench.inputs:
        if isinstance(value, Edge):
            summed[value.channel] = value.level
        elif isinstance(value, Levels):
            assert dict(value.levels) == summed
            checked += 1
    assert checked > 20


# ------------------------------------------------------------------ coming up


def test_a_source_comes_back_with_its_boot_and_its_levels():
    mcu = Mcu(4, BOOT_ID, levels={2: 1})
    bench = Bench(mcu=mcu).plug()
    bench.run(100_000)
    back, levels = bench.inputs[:2]
    assert back == SourceBack("board", BOOT_ID, bench.host_ns(0))
    assert isinstance(levels, Levels)
    assert levels.levels == ((0, 0), (1, 0), (2, 1), (3, 0))
    assert bench.session.state is LinkState.UP


def test_levels_wait_for_the_edges_that_the_board_had_kept():
    mcu = Mcu(2, BOOT_ID)
    for number in range(20):
        mcu.drive(0, 1 - number % 2, 1000 * number)
    bench = Bench(mcu=mcu, now_us=30_000).plug()
    bench.run(60_000)
    kinds = [type(value) for value in bench.inputs]
    assert kinds[:22] == [SourceBack, *[Edge] * 20, Levels]


def test_nobody_answers():
    session = HostSession("board")
    session.connected(0)
    assert session.expire(4_999_999_999) == []
    (lost,) = session.expire(5_000_000_000)
    assert isinstance(lost, SourceLost)
    assert lost.reason.startswith("nothing at the port has said hello within 5 s")
    assert session.unanswered
    assert session.expire(5_500_000_000) == []


def test_something_else_talks_at_the_port():
    session = HostSession("printer")
    session.connected(0)
    inputs = session.receive(b"start\necho:Marlin 2.0\n\0ok T:21.3\n\0", 1_000_000)
    inputs += session.expire(5_000_000_000)
    (lost,) = inputs
    assert isinstance(lost, SourceLost)
    assert lost.reason.startswith("what is at the port is no Pocketbeam board")


def test_another_protocol_version_is_named_and_not_used():
    mcu = Mcu(2, BOOT_ID, protocol=2)
    mcu.drive(0, 1, 1000)
    bench = Bench(mcu=mcu, now_us=2000).plug()
    bench.run(8 * SECOND_US)
    (lost,) = bench.inputs
    assert isinstance(lost, SourceLost)
    assert "protocol 2" in lost.reason
    assert mcu.kept == 1
    assert bench.session.hello is not None
    assert bench.session.hello.protocol == 2


def test_hello_is_asked_for_twice_a_second_until_it_comes():
    session = HostSession("board")
    session.connected(0)
    assert host_messages(session.poll(0)) == [HelloRequest()]
    assert session.poll(499_999_999) == b""
    assert session.next_deadline_ns() == 500_000_000
    assert host_messages(session.poll(500_000_000)) == [HelloRequest()]


# ------------------------------------------------------------------ loss of the link


def test_a_board_that_falls_silent_is_lost_after_three_seconds_and_comes_back():
    bench = Bench().plug()
    bench.run(SECOND_US)
    bench.at(2 * SECOND_US, bench.wire.to_host.pause)
    bench.run(6 * SECOND_US)
    (lost,) = bench.of(SourceLost)
    last_heard_ns = bench.of(Levels)[-1].at_ns
    assert 0 <= lost.at_ns - last_heard_ns - 3_000_000_000 < 250_000_000
    bench.mcu.drive(3, 1, bench.now_us)
    bench.wire.resume()
    bench.run(7 * SECOND_US)
    assert [type(value) for value in bench.inputs if not isinstance(value, Levels)] == [
        *(SourceBack, SourceLost, SourceBack, Edge)
    ]
    assert bench.session.counters.silences == 1


def test_edges_of_an_unplugged_time_are_delivered_afterwards_with_their_own_times():
    bench = Bench().plug()
    bench.run(10 * SECOND_US)
    bench.unplug()
    for number in range(100):
        at_us = 20 * SECOND_US + number * 10_000
        bench.at(at_us, lambda v=1 - number % 2, t=at_us: bench.mcu.drive(5, v, t))  # type: ignore[misc]
    bench.run(600 * SECOND_US)
    assert not bench.edges
    bench.plug()
    bench.run_until(lambda: not bench.mcu.kept)
    delivered = bench.of(Edge)
    assert bench.edges == [(5, 1 - number % 2) for number in range(100)]
    for number, edge in enumerate(delivered):
        truth_ns = bench.host_ns(20 * SECOND_US + number * 10_000)
        assert abs(edge.at_ns - truth_ns) < 2_000_000
    assert bench.session.counters.boots == 1


def test_many_cable_pulls_in_the_middle_of_traffic_lose_and_double_nothing():
    bench = Bench(Faults(delay_us=20_000, junk=40)).plug()
    edges = play(bench, 1000, every_us=10_000)
    for cycle in range(20):
        bench.at(2 * SECOND_US + cycle * 400_000, bench.unplug)
        bench.at(2 * SECOND_US + cycle * 400_000 + 150_000, bench.plug)
    bench.run(20 * SECOND_US)
    assert bench.edges == edges
    assert not bench.of(EdgesLost)
    assert len(bench.of(SourceLost)) == 20


def test_a_restarted_host_goes_on_where_its_journal_ends():
    """Edges that were handed over but not durable come again; durable ones do not."""
    bench = Bench(Faults(delay_us=5_000), sync_us=80_000).plug()
    edges = play(bench, 500, every_us=7_000)
    for kill in range(30):
        bench.at(2 * SECOND_US + 41_000 + kill * 110_000, bench.restart_host)
    bench.run(10 * SECOND_US)
    by_number: dict[int, Edge] = {}
    for edge in bench.of(Edge):
        assert edge.identity is not None
        earlier = by_number.setdefault(edge.identity.sequence, edge)
        assert (earlier.channel, earlier.level) == (edge.channel, edge.level)
    assert [(by_number[n].channel, by_number[n].level) for n in range(500)] == edges
    assert len(by_number) == 500 < len(bench.of(Edge))
    assert bench.durable == {BOOT_ID: 500}
    assert not bench.mcu.kept


def test_nothing_is_acknowledged_before_it_is_durable():
    bench = Bench(sync_us=None).plug()
    play(bench, 50)
    bench.run(20 * SECOND_US)
    assert len(bench.edges) == 50
    assert bench.mcu.kept == 50
    bench.session.acknowledge(BOOT_ID, 20)
    bench.run(21 * SECOND_US)
    assert bench.mcu.kept == 30
    bench.session.acknowledge(BOOT_ID + 1, 50)
    bench.run(22 * SECOND_US)
    assert bench.mcu.kept == 30


def test_what_has_not_come_cannot_be_acknowledged():
    bench = Bench(sync_us=None).plug()
    play(bench, 5)
    bench.run(3 * SECOND_US)
    bench.session.acknowledge(BOOT_ID, 1000)
    bench.run(4 * SECOND_US)
    assert not bench.mcu.kept
    bench.mcu.drive(0, 0, bench.now_us)
    bench.run(5 * SECOND_US)
    assert bench.mcu.kept == 1


# ------------------------------------------------------------------ reboots


def test_a_reset_board_comes_back_under_a_new_boot_id_and_its_numbers_begin_anew():
    bench = Bench().plug()
    play(bench, 10)
    bench.run(3 * SECOND_US)
    bench.mcu.reset(CAUSE_WATCHDOG, bench.now_us)
    bench.mcu.drive(1, 0, bench.now_us + 1000)
    bench.run(4 * SECOND_US)
    assert [back.boot_id for back in bench.of(SourceBack)] == [BOOT_ID, BOOT_ID + 1]
    assert bench.of(Edge)[-1].identity == EdgeId(BOOT_ID + 1, 0)
    assert bench.session.hello is not None
    assert bench.session.hello.reset_cause == CAUSE_WATCHDOG
    assert not bench.of(EdgesLost)
    assert not bench.mcu.kept


@pytest.mark.parametrize("seed", range(4))
def test_a_reset_whose_hello_is_lost_is_noticed_by_the_next_frame(seed: int):
    bench = Bench(Faults(lose_frames=0.4), seed=seed).plug()
    bench.run_until(lambda: bench.session.state is LinkState.UP)
    for _ in range(10):
        bench.mcu.reset(CAUSE_WATCHDOG, bench.now_us)
        bench.mcu.drive(1, bench.now_us % 2, bench.now_us)
        boot_id = bench.mcu.boot_id
        bench.run_until(lambda wanted=boot_id: bench.session.delivered == (wanted, bench.mcu.kept))  # type: ignore[misc]
    assert [back.boot_id for back in bench.of(SourceBack)][-1] == BOOT_ID + 10


def test_edges_that_died_with_a_reset_are_reported_as_far_as_they_were_heard_of():
    bench = Bench().plug()
    bench.run(SECOND_US)
    session = bench.session
    session.receive(encode(heartbeat(seq=7).to_bytes()), bench.now_ns)
    bench.mcu.reset(CAUSE_WATCHDOG, bench.now_us)
    bench.run(2 * SECOND_US)
    assert [lost.count for lost in bench.of(EdgesLost)] == [7]


def test_a_board_that_counts_anew_under_its_old_boot_id_is_not_mistaken_for_duplicates():
    bench = Bench().plug()
    play(bench, 10)
    bench.run(3 * SECOND_US)
    bench.mcu.reset(CAUSE_WATCHDOG, bench.now_us, boot_id=BOOT_ID)
    for number in range(3):
        bench.mcu.drive(number, 0, bench.now_us + number)
    bench.run(5 * SECOND_US)
    delivered = [edge.identity for edge in bench.of(Edge)]
    assert len(delivered) == len(set(delivered)) == 13
    assert bench.edges[-3:] == [(0, 0), (1, 0), (2, 0)]
    assert not bench.mcu.kept


# ------------------------------------------------------------------ wraps


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_board_taken_away_and_brought_back_does_not_tell_anything_twice(is_restarted: bool):
    """It never heard that its edges are safe, and another board, or another host too, came between."""
    bench = Bench().plug()
    bench.run(SECOND_US)
    first = bench.mcu
    bench.wire.to_board.pause()
    bench.mcu.drive(0, 1, bench.now_us)
    bench.mcu.drive(0, 0, bench.now_us + 8_000)
    bench.run(2 * SECOND_US)
    assert (first.kept, bench.edges) == (2, [(0, 1), (0, 0)])
    bench.unplug()
    bench.mcu = Mcu(CHANNELS, BOOT_ID + 1, bench.now_us)
    bench.wire.resume()
    bench.plug()
    bench.run(3 * SECOND_US)
    bench.mcu.drive(1, 1, bench.now_us)
    bench.run(4 * SECOND_US)
    bench.unplug()
    bench.mcu = first
    if is_restarted:
        bench.restart_host()
    else:
        bench.plug()
    bench.run(5 * SECOND_US)
    assert first.kept == 0
    first.drive(2, 1, bench.now_us)
    bench.run(6 * SECOND_US)
    assert bench.edges == [(0, 1), (0, 0), (1, 1), (2, 1)]
    assert bench.of(EdgesLost) == []


@pytest.mark.parametrize(("others", "following"), [(BOOTS_KEPT, 5), (BOOTS_KEPT + 1, 3)])
def test_of_many_boots_only_the_last_are_remembered(others: int, following: int):
    """A forgotten one is taken from the oldest entry that it still has, as one that was never met."""
    session = HostSession("board", resume={BOOT_ID: 5})
    session.connected(0)
    for boot_id in [*range(others), BOOT_ID]:
        session.receive(encode(hello(seq=7, oldest=3, boot_id=boot_id).to_bytes()), 0)
    assert session.delivered == (BOOT_ID, following)


def test_65536_edges_wrap_the_sequence_without_harm():
    mcu = Mcu(CHANNELS, BOOT_ID, first_sequence=65_500)
    bench = Bench(Faults(lose_frames=0.05), mcu=mcu).plug()
    edges = play(bench, 300)
    bench.run(20 * SECOND_US)
    assert bench.edges == edges
    numbers = [edge.identity.sequence for edge in bench.of(Edge) if edge.identity]
    assert numbers == list(range(65_500, 65_800))


def test_more_than_a_whole_lap_of_sequence_numbers():
    bench = Bench(sync_us=0).plug()
    bench.run(SECOND_US)
    for number in range(70_000):
        bench.mcu.drive(0, 1 - number % 2, bench.now_us)
        if bench.mcu.kept == 100:
            bench.run(bench.now_us + 20_000)
    bench.run(bench.now_us + SECOND_US)
    numbers = [edge.identity.sequence for edge in bench.of(Edge) if edge.identity]
    assert numbers == list(range(70_000))
    assert bench.session.counters.duplicates == 0


def test_the_tick_wraps_in_the_middle_of_a_pulse_and_of_a_silence():
    mcu = Mcu(CHANNELS, BOOT_ID, first_tick=(1 << 32) - 2 * SECOND_US - 5_000)
    bench = Bench(mcu=mcu).plug()
    at_us = [2 * SECOND_US, 2 * SECOND_US + 10_000, 5 * 3600 * SECOND_US, 5 * 3600 * SECOND_US + 33_000]
    for number, when_us in enumerate(at_us):
        bench.at(when_us, lambda v=1 - number % 2, t=when_us: bench.mcu.drive(0, v, t))  # type: ignore[misc]
    bench.run(3 * SECOND_US)
    bench.unplug()
    bench.run(4 * 3600 * SECOND_US)
    bench.plug()
    bench.run(4 * 3600 * SECOND_US + 60 * SECOND_US)
    bench.unplug()
    bench.run(5 * 3600 * SECOND_US + 60 * SECOND_US)
    bench.plug()
    bench.run_until(lambda: len(bench.edges) == 4)
    for edge, when_us in zip(bench.of(Edge), at_us, strict=True):
        assert abs(edge.at_ns - bench.host_ns(when_us)) < 2_000_000


def test_stamps_that_step_back_keep_their_order_and_make_no_long_pulse():
    """FR-140: order by number; a width is never negative and never 4,294 s."""
    bench = Bench().plug()
    bench.run(SECOND_US)
    tick = bench.mcu.tick(bench.now_us)
    entries = (EdgeEntry(tick, 0, 1), EdgeEntry(tick - 1024, 0, 0), EdgeEntry(tick + 300, 0, 1))
    inputs = bench.session.receive(encode(Edges(TAG, 0, tick, entries).to_bytes()), bench.now_ns)
    assert [value.level for value in inputs if isinstance(value, Edge)] == [1, 0, 1]
    times = [value.at_ns for value in inputs]
    assert times == sorted(times)
    assert times[-1] - times[0] < 2_000_000


# ------------------------------------------------------------------ a ring that overflows


def test_a_host_that_stalls_for_an_hour_loses_nothing_within_the_ring_and_is_told_the_rest():
    bench = Bench().plug()
    bench.run(10 * SECOND_US)
    bench.unplug()
    for number in range(200):
        bench.mcu.drive(0, 1 - number % 2, 10 * SECOND_US + number * 5_000)
    bench.run(3610 * SECOND_US)
    bench.plug()
    bench.run_until(lambda: not bench.mcu.kept)
    bench.mcu.drive(1, 1, bench.now_us)
    bench.run_until(lambda: not bench.mcu.kept)
    order = [value for value in bench.inputs if isinstance(value, Edge | EdgesLost)]
    assert [type(value) for value in order] == [*[Edge] * 128, EdgesLost, Edge]
    assert [lost.count for lost in bench.of(EdgesLost)] == [72]
    assert bench.session.counters.board_lost == 72
    for number, edge in enumerate(bench.of(Edge)[:128]):
        assert abs(edge.at_ns - bench.host_ns(10 * SECOND_US + number * 5_000)) < 5_000_000


def test_a_board_that_has_forgotten_what_this_host_never_had_is_a_reported_loss():
    """For instance after an old backup of the journal was restored."""
    mcu = Mcu(CHANNELS, BOOT_ID, first_sequence=50)
    bench = Bench(mcu=mcu, session=HostSession("board", resume={BOOT_ID: 20})).plug()
    bench.run(SECOND_US)
    assert [lost.count for lost in bench.of(EdgesLost)] == [30]
    mcu.drive(0, 1, bench.now_us)
    bench.run(2 * SECOND_US)
    assert bench.of(Edge)[-1].identity == EdgeId(BOOT_ID, 50)


# ------------------------------------------------------------------ one message at a time


def hello(seq: int = 0, oldest: int = 0, boot_id: int = BOOT_ID, tick: int = 1000) -> Hello:
    return Hello(
        boot=boot_id & 0xFFFF,
        seq=seq,
        tick=tick,
        firmware=(1, 0, 0),
        boot_id=boot_id,
        reset_cause=1,
        board=0,
        tick_hz=1_000_000,
        oldest=oldest,
        ring=128,
        counters=BoardCounters(),
        levels=ChannelLevels(2, 0),
    )


def heartbeat(seq: int, tick: int = 2000, boot: int = TAG, echo: int = 0) -> Heartbeat:
    return Heartbeat(boot, seq, tick, echo, BoardCounters(), ChannelLevels(2, 0))


def edges(seq: int, count: int = 1, boot: int = TAG, tick: int = 3000) -> Edges:
    return Edges(boot, seq, tick, tuple(EdgeEntry(tick - 10, 0, n % 2) for n in range(count)))


class Far:
    """A session that knows the board's clock, and a hand that writes the board's messages one by one."""

    def __init__(self) -> None:
        self.session = HostSession("board")
        self.session.connected(0)
        self.now_ns = 0
        self.say(hello())
        self.say(heartbeat(0, echo=self.asked()))

    def asked(self) -> int:
        """The token of the heartbeat that the host sends now."""
        (token,) = (message.token for message in self.answers() if isinstance(message, HostHeartbeat))
        return token

    def say(self, *messages: Hello | Heartbeat | Edges) -> list[SourceInput]:
        self.now_ns += 1_000_000
        return self.hear(b"".join(encode(message.to_bytes()) for message in messages))

    def hear(self, data: bytes) -> list[SourceInput]:
        return self.session.receive(data, self.now_ns)

    def answers(self) -> list[Message | UnknownKind | Rejection]:
        return host_messages(self.session.poll(self.now_ns))


def test_one_nak_for_a_gap_however_long_it_lasts():
    far = Far()
    for seq in range(1, 30):
        far.say(edges(seq), heartbeat(30))
    assert far.answers() == [Nak(TAG, 0)]
    far.say(edges(29), heartbeat(30))
    assert far.answers() == []
    # What was missing comes; the next gap is a new condition.
    far.say(edges(0, 8), edges(8, 8))
    assert far.answers() == []
    far.say(edges(20))
    assert far.answers() == [Nak(TAG, 16)]
    counters = far.session.counters
    assert (counters.gaps, counters.naks, counters.entries) == (2, 2, 16)


def test_one_nak_for_a_stream_of_text():
    far = Far()
    for _ in range(50):
        far.now_ns += 1_000_000
        far.hear(b"Framing error\0")
    assert far.answers() == [Nak(TAG, 0)]
    assert far.session.counters.bad_frames == 50
    far.say(heartbeat(0))
    far.hear(b"Framing error\0")
    assert far.answers() == [Nak(TAG, 0)]


def test_a_heartbeat_tells_of_edges_that_were_lost_at_the_end():
    far = Far()
    assert far.say(heartbeat(3)) == []
    assert far.answers() == [Nak(TAG, 0)]
    assert [type(value) for value in far.say(edges(0, 3))] == [Edge, Edge, Edge, Levels]


def test_duplicates_are_acknowledged_again_and_not_delivered():
    far = Far()
    far.say(edges(0, 5))
    assert far.answers() == []
    far.session.acknowledge(BOOT_ID, 5)
    (first,) = far.answers()
    assert far.say(edges(0, 5)) == []
    assert far.answers() == [first]
    assert far.session.counters.duplicates == 5
    # A frame that begins old and ends new: the new part counts.
    assert len(far.say(edges(3, 4))) == 2


def test_frames_of_another_boot_are_ignored_and_the_board_is_asked_who_it_is():
    far = Far()
    assert far.say(edges(0, boot=TAG + 1), heartbeat(9, boot=TAG + 1)) == []
    assert far.answers() == [HelloRequest()]
    assert far.session.counters.strangers == 2


def test_a_heartbeat_that_has_fallen_behind_is_not_believed_and_the_board_is_asked_who_it_is():
    far = Far()
    far.say(edges(0, 5))
    assert far.say(heartbeat(2)) == []
    assert far.answers() == [HelloRequest()]
    assert far.session.counters.strangers == 1


def test_half_a_frame_from_before_a_cable_pull_does_not_swallow_the_hello():
    far = Far()
    far.hear(encode(edges(0, 5).to_bytes())[:20])
    far.session.disconnected("pulled", far.now_ns)
    far.session.connected(far.now_ns)
    assert [type(value) for value in far.say(hello())] == [SourceBack, Levels]
    # And the other way: the board's half frame ends with the host's first byte.
    assert far.session.poll(far.now_ns)[0] == 0


def test_no_time_runs_back_from_one_boot_to_the_next():
    far = Far()
    (before,) = far.say(heartbeat(0))
    inputs = far.say(hello(boot_id=BOOT_ID + 1, seq=1, tick=60_000_000))
    inputs += far.say(Edges(TAG + 1, 0, 60_000_500, (EdgeEntry(30_000_000, 0, 1),)))
    inputs += far.session.expire(far.now_ns + SETTLE_NS)
    (edge,) = (value for value in inputs if isinstance(value, Edge))
    assert edge.at_ns >= before.at_ns


# ------------------------------------------------------------------ a clock not known yet


class Late:
    """A session that has begun in the middle of a pulse of 50 ms and reads the first messages 160 ms late.

    The board's ticks are the host's microseconds.
    """

    def __init__(self) -> None:
        self.session = HostSession("board")
        self.session.connected(0)
        self.session.poll(0)
        begin = Edges(TAG, 0, 101_000, (EdgeEntry(10_000, 0, 1),))
        self.first = self.hear(260, hello(tick=100_000, seq=2), begin)

    def hear(self, at_ms: int, *messages: Hello | Heartbeat | Edges) -> list[SourceInput]:
        return self.session.receive(b"".join(encode(each.to_bytes()) for each in messages), at_ms * 1_000_000)

    def end_of_the_pulse(self) -> list[SourceInput]:
        return self.hear(301, Edges(TAG, 1, 300_000, (EdgeEntry(60_000, 0, 0),)))

    def asked(self, at_ms: int) -> int:
        sent = host_messages(self.session.poll(at_ms * 1_000_000))
        (token,) = (message.token for message in sent if isinstance(message, HostHeartbeat))
        return token


def edge_times_ms(inputs: list[SourceInput]) -> list[float]:
    return [value.at_ns / 1e6 for value in inputs if isinstance(value, Edge)]


def test_a_pulse_across_the_first_late_messages_keeps_its_width():
    late = Late()
    assert [type(value) for value in late.first] == [SourceBack]
    token = late.asked(296)
    assert late.end_of_the_pulse() == []
    inputs = late.hear(303, heartbeat(2, 302_000, echo=token))
    begin_ms, end_ms = edge_times_ms(inputs)
    assert end_ms - begin_ms == pytest.approx(50, abs=2)
    assert begin_ms == pytest.approx(10, abs=4)
    assert isinstance(inputs[-1], Levels)
    assert edge_times_ms(late.hear(305, Edges(TAG, 2, 304_000, (EdgeEntry(303_500, 0, 1),)))) != []


def test_a_slow_answer_is_asked_for_again_and_not_for_ever():
    late = Late()
    token = late.asked(260)
    assert late.hear(303, heartbeat(2, 302_000, echo=token)) == []
    assert late.session.next_deadline_ns() == 303_000_000
    assert late.asked(303) != token
    assert late.end_of_the_pulse() == []
    assert late.session.expire(260_000_000 + SETTLE_NS - 1) == []
    assert late.session.next_deadline_ns() == 260_000_000 + SETTLE_NS
    assert len(edge_times_ms(late.session.expire(260_000_000 + SETTLE_NS))) == 2


def test_what_was_kept_is_handed_over_before_the_link_is_lost():
    late = Late()
    inputs = late.session.disconnected("pulled", 270_000_000)
    assert [type(value) for value in inputs] == [Edge, SourceLost]
    assert late.session.delivered == (BOOT_ID, 1)


def test_levels_from_before_a_configuration_are_not_believed_because_they_were_kept():
    wanted = BoardConfiguration(channels=2, inputs=0b11)
    session = HostSession("board", configuration=wanted)
    session.connected(0)
    session.receive(encode(hello().to_bytes()), 1_000_000)
    session.poll(1_000_000)
    raw = heartbeat(0)
    before = Heartbeat(TAG, 0, 1_500, 0, BoardCounters(), ChannelLevels(2, 0b11), Standing(0, 0))
    configured = Heartbeat(TAG, 0, raw.tick, 1, BoardCounters(), raw.levels, Standing(wanted.checksum, 0))
    assert session.receive(encode(before.to_bytes()), 2_000_000) == []
    (levels,) = session.receive(encode(configured.to_bytes()), 3_000_000)
    assert isinstance(levels, Levels)
    assert levels.levels == ((0, 0), (1, 0))


def test_frames_before_the_hello_are_ignored():
    session = HostSession("board")
    session.connected(0)
    assert session.receive(encode(edges(0).to_bytes()) + encode(heartbeat(1).to_bytes()), 1) == []
    assert session.counters.strangers == 2


def test_unknown_kinds_and_looped_back_frames_are_counted_and_ignored():
    far = Far()
    assert far.hear(encode(b"\x04\x78\x56")) == []
    assert far.hear(encode(HostHeartbeat(TAG, 0, 5).to_bytes())) == []
    assert far.session.counters.unknown_kinds == 2
    assert far.answers() == []


def test_an_entry_of_an_unknown_sort_is_counted_acknowledged_and_stops_nothing():
    far = Far()
    entries = (EdgeEntry(10, 0, 1), UnknownEntry(11, 0xC0, 0), EdgeEntry(12, 0, 0), UnknownEntry(13, 0xC1, 0))
    inputs = far.say(Edges(TAG, 0, 20, entries))
    assert [value.identity for value in inputs if isinstance(value, Edge)] == [
        *(EdgeId(BOOT_ID, 0), EdgeId(BOOT_ID, 2))
    ]
    assert far.session.counters.unknown_entries == 2
    assert far.session.delivered == (BOOT_ID, 4)
    far.session.acknowledge(BOOT_ID, 3)
    (ack,) = far.answers()
    assert ack.seq == 4  # type: ignore[union-attr]


def test_colours_ride_in_order_among_the_edges():
    bench = Bench().plug()
    bench.run(SECOND_US)
    bench.mcu.drive(4, 1, bench.now_us)
    bench.mcu.report_colour(4, "queen", bench.now_us + 100)
    bench.mcu.drive(4, 0, bench.now_us + 200)
    bench.run(2 * SECOND_US)
    first, colour, last = (value for value in bench.inputs if isinstance(value, Edge | ColourReading))
    assert isinstance(colour, ColourReading)
    assert (colour.channel, colour.object, colour.identity) == (4, "queen", EdgeId(BOOT_ID, 1))
    assert first.at_ns <= colour.at_ns <= last.at_ns


def test_a_loss_is_said_once_for_each_reason():
    session = HostSession("board")
    assert len(session.disconnected("not there", 1)) == 1
    assert session.disconnected("not there", 2) == []
    assert len(session.disconnected("in use", 3)) == 1
    assert session.reason == "in use"
    session.connected(4)
    assert any(isinstance(value, SourceBack) for value in session.receive(encode(hello().to_bytes()), 5))
    assert session.reason is None
    assert isinstance(session.disconnected("in use", 6)[-1], SourceLost)


def test_a_closed_session_wants_nothing():
    session = HostSession("board")
    assert session.next_deadline_ns() is None
    assert session.receive(b"anything\0", 1) == []
    assert session.poll(1) == b""
