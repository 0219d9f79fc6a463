"""The numbers of one boot: wrapped and unwrapped, taken, durable, missing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.link.ledger import SEQ_WRAP, Ledger


@given(st.integers(0, 10 * SEQ_WRAP), st.integers(-32_768, 32_767))
def test_a_wire_number_is_the_nearest_to_what_is_expected(expected: int, away: int):
    assert Ledger(expected).unwrap((expected + away) % SEQ_WRAP) == expected + away


def take(ledger: Ledger, kinds: str) -> None:
    """Take entries: `e` with an identity, `n` nameless."""
    for kind in kinds:
        ledger.take(nameless=kind == "n")


@pytest.mark.parametrize(
    ("kinds", "acknowledged", "durable"),
    [
        ("eee", [], 100),
        ("eee", [102], 102),
        ("eee", [102, 101], 102),
        ("eee", [200], 103),
        ("nnn", [], 103),
        ("enne", [], 100),
        ("enne", [101], 103),
        ("enne", [104], 104),
        ("enen", [101], 102),
        ("enen", [101, 103], 104),
    ],
)
def test_durable_never_goes_back_and_takes_nameless_entries_along(kinds: str, acknowledged: list[int], durable: int):
    ledger = Ledger(100)
    take(ledger, kinds)
    for number in acknowledged:
        ledger.make_durable(number)
    assert ledger.durable == durable
    assert ledger.expected == 100 + len(kinds)


def test_missing_is_what_was_announced_and_has_not_come():
    ledger = Ledger(5)
    ledger.announce(9)
    ledger.announce(7)
    assert ledger.missing == 4
    take(ledger, "ee")
    assert ledger.missing == 2


def test_what_the_board_no_longer_has_is_given_up():
    ledger = Ledger(5)
    ledger.announce(20)
    assert ledger.skip_to(12) == 7
    assert (ledger.expected, ledger.durable, ledger.missing) == (12, 12, 8)
