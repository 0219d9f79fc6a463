"""The source on pins, in virtual time: what it hears, what it repairs, what it does without."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from appliance.events import Edge, EdgesLost, Levels, SourceBack, SourceInput, SourceLost
from appliance.sources import gpio
from appliance.sources.gpio import GpioSource, Pins
from sim.loop import VirtualLoop
from tests.support.pins import Header
from tests.support.ring1 import play

MS = 1_000_000
WANTED = Pins({17: "up", 27: "down"}, {22: 0, 23: 1})


class Bench:
    """A source with its header, and everything it delivered."""

    def __init__(self, wanted: Pins = WANTED) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        self.now_ns = loop.now_ns
        self.header = Header(loop.now_ns)
        self.heard: list[SourceInput] = []
        self.source = GpioSource("pins", wanted, self.heard.extend, loop.now_ns, self.header.open)

    def edges(self) -> list[tuple[int, int, int]]:
        """(pin, level, milliseconds)."""
        return [(e.channel, e.level, e.at_ns // MS) for e in self.heard if isinstance(e, Edge)]

    def of(self, kind: type) -> list[Any]:
        return [item for item in self.heard if isinstance(item, kind)]


def bench(test: Callable[[Bench], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """A test in virtual time with a started source."""

    def run() -> None:
        async def main() -> None:
            made = Bench()
            made.header.levels = {17: 0, 27: 0}
            made.source.start()
            await asyncio.sleep(0.1)
            await test(made)
            await made.source.stop()

        play(main())

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    return run


@bench
async def test_it_begins_with_the_levels_and_then_tells_every_edge_with_its_time(b: Bench) -> None:
    assert b.of(SourceBack) == [SourceBack("pins", None, 0)]
    assert b.of(Levels) == [Levels("pins", ((17, 0), (27, 0)), 0)]
    for level in (1, 0, 1, 0):
        b.header.drive(17, level)
        await asyncio.sleep(0.003)
    b.header.drive(27, 1)
    await asyncio.sleep(0.01)
    assert b.edges() == [(17, 1, 100), (17, 0, 103), (17, 1, 106), (17, 0, 109), (27, 1, 112)]
    assert b.source.is_connected
    assert b.source.status == "connected"


@bench
async def test_edges_that_come_together_are_told_in_the_order_of_their_times(b: Bench) -> None:
    now = b.now_ns()
    b.source._on_edge(27, 1, now - 10)
    b.source._on_edge(17, 1, now - 30)
    b.source._on_edge(17, 0, now - 20)
    await asyncio.sleep(0.001)
    assert [(e.channel, e.level, e.at_ns - now) for e in b.of(Edge)] == [(17, 1, -30), (17, 0, -20), (27, 1, -10)]


@bench
async def test_the_library_s_thread_only_leaves_the_edges_for_the_loop(b: Bench) -> None:
    def on_its_thread() -> None:
        for level in (1, 0) * 250:
            b.header.drive(17, level)

    thread = threading.Thread(target=on_its_thread)
    thread.start()
    thread.join()
    assert b.edges() == []
    await asyncio.sleep(0.001)
    assert [level for _, level, _ in b.edges()] == [1, 0] * 250
    assert b.source.counters.edges == 500


@bench
async def test_levels_come_four_times_a_second_and_carry_the_source_s_clock(b: Bench) -> None:
    await asyncio.sleep(2.0)
    times = [levels.at_ns // MS for levels in b.of(Levels)]
    assert times == list(range(0, 2001, 250))


@bench
async def test_a_lost_edge_leaves_a_wrong_level_for_no_longer_than_a_heartbeat(b: Bench) -> None:
    b.header.drive(17, 1, heard=False)
    await asyncio.sleep(gpio.HEARTBEAT_S + gpio.SETTLE_S)
    assert b.edges() == []
    assert b.of(Levels)[-1].levels == ((17, 1), (27, 0))
    assert b.source.counters.levels_repaired == 1


@bench
async def test_a_level_that_was_read_before_an_edge_came_is_not_told_after_it(b: Bench) -> None:
    await asyncio.sleep(0.151)  # the levels have just been read, and wait
    b.header.drive(17, 1)
    await asyncio.sleep(0.05)
    assert [levels.levels for levels in b.of(Levels)][-1] == ((17, 1), (27, 0))
    assert b.source.counters.levels_repaired == 0
    assert b.edges() == [(17, 1, 251)]


def test_a_full_queue_is_counted_told_and_followed_by_the_true_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpio, "QUEUE_LIMIT", 10)

    @bench
    async def full(b: Bench) -> None:
        for n in range(25):
            b.header.drive(17, 1 - n % 2)
        lost_ns = b.now_ns()
        await asyncio.sleep(0.05)
        assert len(b.of(Edge)) == 10
        assert b.of(EdgesLost) == [EdgesLost("pins", 15, lost_ns)]
        after = b.heard[b.heard.index(b.of(EdgesLost)[0]) :]
        assert [item.levels for item in after if isinstance(item, Levels)] == [((17, 1), (27, 0))]
        assert b.source.counters.edges_dropped == 15
        for n in range(25):
            b.header.drive(17, n % 2)
        await asyncio.sleep(0.05)
        assert sum(item.count for item in b.of(EdgesLost)) == b.source.counters.edges_dropped == 30

    full()


@bench
async def test_outputs_are_set_kept_and_put_to_rest(b: Bench) -> None:
    assert (b.header.output(22), b.header.output(23)) == (0, 1)
    b.source.show({22: 1, 23: 0})
    assert (b.header.output(22), b.header.output(23)) == (1, 0)
    factory = b.header._factory
    assert factory is not None
    lamp = b.header._watched(22)
    await b.source.stop()
    assert [state.state for state in lamp.states] == [False, True, False]
    assert not b.source.is_connected


def busy(test: Callable[[Bench], Coroutine[Any, Any, None]], **held: str) -> Callable[[], None]:
    """A test that finds pins held by others."""

    def run() -> None:
        async def main() -> None:
            made = Bench()
            made.header.levels = {17: 0, 27: 0}
            made.header.held = {int(name[1:]): owner for name, owner in held.items()}
            made.source.start()
            await asyncio.sleep(0.1)
            await test(made)
            await made.source.stop()

        play(main())

    return run


def test_a_busy_pin_is_named_with_its_owner_and_the_others_go_on() -> None:
    async def one_is_held(b: Bench) -> None:
        assert b.source.outages == {17: "GPIO17 is in use by fan-control: stop that, or take another pin"}
        assert b.source.status == "GPIO17 is in use by fan-control: stop that, or take another pin"
        assert b.source.is_connected
        assert b.source.counters.pins_out == 1
        b.header.drive(27, 1)
        await asyncio.sleep(0.3)
        assert b.edges() == [(27, 1, 100)]
        assert b.of(Levels)[-1].levels == ((27, 1),)

    busy(one_is_held, p17="fan-control")()


def test_a_busy_pin_is_had_as_soon_as_it_is_free_and_begins_with_its_level() -> None:
    async def freed(b: Bench) -> None:
        b.header.levels[17] = 1
        b.header.held.clear()
        await asyncio.sleep(0.45 + gpio.HEARTBEAT_S)
        assert b.source.outages == {}
        assert b.of(Levels)[-1].levels == ((17, 1), (27, 0))
        assert b.edges() == []
        b.source.show({22: 1})
        assert b.header.output(22) == 1

    busy(freed, p17="fan-control", p22="fan-control")()


def test_with_no_pin_to_be_had_the_source_is_lost_and_says_why() -> None:
    async def none(b: Bench) -> None:
        assert not b.source.is_connected
        assert b.source.status.count("is in use by x") == 4

    busy(none, p17="x", p27="x", p22="x", p23="x")()


def test_claims_are_tried_again_ever_more_rarely() -> None:
    async def never(b: Bench) -> None:
        tried: list[int] = []
        held = b.header.held

        class Counting(dict[int, str]):
            def __contains__(self, number: object) -> bool:
                if number == 17:
                    tried.append(b.now_ns() // MS)
                return number in held

            def get(self, number: int, default: Any = None) -> Any:
                return held.get(number, default)

        b.header.held = Counting(held)
        await asyncio.sleep(60)
        assert tried == [500, 1500, 3500, 7500, 15500, 25500, 35500, 45500, 55500]

    busy(never, p17="x")()


def test_a_claim_that_fails_half_way_watches_the_pin_in_the_end() -> None:
    async def main() -> None:
        b = Bench()
        b.header.levels = {17: 0, 27: 0}
        b.header.unwatchable = {17: 2}
        b.source.start()
        await asyncio.sleep(0.1)
        assert b.source.outages == {17: "GPIO17 cannot be used (an unexpected error): take another pin"}
        await asyncio.sleep(2)
        assert b.source.outages == {}
        b.header.drive(17, 1)
        await asyncio.sleep(0.001)
        assert b.edges() == [(17, 1, 2100)]
        await b.source.stop()

    play(main())


@bench
async def test_a_controller_that_goes_is_told_looked_for_and_begun_anew(b: Bench) -> None:
    b.source.show({22: 1})
    b.header.drive(17, 1)
    await asyncio.sleep(0.05)
    b.header.unplug()
    await asyncio.sleep(0.3)
    (lost,) = b.of(SourceLost)
    assert lost.reason == "the header is gone"
    assert not b.source.is_connected
    assert b.source.status == "the header is gone"
    assert set(b.source.outages) == {17, 27, 22, 23}
    b.source.show({23: 0})
    await asyncio.sleep(5)
    openings = b.header.openings
    assert openings <= 5, "it is looked for without haste"
    assert b.source.status == "there is no header"
    b.header.levels[17] = 0
    b.header.plug()
    await asyncio.sleep(10.1)
    assert b.header.openings == openings + 1
    assert [type(item) for item in b.heard if isinstance(item, SourceBack | SourceLost)] == [
        SourceBack,
        SourceLost,
        SourceBack,
    ]
    back = b.heard.index(b.of(SourceBack)[1])
    assert b.heard[back + 1] == Levels("pins", ((17, 0), (27, 0)), b.heard[back].at_ns)
    assert (b.header.output(22), b.header.output(23)) == (1, 0)
    b.header.drive(17, 1)
    await asyncio.sleep(0.001)
    assert b.edges()[-1][:2] == (17, 1)


def test_nothing_at_all_comes_after_the_end() -> None:
    async def main() -> None:
        b = Bench()
        b.source.start()
        await asyncio.sleep(0.1)
        await b.source.stop()
        told = len(b.heard)
        b.source._on_edge(17, 0, b.now_ns())
        await asyncio.sleep(1)
        assert len(b.heard) == told
        assert b.source._timers == {}

    play(main())


def test_a_header_that_is_not_there_yet_is_waited_for() -> None:
    async def main() -> None:
        b = Bench()
        b.header.unplug()
        b.source.start()
        await asyncio.sleep(3)
        assert b.heard == []
        assert b.source.status == "there is no header"
        b.header.plug()
        await asyncio.sleep(4)
        assert b.source.is_connected
        assert b.of(SourceBack) != []
        await b.source.stop()

    play(main())
