"""A process that stands still, pulled cables and brokers that come and go: real bytes under the whole program.

Two buttons pause the table and let it go on, so that each press is one accepted input: `seq` says whether one was
lost or is there twice.
"""

import asyncio
import json
import random
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from sim.wire import PtyMcu
from tests.support.brokers import HOST, Mosquitto, Recorder, mosquitto, recorder
from tests.support.processes import Program, board, configured, program, pulse

pytestmark = pytest.mark.real

BASE = "pocketbeam/t1"
RIGHT_WITHIN_S = 3.0
PULLS = 12
PAUSE, RESUME = 16, 17
BUTTONS = "".join(
    f'\n[[buttons]]\nid = "{action}"\nsource = "board"\nchannel = {channel}\naction = "{action}"\n'
    for action, channel in (("pause", PAUSE), ("resume", RESUME))
)


class Playing:
    """A table at which buttons are pressed, and how often they were."""

    def __init__(self, line: PtyMcu, running: Program) -> None:
        self.line = line
        self.running = running
        self.presses = 0

    async def press(self, count: int) -> None:
        for _ in range(count):
            await pulse(self.line, PAUSE if self.presses % 2 == 0 else RESUME, 60, active=0)
            await asyncio.sleep(0.06)
            self.presses += 1

    def is_right(self, heard: Recorder) -> bool:
        """The retained state is that of everything that was played, and the table is online."""
        state = heard.latest.get(f"{BASE}/state")
        online = heard.latest.get(f"{BASE}/availability") == "online"
        return online and state is not None and json.loads(state)["seq"] == 1 + self.presses


@asynccontextmanager
async def playing(directory: Path, port: int) -> AsyncIterator[Playing]:
    config = configured(directory, port, add=BUTTONS)
    async with board(directory, levels={PAUSE: 1, RESUME: 1}) as line:
        with program(directory, "run", "--config", str(config)) as running:
            await asyncio.wait_for(settled(line), 15)
            yield Playing(line, running)
            running.signal(signal.SIGTERM)
            assert running.wait() == 0
            assert "Traceback" not in running.err


async def settled(line: PtyMcu) -> None:
    """Until the program has greeted the board: it then configures it, or at least acknowledges."""
    while line.mcu._heard_us == line.mcu._booted_us:  # noqa: ASYNC110 - nothing announces it
        await asyncio.sleep(0.01)


async def right_again(port: int, table: Playing, since_s: float) -> float:
    """How long it took until a newcomer at the broker is shown everything."""
    async with recorder(port, f"{BASE}/#") as newcomer:
        await newcomer.wait_for(table.is_right, 10)
    return time.monotonic() - since_s


def test_a_process_that_stands_still_catches_up(tmp_path: Path) -> None:
    """Stopped for up to six seconds while objects fall; once the broker is also restarted meanwhile."""

    async def main(broker: Mosquitto) -> None:
        async with playing(tmp_path, broker.port) as table:
            for stop_s, restart in ((0.5, False), (2.0, False), (6.0, False), (2.0, True)):
                await table.press(3)
                table.running.signal(signal.SIGSTOP)
                await table.press(10)
                if restart:
                    broker.kill()
                    broker.start()
                await asyncio.sleep(stop_s)
                began_s = time.monotonic()
                table.running.signal(signal.SIGCONT)
                assert await right_again(broker.port, table, began_s) <= RIGHT_WITHIN_S
                assert table.line.mcu.counters.lost == 0

    with mosquitto(tmp_path) as broker:
        asyncio.run(main(broker))


@pytest.mark.parametrize("persistence", [False, True])
def test_a_broker_that_restarts_shows_the_right_score_within_three_seconds(persistence: bool, tmp_path: Path) -> None:
    async def main(broker: Mosquitto) -> None:
        async with playing(tmp_path, broker.port) as table:
            await table.press(2)
            assert await right_again(broker.port, table, time.monotonic()) <= RIGHT_WITHIN_S
            for end, away_s in ((broker.kill, 0.0), (broker.stop, 4.0), (broker.kill, 6.0)):
                end()
                await table.press(5)
                await asyncio.sleep(away_s)
                began_s = time.monotonic()
                broker.start()
                took_s = await right_again(broker.port, table, began_s)
                assert took_s <= RIGHT_WITHIN_S, f"{took_s:.2f} s after {away_s} s"

    with mosquitto(tmp_path, persistence=persistence) as broker:
        asyncio.run(main(broker))


def test_somebody_else_with_its_name_throws_it_out_and_it_comes_back(tmp_path: Path) -> None:
    async def main(broker: Mosquitto) -> None:
        async with (
            recorder(broker.port, f"{BASE}/#") as heard,
            playing(tmp_path, broker.port) as table,
        ):
            for _ in range(2):
                await heard.wait_for(lambda h: h.latest.get(f"{BASE}/availability") == "online")
                async with aiomqtt.Client(HOST, broker.port, identifier="pocketbeam-t1"):
                    await heard.wait_for(lambda h: h.latest.get(f"{BASE}/availability") == "offline")
                    await table.press(5)
                gone_s = time.monotonic()
                await heard.wait_for(table.is_right)
                assert time.monotonic() - gone_s <= RIGHT_WITHIN_S

    with mosquitto(tmp_path) as broker:
        asyncio.run(main(broker))


def test_a_dozen_pulls_at_any_moment_and_the_heartbeats_of_the_table_go_on(tmp_path: Path) -> None:
    choose = random.Random(12)

    async def main(broker: Mosquitto) -> None:
        async with playing(tmp_path, broker.port) as table, recorder(broker.port, f"{BASE}/#") as heard:
            slowest_s = 0.0
            for _ in range(PULLS):
                falling = asyncio.create_task(table.press(4))
                await asyncio.sleep(choose.uniform(0, 0.25))
                table.line.unplug()
                await asyncio.sleep(choose.choice((0.0, 0.05, 0.4, 1.5)))
                table.line.replug()
                began_s = time.monotonic()
                await falling
                await asyncio.wait_for(table.line.acknowledged(), 10)
                slowest_s = max(slowest_s, time.monotonic() - began_s)
            await heard.wait_for(table.is_right)
            assert slowest_s <= 3.0
            assert table.line.mcu.counters.lost == 0
            assert table.line.bytes_lost == 0
            assert heard.payloads(f"{BASE}/availability") == ["online"]
            lost = [p for p in heard.payloads(f"{BASE}/event") if '"source_lost"' in p]
            assert len(lost) >= PULLS
            states = [json.loads(payload)["seq"] for payload in heard.payloads(f"{BASE}/state")]
            assert states == sorted(states)

    with mosquitto(tmp_path) as broker:
        asyncio.run(main(broker))


def test_repeated_and_retained_requests_over_restarts_of_everything(tmp_path: Path) -> None:
    """The same transaction again after the program, and after the broker, was gone; and one that is retained."""

    async def ask(broker: Mosquitto, payload: dict[str, Any]) -> dict[str, Any]:
        async with recorder(broker.port, f"{BASE}/response") as heard:
            await heard.publish(f"{BASE}/request", json.dumps(payload))
            await heard.wait_for(lambda h: h.messages)
            answer: dict[str, Any] = json.loads(heard.messages[0].payload)
            return answer

    async def main(broker: Mosquitto) -> None:
        config = configured(tmp_path, broker.port)
        once = {"command": "stroke", "pocketed": ["white"], "transaction": "once"}
        answers = []
        for end in (signal.SIGKILL, signal.SIGTERM):
            with program(tmp_path, "run", "--config", str(config)) as running:
                async with recorder(broker.port, f"{BASE}/#") as heard:
                    await heard.wait_for(lambda h: h.latest.get(f"{BASE}/availability") == "online")
                answers.append(await ask(broker, once))
                broker.kill()
                broker.start()
                async with recorder(broker.port, f"{BASE}/#") as heard:
                    await heard.wait_for(lambda h: h.latest.get(f"{BASE}/availability") == "online")
                answers.append(await ask(broker, once))
                running.signal(end)
                running.wait()
            async with recorder(broker.port, f"{BASE}/#") as heard:
                # Nobody listens now: it waits for the table's next run.
                await heard.publish(f"{BASE}/request", json.dumps({"command": "abandon"}), retain=True)
        assert len({answer["seq"] for answer in answers}) == 1
        assert all(answer["ok"] for answer in answers)

    with mosquitto(tmp_path) as broker:
        asyncio.run(main(broker))
