"""A few lines of many, and the count of the others."""

from appliance.sparing import PER_MINUTE, Sparing

S = 1_000_000_000


def test_the_first_of_a_minute_are_said_and_the_others_counted() -> None:
    sparing = Sparing()
    assert [sparing.unsaid_before(n * S // 1000) for n in range(PER_MINUTE + 90)] == [0] * PER_MINUTE + [None] * 90
    assert sparing.unsaid_before(59 * S) is None
    assert [sparing.unsaid_before(60 * S), sparing.unsaid_before(61 * S)] == [91, 0]


def test_what_is_rare_is_always_said() -> None:
    sparing = Sparing()
    assert {sparing.unsaid_before(n * 7 * S) for n in range(1_000)} == {0}
