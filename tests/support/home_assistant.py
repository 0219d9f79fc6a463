"""Home Assistant as far as a discovery message meets it: what it would refuse, and what it would then show.

`check` knows the rules by which Home Assistant refuses a whole device, or one component, or silently ignores a
key. `shown` renders a component's templates as it does, in a sandbox, and fails on everything for which it would
write a warning to its log: a key that is not there, a value that is no option, a text that is too long.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

Document = Mapping[str, Any]

TOPIC = re.compile(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*/device/[A-Za-z0-9_-]+/config")
ICON = re.compile(r"[a-z]+:[a-z0-9-]+")
ADDRESS = re.compile(r"(https?://[^/\s]+|homeassistant:/)(/\S*)?")
STATE_LIMIT = 255
ATTRIBUTES_LIMIT = 16_384

ROOT = {
    *("device", "origin", "components", "availability", "availability_mode", "availability_topic"),
    *("availability_template", "payload_available", "payload_not_available", "state_topic", "command_topic"),
}
DEVICE = {
    *("identifiers", "connections", "name", "manufacturer", "model", "model_id", "sw_version", "hw_version"),
    *("serial_number", "suggested_area", "via_device", "configuration_url"),
}
ENTITY = {
    *("platform", "unique_id", "name", "icon", "entity_category", "enabled_by_default", "qos", "default_entity_id"),
    *("availability", "availability_topic", "json_attributes_topic", "json_attributes_template"),
}
READING = {"state_topic", "value_template"}
KEYS = {
    "sensor": ENTITY | READING | {"device_class", "options", "state_class", "unit_of_measurement"},
    "binary_sensor": ENTITY | READING | {"device_class", "payload_on", "payload_off"},
    "event": ENTITY | READING | {"device_class", "event_types"},
    "select": ENTITY | READING | {"options", "command_topic", "command_template"},
    "button": ENTITY | {"device_class", "command_topic", "command_template", "payload_press"},
    "device_automation": {
        *("platform", "automation_type", "topic", "type", "subtype", "payload", "value_template", "qos"),
    },
}
NEEDED = {
    "sensor": {"state_topic"},
    "binary_sensor": {"state_topic"},
    "event": {"state_topic", "event_types"},
    "select": {"command_topic", "options"},
    "button": {"command_topic"},
    "device_automation": {"automation_type", "topic", "type", "subtype"},
}
DEVICE_CLASSES = {
    "sensor": {"enum", "timestamp", "duration"},
    "binary_sensor": {"problem", "connectivity", "running"},
    "event": {"doorbell", "button", "motion"},
    "button": {"identify", "restart", "update"},
}
TEMPLATES = ("value_template", "command_template", "json_attributes_template")

_ENVIRONMENT = ImmutableSandboxedEnvironment(undefined=StrictUndefined)


@cache
def template(text: str) -> Template:
    """A template, compiled as Home Assistant compiles it."""
    return _ENVIRONMENT.from_string(text)


def check(topic: str, document: Document) -> None:
    """AssertionError where Home Assistant would refuse the device or a part of it, or drop a key."""
    assert TOPIC.fullmatch(topic), topic
    assert not set(document) - ROOT, set(document) - ROOT
    device, origin = document["device"], document["origin"]
    assert not set(device) - DEVICE, set(device) - DEVICE
    assert device["identifiers"]
    assert isinstance(device["name"], str), device["name"]
    assert device["name"]
    if "configuration_url" in device:
        assert ADDRESS.fullmatch(device["configuration_url"]), device["configuration_url"]
    assert isinstance(origin["name"], str)
    components: Document = document["components"]
    assert components
    for key, component in components.items():
        try:
            _check_component(component, device["name"])
        except (AssertionError, KeyError) as error:
            raise AssertionError(f"{key}: {error}") from error
    living = [each for each in components.values() if len(each) > 1]
    unique = [each["unique_id"] for each in living if "unique_id" in each]
    assert len(set(unique)) == len(unique)
    names = [(each["platform"], each["name"]) for each in living if "name" in each]
    assert len(set(names)) == len(names), "two entities with one name would get a suffix"
    triggers = [(each["type"], each["subtype"]) for each in living if each["platform"] == "device_automation"]
    assert len(set(triggers)) == len(triggers)


def _check_component(component: Document, device_name: str) -> None:
    platform = component["platform"]
    assert platform in KEYS, platform
    if set(component) == {"platform"}:
        return  # its farewell
    assert not set(component) - KEYS[platform], set(component) - KEYS[platform]
    assert not NEEDED[platform] - set(component), NEEDED[platform] - set(component)
    assert all(value is not None for value in component.values())
    for name in TEMPLATES:
        if name in component:
            try:
                template(component[name])
            except TemplateSyntaxError as error:
                raise AssertionError(f"{name}: {error}") from None
    assert ("json_attributes_topic" in component) == ("json_attributes_template" in component)
    if platform == "device_automation":
        assert component["automation_type"] == "trigger"
        return
    assert component["unique_id"]
    assert component["name"]
    assert not component["name"].startswith(device_name), "the device's name is put before it anyway"
    assert "icon" not in component or ICON.fullmatch(component["icon"]), component["icon"]
    category = component.get("entity_category")
    assert category in (None, "diagnostic", "config")
    assert category != "config" or platform not in ("sensor", "binary_sensor")
    if "device_class" in component:
        assert component["device_class"] in DEVICE_CLASSES[platform], component["device_class"]
    options = component.get("options")
    if options is not None:
        assert options
        assert len(set(options)) == len(options)
        assert platform == "select" or component.get("device_class") == "enum"
    if component.get("device_class") == "enum":
        assert not {"state_class", "unit_of_measurement"} & set(component)


def render(text: str, **variables: Any) -> str:
    """What a template puts out; a key that is not there is an error."""
    return template(text).render(as_datetime=datetime.fromisoformat, **variables).strip()


def value(component: Document, payload: str, *, age_s: float = 0) -> str:
    """What an entity makes of a message on its topic that comes so long after what it tells of."""
    if "value_template" not in component:
        return payload
    document = json.loads(payload)

    def utcnow() -> datetime:
        return datetime.fromisoformat(document["at"]) + timedelta(seconds=age_s)

    return render(component["value_template"], value_json=document, value=payload, utcnow=utcnow)


def shown(component: Document, payload: str) -> str | float | bool | datetime | None:
    """The state that a message brings; None is `unknown`."""
    text = value(component, payload)
    if text == "None":
        return None
    match component["platform"]:
        case "binary_sensor":
            return {"ON": True, "OFF": False}[text]
        case "select":
            assert text in component["options"], text
        case "sensor" if component.get("device_class") == "enum":
            assert text in component["options"], text
        case "sensor" if component.get("device_class") == "timestamp":
            moment = datetime.fromisoformat(text)
            assert moment.tzinfo is not None
            return moment.astimezone(UTC)
        case "sensor" if "state_class" in component:
            return float(text)
        case _:
            assert text
            assert len(text) <= STATE_LIMIT, text
    return text


def attributes(component: Document, payload: str) -> dict[str, Any]:
    """The attributes that a message brings; {} for an entity without."""
    if "json_attributes_template" not in component:
        return {}
    text = render(component["json_attributes_template"], value_json=json.loads(payload), value=payload)
    assert len(text) <= ATTRIBUTES_LIMIT
    found: dict[str, Any] = json.loads(text)
    assert not {"state", "name", "icon", "unique_id", "device_class"} & set(found), "Home Assistant drops these"
    return found


def event(component: Document, payload: str, *, age_s: float = 0) -> dict[str, Any] | None:
    """What the event entity tells of a message; None where it ignores it."""
    text = value(component, payload, age_s=age_s)
    if not text:
        return None
    assert len(text) <= ATTRIBUTES_LIMIT
    told: dict[str, Any] = json.loads(text)
    assert told["event_type"] in component["event_types"], told["event_type"]
    return told


def fires(component: Document, payload: str, *, age_s: float = 0) -> bool:
    """Whether a message sets a device trigger off."""
    return value(component, payload, age_s=age_s) == component["payload"]


def command(component: Document, chosen: str | None = None) -> dict[str, Any]:
    """The request that a press, or a choice, sends."""
    given = component.get("payload_press") if chosen is None else chosen
    made = render(component["command_template"], value=given, now=lambda: datetime.now(UTC))
    request: dict[str, Any] = json.loads(made)
    return request


@dataclass
class Register:
    """What Home Assistant keeps of its discovered entities, across its own restarts.

    `known` are the components that it has in mind since its start; `entities` those of its register, which
    outlive a restart. An entity that is registered and not in mind is a ghost.
    """

    known: dict[tuple[str, str], str] = field(default_factory=dict)
    entities: dict[str, str] = field(default_factory=dict)

    def hear(self, payload: str | None) -> None:
        """A message on the device's discovery topic."""
        if not payload:
            for found in list(self.known):
                self._remove(found)
            return
        for key, component in json.loads(payload)["components"].items():
            found = (component["platform"], key)
            if set(component) == {"platform"}:
                if found in self.known:
                    self._remove(found)
            elif "unique_id" in component:
                self.known[found] = component["unique_id"]
                self.entities[component["unique_id"]] = component["platform"]

    def _remove(self, found: tuple[str, str]) -> None:
        self.entities.pop(self.known.pop(found), None)

    def restart(self) -> None:
        """It forgets what it had in mind."""
        self.known.clear()

    @property
    def ghosts(self) -> set[str]:
        """Registered, and provided by nobody."""
        return set(self.entities) - set(self.known.values())
