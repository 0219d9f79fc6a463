"""The connection to the broker: kept for ever, and never in the way of the table.

The MQTT library is imported in this file, and in `requester.py` for one shot. Four things are done here
that it does not do by itself. A message goes into the socket within the call that publishes it, so that a
scoreboard waits for nothing but the network. Connecting takes no thread (see `transport.py`). And a broken
connection is noticed within one and a half keepalives, also when nothing is being sent: the library pings
after a whole silent keepalive and waits another one for the answer, so its own interval is set shorter than
the one that the broker was told. And no wait outlasts the connection, or a cancellation.

What is to be sent, and what is sent again, is decided in `outbox.py`; when to try again, in `backoff.py`; in
which version of MQTT, in `versions.py`.
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import aiomqtt
from paho.mqtt.client import MQTT_ERR_SUCCESS
from paho.mqtt.client import Client as PahoClient
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from appliance.mqtt.backoff import Backoff
from appliance.mqtt.identity import client_id
from appliance.mqtt.outbox import WINDOW, Outbox
from appliance.mqtt.replies import OnRequest, ReplyTo
from appliance.mqtt.topics import BASE, Message, availability_message, request_topic, topic
from appliance.mqtt.transport import (
    BrokerSettings,
    RejectedError,
    UnreachableError,
    open_socket,
    read_password,
    tls_context,
)
from appliance.mqtt.versions import MQTT_5, Outcome, next_attempt

KEEPALIVE_S = 15
ANSWER_TIMEOUT_S = 10.0
"""For the broker's answers to connecting and subscribing."""
FAREWELL_TIMEOUT_S = 1.0
"""For what waits, and once more for the goodbye."""
REQUESTS_WAITING = 200
"""Requests received and not handed over yet; more are dropped and counted."""
ONLINE = b"online"
WELCOME_AFTER_S = 1.0
"""Between a newcomer's word and the answer: whoever calls ten thousand times a second is answered once."""

_PING_PART = 0.6
_BEATS = 12
_REFUSED = 0x80
_WRONG_VERSION = 0x84
_AROUND_A_MESSAGE = 16
"""Bytes of a message beside topic, payload and correlation data, at most."""

T = TypeVar("T")

_log = logging.getLogger(__name__)
_library_log = logging.getLogger(f"{__name__}.library")
# What the library has to say about a broken connection is said once, and better, by the reasons below.
_library_log.setLevel(logging.CRITICAL + 1)


class MqttLink:
    """One table's connection to its broker."""

    def __init__(
        self,
        settings: BrokerSettings,
        table: str,
        *,
        on_request: OnRequest,
        on_connection: Callable[[bool, str], None],
        base: str = BASE,
        keepalive_s: int = KEEPALIVE_S,
        newcomers: Sequence[str] = (),
        introduction: str | None = None,
    ) -> None:
        """Does nothing yet; `run` does.

        on_request(payload, retained) is called for each message on the request topic, with a `ReplyTo` as a third
        argument where the message names a response topic.
        on_connection(connected, reason) is called when either changes; `reason` is a sentence where something
        is wrong and empty when all is well. Neither may block.
        newcomers: topics where somebody who has to be told everything again says `online`; on_connection is
        called again then. introduction: the topic that `republish` sends before all others.
        """
        self._settings = settings
        self._on_request = on_request
        self._on_connection = on_connection
        self._keepalive_s = keepalive_s
        self._table = table
        self._requests = request_topic(table, base=base)
        self._birth = availability_message(table, online=True, base=base)
        self._farewell = availability_message(table, online=False, base=base)
        self._newcomers = tuple(newcomers)
        self._introduction = introduction
        self._welcome: asyncio.TimerHandle | None = None
        self._outbox = Outbox((self._birth.topic, topic(table, "state", base=base)))
        self._connection: Connection | None = None
        self._backoff = Backoff()
        self._level = MQTT_5
        self._told: tuple[bool, str] | None = None
        self._all_acknowledged = asyncio.Event()
        self._counters = {"connects": 0, "failures": 0, "requests_dropped": 0, "hook_errors": 0}

    async def run(self) -> None:
        """Connects, and again whenever the connection breaks; ends by cancellation alone, and then cleanly.

        Cancelled, it publishes `offline`, disconnects and returns.
        """
        loop = asyncio.get_running_loop()
        self._outbox.put(self._birth)
        with contextlib.suppress(asyncio.CancelledError):
            while True:
                reached, began_at = True, None
                try:
                    connection = await self._open()
                    began_at = loop.time()
                    await self._serve(connection)
                except UnreachableError as error:
                    reached, reason, outcome = False, str(error), Outcome.NOT_REACHED
                except (RejectedError, aiomqtt.MqttError, OSError) as error:
                    reason = sentence(error, self._settings, welcomed=began_at is not None)
                    outcome = outcome_of(error) if began_at is None else Outcome.WELCOMED
                self._level, at_once = next_attempt(self._level, outcome)
                if at_once:
                    continue
                self._counters["failures"] += 1
                self._tell(False, reason)
                held_s = 0.0 if began_at is None else loop.time() - began_at
                await asyncio.sleep(self._backoff.next_s(reached=reached, held_s=held_s, random=random.random()))

    def publish(self, message: Message) -> None:
        """Sends a message now, or keeps it for the next connection as `outbox.py` says; never blocks."""
        self._outbox.put(message)
        self._pump()

    def republish(self) -> None:
        """Sends everything retained again, as to somebody who knows nothing yet."""
        self._outbox.refresh(self._introduction)
        self._pump()

    def counters(self) -> dict[str, int]:
        """What was connected, queued, dropped; for the health document."""
        now = self._connection.requests_dropped if self._connection else 0
        dropped = self._counters["requests_dropped"] + now
        return {**self._counters, "requests_dropped": dropped, **self._outbox.counters()}

    async def _open(self) -> "Connection":
        settings = self._settings
        password = read_password(settings)
        connection = Connection(
            hostname=settings.host,
            port=settings.port,
            username=settings.username,
            password=password,
            logger=_library_log,
            identifier=client_id(self._table, password),
            protocol=aiomqtt.ProtocolVersion(self._level),
            # Version 5 has another word for it, and is as forgetful by default.
            clean_session=None if self._level == MQTT_5 else True,
            will=aiomqtt.Will(self._farewell.topic, self._farewell.payload, 1, True),
            keepalive=self._keepalive_s,
            timeout=ANSWER_TIMEOUT_S,
            queue_type=_BoundedQueue,
            max_queued_incoming_messages=REQUESTS_WAITING,
            # The outbox counts what is unacknowledged; a second limit below it would hold messages back
            # where a newer value can no longer replace them.
            max_inflight_messages=0,
        )
        context = None if settings.tls is None else tls_context(settings.tls)
        connection.watch(self._acknowledged, self._pump)
        try:
            await connection.open(context)
        except BaseException:
            connection.close()
            raise
        return connection

    async def _serve(self, connection: "Connection") -> None:
        """Everything between the broker's welcome and the end of the connection."""
        try:
            granted = await connection.subscribe([(self._requests, _marked(self._level))])
            refused = any(number(code) >= _REFUSED for code in granted)
            self._connection = connection
            self._counters["connects"] += 1
            self._outbox.opened(connection.window)
            self._pump()
            self._tell(True, f"the broker lets nobody listen to {self._requests}" if refused else "")
            if self._newcomers:
                await connection.subscribe([(topic, 1) for topic in self._newcomers])
            async for message in connection.messages:
                payload = message.payload if isinstance(message.payload, bytes) else b""
                if message.topic.value in self._newcomers:
                    self._hear_newcomer(payload, bool(message.retain))
                else:
                    self._hear(payload, bool(message.retain), _reply_to(message))
        except asyncio.CancelledError:
            await self._take_leave()
            raise
        finally:
            self._connection = None
            if self._welcome is not None:
                self._welcome.cancel()
                self._welcome = None
            self._counters["requests_dropped"] += connection.requests_dropped
            connection.close()
            self._outbox.closed()

    async def _take_leave(self) -> None:
        """Sends what waits and `offline` last, as far as the broker takes it in a short time."""
        await self._until_acknowledged()
        self._outbox.put(self._farewell)
        self._pump()
        await self._until_acknowledged()

    async def _until_acknowledged(self) -> None:
        if not self._outbox.empty:
            self._all_acknowledged.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FAREWELL_TIMEOUT_S):
                    await self._all_acknowledged.wait()

    def _pump(self) -> None:
        connection = self._connection
        if connection is None:
            return
        while connection.has_room() and (outgoing := self._outbox.take()):
            if connection.is_too_big(outgoing.message):
                self._outbox.give_up(outgoing)
                continue
            message_id = connection.send(outgoing.message)
            # Even a message that could not be written counts as sent: the connection is gone then, and
            # everything unacknowledged is sent again on the next one.
            self._outbox.sent(message_id, outgoing)
        connection.flush()

    def _acknowledged(self, message_id: int, refused: bool) -> None:
        self._outbox.acknowledged(message_id, refused=refused)
        if self._outbox.empty:
            self._all_acknowledged.set()

    def _hear(self, payload: bytes, retained: bool, reply_to: ReplyTo | None) -> None:
        try:
            self._on_request(payload, retained, *([] if reply_to is None else [reply_to]))
        except Exception:
            self._counters["hook_errors"] += 1
            _log.exception("a request could not be handed over")

    def _hear_newcomer(self, payload: bytes, retained: bool) -> None:
        """A retained word is as old as this connection, on which everything has just been said.

        However many call, they are answered together.
        """
        if payload == ONLINE and not retained and self._welcome is None:
            self._welcome = asyncio.get_running_loop().call_later(WELCOME_AFTER_S, self._greet)

    def _greet(self) -> None:
        self._welcome = None
        if self._told is not None:
            self._inform(*self._told)

    def _tell(self, connected: bool, reason: str) -> None:
        """Passes news on, each once: a broker that stays away is no news at every attempt."""
        if self._told == (connected, reason):
            return
        self._told = (connected, reason)
        self._inform(connected, reason)

    def _inform(self, connected: bool, reason: str) -> None:
        try:
            self._on_connection(connected, reason)
        except Exception:
            self._counters["hook_errors"] += 1
            _log.exception("a change of the connection could not be handed over")


class _DismissedError(aiomqtt.MqttCodeError):
    """The broker ended the connection and said why, which it can in version 5."""


class _BoundedQueue(asyncio.Queue[aiomqtt.Message]):
    """Received messages; a full queue drops the newest and counts it, where the library would log each."""

    dropped = 0


class Connection(aiomqtt.Client):
    """One connection, used once: the library's client with its own way to connect, send and end.

    All callbacks run in the loop's thread, because nothing here starts another one.
    """

    window = WINDOW
    """How many unacknowledged messages the broker takes."""

    _largest: int | None = None
    _acked: Callable[[int, bool], None]
    _drained: Callable[[], None]
    _sending = False
    _wake_up = False

    def watch(self, acked: Callable[[int, bool], None], drained: Callable[[], None]) -> None:
        """acked(message id, refused) for each acknowledgement, drained() when there is room to send again."""
        self._acked = acked
        self._drained = drained

    async def open(self, context: Any) -> None:
        """Connects and waits for the broker's welcome."""
        sock = await open_socket(self._hostname, self._port, context)
        self._client._create_socket_connection = lambda: sock  # type: ignore[method-assign]
        self._client.connect(self._hostname, self._port, self._keepalive)
        await self._wait_for(self._connected, timeout=None)
        # The broker may have asked for another one in its welcome.
        self._keepalive = min(self._client._keepalive, self._keepalive)
        self._client._keepalive = self._keepalive * _PING_PART  # type: ignore[assignment]

    def send(self, message: Message) -> int:
        """Hands a message to the socket at once and returns its id."""
        self._sending = True
        try:
            properties = _with_correlation(message) if self._client.protocol == MQTT_5 else None
            return self._client.publish(message.topic, message.payload, message.qos, message.retain, properties).mid
        finally:
            self._sending = False

    def is_too_big(self, message: Message) -> bool:
        """Whether the broker has said that it would end the connection over this."""
        if self._largest is None:
            return False
        parts = (message.topic.encode(), (message.payload or "").encode(), message.correlation or b"")
        return sum(map(len, parts)) + _AROUND_A_MESSAGE > self._largest

    def flush(self) -> None:
        """Writes what `send` left; what the socket does not take now follows when it does."""
        if self._client.want_write():
            self._client.loop_write()
        if self._client.want_write() and (sock := self._client.socket()):
            self._loop.add_writer(sock, self._write)

    def has_room(self) -> bool:
        """The socket has taken what it was given so far; if it has not, `drained` is called when it has."""
        if not self._client.is_connected():
            return False
        self.flush()
        self._wake_up = self._client.want_write()
        return not self._wake_up

    @property
    def requests_dropped(self) -> int:
        """Messages that came faster than they were handed over."""
        return self._queue.dropped if isinstance(self._queue, _BoundedQueue) else 0

    def close(self) -> None:
        """Says goodbye as far as the socket takes it at once, and lets go of everything."""
        self._client.disconnect()
        if self._client.want_write():
            self._client.loop_write()
        self._client._sock_close()
        for future in (self._connected, self._disconnected):
            if future.done() and not future.cancelled():
                # Looked at, so that nobody is told about an error that has been dealt with.
                future.exception()

    async def _wait_for(self, fut: Awaitable[T], timeout: float | None) -> T:  # noqa: ASYNC109 - the library's name
        """What the library waits for, for as long as the connection lasts that would bring it.

        The library's own wait is not ended by a cancellation that comes in the same moment as the answer.
        """
        answer = asyncio.ensure_future(fut)
        patience_s = self.timeout if timeout is None else timeout
        try:
            await asyncio.wait((answer, self._disconnected), timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
        except OSError as error:
            raise aiomqtt.MqttError("the connection broke") from error
        finally:
            answer.cancel()
        if self._disconnected.done():
            raise aiomqtt.MqttError("the connection is gone") from self._disconnected.exception()
        raise aiomqtt.MqttError("there is no answer")

    def _fail(self, error: Exception) -> None:
        if not isinstance(error, OSError | aiomqtt.MqttError):
            # The library stumbles over what is no MQTT.
            error, stumbled = aiomqtt.MqttError("this is not MQTT"), error
            error.__cause__ = stumbled
        over = self._disconnected if self._connected.done() else self._connected
        affected: list[asyncio.Future[Any]] = [over, *self._pending_subscribes.values()]
        for waiting in affected:
            if not waiting.done():
                waiting.set_exception(error)

    def _read(self) -> None:
        try:
            while True:
                self._client.loop_read()
                pending = getattr(self._client.socket(), "pending", None)
                # TLS may hold decoded bytes that the socket no longer announces.
                if pending is None or not pending():
                    break
        except Exception as error:
            self._fail(error)

    def _write(self) -> None:
        try:
            self._client.loop_write()
        except Exception as error:
            self._fail(error)

    def _on_socket_open(self, client: PahoClient, userdata: Any, sock: Any) -> None:
        self._loop.add_reader(sock, self._read)
        self._misc_task = self._loop.create_task(self._misc_loop())

    def _on_socket_register_write(self, client: PahoClient, userdata: Any, sock: Any) -> None:
        if not self._sending:
            self._loop.add_writer(sock, self._write)

    def _on_socket_unregister_write(self, client: PahoClient, userdata: Any, sock: Any) -> None:
        self._loop.remove_writer(sock)
        if self._wake_up:
            self._wake_up = False
            self._loop.call_soon(self._drained)

    async def _misc_loop(self) -> None:
        while self._client.loop_misc() == MQTT_ERR_SUCCESS:  # noqa: ASYNC110 - nothing announces silence
            await asyncio.sleep(self._keepalive / _BEATS)

    def _on_connect(
        self,
        client: PahoClient,
        userdata: Any,
        flags: Any,
        reason_code: ReasonCode,
        properties: Properties | None = None,
    ) -> None:
        self.window = getattr(properties, "ReceiveMaximum", WINDOW)
        self._largest = getattr(properties, "MaximumPacketSize", None)
        super()._on_connect(client, userdata, flags, reason_code, properties)

    def _on_message(self, client: PahoClient, userdata: Any, message: Any) -> None:
        # A flood costs as little as can be: what has no room is not even unpacked.
        if isinstance(self._queue, _BoundedQueue) and self._queue.full():
            self._queue.dropped += 1
        else:
            super()._on_message(client, userdata, message)

    def _on_publish(self, client: PahoClient, userdata: Any, mid: int, reason_code: ReasonCode, *more: Any) -> None:
        self._acked(mid, number(reason_code) >= _REFUSED)
        # Not now: inside this callback the library would not write.
        self._loop.call_soon(self._drained)

    def _on_disconnect(
        self, client: PahoClient, userdata: Any, flags: Any, reason_code: ReasonCode, *more: Any
    ) -> None:
        kind = _DismissedError if flags.is_disconnect_packet_from_server else aiomqtt.MqttCodeError
        self._fail(kind(reason_code, "disconnected"))


def outcome_of(error: Exception) -> Outcome:
    """How an attempt ended that did not become a connection."""
    if isinstance(error, RejectedError):
        return Outcome.NOT_REACHED
    if isinstance(error, aiomqtt.exceptions.MqttConnectError):
        code = number(error.rc) if isinstance(error.rc, int | ReasonCode) else 0
        return Outcome.WRONG_VERSION if code == _WRONG_VERSION else Outcome.REFUSED
    return Outcome.NO_ANSWER


def _marked(level: int) -> Any:
    """QoS 1, and what is retained comes with its mark also while we listen, which only version 5 can ask for."""
    return SubscribeOptions(qos=1, retainAsPublished=True) if level == MQTT_5 else 1


def _reply_to(message: aiomqtt.Message) -> ReplyTo | None:
    """Where the client wants its answer; version 5 alone can say it."""
    asked: str | None = getattr(message.properties, "ResponseTopic", None)
    return None if asked is None else ReplyTo(asked, getattr(message.properties, "CorrelationData", None))


def _with_correlation(message: Message) -> Properties | None:
    if message.correlation is None:
        return None
    properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
    properties.CorrelationData = message.correlation
    return properties


def number(code: int | ReasonCode) -> int:
    """A reason or return code of the broker as a plain number; from 128 on it refuses."""
    return code if isinstance(code, int) else code.value


def sentence(error: Exception, settings: BrokerSettings, *, welcomed: bool = True) -> str:
    """Why there is no connection (any more, where it was `welcomed`), for the table's owner."""
    where = f"{settings.host}:{settings.port}"
    if isinstance(error, RejectedError):
        return str(error)
    if isinstance(error, aiomqtt.exceptions.MqttConnectError) and isinstance(error.rc, ReasonCode):
        return _REFUSALS.get(error.rc.value, "the broker at {} refuses us ({})").format(where, error.rc)
    cause = error.__cause__ or error
    if isinstance(cause, _DismissedError) and isinstance(cause.rc, ReasonCode):
        return _DISMISSALS.get(cause.rc.value, "the broker at {} closed the connection ({})").format(where, cause.rc)
    if isinstance(cause, aiomqtt.MqttCodeError) and isinstance(cause.rc, ReasonCode) and cause.rc.value in _LOSSES:
        return _LOSSES[cause.rc.value].format(where)
    doubt = "" if welcomed else f": {_TLS_WANTED[settings.tls is not None]}"
    if isinstance(cause, aiomqtt.MqttCodeError):
        return f"the broker at {where} closed the connection{doubt and ' without a word'}{doubt}"
    if isinstance(cause, OSError):
        return f"the connection to {where} broke: {cause.strerror or cause}"
    return f"{where} does not answer as a broker does{doubt}"


_REFUSALS = {
    133: "the broker at {} refuses the client id",
    134: "the broker at {} refuses the user name or the password",
    135: "the broker at {} refuses us: check user name, password and rights",
    136: "the broker at {} is not available yet",
}
_LOSSES = {
    130: "what answers at {} does not speak MQTT",
    141: "the broker at {} has gone silent",
}
_TLS_WANTED = {
    False: "is it a port for TLS?",
    True: "does it want a certificate of this table's (cert and key in [mqtt] tls)?",
}
_DISMISSALS = {
    139: "the broker at {} is stopping",
    142: "the broker at {} closed the connection: another program has come with our client id",
}
