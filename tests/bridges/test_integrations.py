"""The ready-made files say nothing that the contract does not have: their topics, fields, events and commands exist."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from pydantic import TypeAdapter

from appliance.bridges import BRIDGES
from appliance.bridges.awtrix import Awtrix
from appliance.bridges.settings import AwtrixSettings, WledSettings
from appliance.bridges.standing import Standing
from appliance.bridges.wled import Wled
from appliance.config import bridge_settings, load
from appliance.mqtt.models import EventName, document_model
from appliance.mqtt.requests import commands
from appliance.mqtt.topics import LEFT_LEVELS, SCHEMAS, SIDE_LEVELS
from tests.support import mqtt_examples as examples

ROOT = Path(__file__).parents[2]
FILES = ROOT / "integrations"
EVENTS = get_args(EventName)
DOCUMENTS = {schema.removeprefix("pocketbeam.").split("/")[0]: schema for schema in SCHEMAS}
LEVELS = {
    *("availability", "line", "request"),
    *(kind for kind in DOCUMENTS if kind != "beam"),
    *(f"score/{side}" for side in SIDE_LEVELS),
    *(f"left/{side}" for side in LEFT_LEVELS),
}


def text(name: str) -> str:
    return (FILES / name).read_text("utf-8")


def levels_in(name: str) -> set[str]:
    """What stands behind `pocketbeam/<table>/` anywhere in a file."""
    return set(re.findall(r'pocketbeam/\$\{\w+\}/([^\s"]+)', text(name)))


class _Loader(yaml.SafeLoader):
    """YAML with the tags of ESPHome."""


_Loader.add_multi_constructor("!", lambda loader, suffix, node: f"{suffix} {node.value}")


def test_the_led_matrix_follows_topics_that_exist() -> None:
    document = yaml.load(text("esphome/pocketbeam-matrix.yaml"), _Loader)
    sensors = {sensor["topic"].partition("}/")[2]: sensor["id"] for sensor in document["text_sensor"]}
    assert set(sensors) == {"availability", *(f"score/{side}" for side in SIDE_LEVELS)}
    assert levels_in("esphome/pocketbeam-matrix.yaml") == {*sensors, "event"}
    assert all(f"id({name}).state" in document["display"][0]["lambda"] for name in sensors.values())
    [listened] = document["mqtt"]["on_json_message"]
    named = re.findall(r'event == "(\w+)"', listened["then"][0]["if"]["condition"]["lambda"])
    assert named
    assert set(named) <= set(EVENTS)
    secrets = yaml.safe_load(text("esphome/secrets.example.yaml"))
    assert set(re.findall(r"!secret (\w+)", text("esphome/pocketbeam-matrix.yaml"))) == set(secrets)


def flow() -> dict[str, Any]:
    return {node["id"]: node for node in json.loads(text("node-red/flow.json"))}


def behind(nodes: dict[str, Any], start: str) -> set[str]:
    """The nodes that a message of `start` comes to."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for following in (each for port in nodes[waiting.pop()].get("wires", []) for each in port):
            if following not in found:
                found.add(following)
                waiting.append(following)
    return found


def test_the_flow_is_whole() -> None:
    nodes = flow()
    assert len(nodes) == len(json.loads(text("node-red/flow.json")))
    for node in nodes.values():
        assert all(target in nodes for port in node.get("wires", []) for target in port)
        assert node.get("z", "pb-tab") == "pb-tab"
        assert node.get("broker") in (None, "pb-broker") or node["type"] == "mqtt-broker"
    assert levels_in("node-red/flow.json") <= LEVELS


def field(schema: dict[str, Any], path: list[str], definitions: dict[str, Any]) -> bool:
    """Whether a document of this JSON Schema can have the field."""
    if "$ref" in schema:
        return field(definitions[schema["$ref"].rpartition("/")[2]], path, definitions)
    if any(field(each, path, definitions) for each in schema.get("anyOf", [])):
        return True
    return not path or (
        path[0] in schema.get("properties", {}) and field(schema["properties"][path[0]], path[1:], definitions)
    )


@pytest.mark.parametrize(
    "source", [name for name, node in flow().items() if node["type"] == "mqtt in" and node["datatype"] == "json"]
)
def test_every_field_that_the_flow_reads_is_in_the_contract(source: str) -> None:
    nodes = flow()
    env = {entry["name"]: entry["value"] for entry in nodes["pb-tab"]["env"]}
    kind = env[nodes[source]["topic"].strip("${}")].rpartition("/")[2]
    schema = TypeAdapter(document_model(DOCUMENTS[kind], {})).json_schema()
    read: set[str] = set()
    for name in behind(nodes, source):
        node = nodes[name]
        said = json.dumps([node.get(key) for key in ("property", "rules", "complete", "statusVal")])
        read |= set(re.findall(r"\bpayload\.([\w.]+)", said))
        read |= set(re.findall(r"\bevent\.(\w+)", node.get("func", "")))
    assert read
    for path in read:
        assert field(schema, path.split("."), schema.get("$defs", {})), f"{kind} has no {path}"


def test_every_event_and_command_of_the_flow_exists() -> None:
    nodes = flow()
    told = [rule["v"] for rule in nodes["pb-which"]["rules"]]
    told += re.findall(r'event\.event === "(\w+)"', nodes["pb-words"]["func"])
    assert set(told) <= set(EVENTS)
    asked = [json.loads(node["payload"])["command"] for node in nodes.values() if node["type"] == "inject"]
    assert asked
    assert set(asked) <= set(commands())


PAGE = (ROOT / "docs" / "integrations.md").read_text("utf-8")


def test_the_examples_of_the_page_are_what_the_bridges_say() -> None:
    settings = {}
    for block in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL):
        settings |= tomllib.loads(block)["bridges"]
    awtrix = Awtrix("club-1", bridge_settings("awtrix", settings["awtrix"]))
    wled = Wled("club-1", bridge_settings("wled", settings["wled"]))
    standing = Standing(True, examples.STATES["club_carrom"])
    ended = {**examples.EVENT, "event": "match_ended", "winner": "A"}
    said = [*awtrix.show(standing), *awtrix.tell(standing, ended, ()), *wled.tell(standing, ended, ())]
    written = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
    assert written == [json.loads(message.payload or "") for message in said]


def test_the_page_names_every_key() -> None:
    keys = {*AwtrixSettings.model_fields, *WledSettings.model_fields}
    assert keys <= set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    assert all(f"pocketbeam bridge {name}" in PAGE for name in BRIDGES)


@pytest.mark.parametrize("name", ["awtrix", "wled"])
def test_the_tables_of_the_bridges_can_be_run(name: str) -> None:
    assert getattr(load(FILES / name / "table.toml").bridges, name) is not None


def test_the_strip_has_every_preset_that_its_table_asks_for() -> None:
    settings = load(FILES / "wled" / "table.toml").bridges.wled
    assert settings is not None
    presets = json.loads(text("wled/presets.json"))
    assert {str(number) for number in (*settings.presets.values(), settings.base, settings.offline)} <= set(presets)
    assert all(preset["n"] for number, preset in presets.items() if number != "0")
