"""The table of `docs/hall.md` is what the suite says."""

from pathlib import Path

from tests.brokers.cases import table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "hall.md"


def test_the_page_has_the_table_of_the_suite() -> None:
    assert table() in PAGE.read_text("utf-8"), f"put this into {PAGE.name}:\n{table()}"
