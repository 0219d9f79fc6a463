"""The simulated gpiochip from outside: what drives the lines, and who else may hold one."""

import ctypes
import fcntl
import os
import struct
import time
from collections.abc import Iterable
from pathlib import Path

LABEL = "pinctrl-bcm2711"
CONFIGURATION = Path("/sys/kernel/config/gpio-sim")
_GET_LINE = 0xC250B407
_INPUT = 1 << 2
_PR_SET_TIMERSLACK = 29


class Chip:
    """A chip of gpio-sim; `there` brings it, `away` takes it. Its lines read what was last driven."""

    def __init__(self, name: str, label: str = LABEL, lines: int = 28) -> None:
        self._directory = CONFIGURATION / name
        bank = self._directory / "bank"
        bank.mkdir(parents=True)
        (bank / "num_lines").write_text(str(lines))
        (bank / "label").write_text(label)
        self._open: dict[int, int] = {}

    def there(self) -> str:
        """Bring the chip; its name, such as gpiochip0."""
        (self._directory / "live").write_text("1")
        device = (self._directory / "dev_name").read_text().strip()
        name = (self._directory / "bank" / "chip_name").read_text().strip()
        self._lines = Path("/sys/devices/platform", device, name)
        return name

    def away(self) -> None:
        """Take the chip away, whoever uses it."""
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()
        (self._directory / "live").write_text("0")

    def drive(self, number: int, level: int) -> None:
        """Set what a line reads."""
        if number not in self._open:
            self._open[number] = os.open(self._lines / f"sim_gpio{number}" / "pull", os.O_WRONLY)
        os.pwrite(self._open[number], b"pull-up" if level else b"pull-down", 0)

    def level(self, number: int) -> int:
        """What is on a line, also where it is an output."""
        return int((self._lines / f"sim_gpio{number}" / "value").read_text())

    def play(self, changes: Iterable[tuple[int, int, int]]) -> None:
        """Drive (microseconds from now, line, level) at their times; blocks until all of it has happened."""
        # The world waits for nobody: this thread goes before all others, and its sleep is not stretched by 50 us.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)
        began_ns, now_us = time.monotonic_ns(), 0
        for at_us, number, level in changes:
            # In virtual time even looking at the clock lets time pass: what comes at once comes without a look.
            if at_us > now_us:
                now_us = at_us
                time.sleep(max(0, began_ns + at_us * 1_000 - time.monotonic_ns()) / 1e9)
            self.drive(number, level)


def hold(device: str, number: int, name: str) -> int:
    """Hold a line as another program would; closing the descriptor lets go of it."""
    offsets = struct.pack("=I", number).ljust(256, b"\0")
    request = offsets + name.encode().ljust(32, b"\0") + struct.pack("=QI", _INPUT, 0).ljust(272, b"\0")
    request += struct.pack("=I", 1).ljust(28, b"\0") + struct.pack("=i", -1)
    assert len(request) == 592
    chip = os.open(device, os.O_RDWR)
    try:
        answer = fcntl.ioctl(chip, _GET_LINE, request)
    finally:
        os.close(chip)
    return int(struct.unpack("=i", answer[-4:])[0])
