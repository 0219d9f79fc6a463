"""A real systemd for a test, in namespaces of its own (see `boot`), with the product in /opt/pocketbeam.

It needs root, a cgroup file system of version 2 and an overlay file system. Where one of them is missing, as in
an unprivileged container, `Machine.boot` says which.
"""

import contextlib
import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BOOT = Path(__file__).with_name("boot")
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
POCKETBEAM = """#!/bin/sh
LD_LIBRARY_PATH=/opt/python/lib PYTHONPATH=/opt/pocketbeam/source exec /opt/pocketbeam/bin/python -m appliance "$@"
"""


class CannotBootError(Exception):
    """This machine cannot give a test a systemd; the message says why."""


class Machine:
    """One booted systemd; use `boot` and `power_off`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._mounts = directory / "mounts"
        self._cgroups = directory / "cgroups"
        self._cgroup = self._cgroups / f"pocketbeam-test-{os.getpid()}"
        self._outside: subprocess.Popen[bytes] | None = None
        self._first_process = 0

    def boot(self) -> None:
        """Boot; CannotBootError where that is not possible here."""
        if os.geteuid() != 0:
            raise CannotBootError("only root can boot a systemd in namespaces")
        for each in (self._mounts, self._cgroups):
            each.mkdir()
        if subprocess.run(["mount", "-t", "cgroup2", "cgroup2", self._cgroups], capture_output=True).returncode:
            raise CannotBootError("there are no cgroups of version 2 here, or they may not be mounted")
        try:
            self._cgroup.mkdir()
            self._begin()
        except (OSError, CannotBootError) as error:
            self.power_off()
            raise CannotBootError(str(error)) from error

    def _begin(self) -> None:
        log = self._directory / "boot.log"
        base = sys.base_prefix
        packages = sysconfig.get_path("purelib")
        with log.open("wb") as out:
            self._outside = subprocess.Popen(
                [BOOT, self._mounts, self._cgroup, packages, ROOT, base],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )
        children = Path(f"/proc/{self._outside.pid}/task/{self._outside.pid}/children")

        def is_up() -> bool:
            assert self._outside is not None
            if self._outside.poll() is not None:
                raise CannotBootError(
                    f"no systemd boots in namespaces here: {log.read_text('utf-8', 'replace')[-300:]}"
                )
            if not children.read_text().split():
                return False
            self._first_process = int(children.read_text().split()[0])
            # Before that it is still the script, in part outside.
            if Path(f"/proc/{self._first_process}/comm").read_text().strip() != "systemd":
                return False
            return self.run("systemctl", "is-system-running").stdout.strip() in ("running", "degraded")

        until(is_up, within_s=60)
        # A virtual environment, on whatever Python runs the tests.
        self.write("/opt/pocketbeam/pyvenv.cfg", "home = /opt/python/bin\n")
        self.did("ln", "-s", f"/opt/python/bin/{PYTHON}", "/opt/pocketbeam/bin/python")
        self.did("mkdir", f"/opt/pocketbeam/lib/{PYTHON}")
        self.did("ln", "-s", "../packages", f"/opt/pocketbeam/lib/{PYTHON}/site-packages")
        self.write("/opt/pocketbeam/bin/pocketbeam", POCKETBEAM, mode=0o755)

    def power_off(self) -> None:
        """End all of it."""
        if self._outside is not None:
            self._outside.kill()
            self._outside.wait()
        with contextlib.suppress(AssertionError):
            until(self._remove_cgroups, within_s=10)
        subprocess.run(["umount", self._cgroups], check=False, capture_output=True)

    def _remove_cgroups(self) -> bool:
        for each, _, _ in os.walk(self._cgroup, topdown=False):
            try:
                os.rmdir(each)
            except OSError:
                return False
        return True

    def command(self, *arguments: str) -> list[str]:
        """The command line that runs `arguments` in the machine, as root."""
        enter = ["nsenter", "-t", str(self._first_process), "-m", "-p", "-u", "-i", "-n", "-C"]
        return [*enter, "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *arguments]

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run something in the machine to its end."""
        return subprocess.run(
            self.command(*arguments), input=stdin, capture_output=True, text=True, timeout=90, check=False
        )

    def did(self, *arguments: str, stdin: str = "") -> str:
        """The output of what went well."""
        ended = self.run(*arguments, stdin=stdin)
        assert ended.returncode == 0, f"{arguments}: {ended.stdout}{ended.stderr}"
        return ended.stdout

    def write(self, path: str, text: str, *, mode: int = 0o644) -> None:
        """A file in the machine."""
        self.did("sh", "-c", f'mkdir -p "$(dirname {path})" && cat >{path} && chmod {mode:o} {path}', stdin=text)

    def show(self, unit: str, name: str) -> str:
        """A property of a unit."""
        return self.did("systemctl", "show", "--value", "-p", name, unit).strip()

    def log(self, unit: str) -> str:
        """What the unit has said since the machine was booted."""
        return self.did("journalctl", "--no-pager", "-o", "cat", "-u", unit)


def until(condition: Callable[[], object], within_s: float) -> None:
    """Wait for a condition."""
    deadline_s = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline_s, f"not within {within_s} s"
        time.sleep(0.05)
