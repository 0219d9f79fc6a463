"""Hostile requests over a real broker, all kinds and ten thousand a second, while pieces fall at a real table."""

import asyncio
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from appliance.mqtt.client import REQUESTS_WAITING
from sim.wire import PtyMcu
from tests.security.hostile import HOSTILE
from tests.support import brokers
from tests.support.brokers import Recorder, recorder, until
from tests.support.processes import ROOT, board, configured, now_us, program

pytestmark = pytest.mark.real

TABLE = "pocketbeam/t1"
RATE, SECONDS, PASSAGES = 10_000, 3.0, 6
QUICK_US = 100_000


def documents(heard: Recorder, kind: str) -> list[dict[str, Any]]:
    return [json.loads(payload) for payload in heard.payloads(f"{TABLE}/{kind}")]


def told(heard: Recorder) -> list[dict[str, Any]]:
    """What the table took for something that fell."""
    return [event for event in documents(heard, "event") if event["event"] == "passage"]


async def fall(line: PtyMcu, channel: int) -> bool:
    """A piece falls; whether a busy machine let it be as quick as a piece is."""
    began_us = now_us()
    line.drive(channel, 1)
    await asyncio.sleep(0.03)
    line.drive(channel, 0)
    return now_us() - began_us < QUICK_US


async def ask(heard: Recorder, transaction: str, **request: Any) -> dict[str, Any]:
    """The answer to a request, which is asked again until there is one."""
    while True:
        await heard.publish(f"{TABLE}/request", json.dumps({"transaction": transaction, **request}))
        try:
            return await heard.wait_for(  # type: ignore[no-any-return]
                lambda heard: next((a for a in documents(heard, "response") if a["transaction"] == transaction), None),
                2.0,
            )
        except AssertionError:
            continue


def test_hostile_requests_change_nothing_and_a_flood_of_them_hides_no_passage(tmp_path: Path) -> None:
    async def main() -> None:
        hears = [f"{TABLE}/{kind}" for kind in ("state", "event", "health", "response", "availability")]
        async with board(tmp_path) as line, recorder(broker.port, *hears) as heard:
            # Kept by the broker for whoever comes: a table that starts is not to obey what somebody said long ago.
            await heard.publish(f"{TABLE}/request", b'{"command": "new_match", "game": "carpetball"}', retain=True)
            with program(tmp_path, "run", "--config", str(configured(tmp_path, broker.port))) as running:
                await heard.wait_for(
                    lambda heard: any(each["sources"]["board"]["state"] == "ok" for each in documents(heard, "health")),
                    30.0,
                )
                before = documents(heard, "state")[-1]
                assert before["rules"]["game"] == "club_carrom"
                await until(lambda: "a retained request is ignored" in running.err)
                await heard.publish(f"{TABLE}/request", None, retain=True)

                expected: Counter[str] = Counter()
                for each in HOSTILE:
                    if not each.retained:
                        assert each.code is not None
                        expected[each.code] += 1
                        await heard.publish(f"{TABLE}/request", each.payload)
                assert (await ask(heard, "alive", command="sync"))["ok"]
                codes = Counter(a["error"]["code"] for a in documents(heard, "response") if not a["ok"])
                assert codes == expected
                assert documents(heard, "state")[-1]["seq"] == before["seq"]

                flood = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "tests.security.flood", str(broker.port), f"{TABLE}/request"),
                    *(str(RATE), str(SECONDS)),
                    cwd=ROOT,
                    stdout=asyncio.subprocess.PIPE,
                )
                fallen = []
                while len(fallen) < PASSAGES:
                    await asyncio.sleep(0.3)
                    fallen.append((len(fallen) % 4, await fall(line, len(fallen) % 4)))
                sent = int((await flood.communicate())[0])
                assert sent > RATE

                await heard.wait_for(lambda heard: len(told(heard)) >= PASSAGES, 20.0)
                beams = [("ne", "nw", "se", "sw")[channel] for channel, _ in fallen]
                assert [event["beam"] for event in told(heard)] == beams
                for event, (_, quick) in zip(told(heard), fallen, strict=True):
                    assert event.get("doubt") is None or not quick, event

                # Nobody was thrown out, and what was dropped can be seen.
                assert set(heard.payloads(f"{TABLE}/availability")) == {"online"}
                await heard.wait_for(
                    lambda heard: documents(heard, "health")[-1]["broker"]["counters"]["requests_dropped"] > sent // 10,
                    30.0,
                )
                counters = documents(heard, "health")[-1]["broker"]["counters"]
                assert counters["failures"] == 0
                assert counters["dropped"] == 0
                assert counters["requests_dropped"] + counters["requests_refused"] <= sent + sum(codes.values())
                assert counters["requests_refused"] > REQUESTS_WAITING
                # The log does not grow with what others send.
                assert running.err.count("a request was refused") < 100

                answer = await ask(heard, "close", command="end_stroke", player=1)
                assert answer["ok"], answer

    with brokers.mosquitto(tmp_path) as broker:
        asyncio.run(main())
