"""The driver: exact order, steps no longer than a heartbeat, calls only when the device is acknowledged."""

import asyncio

import pytest

from sim.actions import Call, Fall, Over, Strike
from sim.clock import SimClock
from sim.driver import STEP_US, CallRefusedError, Driver
from sim.loop import VirtualLoop

MATCH_LENGTH_US = 20_000_000


class Match:
    """As much of a match as the driver looks at."""

    game = "club_carrom"
    actions = (
        Strike(1_000_000, None, 10_000),
        Fall(2_000_000, "ne", "white", 30_000),
        Call(4_000_000, {"command": "jumped", "objects": ["black"]}),
        Strike(9_000_000, None, 10_000),
        Over(MATCH_LENGTH_US),
    )


class Table:
    """A device and an appliance behind it; notes what reaches them. `delay_s`: how late it acknowledges."""

    def __init__(self, clock, delay_s=0.0, answer=None):
        self.clock = clock
        self.start_us = clock.now_us()
        self.delay_s = delay_s
        self.answer = {"ok": True, "seq": 1} if answer is None else answer
        self.seen = []
        self.unacknowledged = 0
        self.most_unacknowledged = 0
        self.flushes_us = []
        self.unacknowledged_at_calls = []

    def drive(self, channel, level, at_us):
        assert at_us == self.clock.now_us()
        self._note(at_us, ("edge", channel, level))

    def report_colour(self, channel, object, at_us):
        assert at_us == self.clock.now_us()
        self._note(at_us, ("colour", channel, object))

    def flush(self):
        self.flushes_us.append(self.clock.now_us() - self.start_us)

    async def acknowledged(self):
        if self.unacknowledged:
            await asyncio.sleep(self.delay_s)
            self.unacknowledged = 0

    async def request(self, document):
        self.unacknowledged_at_calls.append(self.unacknowledged)
        self.seen.append((self.clock.now_us() - self.start_us, document))
        return self.answer

    def _note(self, at_us, what):
        self.unacknowledged += 1
        self.most_unacknowledged = max(self.most_unacknowledged, self.unacknowledged)
        self.seen.append((at_us - self.start_us, what))


EXPECTED = [
    (1_000_000, ("edge", 4, 1)),
    (1_010_000, ("edge", 4, 0)),
    (2_000_000, ("edge", 0, 1)),
    (2_030_000, ("edge", 0, 0)),
    (2_090_000, ("colour", 0, "white")),
    (4_000_000, {"command": "jumped", "objects": ["black"]}),
    (9_000_000, ("edge", 4, 1)),
    (9_010_000, ("edge", 4, 0)),
]


def play(speed, table_of=Table, times=1):
    async def main():
        clock = SimClock()
        table = table_of(clock)
        driver = Driver(table, table.request, clock, speed)
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        for _ in range(times):
            await driver.play(Match())
        return table, loop.time() - began_s

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main())


@pytest.mark.parametrize("speed", [1.0, 50.0, None])
def test_what_happens_reaches_the_table_in_order_at_its_simulated_time(speed):
    table, _ = play(speed)
    assert table.seen == EXPECTED


@pytest.mark.parametrize(("speed", "takes_s"), [(1.0, 20.0), (50.0, 0.4), (0.5, 40.0)])
def test_a_finite_speed_takes_its_share_of_real_time(speed, takes_s):
    _, took_s = play(speed)
    assert took_s == pytest.approx(takes_s, abs=1e-6)


def test_full_speed_takes_no_longer_than_the_acknowledgements():
    table, took_s = play(None, lambda clock: Table(clock, delay_s=0.003))
    assert took_s == pytest.approx(0.003 * 7)
    assert table.most_unacknowledged == 1


def test_time_passes_in_steps_no_longer_than_a_heartbeat_up_to_the_end():
    table, _ = play(None)
    steps = [after - before for before, after in zip([0, *table.flushes_us], table.flushes_us, strict=False)]
    assert min(steps) > 0
    assert max(steps) <= STEP_US
    assert table.flushes_us[-1] == MATCH_LENGTH_US


@pytest.mark.parametrize("speed", [1.0, None])
def test_a_call_waits_until_all_that_came_before_is_acknowledged(speed):
    table, _ = play(speed, lambda clock: Table(clock, delay_s=0.4))
    assert table.unacknowledged_at_calls == [0]
    assert table.unacknowledged == 0


def test_a_second_match_begins_where_the_first_has_ended():
    table, took_s = play(1.0, times=2)
    assert table.seen == EXPECTED + [(at_us + MATCH_LENGTH_US, what) for at_us, what in EXPECTED]
    assert took_s == pytest.approx(40)


def test_a_refused_call_stops_play_with_the_reason():
    refusal = {"ok": False, "error": {"code": "wrong_phase", "message": "There is no board."}}
    with pytest.raises(CallRefusedError, match=r"jumped.*There is no board\."):
        play(None, lambda clock: Table(clock, answer=refusal))


def test_a_device_that_must_send_again_gets_the_time_to_do_so_and_the_rest_is_moved_back():
    class Resending(Table):
        """Acknowledged only once it was flushed half a simulated second after its first edge."""

        def __init__(self, clock):
            super().__init__(clock)
            self.sent_again = asyncio.Event()

        def flush(self):
            super().flush()
            if self.flushes_us[-1] >= 1_500_000:
                self.sent_again.set()

        async def acknowledged(self):
            await self.sent_again.wait()
            await super().acknowledged()

    table, _ = play(None, Resending)
    crept_us = 500_000
    assert table.seen[0] == EXPECTED[0]
    assert table.seen[1:] == [(at_us + crept_us, what) for at_us, what in EXPECTED[1:]]
    assert table.flushes_us[-1] == MATCH_LENGTH_US + crept_us
