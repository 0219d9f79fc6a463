"""The tables of events in the page about MQTT, as data: which keys an event has, always or sometimes.

The models know which keys events may have at all, and what each of them means. Which event has which is said on
that page, for people; every event that a test sees is held against it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from appliance.mqtt import models

PAGE = Path(__file__).parents[2] / "docs" / "mqtt.md"
ENVELOPE = {*models.Envelope.model_fields, "schema", "event", "event_id"}
WHERE = {"stroke", "assumed"}
"""Keys that say where an event comes from: any of them may have them."""

_ROW = re.compile(r"^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Keys:
    """What an event has beside the envelope."""

    always: frozenset[str]
    sometimes: frozenset[str]


@cache
def events() -> Mapping[str, Keys]:
    """Every event on the page, with its keys."""
    section = PAGE.read_text("utf-8").split("\n## event\n")[1].split("\n## ")[0]
    found: dict[str, Keys] = {}
    for names, _, keys in _ROW.findall(section):
        sometimes = frozenset(re.findall(r"\(`([a-z_]+)`\)", keys))
        always = frozenset(re.findall(r"`([a-z_]+)`", keys)) - sometimes
        for name in re.findall(r"`([a-z_]+)`", names):
            assert name not in found, f"{name} stands there twice"
            found[name] = Keys(always, sometimes)
    return found


def check_event(document: Mapping[str, Any]) -> None:
    """Fails where an event has a key that the page does not tell of, or lacks one that it promises."""
    keys, has = events()[document["event"]], set(document) - ENVELOPE
    unknown, missing = has - keys.always - keys.sometimes - WHERE, keys.always - has
    assert not unknown, f"{document['event']} has keys that docs/mqtt.md does not tell of: {sorted(unknown)}"
    assert not missing, f"{document['event']} lacks keys that docs/mqtt.md promises: {sorted(missing)}"
