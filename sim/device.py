"""What the sensors make of a script: edges on channels, and what a colour sensor saw.

Pure, and blind to the rules as a device is: it knows places and objects, not players.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sim.actions import Action, Fall, Strike
from sim.layout import Layout, Sensor

COLOUR_AFTER_US = 60_000  # from the end of a passage: a colour sensor has a few samples to think about


@dataclass(frozen=True, slots=True)
class Edge:
    """The level of a channel changes."""

    at_us: int
    channel: int
    level: int


@dataclass(frozen=True, slots=True)
class Colour:
    """The colour sensor at a channel tells what the newest passage there was."""

    at_us: int
    channel: int
    object: str


Signal = Edge | Colour


def signals(actions: Iterable[Action], layout: Layout) -> list[Signal]:
    """The signals of a script, in order of time; calls give none."""
    found: list[Signal] = []
    for action in actions:
        if isinstance(action, Strike):
            found += _pulse(layout.strike_sensor(action.end), action.at_us, action.dwell_us)
        elif isinstance(action, Fall):
            beam = layout.beam_at(action.place)
            found += _pulse(beam, action.at_us, action.dwell_us)
            found.append(Colour(action.end_us + COLOUR_AFTER_US, beam.channel, action.object))
    return sorted(found, key=lambda signal: signal.at_us)


def _pulse(sensor: Sensor, at_us: int, dwell_us: int) -> tuple[Edge, Edge]:
    return (
        Edge(at_us, sensor.channel, sensor.blocked_level),
        Edge(at_us + dwell_us, sensor.channel, sensor.idle_level),
    )
