"""One table of passages: whichever way they come in, they are counted as the table says."""

import pytest

from tests.support.passage_runs import SOURCES
from tests.support.passages import Case, read_cases


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("case", read_cases(), ids=lambda case: case.name)
def test_passages_are_counted_as_the_table_says(case: Case, source: str) -> None:
    assert SOURCES[source](case) == dict(case.counted)
