"""The emulated board as its world sees it: pins, a serial line and time, through the emulator's commands."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

CHANNELS = 18


class EmulatedBoard:
    """One firmware in one emulator, in virtual time; `now_us` is the emulator's clock."""

    def __init__(self, emulator: Path, elf: Path) -> None:
        self.now_us = 0
        self.resets = 0
        self._ports = ""
        self._process = subprocess.Popen(
            [emulator, elf], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1 << 16
        )

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def tell(self, *commands: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.writelines(f"{command}\n" for command in commands)

    def edges(self, edges: Iterable[tuple[int, int, int]]) -> None:
        """Let pins change: (time in microseconds, channel, level)."""
        self.tell(*(f"edge {at_us} {channel} {level}" for at_us, channel, level in edges))

    def hear(self, data: bytes) -> None:
        if data:
            self.tell(f"hear {data.hex()}")

    def run(self, until_us: int) -> bytes:
        """Let time pass until then, or until the end of a frame; return what the board has sent meanwhile."""
        self.tell(f"run {until_us}")
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        words = answer.split(" ")
        assert len(words) == 4, f"the emulator says {answer!r}"
        self.now_us, self.resets, self._ports = int(words[0]), int(words[1]), words[2]
        return bytes.fromhex(words[3])

    def drives(self, port: str, bit: int) -> int | None:
        """The level that the board drives a pin to; None where the pin is an input."""
        at = 4 * "DBC".index(port)
        direction, value = int(self._ports[at : at + 2], 16), int(self._ports[at + 2 : at + 4], 16)
        return value >> bit & 1 if direction >> bit & 1 else None
