"""Checks a received message against the models of what a table publishes."""

import json
from typing import Any

from pydantic import TypeAdapter

from appliance.mqtt import models
from tests.support import documented, home_assistant

_TEXTS = {"line", "score", "left"}
_AVAILABILITY: TypeAdapter[str] = TypeAdapter(models.Availability)


def validate(topic: str, payload: str | bytes) -> Any:
    """The message's content: a document as a dict, a small topic as text, None for an empty payload.

    Fails (pydantic's ValidationError or AssertionError) where the message is not what the contract says.
    """
    text = payload.decode() if isinstance(payload, bytes) else payload
    if topic.endswith("/config"):
        announced = json.loads(text) if text else None
        if announced is not None:
            home_assistant.check(topic, announced)
        return announced
    if not topic.startswith("pocketbeam/"):
        # A response topic that an MQTT 5 client has chosen.
        return models.Response.model_validate_json(text).model_dump(by_alias=True, exclude_unset=True)
    _, table, kind, *rest = topic.split("/")
    if kind == "availability":
        return _AVAILABILITY.validate_python(text)
    if kind in _TEXTS:
        return _small(kind, rest, text)
    document = json.loads(text)
    assert document["schema"] == f"pocketbeam.{kind}/1", f"{topic} carries {document['schema']}"
    assert document["table"] == table, f"{topic} carries the table {document['table']}"
    if kind == "beam":
        assert [document["beam"]] == rest
    else:
        assert len(rest) <= (kind == "response"), f"{topic} is no topic of the contract"
    models.document_model(document["schema"], document).model_validate_json(text)
    if kind == "event":
        documented.check_event(document)
    return document


def _small(kind: str, rest: list[str], text: str) -> str | None:
    if text == "":
        return None
    if kind == "line":
        assert not rest
        assert len(text) <= 255
    else:
        assert len(rest) == 1
        assert text.isascii()
        assert text.isdigit(), f"{kind}/{rest[0]} should be a number, not {text!r}"
    return text
