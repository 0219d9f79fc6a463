"""A match at a real table whose documents a bridge hears as a broker brings them: the state first, then the events."""

import json
from typing import Any

from appliance.bridges.follow import Follower
from appliance.bridges.standing import Mapper
from appliance.mqtt.models import document_model
from appliance.mqtt.topics import Message
from tests.support.session import ENVELOPE, Session

ROOT = "pocketbeam/t1"
Said = tuple[str, Any, bool]
"""Topic, payload (read where it is JSON, None where it is empty), retained."""


def said(messages: Any) -> list[Said]:
    return [_said(message) for message in messages]


def _said(message: Message) -> Said:
    return message.topic, None if message.payload is None else json.loads(message.payload), message.retain


class Played:
    """A session and the bridge that hears of it; every document is checked against the contract before."""

    def __init__(self, mapper: Mapper, table: Session) -> None:
        self.table = table
        self.follower = Follower("t1", mapper)
        self._events = len(table.events)

    def comes(self) -> list[Said]:
        """The bridge connects, and the broker says what it keeps."""
        self.follower.connected()
        return self.hears("availability", b"online") + self.hears_state()

    def hears(self, level: str, payload: bytes, *, retained: bool = True) -> list[Said]:
        return said(self.follower.hear(f"{ROOT}/{level}", payload, retained))

    def hears_state(self) -> list[Said]:
        return self.hears("state", _wire(self.table.document))

    def stroke(self, *pocketed: str) -> list[Said]:
        return self.asks("stroke", pocketed=list(pocketed), jumped=[])

    def throw(self, **out: int) -> list[Said]:
        return self.asks("throw", out=out)

    def asks(self, command: str, **fields: Any) -> list[Said]:
        """A request that is done; everything that the bridge says after it."""
        self.table.do(command, **fields)
        spoken = self.hears_state()
        for news in self.events():
            spoken += self.hears("event", _wire(news), retained=False)
        assert self.follower.unreadable == 0
        return spoken

    def events(self) -> list[dict[str, Any]]:
        """The event documents that came since the last time."""
        fresh, self._events = self.table.events[self._events :], len(self.table.events)
        state = self.table.state
        return [
            {
                "schema": "pocketbeam.event/1",
                **ENVELOPE,
                "seq": state.seq,
                "match_id": state.match.id,
                "event_id": f"{state.seq}.{number}",
                **news,
            }
            for number, news in enumerate(fresh, 1)
        ]


def _wire(document: dict[str, Any]) -> bytes:
    text = json.dumps(document)
    document_model(document["schema"], document).model_validate_json(text)
    return text.encode()
