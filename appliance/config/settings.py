"""The settings of one table: typed, frozen, checked value by value.

What one value can be is said here; how values must fit each other (ids, channels, the game) stands in
`checks.py`. Durations keep the unit of the file in their name and give nanoseconds through a property.
"""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from appliance.bridges.settings import Bridges
from appliance.config.problems import Problem
from appliance.link.configuration import MAX_ANALOG, MAX_CLASSES
from appliance.names import name_fault

CARROM = ("money_carrom", "club_carrom", "new_carrom")
Game = Literal["money_carrom", "club_carrom", "new_carrom", "carpetball"]

_HIGHEST_PIN = 27
_NS_PER_MS = 1_000_000
_NS_PER_S = 1_000_000_000
_SLUG = re.compile(r"[a-z0-9-]+")
_TOPIC = re.compile(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*")
_PIN = re.compile(r"(GPIO|BOARD)([0-9]{1,2})")
_GPIO_AT = {  # by place on the 40-pin header; the other places are power and ground
    **{3: 2, 5: 3, 7: 4, 8: 14, 10: 15, 11: 17, 12: 18, 13: 27, 15: 22, 16: 23, 18: 24, 19: 10, 21: 9, 22: 25},
    **{23: 11, 24: 8, 26: 7, 27: 0, 28: 1, 29: 5, 31: 6, 32: 12, 33: 13, 35: 19, 36: 16, 37: 26, 38: 20, 40: 21},
}


def _name(value: str) -> str:
    fault = name_fault(value)
    if fault:
        raise ValueError(fault)
    return value


def _slug(value: str) -> str:
    if not _SLUG.fullmatch(value):
        would_do = re.sub("[^a-z0-9]+", "-", value.lower()).strip("-") or "club-1"
        raise ValueError(f'must consist of small letters a-z, digits and hyphens, not "{value}"; "{would_do}" would do')
    return value


def _path(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if not value or "\0" in value:
        raise ValueError("must be the name of a file or directory")
    return Path(value)


def pin_number(pin: str) -> int | None:
    """The GPIO number of a pin as people write it: "GPIO17", or "BOARD11" for its place on the header."""
    match = _PIN.fullmatch(pin)
    if match is None:
        return None
    number = int(match[2])
    if match[1] == "BOARD":
        return _GPIO_AT.get(number)
    return number if number <= _HIGHEST_PIN else None


def _number_of_pin(value: Any) -> Any:
    """A bare number could mean either of two numberings, so it is neither."""
    if isinstance(value, int) and not isinstance(value, bool):
        raise ValueError(f'must be a pin such as "GPIO{value}", or its place on the header such as "BOARD{value}"')
    return value


def _pin(value: str) -> str:
    if pin_number(value) is not None:
        return value
    if value.startswith("BOARD"):
        places = ", ".join(map(str, sorted(_GPIO_AT)))
        raise ValueError(f'must be a place on the header that has a GPIO (BOARD and one of {places}), not "{value}"')
    raise ValueError(
        f'must be a pin from "GPIO0" to "GPIO27", or its place on the header such as "BOARD11", not "{value}"'
    )


def _address(value: str) -> str:
    host, _, port = value.rpartition(":")
    bare_ipv6 = ":" in host and not (host.startswith("[") and host.endswith("]"))
    if not host or bare_ipv6 or not (port.isascii() and port.isdigit() and int(port) <= 65_535):
        raise ValueError(f'must be HOST:PORT such as "127.0.0.1:8080" or "[::1]:8080", not "{value}"')
    return value


def _prefix(value: str) -> str:
    if not _TOPIC.fullmatch(value):
        raise ValueError(
            f'must be a topic of letters, digits, "_", "-" and "/", such as "homeassistant", not "{value}"'
        )
    return value


def _ratio(value: float) -> float:
    if 0 < value <= 1:
        raise ValueError(f"must be more than 1, or 0 for never, not {value}")
    return value


def _plain_player(value: Any) -> Any:
    """A plain name is a player whose id is the name."""
    return {"id": value, "name": value} if isinstance(value, str) else value


Slug = Annotated[str, AfterValidator(_slug)]
Name = Annotated[str, AfterValidator(_name)]
FilePath = Annotated[Path, BeforeValidator(_path)]
Address = Annotated[str, AfterValidator(_address)]
Pin = Annotated[str, BeforeValidator(_number_of_pin), AfterValidator(_pin)]
Channel = Annotated[int, Field(ge=0, le=63)]
PlayerNumber = Annotated[int, Field(ge=1)]
Level = Literal["high", "low"]
Object = Literal["white", "black", "queen", "striker", "ball", "cue"]
Reading = Annotated[int, Field(ge=0, le=255)]


class _Part(BaseModel):
    """What all parts share: frozen, nothing converted on the sly, no unknown keys, no NaN."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class Player(_Part):
    """Somebody who plays; facts keep the id, the name may change."""

    id: Name
    name: Name


class Table(_Part):
    """Section `[table]`."""

    id: Slug
    game: Game
    players: tuple[Annotated[Player, BeforeValidator(_plain_player)], ...] = (
        Player(id="Player 1", name="Player 1"),
        Player(id="Player 2", name="Player 2"),
    )
    unknown_object: Literal["ask_then_assume", "ask", "assume"] = "ask_then_assume"
    quiet_time_s: float = Field(ge=0, le=600)
    state_dir: FilePath

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, data: Any) -> Any:
        """The defaults that depend on another key of the section."""
        if not isinstance(data, dict):
            return data
        quiet_time_s = 5.0 if data.get("game") == "carpetball" else 6.0
        return {"quiet_time_s": quiet_time_s, "state_dir": f"/var/lib/pocketbeam/{data.get('id')}", **data}

    @property
    def quiet_time_ns(self) -> int:
        """The quiet time in nanoseconds; 0: strokes close by button or request only."""
        return round(self.quiet_time_s * _NS_PER_S)


class Source(_Part):
    """One of `[[sources]]`: what yields edges."""

    id: Slug
    kind: Literal["serial", "gpio", "none"]
    port: Annotated[str, Field(min_length=1)] | None = None
    baud: int = Field(default=115_200, ge=1_200, le=4_000_000)


class _Wired(_Part):
    """Something on a wire: `channel` of a serial source, or `pin` of GPIO, whose number is the channel."""

    id: Slug
    source: str
    channel: Channel = 0
    pin: Pin | None = None

    @model_validator(mode="before")
    @classmethod
    def _channel_of_pin(cls, data: Any) -> Any:
        """Above the source everything speaks of channels."""
        if isinstance(data, dict) and "channel" not in data and isinstance(data.get("pin"), str):
            number = pin_number(data["pin"])
            return data if number is None else {**data, "channel": number}
        return data


Milliseconds = Annotated[float, Field(gt=0, le=60_000)]
MillisecondsOrNone = Annotated[float, Field(ge=0, le=60_000)]
"""0: never."""


Ratio = Annotated[float, Field(ge=0, le=100), AfterValidator(_ratio)]


class BeamSettings(_Part):
    """`[beams.settings]`: the numbers in which this beam differs; None is the product's own number.

    min_dwell: a shorter pulse is a glitch. min_clear: clear this long re-arms the beam. merge_gap: pulses closer
    than this are one passage. blocked_after: broken this long is a fault. long_single, and long_single_ratio as a
    multiple of the beam's own median: one longer pulse may be two objects. unclear_from: perhaps nothing fell.
    fingers_from: the same where another passage is closer than hand_gap.
    hand_from: a hand, to which pulses closer than hand_gap belong. crowd: more passages in two seconds are unclear.
    noisy_over: more pulses a second are noise.
    """

    min_dwell_ms: Milliseconds | None = None
    min_clear_ms: Milliseconds | None = None
    merge_gap_ms: MillisecondsOrNone | None = None
    blocked_after_ms: Milliseconds | None = None
    long_single_ms: MillisecondsOrNone | None = None
    long_single_ratio: Ratio | None = None
    unclear_from_ms: Milliseconds | None = None
    fingers_from_ms: Milliseconds | None = None
    hand_from_ms: Milliseconds | None = None
    hand_gap_ms: MillisecondsOrNone | None = None
    crowd: Annotated[int, Field(ge=1, le=1_000)] | None = None
    noisy_over: Annotated[int, Field(ge=1, le=1_000)] | None = None

    def overrides(self) -> dict[str, Any]:
        """The numbers given, as sensing has them: `{"min_dwell_ns": 1500000, "long_single_percent": None}`."""
        given = self.model_dump(exclude_none=True)
        found: dict[str, Any] = {
            f"{key.removesuffix('_ms')}_ns": round(value * _NS_PER_MS)
            for key, value in given.items()
            if key.endswith("_ms")
        }
        found |= {key: given[key] for key in ("crowd", "noisy_over") if key in given}
        if given.get("long_single_ms") == 0:
            found["long_single_ns"] = None
        if "long_single_ratio" in given:
            found["long_single_percent"] = round(given["long_single_ratio"] * 100) or None
        return found


class Colour(_Part):
    """`[beams.colour]`: a sensor at an analog input of the board that tells what has passed this beam.

    The highest (or lowest) reading, 0 to 255 of the board's supply, from the break of the beam until `after_ms` after
    its end counts; the object is the one with the lowest limit that is not below it. Without limits nothing is told.
    """

    analog: Annotated[int, Field(ge=0, le=MAX_ANALOG)]
    reads: Literal["highest", "lowest"] = "highest"
    after_ms: Annotated[float, Field(ge=0, le=16_000)] = 60
    limits: Annotated[dict[Object, Reading], Field(max_length=MAX_CLASSES)] = {}


class Beam(_Wired):
    """One of `[[beams]]`; `passes` always holds what it can pass (a strike sensor: nothing).

    `pull` is for pins alone, where None is up: most receivers only ever pull down.
    """

    place: str
    end: Literal["north", "south"] | None = None
    across: bool = False
    passes: tuple[str, ...] = ()
    exclusive: Slug | None = None
    blocked_level: Level = "high"
    pull: Literal["up", "down"] | None = None
    settings: BeamSettings = BeamSettings()
    colour: Colour | None = None


class Press(_Part):
    """`long` of a button: what a press of a second or more asks for; the request's fields stand beside it."""

    model_config = ConfigDict(extra="allow")

    action: str

    @property
    def fields(self) -> dict[str, Any]:
        """The request's fields that stand beside the action."""
        return dict(self.model_extra or {})


class Button(_Wired):
    """One of `[[buttons]]`: a request at the press of a finger; `fields` are the request's."""

    model_config = ConfigDict(extra="allow")

    action: str
    pressed_level: Level = "low"
    long: Press | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """The request's fields that stand beside the action."""
        return dict(self.model_extra or {})


class Lamp(_Wired):
    """One of `[[lamps]]`."""

    shows: Literal["turn", "question", "fault"]
    player: PlayerNumber | None = None
    lit_level: Level = "high"


class Tls(_Part):
    """`mqtt.tls`: an empty one trusts the system's authorities."""

    ca: FilePath | None = None
    cert: FilePath | None = None
    key: FilePath | None = None


class Mqtt(_Part):
    """Section `[mqtt]`: the broker."""

    host: Annotated[str, Field(min_length=1, pattern=r"^[^\s/@]+$")] = "127.0.0.1"
    port: int = Field(default=1883, ge=1, le=65_535)
    username: Annotated[str, Field(min_length=1)] | None = None
    password_file: FilePath | None = None
    tls: Tls | None = None


class HomeAssistant(_Part):
    """Section `[home_assistant]`: whether the table announces itself there, and under which discovery prefix."""

    enabled: bool = True
    prefix: Annotated[str, AfterValidator(_prefix)] = "homeassistant"


class Web(_Part):
    """Section `[web]`: where the pages are served; port 0 is any free one."""

    listen: Address = "127.0.0.1:8080"

    @property
    def host(self) -> str:
        """The address to listen on."""
        return self.listen.rpartition(":")[0].strip("[]")

    @property
    def port(self) -> int:
        """The port to listen on."""
        return int(self.listen.rpartition(":")[2])


class Settings(_Part):
    """All the settings of one table, as a file gave them; relative paths are already resolved."""

    table: Table
    rules: dict[str, Any] = {}
    sources: tuple[Source, ...] = ()
    beams: tuple[Beam, ...] = ()
    buttons: tuple[Button, ...] = ()
    lamps: tuple[Lamp, ...] = ()
    mqtt: Mqtt = Mqtt()
    home_assistant: HomeAssistant = HomeAssistant()
    web: Web | None = None
    bridges: Bridges = Bridges()
    file: str = ""
    warnings: tuple[Problem, ...] = ()
