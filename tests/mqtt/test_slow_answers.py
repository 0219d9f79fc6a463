"""A table that needs long for what it is asked stays connected and answers in order."""

import asyncio
import json
import time
from pathlib import Path

import pytest

from appliance.mqtt.client import MqttLink
from tests.support import brokers
from tests.support.brokers import Settings, recorder, until
from tests.support.ring1 import Table, play

MANY = 50


def test_what_was_asked_while_the_disk_hung_is_answered_in_order_once_it_is_safe() -> None:
    async def main() -> None:
        async with Table() as table:
            before = table.state["seq"]
            table.disk.stall()
            for number in range(MANY):
                table.say(json.dumps({"command": "stroke", "pocketed": [], "transaction": str(number)}))
            # and again, by somebody who thinks that it was not heard
            for number in range(MANY):
                table.say(json.dumps({"command": "stroke", "pocketed": [], "transaction": str(number)}))
            await table.run_for(5)
            assert table.told("response") == []
            table.disk.go_on()
            await table.until(lambda: len(table.told("response")) == 2 * MANY)
            answers = table.told("response")
            assert [answer["transaction"] for answer in answers] == [str(number) for number in range(MANY)] * 2
            assert all(answer["ok"] for answer in answers)
            assert [answer["seq"] for answer in answers[:MANY]] == list(range(before + 1, before + MANY + 1))
            assert table.state["seq"] == before + MANY, "each was done once"

    play(main())


@pytest.mark.real
def test_a_backlog_of_requests_keeps_no_sign_of_life_from_the_broker(tmp_path: Path) -> None:
    """Each takes 0.3 s of the one thread there is; the broker gives up on whoever is silent for 3 s."""
    heard: list[bytes] = []
    news: list[tuple[bool, str]] = []

    def slow(payload: bytes, retained: bool) -> None:
        heard.append(payload)
        time.sleep(0.3)

    async def run(port: int) -> None:
        link = MqttLink(
            Settings(port),
            "t1",
            on_request=slow,
            on_connection=lambda connected, reason: news.append((connected, reason)),
            keepalive_s=2,
        )
        task = asyncio.create_task(link.run())
        try:
            await until(lambda: news)
            async with recorder(port, "nothing") as asking:
                for number in range(15):
                    await asking.publish("pocketbeam/t1/request", str(number))
                await until(lambda: len(heard) == 15, 30)
                assert heard == [str(number).encode() for number in range(15)]
                assert news == [(True, "")]
        finally:
            task.cancel()
            await task

    with brokers.mosquitto(tmp_path) as broker:
        asyncio.run(run(broker.port))
