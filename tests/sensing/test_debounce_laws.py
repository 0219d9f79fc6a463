"""What holds for every sequence of edges: nothing invented, nothing lost, and time in any portions."""

import random
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.sensing.debounce import (
    BUTTON,
    CARPETBALL_PIT,
    CARROM_POCKET,
    Blocked,
    Condition,
    Debouncer,
    DebounceSettings,
    InService,
    Passage,
    Signal,
)

US = 1_000
MS = 1_000_000
SECOND = 1_000_000_000

SETTINGS = st.sampled_from(
    [CARROM_POCKET, CARPETBALL_PIT, BUTTON, DebounceSettings(min_clear_ns=30 * MS, merge_gap_ns=10 * MS)]
)
# Durations around every threshold that there is, and in between.
SHORT_US = st.one_of(
    st.integers(1, 400),
    st.integers(1_400, 1_600),
    st.integers(2_900, 3_100),
    st.integers(7_900, 10_100),
    st.integers(19_900, 20_100),
    st.integers(69_900, 70_100),
    st.integers(100_000, 400_000),
)
ANY_US = st.one_of(SHORT_US, st.integers(900_000, 1_100_000), st.integers(4_900_000, 5_100_000))


@dataclass(frozen=True)
class Stretch:
    """A time in which the beam was broken."""

    from_ns: int
    to_ns: int

    @property
    def ns(self) -> int:
        return self.to_ns - self.from_ns


def stretches_of(durations_us: list[tuple[int, int]]) -> list[Stretch]:
    """Stretches from pairs of (clear before, broken)."""
    now, found = 0, []
    for clear_us, broken_us in durations_us:
        found.append(Stretch(now + clear_us * US, now + (clear_us + broken_us) * US))
        now = found[-1].to_ns
    return found


def lines(durations=ANY_US):
    return st.lists(st.tuples(durations, durations), min_size=1, max_size=40).map(stretches_of)


def edges_of(stretches: list[Stretch]) -> list[tuple[bool, int]]:
    return [edge for each in stretches for edge in ((True, each.from_ns), (False, each.to_ns))]


def begun(times: DebounceSettings) -> Debouncer:
    debouncer = Debouncer(times)
    assert debouncer.begin(False, 0) == []
    return debouncer


def run(times: DebounceSettings, stretches: list[Stretch]) -> tuple[list[Signal], Debouncer]:
    debouncer = begun(times)
    signals = [signal for active, at_ns in edges_of(stretches) for signal in debouncer.edge(active, at_ns)]
    signals += debouncer.advance(stretches[-1].to_ns + 10 * SECOND)
    return signals, debouncer


def final(signals: list[Signal]) -> list[Passage]:
    """The passages as they stand in the end, each revised to its last length."""
    return list({s.started_ns: s for s in signals if isinstance(s, Passage)}.values())


def by_definition(times: DebounceSettings, stretches: list[Stretch]) -> list[tuple[int, int]]:
    """Passages straight from the policy's wording, for lines on which nothing is long enough to be a fault."""
    passages: list[tuple[int, int]] = []
    for each in stretches:
        gap = each.from_ns - passages[-1][1] if passages else None
        rejoins = gap is not None and gap < times.min_clear_ns
        if not rejoins and each.ns < times.min_dwell_ns:
            continue
        if rejoins or (gap is not None and gap < times.merge_gap_ns):
            passages[-1] = (passages[-1][0], each.to_ns)
        else:
            passages.append((each.from_ns, each.to_ns))
    return passages


@settings(max_examples=500)
@given(SETTINGS, st.lists(st.tuples(SHORT_US, SHORT_US), min_size=5, max_size=40).map(stretches_of))
def test_passages_are_what_the_policy_says(times, stretches):
    expected = by_definition(times, stretches)
    signals, debouncer = run(times, stretches)
    if all(end - start < times.blocked_after_ns for start, end in expected):
        assert [(p.started_ns, p.ended_ns) for p in final(signals)] == expected
        assert debouncer.counters.passages == len(expected)


@given(SETTINGS, lines())
def test_no_passage_without_a_break_and_a_clear(times, stretches):
    signals, _ = run(times, stretches)
    long_enough = [each for each in stretches if each.ns >= times.min_dwell_ns]
    passages = final(signals)
    assert len(passages) <= len(long_enough)
    for passage in passages:
        assert any(passage.started_ns == each.from_ns and each.to_ns <= passage.ended_ns for each in long_enough)
        assert any(passage.ended_ns == each.to_ns for each in stretches)
        assert times.min_dwell_ns <= passage.dwell_ns < times.blocked_after_ns


@given(SETTINGS, lines())
def test_every_believable_break_is_in_one_passage_or_counted_as_not(times, stretches):
    signals, debouncer = run(times, stretches)
    passages = final(signals)
    faults = [s.since_ns for s in signals if isinstance(s, Blocked)]
    returns = [s.at_ns for s in signals if isinstance(s, InService)]
    outages = list(zip(faults, returns, strict=True))
    for each in stretches:
        if each.ns < times.min_dwell_ns:
            continue
        holding = [p for p in passages if p.started_ns <= each.from_ns and each.to_ns <= p.ended_ns]
        out = any(since <= each.from_ns < until for since, until in outages)
        assert len(holding) == 1 or out, f"{each} is lost"
    if not faults:
        assert debouncer.counters.uncounted == 0


@given(SETTINGS, lines())
def test_order_is_that_of_the_line(times, stretches):
    signals, _ = run(times, stretches)
    passages = final(signals)
    for before, after in pairwise(passages):
        assert after.started_ns - before.ended_ns >= max(times.min_clear_ns, times.merge_gap_ns)
    ends = [s.ended_ns for s in signals if isinstance(s, Passage)]
    assert ends == sorted(ends)


@given(SETTINGS, lines())
def test_a_blocked_beam_passes_nothing(times, stretches):
    signals, _ = run(times, stretches)
    out_since_ns = None
    for signal in signals:
        match signal:
            case Blocked(since_ns):
                assert out_since_ns is None
                out_since_ns = since_ns
            case InService(at_ns):
                assert out_since_ns is not None
                assert at_ns > out_since_ns
                out_since_ns = None
            case Passage():
                assert out_since_ns is None
    assert out_since_ns is None, "the line ends clear, so the beam is back"


@given(SETTINGS, lines())
def test_every_stretch_that_long_is_a_fault(times, stretches):
    signals, _ = run(times, stretches)
    faults = sum(isinstance(s, Blocked) for s in signals)
    if any(each.ns >= times.blocked_after_ns for each in stretches):
        assert faults >= 1


@given(SETTINGS, lines(), st.booleans())
def test_the_last_level_is_the_true_level(times, stretches, ends_broken):
    edges = edges_of(stretches)[: -1 if ends_broken else None]
    debouncer = begun(times)
    for active, at_ns in edges:
        debouncer.edge(active, at_ns)
        assert debouncer.active is active
    debouncer.advance(edges[-1][1] + 10 * SECOND)
    assert debouncer.active is ends_broken
    assert debouncer.condition is (Condition.BLOCKED if ends_broken else Condition.OK)


@given(SETTINGS, lines(), st.data())
def test_time_may_pass_in_any_portions(times, stretches, data):
    expected, whole = run(times, stretches)
    debouncer = begun(times)
    signals: list[Signal] = []
    now = 0
    for active, at_ns in [*edges_of(stretches), (False, stretches[-1].to_ns + 10 * SECOND)]:
        for portion in sorted(data.draw(st.lists(st.integers(0, at_ns - now), max_size=3))):
            signals += debouncer.advance(now + portion)
        signals += debouncer.edge(active, at_ns)
        now = at_ns
    assert signals == expected
    assert debouncer.counters == whole.counters


@given(SETTINGS, lines(), st.data())
def test_whatever_was_lost_the_next_level_puts_it_right(times, stretches, data):
    edges = edges_of(stretches)
    kept = [edge for edge in edges if data.draw(st.booleans())]
    debouncer = begun(times)
    signals = [signal for active, at_ns in kept for signal in debouncer.edge(active, at_ns)]
    true_level, last_ns = edges[-1]
    signals += debouncer.edge(true_level, last_ns + MS)
    assert debouncer.active is true_level
    assert len(final(signals)) <= len(stretches)


@given(SETTINGS, lines(), st.integers(0, 79), st.booleans())
def test_what_a_reboot_cuts_through_is_void(times, stretches, cut, dark):
    edges = edges_of(stretches)
    before, after = edges[:cut], edges[cut:]
    debouncer = begun(times)
    for active, at_ns in before:
        debouncer.edge(active, at_ns)
    cut_ns = before[-1][1] if before else 0
    debouncer.forget()
    assert debouncer.breaking_since_ns is None
    debouncer.begin(dark, cut_ns)
    for active, at_ns in after:
        for signal in debouncer.edge(active, at_ns):
            if isinstance(signal, Passage):
                assert signal.started_ns > cut_ns


@pytest.mark.parametrize("times", [CARROM_POCKET, CARPETBALL_PIT], ids=["pocket", "pit"])
@pytest.mark.parametrize("seed", range(5))
def test_five_hundred_passages_alternate_strictly(times, seed):
    draw = random.Random(seed)
    widths_and_gaps = [(draw.randint(71_000, 900_000), draw.randint(1_500, 500_000)) for _ in range(500)]
    stretches = stretches_of(widths_and_gaps)
    signals, debouncer = run(times, stretches)
    assert [(s.started_ns, s.ended_ns) for s in signals] == [(each.from_ns, each.to_ns) for each in stretches]
    assert debouncer.counters.passages == 500


def test_health_tells_since_when():
    debouncer = Debouncer(CARROM_POCKET)
    debouncer.begin(False, 1 * SECOND)
    debouncer.edge(True, 2 * SECOND)
    assert (debouncer.condition, debouncer.since_ns) == (Condition.OK, 1 * SECOND)
    debouncer.advance(8 * SECOND)
    assert (debouncer.condition, debouncer.since_ns) == (Condition.BLOCKED, 2 * SECOND)
    debouncer.edge(False, 9 * SECOND)
    assert (debouncer.condition, debouncer.since_ns) == (Condition.SETTLING, 2 * SECOND)
    debouncer.advance(11 * SECOND)
    assert (debouncer.condition, debouncer.since_ns) == (Condition.OK, 10 * SECOND + 3 * MS)


def test_a_pulse_that_goes_on_is_told_from_its_beginning():
    debouncer = begun(CARROM_POCKET)
    assert debouncer.breaking_since_ns is None
    debouncer.edge(True, 1 * SECOND)
    assert debouncer.breaking_since_ns == 1 * SECOND
    debouncer.advance(6 * SECOND)
    assert debouncer.breaking_since_ns is None, "a fault keeps no stroke open"


def test_an_edge_stamped_before_the_last_one_counts_as_at_once():
    debouncer = begun(CARROM_POCKET)
    debouncer.edge(True, 100 * MS)
    debouncer.edge(False, 90 * MS)
    debouncer.edge(True, 95 * MS)
    assert debouncer.edge(False, 110 * MS) == [Passage(100 * MS, 110 * MS)]
