"""What a newer contract breaks for those who were built for an older one: a pure comparison of AsyncAPI documents.

Two directions, two rules. Of what a table *sends*, nothing may go away and nothing change its type or leave its
bounds, because somebody reads it; more may come, because readers ignore what they do not know. Of what it
*receives*, everything that was right must stay right; more may become possible.

Schemas are compared by what they say, wherever they keep it: a definition may get another name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any]
Schema = Mapping[str, Any]

_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems")


def breaks(old: Document, new: Document) -> list[str]:
    """Each thing that is broken, with its place; none where the newer contract holds what the older one promised."""
    return [*_topics(old, new), *_sent(old, new), *_received(old, new)]


# --- topics and messages -----------------------------------------------------------------------------------


def _topics(old: Document, new: Document) -> Iterator[str]:
    after = {channel["address"]: name for name, channel in new["channels"].items()}
    for name, channel in old["channels"].items():
        address = channel["address"]
        if address not in after:
            yield f"the topic {address} is gone"
            continue
        levels, now = (_levels(each, where) for each, where in ((old, name), (new, after[address])))
        for parameter, values in levels.items():
            gone = values - now.get(parameter, values)
            yield from (f"{address}: {parameter} is never {value} any more" for value in sorted(gone))
        before, later = _delivery(old, name), _delivery(new, after[address])
        if before != later and before is not None:
            yield f"{address}: sent with {before}, now with {later}"


def _levels(document: Document, channel: str) -> dict[str, set[str]]:
    parameters = document["channels"][channel].get("parameters", {})
    return {name: set(found["enum"]) for name, each in parameters.items() if "enum" in (found := _at(document, each))}


def _delivery(document: Document, channel: str) -> str | None:
    for operation in document["operations"].values():
        if operation["action"] == "send" and operation["channel"]["$ref"] == f"#/channels/{channel}":
            binding = operation["bindings"]["mqtt"]
            return f"QoS {binding['qos']}, {'retained' if binding['retain'] else 'not retained'}"
    return None


def _messages(document: Document, action: str) -> dict[str, Schema]:
    """The payloads that are sent or received, by the message's name."""
    found: dict[str, Schema] = {}
    for operation in document["operations"].values():
        ends = [operation["channel"]] if operation["action"] == action else []
        if action == "send" and "reply" in operation:
            ends.append(operation["reply"]["channel"])
        for end in ends:
            for name, message in _at(document, end)["messages"].items():
                found[name] = _at(document, message)["payload"]
    return found


def _sent(old: Document, new: Document) -> Iterator[str]:
    after = _messages(new, "send")
    for name, payload in _messages(old, "send").items():
        if name not in after:
            yield f"the message {name} is never sent any more"
        else:
            yield from _Comparison(old, new, sends=True).schemas(payload, after[name], name)


def _received(old: Document, new: Document) -> Iterator[str]:
    after = _commands(new)
    for command, payload in _commands(old).items():
        if command not in after:
            yield f"the command {command} is gone"
        else:
            yield from _Comparison(old, new, sends=False).schemas(payload, after[command], command)


def _commands(document: Document) -> dict[str, Schema]:
    """The payload of each request by its command, which is what stays when a message gets another name."""
    found: dict[str, Schema] = {}
    for payload in _messages(document, "receive").values():
        schema = _at(document, payload)
        if "command" not in schema.get("properties", {}):
            continue
        command = schema["properties"]["command"]
        others = {name: each for name, each in schema["properties"].items() if name != "command"}
        for word in command.get("enum", [command.get("const")]):
            found[word] = {**schema, "properties": others}
    return found


# --- schemas -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Comparison:
    old: Document
    new: Document
    sends: bool

    def schemas(self, before: Schema, after: Schema, where: str) -> list[str]:
        """What is broken between two schemas."""
        before, after = _at(self.old, before), _at(self.new, after)
        were, are = _branches(self.old, before), _branches(self.new, after)
        found: list[str] = []
        for kind, old_ones in were.items():
            new_ones = are.get(kind) or are.get(self._stands_for(kind, are) or "")
            if new_ones is None and kind == "null" and self.sends:
                continue
            if new_ones is None:
                found.append(f"{where} can no longer be {kind}")
                continue
            for one in old_ones:
                # Where there are several of a kind, the one that is meant is the one that broke least.
                found += min((self._same_kind(kind, one, other, where) for other in new_ones), key=len)
        if self.sends:
            new_kinds = [kind for kind in are if kind not in were and _wider(kind, were) is None]
            found += [f"{where} can now be {kind}, which nobody expects" for kind in new_kinds]
        return found

    def _stands_for(self, kind: str, are: Mapping[str, Any]) -> str | None:
        """The kind of now that is as good: for readers a narrower one, for those who send a wider one."""
        if not self.sends:
            return _wider(kind, are)
        return next((other for other in are if _wider(other, {kind: None}) is not None), None)

    def _same_kind(self, kind: str, before: Schema, after: Schema, where: str) -> list[str]:
        found = [*self._values(before, after, where), *self._bounds(before, after, where)]
        if kind == "object":
            found += self._objects(before, after, where)
        if kind == "array":
            found += self.schemas(before.get("items", {}), after.get("items", {}), f"{where}[]")
        return found

    def _values(self, before: Schema, after: Schema, where: str) -> Iterator[str]:
        were, are = _listed(before), _listed(after)
        if were is None and are is not None and not self.sends:
            yield f"{where} could be anything of its type, now only {_words(are)}"
        if were is not None and are is None and self.sends:
            yield f"{where} was one of {_words(were)}, now it can be anything"
        if were is not None and are is not None:
            yield from (f"{where} can no longer be {value!r}" for value in were if value not in are)

    def _bounds(self, before: Schema, after: Schema, where: str) -> Iterator[str]:
        for words, closer in ((_LOWER, 1), (_UPPER, -1)):
            for word in words:
                was, now = before.get(word), after.get(word)
                if was != now and self._outside(was, now, closer):
                    yield f"{where}: {word} was {was}, now {now}"
        was, now = before.get("pattern"), after.get("pattern")
        if was != now and (was is not None if self.sends else now is not None):
            yield f"{where}: pattern was {was}, now {now}"

    def _outside(self, was: Any, now: Any, closer: int) -> bool:
        """Whether values leave bounds that readers rely on, or bounds close in on those who send."""
        if was is None or now is None:
            return (now is None) is self.sends
        return ((now - was) * closer > 0) is not self.sends

    def _objects(self, before: Schema, after: Schema, where: str) -> Iterator[str]:
        were, are = before.get("properties", {}), after.get("properties", {})
        needed, needs = set(before.get("required", ())), set(after.get("required", ()))
        for name, schema in were.items():
            if name not in are:
                yield f"{where}.{name} is gone"
                continue
            if self.sends and name in needed - needs:
                yield f"{where}.{name} was always there, now it may be missing"
            yield from self.schemas(schema, are[name], f"{where}.{name}")
        if not self.sends:
            yield from (f"{where}.{name} is needed now" for name in sorted(needs - needed))
        was, now = _others(before), _others(after)
        if was is not None and now is not None:
            yield from self.schemas(was, now, f"{where}.*")
        elif was is not None:
            yield f"{where} no longer takes names of one's own"


def _branches(document: Document, schema: Schema) -> dict[str, list[Schema]]:
    """What a value can be, by type; a schema that says nothing is `anything`."""
    found: dict[str, list[Schema]] = {}
    for each in schema.get("anyOf", schema.get("oneOf", [schema])):
        branch = _at(document, each)
        if branch is not schema and ("anyOf" in branch or "oneOf" in branch):
            for kind, inner in _branches(document, branch).items():
                found.setdefault(kind, []).extend(inner)
            continue
        kinds = branch.get("type", "anything" if _listed(branch) is None else _kinds(branch))
        for kind in [kinds] if isinstance(kinds, str) else kinds:
            found.setdefault(kind, []).append(branch)
    return found


def _wider(kind: str, kinds: Mapping[str, Any]) -> str | None:
    """One of the kinds that holds all of `kind`, other than itself."""
    return next((wide for wide in ("number" if kind == "integer" else "", "anything") if wide in kinds), None)


def _kinds(branch: Schema) -> list[str]:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
    return sorted({names[type(value)] for value in _listed(branch) or ()})


def _listed(schema: Schema) -> list[Any] | None:
    """The values that a schema lists, if it does."""
    return [schema["const"]] if "const" in schema else schema.get("enum")


def _others(schema: Schema) -> Schema | None:
    """What keys of one's own may hold, where there may be any."""
    patterns = schema.get("patternProperties")
    if patterns:
        (only,) = patterns.values()
        return only if isinstance(only, Mapping) else {}
    rest = schema.get("additionalProperties", {})
    return None if rest is False or "properties" in schema else ({} if rest is True else rest)


def _at(document: Document, node: Any) -> Any:
    """What a node stands for, where it is a reference."""
    while isinstance(node, Mapping) and "$ref" in node:
        target: Any = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node


def _words(values: list[Any]) -> str:
    return ", ".join(map(repr, values))
