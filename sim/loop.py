"""Virtual time: an asyncio loop on which hours pass in moments and every run is the same.

A loop sleeps in one place only: it asks its selector to wait until the next timer. Our selector does not
wait; it moves the loop's clock on by exactly what it was asked to wait. So nothing takes time but waiting,
and waiting takes none. Three consequences are handled here:

* A wait without a limit, with nothing ready, would last for ever: it is reported as a `Deadlock` that names
  the waiting tasks.
* Descriptors are still looked at (without waiting), so that `call_soon_threadsafe` and its wake-up work.
* While a job runs in an executor the clock stands still and the wait is a real one: a thread takes real time,
  and a jump past it would let time-outs win that never should.

Whoever waits for a real descriptor or a thread of its own in virtual time will see time jump first.
"""

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_NS_PER_S = 1_000_000_000
_WALL_START_NS = 1_735_689_600 * _NS_PER_S  # 2025-01-01T00:00:00Z: any fixed day keeps runs the same


class Deadlock(RuntimeError):
    """Every task waits and nothing is left that could wake one of them."""


class _VirtualSelector(selectors.DefaultSelector):
    """Moves a clock instead of waiting."""

    def __init__(self) -> None:
        """Start the clock at 0."""
        super().__init__()
        self.now_ns = 0
        self.jobs_outside = 0
        self.describe_waiting: Callable[[], str] = lambda: "no task"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready now; else move the clock on by `timeout` seconds."""
        if self.jobs_outside:
            return super().select(None if timeout is None or timeout > 0 else 0)
        ready = super().select(0)
        if ready:
            return ready
        if timeout is None:
            raise Deadlock(f"Nothing can happen any more; waiting: {self.describe_waiting()}")
        self.now_ns += max(0, round(timeout * _NS_PER_S))
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in virtual time: `asyncio.Runner(loop_factory=VirtualLoop)`."""

    def __init__(self) -> None:
        """Make a loop whose clock stands at 0."""
        self._virtual = _VirtualSelector()
        super().__init__(self._virtual)
        self._virtual.describe_waiting = lambda: _waiting_tasks(self)

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._virtual.now_ns / _NS_PER_S

    def now_ns(self) -> int:
        """Virtual nanoseconds since the loop was made."""
        return self._virtual.now_ns

    def run_in_executor(self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        """As usual, with the clock standing still until the job has ended."""
        future = super().run_in_executor(executor, func, *args)
        self._virtual.jobs_outside += 1
        future.add_done_callback(self._job_ended)
        return future

    async def shutdown_default_executor(self, *timeout: float) -> None:
        """As usual; the thread that waits for the others is a job outside too."""
        self._virtual.jobs_outside += 1
        try:
            await super().shutdown_default_executor(*timeout)
        finally:
            self._virtual.jobs_outside -= 1

    def _job_ended(self, _future: asyncio.Future[T]) -> None:
        self._virtual.jobs_outside -= 1


class VirtualClock:
    """The time of a `VirtualLoop` in the shape of the daemon's clock; always synchronised, one boot."""

    def __init__(self, loop: VirtualLoop, boot_id: str = "virtual-boot-1") -> None:
        """Tell the time of `loop`; give another `boot_id` to play a restart of the host."""
        self._loop = loop
        self._boot_id = boot_id

    def monotonic_ns(self) -> int:
        """Nanoseconds since the loop was made."""
        return self._loop.now_ns()

    def wall_ns(self) -> int:
        """Nanoseconds since the epoch: a fixed day, on which the loop was made at midnight."""
        return _WALL_START_NS + self._loop.now_ns()

    def synchronised(self) -> bool:
        """Virtual wall time is always right."""
        return True

    def boot_id(self) -> str:
        """The name of this virtual boot."""
        return self._boot_id


def _waiting_tasks(loop: asyncio.AbstractEventLoop) -> str:
    """Each task that has not ended, with the line that it waits at."""
    return "; ".join(sorted(_describe(task) for task in asyncio.all_tasks(loop))) or "no task"


def _describe(task: "asyncio.Task[object]") -> str:
    frames = task.get_stack(limit=1)
    where = f" at {frames[-1].f_code.co_filename}:{frames[-1].f_lineno}" if frames else ""
    return f"{task.get_name()} ({getattr(task.get_coro(), '__qualname__', '?')}{where})"
