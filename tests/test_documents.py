"""The envelope of the documents."""

import pytest

from appliance.documents import instant


@pytest.mark.parametrize(
    ("wall_ns", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (999_999, "1970-01-01T00:00:00.000Z"),
        (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
        (1_700_000_000_123_999_999, "2023-11-14T22:13:20.123Z"),
    ],
)
def test_a_time_is_told_in_utc_to_the_millisecond(wall_ns: int, text: str) -> None:
    assert instant(wall_ns) == text
