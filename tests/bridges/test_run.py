"""The bridge as a process, between a real broker and a clock that only listens."""

import asyncio
import json
import signal
from pathlib import Path

import pytest

from appliance.mqtt.topics import state_messages
from tests.support import mqtt_examples as examples
from tests.support.brokers import HOST, Recorder, embedded, mosquitto, recorder, until
from tests.support.processes import program

pytestmark = pytest.mark.real

PAGE, NOTE = "clock/custom/pocketbeam-club-1_", "clock/notify"
SHOWN = {
    "text": [{"t": "12", "c": "FFC832"}, {"t": "-", "c": "808080"}, {"t": "9", "c": "FFFFFF"}],
    "lifetime": 180,
}
WON = {**examples.EVENT, "event": "match_ended", "event_id": "42.9", "winner": "B", "certain": True}


async def table_says(hears: Recorder, availability: str) -> None:
    """What a table publishes when it connects."""
    await hears.publish("pocketbeam/club-1/availability", availability, retain=True)
    for message in state_messages(examples.STATES["club_carrom"]):
        await hears.publish(message.topic, message.payload, retain=message.retain)


def page(hears: Recorder) -> object:
    payload = hears.latest.get(PAGE)
    return payload and json.loads(payload)


def test_a_clock_shows_the_score_through_a_brokers_restart_and_nothing_after_the_end(tmp_path: Path) -> None:
    async def scenario() -> None:
        with mosquitto(tmp_path) as broker:
            at = ("--broker", f"{HOST}:{broker.port}", "--table", "club-1", "--set", "prefix=clock")
            with program(tmp_path, "bridge", "awtrix", *at) as bridge:
                async with recorder(broker.port) as hears:
                    await table_says(hears, "online")
                    await hears.wait_for(lambda heard: page(heard) == SHOWN)
                    await hears.publish("pocketbeam/club-1/event", json.dumps(WON))
                    await hears.wait_for(lambda heard: heard.payloads(NOTE))
                    note = {"text": "Ben wins", "color": "#50E080", "repeat": 2, "duration": 8}
                    assert [json.loads(payload) for payload in hears.payloads(NOTE)] == [note]
                broker.kill()
                broker.start()
                async with recorder(broker.port) as hears:
                    await table_says(hears, "online")
                    await hears.wait_for(lambda heard: page(heard) == SHOWN, 60)
                async with recorder(broker.port) as newcomer:
                    await newcomer.wait_for(lambda heard: page(heard) == SHOWN)
                    bridge.signal(signal.SIGINT)
                    assert bridge.wait() == 0
                    await newcomer.wait_for(lambda heard: heard.latest[PAGE] == "")
                assert "Traceback" not in bridge.err
                assert "nothing listens at" in bridge.err or "closed the connection" in bridge.err

    asyncio.run(scenario())


def test_a_bridge_that_vanishes_takes_its_page_with_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        with mosquitto(tmp_path) as broker:
            config = tmp_path / "table.toml"
            config.write_text(
                f"""
[table]
id = "club-1"
game = "club_carrom"
state_dir = "{tmp_path}"
[mqtt]
port = {broker.port}
[bridges.awtrix]
prefix = "clock"
"""
            )
            async with recorder(broker.port) as hears:
                await table_says(hears, "online")
                with program(tmp_path, "bridge", "awtrix", "--config", str(config)) as bridge:
                    await hears.wait_for(lambda heard: page(heard) == SHOWN)
                    bridge.kill()
                    await hears.wait_for(lambda heard: heard.latest[PAGE] == "")

    asyncio.run(scenario())


def test_a_broker_that_lets_it_not_write_is_said_once_and_one_of_the_older_version_will_do(tmp_path: Path) -> None:
    async def scenario() -> None:
        rights = tmp_path / "rights"
        rights.write_text("topic readwrite pocketbeam/#\n")
        rights.chmod(0o600)
        with mosquitto(tmp_path, extra=f"acl_file {rights}") as broker:
            async with recorder(broker.port) as hears:
                await table_says(hears, "online")
                at = ("--broker", f"{HOST}:{broker.port}", "--table", "club-1", "--set", "prefix=clock")
                with program(tmp_path, "bridge", "awtrix", *at) as bridge:
                    said = f"the broker at {HOST}:{broker.port} lets this account not write to {PAGE}"
                    await until(lambda: said in bridge.err)
                    for number in (1, 2):
                        await hears.publish("pocketbeam/club-1/event", json.dumps({**WON, "event_id": f"43.{number}"}))
                    await until(lambda: f"not write to {NOTE}" in bridge.err)
                    bridge.signal(signal.SIGTERM)
                    assert bridge.wait() == 0
                    assert bridge.err.count("not write to") == 2
        async with embedded() as port, recorder(port) as hears:
            at = ("--broker", f"{HOST}:{port}", "--table", "club-1", "--set", "prefix=clock")
            with program(tmp_path, "bridge", "awtrix", *at):
                await table_says(hears, "online")
                await hears.wait_for(lambda heard: page(heard) == SHOWN)

    asyncio.run(scenario())
