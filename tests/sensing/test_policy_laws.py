"""What holds for whatever passes: no clean passage is lost or doubted, and each is told to the end."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.events import Edge, Levels
from appliance.sensing.bank import PassageSeen, SensorBank
from appliance.sensing.debounce import SECOND
from tests.sensing.lines import MS, Lines, pit, pocket

MAKERS = st.sampled_from((pocket, pit))
WIDTHS_MS = st.one_of(
    st.integers(1, 3), st.integers(10, 80), st.integers(85, 95), st.integers(140, 160), st.integers(240, 420)
)
GAPS_MS = st.one_of(st.integers(1, 90), st.integers(280, 320), st.integers(400, 3_000))


@given(
    MAKERS,
    st.lists(st.tuples(st.integers(1_000, 9_000), st.integers(10_000, 80_000)), min_size=1, max_size=19),
)
def test_a_lone_clean_passage_is_counted_once_and_never_in_doubt(make, play):
    """Up to nineteen of them: no width is usual yet."""
    lines = Lines(make("a", 0))
    at_ms, pulses = 0.0, []
    for gap_ms, width_us in play:
        at_ms += gap_ms
        pulses.append(("a", at_ms, width_us / 1000))
    lines.pulses(*pulses)
    assert lines.signals == lines.final()
    assert [(each.doubt, each.reason) for each in lines.signals] == [(None, None)] * len(play)
    assert [each.passage.started_ns for each in lines.signals] == [round(start * MS) for _, start, _ in pulses]


@pytest.mark.parametrize("seed", range(5))
def test_once_a_width_is_usual_only_a_far_longer_one_is_doubted(seed):
    rng = Random(seed)
    widths = [rng.randint(10_000, 80_000) for _ in range(300)]
    lines = Lines(pocket("a", 0))
    lines.pulses(*(("a", 3_000.0 * n, width / 1000) for n, width in enumerate(widths, 1)))
    assert lines.counted() == ["a"] * 300
    doubted = [width for width, each in zip(widths, lines.final(), strict=True) if each.doubt is not None]
    assert all(width > 1.7 * 10_000 for width in doubted)
    for index, each in enumerate(lines.final()):
        before = sorted(widths[max(0, index - 99) : index])
        usual = before[(len(before) - 1) // 2] if len(before) >= 20 else None
        assert (each.doubt == "possibly_two") is (usual is not None and widths[index] > 1.7 * usual)


@given(MAKERS, st.lists(st.tuples(GAPS_MS, WIDTHS_MS), min_size=1, max_size=30), st.data())
def test_time_may_pass_in_any_portions(make, play, data):
    def run(beats):
        bank = SensorBank([make("a", 0)])
        told: list[object] = list(bank.feed(Levels("board", ((0, 0),), 0)))
        now_ms = 0
        for gap, width in play:
            for level, wait in ((1, gap), (0, width)):
                for portion in sorted(beats(wait)):
                    told += bank.feed(Levels("board", (), (now_ms + portion) * MS))
                now_ms += wait
                told += bank.feed(Edge("board", 0, level, now_ms * MS))
        return told + bank.feed(Levels("board", (), now_ms * MS + 20 * SECOND))

    whole = run(lambda wait: [])
    assert run(lambda wait: data.draw(st.lists(st.integers(0, wait), max_size=2))) == whole


BLOCKED_MS = st.integers(5_000, 9_000)
PLAYS = st.lists(st.tuples(st.one_of(GAPS_MS, BLOCKED_MS), st.one_of(WIDTHS_MS, BLOCKED_MS)), min_size=1, max_size=6)


@given(MAKERS, PLAYS, PLAYS, st.integers(50, 500))
def test_what_two_beams_saw_is_the_same_however_time_is_told(make, one, other, beat_ms):
    """Whether the other one is in service counts, which time alone may change."""
    edges: list[tuple[int, int, int]] = []
    for channel, play in enumerate((one, other)):
        now_ms = 0
        for gap, width in play:
            edges += [(now_ms + gap, channel, 1), (now_ms + gap + width, channel, 0)]
            now_ms += gap + width
    edges.sort()

    def run(beat_ms):
        bank = SensorBank([make("a", 0), make("b", 1)])
        told: list[object] = list(bank.feed(Levels("board", ((0, 0), (1, 0)), 0)))
        before_ms = 0
        for at_ms, channel, level in edges:
            for now_ms in range(before_ms, at_ms, beat_ms) if beat_ms else ():
                told += bank.feed(Levels("board", (), now_ms * MS))
            told += bank.feed(Edge("board", channel, level, at_ms * MS))
            before_ms = at_ms
        told += bank.feed(Levels("board", (), before_ms * MS + 20 * SECOND))
        return {(each.beam.id, each.passage.started_ns): each for each in told if isinstance(each, PassageSeen)}

    assert run(beat_ms) == run(None)


@given(MAKERS, st.lists(st.tuples(GAPS_MS, WIDTHS_MS), min_size=1, max_size=40))
def test_what_is_told_of_a_passage_ends_with_its_being_none(make, play):
    lines = Lines(make("a", 0))
    at_ms, pulses = 0.0, []
    for gap, width in play:
        pulses.append(("a", at_ms + gap, width))
        at_ms += gap + width
    lines.pulses(*pulses)
    lines.time(at_ms + 20_000)
    told: dict[int, list[PassageSeen]] = {}
    for each in lines.signals:
        if isinstance(each, PassageSeen):
            told.setdefault(each.passage.started_ns, []).append(each)
    for history in told.values():
        assert all(before.reason is None and before != after for before, after in pairwise(history))
    line = lines.bank.lines["a"]
    assert line.is_serviceable
    assert line.debouncer.counters.passages >= len(told)
    assert line.debouncer.counters.uncounted >= sum(history[-1].reason is not None for history in told.values())
