"""The announcement to Home Assistant over a real broker: its birth message, a link that comes and goes, the program."""

import asyncio
import contextlib
import json
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from appliance.mqtt.announcer import FILE
from appliance.mqtt.client import MqttLink
from appliance.mqtt.topics import Message
from tests.support import brokers
from tests.support import home_assistant as ha
from tests.support.brokers import Mosquitto, Recorder, recorder, until
from tests.support.processes import configured, program

pytestmark = pytest.mark.real

AVAILABILITY = "pocketbeam/club-1/availability"
STATE = "pocketbeam/club-1/state"
LINE = "pocketbeam/club-1/line"
CONFIG = "ha/device/pocketbeam_club-1/config"
BIRTHS = ("homeassistant/status", "ha/status")
EVERYTHING = [CONFIG, AVAILABILITY, STATE, LINE]


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Mosquitto]:
    with brokers.mosquitto(tmp_path) as broker:
        yield broker


@contextlib.asynccontextmanager
async def table(broker: Mosquitto, keepalive_s: int = 15) -> AsyncIterator[list[bool]]:
    """A link that tells everything again whenever it is said to be connected; how often it was."""
    told: list[bool] = []

    def hear(connected: bool, reason: str) -> None:
        told.append(connected)
        if told[-2:] == [True, True]:
            link.republish()

    link = MqttLink(
        broker.settings,
        "club-1",
        on_request=lambda payload, retained: None,
        on_connection=hear,
        newcomers=BIRTHS,
        introduction=CONFIG,
        keepalive_s=keepalive_s,
    )
    for topic in (STATE, LINE, CONFIG):
        link.publish(Message(topic, "x", True, 1))
    running = asyncio.create_task(link.run())
    try:
        await until(lambda: told)
        yield told
    finally:
        running.cancel()
        await asyncio.wait_for(running, 10)


def order(heard: Recorder, since: int) -> list[str]:
    return [message.topic for message in heard.messages[since:] if message.topic in EVERYTHING]


def test_when_home_assistant_starts_it_is_told_everything_once_the_announcement_first(mosquitto: Mosquitto) -> None:
    async def run() -> None:
        async with recorder(mosquitto.port) as heard:
            # a birth from before, which the broker keeps, is none
            await heard.publish(BIRTHS[0], "online", retain=True)
            async with table(mosquitto) as told:
                await heard.wait_for(lambda heard: set(heard.latest) >= set(EVERYTHING))
                for times, birth in enumerate(BIRTHS, 2):
                    since = len(heard.messages)
                    await heard.publish(birth, "offline", retain=True)
                    await heard.publish(birth, "online", retain=True)
                    await heard.wait_for(lambda heard, since=since: len(order(heard, since)) >= len(EVERYTHING))
                    assert order(heard, since) == EVERYTHING
                    assert told == [True] * times

    asyncio.run(run())


def test_a_thousand_births_are_answered_together(mosquitto: Mosquitto) -> None:
    async def run() -> None:
        async with recorder(mosquitto.port, CONFIG, "done") as heard, table(mosquitto) as told:
            for _ in range(1_000):
                await heard.publish(BIRTHS[0], "online", qos=0)
            await heard.publish("done", "")
            await heard.wait_for(lambda heard: "done" in heard.latest and len(heard.payloads(CONFIG)) >= 2)
            assert len(told) < 100

    asyncio.run(run())


def test_a_broker_that_forgot_the_announcement_has_it_again(mosquitto: Mosquitto) -> None:
    async def run() -> None:
        async with table(mosquitto) as told:
            mosquitto.kill()
            await until(lambda: not told[-1])
            mosquitto.start()
            await until(lambda: told[-1])
            async with recorder(mosquitto.port) as newcomer:
                await newcomer.wait_for(lambda heard: set(heard.latest) >= set(EVERYTHING))
                assert all(message.retained for message in newcomer.messages)

    asyncio.run(run())


OUTAGE_S = 0.5


def test_a_short_loss_of_the_link_is_no_news_and_a_long_one_is_told_once(mosquitto: Mosquitto) -> None:
    """The broker stands still, as one does behind a wireless network that drops everything for a while."""

    async def run() -> None:
        async with recorder(mosquitto.port, AVAILABILITY) as heard, table(mosquitto, keepalive_s=2) as told:
            await heard.wait_for(lambda heard: heard.payloads(AVAILABILITY) == ["online"])
            mosquitto.freeze()
            await asyncio.sleep(OUTAGE_S)
            mosquitto.thaw()
            await heard.publish(BIRTHS[0], "online")
            await until(lambda: told == [True, True], what="an answer after the short loss")
            assert set(heard.payloads(AVAILABILITY)) == {"online"}
            mosquitto.freeze()
            await until(lambda: not told[-1], what="the notice of the long loss")
            mosquitto.thaw()
            await until(lambda: told[-1], what="the next connection")
            await heard.wait_for(lambda heard: heard.payloads(AVAILABILITY)[-2:] == ["offline", "online"])
            assert heard.payloads(AVAILABILITY).count("offline") == 1

    asyncio.run(run())


ANNOUNCED = "homeassistant/device/pocketbeam_t1/config"


def components(heard: Recorder) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(heard.latest[ANNOUNCED])["components"]
    return found


def test_the_program_announces_its_page_and_takes_back_what_the_file_has_lost(
    tmp_path: Path, mosquitto: Mosquitto
) -> None:
    def with_page(heard: Recorder) -> Any:
        return "configuration_url" in heard.latest.get(ANNOUNCED, "")

    async def run() -> None:
        config = configured(tmp_path, mosquitto.port, web_listen="127.0.0.1:0")
        kept = tmp_path / "state-t1" / FILE
        async with recorder(mosquitto.port, ANNOUNCED) as heard:
            with program(tmp_path, "run", "--config", str(config)) as running:
                await heard.wait_for(with_page, 20)
                announced = json.loads(heard.latest[ANNOUNCED])
                ha.check(ANNOUNCED, announced)
                assert announced["device"]["configuration_url"] in running.err
                assert "beam_sw" in announced["components"]
                await until(kept.exists)
                running.signal(signal.SIGTERM)
                assert running.wait() == 0
            text = config.read_text("utf-8")
            first, *sections = text.split("[[beams]]\n")
            rest = [section for section in sections if 'id = "sw"' not in section]
            config.write_text("[[beams]]\n".join([first, *rest]), "utf-8")
            since = len(heard.messages)
            with program(tmp_path, "run", "--config", str(config)):
                await heard.wait_for(lambda heard: len(heard.messages) > since and with_page(heard), 20)
                assert components(heard)["beam_sw"] == {"platform": "binary_sensor"}
                assert len(components(heard)["beam_se"]) > 1
                await until(lambda: "beam_sw" not in json.loads(kept.read_text("utf-8"))["components"])

    asyncio.run(run())
