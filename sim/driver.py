"""Plays a simulated match against a live appliance: edges through the device, calls as requests.

The driver alone moves simulated time, in steps no longer than a heartbeat's period, so that the appliance
sees time pass while nothing happens. At a finite speed each step takes its share of real time; at full speed
(`speed` None) each signal waits until the appliance has acknowledged it. A call waits for that at any speed:
so the umpire never speaks before the appliance knows what he saw. While an acknowledgement is awaited time
all but stands still; it creeps on, so that a device that must send something again comes to do so.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from heapq import merge
from typing import Protocol

from sim.actions import Call, Over
from sim.clock import SimClock
from sim.device import Edge, Signal, signals
from sim.layout import layout_of
from sim.players import SimulatedMatch

STEP_US = 250_000
TURNS = 8  # of the event loop for each step at full speed: both ends of a link speak and hear in the same moment
CREEP_AFTER_S = 0.5  # of real time; a creep is short, so that even a long stall closes no stroke
CREEP_US = 50_000

Request = Callable[[dict[str, object]], Awaitable[Mapping[str, object]]]


class Device(Protocol):
    """The microcontroller as its world sees it; times are microseconds of the simulated clock."""

    def drive(self, channel: int, level: int, at_us: int) -> None:
        """The level of a channel changes."""

    def report_colour(self, channel: int, object: str, at_us: int) -> None:
        """The colour sensor of a channel has seen `object`."""

    def flush(self) -> None:
        """Send whatever is due at the clock's present time, a heartbeat above all."""

    async def acknowledged(self) -> None:
        """Return once everything driven and reported so far has been acknowledged."""


class CallRefusedError(Exception):
    """The appliance refused a call that the rules allow."""


class Driver:
    """Plays matches one after the other on one table."""

    def __init__(self, device: Device, request: Request, clock: SimClock, speed: float | None = 1.0) -> None:
        """`speed`: simulated seconds in a real one; None: as fast as acknowledgements come back."""
        self._device = device
        self._request = request
        self._clock = clock
        self._speed = speed
        self._real_start_s = 0.0
        self._sim_start_us = 0
        self._crept_us = 0

    async def play(self, match: SimulatedMatch) -> None:
        """Play `match` from now to its end. Raises `CallRefusedError` where the appliance refuses a call."""
        start_us = self._begin()
        for item in script(match):
            await self._reach(start_us + self._crept_us + item.at_us)
            if isinstance(item, Call):
                await self._call(item)
            elif isinstance(item, Over):
                await self._acknowledged()
            else:
                self._emit(item)
                if self._speed is None:
                    await self._acknowledged()

    async def rest(self, duration_us: int) -> None:
        """Let simulated time pass with nobody at the table."""
        await self._reach(self._begin() + duration_us)

    def _begin(self) -> int:
        """Real time that was spent elsewhere is not caught up."""
        self._real_start_s = asyncio.get_running_loop().time()
        self._sim_start_us = self._clock.now_us()
        self._crept_us = 0
        return self._sim_start_us

    async def _reach(self, at_us: int) -> None:
        while (now_us := self._clock.now_us()) < at_us:
            next_us = min(at_us, now_us + STEP_US)
            await self._pass_real_time(next_us)
            self._clock.advance_to_us(next_us)
            self._device.flush()

    async def _pass_real_time(self, until_us: int) -> None:
        if self._speed is None:
            for _ in range(TURNS):
                await asyncio.sleep(0)
            return
        due_s = self._real_start_s + (until_us - self._sim_start_us) / 1_000_000 / self._speed
        await asyncio.sleep(max(0.0, due_s - asyncio.get_running_loop().time()))

    def _emit(self, signal: Signal) -> None:
        at_us = self._clock.now_us()
        if isinstance(signal, Edge):
            self._device.drive(signal.channel, signal.level, at_us)
        else:
            self._device.report_colour(signal.channel, signal.object, at_us)

    async def _acknowledged(self) -> None:
        """Wait for the device's acknowledgements; what is still to come moves back by what time crept on."""
        waiting = asyncio.ensure_future(self._device.acknowledged())
        try:
            while not (await asyncio.wait({waiting}, timeout=CREEP_AFTER_S))[0]:
                self._clock.advance_to_us(self._clock.now_us() + CREEP_US)
                self._crept_us += CREEP_US
                self._device.flush()
            await waiting
        finally:
            waiting.cancel()

    async def _call(self, call: Call) -> None:
        await self._acknowledged()
        answer = await self._request(dict(call.request))
        if answer.get("ok") is not True:
            why = answer.get("error")
            raise CallRefusedError(f"The table refused the umpire's call {dict(call.request)}: {why}")


def script(match: SimulatedMatch) -> Iterator[Signal | Call | Over]:
    """Signals and calls of `match`, in order of time."""
    calls = [action for action in match.actions if isinstance(action, Call | Over)]
    return merge(signals(match.actions, layout_of(match.game)), calls, key=lambda item: item.at_us)
