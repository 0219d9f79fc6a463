"""Where the answer to a request goes: on the table's `response` topic always, and where an MQTT 5 client wants it.

A table publishes with its own rights, which are wider than those of most who may ask it something. A response
topic must therefore not be a way to speak in the table's name: nothing below the base topic, where all tables
speak and listen, and nothing where home automation takes its settings from. The one exception is the table's own
`response` and the level below it, so that each client can have a topic of its own under rights that a broker
already grants. A request with a response topic that cannot be used is not done: who asked would never hear of it.
Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from appliance.mqtt.requests import Request, RequestError
from appliance.mqtt.topics import BASE, Document, Message, is_level, response_message, topic

MAX_TOPIC = 256
MAX_CORRELATION = 1024


@dataclass(frozen=True, slots=True)
class ReplyTo:
    """The properties Response Topic and Correlation Data of a request."""

    topic: str
    correlation: bytes | None = None


class OnRequest(Protocol):
    """Called for each message on the request topic; with `reply_to` only where the message has a response topic."""

    def __call__(self, payload: bytes, retained: bool, reply_to: ReplyTo = ..., /) -> None:
        """Take it; never blocks."""


def admit(
    request: Request | RequestError, reply_to: ReplyTo | None, table: str, discovery: str
) -> tuple[Request | RequestError, ReplyTo | None]:
    """The request and where its answer may go; refused where that is no place for it.

    `discovery`: the topic below which home automation takes what is said for settings.
    """
    if reply_to is None:
        return request, None
    why = problem(reply_to, table, discovery)
    if why is None:
        return request, reply_to
    if isinstance(request, Request):
        request = RequestError("not_allowed", why, request.transaction)
    return request, None


def problem(reply_to: ReplyTo, table: str, discovery: str) -> str | None:
    """Why no answer goes there, in a sentence."""
    levels = reply_to.topic.split("/")
    if not reply_to.topic or len(reply_to.topic) > MAX_TOPIC:
        return f"a response topic has 1 to {MAX_TOPIC} characters, this one has {len(reply_to.topic)}"
    if any(character in "+#" or not character.isprintable() for character in reply_to.topic):
        return "a response topic is one topic: no wildcards (+, #) and no control characters"
    if levels[0].startswith("$") or levels[0] == discovery.split("/")[0]:
        return f'no answer goes below "{levels[0]}": choose a response topic of your own'
    own = topic(table, "response")
    if levels[0] == BASE and reply_to.topic != own and not _is_below(own, levels):
        return f'below "{BASE}" answers go to {own} and {own}/… (one level) alone'
    if len(reply_to.correlation or b"") > MAX_CORRELATION:
        return f"correlation data may have {MAX_CORRELATION} bytes"
    return None


def response_messages(document: Document, reply_to: ReplyTo | None) -> list[Message]:
    """The answer to one request, as one message or two."""
    usual = response_message(document)
    if reply_to is None:
        return [usual]
    asked = replace(usual, topic=reply_to.topic, correlation=reply_to.correlation)
    return [asked] if asked.topic == usual.topic else [asked, usual]


def _is_below(own: str, levels: Sequence[str]) -> bool:
    return "/".join(levels[:-1]) == own and is_level(levels[-1])
