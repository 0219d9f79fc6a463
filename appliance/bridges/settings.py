"""The settings of the bridges, section `[bridges]` of a table's file: one model a bridge, every fault a sentence."""

import re
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from appliance.misspelt import meant

_LONGEST_TOPIC = 200


def _device_topic(value: str) -> str:
    """The beginning of a device's topics as every broker carries it."""
    if not value or value != value.strip("/") or re.search(r"[#+\s\x00-\x1f]", value):
        raise ValueError(f'must be how a topic begins, such as "wled/hall", without # and +, not "{value}"')
    if len(value) > _LONGEST_TOPIC:
        raise ValueError(f"must have at most {_LONGEST_TOPIC} characters, this has {len(value)}")
    if value.split("/")[0] == "pocketbeam":
        raise ValueError(f'must be a topic of the device, and "{value}" is one of the tables\'')
    return value


def _event(value: Any) -> Any:
    # Late: these models are read with every configuration, the documents' only where they are needed.
    from appliance.mqtt.models import EventName

    valid = get_args(EventName)
    if value in valid:
        return value
    near = meant(str(value), valid)
    hint = f'; did you mean "{near}"?' if near else "; docs/mqtt.md lists them"
    raise ValueError(f'"{value}" is no event of a table{hint}')


def _text(value: Any) -> Any:
    """A number is as good a word as any other: icons and tables have numbers."""
    return str(value) if type(value) is int else value


Text = Annotated[str, BeforeValidator(_text)]
Topic = Annotated[str, AfterValidator(_device_topic)]
Preset = Annotated[int, Field(ge=1, le=250)]
"""WLED numbers them from 1 to 250."""
EventOfATable = Annotated[str, BeforeValidator(_event)]


class _Section(BaseModel):
    """As all sections of a configuration: frozen, nothing converted on the sly, no unknown keys."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class AwtrixSettings(_Section):
    """`[bridges.awtrix]`. prefix: the clock's own. icon: one that the clock has. label: stands before the score."""

    prefix: Topic
    icon: Annotated[Text, Field(min_length=1, max_length=64)] | None = None
    label: Annotated[Text, Field(min_length=1, max_length=20)] | None = None
    lifetime_s: Annotated[int, Field(ge=30, le=86_400)] = 180


class WledSettings(_Section):
    """`[bridges.wled]`. topic: the strip's, or a group's. presets: by event, the one that counts most first.

    base: where the strip goes after an event, `shown_s` later, and when the table comes. offline: when it goes.
    """

    topic: Topic
    presets: dict[EventOfATable, Preset]
    base: Preset | None = None
    offline: Preset | None = None
    shown_s: Annotated[float, Field(ge=0.1, le=3_600)] = 8.0


class Bridges(_Section):
    """Section `[bridges]`."""

    awtrix: AwtrixSettings | None = None
    wled: WledSettings | None = None
