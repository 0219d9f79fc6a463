"""How the simulated table is wired, as data, and the configuration that tells the appliance so.

The clean profile: carrom has one beam a pocket and one strike sensor, carpetball one beam a pit and one
strike sensor an end. A colour sensor sits beside each beam that something falls through.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

STRIKE = "strike"
SOURCE = "board"


@dataclass(frozen=True, slots=True)
class Sensor:
    """A beam at a channel of the microcontroller; `end` only for carpetball's strike sensors.

    `blocked_level` is the electrical level while the beam is broken.
    """

    id: str
    channel: int
    place: str
    end: str | None = None
    blocked_level: int = 1

    @property
    def idle_level(self) -> int:
        """The electrical level while nothing is in the beam."""
        return 1 - self.blocked_level


@dataclass(frozen=True, slots=True)
class Layout:
    """All sensors of a table."""

    sensors: tuple[Sensor, ...]

    def beam_at(self, place: str) -> Sensor:
        """The beam that what falls at `place` breaks."""
        return next(sensor for sensor in self.sensors if sensor.place == place)

    def strike_sensor(self, end: str | None) -> Sensor:
        """The strike sensor of `end` (carrom: None)."""
        return next(sensor for sensor in self.sensors if sensor.place == STRIKE and sensor.end == end)

    def idle_levels(self) -> dict[int, int]:
        """The level of each channel while nothing moves."""
        return {sensor.channel: sensor.idle_level for sensor in self.sensors}


_CARROM = Layout(
    (
        Sensor("ne", 0, "ne"),
        Sensor("nw", 1, "nw"),
        Sensor("se", 2, "se"),
        Sensor("sw", 3, "sw"),
        Sensor("strike", 4, STRIKE),
    )
)
_CARPETBALL = Layout(
    (
        Sensor("north", 0, "north"),
        Sensor("south", 1, "south"),
        Sensor("strike-north", 2, STRIKE, "north"),
        Sensor("strike-south", 3, STRIKE, "south"),
    )
)


def layout_of(game: str) -> Layout:
    """The clean profile's wiring for `game`."""
    return _CARPETBALL if game == "carpetball" else _CARROM


def configuration_text(
    game: str,
    players: Sequence[str],
    *,
    port: str,
    state_dir: str,
    mqtt_host: str,
    mqtt_port: int,
    web_listen: str | None,
    table: str = "demo",
    options: Mapping[str, object] | None = None,
) -> str:
    """The configuration (TOML) of a table that is wired like this and hangs on the serial `port`."""
    lines = _section(
        "[table]",
        id=table,
        game=game,
        players=list(players),
        unknown_object="ask",  # the colour sensors tell everything; if one did not, nothing should be assumed
        quiet_time_s=5 if game == "carpetball" else 6,
        state_dir=state_dir,
    )
    if options:
        lines += _section("[rules]", **{_text(name): value for name, value in options.items()})
    lines += _section("[[sources]]", id=SOURCE, kind="serial", port=port)
    for sensor in layout_of(game).sensors:
        end = {} if sensor.end is None else {"end": sensor.end}
        level = "high" if sensor.blocked_level else "low"
        lines += _section(
            "[[beams]]",
            id=sensor.id,
            source=SOURCE,
            channel=sensor.channel,
            place=sensor.place,
            **end,
            blocked_level=level,
        )
    lines += _section("[mqtt]", host=mqtt_host, port=mqtt_port)
    if web_listen is not None:
        lines += _section("[web]", listen=web_listen)
    return "\n".join(lines)


def _section(heading: str, **values: object) -> list[str]:
    return [heading, *(f"{key} = {_value(value)}" for key, value in values.items()), ""]


def _value(value: object) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value)


def _text(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, but for the one control character that JSON leaves alone."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
