"""Virtual time: waiting takes none, order is kept, and a wait for nothing is reported."""

import asyncio
import threading

import pytest

from sim.loop import Deadlock, VirtualClock, VirtualLoop


def run(coroutine):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine)


def test_hours_pass_in_moments_and_exactly():
    async def sleep_long():
        await asyncio.sleep(3 * 3600)
        return asyncio.get_running_loop().now_ns()

    assert run(sleep_long()) == 3 * 3600 * 10**9


def test_waits_longer_than_the_loops_own_limit_of_a_day():
    async def sleep_days():
        await asyncio.sleep(40 * 86_400)
        return asyncio.get_running_loop().now_ns()

    assert run(sleep_days()) == 40 * 86_400 * 10**9


def test_timers_run_in_the_order_of_their_times():
    seen = []

    async def note(delay, name):
        await asyncio.sleep(delay)
        seen.append((name, asyncio.get_running_loop().now_ns()))

    async def several():
        await asyncio.gather(note(0.3, "c"), note(0.1, "a"), note(0.2, "b"))

    run(several())
    assert [name for name, _ in seen] == ["a", "b", "c"]
    for (_, at_ns), due_ns in zip(seen, (10**8, 2 * 10**8, 3 * 10**8), strict=True):
        assert abs(at_ns - due_ns) <= 1


def test_a_time_out_wins_over_what_never_comes():
    async def wait_for_nothing():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 5)
        return asyncio.get_running_loop().time()

    assert run(wait_for_nothing()) == pytest.approx(5)


def test_a_wait_that_nothing_can_end_names_the_waiting_tasks():
    async def wait_for_nothing():
        await asyncio.Event().wait()

    async def main():
        task = asyncio.create_task(wait_for_nothing(), name="the sleeper")
        await task

    with pytest.raises(Deadlock) as caught:
        run(main())
    message = str(caught.value)
    assert "the sleeper" in message
    assert "wait_for_nothing" in message
    assert "test_loop.py" in message


def test_a_call_from_the_loops_own_thread_wakes_the_loop():
    async def main():
        done = asyncio.Event()
        asyncio.get_running_loop().call_soon_threadsafe(done.set)
        await done.wait()
        return asyncio.get_running_loop().now_ns()

    assert run(main()) == 0


def test_the_clock_stands_still_while_a_thread_works():
    async def main():
        release = threading.Event()
        loop = asyncio.get_running_loop()
        other = asyncio.Event()

        def job():
            loop.call_soon_threadsafe(other.set)
            release.wait(30)
            return loop.now_ns()

        working = asyncio.create_task(asyncio.to_thread(job))
        await other.wait()
        release.set()
        seen_ns = await asyncio.wait_for(working, timeout=1)
        before_ns = loop.now_ns()
        await asyncio.sleep(2)
        return seen_ns, before_ns, loop.now_ns()

    assert run(main()) == (0, 0, 2 * 10**9)


def test_the_clock_tells_the_loops_time():
    async def main():
        clock = VirtualClock(asyncio.get_running_loop(), boot_id="b")
        wall_ns, monotonic_ns = clock.wall_ns(), clock.monotonic_ns()
        await asyncio.sleep(12.5)
        return (
            clock.wall_ns() - wall_ns,
            clock.monotonic_ns() - monotonic_ns,
            clock.synchronised(),
            clock.boot_id(),
        )

    assert run(main()) == (12_500_000_000, 12_500_000_000, True, "b")
