"""What goes wrong with sensors: each fault by name, as pulses that are laid over what really passes.

A fault comes about now and then, by its rate in `parameters.toml`, at one beam or at all of them, and passes again.
`FAULTS` names everything that can be switched on; those that are people's doing are carried out where people act.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from sim.parameters import Parameters
from sim.physics import US_PER_MS, US_PER_S

US_PER_HOUR = 3600 * US_PER_S
DIMMING_STEP_US = 250
"""A receiver of light is no quicker than this."""

BeamPulse = tuple[str, int, int]
"""The beam, and from when to when it seems to be broken."""


@dataclass(frozen=True, slots=True)
class Where:
    """The beams of a table, one of which is struck, from when, and the numbers."""

    beams: tuple[str, ...]
    beam: str
    at_us: int
    numbers: Parameters
    rng: Random

    def us(self, name: str) -> int:
        """A duration that is given in seconds."""
        return round(self.numbers.draw(f"fault.{name}", self.rng) * US_PER_S)


def _glitches(where: Where) -> list[BeamPulse]:
    """Spikes far too short for an object."""
    found: list[BeamPulse] = []
    at_us, end_us = where.at_us, where.at_us + where.us("glitches_s")
    while at_us < end_us:
        width_us = round(where.numbers.draw("fault.glitch_us", where.rng))
        found.append((where.beam, at_us, at_us + width_us))
        at_us += width_us + round(where.rng.expovariate(where.numbers.number("fault.glitches_hz")) * US_PER_S)
    return found


def _toggles(where: Where, start_us: int, end_us: int, rate_hz: float) -> list[BeamPulse]:
    """An irregular square wave of about `rate_hz` periods a second."""
    found: list[BeamPulse] = []
    at_us = start_us
    while at_us < end_us:
        on_us, off_us = (max(50, round(where.rng.expovariate(2 * rate_hz) * US_PER_S)) for _ in range(2))
        found.append((where.beam, at_us, min(at_us + on_us, end_us)))
        at_us += on_us + off_us
    return found


def _sunlight(where: Where) -> list[BeamPulse]:
    """The sun blinds a receiver, and flickers in it as it goes."""
    dark_us = where.at_us + where.us("sunlight_dark_s")
    rate_hz = where.numbers.draw("fault.sunlight_hz", where.rng)
    flicker = _toggles(where, dark_us, dark_us + where.us("sunlight_flicker_s"), rate_hz)
    return [(where.beam, where.at_us, dark_us), *flicker]


def _lamps(where: Where) -> list[BeamPulse]:
    """A lamp flickers in all receivers with twice the mains' frequency."""
    period_us = US_PER_S // where.rng.choice((100, 120))
    broken_us = round(period_us * where.numbers.draw("fault.lamps_share", where.rng))
    beats = range(where.at_us, where.at_us + where.us("lamps_s"), period_us)
    return [(beam, at_us, at_us + broken_us) for beam in where.beams for at_us in beats]


def _dip(where: Where) -> list[BeamPulse]:
    """The supply falters: every beam of the board goes at once."""
    length_us = round(where.numbers.draw("fault.dip_ms", where.rng) * US_PER_MS)
    found: list[BeamPulse] = []
    for beam in where.beams:
        start, end = (round(where.numbers.draw("fault.dip_spread_ms", where.rng) * US_PER_MS) for _ in range(2))
        found.append((beam, where.at_us + start, where.at_us + length_us + end))
    return found


def _loose_wire(where: Where) -> list[BeamPulse]:
    """A bad contact."""
    end_us = where.at_us + where.us("loose_wire_s")
    return _toggles(where, where.at_us, end_us, where.numbers.draw("fault.loose_wire_hz", where.rng))


def _floating(where: Where) -> list[BeamPulse]:
    """An input to which nothing is connected."""
    end_us = where.at_us + where.us("floating_s")
    return _toggles(where, where.at_us, end_us, where.numbers.draw("fault.floating_hz", where.rng))


def _dimming(where: Where) -> list[BeamPulse]:
    """An emitter fades until the receiver has too little light, and is put right some time after.

    What is left of the light falls evenly through the level at which the receiver gives up, while lamps (100 or
    120 Hz) and the receiver's own noise come on top of it.
    """
    found: list[BeamPulse] = []
    fades_us = where.us("dimming_s")
    hum_hz = where.rng.choice((100, 120))
    hum, noise = (where.numbers.draw(f"fault.dimming_{name}", where.rng) for name in ("hum", "noise"))
    since_us: int | None = None
    in_doubt = min(1.0, hum + 5 * noise)
    first, last = (int(fades_us * (1 + side * in_doubt) / 2 / DIMMING_STEP_US) for side in (-1, 1))
    for step in range(first, last + 1):
        at_us = step * DIMMING_STEP_US
        swing = hum * math.sin(math.tau * hum_hz * at_us / US_PER_S)
        is_dark = 1 - 2 * at_us / fades_us + swing + where.rng.gauss(0, noise) < 0
        if is_dark and since_us is None:
            since_us = at_us
        elif not is_dark and since_us is not None:
            found.append((where.beam, where.at_us + since_us, where.at_us + at_us))
            since_us = None
    dark_us = where.at_us + (last * DIMMING_STEP_US if since_us is None else since_us)
    return [*found, (where.beam, dark_us, where.at_us + fades_us + where.us("dimming_dark_s"))]


def _rest(where: Where) -> list[BeamPulse]:
    """A disc or ball comes to lie in the beam, until somebody takes it away."""
    return [(where.beam, where.at_us, where.at_us + where.us("rest_s"))]


SENSOR_FAULTS: dict[str, Callable[[Where], list[BeamPulse]]] = {
    "glitches": _glitches,
    "sunlight": _sunlight,
    "lamps": _lamps,
    "dips": _dip,
    "loose_wire": _loose_wire,
    "floating": _floating,
    "dimming": _dimming,
    "rest": _rest,
}
PEOPLES_FAULTS = ("hands", "over_line", "forgotten", "doubled")
OTHER_FAULTS = ("drift", "full_nets", "bounce_out")
FAULTS = (*SENSOR_FAULTS, *PEOPLES_FAULTS, *OTHER_FAULTS)


def sensor_faults(
    names: Sequence[str], beams: Sequence[str], between: tuple[int, int], numbers: Parameters, rng: Random
) -> list[BeamPulse]:
    """The pulses of every fault of `names` that begins between two moments."""
    found: list[BeamPulse] = []
    for name in names:
        begin = SENSOR_FAULTS.get(name)
        if begin is None:
            continue
        rate = numbers.number(f"fault.{name}_per_hour") / US_PER_HOUR
        at_us = between[0] + rng.expovariate(rate)
        while at_us < between[1]:
            found += begin(Where(tuple(beams), rng.choice(list(beams)), round(at_us), numbers, rng))
            at_us += rng.expovariate(rate)
    return found
