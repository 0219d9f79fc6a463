"""One table as a bridge follows it: from messages to what its mapper makes of them. Pure: no broker, no clock.

A message that comes twice (QoS 1) is told once; one that is no document is counted, and the bridge lives on. After
a new connection nothing is believed until the broker has said it anew. Then what is retained at the device is said
again, because a broker may have forgotten it; the rest only when it changes, because the device may have been told
something else meanwhile, on purpose.
"""

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from appliance.bridges.standing import Mapper, Standing
from appliance.mqtt.topics import Message, topic

LEVELS = ("availability", "state", "event")
_REMEMBERED = 1_000


class Follower:
    """What is known of one table, and what follows for one device."""

    def __init__(self, table: str, mapper: Mapper) -> None:
        """Nothing is known yet; ValueError for a table that no topic can have."""
        self.topics = tuple(topic(table, level) for level in LEVELS)
        self.mapper = mapper
        self.unreadable = 0
        self._standing = Standing()
        self._shown: tuple[Message, ...] = ()
        self._told: deque[str] = deque(maxlen=_REMEMBERED)
        self._together: tuple[int, list[str]] = (-1, [])

    def connected(self) -> None:
        """A new connection: the broker will say all that it keeps."""
        self._standing = Standing()
        self._shown = tuple(message for message in self._shown if not message.retain)

    def again(self) -> Sequence[Message]:
        """What stands, for a device that forgets it unless it is told again."""
        return [message for message in self._shown if message.payload is not None]

    @property
    def heard(self) -> bool:
        """Whether anything is known of the table since the last new connection."""
        return self._standing != Standing()

    def hear(self, topic: str, payload: bytes, retained: bool) -> Sequence[Message]:
        """What a message of the table is worth."""
        try:
            match topic.rpartition("/")[2]:
                case "availability" if payload in (b"online", b"offline"):
                    return self._show(replace(self._standing, online=payload == b"online"))
                case "state":
                    return self._show(replace(self._standing, state=_document(payload)))
                case "event" if retained:
                    return []
                case "event":
                    return self._tell(_document(payload))
                case _:
                    raise ValueError(f"{topic} carries {payload[:40]!r}")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            self.unreadable += 1
            return []

    def _show(self, standing: Standing) -> Sequence[Message]:
        if standing.online is None or (standing.online and standing.state is None):
            self._standing = standing
            return []
        shown = tuple(self.mapper.show(standing))
        self._standing = standing
        news = [message for message in shown if message not in self._shown]
        self._shown = shown
        return news

    def _tell(self, event: dict[str, Any]) -> Sequence[Message]:
        if event["event_id"] in self._told:
            return []
        self._told.append(event["event_id"])
        seq, before = self._together
        if seq != event["seq"]:
            self._together = (event["seq"], before := [])
        messages = self.mapper.tell(self._standing, event, tuple(before))
        before.append(event["event"])
        return messages


def _document(payload: bytes) -> dict[str, Any]:
    document = json.loads(payload)
    if not isinstance(document, dict):
        raise TypeError("a document is an object")
    return document
