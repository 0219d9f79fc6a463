"""The ordering window: several sources in one order, nothing lost, nothing held up for longer than the window."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.events import Edge, EdgesLost, Levels, SourceBack, SourceInput, SourceLost
from appliance.sensing.ordering import WINDOW_NS, OrderingWindow

MS = 1_000_000


def edge(source: str, at_ms: int) -> Edge:
    return Edge(source, 0, at_ms % 2, at_ms * MS)


class Host:
    """Pushes arrivals in order of arrival, keeps to the window's deadlines, and notes when each came out."""

    def __init__(self) -> None:
        self.window = OrderingWindow()
        self.out: list[tuple[int, SourceInput]] = []

    def arrive(self, item: SourceInput, now_ns: int) -> None:
        self.wait_until(now_ns)
        self.out += [(now_ns, each) for each in self.window.push(item, now_ns)]

    def wait_until(self, now_ns: int) -> None:
        while (deadline_ns := self.window.deadline_ns()) is not None and deadline_ns <= now_ns:
            due = self.window.release(deadline_ns)
            assert due, "a deadline at which nothing is due would be asked for again and again"
            self.out += [(deadline_ns, each) for each in due]

    @property
    def items(self) -> list[SourceInput]:
        return [item for _, item in self.out]


def test_one_source_never_waits():
    window = OrderingWindow()
    for at_ms in (5, 3, 8, 8, 100):
        item = edge("board", at_ms)
        assert window.push(item, 200 * MS) == [item]
    assert window.deadline_ns() is None


def test_an_item_waits_until_the_other_source_has_spoken_of_later():
    host = Host()
    host.arrive(edge("b", 1), 1 * MS)
    host.arrive(edge("a", 10), 10 * MS)
    assert host.items == [edge("b", 1)]
    host.arrive(edge("b", 9), 15 * MS)
    assert host.items == [edge("b", 1), edge("b", 9)]
    host.arrive(edge("b", 12), 16 * MS)
    assert host.items == [edge("b", 1), edge("b", 9), edge("a", 10)]


def test_what_happened_at_the_same_moment_needs_no_waiting():
    window = OrderingWindow()
    window.push(edge("b", 10), 10 * MS)
    assert window.push(edge("a", 10), 11 * MS) == [edge("a", 10)]


def test_a_heartbeat_is_word_enough():
    window = OrderingWindow()
    window.push(edge("b", 1), 1 * MS)
    assert window.push(edge("a", 10), 10 * MS) == []
    word = Levels("b", (), 11 * MS)
    assert window.push(word, 12 * MS) == [edge("a", 10)]
    assert window.release(12 * MS + WINDOW_NS) == [word]


def test_a_silent_source_holds_nothing_up_for_longer_than_the_window():
    window = OrderingWindow()
    window.push(edge("b", 1), 1 * MS)
    assert window.push(edge("a", 10), 12 * MS) == []
    assert window.deadline_ns() == 12 * MS + WINDOW_NS
    assert window.release(12 * MS + WINDOW_NS - 1) == []
    assert window.release(12 * MS + WINDOW_NS) == [edge("a", 10)]


def test_a_source_known_to_be_lost_holds_nothing_up():
    window = OrderingWindow()
    window.push(edge("b", 1), 1 * MS)
    gone = SourceLost("b", "unplugged", 5 * MS)
    window.push(edge("a", 6), 6 * MS)
    assert window.push(gone, 6 * MS) == [gone, edge("a", 6)]
    assert window.push(edge("a", 10), 10 * MS) == [edge("a", 10)]


def test_what_waits_behind_a_later_arrival_is_not_held_up_by_it():
    host = Host()
    for source in "abc":
        host.arrive(edge(source, 1), 1 * MS)
    host.arrive(edge("a", 10), 10 * MS)
    host.arrive(edge("b", 9), 29 * MS)
    host.wait_until(30 * MS)
    assert host.items[3:] == [edge("b", 9), edge("a", 10)]


@pytest.mark.parametrize("first", [SourceBack("b", 2, 100 * MS), EdgesLost("b", 3, 100 * MS)], ids=["back", "lost"])
def test_what_a_board_kept_comes_after_the_word_that_it_is_back(first):
    host = Host()
    host.arrive(edge("a", 50), 50 * MS)
    host.arrive(first, 100 * MS)
    kept = [edge("b", at_ms) for at_ms in (60, 61, 70)]
    for item in kept:
        host.arrive(item, 101 * MS)
    host.arrive(edge("a", 102), 102 * MS)
    host.wait_until(200 * MS)
    assert [item for item in host.items if item.source == "b"] == [first, *kept]


ARRIVALS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 40), st.integers(0, 20), st.booleans()), max_size=50
)


@given(ARRIVALS)
def test_delays_up_to_the_window_are_put_in_order(arrivals):
    """Whatever the sources do: all of it comes out, once, in time, in each source's order and in that of the stamps."""
    now_ms = 0
    latest: dict[str, int] = {}
    travelling: list[tuple[int, int, SourceInput]] = []
    for n, (source, gap_ms, delay_ms, is_levels) in enumerate(arrivals):
        now_ms += gap_ms
        item = Levels(source, (), now_ms * MS) if is_levels else edge(source, now_ms)
        latest[source] = max(latest.get(source, 0), now_ms + delay_ms)
        travelling.append((latest[source], n, item))
    # Each source has begun before the first of it, as sources do.
    host = Host()
    for source in sorted(latest):
        host.arrive(SourceBack(source, 1, -1), -1)
    for arrives_ms, _, item in sorted(travelling, key=lambda each: each[:2]):
        host.arrive(item, arrives_ms * MS)
    host.wait_until(10_000 * MS)
    came = [(now_ns, item) for now_ns, item in host.out if not isinstance(item, SourceBack)]
    assert len(came) == len(arrivals)
    stamps = [item.at_ns for _, item in came]
    assert stamps == sorted(stamps)
    for source in latest:
        assert [i for _, i in came if i.source == source] == [i for _, _, i in travelling if i.source == source]
    arrived = {id(item): arrives_ms * MS for arrives_ms, _, item in travelling}
    assert all(now_ns - arrived[id(item)] <= WINDOW_NS for now_ns, item in came)


def test_a_mad_clock_delays_by_the_window_at_most():
    """A source whose stamps jump about loses nothing and keeps its order."""
    draw = random.Random(4)
    host = Host()
    host.arrive(edge("good", 0), 0)
    sent: dict[str, list[SourceInput]] = {"good": [edge("good", 0)], "mad": []}
    arrived: dict[int, int] = {}
    for now_ms in range(1, 500):
        for source, at_ms in (("good", now_ms), ("mad", draw.randint(-1_000, 100_000))):
            item = edge(source, at_ms)
            sent[source].append(item)
            arrived[id(item)] = now_ms * MS
            host.arrive(item, now_ms * MS)
    host.wait_until(1_000 * MS)
    for source, items in sent.items():
        assert [item for item in host.items if item.source == source] == items
    assert all(now_ns - arrived.get(id(item), 0) <= WINDOW_NS for now_ns, item in host.out)
