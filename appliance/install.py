"""Makes a machine start the tables at boot: unit files, the service's user, device rules, and what goes with them.

The files are those of the directory `systemd`; the units get the path of the program that installs them. Running
it again changes nothing that is as it should be. With `destdir` the files go below that directory as they are, for
packages; nothing is run then.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

SHIPPED_PROGRAM = "/opt/pocketbeam/bin/pocketbeam"
UNITS = ("pocketbeam.service", "pocketbeam@.service")
TARGETS = {
    "pocketbeam.service": "etc/systemd/system/pocketbeam.service",
    "pocketbeam@.service": "etc/systemd/system/pocketbeam@.service",
    "pause": "usr/local/lib/pocketbeam/pause",
    "sysusers.d/pocketbeam.conf": "etc/sysusers.d/pocketbeam.conf",
    "tmpfiles.d/pocketbeam.conf": "etc/tmpfiles.d/pocketbeam.conf",
    "modules-load.d/pocketbeam.conf": "etc/modules-load.d/pocketbeam.conf",
    "udev/70-pocketbeam.rules": "etc/udev/rules.d/70-pocketbeam.rules",
    "journald.conf.d/pocketbeam.conf": "etc/systemd/journald.conf.d/pocketbeam.conf",
}
"""Where each file of the directory `systemd` belongs, from the root of the machine."""
UDEV, SYSTEMD = "/run/udev/control", "/run/systemd/system"
COMMANDS = (
    ("/", "systemd-sysusers", "/etc/sysusers.d/pocketbeam.conf"),
    ("/", "systemd-tmpfiles", "--create", "/etc/tmpfiles.d/pocketbeam.conf"),
    (UDEV, "udevadm", "control", "--reload"),
    (UDEV, "udevadm", "trigger", "--subsystem-match=tty", "--subsystem-match=gpio"),
    (SYSTEMD, "systemctl", "daemon-reload"),
)
"""What makes the files count at once, each with what has to be there for it: an image that is being built has
neither udev nor systemd running, and both read the files when it boots."""
NEXT = """\
Next: put the configuration into /etc/pocketbeam/table.toml, and then
  systemctl enable --now pocketbeam
or, with several tables, each into /etc/pocketbeam/NAME.toml, and then
  systemctl enable --now pocketbeam@NAME"""

_HIDDEN = ("/home", "/root", "/run/user", "/tmp", "/var/tmp")  # the unit sees none of these
_PLAIN_PATH = re.compile(r"/[A-Za-z0-9/._+-]+")


class InstallError(Exception):
    """It cannot be installed; the message is one sentence with the remedy."""


@dataclass(frozen=True, slots=True)
class File:
    """One file as it is to be."""

    path: Path
    text: str
    mode: int

    @property
    def is_there(self) -> bool:
        """Whether it is as it should be already."""
        try:
            return self.path.read_text("utf-8") == self.text and self.path.stat().st_mode & 0o777 == self.mode
        except (OSError, UnicodeDecodeError):
            return False

    def write(self) -> None:
        """Put it in place, whole or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_name(f".{self.path.name}.new")
        new.write_text(self.text, "utf-8")
        new.chmod(self.mode)
        with new.open("rb") as written:
            os.fsync(written.fileno())
        new.replace(self.path)


def files(source: Path, root: Path, program: str) -> tuple[File, ...]:
    """Every file as it is to be below `root`; the units start `program`."""
    made = []
    for name, target in TARGETS.items():
        text = (source / name).read_text("utf-8")
        if name in UNITS:
            text = text.replace(f"ExecStart={SHIPPED_PROGRAM} ", f"ExecStart={program} ")
        made.append(File(root / target, text, 0o755 if text.startswith("#!") else 0o644))
    return tuple(made)


def shipped() -> Path:
    """The directory `systemd`: in an installed package beside the modules, in a checkout beside the package."""
    package = Path(__file__).resolve().parent
    inside = package / "systemd"
    return inside if inside.is_dir() else package.parent / "systemd"


def this_program() -> str:
    """The program that runs now, as the unit is to start it. InstallError where the unit could not."""
    program = Path(sys.executable).with_name("pocketbeam")
    if not program.is_file():
        raise InstallError(f"there is no {program}: install pocketbeam into a virtual environment first")
    for hidden in _HIDDEN:
        if program.is_relative_to(hidden):
            raise InstallError(
                f"the service sees nothing below {hidden}, where {program} is: install pocketbeam into /opt/pocketbeam"
            )
    if not _PLAIN_PATH.fullmatch(str(program)):
        raise InstallError(f"a unit cannot name {program}: install pocketbeam into /opt/pocketbeam")
    return str(program)


def install(destdir: Path | None, *, dry_run: bool, out: TextIO) -> None:
    """Do it, or only say it; every step is told. InstallError with a sentence where it cannot be done."""
    program = SHIPPED_PROGRAM if destdir is not None else this_program()
    if destdir is None and not dry_run and os.geteuid() != 0:
        raise InstallError(f"this needs root: sudo {program} install; or look first, with --dry-run")
    would = "would " if dry_run else ""
    for file in files(shipped(), destdir or Path("/"), program):
        if file.is_there:
            print(f"{file.path} is as it should be", file=out)
            continue
        print(f"{would}write {file.path}", file=out)
        if not dry_run:
            file.write()
    if destdir is not None:
        return
    for needed, *command in COMMANDS:
        if not Path(needed).exists():
            print(f"leave out {' '.join(command)}: there is no {needed}", file=out)
            continue
        print(f"{would}run {' '.join(command)}", file=out, flush=True)
        if not dry_run:
            _run(command)
    print(NEXT, file=out)


def _run(command: list[str]) -> None:
    try:
        ended = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    except FileNotFoundError:
        raise InstallError(f"there is no {command[0]}: this installation is for systemd") from None
    if ended.returncode != 0:
        last = (ended.stderr.strip().splitlines() or [f"exit status {ended.returncode}"])[-1]
        raise InstallError(f"{' '.join(command)} did not go well: {last}")
