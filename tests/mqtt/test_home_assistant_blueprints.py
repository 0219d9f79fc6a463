"""The blueprints: Home Assistant could load them, and they wait for what a table really has."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import Environment

from appliance.mqtt.home_assistant import Description, discovery
from tests.support import mqtt_examples as examples

ROOT = Path(__file__).resolve().parents[2]
BLUEPRINTS = sorted((ROOT / "integrations" / "home-assistant" / "blueprints").glob("*.yaml"))
PARTS = discovery(Description("club-1", "1.2.3"))["components"]


class Input(str):
    """`!input name`."""


class Loader(yaml.SafeLoader):
    """YAML as Home Assistant reads a blueprint."""


Loader.add_constructor("!input", lambda loader, node: Input(loader.construct_scalar(node)))


def load(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = yaml.load(path.read_text("utf-8"), Loader)
    return document


def scalars(node: Any) -> list[str]:
    if isinstance(node, dict):
        return [text for value in node.values() for text in scalars(value)]
    if isinstance(node, list):
        return [text for value in node for text in scalars(value)]
    return [node] if isinstance(node, str) else []


def test_there_are_three() -> None:
    assert [path.stem for path in BLUEPRINTS] == ["announce-winner", "light-on-score", "notify-beam-fault"]


@pytest.mark.parametrize("path", BLUEPRINTS, ids=lambda path: path.stem)
def test_inputs_are_declared_and_used(path: Path) -> None:
    document = load(path)
    blueprint = document.pop("blueprint")
    assert blueprint["domain"] == "automation"
    assert blueprint["name"]
    assert blueprint["description"]
    assert set(blueprint["input"]) == {text for text in scalars(document) if isinstance(text, Input)}
    for given in blueprint["input"].values():
        assert given["name"]
        assert "selector" in given
    for text in scalars(document):
        Environment().parse(text)


@pytest.mark.parametrize("path", BLUEPRINTS, ids=lambda path: path.stem)
def test_it_waits_for_a_trigger_that_every_table_has(path: Path) -> None:
    announced = {(each["type"], each["subtype"]) for each in PARTS.values() if "subtype" in each}
    document = load(path)
    for trigger in document["triggers"]:
        assert trigger["domain"] == "mqtt"
        assert (trigger["type"], trigger["subtype"]) in announced
    (chosen_from,) = document["blueprint"]["input"]["table"]["selector"]["device"]["filter"]
    assert chosen_from["manufacturer"] == discovery(Description("club-1", "1.2.3"))["device"]["manufacturer"]


def message(variables: dict[str, Any], **given: Any) -> str:
    """The variables one after the other, each knowing those before it; the one called `message`."""
    known = dict(given)
    for name, text in variables.items():
        if not isinstance(text, Input):
            rendered = Environment().from_string(text).render(known).strip()
            known[name] = known["trigger"]["payload_json"] if name == "fault" else rendered
    return str(known["message"])


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"beam": "ne", "reason": "blocked"}, "Table club-1, ne: blocked. Play goes on; look at it when you can."),
        (
            {"source": "board", "reason": "3 changes were lost."},
            "Table club-1, board: 3 changes were lost. Play",
        ),
        ({"beam": "ne"}, "Table club-1, ne: out of service."),
    ],
)
def test_a_fault_is_told_in_a_sentence(event: dict[str, Any], expected: str) -> None:
    path = next(path for path in BLUEPRINTS if path.stem == "notify-beam-fault")
    payload = {**examples.ENVELOPE, "event": "beam_fault", **event}
    assert message(load(path)["actions"][0]["variables"], trigger={"payload_json": payload}).startswith(expected)


def test_the_winner_is_found_by_an_attribute_that_only_the_winner_has() -> None:
    having = [key for key, each in PARTS.items() if "'draw':" in each.get("json_attributes_template", "")]
    assert having == ["winner"]
    path = next(path for path in BLUEPRINTS if path.stem == "announce-winner")
    assert "attributes.draw" in path.read_text("utf-8")


def test_the_page_names_every_entity_and_blueprint() -> None:
    page = (ROOT / "docs" / "home-assistant.md").read_text("utf-8")
    table = re.sub(r"\s+", " ", page)
    for key, each in PARTS.items():
        if "name" in each:
            name = re.sub(r" \d$", "", each["name"])
            assert name in table, json.dumps(each["name"])
        else:
            assert f"*{each['subtype']} {each['type']}*" in table, key
    for path in BLUEPRINTS:
        assert path.name in page
