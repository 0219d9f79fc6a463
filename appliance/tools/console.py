"""Talking with somebody at a terminal while other things happen: what is said, and the lines that come back."""

import asyncio
import contextlib
import os
import sys
from typing import IO, Protocol


class Console(Protocol):
    """What a guided command needs of a terminal."""

    def say(self, text: str) -> None:
        """A line that stays."""

    def show(self, text: str) -> None:
        """A line that the next one may take the place of."""

    async def line(self) -> str | None:
        """The next line that is typed, without its end; None where nothing more can come."""


class Terminal:
    """Standard input and output. Where output is no terminal, what is shown stays as well."""

    def __init__(self, out: IO[str] = sys.stdout) -> None:
        """Nothing is read before `start`."""
        self._out = out
        self._overwrites = out.isatty()
        self._shown = 0
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._unfinished = b""

    def start(self) -> None:
        """Read from now on what is typed; needs a running event loop."""
        try:
            asyncio.get_running_loop().add_reader(0, self._readable)
        except OSError:
            # A file cannot be waited for: everything that it holds is there.
            with contextlib.suppress(OSError):
                while data := os.read(0, 65_536):
                    self._unfinished += data
            for line in self._unfinished.splitlines():
                self._lines.put_nowait(line.decode("utf-8", "replace").strip())
            self._lines.put_nowait(None)

    def say(self, text: str) -> None:
        """A line that stays."""
        self._wipe()
        print(text, file=self._out, flush=True)

    def show(self, text: str) -> None:
        """A line that the next one takes the place of."""
        if not self._overwrites:
            self.say(text)
            return
        self._wipe()
        print(text, end="", file=self._out, flush=True)
        self._shown = len(text)

    async def line(self) -> str | None:
        """The next line that is typed."""
        return await self._lines.get()

    def _wipe(self) -> None:
        if self._shown:
            print(f"\r{' ' * self._shown}\r", end="", file=self._out)
            self._shown = 0

    def _readable(self) -> None:
        try:
            data = os.read(0, 4_096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(0)
            self._lines.put_nowait(None)
            return
        *lines, self._unfinished = (self._unfinished + data).split(b"\n")
        for line in lines:
            self._lines.put_nowait(line.decode("utf-8", "replace").strip())
