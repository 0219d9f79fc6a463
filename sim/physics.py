"""What falls breaks beams: for how long, how often, or not at all.

Pure geometry and chance, blind to rules and to whatever listens. A disc is a cylinder that falls in some
orientation past a thin horizontal beam: the beam is broken as long as the disc's silhouette covers it, and never if
the disc is edge-on beside it. A ball rolls across a beam. Times are microseconds after the moment at which the object
reaches the sensors.
"""

import math
from dataclasses import dataclass
from random import Random

from sim.magnet import ACROSS, ALONG, UP, Roll, Switch, dipole_a_m2, felt_mm, sphere_mm3
from sim.parameters import Parameters

US_PER_S = 1_000_000
US_PER_MS = 1_000
GRAVITY_M_S2 = 9.81

Pulse = tuple[int, int]
"""From when to when a beam is broken, in microseconds."""

Normal = tuple[float, float, float]
"""Where a disc's axis points: across, along, up."""


@dataclass(frozen=True, slots=True)
class Disc:
    """A disc, in millimetres."""

    radius: float
    thickness: float


def disc(name: str, numbers: Parameters, rng: Random) -> Disc:
    """A man or queen, or a striker."""
    kind = "striker" if name == "striker" else "man"
    diameter = numbers.draw(f"size.{kind}_diameter_mm", rng)
    return Disc(diameter / 2, numbers.draw(f"size.{kind}_thickness_mm", rng))


def chord(body: Disc, normal: Normal, beside: float, axis: int) -> tuple[float, float] | None:
    """From what height to what height, from its middle, a disc covers a beam `beside` its middle; None: nowhere.

    `axis` is the horizontal direction across the beam, 0 or 1. The silhouette is the disc's ellipse swept along its
    thickness.
    """
    across, up = normal[axis], normal[2]
    wide = body.radius**2 * (1 - across**2)
    tall = body.radius**2 * (1 - up**2)
    skew = -(body.radius**2) * across * up
    least, most = math.inf, -math.inf
    for step in range(-6, 7):
        along = step / 12 * body.thickness
        at = beside - along * across
        if wide < 1e-9 or at * at > wide:
            continue
        middle = skew / wide * at + along * up
        half = math.sqrt(max(0.0, tall - skew * skew / wide) * (1 - at * at / wide))
        least, most = min(least, middle - half), max(most, middle + half)
    return None if most < least else (least, most)


def tumbling(rng: Random) -> Normal:
    """Any orientation, all alike."""
    up, turn = rng.uniform(-1, 1), rng.uniform(0, math.tau)
    flat = math.sqrt(1 - up * up)
    return flat * math.cos(turn), flat * math.sin(turn), up


def tilted(degrees: float, rng: Random) -> Normal:
    """Nearly flat, tilted to any side."""
    tilt, turn = math.radians(degrees), rng.uniform(0, math.tau)
    return math.sin(tilt) * math.cos(turn), math.sin(tilt) * math.sin(turn), math.cos(tilt)


def throat(name: str, numbers: Parameters, rng: Random, *, beams: int = 1) -> list[Pulse]:
    """A disc tumbles past one beam in a pocket's throat, or past two crossed ones on one wire."""
    kind = "striker" if name == "striker" else "man"
    body, normal = disc(name, numbers, rng), tumbling(rng)
    speed = _fallen_m_s(numbers.draw("throat.depth_mm", rng)) * numbers.draw("throat.speed_factor", rng)
    offsets = [numbers.draw(f"throat.{kind}_offset_mm", rng) for _ in range(beams)]
    return _with_double(_past(body, normal, offsets, speed, numbers, rng), "throat", numbers, rng)


def chute(name: str, numbers: Parameters, rng: Random) -> list[Pulse]:
    """A disc falls, nearly flat, between two rails past crossed beams."""
    body = disc(name, numbers, rng)
    normal = tilted(numbers.draw("chute.tilt_degrees", rng), rng)
    speed = _fallen_m_s(numbers.draw("chute.drop_mm", rng))
    offsets = [numbers.draw("chute.offset_mm", rng) for _ in range(2)]
    return _with_double(_past(body, normal, offsets, speed, numbers, rng), "chute", numbers, rng)


def slide(name: str, numbers: Parameters, rng: Random) -> list[Pulse]:
    """A disc slides flat through a beam that looks down on it: the striker at the end of the rails."""
    body = disc(name, numbers, rng)
    beside = numbers.draw("chute.offset_mm", rng)
    length = 2 * math.sqrt(body.radius**2 - beside**2) + numbers.draw("size.beam_width_mm", rng)
    return [(0, _us(length / 1000 / numbers.draw("chute.slide_speed_m_s", rng)))]


def spacing_us(name: str, numbers: Parameters, rng: Random) -> int:
    """How long after the one before a disc arrives at least that slides behind it in a chute."""
    return _us(2 * disc(name, numbers, rng).radius / 1000 / numbers.draw("chute.slide_speed_m_s", rng))


def rolling(diameter_mm: float, height_mm: float, speed_m_s: float, width_mm: float) -> list[Pulse]:
    """A ball rolls across a beam at some height over what it rolls on."""
    radius = diameter_mm / 2
    over = min(abs(height_mm - radius), radius)
    return [(0, _us((2 * math.sqrt(radius**2 - over**2) + width_mm) / 1000 / speed_m_s))]


def pit_edge(name: str, numbers: Parameters, rng: Random) -> tuple[list[Pulse], float]:
    """A ball crosses the beam at a pit's edge; also its speed in metres a second."""
    speed = numbers.draw(f"pit_edge.{name}_speed_m_s", rng)
    height = numbers.draw("pit_edge.height_mm", rng)
    diameter, width = numbers.number(f"size.{name}_diameter_mm"), numbers.draw("size.beam_width_mm", rng)
    return rolling(diameter, height, speed, width), speed


@dataclass(frozen=True, slots=True)
class InTrough:
    """What the sensors of a trough make of a ball; `own_us` is how long it takes to roll by its own length."""

    beam: list[Pulse]
    magnet: list[Pulse]
    own_us: int


def trough(name: str, numbers: Parameters, rng: Random) -> InTrough:
    """A ball rolls through the beam and past the switches that feel the cue ball's magnet.

    Whatever is felt before the beam is broken comes at negative times.
    """
    speed = numbers.draw("trough.speed_m_s", rng)
    diameter, width = numbers.number(f"size.{name}_diameter_mm"), numbers.draw("size.beam_width_mm", rng)
    beam = rolling(diameter, numbers.number("trough.beam_height_mm"), speed, width)
    magnet: list[Pulse] = []
    if name == "cue":
        # The ball's middle is at the beam half way through its pulse, and at the switches after that.
        over_us = beam[0][1] // 2 + _us(numbers.number("magnet.after_mm") / 1000 / speed)
        magnet = [
            (over_us + _us(start_mm / 1000 / speed), over_us + _us(end_mm / 1000 / speed))
            for start_mm, end_mm in cue_felt_mm(numbers, rng)
        ]
    return InTrough(beam, magnet, _us(diameter / 1000 / speed))


def cue_felt_mm(numbers: Parameters, rng: Random) -> list[tuple[float, float]]:
    """From where to where, along the trough, the middle of a cue ball is while any of three switches feels it.

    They lie at 0. The ball lies any way round, and turns on its way as it rolls, slides and spins.
    """
    radius = numbers.number("size.cue_diameter_mm") / 2
    beside = (numbers.number("trough.width_mm") / 2 - radius) * rng.uniform(-1, 1)
    sphere = sphere_mm3(numbers.number("magnet.sphere_mm"))
    strength = dipole_a_m2(numbers.draw("magnet.remanence_t", rng), sphere) * numbers.draw("magnet.left", rng)
    along, across, up = tumbling(rng)
    dipole = (strength * along, strength * across, strength * up)
    turn = (0.0, numbers.draw("trough.rolls", rng) / radius, numbers.draw("trough.side_spin", rng) / radius)
    looked_at_mm = numbers.number("magnet.looked_at_mm")
    return felt_mm(Roll(beside, radius, dipole, turn), switches(numbers, rng), looked_at_mm)


def switches(numbers: Parameters, rng: Random) -> list[Switch]:
    """The three under a trough's floor: up and down in the middle, along and across to either side of it."""
    depth, apart = numbers.draw("magnet.switch_depth_mm", rng), numbers.number("magnet.switches_apart_mm")
    found = []
    for beside, axis in ((0.0, UP), (-apart, ALONG), (apart, ACROSS)):
        operate_mt = numbers.draw("magnet.operate_mt", rng)
        release_mt = operate_mt - numbers.draw("magnet.hysteresis_mt", rng)
        release_mt = max(release_mt, numbers.number("magnet.release_least_mt"))
        found.append(Switch((0.0, beside, -depth), axis, operate_mt, release_mt))
    return found


def _past(
    body: Disc, normal: Normal, offsets: list[float], speed: float, numbers: Parameters, rng: Random
) -> list[Pulse]:
    """The pulses on the wire of one beam or of crossed ones."""
    width = numbers.draw("size.beam_width_mm", rng)
    found: list[Pulse] = []
    for axis, beside in enumerate(offsets):
        covered = chord(body, normal, beside, axis)
        if covered is not None:
            ends = (covered[0] - width / 2, covered[1] + width / 2)
            found.append((_us(ends[0] / 1000 / speed), _us(ends[1] / 1000 / speed)))
    return joined(found)


def joined(pulses: list[Pulse]) -> list[Pulse]:
    """Overlapping pulses of one wire are one."""
    found: list[Pulse] = []
    for start, end in sorted(pulses):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _with_double(pulses: list[Pulse], where: str, numbers: Parameters, rng: Random) -> list[Pulse]:
    if not pulses or not numbers.happens(f"{where}.double", rng):
        return pulses
    start = pulses[-1][1] + round(numbers.draw(f"{where}.double_gap_ms", rng) * US_PER_MS)
    return [*pulses, (start, start + round(numbers.draw(f"{where}.double_width_ms", rng) * US_PER_MS))]


def _fallen_m_s(height_mm: float) -> float:
    return math.sqrt(2 * GRAVITY_M_S2 * height_mm / 1000)


def _us(seconds: float) -> int:
    return round(seconds * US_PER_S)
