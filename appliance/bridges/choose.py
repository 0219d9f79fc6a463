"""From what somebody asked for to the bridges that run: one for each table, each with its own settings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from appliance.bridges.awtrix import Awtrix
from appliance.bridges.follow import Follower
from appliance.bridges.standing import Mapper
from appliance.bridges.wled import Wled
from appliance.config import bridge_settings
from appliance.mqtt.transport import BrokerSettings

MAPPERS: Mapping[str, Callable[[str, Any], Mapper]] = {"awtrix": Awtrix, "wled": Wled}


@dataclass(frozen=True, slots=True)
class Bridge:
    """One table on one device, by one broker."""

    name: str
    table: str
    broker: BrokerSettings
    follower: Follower


def choose(
    name: str, table: str, broker: BrokerSettings, section: BaseModel | None, given: Mapping[str, Any]
) -> Bridge:
    """The bridge `name` of a table. What is `given` goes before what stands in the `section` of the table's file.

    ConfigurationError says everything that is wrong with the settings, ValueError that the table cannot be one.
    """
    written = {} if section is None else section.model_dump(exclude_unset=True)
    settings = bridge_settings(name, {**written, **given})
    return Bridge(name, table, broker, Follower(table, MAPPERS[name](table, settings)))
