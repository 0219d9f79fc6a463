"""The contract as JSON Schema (draft 2020-12), from the very models that messages are checked with."""

import json
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from appliance.mqtt import models
from appliance.mqtt.requests import REQUESTS
from appliance.mqtt.topics import SCHEMAS

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_DOCUMENTS = (
    models.State,
    models.Info,
    models.Health,
    models.Event,
    models.Corrected,
    models.Response,
    models.Beam,
)


def documents() -> dict[str, Any]:
    """Every document in one object: `documents` by topic, with what they share under `$defs`.

    Each entry of `documents` is a schema whose references resolve within the whole object.
    """
    every: list[type[BaseModel]] = [*_DOCUMENTS, *REQUESTS]
    references, whole = models_json_schema([(model, "validation") for model in every])

    def of(model: type[BaseModel]) -> dict[str, Any]:
        return references[(model, "validation")]

    return {
        "$schema": DIALECT,
        "title": "Pocketbeam",
        "description": "Every message between a Pocketbeam table and a broker.",
        "schemas": list(SCHEMAS),
        "documents": {
            "availability": TypeAdapter(models.Availability).json_schema(),
            "state": of(models.State),
            "info": of(models.Info),
            "health": of(models.Health),
            "event": {"anyOf": [of(models.Corrected), of(models.Event)]},
            "response": of(models.Response),
            "beam": of(models.Beam),
            "request": {"oneOf": [of(model) for model in REQUESTS]},
        },
        "$defs": _without_null_defaults(whole["$defs"]),
    }


def main_text() -> str:
    """What `pocketbeam schema` prints."""
    return json.dumps(documents(), indent=2, ensure_ascii=False)


def _without_null_defaults(node: Any) -> Any:
    """Leaves out `"default": null`: the key may be absent, which `required` says already."""
    if isinstance(node, dict):
        return {
            key: _without_null_defaults(value)
            for key, value in node.items()
            if not (key == "default" and value is None)
        }
    return [_without_null_defaults(value) for value in node] if isinstance(node, list) else node
