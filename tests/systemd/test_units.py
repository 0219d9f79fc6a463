"""The shipped files: how exposed the units leave the service, and that systemd finds nothing wrong with them."""

import difflib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from appliance import cli
from appliance.install import SHIPPED_PROGRAM, TARGETS, UNITS, File, InstallError, files, shipped, this_program

SYSTEMD = Path(__file__).resolve().parents[2] / "systemd"
MOST_EXPOSED = 1.6


def analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    """`systemd-analyze`, with what it says."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.fail("systemd-analyze is not installed: apt-get install systemd")
    return subprocess.run([program, "--no-pager", *arguments], capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def units(tmp_path: Path) -> list[str]:
    """The units as they are installed, an instance for the template, with programs that this machine has."""
    found = []
    for file in files(SYSTEMD, tmp_path, "/bin/true"):
        if file.path.name in UNITS:
            path = tmp_path / file.path.name.replace("@.", "@club-1.")
            path.write_text(file.text.replace("/usr/local/lib/pocketbeam/pause", "/bin/true"), "utf-8")
            found.append(str(path))
    assert len(found) == 2
    return found


@pytest.mark.real
def test_the_units_leave_the_service_hardly_exposed(units: list[str]) -> None:
    for unit in units:
        said = analyze("security", "--offline=true", f"--threshold={MOST_EXPOSED * 10:.0f}", unit)
        exposure = re.search(r"Overall exposure level for \S+: ([0-9.]+)", said.stdout)
        assert exposure is not None, said.stdout + said.stderr
        assert float(exposure.group(1)) <= MOST_EXPOSED
        assert said.returncode == 0


@pytest.mark.real
def test_systemd_finds_nothing_wrong_with_the_units(units: list[str]) -> None:
    for unit in units:
        said = analyze("verify", "--man=no", unit)
        assert (said.returncode, said.stdout + said.stderr) == (0, "")


@pytest.mark.real
def test_the_user_and_the_directories_can_be_made(tmp_path: Path) -> None:
    for file in files(SYSTEMD, tmp_path, SHIPPED_PROGRAM):
        file.write()
    subprocess.run(["systemd-sysusers", f"--root={tmp_path}"], check=True, capture_output=True)
    groups = {line.split(":")[0]: line.split(":")[3] for line in (tmp_path / "etc/group").read_text().splitlines()}
    assert groups["dialout"] == groups["gpio"] == "pocketbeam"
    (user,) = (tmp_path / "etc/passwd").read_text().splitlines()
    assert user.startswith("pocketbeam:")
    assert user.endswith("/nologin")


def test_the_two_units_differ_in_nothing_but_the_configuration() -> None:
    one, many = ((SYSTEMD / name).read_text("utf-8").splitlines() for name in UNITS)
    changed = [line for line in difflib.ndiff(one, many) if line[0] in "+-"]
    assert [line[2:] for line in changed] == [
        "Description=Pocketbeam, the score of a table",
        "Description=Pocketbeam, the score of table %i",
        "ExecStart=/opt/pocketbeam/bin/pocketbeam run --config /etc/pocketbeam/table.toml",
        "ExecStart=/opt/pocketbeam/bin/pocketbeam run --config /etc/pocketbeam/%i.toml",
    ]


def test_every_shipped_file_has_its_place() -> None:
    there = {str(path.relative_to(SYSTEMD)) for path in SYSTEMD.rglob("*") if path.is_file()}
    assert there - {"README.md"} == set(TARGETS)
    assert shipped() == SYSTEMD


def test_the_names_of_generic_chips_reach_for_nobody_elses_device() -> None:
    rules = [
        line for line in (SYSTEMD / "udev/70-pocketbeam.rules").read_text("utf-8").splitlines() if line[:1] not in "#"
    ]
    for vendor in ("1a86", "10c4", "0403"):
        assert not any(vendor in line for line in rules)
    assert any("2341" in line for line in rules)


def test_install_below_a_directory_writes_once_and_runs_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["install", "--destdir", str(tmp_path)]
    assert cli.main([*arguments, "--dry-run"]) == 0
    assert "would write" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []

    assert cli.main(arguments) == 0
    said = capsys.readouterr().out
    assert len(said.splitlines()) == len(TARGETS)
    made = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert made == set(TARGETS.values())
    assert (tmp_path / TARGETS["pause"]).stat().st_mode & 0o777 == 0o755
    assert f"ExecStart={SHIPPED_PROGRAM} run" in (tmp_path / TARGETS["pocketbeam.service"]).read_text("utf-8")

    changed = tmp_path / TARGETS["tmpfiles.d/pocketbeam.conf"]
    changed.write_text("# changed\n", "utf-8")
    assert cli.main(arguments) == 0
    said = capsys.readouterr().out
    assert [line for line in said.splitlines() if line.startswith("write")] == [f"write {changed}"]
    assert changed.read_bytes() == (SYSTEMD / "tmpfiles.d/pocketbeam.conf").read_bytes()


def test_the_units_start_the_program_that_installs_them(tmp_path: Path) -> None:
    units = {file.path.name: file for file in files(SYSTEMD, tmp_path, "/srv/scores/bin/pocketbeam")}
    for name in UNITS:
        (start,) = re.findall(r"^ExecStart=(\S+)", units[name].text, re.MULTILINE)
        assert start == "/srv/scores/bin/pocketbeam"


@pytest.mark.parametrize(
    ("below", "says"),
    [
        ("home", "sees nothing below /home"),
        ("root", "sees nothing below /root"),
        ("var/tmp", "sees nothing below /var/tmp"),
        ("srv/my scores", "cannot name"),
    ],
)
def test_a_program_where_the_service_cannot_see_it_is_refused(
    below: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", str(Path("/", below, "venv", "bin", "python")))
    monkeypatch.setattr(Path, "is_file", lambda path: True)
    with pytest.raises(InstallError, match=says):
        this_program()


def test_without_root_it_says_how(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr("appliance.install.this_program", lambda: SHIPPED_PROGRAM)
    assert cli.main(["install"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"pocketbeam: this needs root: sudo {SHIPPED_PROGRAM} install; or look first, with --dry-run\n"


def test_a_file_is_replaced_whole_and_leaves_nothing_behind(tmp_path: Path) -> None:
    file = File(tmp_path / "a" / "b", "text\n", 0o644)
    assert not file.is_there
    file.write()
    assert file.is_there
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]
    file.path.chmod(0o600)
    assert not file.is_there


def test_the_page_names_every_file_that_is_installed() -> None:
    page = (SYSTEMD.parent / "docs" / "installing.md").read_text("utf-8")
    table, uninstalling = page.split("## 3. ")[0], page.split("## Uninstalling")[1]
    for target in TARGETS.values():
        assert f"`/{target}`" in table
        assert f" /{target}" in uninstalling
