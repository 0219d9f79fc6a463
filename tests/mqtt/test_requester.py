"""One request from a shell, with its answer or one sentence."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from appliance.mqtt.client import MqttLink
from appliance.mqtt.requester import RequesterError, send
from appliance.mqtt.topics import Message
from tests.support import brokers
from tests.support.brokers import HOST, Settings, free_port, until

pytestmark = pytest.mark.real


@contextlib.asynccontextmanager
async def answering(port: int, *before: str) -> AsyncIterator[list[dict[str, Any]]]:
    """A table that answers every request, after having said `before` under the same topic; what it was asked."""
    asked: list[dict[str, Any]] = []
    connected: list[bool] = []

    def answer(payload: bytes, retained: bool) -> None:
        request = json.loads(payload)
        asked.append(request)
        answers = (*before, json.dumps({"transaction": request["transaction"], "ok": True, "seq": 7}))
        for text in answers:
            link.publish(Message("pocketbeam/club-1/response", text, False, 1))

    link = MqttLink(Settings(port), "club-1", on_request=answer, on_connection=lambda up, reason: connected.append(up))
    task = asyncio.create_task(link.run())
    try:
        await until(lambda: connected)
        yield asked
    finally:
        task.cancel()
        await task


def test_the_answer_to_this_request_and_to_no_other_comes_back(tmp_path: Path) -> None:
    others = ("no JSON", "[1]", '{"transaction": "somebody else", "ok": false}')

    async def run(port: int) -> None:
        async with answering(port, *others) as asked:
            for fields in ({"player": 2}, {}):
                answer = await send(HOST, port, "club-1", "end_stroke", fields, 10)
                assert answer["ok"] is True
                assert answer["seq"] == 7
                assert asked[-1] == {"command": "end_stroke", "transaction": answer["transaction"], **fields}
            assert asked[0]["transaction"] != asked[1]["transaction"]
            mine = await send(HOST, port, "club-1", "undo", {"transaction": "mine"}, 10)
            assert mine["transaction"] == "mine"

    with brokers.mosquitto(tmp_path) as broker:
        asyncio.run(run(broker.port))


def test_a_table_that_does_not_answer(tmp_path: Path) -> None:
    with (
        brokers.mosquitto(tmp_path) as broker,
        pytest.raises(RequesterError, match=r'^the table "club-9" did not answer within'),
    ):
        asyncio.run(send(HOST, broker.port, "club-9", "undo", {}, 0.3))


def test_a_broker_that_is_not_there() -> None:
    port = free_port()
    with pytest.raises(RequesterError, match=f"^the broker at 127.0.0.1:{port} cannot be asked: Connection refused$"):
        asyncio.run(send(HOST, port, "club-1", "undo", {}))


def test_a_server_that_is_no_broker() -> None:
    with (
        socket.create_server((HOST, 0)) as deaf,
        pytest.raises(RequesterError, match="did not answer within"),
    ):
        asyncio.run(send(HOST, deaf.getsockname()[1], "club-1", "undo", {}, 0.3))


def test_a_table_name_that_cannot_be() -> None:
    with pytest.raises(RequesterError, match="cannot be part of a topic"):
        asyncio.run(send(HOST, 1, "Club 1", "undo", {}))
