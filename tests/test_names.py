"""What a player may be called."""

import pytest

from appliance.names import beside_numbers, name_fault
from tests.security.hostile import NAMES, Name


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name.name)[:40])
def test_a_name_is_taken_or_refused_with_a_reason(name: Name) -> None:
    assert (name_fault(name.name) is None) == name.taken


@pytest.mark.parametrize("turning", "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
def test_what_turns_the_direction_of_its_neighbours_is_refused(turning: str) -> None:
    assert "turn the direction" in (name_fault(f"A{turning}") or "")


@pytest.mark.parametrize("name", ["Asha", "\u200fAsha", "אשה", "<b>", "🙂", "x" * 40])
def test_a_taken_name_is_shown_as_it_is_or_apart(name: str) -> None:
    assert name_fault(name) is None
    assert beside_numbers(name).strip("\u2068\u2069") == name
