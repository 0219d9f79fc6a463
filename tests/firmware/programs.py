"""Builds what these tests run: the firmware, its core as a process, and the emulator. `make` decides what is stale."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIRMWARE = ROOT / "firmware"
BUILD = FIRMWARE / "build"


@dataclass(frozen=True)
class Programs:
    elf: Path
    board: Path
    emulator: Path


def make(*arguments: str) -> str:
    """Run make in the firmware's directory and return what it printed; its complaints are the failure's text."""
    result = subprocess.run(
        ["make", "--no-print-directory", "-C", str(FIRMWARE), *arguments], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def build() -> Programs:
    make("all", "host", "emulator")
    return Programs(BUILD / "beam-atmega328p.elf", BUILD / "board", BUILD / "emulator")
