"""The table of passages (tests/vectors/passages.tbl) as edges and counts."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).parents[1] / "vectors" / "passages.tbl"
PLACES = ("ne", "nw", "se", "sw", "north", "south")
COUNTED = (*PLACES, "glitches", "near_misses")
BEFORE_US = 500_000
"""How long everything is quiet before the first pulse of a case; as long again as a beam waits after its last."""
AFTER_US = 2_000_000

Counts = dict[str, int]


@dataclass(frozen=True)
class Case:
    """`pulses` are (place, from, to) in microseconds of the case, in the order of their beginnings."""

    name: str
    game: str
    pulses: tuple[tuple[str, int, int], ...]
    counted: tuple[tuple[str, int], ...]

    @property
    def edges(self) -> list[tuple[int, str, bool]]:
        """(microseconds, place, broken), in order."""
        edges = [edge for place, begin, end in self.pulses for edge in ((begin, place, True), (end, place, False))]
        return sorted(edges, key=lambda edge: edge[0])

    @property
    def end_us(self) -> int:
        """When the case is over."""
        return max(end for _, _, end in self.pulses) + AFTER_US

    @property
    def shortest_ms(self) -> float:
        """The narrowest of its pulses."""
        return min(end - begin for _, begin, end in self.pulses) / 1_000


def read_cases() -> list[Case]:
    """Every case of the table."""
    lines = (line.partition("#")[0].strip() for line in TABLE.read_text(encoding="utf-8").splitlines())
    return [_case(*(part.strip() for part in line.split("|"))) for line in lines if line]


def _case(name: str, game: str, pulses: str, counted: str) -> Case:
    spread = re.sub(r"(\d+)x\((.*?)\)", lambda found: int(found[1]) * f" {found[2]} ", pulses)
    words = iter(spread.split())
    at_us, found = BEFORE_US, []
    for word in words:
        if word[0] in "+-":
            at_us += _us(word)
            continue
        assert word in PLACES, f"{name}: {word} is no place"
        begin_us, at_us = at_us, at_us + _us(next(words))
        found.append((word, begin_us, at_us))
    pairs = (each.rsplit(" ", 1) for each in counted.split(", "))
    wanted = tuple((what, int(count)) for what, count in pairs)
    assert all(what in COUNTED for what, _ in wanted), f"{name}: {counted}"
    return Case(name, {"carrom": "club_carrom"}.get(game, game), tuple(found), wanted)


def _us(milliseconds: str) -> int:
    return round(float(milliseconds) * 1_000)


def counted(beams: Iterable[tuple[str, dict[str, int]]]) -> Counts:
    """What beams have counted; (place, counters) of each, zeros left out."""
    found = dict.fromkeys(COUNTED, 0)
    for place, counters in beams:
        found[place] += counters["passages"]
        found["glitches"] += counters["glitches"]
        found["near_misses"] += counters["near_misses"]
    return {what: count for what, count in found.items() if count}


def difference(after: Counts, before: Counts) -> Counts:
    """What was counted in between."""
    found = {what: after.get(what, 0) - before.get(what, 0) for what in COUNTED}
    return {what: count for what, count in found.items() if count}
