"""What stands between a serial port and its source, and what would help, in one sentence.

The system is asked, never changed: which ports are there, who owns them, who has them open, and whether a
program is installed that is known to reach for boards.
"""

import contextlib
import grp
import os
import pwd
import re
import stat
from collections.abc import Iterator
from pathlib import Path

BY_ID = Path("/dev/serial/by-id")
_NUMBERED = re.compile(r"/dev/tty(USB|ACM)[0-9]+")
_MEDDLERS = (
    (
        "brltty",
        ("/usr/bin/brltty", "/sbin/brltty", "/bin/brltty"),
        "brltty takes away boards with a CH340 or CP2102 chip: if nobody here reads Braille, "
        "sudo apt-get remove brltty, then plug the board in again",
    ),
    (
        "ModemManager",
        ("/usr/sbin/ModemManager", "/usr/bin/ModemManager"),
        "ModemManager talks to every new port for some seconds as if it were a modem: if there is no modem here, "
        "sudo systemctl disable --now ModemManager",
    ),
)


def meddlers(programs: tuple[tuple[str, tuple[str, ...], str], ...] = _MEDDLERS) -> list[tuple[str, str]]:
    """Installed programs that reach for boards: name, and what to do."""
    return [(name, remedy) for name, paths, remedy in programs if any(Path(path).exists() for path in paths)]


def stable_names(by_id: Path = BY_ID) -> dict[str, str]:
    """The names that survive a new boot: from the device that each leads to."""
    with contextlib.suppress(OSError):
        return {os.path.realpath(path): str(path) for path in sorted(by_id.iterdir())}
    return {}


def why_not(port: str, by_id: Path = BY_ID) -> str | None:
    """What is wrong with the port itself, and what to do; None where it could be opened."""
    try:
        mode = os.stat(port).st_mode
    except FileNotFoundError:
        return _missing(port, stable_names(by_id))
    except OSError as error:
        return f"{port} cannot be looked at: {(error.strerror or str(error)).lower()}"
    if not stat.S_ISCHR(mode):
        return f"{port} is not a serial port: its name in {BY_ID} is what port = wants"
    if not os.access(port, os.R_OK | os.W_OK):
        return _not_permitted(port)
    return None


def renumbers(port: str, by_id: Path = BY_ID) -> str | None:
    """The advice for a name that can lead to another device after the next boot; None for one that cannot."""
    if _NUMBERED.fullmatch(port) is None:
        return None
    stable = stable_names(by_id).get(port)
    better = f'write port = "{stable}"' if stable else f"take its name in {BY_ID}"
    return f"{port} can be another device after the next boot: {better}"


def who_has(port: str, own: int | None = None) -> str | None:
    """Another program that has the port open ("minicom (process 4711)"), as far as we may see."""
    try:
        device = os.stat(port).st_rdev
    except OSError:
        return None
    for process in _processes(os.getpid() if own is None else own):
        with contextlib.suppress(OSError):
            for entry in (process / "fd").iterdir():
                with contextlib.suppress(OSError):
                    found = entry.stat()
                    if stat.S_ISCHR(found.st_mode) and found.st_rdev == device:
                        name = (process / "comm").read_text("utf-8", "replace").strip()
                        return f"{name} (process {process.name})"
    return None


def _processes(own: int) -> Iterator[Path]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != own:
            yield entry


def _missing(port: str, names: dict[str, str]) -> str:
    others = list(names.values())
    if not others:
        there = "no USB serial port is there at all: is the board plugged in, with a cable that carries data?"
    elif len(others) == 1:
        there = f'there is one other: is it this board? Then write port = "{others[0]}"'
    else:
        there = f"is the board plugged in? There are {', '.join(others)}"
    taken = "".join(f"; {remedy}" for name, remedy in meddlers() if name == "brltty" and not others)
    return f"{port} is not there; {there}{taken}"


def _not_permitted(port: str) -> str:
    owner = os.stat(port).st_gid
    user = _user()
    try:
        group = grp.getgrgid(owner).gr_name
    except KeyError:
        group = str(owner)
    if os.stat(port).st_mode & (stat.S_IRGRP | stat.S_IWGRP) and group != "root":
        return f"{port} may not be opened by {user}: sudo usermod -a -G {group} {user}, then log in again"
    return f"{port} may not be opened by {user}: only root may (group {group}), so a udev rule must let a group in"


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
