"""What is kept of a noisy beam: sums that are exact, soon enough for a board, and never two under one name."""

import pytest

from appliance.events import Chatter, Edge, EdgeId
from appliance.sensing.debounce import CARROM_POCKET, MS, SECOND
from appliance.sensing.noise import Noise
from appliance.sensing.quarantine import HELD, Quarantine

NOISY_NS, LAST_PULSE_NS = 7, 9


def noise() -> Noise:
    return Noise(CARROM_POCKET, since_ns=NOISY_NS, _last_ns=LAST_PULSE_NS)


class Wire:
    """A noisy wire; `numbered`: at a board, which numbers what it tells."""

    def __init__(self, quarantine: Quarantine, channel: int = 0, *, numbered: bool = True) -> None:
        self.quarantine, self.channel, self.numbered, self.active, self.said = quarantine, channel, numbered, False, 0

    def changes(self, at_ns: int, number: int | None = None) -> None:
        self.active = not self.active
        self.said += 1
        identity = EdgeId(5, self.said if number is None else number) if self.numbered else None
        edge = Edge("board", self.channel, int(self.active), at_ns, identity)
        self.quarantine.add(edge, noise(), active=self.active)


def test_a_sum_says_how_many_from_when_to_when_and_how_long_the_beam_was_broken() -> None:
    quarantine = Quarantine()
    wire = Wire(quarantine)
    for at_ms in (100, 102, 105, 112, 113):  # broken for 2 ms, then for 7, and again
        wire.changes(at_ms * MS)
    assert quarantine.take() == [
        Chatter("board", 0, 1, 100 * MS, 113 * MS, 5, 2 * MS, 7 * MS, NOISY_NS, LAST_PULSE_NS, EdgeId(5, 5))
    ]
    assert quarantine.take() == []


def test_it_grows_until_its_minute_is_over() -> None:
    quarantine = Quarantine()
    wire = Wire(quarantine)
    wire.changes(0)
    first = quarantine.take()
    wire.changes(59 * SECOND)
    (grown,) = quarantine.take()
    assert ([each.edges for each in first], grown.edges, grown.at_ns, grown.until_ns) == ([1], 2, 0, 59 * SECOND)
    wire.changes(59 * SECOND + 1)
    wire.changes(60 * SECOND)
    assert quarantine.is_due("board", 60 * SECOND)
    old, new = quarantine.take()
    assert (old.at_ns, old.edges, old.until_ns) == (0, 3, 59 * SECOND + 1)
    assert (new.at_ns, new.edges, new.until_ns) == (60 * SECOND, 1, 60 * SECOND)
    assert new.longest_ns == SECOND - 1, "a break that went on from one into the other"


def test_a_board_waits_for_a_tenth_of_a_second_or_a_quarter_of_its_memory() -> None:
    quarantine = Quarantine()
    wire = Wire(quarantine)
    wire.changes(0)
    assert not quarantine.is_due("board", 99 * MS)
    assert quarantine.is_due("board", 100 * MS)
    assert quarantine.is_due("board", 1, pause=True)
    assert not quarantine.is_due("another", SECOND, pause=True)
    other = Wire(quarantine, 3)
    for n in range(HELD - 2):
        other.changes(n)
    assert not quarantine.is_due("board", HELD)
    wire.changes(HELD)
    assert quarantine.is_due("board", HELD), "both channels are in the same memory"
    quarantine.take("board")
    assert not quarantine.is_due("board", SECOND, pause=True)


def test_a_pin_waits_for_a_second() -> None:
    quarantine = Quarantine()
    wire = Wire(quarantine, numbered=False)
    for n in range(10 * HELD):
        wire.changes(n)
    assert not quarantine.is_due("board", 999 * MS, pause=True)
    assert quarantine.is_due("board", SECOND)


def test_what_came_last_is_handed_over_last() -> None:
    quarantine = Quarantine()
    one, two = Wire(quarantine, 1), Wire(quarantine, 2)
    one.changes(10, number=1)
    two.changes(11, number=2)
    one.changes(12, number=3)
    assert [(each.channel, each.identity) for each in quarantine.take()] == [(2, EdgeId(5, 2)), (1, EdgeId(5, 3))]


@pytest.mark.parametrize("is_restart", [False, True])
def test_no_two_stretches_begin_at_one_moment(is_restart: bool) -> None:
    quarantine = Quarantine()
    Wire(quarantine).changes(500)
    (first,) = quarantine.take()
    if is_restart:
        quarantine = Quarantine()
        quarantine.resume(first)
    quarantine.end("board")
    Wire(quarantine).changes(500)
    (second,) = quarantine.take()
    assert (first.at_ns, second.at_ns, second.until_ns) == (500, 501, 501)


def test_an_end_loses_nothing_that_is_held() -> None:
    quarantine = Quarantine()
    Wire(quarantine, 1).changes(1)
    Wire(quarantine, 2).changes(2, number=2)
    quarantine.end("board", 1)
    assert quarantine.is_due("board", 2)
    assert [(each.channel, each.edges) for each in quarantine.take("board")] == [(1, 1), (2, 1)]
