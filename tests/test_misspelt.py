"""A name that nobody knows, and the one that was meant."""

import pytest

from appliance.misspelt import meant

NAMES = ("club_carrom", "new_carrom", "money_carrom", "carpetball")


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("carpetball", "carpetball"),
        ("carpet_ball", "carpetball"),
        ("club-carom", "club_carrom"),
        ("snooker", None),
        ("", None),
    ],
)
def test_the_nearest_name_is_meant_or_none(word: str, name: str | None) -> None:
    assert meant(word, NAMES) == name
