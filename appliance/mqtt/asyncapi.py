"""The contract as an AsyncAPI 3 document: topics, what goes over them, how a request gets its answer.

The payloads are the JSON Schemas of the models, in the dialect that AsyncAPI takes without being told (draft 07
with a few words more). Actions are the table's: it *sends* its state and *receives* requests.
"""

from typing import Any

from appliance import __version__
from appliance.mqtt import examples, models, schema
from appliance.mqtt.client import KEEPALIVE_S
from appliance.mqtt.requests import MAX_BYTES, REQUESTS, Asked
from appliance.mqtt.topics import BASE, LEFT_LEVELS, LINE_LIMIT, SIDE_LEVELS

VERSION = "3.0.0"
_BINDING = "0.2.0"

_Object = dict[str, Any]

_RULES_FOR_READERS = (
    "Ignore keys and event names that you do not know: within one schema number they are added, never removed or "
    "changed. Order messages by `seq`, never by `at`. An event may arrive twice: its `event_id` tells."
)
_ENDS_AND_SIDES = (
    "`a`, `b` (Club and New Carrom), `north`, `south` (Carpetball), for a score also `1` to `4`, for what is left "
    "`all` (Money Carrom)."
)


def document() -> _Object:
    """The whole contract."""
    schemas = schema.of_models([*schema.DOCUMENTS, *REQUESTS], "#/components/schemas/{model}")
    return {
        "asyncapi": VERSION,
        "info": {
            "title": "Pocketbeam",
            "version": __version__,
            "description": f"What a table says and hears over MQTT. {_RULES_FOR_READERS}",
            "license": {"name": "MIT"},
        },
        "defaultContentType": "application/json",
        "servers": {
            "broker": _server("mqtt", "127.0.0.1", "1883", "The broker of the table's configuration."),
            "brokerInNetwork": _server("mqtts", "localhost", "8883", "The same, where it has a section for TLS."),
        },
        "channels": _channels(),
        "operations": _operations(),
        "components": {
            "schemas": {name: _as_asyncapi(each) for name, each in schemas.items()},
            "messages": _messages(),
            "parameters": {
                "table": {"description": "The table's id, of `a` to `z`, `0` to `9` and `-`.", "examples": ["club-1"]},
                "beam": {"description": "The id of a beam, a strike sensor or a button.", "examples": ["ne"]},
                "scored": {"description": _ENDS_AND_SIDES, "enum": list(SIDE_LEVELS)},
                "left": {"description": _ENDS_AND_SIDES, "enum": list(LEFT_LEVELS)},
                "prefix": {"description": "Home Assistant's discovery prefix.", "default": "homeassistant"},
            },
            "correlationIds": {
                "transaction": {
                    "description": "Comes back with the answer; a repeated one does nothing and is answered again.",
                    "location": "$message.payload#/transaction",
                }
            },
        },
    }


def main_text() -> str:
    """What `pocketbeam schema` prints."""
    return schema.to_text(document())


# --- topics and what happens on them -----------------------------------------------------------------------


def _channels() -> _Object:
    def channel(name: str, levels: str, summary: str, *messages: str, **parameters: str) -> _Object:
        used = {"table": "table", **parameters}
        return {
            "address": f"{BASE}/{{table}}/{levels}",
            "summary": summary,
            "parameters": {each: _ref("parameters", kind) for each, kind in used.items()},
            "messages": {each: _ref("messages", each) for each in messages or (name,)},
        }

    requests = [_message_name(model) for model in REQUESTS]
    return {
        "availability": channel("availability", "availability", "Whether the table speaks: birth, farewell and will."),
        "state": channel("state", "state", "The whole scoreboard in one message."),
        "score": channel("score", "score/{side}", "One score, for displays without JSON.", side="scored"),
        "left": channel("left", "left/{side}", "Pieces or balls left, for displays without JSON.", side="left"),
        "line": channel("line", "line", "The standing as one line of text."),
        "info": channel("info", "info", "What this table is and by which options it plays."),
        "health": channel("health", "health", "How beams, sources, journal, broker and clock are."),
        "event": channel("event", "event", "What just happened, one message each.", "event", "corrected"),
        "request": channel("request", "request", "What is asked of the table.", *requests),
        "response": channel("response", "response", "The table's answers, all of them.", "response"),
        "beam": channel("beam", "beam/{beam}", "Raw diagnostics, while somebody asked for them.", beam="beam"),
        "reply": {
            "address": None,
            "summary": "The response topic that an MQTT 5 client named with its request.",
            "description": "The answer comes here with the client's correlation data, and on `response` too.",
            "messages": {"response": _ref("messages", "response")},
        },
        "discovery": _of_home_assistant("discovery", "device/pocketbeam_{table}/config", "table"),
        "homeAssistant": _of_home_assistant("homeAssistant", "status"),
    }


def _of_home_assistant(name: str, levels: str, *parameters: str) -> _Object:
    return {
        "address": f"{{prefix}}/{levels}",
        "summary": "Where the configuration does not say otherwise; all of it is Home Assistant's.",
        "parameters": {each: _ref("parameters", each) for each in ("prefix", *parameters)},
        "messages": {name: _ref("messages", name)},
    }


def _operations() -> _Object:
    def send(channel: str, *, retain: bool, qos: int = 1) -> _Object:
        return {"action": "send", "channel": _ref("channels", channel), "bindings": _operation(qos, retain)}

    def receive(description: str, reply: _Object) -> _Object:
        return {
            "action": "receive",
            "channel": _ref("channels", "request"),
            "description": description,
            "bindings": _operation(1, False),
            "reply": reply,
        }

    retained = ("availability", "state", "score", "left", "line", "info", "health")
    return {
        **{_operation_name(channel): send(channel, retain=True) for channel in retained},
        "sendEvent": send("event", retain=False),
        "sendBeam": send("beam", retain=False, qos=0),
        "sendDiscovery": send("discovery", retain=True),
        "receiveHomeAssistant": {
            "action": "receive",
            "channel": _ref("channels", "homeAssistant"),
            "summary": "Everything is said again when it has started.",
            "bindings": _operation(1, False),
        },
        "receiveRequest": receive(
            f"At most {MAX_BYTES} bytes. A retained request is ignored: nobody knows how old it is.",
            {"channel": _ref("channels", "response")},
        ),
        "receiveRequestWithResponseTopic": receive(
            "The same from an MQTT 5 client that names a response topic: the answer goes there as well.",
            {
                "address": {
                    "location": "$message.header#/responseTopic",
                    "description": "The property Response Topic. It has neither wildcards nor a leading `$`, and lies "
                    f"outside `{BASE}/`, or is the table's own `response` or one level below that.",
                },
                "channel": _ref("channels", "reply"),
            },
        ),
    }


def _operation_name(channel: str) -> str:
    return f"send{channel[0].upper()}{channel[1:]}"


def _operation(qos: int, retain: bool) -> _Object:
    return {"mqtt": {"qos": qos, "retain": retain, "bindingVersion": _BINDING}}


def _server(protocol: str, host: str, port: str, words: str) -> _Object:
    will = {"topic": f"{BASE}/{{table}}/availability", "qos": 1, "message": "offline", "retain": True}
    session = {"cleanSession": True, "lastWill": will, "keepAlive": KEEPALIVE_S, "bindingVersion": _BINDING}
    return {
        "host": "{host}:{port}",
        "protocol": protocol,
        "protocolVersion": "5.0",
        "description": f"{words} The table speaks 3.1.1 where the broker does not know version 5.",
        "variables": {"host": {"default": host}, "port": {"default": port}},
        "bindings": {"mqtt": session},
    }


# --- messages ----------------------------------------------------------------------------------------------


def _messages() -> _Object:
    number = {"type": "string", "pattern": "^[0-9]*$"}
    text = {"type": "string", "maxLength": LINE_LIMIT}
    published = {
        "state": models.State,
        "info": models.Info,
        "health": models.Health,
        "event": models.Event,
        "corrected": models.Corrected,
        "response": models.Response,
        "beam": models.Beam,
    }
    messages = {
        "availability": _plain("availability", "Plain text.", schema.availability()),
        "score": _plain("score", "A whole number as text; empty where the game does not use it.", number),
        "left": _plain("left", "A whole number as text; empty where the game does not use it.", number),
        "line": _plain("line", "One line of text.", text),
        "homeAssistant": _plain("homeAssistant", "Whether Home Assistant runs.", schema.availability()),
        **{name: _json(name, model.__name__, model.__doc__) for name, model in published.items()},
        **{_message_name(model): _request(model) for model in REQUESTS},
    }
    messages["discovery"] = {
        "name": "discovery",
        "summary": "What the table is to Home Assistant: one device with its entities.",
        "payload": {"type": "object", "description": "In Home Assistant's words, which it explains itself."},
        "examples": [{"payload": {"device": {"identifiers": ["pocketbeam_club-1"]}, "components": {}}}],
    }
    messages["response"]["correlationId"] = _ref("correlationIds", "transaction")
    messages["response"]["bindings"] = {
        "mqtt": {
            "correlationData": {"type": "string", "description": "What the client sent with its request, if anything."},
            "bindingVersion": _BINDING,
        }
    }
    return messages


def _plain(name: str, summary: str, payload: _Object) -> _Object:
    return {
        "name": name,
        "summary": summary,
        "contentType": "text/plain",
        "payload": payload,
        "examples": [{"payload": examples.PLAIN[name]}],
    }


def _json(name: str, model: str, words: str | None) -> _Object:
    return {
        "name": name,
        "summary": _first_line(words),
        "payload": _ref("schemas", model),
        "examples": [{"payload": examples.PUBLISHED[model]}],
    }


def _request(model: type[Asked]) -> _Object:
    example = {"transaction": "7f3a", "expected_seq": 41, **examples.REQUESTS[model.__name__]}
    return {
        "name": _message_name(model),
        "summary": _first_line(model.__doc__),
        "payload": _ref("schemas", model.__name__),
        "correlationId": _ref("correlationIds", "transaction"),
        "headers": {
            "type": "object",
            "description": "Properties of MQTT 5, both optional.",
            "properties": {
                "responseTopic": {"type": "string", "minLength": 1},
                "correlationData": {"type": "string", "description": "Any bytes; they come back with the answer."},
            },
        },
        "bindings": {
            "mqtt": {
                "responseTopic": {"type": "string", "minLength": 1},
                "correlationData": {"type": "string"},
                "bindingVersion": _BINDING,
            }
        },
        "examples": [{"payload": example}],
    }


def _message_name(model: type[Asked]) -> str:
    name = model.__name__
    return name[0].lower() + name[1:]


def _first_line(words: str | None) -> str:
    return (words or "").strip().partition("\n")[0]


# --- the dialect -------------------------------------------------------------------------------------------


def _ref(kind: str, name: str) -> _Object:
    place = kind if kind == "channels" else f"components/{kind}"
    return {"$ref": f"#/{place}/{name}"}


def _as_asyncapi(node: Any) -> Any:
    """A discriminator is only the key's name there; the branches say the rest themselves."""
    if isinstance(node, dict):
        return {
            key: value["propertyName"] if key == "discriminator" and isinstance(value, dict) else _as_asyncapi(value)
            for key, value in node.items()
        }
    return [_as_asyncapi(value) for value in node] if isinstance(node, list) else node
