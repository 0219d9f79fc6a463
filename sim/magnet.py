"""The magnet at the middle of the cue ball, and the switches in the trough's floor that feel it.

The magnet is a dipole. What a switch feels is the field along its own axis, which at any place is a linear function
of the dipole: so many of them as there are switches. Two can both be zero, for a ball that lies just so. Three at a
right angle to each other cannot: the dipoles of which none of three switches feels more than some field fill a
parallelepiped, and the strongest of those lies in one of its eight corners. That corner tells exactly how much the best
of them feels at least, whichever way the ball has turned (`least_felt_mt`).

Lengths are millimetres, fields millitesla, dipoles A m². Along the trough is the first direction, across it the
second, up the third.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

Vector = tuple[float, float, float]

ALONG: Vector = (1.0, 0.0, 0.0)
ACROSS: Vector = (0.0, 1.0, 0.0)
UP: Vector = (0.0, 0.0, 1.0)

MU_0 = 4e-7 * math.pi
STEP_MM = 2.0
"""Between two looks at a ball that rolls by; where a switch turns on or off is found between them."""


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch: where it is, the direction along which it feels, from which field on and below which no more.

    It feels both poles, and looks all the time.
    """

    at: Vector
    axis: Vector
    operate_mt: float
    release_mt: float


@dataclass(frozen=True, slots=True)
class Roll:
    """How a ball passes: how far beside the trough's middle, how high its own middle is, what dipole it has as its
    middle is over the place 0, and by what it turns on its way (radians a millimetre, about each direction).
    """

    beside: float
    height: float
    dipole: Vector
    turn: Vector


def dipole_a_m2(remanence_t: float, volume_mm3: float) -> float:
    """The dipole of a magnet of that remanence and size."""
    return remanence_t * volume_mm3 * 1e-9 / MU_0


def sphere_mm3(diameter: float) -> float:
    """The volume of a sphere."""
    return math.pi / 6 * diameter**3


def field_mt(dipole: Vector, away: Vector) -> Vector:
    """The field of a dipole at a place `away` from it."""
    r2 = _dot(away, away)
    # 1e-7 T m/A in the units of this module: 1e5 mT mm³/(A m²).
    scale = 1e5 / (r2 * math.sqrt(r2))
    along = 3 * _dot(dipole, away) / r2
    return _add(_times(scale * along, away), _times(-scale, dipole))


def gain(switch: Switch, ball: Vector) -> Vector:
    """What a switch feels of a dipole at `ball` is the product of the two: a dipole of 1 A m² along each direction."""
    away = _add(switch.at, _times(-1, ball))
    # The field is as symmetrical in dipole and axis as the product is.
    return field_mt(switch.axis, away)


def least_felt_mt(switches: Sequence[Switch], ball: Vector, dipole_a_m2: float) -> float:
    """What the switch that feels most of three feels at least, whichever way the dipole at `ball` points.

    Zero for fewer than three.
    """
    if len(switches) < 3:
        return 0.0
    one, two, three = (gain(switch, ball) for switch in switches)
    volume = _dot(one, _cross(two, three))
    if volume == 0:
        return 0.0
    edges = [_times(1 / volume, _cross(*pair)) for pair in ((two, three), (three, one), (one, two))]
    corners = (_add(edges[0], _add(_times(s, edges[1]), _times(t, edges[2]))) for s, t in product((1, -1), repeat=2))
    return dipole_a_m2 / max(math.sqrt(_dot(corner, corner)) for corner in corners)


def felt_mm(roll: Roll, switches: Sequence[Switch], reach: float) -> list[tuple[float, float]]:
    """From where to where, along the trough, the ball's middle is while any of the switches on one wire feels it.

    `reach` is how far off the first and the last look are.
    """
    steps = round(reach / STEP_MM)
    found: list[tuple[float, float]] = []
    looks = [STEP_MM * step for step in range(-steps, steps + 1)]
    dipoles = [rotated(roll.dipole, roll.turn, at) for at in looks]
    gains = [[gain(switch, (at, roll.beside, roll.height)) for at in looks] for switch in switches]
    for switch, along in zip(switches, gains, strict=True):
        fields = [abs(_dot(g, dipole)) for g, dipole in zip(along, dipoles, strict=True)]
        found += _on(looks, fields, switch)
    return _united(found)


def rotated(vector: Vector, turn: Vector, by: float) -> Vector:
    """A vector, turned about an axis by so many times the axis' length, in radians."""
    rate = math.sqrt(_dot(turn, turn))
    if rate == 0:
        return vector
    axis, angle = _times(1 / rate, turn), rate * by
    beside = _times(math.sin(angle), _cross(axis, vector))
    along = _times(_dot(axis, vector) * (1 - math.cos(angle)), axis)
    return _add(_times(math.cos(angle), vector), _add(beside, along))


def _on(looks: Sequence[float], fields: Sequence[float], switch: Switch) -> list[tuple[float, float]]:
    """Where one switch is on."""
    found: list[tuple[float, float]] = []
    since = looks[0] if fields[0] >= switch.operate_mt else None
    for index in range(1, len(looks)):
        limit = switch.operate_mt if since is None else switch.release_mt
        if (fields[index] >= limit) == (since is not None):
            continue
        share = (limit - fields[index - 1]) / (fields[index] - fields[index - 1])
        at = looks[index - 1] + min(1.0, max(0.0, share)) * (looks[index] - looks[index - 1])
        if since is None:
            since = at
        else:
            found.append((since, at))
            since = None
    return found if since is None else [*found, (since, looks[-1])]


def _united(stretches: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for start, end in sorted(stretches):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _dot(one: Vector, other: Vector) -> float:
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


def _cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _add(one: Vector, other: Vector) -> Vector:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


def _times(factor: float, vector: Vector) -> Vector:
    return factor * vector[0], factor * vector[1], factor * vector[2]
