"""The pauses between failing starts: how they grow, and when they are forgotten."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "systemd" / "pause"

pytestmark = pytest.mark.real


class Pauses:
    """The script with a `sleep` that only says how long it would take."""

    def __init__(self, directory: Path) -> None:
        self.failures = directory / "failures"
        sleep = directory / "sleep"
        sleep.write_text('#!/bin/sh\necho "slept $1"\n')
        sleep.chmod(0o755)
        self._environment = {"PATH": f"{directory}:{os.environ['PATH']}", "RUNTIME_DIRECTORY": str(directory)}

    def before(self) -> int:
        """The pause in seconds."""
        said = self._run("before")
        return int(said.rsplit("slept ", 1)[1]) if "slept" in said else 0

    def after(self, result: str) -> None:
        self._run("after", SERVICE_RESULT=result)

    def _run(self, when: str, **more: str) -> str:
        command = ["sh", str(SCRIPT), when]
        ended = subprocess.run(
            command, env={**self._environment, **more}, capture_output=True, text=True, timeout=20, check=False
        )
        assert (ended.returncode, ended.stderr) == (0, "")
        return ended.stdout


@pytest.fixture
def pauses(tmp_path: Path) -> Pauses:
    return Pauses(tmp_path)


def uptime_s() -> int:
    return int(float(Path("/proc/uptime").read_text().split()[0]))


def test_they_double_up_to_a_minute_and_stay_there(pauses: Pauses) -> None:
    seen = [pauses.before()]
    for result in ("exit-code", "watchdog", "signal", "core-dump", "timeout", "exit-code", "exit-code", "exit-code"):
        pauses.after(result)
        seen.append(pauses.before())
    assert seen == [0, 1, 2, 4, 8, 16, 32, 60, 60]


def test_an_orderly_stop_forgets_them(pauses: Pauses) -> None:
    pauses.after("exit-code")
    pauses.after("exit-code")
    pauses.after("success")
    assert pauses.before() == 0
    pauses.after("success")
    pauses.after("exit-code")
    assert pauses.before() == 1


def test_failures_far_apart_are_no_series(pauses: Pauses) -> None:
    pauses.failures.write_text(f"5 {uptime_s() - 700}\n")
    assert pauses.before() == 0
    pauses.after("watchdog")
    assert pauses.before() == 1
    pauses.failures.write_text(f"5 {uptime_s() - 30}\n")
    assert pauses.before() == 16


@pytest.mark.parametrize("content", ["", "\n", "x y\n", "5\n", "-1 2\n", "3 $(touch x)\n"])
def test_a_damaged_memory_is_no_obstacle(pauses: Pauses, content: str) -> None:
    pauses.failures.write_text(content)
    assert pauses.before() == 0
    pauses.after("exit-code")
    assert pauses.before() == 1
