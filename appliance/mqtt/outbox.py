"""What waits to be sent: the newest value of each retained topic, and a bounded queue of everything else.

A retained topic is a value, not a story: while the broker is away only the newest one is kept, and each new
connection gets all of them once, whatever the broker may still know. Events and responses are a story: they
are queued, the oldest goes first when the queue is full, and a counter says so. What was sent and not
acknowledged when a connection broke is sent again on the next one: twice rather than never, receivers tell
by `event_id`.

Answers wait in a queue of their own and go last, a few at a time: whoever floods a table with requests gets
as many answers, and they must neither push events out nor stand before a score on a busy connection.

A message that is so wrong for a broker that it closes the connection would come back for ever. What is sent
again therefore goes out one at a time until all of it is acknowledged, so that there is one suspect when the
next connection breaks too: suspected five times, it is dropped and counted. No I/O and no clock in here.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from appliance.mqtt.topics import Message

QUEUE_LIMIT = 1000
WINDOW = 100
"""Messages sent and not acknowledged yet; more wait here, where a newer value can still replace them."""
ANSWER_LIMIT = 200
ANSWER_WINDOW = 20
"""The same for answers, which are counted in the others too; where a broker takes fewer, at most half of those."""

_SUSPECTED_LIMIT = 5
_NEVER_SENT = object()


@dataclass(slots=True, eq=False)
class Outgoing:
    """A message on its way. `again`: it was sent before; `suspected`: how often that alone broke a connection."""

    message: Message
    again: bool = False
    suspected: int = 0


class Outbox:
    """Decides what is sent next."""

    def __init__(self, first: Iterable[str], *, limit: int = QUEUE_LIMIT) -> None:
        """`first`: topics that go before all others. `limit`: of messages that are not retained."""
        self._first = tuple(first)
        self._limit = limit
        self._ahead: str | None = None
        self._latest: dict[str, Message] = {}
        self._changed: dict[str, None] = {}
        self._at_broker: dict[str, str | None] = {}
        self._queue: deque[Outgoing] = deque()
        self._answers: deque[Outgoing] = deque()
        self._answers_out = 0
        self._unacknowledged: dict[int, Outgoing] = {}
        self._again = 0
        self._open = False
        self._window = WINDOW
        self.dropped = 0
        self.answers_dropped = 0
        self.refused = 0
        self.resent = 0

    def put(self, message: Message) -> None:
        """Takes a message; a retained one replaces what its topic had, and is nothing new if it equals it."""
        if message.retain:
            self._latest[message.topic] = message
            if self._open:
                if self._at_broker.get(message.topic, _NEVER_SENT) == message.payload:
                    self._changed.pop(message.topic, None)
                else:
                    self._changed[message.topic] = None
        elif message.qos == 0 and not self._open:
            self.dropped += 1
        else:
            self._queue_of(message).append(Outgoing(message))
            self._shorten()

    def take(self) -> Outgoing | None:
        """The next message to send, None while there is none or too many are unacknowledged."""
        window = 1 if self._again else self._window
        if not self._open or len(self._unacknowledged) >= window:
            return None
        if self._changed:
            topic = next((topic for topic in (self._ahead, *self._first) if topic in self._changed), None)
            topic = topic or next(iter(self._changed))
            del self._changed[topic]
            message = self._latest[topic]
            self._at_broker[topic] = message.payload
            return Outgoing(message)
        if self._queue:
            return self._queue.popleft()
        room = max(1, min(ANSWER_WINDOW, self._window // 2))
        return self._answers.popleft() if self._answers and self._answers_out < room else None

    def sent(self, message_id: int, outgoing: Outgoing) -> None:
        """A taken message went out under this id of the connection."""
        if outgoing.message.qos:
            self._unacknowledged[message_id] = outgoing
            self._answers_out += outgoing.message.is_answer

    def acknowledged(self, message_id: int, *, refused: bool = False) -> None:
        """The broker has it, or will not have it, which is counted: sending it again would change nothing."""
        outgoing = self._unacknowledged.pop(message_id, None)
        self.refused += refused
        if outgoing:
            self._again -= outgoing.again
            self._answers_out -= outgoing.message.is_answer

    def give_up(self, outgoing: Outgoing) -> None:
        """A taken message that this broker will never have: counted, and gone."""
        self.refused += 1
        self._again -= outgoing.again

    def opened(self, window: int = WINDOW) -> None:
        """A new connection, whose broker takes `window` messages at once: everything retained is due again."""
        self._open = True
        self._window = min(window, WINDOW)
        self.refresh()

    def refresh(self, ahead: str | None = None) -> None:
        """Everything retained is due again, whether the broker has it or not; the topic `ahead` before all others."""
        self._ahead = ahead
        self._at_broker.clear()
        if self._open:
            self._changed = dict.fromkeys(self._latest)

    def closed(self) -> None:
        """The connection is gone: what it did not acknowledge waits for the next one, in its order."""
        self._open = False
        self._changed.clear()
        self._at_broker.clear()
        lost = list(self._unacknowledged.values())
        self._unacknowledged.clear()
        self._answers_out = 0
        if len(lost) == 1:
            lost[0].suspected += 1
        for outgoing in reversed(lost):
            if outgoing.message.retain:
                continue
            if outgoing.suspected >= _SUSPECTED_LIMIT:
                self.refused += 1
                self._again -= outgoing.again
            else:
                self.resent += 1
                self._again += not outgoing.again
                outgoing.again = True
                self._queue_of(outgoing.message).appendleft(outgoing)
        self._shorten()

    @property
    def empty(self) -> bool:
        """Nothing waits and everything sent is acknowledged."""
        return not (self._changed or self._queue or self._answers or self._unacknowledged)

    def counters(self) -> dict[str, int]:
        """What waits, and what was lost and why."""
        return {
            "queued": len(self._queue) + len(self._answers),
            "unacknowledged": len(self._unacknowledged),
            "dropped": self.dropped,
            "answers_dropped": self.answers_dropped,
            "refused": self.refused,
            "resent": self.resent,
        }

    def _queue_of(self, message: Message) -> deque[Outgoing]:
        return self._answers if message.is_answer else self._queue

    def _shorten(self) -> None:
        while len(self._queue) > self._limit:
            self._again -= self._queue.popleft().again
            self.dropped += 1
        while len(self._answers) > ANSWER_LIMIT:
            self._again -= self._answers.popleft().again
            self.answers_dropped += 1
