"""The emulated board in real time behind a port that the appliance's own source opens."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from appliance.events import Edge, SourceInput
from appliance.link.configuration import BoardConfiguration
from appliance.link.session import HostSession
from appliance.sources.serial import SerialSource
from tests.firmware.emulation import Emulation
from tests.firmware.programs import Programs

pytestmark = [pytest.mark.real, pytest.mark.alone]

DEADLINE_S = 20
LATE_US = 200_000
"""What a busy machine may add to the way of an edge; its time is right all the same."""


@asynccontextmanager
async def source(port: str, session: HostSession, inputs: list[SourceInput]) -> AsyncIterator[SerialSource]:
    """An open source that acknowledges all it gets."""

    def deliver(found: list[SourceInput]) -> None:
        inputs.extend(found)
        if session.delivered is not None:
            asyncio.get_running_loop().call_soon(lambda: opened.acknowledge(*(session.delivered or (0, 0))))

    opened = SerialSource("board", port, 115_200, session, deliver, time.monotonic_ns)
    opened.start()
    try:
        yield opened
    finally:
        await opened.stop()


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while not reached():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def play(programs: Programs) -> None:
    emulation = Emulation(programs)
    inputs: list[SourceInput] = []
    session = HostSession("board", configuration=BoardConfiguration(channels=12, inputs=0xFFF, pull_ups=0xFFF))
    edges = [(channel, level) for channel in range(12) for level in (1, 0)]
    try:
        async with source(emulation.port, session, inputs) as opened:
            # The mapping of the clocks settles within a second.
            await until(lambda: opened.is_connected and session.counters.frames > 10)
            told_ns = time.monotonic_ns()
            emulation.tell(*(f"edge {10_000 * (n + 1)} {c} {v}" for n, (c, v) in enumerate(edges)))
            await until(lambda: sum(isinstance(value, Edge) for value in inputs) == len(edges))
            emulation.tell("reset")
            await until(lambda: session.counters.boots == 2)
            emulation.tell("edge 1000 7 1")
            await until(lambda: any(isinstance(value, Edge) and value.channel == 7 for value in inputs[-3:]))
    finally:
        emulation.close()
    got = [value for value in inputs if isinstance(value, Edge)]
    assert [(edge.channel, edge.level) for edge in got] == [*edges, (7, 1)]
    for number, edge in enumerate(got[:-1]):
        late_us = (edge.at_ns - told_ns) // 1_000 - 10_000 * (number + 1)
        assert -2_000 <= late_us <= LATE_US
    widths_us = [(b.at_ns - a.at_ns) // 1_000 for a, b in zip(got[:-1:2], got[1::2], strict=True)]
    assert all(abs(width - 10_000) < 2_000 for width in widths_us)


def test_pins_to_source_through_a_port(programs: Programs):
    asyncio.run(play(programs))
