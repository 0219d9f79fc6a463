"""The page about MQTT says what is true: its examples are valid, its lists complete."""

import json
import re
from pathlib import Path
from typing import Any, get_args

from appliance.mqtt import models, topics
from appliance.mqtt.requests import Request, commands, parse_request
from tests.support import mqtt_examples as examples
from tests.support.validated import validate

PAGE = (Path(__file__).parents[2] / "docs" / "mqtt.md").read_text(encoding="utf-8")


def examples_of_the_page() -> list[dict[str, Any]]:
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


def test_every_example_is_valid_and_every_document_has_one() -> None:
    seen = set()
    for document in examples_of_the_page():
        if "command" in document:
            assert isinstance(parse_request(json.dumps(document).encode(), retained=False), Request)
            continue
        seen.add(document["schema"])
        kind = document["schema"].removeprefix("pocketbeam.").split("/")[0]
        level = f"beam/{document['beam']}" if kind == "beam" else kind
        validate(f"pocketbeam/club-1/{level}", json.dumps(document))
    assert seen == set(topics.SCHEMAS)


def test_every_name_of_the_contract_is_on_the_page() -> None:
    for name in (*commands(), *get_args(models.EventName), *get_args(models.ErrorCode)):
        assert f"`{name}`" in PAGE, f"{name} is missing"


def test_the_lines_are_lines_that_a_table_says() -> None:
    money = {**examples.MONEY, "players": [{**player, "missed_turns": 0} for player in examples.MONEY["players"]]}
    for state in (examples.STATES["club_carrom"], examples.state(money, 3), examples.STATES["carpetball"]):
        assert f"* `{topics.line(state)}`" in PAGE
