"""The tables in tests/vectors/debounce and tests/vectors/policy as values.

A table is read by people first. Its lines:

    beam carrom_pocket            what is connected: carrom_pocket, carpetball_pit, chute (for men), strike or button
    1000  break  ->               at 1,000 us the beam is broken; nothing follows from that
    21000 clear  -> passage 1000..21000
    +100  clear  ->               a time with a plus counts from the line before it without one
    repeat 50 every 20000 from 1000 … end   the lines between, 50 times; + counts from the start of each round,
                                  `x#` is the number of the round
    counted glitches 1            what the counters say in the end; those not named say 0
    ends ok                       the condition in the end

Inputs: `break` and `clear` are edges, `level break` and `level clear` a heartbeat with the level, `-` the mere
passing of time, `boot N` the source back under that boot id, `lost N` the source's word that edges were lost.
What may follow: `passage START..END`, `xN` behind it where it is N pulses; `blocked START`; `service TIME`;
`strike TIME`; `pressed TIME`. In policy tables also `possibly_two` or `unclear` behind a passage; `hand START..END` or
`noise START..END` for one that is none, or none after all; and `noisy START`. A `#` begins a remark.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

TABLES = Path(__file__).parents[1] / "vectors"
COUNTERS = ("passages", "glitches", "near_misses", "uncounted")


@dataclass(frozen=True)
class Row:
    """At `time_us` the `event` happens, and exactly `expected` has followed since the row before."""

    line: int
    time_us: int
    event: str
    expected: tuple[str, ...]


@dataclass
class Table:
    """One scenario."""

    name: str
    judges: bool = False
    beam: str = "carrom_pocket"
    rows: list[Row] = field(default_factory=list)
    counted: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTERS, 0))
    ends: str = "ok"


def read_table(path: Path) -> Table:
    """Read one file; every line that makes no sense is an error."""
    table = Table(path.stem, judges=path.parent.name == "policy")
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    bare = ((n, re.sub(r"(?<!x)#.*", "", text).strip()) for n, text in lines)
    pending = ((n, text) for n, text in bare if text)
    base_us = 0
    for n, text in pending:
        word, _, rest = text.partition(" ")
        if word == "beam":
            table.beam = rest.strip()
        elif word == "ends":
            table.ends = rest.strip()
        elif word == "counted":
            words = rest.split()
            table.counted |= {name: int(count) for name, count in zip(words[::2], words[1::2], strict=True)}
        elif word == "repeat":
            table.rows += _repeated(n, rest, pending)
        else:
            row = _row(n, text, base_us, 0)
            base_us = base_us if text.startswith("+") else row.time_us
            table.rows.append(row)
    assert set(table.counted) == set(COUNTERS), f"{path.name}: counters are {', '.join(COUNTERS)}"
    times = [row.time_us for row in table.rows]
    assert times == sorted(times), f"{path.name}: the times go back"
    return table


def _repeated(n: int, rest: str, pending: Iterator[tuple[int, str]]) -> list[Row]:
    count, every_us, from_us = (int(word) for word in re.fullmatch(r"(\d+) every (\d+) from (\d+)", rest).groups())
    body: list[tuple[int, str]] = []
    for line in pending:
        if line[1] == "end":
            break
        body.append(line)
    else:
        raise AssertionError(f"line {n}: this repeat has no end")
    return [_row(line, text, from_us + turn * every_us, turn + 1) for turn in range(count) for line, text in body]


def _row(n: int, text: str, base_us: int, turn: int) -> Row:
    head, arrow, tail = text.partition("->")
    assert arrow, f"line {n}: `time input -> expected` is wanted, not {text!r}"
    time, _, event = head.strip().partition(" ")
    tail = re.sub(r"\+(\d+)", lambda found: str(base_us + int(found[1])), tail).replace("x#", f"x{turn}")
    expected = tuple(re.sub(r" x1$", "", part.strip()) for part in tail.split(",") if part.strip())
    time_us = base_us + int(time) if time.startswith("+") else int(time)
    return Row(n, time_us, event.strip(), expected)
