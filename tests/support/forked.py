"""The program again and again, without the second that an interpreter takes to load it.

A process of its own loads everything that `pocketbeam run` loads and then only forks: each line on its standard
input, a JSON list of arguments, becomes one run of the command line in a child, which is as much a process as any
other: it can be killed, and its locks, ports and files end with it. One thread forks, one child lives at a time.
"""

import contextlib
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.support import overheard

ROOT = Path(__file__).resolve().parents[2]
SAID = "forked.said"


class Nursery:
    """Where the children come from."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forked"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def start(self, directory: Path, *arguments: str) -> "Child":
        """Run the command line with its output in the directory."""
        assert self._process.stdin is not None
        (directory / SAID).unlink(missing_ok=True)
        self._process.stdin.write(json.dumps([str(directory), *arguments]).encode() + b"\n")
        self._process.stdin.flush()
        return Child(int(self.line()), self, directory / "forked.out")

    def line(self) -> str:
        """The next word from there."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the nursery has died"
        return line.decode().strip()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
        assert self._process.stdout is not None
        self._process.stdout.close()


class Child:
    """One run."""

    def __init__(self, pid: int, nursery: Nursery, out: Path) -> None:
        self._pid = pid
        self._nursery = nursery
        self._out = out
        self._status: int | None = None

    @property
    def out(self) -> str:
        """What it said, on both outputs."""
        return self._out.read_text("utf-8")

    def signal(self, number: signal.Signals) -> None:
        assert self._status is None
        os.kill(self._pid, number)

    def wait(self) -> int:
        """Its exit status, or that of its signal as a negative number."""
        if self._status is None:
            self._status = int(self._nursery.line())
        return self._status


@contextlib.contextmanager
def nursery() -> Iterator[Nursery]:
    """One nursery; a child that is still there ends with it."""
    running = Nursery()
    try:
        yield running
    finally:
        running.close()


@contextlib.contextmanager
def forked(nursery: Nursery, directory: Path, *arguments: str) -> Iterator[Child]:
    """A running program, killed at the latest when the block ends."""
    child = nursery.start(directory, *arguments)
    try:
        yield child
    finally:
        with contextlib.suppress(AssertionError):
            child.signal(signal.SIGKILL)
        child.wait()
        overheard.check(directory / SAID)


def main() -> None:
    """Load, then fork for each line."""
    for name in ("appliance.process", "appliance.mqtt.client", "appliance.config.load"):
        importlib.import_module(name)
    gc.freeze()
    for line in sys.stdin:
        directory, *arguments = json.loads(line)
        child = os.fork()
        if child == 0:
            os.setsid()
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            output = os.open(Path(directory) / "forked.out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os._exit(_status_of(directory, arguments))
        os.write(1, f"{child}\n".encode())
        _, status = os.waitpid(child, 0)
        os.write(1, f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _status_of(directory: str, arguments: list[str]) -> int:
    try:
        return overheard.main(str(Path(directory) / SAID), arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


if __name__ == "__main__":
    main()
