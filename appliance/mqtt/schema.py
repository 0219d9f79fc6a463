"""The contract as JSON Schema (draft 2020-12), from the very models that messages are checked with."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from appliance.mqtt import models
from appliance.mqtt.requests import REQUESTS
from appliance.mqtt.topics import SCHEMAS

DIALECT = "https://json-schema.org/draft/2020-12/schema"

DOCUMENTS: tuple[type[BaseModel], ...] = (
    models.State,
    models.Info,
    models.Health,
    models.Event,
    models.Corrected,
    models.Response,
    models.Beam,
)

Schema = dict[str, Any]


class _Untitled(GenerateJsonSchema):
    """Without a title that only says a property's name again."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def of_models(wanted: Sequence[type[BaseModel]], reference: str) -> Mapping[str, Schema]:
    """The schemas of these models and of all that they are made of, by name, each referring to the others as
    `reference` says (`#/$defs/{model}`).
    """
    every = [(model, "validation") for model in wanted]
    _, whole = models_json_schema(every, ref_template=reference, schema_generator=_Untitled)  # type: ignore[arg-type]
    named: Mapping[str, Schema] = _without_null_defaults(whole["$defs"])
    return named


def availability() -> Schema:
    """The schema of the one plain text that has one."""
    return TypeAdapter(models.Availability).json_schema()


def documents() -> Schema:
    """Every document in one object: `documents` by topic, with what they share under `$defs`.

    Each entry of `documents` is a schema whose references resolve within the whole object.
    """

    def of(model: type[BaseModel]) -> Schema:
        return {"$ref": f"#/$defs/{model.__name__}"}

    return {
        "$schema": DIALECT,
        "title": "Pocketbeam",
        "description": "Every message between a Pocketbeam table and a broker.",
        "schemas": list(SCHEMAS),
        "documents": {
            "availability": availability(),
            "state": of(models.State),
            "info": of(models.Info),
            "health": of(models.Health),
            "event": {"anyOf": [of(models.Corrected), of(models.Event)]},
            "response": of(models.Response),
            "beam": of(models.Beam),
            "request": {"oneOf": [of(model) for model in REQUESTS]},
        },
        "$defs": of_models([*DOCUMENTS, *REQUESTS], "#/$defs/{model}"),
    }


def json_schema_text() -> str:
    """What `pocketbeam schema --json-schema` prints."""
    return to_text(documents())


def to_text(document: Schema) -> str:
    """A document as people read it; the same text for the same program, always."""
    return json.dumps(document, indent=2, ensure_ascii=False)


def _without_null_defaults(node: Any) -> Any:
    """Leaves out `"default": null`: the key may be absent, which `required` says already."""
    if isinstance(node, dict):
        return {
            key: _without_null_defaults(value)
            for key, value in node.items()
            if not (key == "default" and value is None)
        }
    return [_without_null_defaults(value) for value in node] if isinstance(node, list) else node
