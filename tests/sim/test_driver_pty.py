"""Matches through a real pty: what the host's session hears is what the script says, no more, no less."""

import asyncio
import os

import pytest

from appliance.events import ColourReading, Edge
from appliance.link.session import HostSession, LinkState
from sim import device
from sim.actions import Call, Over
from sim.clock import SimClock
from sim.driver import STEP_US, Driver, script
from sim.layout import layout_of
from sim.mcu import Mcu
from sim.players import simulate
from sim.wire import PtyMcu

DEADLINE_S = 60
CLOCK_TOLERANCE_US = 100_000
"""The host knows the board's clock as well as it is scheduled: real time passes here too. The script takes minutes."""


class Host:
    """Acknowledges whatever it hears, says "ok" to calls, and notes how much it knew at each."""

    def __init__(self, path, clock):
        self.session = HostSession("board")
        self.heard = []
        self.known_at_calls = []
        self._clock = clock
        self._port = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY)
        self.session.connected(clock.monotonic_ns())
        asyncio.get_running_loop().add_reader(self._port, self._readable)
        self._write()

    def close(self):
        asyncio.get_running_loop().remove_reader(self._port)
        os.close(self._port)

    async def request(self, document):
        self.known_at_calls.append(len(self.heard))
        return {"ok": True}

    def _readable(self):
        inputs = self.session.receive(os.read(self._port, 4096), self._clock.monotonic_ns())
        self.heard += [item for item in inputs if isinstance(item, Edge | ColourReading)]
        if self.session.delivered is not None:
            self.session.acknowledge(*self.session.delivered)
        self._write()

    def _write(self):
        os.write(self._port, self.session.poll(self._clock.monotonic_ns()))


def as_signal(item, start_us):
    at_us = item.at_ns // 1_000 - start_us
    if isinstance(item, Edge):
        return device.Edge(at_us, item.channel, item.level)
    return device.Colour(at_us, item.channel, item.object)


async def play(match, path):
    clock = SimClock()
    board = Mcu(8, 1, clock.now_us(), levels=layout_of(match.game).idle_levels())
    line = PtyMcu(board, path, clock.now_us)
    line.start()
    host = Host(path, clock)
    driver = Driver(line, host.request, clock, speed=None)
    try:
        async with asyncio.timeout(DEADLINE_S):
            while host.session.state is not LinkState.UP:
                await driver.rest(STEP_US)
            start_us = clock.now_us()
            await driver.play(match)
        assert line.bytes_lost == 0
        return [as_signal(item, start_us) for item in host.heard], host.known_at_calls
    finally:
        host.close()
        line.stop()


@pytest.mark.real
@pytest.mark.parametrize("game", ["new_carrom", "carpetball"])
def test_the_host_hears_the_script_and_knows_it_before_each_call(game, tmp_path):
    match = simulate(game, ("Asha", "Ben"), seed=3)
    heard, known_at_calls = asyncio.run(play(match, tmp_path / "board"))
    said = list(script(match))
    signals = [item for item in said if not isinstance(item, Call | Over)]
    assert [(type(item), item.channel) for item in heard] == [(type(item), item.channel) for item in signals]
    for got, meant in zip(heard, signals, strict=True):
        assert abs(got.at_us - meant.at_us) <= CLOCK_TOLERANCE_US
        assert getattr(got, "level", None) == getattr(meant, "level", None)
        assert getattr(got, "object", None) == getattr(meant, "object", None)
    before_calls = [
        sum(not isinstance(earlier, Call) for earlier in said[:index])
        for index, item in enumerate(said)
        if isinstance(item, Call)
    ]
    assert known_at_calls == before_calls
