"""What the hands of an installer showed of a beam or a button, and what follows from it for the configuration.

Polarity is measured, never assumed: an untouched line rests at one level, and what breaks it brings the other. A
pulse is everything that comes closer together than `MERGE_NS`, chatter included. Pure: edges and times come from
outside.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import sqrt
from statistics import median

from appliance.grammar import how_many, times
from appliance.sensing.debounce import DebounceSettings

MERGE_NS = 70_000_000
USUAL_MIN_DWELL_NS = DebounceSettings().min_dwell_ns
LEAST_DWELL_NS, MOST_DWELL_NS = 300_000, 5_000_000
ENOUGH = 2.0
"""Shortest passage over `min_dwell`, and `min_dwell` over longest glitch: less is a matter of luck."""
LEAST_GAP = 8
"""So far apart, of 255, readings of two objects must be for a limit between them to hold."""
MOST_READING = 255
NOISE_LIMIT = 4
"""Changes of an untouched line that are still an accident."""
_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Pulse:
    """One stretch away from rest: how long in all, and the longest piece of it without a gap."""

    started_ns: int
    width_ns: int
    solid_ns: int


@dataclass(slots=True)
class Line:
    """Pulses of one line, told edge by edge. `rest` is the level of the untouched line."""

    rest: int
    level: int
    changed_ns: int
    pulses: list[Pulse] = field(default_factory=list)

    def edge(self, level: int, at_ns: int) -> None:
        """The line changes."""
        if level == self.level:
            return
        was, self.level = self.level, level
        since_ns, self.changed_ns = self.changed_ns, at_ns
        if was == self.rest:
            return
        solid_ns = at_ns - since_ns
        last = self.pulses[-1] if self.pulses else None
        if last is not None and since_ns - (last.started_ns + last.width_ns) < MERGE_NS:
            width_ns = at_ns - last.started_ns
            self.pulses[-1] = Pulse(last.started_ns, width_ns, max(last.solid_ns, solid_ns))
        else:
            self.pulses.append(Pulse(since_ns, solid_ns, solid_ns))

    def is_settled(self, now_ns: int) -> bool:
        """Whether the last pulse is over, so that nothing can be added to it."""
        return self.level == self.rest and now_ns - self.changed_ns >= MERGE_NS


@dataclass(frozen=True, slots=True)
class Measured:
    """One beam as it was found. Widths are nanoseconds, of pulses that a hand meant; the others are glitches.

    `broken` is the level of the broken beam; None where breaking it changed nothing. `readings` are those of its
    colour sensor for each object that it was shown. Of a magnet sensor, `blind` are the ways round in which it did not
    feel the cue ball that lay there, `unfelt` is how many it missed of those that rolled by, and `strangers` how many
    other balls it felt.
    """

    rest: int
    restless: int = 0
    broken: int | None = None
    slow_ns: tuple[int, ...] = ()
    fast_ns: tuple[int, ...] = ()
    glitches_ns: tuple[int, ...] = ()
    readings: tuple[tuple[str, tuple[int, ...]], ...] = ()
    blind: tuple[str, ...] = ()
    unfelt: int = 0
    strangers: int = 0

    @property
    def shortest_ns(self) -> int | None:
        """The shortest passage."""
        return min((*self.slow_ns, *self.fast_ns), default=None)

    @property
    def longest_glitch_ns(self) -> int:
        """The longest stretch that was no passage; 0 for none."""
        return max(self.glitches_ns, default=0)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What to write for a beam (None: as it is), and what stands in the way of accepting it."""

    blocked_level: str | None = None
    min_dwell_ms: float | None = None
    troubles: tuple[str, ...] = ()
    limits: Mapping[str, int] | None = None

    @property
    def accepted(self) -> bool:
        """Whether the beam will do."""
        return not self.troubles


LEVELS = ("low", "high")


def propose(
    measured: Measured, blocked_level: str, min_dwell_ns: int, limits: Mapping[str, int] | None = None
) -> Proposal:
    """What the measurements say against the configured level, time and, where it has a colour sensor, limits."""
    troubles: list[str] = []
    if measured.restless > NOISE_LIMIT:
        troubles.append(
            f"changed {times(measured.restless)} while nobody touched it: look for sunlight, lamps or a loose wire"
        )
    if measured.broken is None:
        return Proposal(None, None, (*troubles, _dead(measured, blocked_level)))
    troubles += _of_the_magnet(measured)
    level = LEVELS[measured.broken]
    dwell_ns, trouble = _min_dwell(measured, min_dwell_ns)
    if trouble:
        troubles.append(trouble)
    dwell_ms = round(dwell_ns / _NS_PER_MS, 2)
    found = None
    if limits is not None:
        found, colour_troubles = _limits(dict(measured.readings), limits)
        troubles += colour_troubles
    return Proposal(
        None if level == blocked_level else level,
        None if dwell_ms == round(min_dwell_ns / _NS_PER_MS, 2) else dwell_ms,
        tuple(troubles),
        None if found == limits else found,
    )


def _limits(
    readings: Mapping[str, Sequence[int]], configured: Mapping[str, int]
) -> tuple[Mapping[str, int], list[str]]:
    """Each limit in the middle between two objects, or as it is where it holds; or why no limits will do."""
    unseen = [name for name, values in readings.items() if not values]
    if unseen or not readings:
        return configured, [f"its colour sensor was not shown: {', '.join(unseen) or 'anything'}"]
    ordered = sorted(readings, key=lambda name: median(readings[name]))
    found, troubles = {ordered[-1]: MOST_READING}, []
    holds = configured.get(ordered[-1], -1) >= max(readings[ordered[-1]])
    for lower, upper in pairwise(ordered):
        most, least = max(readings[lower]), min(readings[upper])
        if least - most < LEAST_GAP:
            troubles.append(
                f"its colour sensor reads up to {most} for {lower} and from {least} for {upper}: no limit tells them "
                "apart, so look at its lamp, its distance and stray light"
            )
        found[lower] = (most + least) // 2
        room = (least - most) // 4
        holds &= most + room <= configured.get(lower, -1) < least - room
    return (configured if troubles or (holds and configured.keys() == found.keys()) else found), troubles


def _of_the_magnet(measured: Measured) -> list[str]:
    """What a magnet sensor misses, or feels too much."""
    troubles: list[str] = []
    if measured.blind:
        troubles.append(
            f"does not feel the cue ball with its pole {' or '.join(measured.blind)}: look for a switch that is "
            "dead or lies the wrong way, or a magnet that is too weak"
        )
    if measured.unfelt:
        unfelt = how_many(measured.unfelt, "cue ball")
        troubles.append(f"did not feel {unfelt} that broke the beam before it: look at the magnet")
    if measured.strangers:
        felt = how_many(
            measured.strangers,
            "other ball: there is iron or a magnet in it",
            "other balls: there is iron or a magnet in them",
        )
        troubles.append(f"felt {felt}, or the cue ball was too near")
    return troubles


def _dead(measured: Measured, blocked_level: str) -> str:
    if measured.blind:
        return "does not feel the cue ball at all: look at its supply, its wire, and the magnet in the ball"
    if LEVELS[measured.rest] == blocked_level:
        return (
            "reads as broken all the time, and breaking it changes nothing: no light arrives, so look at the "
            "emitter, its current, the aim, and the wire"
        )
    return (
        "reads as clear all the time, and breaking it changes nothing: the wire is cut, on another channel, or "
        "light reaches the receiver around the finger"
    )


def _min_dwell(measured: Measured, configured_ns: int) -> tuple[int, str | None]:
    """The time as it is, where both margins are enough; else the middle of what was seen, or why there is none."""
    shortest_ns, glitch_ns = measured.shortest_ns, measured.longest_glitch_ns
    if shortest_ns is None:
        return configured_ns, "nothing was passed through it"
    if shortest_ns >= ENOUGH * configured_ns and configured_ns >= ENOUGH * glitch_ns:
        return configured_ns, None
    middle_ns = round(sqrt(shortest_ns * max(glitch_ns, LEAST_DWELL_NS / ENOUGH)), -5)
    dwell_ns = int(min(max(middle_ns, LEAST_DWELL_NS), MOST_DWELL_NS))
    if shortest_ns < ENOUGH * dwell_ns or dwell_ns < ENOUGH * glitch_ns:
        return configured_ns, (
            f"its shortest passage, {shortest_ns / _NS_PER_MS:.1f} ms, is too close to its longest glitch, "
            f"{glitch_ns / _NS_PER_MS:.1f} ms: no time tells them apart, so look at aim, tube and receiver"
        )
    return dwell_ns, None


def counted(pulses: Sequence[Pulse], longer_than_ns: int = LEAST_DWELL_NS) -> list[Pulse]:
    """The pulses that a hand can have meant: longer than a known glitch, and not far under the longest."""
    longest_ns = max((pulse.width_ns for pulse in pulses), default=0)
    return [pulse for pulse in pulses if pulse.width_ns >= longer_than_ns and pulse.width_ns * 10 >= longest_ns]
