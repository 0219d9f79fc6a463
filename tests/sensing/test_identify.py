"""Narrowing: from everything that a beam can pass to what is left."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.sensing.identify import (
    CARROM_OBJECTS,
    exclude_by_colour,
    narrow,
    objects_of,
    take,
)

SETS = st.lists(st.sampled_from(CARROM_OBJECTS), unique=True)
LEFT = st.dictionaries(st.sampled_from(CARROM_OBJECTS), st.integers(0, 9))


@pytest.mark.parametrize("game", ["money_carrom", "club_carrom", "new_carrom"])
def test_objects_of_carrom(game):
    assert set(objects_of(game)) == {"white", "black", "queen", "striker"}


def test_objects_of_carpetball():
    assert set(objects_of("carpetball")) == {"ball", "cue"}


def test_a_colour_settles_it():
    assert exclude_by_colour(("white", "black", "queen", "striker"), "black") == ("black",)


def test_a_colour_that_the_beam_cannot_pass_tells_nothing():
    assert exclude_by_colour(("striker",), "white") == ("striker",)
    assert exclude_by_colour(("white", "black"), "queen") == ("white", "black")


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        ({"white": 3, "black": 0, "queen": 0, "striker": 1}, ("white", "striker")),
        ({"white": 1}, ("white",)),
        ({"white": 0, "black": 0, "queen": 0, "striker": 0}, ()),
        ({}, ()),
    ],
)
def test_what_is_not_left_cannot_have_fallen(left, expected):
    assert narrow(("white", "black", "queen", "striker"), left) == expected


@given(SETS, LEFT, st.sampled_from(CARROM_OBJECTS))
def test_narrowing_never_widens_and_does_not_depend_on_the_order_of_its_steps(candidates, left, seen):
    narrowed = narrow(candidates, left)
    assert [c for c in candidates if c in narrowed] == list(narrowed)
    assert all(left[c] > 0 for c in narrowed)
    assert narrow(narrowed, left) == narrowed
    coloured = exclude_by_colour(candidates, seen)
    assert set(coloured) <= set(candidates)
    assert bool(coloured) == bool(candidates)


@given(LEFT, st.sampled_from(CARROM_OBJECTS))
def test_taking_takes_one_of_that_and_no_more(left, taken):
    after = take(left, taken)
    assert {name: count for name, count in after.items() if name != taken} == {
        name: count for name, count in left.items() if name != taken
    }
    if taken in left:
        assert after[taken] == max(0, left[taken] - 1)
    else:
        assert taken not in after


def test_two_discs_are_not_the_same_one():
    left = {"white": 1, "striker": 1}
    assert narrow(("white", "striker"), take(left, "white")) == ("striker",)
