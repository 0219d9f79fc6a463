"""The system's clock: it goes forward, knows its boot, and asks the kernel at most once in a while."""

import time
import uuid
from pathlib import Path

import pytest

from appliance import clock
from appliance.clock import Clock, SystemClock


def test_times_are_nanoseconds_of_the_clocks_they_name() -> None:
    system: Clock = SystemClock()
    before = time.monotonic_ns(), time.time_ns()
    between = system.monotonic_ns(), system.wall_ns()
    after = time.monotonic_ns(), time.time_ns()
    assert before[0] <= between[0] <= after[0]
    assert before[1] <= between[1] <= after[1]


def test_the_boot_id_is_the_kernels_and_stays() -> None:
    told = SystemClock().boot_id()
    assert told == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert uuid.UUID(told)


def test_without_a_boot_id_each_start_counts_as_a_boot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(clock, "_BOOT_ID", tmp_path / "nothing")
    first, second = SystemClock(), SystemClock()
    assert first.boot_id() == first.boot_id()
    assert first.boot_id() != second.boot_id()


def test_whether_it_is_synchronised_is_asked_again_only_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = iter([False, True])
    monkeypatch.setattr(clock, "_kernel_synchronised", lambda: next(answers))
    now_ns = 10**9
    monkeypatch.setattr(time, "monotonic_ns", lambda: now_ns)
    system = SystemClock()
    assert system.synchronised() is False
    now_ns += 4_999_999_999
    assert system.synchronised() is False
    now_ns += 1
    assert system.synchronised() is True
