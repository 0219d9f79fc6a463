"""The simulated umpire: speaks to the table as anybody does, over MQTT, and sees what everybody sees."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import aiomqtt

from appliance.mqtt.topics import request_topic, to_json, topic

ANSWER_WITHIN_S = 20.0


class UmpireError(Exception):
    """The umpire cannot be heard; the text is one sentence."""


class Umpire:
    """One connection: sends requests and waits for their answers, and keeps the newest `state`.

    Use it as an asynchronous context manager. `on_line` is called with each new line of the scoreboard.
    """

    def __init__(self, host: str, port: int, table: str, on_line: Callable[[str], None]) -> None:
        """Remember where the table is; nothing is connected yet."""
        self._where = f"{host}:{port}"
        self._table = table
        self._on_line = on_line
        self._client = aiomqtt.Client(host, port)
        self._answers: dict[str, asyncio.Future[Mapping[str, object]]] = {}
        self._listening: asyncio.Task[None] | None = None
        self._asked = 0
        self._seen = asyncio.Condition()
        self.state: dict[str, Any] | None = None

    async def __aenter__(self) -> "Umpire":
        try:
            await self._client.__aenter__()
        except aiomqtt.MqttError as error:
            if isinstance(error.__context__, ConnectionRefusedError):
                raise UmpireError(f"nothing listens at {self._where}: is the broker running?") from None
            raise UmpireError(f"the umpire cannot reach the broker at {self._where}: {error}") from None
        for level in ("response", "state", "line"):
            await self._client.subscribe(topic(self._table, level), qos=1)
        self._listening = asyncio.create_task(self._listen())
        return self

    async def __aexit__(self, *error: Any) -> None:
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        with contextlib.suppress(aiomqtt.MqttError):  # the broker may be gone already
            await self._client.__aexit__(None, None, None)

    async def request(self, document: Mapping[str, object]) -> Mapping[str, object]:
        """Send a request and return the table's answer; UmpireError where none comes."""
        self._asked += 1
        transaction = f"umpire-{id(self)}-{self._asked}"
        answer: asyncio.Future[Mapping[str, object]] = asyncio.get_running_loop().create_future()
        self._answers[transaction] = answer
        payload = to_json({**document, "transaction": transaction})
        try:
            await self._client.publish(request_topic(self._table), payload, qos=1)
            async with asyncio.timeout(ANSWER_WITHIN_S):
                return await answer
        except aiomqtt.MqttError as error:
            raise UmpireError(f"the umpire has lost the broker at {self._where}: {error}") from None
        except TimeoutError:
            raise UmpireError(f"the table did not answer {document.get('command')} in {ANSWER_WITHIN_S:g} s") from None
        finally:
            del self._answers[transaction]

    async def first_state(self) -> dict[str, Any]:
        """The table's state, as soon as there is one."""
        async with self._seen:
            await self._seen.wait_for(lambda: self.state is not None)
        assert self.state is not None
        return self.state

    async def _listen(self) -> None:
        async for message in self._client.messages:
            payload = message.payload
            assert isinstance(payload, bytes)
            level = str(message.topic).rsplit("/", 1)[1]
            if level == "line":
                self._on_line(payload.decode())
            elif level == "state":
                async with self._seen:
                    self.state = json.loads(payload)
                    self._seen.notify_all()
            else:
                self._hear_answer(json.loads(payload))

    def _hear_answer(self, document: Mapping[str, object]) -> None:
        waiting = self._answers.get(str(document.get("transaction")))
        if waiting is not None and not waiting.done():
            waiting.set_result(document)
