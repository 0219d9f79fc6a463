"""The check of the repository counts what its tests did, and a run that broke off is not taken for a good one."""

import importlib.util
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def check() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check", ROOT / "tools" / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TESTS = """
import pytest
def test_good(): pass
def test_good_too(): pass
def test_bad(): assert False
@pytest.mark.skip
def test_skipped(): pass
@pytest.fixture
def broken(): raise OSError
def test_error(broken): pass
"""


@pytest.mark.real
def test_the_totals_are_those_of_pytest(check: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    results = tmp_path / "results.xml"
    command = [sys.executable, "-m", "pytest", f"--junit-xml={results}", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 1
    assert check.counted(results) == Counter(passed=2, failed=1, skipped=1, errors=1)


def test_a_run_without_results_is_an_error(check: ModuleType, tmp_path: Path) -> None:
    assert check.counted(tmp_path / "nothing.xml") == Counter(errors=1)
