"""The models take what the contract describes, and nothing beside it."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter, ValidationError

from appliance import rules
from appliance.mqtt import models, schema, topics
from appliance.table.fold import RESULT_EVENTS
from tests.support import mqtt_examples as examples
from tests.support.validated import validate

DOCUMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    **{game: ("pocketbeam/club-1/state", state) for game, state in examples.STATES.items()},
    "busy": ("pocketbeam/club-1/state", examples.BUSY),
    "info": ("pocketbeam/club-1/info", examples.INFO),
    "health": ("pocketbeam/club-1/health", examples.HEALTH),
    "event": ("pocketbeam/club-1/event", examples.EVENT),
    "corrected": ("pocketbeam/club-1/event", examples.CORRECTED),
    "done": ("pocketbeam/club-1/response", examples.DONE),
    "refused": ("pocketbeam/club-1/response", examples.REFUSED),
    "beam": ("pocketbeam/club-1/beam/ne", examples.BEAM),
}

# keys that a document may do without: those of events and results depend on which it is
OPTIONAL = {
    "busy": {"last_result.board", "last_result.board_result"},
    "event": {"stroke"},
    "info": {"players.0.id"},
    "refused": {"error.stroke"},
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_by_hand_is_accepted(name: str) -> None:
    topic, document = DOCUMENTS[name]
    assert validate(topic, json.dumps(document)) == document


def paths(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield (*path, key)
            yield from paths(value, (*path, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from paths(value, (*path, index))


def without(document: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    node: Any = changed
    for step in path[:-1]:
        node = node[step]
    del node[path[-1]]
    return changed


def free_keys(path: tuple[Any, ...]) -> bool:
    """Beams, sources, counters and options are named by the configuration."""
    return any(path[:-1][-1:] == (name,) for name in ("beams", "sources", "counters", "options"))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_key_is_always_present(name: str) -> None:
    topic, document = DOCUMENTS[name]
    needed = [
        path
        for path in paths(document)
        if not free_keys(path) and ".".join(map(str, path)) not in OPTIONAL.get(name, set())
    ]
    assert needed
    for path in needed:
        with pytest.raises((ValidationError, KeyError, AssertionError)):
            validate(topic, json.dumps(without(document, path)))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_undeclared_key_anywhere(name: str) -> None:
    topic, document = DOCUMENTS[name]
    places = {path[:-1] for path in paths(document) if not free_keys(path)}
    for place in places:
        changed = copy.deepcopy(document)
        node: Any = changed
        for step in place:
            node = node[step]
        if isinstance(node, dict):
            node["surprise"] = 1
            with pytest.raises(ValidationError):
                validate(topic, json.dumps(changed))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seq", True),
        ("seq", "41"),
        ("seq", -1),
        ("at", "2026-03-01 19:30:05"),
        ("at", "2026-03-01T19:30:05+01:00"),
        ("clock_synchronised", 1),
        ("table", "Club 1"),
        ("match_id", None),
    ],
)
def test_the_envelope_is_strict(key: str, value: object) -> None:
    with pytest.raises((ValidationError, AssertionError)):
        validate("pocketbeam/club-1/state", json.dumps({**examples.BUSY, key: value}))


def test_a_response_has_an_error_exactly_when_it_is_not_ok() -> None:
    for document in ({**examples.DONE, "ok": False}, {**examples.REFUSED, "ok": True}):
        with pytest.raises(ValidationError):
            validate("pocketbeam/club-1/response", json.dumps(document))


def test_a_queen_belongs_to_somebody_exactly_when_it_is_pocketed() -> None:
    for queen in ({"status": "on_board", "side": "A"}, {"status": "covered", "side": None}):
        rules = {**examples.CLUB, "queen": queen}
        with pytest.raises(ValidationError):
            validate("pocketbeam/club-1/state", json.dumps(examples.state(rules, 2)))


@pytest.mark.parametrize(
    ("topic", "payload", "content"),
    [
        ("pocketbeam/club-1/availability", "online", "online"),
        ("pocketbeam/club-1/score/a", "12", "12"),
        ("pocketbeam/club-1/left/all", "", None),
        ("pocketbeam/club-1/line", "Asha 1 – 0 Ben", "Asha 1 – 0 Ben"),
    ],
)
def test_plain_topics(topic: str, payload: str, content: str | None) -> None:
    assert validate(topic, payload) == content


@pytest.mark.parametrize(
    ("topic", "payload"),
    [
        ("pocketbeam/club-1/availability", "Online"),
        ("pocketbeam/club-1/availability", ""),
        ("pocketbeam/club-1/score/a", "None"),
        ("pocketbeam/club-1/score/a", "-1"),
        ("pocketbeam/club-1/line", "x" * 256),
        ("pocketbeam/club-1/state", json.dumps(examples.INFO)),
        ("pocketbeam/club-2/state", json.dumps(examples.BUSY)),
    ],
)
def test_wrong_plain_topics_and_misplaced_documents(topic: str, payload: str) -> None:
    with pytest.raises((ValidationError, AssertionError)):
        validate(topic, payload)


def scenarios(game: str) -> list[dict[str, Any]]:
    files = (Path(__file__).parent.parent / "scenarios").glob(f"{game}*.jsonl")
    found = [json.loads(line) for file in sorted(files) for line in file.read_text().splitlines()]
    assert found
    return found


@pytest.mark.parametrize("game", ["club_carrom", "new_carrom", "money_carrom", "carpetball"])
def test_every_worked_scenario_fits_the_rules_of_its_game(game: str) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(models.Rules)
    for scenario in scenarios(game):
        for step in ({"state": scenario["start"]}, *scenario["steps"]):
            # some list only the part of a player that they are about
            if all("missed_turns" in player for player in step["state"].get("players", ())):
                adapter.validate_json(json.dumps(step["state"]))


@pytest.mark.parametrize("game", ["club_carrom", "new_carrom", "money_carrom", "carpetball"])
def test_what_the_rules_bring_in_the_scenarios_fits(game: str) -> None:
    """Each state, event and instruction that follows from an observation, as it would be published."""
    names = set()
    for scenario in scenarios(game):
        state = rules.start(rules.parse_setup(game, scenario["setup"]))
        players = [{"player": n, "name": f"P{n}"} for n in range(1, scenario["setup"]["players"] + 1)]
        for step in scenario["steps"]:
            observation = rules.parse_observation(game, step["observation"])
            if isinstance(observation, rules.Undo):
                break
            applied = rules.apply(state, observation)
            if isinstance(applied, rules.Refusal):
                continue
            state, ruling = applied
            document = {
                **examples.STATES[game],
                "rules": rules.document(state),
                "players": players,
                "instructions": [instruction.document() for instruction in ruling.instructions],
            }
            for message in topics.state_messages(document):
                validate(message.topic, message.payload or "")
            for event in ruling.events:
                names.add(event.name)
                news = {**examples.ENVELOPE, "schema": topics.EVENT_SCHEMA, "event_id": "1.1", **event.document()}
                news |= {"certain": True} if event.name in RESULT_EVENTS else {}
                validate("pocketbeam/club-1/event", json.dumps(news))
    assert len(names) > 5


def test_the_models_and_the_topics_name_the_same_schemas() -> None:
    named = {
        model.model_fields["schema_"].annotation.__args__[0]  # type: ignore[union-attr]
        for model in (
            models.State, models.Info, models.Health, models.Event, models.Response, models.Beam
        )
    }  # fmt: skip
    assert named == set(topics.SCHEMAS)


def test_the_printed_schema_accepts_what_the_models_accept() -> None:
    printed = json.loads(schema.json_schema_text())
    Draft202012Validator.check_schema(printed)
    for topic, document in DOCUMENTS.values():
        kind = topic.split("/")[2]
        validator = Draft202012Validator({**printed["documents"][kind], "$defs": printed["$defs"]})
        validator.validate(document)
        assert not validator.is_valid({**document, "surprise": 1})


def test_the_printed_schema_knows_every_request() -> None:
    printed = json.loads(schema.json_schema_text())
    requests = {**printed["documents"]["request"], "$defs": printed["$defs"]}
    validator = Draft202012Validator(requests)
    validator.validate({"command": "stroke", "pocketed": ["white"], "transaction": "t"})
    validator.validate({"command": "undo", "expected_seq": 4})
    assert not validator.is_valid({"command": "undone"})
    assert not validator.is_valid({"command": "throw", "out": {"west": 1}})
