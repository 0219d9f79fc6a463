"""Filling the models section by section, each fault of a value turned into a sentence."""

import re
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from appliance.bridges.settings import AwtrixSettings, Bridges, WledSettings
from appliance.config.lines import KeyPath
from appliance.config.problems import ConfigurationError, nearest, one_of
from appliance.config.report import Report
from appliance.config.settings import (
    Beam,
    BeamSettings,
    Button,
    Colour,
    HomeAssistant,
    Lamp,
    Mqtt,
    Player,
    Press,
    Settings,
    Source,
    Table,
    Tls,
    Web,
)

LISTS: dict[str, type[BaseModel]] = {"sources": Source, "beams": Beam, "buttons": Button, "lamps": Lamp}
TABLES: dict[str, type[BaseModel]] = {
    "table": Table,
    "mqtt": Mqtt,
    "home_assistant": HomeAssistant,
    "web": Web,
    "bridges": Bridges,
}
_INNER: dict[str | int, type[BaseModel]] = {
    **{"players": Player, "settings": BeamSettings, "colour": Colour, "long": Press, "tls": Tls},
    **{"awtrix": AwtrixSettings, "wled": WledSettings},
}
_NOT_SECTIONS = {"file", "warnings"}
SECTIONS = tuple(name for name in Settings.model_fields if name not in _NOT_SECTIONS)

_KINDS = {
    "string_type": "text in quotation marks",
    "is_instance_of": "text in quotation marks",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list in [ ]",
    "model_type": "a table in { }",
    "dict_type": "a table in { }",
    "press": 'what a long press asks for, such as { action = "undo" }',
    "player": 'a name in quotation marks or { id = "a17", name = "Asha" }',
    "finite_number": "a finite number",
}
_EXAMPLES = {
    "id": 'id = "club-1"',
    "game": 'game = "club_carrom"',
    "kind": 'kind = "serial"',
    "source": 'source = "board"',
    "place": 'place = "ne"',
    "action": 'action = "done"',
    "shows": 'shows = "turn"',
    "name": 'name = "Asha"',
    "prefix": 'prefix = "awtrix_1a2b3c"',
    "topic": 'topic = "wled/hall"',
    "presets": "presets = { match_ended = 5, match_point = 4 }",
}

Model = TypeVar("Model", bound=BaseModel)


def read_structure(document: dict[str, Any], report: Report) -> dict[str, Any]:
    """Every section that can be filled, as models; what cannot is in the report."""
    sections: dict[str, Any] = {}
    for name in document:
        if name not in SECTIONS:
            report.wrong((name,), f"is no section of a configuration{nearest(name, SECTIONS)}")
    for name, model in TABLES.items():
        if name in document:
            filled = _fill(model, document[name], (name,), report)
            if filled is not None:
                sections[name] = filled
    for name, model in LISTS.items():
        sections[name] = _fill_list(model, document.get(name, []), (name,), report)
    rules = document.get("rules", {})
    if isinstance(rules, dict):
        sections["rules"] = rules
    else:
        report.wrong(("rules",), f"must be a section [rules], not {shown(rules)}")
    if "table" not in document:
        report.wrong(("table",), 'the section is missing; write [table] with id = "club-1" and a game')
    return sections


def bridge_settings(name: str, raw: dict[str, Any]) -> Any:
    """The settings of one bridge alone; ConfigurationError with everything that is wrong with them."""
    report = Report("", {})
    filled = _fill(Bridges, {name: raw}, ("bridges",), report)
    if filled is None:
        raise ConfigurationError(report.problems)
    return getattr(filled, name)


def shown(value: Any) -> str:
    """A value as the file would write it, shortened."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, str):
        return '"' + (value if len(value) <= 60 else value[:60] + "…") + '"'
    text = str(value)
    return text if len(text) <= 60 else text[:60] + "…"


def _fill_list(model: type[Model], raw: Any, path: KeyPath, report: Report) -> tuple[Model, ...]:
    if not isinstance(raw, list) or not all(isinstance(each, dict) for each in raw):
        report.wrong(path, f"is a list: begin each of its entries with [[{path[0]}]] in double brackets")
        return ()
    filled = [_fill(model, each, (*path, index), report) for index, each in enumerate(raw)]
    return tuple(each for each in filled if each is not None)


def _fill(model: type[Model], raw: Any, path: KeyPath, report: Report) -> Model | None:
    if not isinstance(raw, dict):
        report.wrong(path, f"must be a section [{path[0]}], not {shown(raw)}")
        return None
    data = raw if issubclass(model, Button) else _tuples(raw)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            at = tuple(part for part in fault["loc"] if part != "[key]")
            if at[:1] == ("players",) and len(at) == 3 and isinstance(raw["players"][at[1]], str):
                at = at[:2]  # a plain name has no inner keys to point at
            report.wrong((*path, *at), _sentence(dict(fault), _model_at(model, at)))
        return None


def _tuples(value: Any) -> Any:
    """Lists as tuples: the models are frozen through and through and convert nothing by themselves."""
    if isinstance(value, dict):
        return {key: _tuples(each) for key, each in value.items()}
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value


def _model_at(model: type[BaseModel], at: KeyPath) -> type[BaseModel]:
    for part in at[:-1]:
        model = _INNER.get(part, model)
    return model


def _sentence(fault: dict[str, Any], model: type[BaseModel]) -> str:
    kind, value, context = fault["type"], fault["input"], fault.get("ctx", {})
    key = fault["loc"][-1] if fault["loc"] else ""
    if kind == "missing":
        return f"is missing; write for example {_EXAMPLES.get(str(key), f'{key} = …')}"
    if kind == "extra_forbidden":
        return f"is no key of this section{nearest(str(key), model.model_fields)}"
    if kind == "literal_error":
        valid = re.findall(r"'([^']*)'", context["expected"])
        if not isinstance(value, str):
            return f"must be {one_of(valid)}, not {shown(value)}"
        return f"{shown(value)} is not possible{nearest(value, valid)}"
    if kind in ("greater_than", "greater_than_equal", "less_than", "less_than_equal"):
        bound = {"greater_than": "more than", "greater_than_equal": "at least", "less_than": "less than"}
        (limit,) = context.values()
        return f"must be {bound.get(kind, 'at most')} {_number(limit)}, not {shown(value)}"
    if kind == "string_too_short":
        return "must not be empty"
    if kind == "string_pattern_mismatch":
        if "@" in value:
            # What stands before it may be a password, which is not for a log.
            return "must be a host alone: the user goes into username, and the password into a password_file"
        return f"must be a host name or an address without spaces and slashes, not {shown(value)}"
    if kind == "value_error":
        return str(context["error"])
    if kind == "model_type" and model is Player:
        kind = "player"
    if kind == "model_type" and key == "long":
        kind = "press"
    if kind in _KINDS:
        return f"must be {_KINDS[kind]}, not {shown(value)}"
    return f"is not possible: {fault['msg']}"


def _number(limit: Any) -> str:
    return f"{limit:g}" if isinstance(limit, float) else str(limit)
