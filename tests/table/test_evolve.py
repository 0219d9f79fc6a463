"""What folding a history costs: a step late in a match takes no longer than an early one."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from appliance.records import read_event
from appliance.table.evolve import evolve
from appliance.table.model import TableState
from tests.support.session import Session

STEPS = 400


@contextmanager
def lines_run() -> Iterator[Callable[[], int]]:
    """Counts the lines of Python that run."""
    count = 0

    def note(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        yield lambda: count
    finally:
        sys.settrace(before)


def test_a_step_late_in_a_match_costs_no_more_than_an_early_one():
    table = Session(check=False)
    for _ in range(STEPS):
        table.played()
    state: TableState | None = None
    costs: list[int] = []
    for seq, _, text in table.records:
        event = read_event(text)
        with lines_run() as count:
            state = evolve(state, event, seq)
        costs.append(count())
    assert state == table.state, "folded again it is what it was"
    steps = costs[1:]
    assert len(steps) == STEPS
    early, late = steps[STEPS // 10 :][:50], steps[-50:]
    assert sum(late) < 1.1 * sum(early), "the whole match was looked through at each step"
