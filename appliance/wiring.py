"""From the settings of a table to its inputs and its policy: the configuration's words end here."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import ceil

from appliance.config import Settings
from appliance.config.settings import Beam as BeamSection
from appliance.config.settings import Button as ButtonSection
from appliance.config.settings import Colour, Level
from appliance.lamps import Lamp
from appliance.link.configuration import AFTER_UNIT_US, READING, BoardConfiguration, ColourSensor
from appliance.link.messages import OBJECT_CODES
from appliance.sensing.bank import Beam, Button, Input, LongPress, StrikeSensor
from appliance.sensing.debounce import (
    BUTTON,
    CARPETBALL_CUE,
    CARPETBALL_PIT,
    CARROM_POCKET,
    STRIKE_SENSOR,
    DebounceSettings,
)
from appliance.sources.gpio import Pins
from appliance.sources.header import Pull
from appliance.table.model import Policy, Seat

STRIKE = "strike"
MOST_READING, US_PER_MS = 255, 1_000
_LEVELS: dict[Level, int] = {"low": 0, "high": 1}


def policy_of(settings: Settings) -> Policy:
    """What the table's session needs to know of the configuration."""
    table = settings.table
    return Policy(
        game=table.game,
        players=tuple(Seat(player.id, player.name) for player in table.players),
        rules=dict(settings.rules),
        unknown_object=table.unknown_object,
        quiet_time_ns=table.quiet_time_ns,
        strike_sensor=any(beam.place == STRIKE for beam in settings.beams),
    )


def inputs_of(settings: Settings) -> tuple[Input, ...]:
    """Every beam, strike sensor and button, with its polarity and its times."""
    beams = tuple(_beam(section, settings.table.game) for section in settings.beams)
    return (*beams, *(_button(section) for section in settings.buttons))


def _base(section: BeamSection, game: str) -> DebounceSettings:
    """The numbers of a beam of which the file says nothing else."""
    if section.place == STRIKE:
        return STRIKE_SENSOR
    if game != "carpetball":
        return CARROM_POCKET
    return CARPETBALL_CUE if section.passes == ("cue",) else CARPETBALL_PIT


def _beam(section: BeamSection, game: str) -> Input:
    numbers = replace(_base(section, game), **section.settings.overrides())
    level = _LEVELS[section.blocked_level]
    if section.place == STRIKE:
        return StrikeSensor(section.id, section.source, section.channel, section.end, level, numbers, section.across)
    return Beam(
        section.id,
        section.source,
        section.channel,
        section.place,
        section.passes,
        level,
        numbers,
        section.exclusive,
    )


def _button(section: ButtonSection) -> Button:
    action, fields = _request(section.action, section.fields)
    long = LongPress(*_request(section.long.action, section.long.fields)) if section.long is not None else None
    level = _LEVELS[section.pressed_level]
    return Button(section.id, section.source, section.channel, action, fields, level, BUTTON, long)


def _request(action: str, fields: Mapping[str, object]) -> tuple[str, tuple[tuple[str, object], ...]]:
    """The request that an action stands for: `cue` is the object key of a table that has one ball to tell apart."""
    if action == "cue":
        return "object", (("object", "cue"), *sorted(fields.items()))
    return action, tuple(sorted(fields.items()))


def pins_of(settings: Settings, source_id: str) -> Pins:
    """What a GPIO source has to claim for its beams, buttons and lamps."""
    pulls: dict[int, Pull] = {beam.channel: beam.pull or "up" for beam in settings.beams if beam.source == source_id}
    for button in settings.buttons:
        if button.source == source_id:
            pulls[button.channel] = "up" if button.pressed_level == "low" else "down"
    outputs = {lamp.channel: 1 - _LEVELS[lamp.lit_level] for lamp in settings.lamps if lamp.source == source_id}
    return Pins(pulls, outputs)


def board_of(settings: Settings, source_id: str, *, tells_readings: bool = False) -> BoardConfiguration:
    """What a sensor board has to be for its beams, buttons, lamps and colour sensors.

    `tells_readings`: the colour sensors are to tell what they read, not what it means, for whoever calibrates them.
    Beams are pulled up whatever their level at rest: most receivers only ever pull down, and the wire of one that
    is gone must not float. A button between its wire and the supply needs a resistor to ground, so nothing against it.
    """
    beams = [beam.channel for beam in settings.beams if beam.source == source_id]
    buttons = [button for button in settings.buttons if button.source == source_id]
    lamps = [lamp for lamp in settings.lamps if lamp.source == source_id]
    pulled_up = [*beams, *(button.channel for button in buttons if button.pressed_level == "low")]
    inputs = [*beams, *(button.channel for button in buttons)]
    outputs = [lamp.channel for lamp in lamps]
    return BoardConfiguration(
        channels=max((*inputs, *outputs), default=-1) + 1,
        inputs=_mask(inputs),
        pull_ups=_mask(pulled_up),
        outputs=_mask(outputs),
        rest=_mask(lamp.channel for lamp in lamps if lamp.lit_level == "low"),
        sensors=tuple(
            _colour_sensor(beam, beam.colour, tells_readings)
            for beam in settings.beams
            if beam.source == source_id and beam.colour is not None and (beam.colour.limits or tells_readings)
        ),
    )


def _colour_sensor(beam: BeamSection, colour: Colour, tells_readings: bool) -> ColourSensor:
    limits = sorted(colour.limits.items(), key=lambda each: each[1])
    classes = [(limit, OBJECT_CODES[name]) for name, limit in limits]
    return ColourSensor(
        channel=beam.channel,
        analog=colour.analog,
        classes=((MOST_READING, READING),) if tells_readings else tuple(classes),
        after=ceil(colour.after_ms * US_PER_MS / AFTER_UNIT_US),
        wants_lowest=colour.reads == "lowest",
        active_level=_LEVELS[beam.blocked_level],
    )


def _mask(channels: Iterable[int]) -> int:
    return sum(1 << channel for channel in channels)


def lamps_of(settings: Settings) -> tuple[Lamp, ...]:
    """Every lamp, with its polarity."""
    return tuple(
        Lamp(lamp.source, lamp.channel, lamp.shows, lamp.player, _LEVELS[lamp.lit_level]) for lamp in settings.lamps
    )
