"""One of a thing is told otherwise than many."""

import pytest

from appliance.grammar import how_many, there_are, times


@pytest.mark.parametrize(("count", "told"), [(0, "0 points"), (1, "1 point"), (2, "2 points"), (21, "21 points")])
def test_one_and_many_and_none(count: int, told: str) -> None:
    assert how_many(count, "point") == told


def test_what_agrees_with_the_count_goes_with_it() -> None:
    told = [how_many(count, "match is over", "matches are over") for count in (0, 1, 2)]
    assert told == ["0 matches are over", "1 match is over", "2 matches are over"]


def test_how_often() -> None:
    assert [times(count) for count in range(4)] == ["never", "once", "2 times", "3 times"]


def test_which_ones() -> None:
    told = [there_are(names) for names in ((), ("m1",), ("m1", "m2"))]
    assert told == ["there are none", "there is m1", "there are m1, m2"]
