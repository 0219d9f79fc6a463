"""What is wrong with a request, in words: the field, what it must be, and what it was."""

import json
import re
from collections.abc import Collection
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from appliance.misspelt import meant

_KINDS = {
    "string_type": "a text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object in braces",
}
_BOUNDS = {"greater_than_equal": "at least", "less_than_equal": "at most"}


def sentence(error: ValidationError, model: type[BaseModel], command: str) -> str:
    """The first problem of a request, in words."""
    problems = error.errors(include_url=False)
    # A mistyped name explains a missing one, and the deepest problem is the one in the branch that was meant.
    problem = max(problems, key=lambda entry: (entry["type"] == "extra_forbidden", len(entry["loc"])))
    where = _path(problem["loc"])
    given = shown(problem["input"])
    match problem["type"]:
        case "extra_forbidden" if len(problem["loc"]) > 1:
            return f"{where} is unknown"
        case "extra_forbidden":
            fields = [field for field in model.model_fields if field != "command"]
            return f"{command} has no field {where}{nearest(str(problem['loc'][0]), fields)}"
        case "missing":
            return f"{command} needs the field {where}"
        case "value_error":
            words = str(problem["ctx"]["error"])
            return f"{where}: {words}" if problem["loc"] else words
        case "literal_error":
            choices = re.findall("'([a-z_]+)'", problem["ctx"]["expected"])
            return f"{where} cannot be {given}{nearest(str(problem['input']), choices)}"
        case kind if kind in _KINDS:
            return f"{where} must be {_KINDS[kind]}, not {given}"
        case kind if kind in _BOUNDS:
            (bound,) = problem["ctx"].values()
            return f"{where} must be {_BOUNDS[kind]} {bound}, not {given}"
        case "too_short" | "string_too_short":
            return f"{where} must have at least {problem['ctx']['min_length']} {_parts(problem)}"
        case "too_long" | "string_too_long":
            return f"{where} must have at most {problem['ctx']['max_length']} {_parts(problem)}"
        case _:
            wanted = problem["msg"].removeprefix("Input ")
            return f"{where} {wanted[0].lower()}{wanted[1:]}, not {given}"


def _parts(problem: ErrorDetails) -> str:
    what = "characters" if isinstance(problem["input"], str) else "entries"
    return f"{what}, this has {len(problem['input'])}"


def _path(location: tuple[int | str, ...]) -> str:
    """Where in the request; branches that the model tried are no part of it."""
    names = [part for part in location if part != "Person" and "constrained" not in str(part)]
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in names)
    return shown(text.removeprefix("."))


def nearest(name: str, names: Collection[str]) -> str:
    """The end of a sentence about a `name` that is unknown: the one that was probably meant, or all."""
    near = meant(name[:64], list(names), alike=0.5)
    return f', did you mean "{near}"?' if near else f"; there are: {', '.join(names)}"


def shown(value: Any) -> str:
    """A value as JSON, short enough for a sentence and free of control characters."""
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 60 else text[:57] + "…"
