"""The shipped unit under a real systemd, as its own user, locked down as it is: started, killed, restarted."""

import re
import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.systemd.machine import PYTHON, ROOT, CannotBootError, Machine, until

pytestmark = [pytest.mark.real, pytest.mark.slow]

UNIT = "pocketbeam"
PROGRAM = "/opt/pocketbeam/bin/pocketbeam"
CONFIG = "/etc/pocketbeam/table.toml"
TABLE = """\
[table]
id = "t1"
game = "club_carrom"
[[sources]]
id = "board"
kind = "serial"
port = "/dev/board"
[[beams]]
id = "ne"
source = "board"
channel = 0
place = "ne"
[web]
listen = "127.0.0.1:8080"
"""
BOARD = """\
import asyncio, os, shutil, time
from pathlib import Path
from sim.layout import layout_of
from sim.mcu import Mcu
from sim.wire import PtyMcu

def now_us():
    return time.monotonic_ns() // 1_000

async def main():
    line = PtyMcu(Mcu(24, 0x5EED, now_us(), levels=layout_of("club_carrom").idle_levels()), Path("/dev/board"), now_us)
    line.start()
    port = os.path.realpath("/dev/board")
    os.chmod(port, 0o600)
    print("closed", flush=True)
    await asyncio.to_thread(input)
    shutil.chown(port, "root", "dialout")
    os.chmod(port, 0o660)
    print("open", flush=True)
    await asyncio.sleep(3600)

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    booted = Machine(tmp_path_factory.mktemp("machine"))
    try:
        booted.boot()
    except CannotBootError as error:
        pytest.skip(str(error))
    try:
        yield booted
    finally:
        booted.power_off()


@pytest.fixture
def installed(machine: Machine) -> Iterator[Machine]:
    """The product installed and configured, and not running."""
    machine.did(PROGRAM, "install")
    machine.write(CONFIG, TABLE)
    # The pauses are as shipped; a test cannot wait for half a minute.
    machine.write(f"/etc/systemd/system/{UNIT}.service.d/watchdog.conf", "[Service]\nWatchdogSec=3s\n")
    machine.did("systemctl", "daemon-reload")
    yield machine
    machine.run("systemctl", "stop", UNIT)


def main_pid(machine: Machine) -> str:
    return machine.show(UNIT, "MainPID")


def test_it_starts_without_network_broker_and_board_as_its_own_user_and_stops_in_order(installed: Machine) -> None:
    installed.did("systemctl", "start", UNIT)
    assert installed.show(UNIT, "ActiveState") == "active"
    status = installed.show(UNIT, "StatusText")
    assert "/dev/board is not there" in status
    assert "127.0.0.1:1883" in status
    found = installed.did("cat", f"/proc/{main_pid(installed)}/status")
    user = installed.did("id", "-u", "pocketbeam").strip()
    groups = {installed.did("getent", "group", name).split(":")[2] for name in ("pocketbeam", "dialout", "gpio")}
    fields = dict(line.split(":", 1) for line in found.splitlines())
    assert set(fields["Uid"].split()) == {user}
    assert set(fields["Groups"].split()) == groups
    assert set(fields["CapBnd"].split()) == {"0" * 16}
    owner = installed.did("stat", "-c", "%U %a", "/var/lib/pocketbeam").split()
    assert owner == ["pocketbeam", "750"]
    assert "refused" not in installed.log(UNIT)

    installed.did("systemctl", "stop", UNIT)
    assert installed.show(UNIT, "Result") == "success"
    assert installed.show(UNIT, "ExecMainStatus") == "0"
    assert "Traceback" not in installed.log(UNIT)


def test_installing_again_while_it_runs_disturbs_nothing(installed: Machine) -> None:
    installed.did("systemctl", "start", UNIT)
    before = main_pid(installed)
    said = installed.did(PROGRAM, "install")
    assert "write" not in said
    assert main_pid(installed) == before
    assert installed.show(UNIT, "NeedDaemonReload") == "no"


def test_two_tables_have_an_instance_each(installed: Machine) -> None:
    for name in ("left", "right"):
        installed.write(f"/etc/pocketbeam/{name}.toml", TABLE.replace('"t1"', f'"{name}"').split("[web]")[0])
        installed.did("systemctl", "start", f"pocketbeam@{name}")
    assert "table left" in installed.show("pocketbeam@left", "StatusText")
    assert "table right" in installed.show("pocketbeam@right", "StatusText")
    for name in ("left", "right"):
        installed.did("systemctl", "stop", f"pocketbeam@{name}")


def test_a_hung_loop_is_killed_by_the_watchdog_and_started_again(installed: Machine) -> None:
    installed.did("systemctl", "start", UNIT)
    first = main_pid(installed)
    installed.did("kill", "-STOP", first)
    until(
        lambda: main_pid(installed) not in ("0", first) and installed.show(UNIT, "ActiveState") == "active", within_s=40
    )
    said = installed.log(UNIT)
    assert "Watchdog timeout (limit 3s)!" in said
    assert f"Killing process {first}" in said
    assert "Fatal Python error: Aborted" in said, "the log does not say where it hung"
    assert int(installed.show(UNIT, "NRestarts")) >= 1


def test_pauses_grow_while_it_fails_and_a_restart_by_hand_does_not_wait(installed: Machine) -> None:
    installed.did("systemctl", "stop", UNIT)
    installed.write(CONFIG, "nothing")
    before = len(installed.log(UNIT))
    assert installed.run("systemctl", "start", UNIT).returncode != 0

    def pauses_s() -> list[int]:
        return [int(pause) for pause in re.findall(r"the next start is in (\d+) s", installed.log(UNIT)[before:])]

    until(lambda: len(pauses_s()) >= 4, within_s=60)
    assert pauses_s()[:4] == [1, 2, 4, 8]
    installed.write(CONFIG, TABLE)
    began_s = time.monotonic()
    installed.did("systemctl", "restart", UNIT)
    took_s = time.monotonic() - began_s
    assert installed.show(UNIT, "ActiveState") == "active"
    assert took_s < 7, "it waited for the pause"
    assert installed.run("cat", f"/run/{UNIT}/failures").returncode != 0


def test_a_port_that_it_may_open_only_later_is_in_service_within_three_seconds(installed: Machine) -> None:
    """FR-107."""
    board = subprocess.Popen(
        installed.command(
            "env",
            "LD_LIBRARY_PATH=/opt/python/lib",
            "PYTHONPATH=/opt/pocketbeam/source",
            "/opt/pocketbeam/bin/python",
            "-c",
            BOARD,
        ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert board.stdin is not None
    assert board.stdout is not None
    try:
        assert board.stdout.readline() == "closed\n"
        installed.did("systemctl", "start", UNIT)
        began_s = time.monotonic()
        assert "/dev/board may not be opened" in installed.show(UNIT, "StatusText")
        until(lambda: time.monotonic() > began_s + 5, within_s=6)
        assert "table t1, source board: connected" not in installed.log(UNIT)
        board.stdin.write("\n")
        board.stdin.flush()
        assert board.stdout.readline() == "open\n"
        # Three seconds, and one for the program that asks.
        until(lambda: "table t1, source board: connected" in installed.log(UNIT), within_s=4)
    finally:
        board.kill()
        board.wait()
        board.stdin.close()
        board.stdout.close()


LINK_UP = """\
import fcntl, socket, struct
SET_FLAGS, UP_AND_RUNNING = 0x8914, 0x41
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh14x", b"lo", UP_AND_RUNNING))
"""


def test_without_a_link_and_then_without_a_broker_it_is_in_service_and_finds_the_broker(installed: Machine) -> None:
    """FR-104. Two waits of 12 s: by then the pauses between attempts are as long as they get."""
    installed.did("systemctl", "start", UNIT)
    first = main_pid(installed)

    def stays_in_service(seconds: float) -> None:
        ends_s = time.monotonic() + seconds
        until(lambda: time.monotonic() > ends_s, within_s=seconds + 1)
        assert installed.show(UNIT, "ActiveState") == "active"
        assert main_pid(installed) == first

    stays_in_service(12)
    assert "127.0.0.1:1883" in installed.show(UNIT, "StatusText")
    installed.did("env", "LD_LIBRARY_PATH=/opt/python/lib", f"/opt/python/bin/{PYTHON}", "-c", LINK_UP)
    stays_in_service(12)
    assert "nothing listens at 127.0.0.1:1883" in installed.show(UNIT, "StatusText")
    installed.did("systemctl", "start", "mosquitto")
    # Ten seconds, and the second until the status is told.
    until(lambda: "127.0.0.1:1883" not in installed.show(UNIT, "StatusText"), within_s=11)
    assert main_pid(installed) == first
    assert installed.show(UNIT, "NRestarts") == "0"


def test_the_rules_for_devices_can_be_read(installed: Machine) -> None:
    said = installed.run("udevadm", "test", "/sys/devices/virtual/mem/null")
    read = [line for line in (said.stdout + said.stderr).splitlines() if "70-pocketbeam.rules" in line]
    assert read == ["Reading rules file: /etc/udev/rules.d/70-pocketbeam.rules"]


def test_uninstalling_as_the_page_says_leaves_the_owners_files_and_nothing_else(machine: Machine) -> None:
    page = (ROOT / "docs" / "installing.md").read_text("utf-8")
    (commands,) = re.findall(r"^## Uninstalling\n\n```sh\n(.*?)```", page, re.MULTILINE | re.DOTALL)
    machine.did(PROGRAM, "install")
    machine.write(CONFIG, TABLE)
    machine.write("/etc/pocketbeam/left.toml", TABLE.replace('"t1"', '"left"').split("[web]")[0])
    machine.did("systemctl", "enable", "--now", UNIT, "pocketbeam@left")
    assert machine.run("systemctl", "is-enabled", "pocketbeam@left").stdout == "enabled\n"
    here = [line for line in commands.splitlines() if "/opt/" not in line]  # /opt is this test's own
    machine.did("ln", "-sf", PROGRAM, "/usr/local/bin/pocketbeam")
    machine.did("sh", "-ec", "\n".join(here).replace("sudo ", ""))
    left = machine.did("find", "/etc", "/usr/local", "/run/systemd/units", "-name", "*pocketbeam*").splitlines()
    assert sorted(left) == ["/etc/pocketbeam", f"/etc/systemd/system/{UNIT}.service.d"]
    assert machine.run("systemctl", "is-active", UNIT).stdout == "inactive\n"
    machine.did("test", "-d", "/var/lib/pocketbeam/left")
