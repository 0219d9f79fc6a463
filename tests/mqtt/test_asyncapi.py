"""The AsyncAPI document: AsyncAPI's own parser finds nothing wrong in it, and would if there were something."""

import copy
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft7Validator

from appliance.mqtt import asyncapi, models, topics
from appliance.mqtt.requests import REQUESTS, Request, check_request, commands
from tests.support.validated import validate

ROOT = Path(__file__).parents[2]
LINTER = Path(__file__).parent / "asyncapi"
INSTALLED = ROOT / ".make" / "asyncapi"
DOCUMENT = json.loads(asyncapi.main_text())

Diagnostics = list[dict[str, Any]]


def an_operation_without_its_channel(document: Any) -> None:
    del document["channels"]["event"]


def a_parameter_that_is_not_told(document: Any) -> None:
    del document["channels"]["score"]["parameters"]["side"]


def a_type_that_does_not_exist(document: Any) -> None:
    document["components"]["schemas"]["Beam"]["properties"]["active"]["type"] = "boolen"


def a_schema_that_is_not_there(document: Any) -> None:
    del document["components"]["schemas"]["Queen"]


def an_action_of_version_2(document: Any) -> None:
    document["operations"]["sendState"]["action"] = "publish"


def a_reply_to_nowhere(document: Any) -> None:
    document["operations"]["receiveRequest"]["reply"]["channel"] = {"$ref": "#/channels/answer"}


def no_title(document: Any) -> None:
    del document["info"]["title"]


FAULTS = {
    an_operation_without_its_channel: "operations.sendEvent.channel",
    a_parameter_that_is_not_told: "channels.score.parameters",
    a_type_that_does_not_exist: "components.schemas.Beam.properties.active.type",
    a_schema_that_is_not_there: "components.schemas.ClubCarromRules.properties.queen.$ref",
    an_action_of_version_2: "operations.sendState.action",
    a_reply_to_nowhere: "operations.receiveRequest.reply",
    no_title: "info",
}
"""What can be wrong with a document, and where the parser has to see it."""


@pytest.fixture(scope="module")
def told() -> dict[str, Diagnostics]:
    """What the parser says of our document, and of one with every fault: it needs most of a second for each."""
    faulty = copy.deepcopy(DOCUMENT)
    for spoil in FAULTS:
        spoil(faulty)
    documents = {"ours": DOCUMENT, "faulty": faulty}
    command = [program("node"), LINTER / "lint.js", installed()]
    done = subprocess.run(command, input=json.dumps(documents), capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    # That there is a newer AsyncAPI 3 is no fault of a document that more tools can read.
    return {
        name: [each for each in found if each["code"] != "asyncapi-latest-version"]
        for name, found in json.loads(done.stdout).items()
    }


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.fail("the AsyncAPI document is checked with a tool from npm: apt-get install nodejs npm")
    return found


def installed() -> Path:
    """The parser, installed once for a checkout by the lock beside it."""
    bundle = INSTALLED / "node_modules" / "@asyncapi" / "parser" / "browser" / "index.js"
    kept, lock = INSTALLED / "package-lock.json", (LINTER / "package-lock.json").read_text()
    if not (bundle.exists() and kept.exists() and kept.read_text() == lock):
        shutil.rmtree(INSTALLED, ignore_errors=True)
        shutil.copytree(LINTER, INSTALLED)
        install = [program("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-progress"]
        done = subprocess.run(install, cwd=INSTALLED, capture_output=True, text=True, timeout=110)
        assert done.returncode == 0, done.stderr
    return bundle


@pytest.mark.real
def test_the_parser_has_nothing_to_say(told: dict[str, Diagnostics]) -> None:
    assert told["ours"] == []


@pytest.mark.real
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_the_parser_refuses_a_broken_document(fault: Callable[[Any], None], told: dict[str, Diagnostics]) -> None:
    places = [each["path"] for each in told["faulty"] if each["severity"] == 0]
    assert [place for place in places if place.startswith(FAULTS[fault])], places


# --- what it says is what the product does -----------------------------------------------------------------


def payload_schema(message: str) -> Any:
    """A message's payload, with all that it refers to."""
    return {**DOCUMENT["components"]["messages"][message]["payload"], "components": DOCUMENT["components"]}


def sent_channels() -> dict[str, dict[str, Any]]:
    """Of each channel that the table sends to: QoS and whether it is retained."""
    return {
        operation["channel"]["$ref"].rpartition("/")[2]: operation["bindings"]["mqtt"]
        for operation in DOCUMENT["operations"].values()
        if operation["action"] == "send"
    }


def test_it_is_asyncapi_3_with_every_topic_of_a_table() -> None:
    assert DOCUMENT["asyncapi"].startswith("3.")
    addresses = {channel["address"] for channel in DOCUMENT["channels"].values()}
    levels = {"state", "info", "health", "availability", "score/{side}", "left/{side}", "line", "event", "beam/{beam}"}
    levels |= {"request", "response"}
    own = {f"pocketbeam/{{table}}/{level}" for level in levels}
    assert addresses == {None, "{prefix}/device/pocketbeam_{table}/config", "{prefix}/status", *own}


def test_each_message_of_the_product_has_its_channel_quality_and_retention() -> None:
    bindings = {name: binding for name, binding in sent_channels().items() if name != "discovery"}
    example = {name: DOCUMENT["components"]["messages"][name]["examples"][0]["payload"] for name in bindings}
    messages = [
        topics.availability_message("club-1", online=True),
        topics.info_message(example["info"]),
        topics.health_message(example["health"]),
        topics.event_message(example["event"]),
        topics.beam_message(example["beam"]),
        *topics.state_messages(example["state"], clear=True),
    ]
    for message in messages:
        qualities = bindings[message.topic.split("/")[2]]
        assert (qualities["qos"], qualities["retain"]) == (message.qos, message.retain), message.topic
    assert {message.topic.split("/")[2] for message in messages} == set(bindings)


def test_every_request_is_answered_on_the_response_topic_or_where_it_asked_for() -> None:
    first, second = (each for each in DOCUMENT["operations"].values() if "reply" in each)
    assert first["reply"]["channel"] == {"$ref": "#/channels/response"}
    assert second["reply"]["channel"] == {"$ref": "#/channels/reply"}
    assert second["reply"]["address"]["location"] == "$message.header#/responseTopic"
    assert len(DOCUMENT["channels"]["request"]["messages"]) == len(REQUESTS)


@pytest.mark.parametrize("name", DOCUMENT["components"]["messages"])
def test_every_example_is_what_the_product_takes_and_says(name: str) -> None:
    message = DOCUMENT["components"]["messages"][name]
    assert message["examples"]
    for example in (each["payload"] for each in message["examples"]):
        Draft7Validator(payload_schema(name)).validate(example)
        if name in ("discovery", "homeAssistant"):
            continue  # Home Assistant's own
        if isinstance(example, str):
            levels = {"score": "score/a", "left": "left/a"}.get(name, name)
            assert validate(f"pocketbeam/club-1/{levels}", example) == example
        elif "command" in example:
            assert isinstance(check_request(example), Request)
        else:
            level = {"beam": "beam/ne", "corrected": "event"}.get(name, name)
            assert validate(f"pocketbeam/club-1/{level}", json.dumps(example)) == example


def test_every_command_event_and_error_is_in_it() -> None:
    text = json.dumps(DOCUMENT)
    for word in (*commands(), *get_args(models.EventName), *get_args(models.ErrorCode)):
        assert f'"{word}"' in text, word


@pytest.mark.real
def test_it_is_the_same_text_in_every_process() -> None:
    def printed(seed: str) -> str:
        command = [sys.executable, "-m", "appliance", "schema"]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout

    assert printed("1") == printed("2") == asyncapi.main_text() + "\n"
