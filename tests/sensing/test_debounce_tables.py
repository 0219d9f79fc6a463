"""Every table in tests/vectors, in whatever steps and however late it is delivered, with both polarities.

Those in `debounce` are about edges and passages alone: what a passage is worth is left aside there. Those in `policy`
are about just that: hands, doubts, crowds and noise, by the product's own numbers.

Smooth time lets each millisecond pass by itself, jumps go from row to row, late delivery hands over the edges alone
and lets time pass only at the end. Then each is watched for another minute.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from appliance.events import Edge, EdgesLost, Levels, SourceBack, SourceInput
from appliance.sensing.bank import (
    Beam,
    Button,
    Input,
    InputBlocked,
    InputNoisy,
    InputWell,
    PassageSeen,
    Pressed,
    SensorBank,
    StrikeSeen,
    StrikeSensor,
    TableSignal,
)
from appliance.sensing.debounce import BUTTON, CARPETBALL_PIT, CARROM_POCKET, STRIKE_SENSOR
from tests.sensing.tables import COUNTERS, TABLES, Row, Table, read_table

NS_PER_US = 1_000
MINUTE_US = 60_000_000
DEBOUNCE = sorted((TABLES / "debounce").glob("*.tbl"))
POLICY = sorted((TABLES / "policy").glob("*.tbl"))
PATHS = [*DEBOUNCE, *POLICY]
CHUTE = replace(CARROM_POCKET, min_dwell_ns=6_000_000, long_single_ns=None, long_single_percent=None)


def connected(table: Table, active_level: int) -> Input:
    what = table.beam
    match what:
        case "carrom_pocket" | "carpetball_pit" | "chute":
            settings = {"carrom_pocket": CARROM_POCKET, "carpetball_pit": CARPETBALL_PIT, "chute": CHUTE}[what]
            if not table.judges:
                settings = replace(settings, **DOUBTS_NOTHING)
            return Beam("it", "board", 3, "ne", ("white",), active_level, settings)
        case "strike":
            return StrikeSensor("it", "board", 3, None, active_level, STRIKE_SENSOR)
        case "button":
            return Button("it", "board", 3, "undo", (), active_level, BUTTON)
    raise AssertionError(f"nothing is called {what!r}")


HOURS_NS = 10_000_000_000_000
DOUBTS_NOTHING = {
    "long_single_ns": None,
    "long_single_percent": None,
    "unclear_from_ns": HOURS_NS,
    "hand_from_ns": HOURS_NS,
    "hand_gap_ns": 0,
    "crowd": 1_000_000,
    "noisy_over": 1_000_000,
}


def told(signal: TableSignal, judges: bool) -> str:
    match signal:
        case PassageSeen(_, passage, doubt, reason):
            word = reason.name.lower() if reason else "passage"
            pulses = f" x{passage.pulses}" if passage.pulses > 1 else ""
            doubted = f" {doubt}" if doubt and judges else ""
            return f"{word} {us(passage.started_ns)}..{us(passage.ended_ns)}{pulses}{doubted}"
        case InputNoisy(_, since_ns):
            return f"noisy {us(since_ns)}"
        case InputBlocked(_, since_ns):
            return f"blocked {us(since_ns)}"
        case InputWell(_, at_ns):
            return f"service {us(at_ns)}"
        case StrikeSeen(_, at_ns):
            return f"strike {us(at_ns)}"
        case Pressed(_, at_ns):
            return f"pressed {us(at_ns)}"
    raise AssertionError(f"no table expects {signal}")


def us(ns: int) -> int:
    assert ns % NS_PER_US == 0
    return ns // NS_PER_US


def delivered(row: Row, active_level: int) -> SourceInput | None:
    at_ns = row.time_us * NS_PER_US
    levels = {"break": active_level, "clear": 1 - active_level}
    match row.event.split():
        case ["-"]:
            return None
        case [flank] if flank in levels:
            return Edge("board", 3, levels[flank], at_ns)
        case ["level", flank] if flank in levels:
            return Levels("board", ((3, levels[flank]),), at_ns)
        case ["boot", number]:
            return SourceBack("board", int(number), at_ns)
        case ["lost", count]:
            return EdgesLost("board", int(count), at_ns)
    raise AssertionError(f"line {row.line}: no input is called {row.event!r}")


class Bench:
    """One input, played to."""

    def __init__(self, table: Table, active_level: int) -> None:
        self.active_level = active_level
        self.bank = SensorBank([connected(table, active_level)])
        self.judges = table.judges
        self.now_us = 0

    def pass_time(self, until_us: int, step_us: int) -> Iterator[str]:
        """Let time pass in steps, without a level: the source only says that it has told everything."""
        while self.now_us < until_us:
            self.now_us = min(until_us, (self.now_us // step_us + 1) * step_us)
            yield from self.feed(Levels("board", (), self.now_us * NS_PER_US))

    def play(self, row: Row) -> Iterator[str]:
        item = delivered(row, self.active_level)
        if item is not None:
            self.now_us = max(self.now_us, row.time_us)
            yield from self.feed(item)

    def feed(self, item: SourceInput) -> list[str]:
        return [told(signal, self.judges) for signal in self.bank.feed(item)]

    def check_end(self, table: Table) -> None:
        line = self.bank.lines["it"]
        debouncer = line.debouncer
        assert {name: getattr(debouncer.counters, name) for name in COUNTERS} == table.counted
        assert ("noisy" if line.is_noisy else debouncer.condition.value) == table.ends


@pytest.mark.parametrize(
    ("step_us", "active_level"),
    [(1_000, 1), (10 * MINUTE_US, 1), (10 * MINUTE_US, 0)],
    ids=["smooth", "jumps", "jumps inverted"],
)
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_row_by_row(path, step_us, active_level):
    table = read_table(path)
    bench = Bench(table, active_level)
    for row in table.rows:
        followed = [*bench.pass_time(row.time_us, step_us), *bench.play(row)]
        assert followed == list(row.expected), f"{path.name}, line {row.line}, at {row.time_us} us"
    afterwards = list(bench.pass_time(bench.now_us + MINUTE_US, 1_000_000))
    assert afterwards == [], f"{path.name}: more follows than the table says"
    bench.check_end(table)


@pytest.mark.parametrize("active_level", [0, 1], ids=["low", "high"])
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_delivered_very_late(path, active_level):
    table = read_table(path)
    bench = Bench(table, active_level)
    followed = [signal for row in table.rows for signal in bench.play(row)]
    followed += bench.pass_time(table.rows[-1].time_us + MINUTE_US, 10 * MINUTE_US)
    assert followed == [signal for row in table.rows for signal in row.expected]
    bench.check_end(table)


def test_every_scenario_is_there():
    assert len(DEBOUNCE) >= 20
    assert len(POLICY) >= 10
