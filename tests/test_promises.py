"""Every promise names its test, and the tests that are named are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "promises.md").read_text("utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| promise |")]
NAMED = re.compile(r"`(tests/[\w/.]+)(?:::(\w+))?`")


def test_there_are_promises() -> None:
    assert len(ROWS) > 30


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[2:60])
def test_a_promise_is_shown_by_tests_that_are_there(row: str) -> None:
    promise, fault, shown_by = (cell.strip() for cell in row.strip("| ").split(" | "))
    assert promise
    assert fault
    named = NAMED.findall(shown_by)
    assert named, "no test is named"
    for path, name in named:
        assert (ROOT / path).exists(), path
        if name:
            text = (ROOT / path).read_text("utf-8")
            assert re.search(rf"^\s*(?:async )?(?:def|class) {name}\b", text, re.MULTILINE), f"{path} has no {name}"
        else:
            assert (ROOT / path).is_dir() or "def test_" in (ROOT / path).read_text("utf-8") or "bench" in path
