"""The repository itself: what its pages promise is there, and nothing of the machine that it was made on."""

import re
import tomllib
from pathlib import Path

import pytest

from appliance import __version__
from appliance.cli.commands import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
README = (ROOT / "README.md").read_text("utf-8")


def _files() -> list[Path]:
    """Everything but what tools leave behind."""
    left_behind = re.compile(r"\.(git|venv|\w+_cache|hypothesis|make)|__pycache__|build|dist|.*\.egg-info")
    return [
        path
        for path in ROOT.rglob("*")
        if path.is_file() and not any(left_behind.fullmatch(part) for part in path.relative_to(ROOT).parts)
    ]


FILES = _files()
PAGES = [path for path in FILES if path.suffix == ".md"]


def test_the_layout_is_there() -> None:
    for directory in ["appliance", "sim", "firmware", "systemd", "tests", "docs", "examples", "tools"]:
        assert (ROOT / directory).is_dir(), directory
    for layer in ["config", "sensing", "rules", "table", "link", "sources", "journal", "mqtt", "web"]:
        assert (ROOT / "appliance" / layer / "__init__.py").is_file(), layer
    for file in ["LICENSE", "README.md", "wiring.md", "Makefile", ".ci/run"]:
        assert (ROOT / file).is_file(), file


def test_the_version_is_one() -> None:
    assert PROJECT["project"]["version"] == __version__


def test_the_licence_is_mit() -> None:
    assert PROJECT["project"]["license"] == "MIT"
    assert (ROOT / "LICENSE").read_text("utf-8").startswith("MIT License")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_in_a_page_leads_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_commands_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    named = set(re.findall(r"pocketbeam ([a-z][a-z-]+)", README))
    assert named == {command.name for command in COMMANDS}


def test_the_packages_of_the_readme_are_those_that_are_installed() -> None:
    script = (ROOT / "tools" / "debian-packages").read_text("utf-8")
    packages = re.search(r"for package in ([a-z -]+);", script)
    assert packages is not None
    assert all(f"`{package}`" in README for package in packages.group(1).split())


def test_scripts_can_be_run() -> None:
    for path in FILES:
        if path.read_bytes()[:2] == b"#!":
            assert path.stat().st_mode & 0o111, path


def test_nothing_names_a_machine_or_a_registry() -> None:
    telling = re.compile(rb"/home/[a-z]|/(root|Users|work)/|index[-]url|pypi[.]org|registry[.]npmjs")
    for path in FILES:
        found = telling.search(path.read_bytes())
        assert found is None, f"{path.relative_to(ROOT)}: {found}"


def test_only_the_clock_asks_for_the_time() -> None:
    asking = re.compile(
        r"\btime\.(time|monotonic|perf_counter)(_ns)?\(|\bfrom time import"
        r"|\b(datetime|date)\.(utc)?(now|today)\("
    )
    for path in (ROOT / "appliance").rglob("*.py"):
        found = asking.search(path.read_text("utf-8"))
        assert path.name == "clock.py" or found is None, f"{path.relative_to(ROOT)}: {found}"


def test_every_module_opens_with_its_theory() -> None:
    for package in ("appliance", "sim"):
        for path in (ROOT / package).rglob("*.py"):
            text = path.read_text("utf-8")
            assert not text or text.lstrip().startswith('"""'), path
