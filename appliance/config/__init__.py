"""The configuration: one TOML file a table, read into typed, frozen settings.

Everything that is wrong is said at once, each with its key, its line and what would be right. What works
but is doubtful is a warning (`Settings.warnings`). `docs/configuration.md` lists every key.
"""

from appliance.config.load import from_document, load, load_all
from appliance.config.problems import ConfigurationError, Problem
from appliance.config.settings import (
    Beam,
    BeamSettings,
    Button,
    Lamp,
    Mqtt,
    Player,
    Settings,
    Source,
    Table,
    Tls,
    Web,
)
from appliance.config.structure import bridge_settings

__all__ = [
    "Beam",
    "BeamSettings",
    "Button",
    "ConfigurationError",
    "Lamp",
    "Mqtt",
    "Player",
    "Problem",
    "Settings",
    "Source",
    "Table",
    "Tls",
    "Web",
    "bridge_settings",
    "from_document",
    "load",
    "load_all",
]
