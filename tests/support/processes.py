"""The program as a process, and a simulated board on a real port for it to open."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from appliance.link.messages import PROTOCOL_VERSION
from sim.layout import configuration_text, layout_of
from sim.mcu import Mcu
from sim.wire import PtyMcu
from tests.support import overheard
from tests.support.brokers import HOST

ROOT = Path(__file__).resolve().parents[2]


def now_us() -> int:
    """The board's time: the real one."""
    return time.monotonic_ns() // 1_000


SPEAKERS = {"run", "demo"}
"""Commands with a table that says something."""


class Program:
    """`pocketbeam` with arguments, its outputs in files; ended at the latest when the test ends.

    Every message that a table of it publishes is checked against the contract then.
    """

    def __init__(self, directory: Path, *arguments: str) -> None:
        self._out = directory / f"out-{time.monotonic_ns()}"
        self._err = self._out.with_suffix(".err")
        self.said = self._out.with_suffix(".said")
        module = ["tests.support.overheard", str(self.said)] if SPEAKERS & set(arguments) else ["appliance"]
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *module, *arguments],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    @property
    def out(self) -> str:
        return self._out.read_text("utf-8")

    @property
    def err(self) -> str:
        return self._err.read_text("utf-8")

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait(self, within_s: float = 20.0) -> int:
        """The exit status."""
        try:
            return self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it does not end:\n{self.out}\n{self.err}") from None

    def leaves(self) -> list[str]:
        """Processes of its session that still live."""
        return _session_members(self.process.pid)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        overheard.check(self.said)


def _session_members(session: int) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                # After the name in brackets: state, parent, group, session.
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == session and fields[0] != "Z":
                    found.append(entry.name)
    return found


@contextlib.contextmanager
def program(directory: Path, *arguments: str) -> Iterator[Program]:
    """A running program."""
    running = Program(directory, *arguments)
    try:
        yield running
    finally:
        running.kill()


def ran(directory: Path, *arguments: str, within_s: float = 60.0) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a program that ends by itself."""
    with program(directory, *arguments) as running:
        status = running.wait(within_s)
        return status, running.out, running.err


def configured(directory: Path, broker_port: int, *, table: str = "t1", game: str = "club_carrom", **more: Any) -> Path:
    """A configuration file for a simulated board; `more` replaces pieces of its text."""
    text = configuration_text(
        game,
        ("Asha", "Ben"),
        port=str(directory / f"board-{table}"),
        state_dir=str(directory / f"state-{table}"),
        mqtt_host=HOST,
        mqtt_port=broker_port,
        web_listen=more.pop("web_listen", None),
        table=table,
    )
    for old, new in more.pop("replace", {}).items():
        assert old in text, old
        text = text.replace(old, new)
    text += more.pop("add", "")
    assert not more, more
    path = directory / f"{table}.toml"
    path.write_text(text, encoding="utf-8")
    (directory / f"state-{table}").mkdir(exist_ok=True)
    return path


@contextlib.asynccontextmanager
async def board(
    directory: Path,
    *,
    table: str = "t1",
    game: str = "club_carrom",
    levels: dict[int, int] | None = None,
    protocol: int = PROTOCOL_VERSION,
) -> AsyncIterator[PtyMcu]:
    """A simulated board at the port that `configured` names, in real time."""
    at_rest = {**layout_of(game).idle_levels(), **(levels or {})}
    mcu = Mcu(24, 0x5EED, now_us(), levels=at_rest, protocol=protocol)
    line = PtyMcu(mcu, directory / f"board-{table}", now_us)
    line.start()
    try:
        yield line
    finally:
        line.stop()


async def pulse(line: PtyMcu, channel: int, dwell_ms: int = 20, active: int = 1) -> None:
    """A beam is broken, or a button pressed, for a moment of real time."""
    line.drive(channel, active)
    await asyncio.sleep(dwell_ms / 1_000)
    line.drive(channel, 1 - active)


def fetch(address: str) -> bytes:
    """The body of a page."""
    with urllib.request.urlopen(address, timeout=5) as answer:
        body: bytes = answer.read()
        return body
