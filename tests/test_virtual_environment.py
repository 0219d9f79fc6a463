"""The virtual environment of a clone that was moved or copied is noticed, and made anew."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = Path("tools", "virtual-environment")

pytestmark = pytest.mark.real


def ran(clone: Path, *command: str) -> str:
    # Under the tests' own `make` it would not be one that begins.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        command, cwd=clone, env=environment, check=True, timeout=120, capture_output=True, text=True
    ).stdout


def is_useless(clone: Path) -> bool:
    said = ran(clone, str(SCRIPT), "--is-useless", ".venv")
    assert said in ("", "yes\n")
    return said == "yes\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone as `make` leaves it, but for what is installed; its name has a space."""
    clone = tmp_path_factory.mktemp("clones") / "the first"
    (clone / "tools").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", str(SCRIPT)):
        shutil.copy(ROOT / name, clone / name)
    assert not is_useless(clone), "there is none yet"
    assert ran(clone, str(SCRIPT), sys.executable, ".venv") == ""
    (clone / ".venv" / ".demo").touch()
    return clone


@pytest.fixture
def moved(made: Path) -> Iterator[Path]:
    """The clone under a longer name, which begins like the old one; it is moved back in the end."""
    clone = made.rename(made.with_name(f"{made.name} of all"))
    yield clone
    clone.rename(made)


def test_one_that_stays_is_used_as_it_is(made: Path) -> None:
    assert not is_useless(made)
    assert "Installing" not in ran(made, "make", "--dry-run", "demo")


def test_one_that_was_moved_is_noticed(moved: Path) -> None:
    assert is_useless(moved)
    would_do = ran(moved, "make", "--dry-run", "demo")
    assert (
        would_do.index("tools/virtual-environment") < would_do.index("--editable") < would_do.index("pocketbeam demo")
    )


def test_one_that_was_moved_back_is_used_again(made: Path) -> None:
    assert not is_useless(made)


def test_a_copy_is_made_anew_with_a_word_about_it_and_the_first_one_stays(made: Path) -> None:
    copy = made.with_name("copy")
    shutil.copytree(made, copy, symlinks=True)
    assert is_useless(copy)
    said = ran(copy, str(SCRIPT), sys.executable, ".venv")
    assert said == "What is in .venv was made in another place, or for a Python that is gone: it is made anew.\n"
    assert not is_useless(copy)
    assert not (copy / ".venv" / ".demo").exists()
    assert not is_useless(made)


def test_one_whose_python_is_gone_is_noticed(made: Path) -> None:
    python = made / ".venv" / "bin" / "python"
    python.rename(python.with_name("elsewhere"))
    try:
        python.symlink_to(made / "no" / "python")
        assert is_useless(made)
    finally:
        python.unlink(missing_ok=True)
        python.with_name("elsewhere").rename(python)
