"""What really happened, as values: the strokes of a match with everything that fell, seen or not."""

from dataclasses import dataclass, field
from itertools import pairwise

from appliance import rules

MIN_CLEAR_US = 3_000
"""Pulses closer than this are one to any receiver and its debouncer."""
BOUNCE_GAP_US = {"throat": 70_000, "chute": 70_000, "pit_edge": 8_000, "trough": 8_000}
"""A second pulse this soon, and much shorter than the first, looks just like a disc that bounces on the rim."""
LIKE_A_BOUNCE_SHARE = 0.6
LONGEST_BOUNCE_US = {"chute": 12_000}
"""Where discs come one behind the other no bounce is as long as that, and no disc as short."""


@dataclass(slots=True)
class Drop:
    """An object that fell at a place. `pulses` are those of the beam that counts it; none: unseen.

    `misread`: what should tell it apart (slot, colour sensor, magnet) told something else.
    """

    place: str
    object: str
    at_us: int
    beam: str
    pulses: list[tuple[int, int]]
    colours: list[tuple[int, str]] = field(default_factory=list)
    magnet: list[tuple[int, int]] = field(default_factory=list)
    misread: bool = False

    @property
    def first_us(self) -> int:
        """When a sensor first saw it; when it fell, where none did."""
        seen = [*self.pulses, *self.magnet]
        return min((start for start, _ in seen), default=self.at_us)


@dataclass(slots=True)
class TrueStroke:
    """A stroke or throw: who, when, what fell, and what physics hid of it.

    `before` is the score before it. `late_us`: when a disc dropped that had rocked on the lip.
    """

    start_us: int
    player: int
    drops: list[Drop]
    geometry: str = "throat"
    end: str | None = None
    observation: rules.Observation | None = None
    before: rules.GameState | None = None
    late_us: int | None = None

    @property
    def unseen(self) -> int:
        """How many objects no beam saw."""
        return sum(not drop.pulses for drop in self.drops)

    @property
    def merged(self) -> int:
        """How many objects share one pulse with the one before."""
        return sum(gap < MIN_CLEAR_US for gap, _, _ in self._followers())

    @property
    def misread(self) -> int:
        """How many objects the sensors themselves took for another."""
        return sum(drop.misread for drop in self.drops)

    @property
    def like_a_bounce(self) -> int:
        """How many objects followed so soon, and so much shorter, that they look like the bounce of the one before."""
        longest_us = LONGEST_BOUNCE_US.get(self.geometry)
        return sum(
            MIN_CLEAR_US <= gap < BOUNCE_GAP_US[self.geometry]
            and width < LIKE_A_BOUNCE_SHARE * before
            and (longest_us is None or width < longest_us)
            for gap, before, width in self._followers()
        )

    def _followers(self) -> list[tuple[int, int, int]]:
        """For each object behind another one at a beam: the time between, and both widths."""
        found: list[tuple[int, int, int]] = []
        for beam in {drop.beam for drop in self.drops}:
            seen = sorted((drop.pulses for drop in self.drops if drop.beam == beam and drop.pulses), key=lambda p: p[0])
            for before, after in pairwise(seen):
                gap = after[0][0] - before[-1][1]
                found.append((gap, before[0][1] - before[0][0], after[0][1] - after[0][0]))
        return found
