"""The page about MQTT says what is true: its examples are valid, its lists complete."""

import json
import re
from typing import Any, get_args

import pytest

from appliance.cli.commands import COMMANDS
from appliance.cli.parser import parse
from appliance.mqtt import asyncapi, models, topics
from appliance.mqtt.requests import Asked, Request, commands, parse_request
from tests.support import mqtt_examples as examples
from tests.support.documented import ENVELOPE, PAGE, WHERE, events
from tests.support.validated import validate

TEXT = PAGE.read_text("utf-8")


def section(title: str) -> str:
    return TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def json_examples(text: str = TEXT) -> list[dict[str, Any]]:
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]


def plain_examples() -> list[tuple[str, str]]:
    lines = [line for block in re.findall(r"```text\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]
    return [(topic, payload) for topic, _, payload in (line.partition(" ") for line in lines)]


def topic_of(document: dict[str, Any]) -> str:
    kind = document["schema"].removeprefix("pocketbeam.").split("/")[0]
    return "pocketbeam/club-1/" + (f"beam/{document['beam']}" if kind == "beam" else kind)


def test_every_example_is_valid() -> None:
    for document in json_examples():
        if "command" in document:
            assert isinstance(parse_request(json.dumps(document).encode(), retained=False), Request)
        else:
            validate(topic_of(document), json.dumps(document))
    for topic, payload in plain_examples():
        assert validate(topic, payload) == payload


def test_every_topic_is_in_the_table_and_has_an_example() -> None:
    shown = {topic_of(document) for document in json_examples() if "schema" in document}
    shown |= {topic for topic, _ in plain_examples()}
    shown |= {topics.request_topic("club-1") for document in json_examples() if "command" in document}
    table = TEXT.split("| topic under")[1].split("\n\n")[0]
    for channel in asyncapi.document()["channels"].values():
        if not (channel["address"] or "").startswith("pocketbeam/"):
            continue  # told on other pages, or without an address
        pattern = re.sub(r"\\{\w+\\}", "[a-z0-9-]+", re.escape(channel["address"]))
        assert [topic for topic in shown if re.fullmatch(pattern, topic)], channel["address"]
        level = re.sub(r"/\{\w+\}$", "/…", channel["address"].removeprefix("pocketbeam/{table}/"))
        assert f"`{level}`" in table, level


def test_the_table_of_topics_tells_how_they_are_sent() -> None:
    rows = re.findall(r"^\| ((?:`[a-z/…]+`,? ?)+) \| (yes|no|never) \| (\d) \|", TEXT, re.MULTILINE)
    told = {level: (int(qos), kept == "yes") for levels, kept, qos in rows for level in re.findall(r"`(\w+)", levels)}
    document = asyncapi.document()
    bindings: dict[str, tuple[int, bool]] = {"response": (1, False)}  # sent in answer, by no operation of its own
    for operation in document["operations"].values():
        binding = operation["bindings"]["mqtt"]
        name = operation["channel"]["$ref"].rpartition("/")[2]
        if document["channels"][name]["address"].startswith("pocketbeam/"):
            bindings[name] = (binding["qos"], binding["retain"])
    assert told == bindings


def test_every_name_of_the_contract_is_on_the_page() -> None:
    for name in (*commands(), *get_args(models.EventName), *get_args(models.ErrorCode)):
        assert f"`{name}`" in TEXT, f"{name} is missing"


def test_every_event_has_its_row_and_every_key_of_events_is_somebodys() -> None:
    assert set(events()) == set(get_args(models.EventName))
    used = set().union(*(keys.always | keys.sometimes for keys in events().values())) | WHERE
    assert used == set(models.Corrected.model_fields) - ENVELOPE - {"schema_"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"place": "ne"}, "does not tell of: ['place']"),
        ({"side": None}, None),
        ({"assumed": True}, None),
    ],
)
def test_an_event_with_a_key_that_its_row_does_not_tell_of_is_found(change: dict[str, Any], words: str | None) -> None:
    event = json.dumps({**examples.EVENT, **change})
    if words is None:
        validate("pocketbeam/club-1/event", event)
    else:
        with pytest.raises(AssertionError, match=re.escape(words)):
            validate("pocketbeam/club-1/event", event)


def test_an_event_without_a_key_that_its_row_promises_is_found() -> None:
    event = {key: value for key, value in examples.EVENT.items() if key != "side"}
    with pytest.raises(AssertionError, match=re.escape("promises: ['side']")):
        validate("pocketbeam/club-1/event", json.dumps(event))


def test_every_command_has_its_row_with_all_its_fields() -> None:
    rows = re.findall(r"^\| ((?:`\w+`,? ?)+) \| ([^|]+) \| [^|]+ \|$", section("request and response"), re.MULTILINE)
    fields = {name: told for names, told in rows for name in re.findall(r"`(\w+)`", names)}
    for command, model in commands().items():
        own = set(model.model_fields) - set(Asked.model_fields) - {"command"}
        told = set(re.findall(r"`(\w+)`", fields[command]))
        assert told == own or "the parts of the position" in fields[command], command


def test_the_lines_of_a_shell_are_what_the_command_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    import shlex

    lines = re.findall(r"^pocketbeam (send .*)$", TEXT, re.MULTILINE)
    assert len(lines) == 2
    for line in lines:
        options = parse(COMMANDS, shlex.split(line))
        request = {"command": options.request, **dict(options.fields)}
        assert isinstance(parse_request(json.dumps(request).encode(), retained=False), Request)


def test_the_lines_are_lines_that_a_table_says() -> None:
    money = {**examples.MONEY, "players": [{**player, "missed_turns": 0} for player in examples.MONEY["players"]]}
    for state in (examples.STATES["club_carrom"], examples.state(money, 3), examples.STATES["carpetball"]):
        assert f"* `{topics.line(state)}`" in TEXT
