"""What is said of a serial port that cannot be had: each trouble its own sentence with its own remedy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from appliance.tools import ports


@pytest.fixture
def by_id(tmp_path: Path) -> Path:
    names = tmp_path / "by-id"
    names.mkdir()
    return names


def test_a_missing_port_with_no_other_one(tmp_path: Path, by_id: Path) -> None:
    said = ports.why_not(str(tmp_path / "ttyUSB0"), by_id)
    assert said is not None
    assert "is not there; no USB serial port is there at all" in said


def test_a_missing_port_names_the_only_other_one(by_id: Path) -> None:
    (by_id / "usb-1a86_Serial-if00").symlink_to("/dev/null")
    said = ports.why_not("/dev/ttyUSB9", by_id)
    assert said is not None
    assert f'write port = "{by_id}/usb-1a86_Serial-if00"' in said


def test_several_other_ones_are_listed(by_id: Path) -> None:
    for name, device in (("usb-b", "/dev/null"), ("usb-a", "/dev/zero")):
        (by_id / name).symlink_to(device)
    said = ports.why_not("/dev/ttyUSB9", by_id)
    assert said is not None
    assert f"There are {by_id}/usb-a, {by_id}/usb-b" in said


def test_a_file_and_a_directory_are_no_ports(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for path in (file, tmp_path):
        assert "is not a serial port" in str(ports.why_not(str(path)))


def test_without_rights_the_group_to_join_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *arguments: False)
    master, slave = os.openpty()
    try:
        port = os.ttyname(slave)
        os.chmod(port, 0o660)
        said = ports.why_not(port)
        assert said is not None
        assert "may not be opened by" in said
        assert "usermod -a -G" in said or "udev" in said
    finally:
        os.close(master)
        os.close(slave)


def test_a_port_that_can_be_opened_has_nothing_wrong_with_it() -> None:
    master, slave = os.openpty()
    try:
        assert ports.why_not(os.ttyname(slave)) is None
    finally:
        os.close(master)
        os.close(slave)


@pytest.mark.parametrize(
    ("port", "renumbers"),
    [("/dev/ttyUSB0", True), ("/dev/ttyACM12", True), ("/dev/serial/by-id/usb-x", False), ("/dev/ttyAMA0", False)],
)
def test_a_numbered_name_is_advised_against(port: str, renumbers: bool, by_id: Path) -> None:
    assert (ports.renumbers(port, by_id) is not None) is renumbers


def test_the_advice_names_the_stable_name(by_id: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "stable_names", lambda where: {"/dev/ttyUSB0": "/dev/serial/by-id/usb-x"})
    assert 'write port = "/dev/serial/by-id/usb-x"' in str(ports.renumbers("/dev/ttyUSB0", by_id))


def test_programs_that_reach_for_boards_are_named_where_they_are_installed(tmp_path: Path) -> None:
    there = tmp_path / "brltty"
    there.touch()
    programs = (("brltty", ("/nowhere/brltty", str(there)), "remove it"), ("other", ("/nowhere/other",), "stop it"))
    assert ports.meddlers(programs) == [("brltty", "remove it")]


@pytest.mark.real
def test_whoever_has_a_port_open_is_named() -> None:
    master, slave = os.openpty()
    program = "import os, sys; os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY); print(flush=True); sys.stdin.read()"
    try:
        port = os.ttyname(slave)
        os.close(slave)
        with subprocess.Popen(
            [sys.executable, "-c", program, port], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as other:
            assert other.stdout is not None
            other.stdout.readline()
            said = ports.who_has(port)
            other.kill()
        assert said is not None
        assert f"(process {other.pid})" in said
    finally:
        os.close(master)
