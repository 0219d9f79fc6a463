"""The firmware's core as a process, with the face of the simulated board, so that either can stand in a test."""

import subprocess
from pathlib import Path

from appliance.link.messages import OBJECT_CODES
from sim.mcu import CAUSE_POWER_ON


class CoreBoard:
    """One board; `boot` makes it begin anew, with all inputs at level 0."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def boot(
        self, channels: int, boot_id: int, now_us: int = 0, *, first_tick: int = 0, first_sequence: int = 0
    ) -> None:
        """Power it on; its clock and its numbers begin where they are told to."""
        self._tell(f"boot {now_us} {channels} {boot_id} {CAUSE_POWER_ON} {first_tick} {first_sequence}")

    def close(self) -> None:
        """End the process, which must have had nothing to complain of."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        assert self._process.wait(10) == 0

    def drive(self, channel: int, level: int, at_us: int) -> None:
        self._tell(f"level {at_us} {channel} {level}")

    def report_colour(self, channel: int, object: str, at_us: int) -> None:
        self._tell(f"colour {at_us} {channel} {OBJECT_CODES[object]}")

    def read_sensor(self, number: int, reading: int, at_us: int) -> None:
        """Give a colour sensor something to see."""
        self._tell(f"read {at_us} {number} {reading}")

    def receive(self, data: bytes, now_us: int) -> None:
        if data:
            self._tell(f"hear {now_us} {data.hex()}")

    def poll(self, now_us: int) -> bytes:
        self._tell(f"poll {now_us}")
        return bytes.fromhex(self._answer())

    def next_deadline_us(self, now_us: int) -> int:
        """When it has something to say although nothing happens; at `now_us` for at once."""
        return now_us + self._idle(now_us)[1]

    def kept(self, now_us: int) -> int:
        """How many entries wait for their acknowledgement."""
        return self._idle(now_us)[0]

    def _idle(self, now_us: int) -> tuple[int, int]:
        self._tell(f"idle {now_us}")
        kept, idle_us = self._answer().split()
        return int(kept), int(idle_us)

    def _tell(self, command: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")

    def _answer(self) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the core has ended with {self._process.wait()}"
        return answer.strip()
