"""A process of a hall: some tables, each with a simulated board, players and an umpire, all at one pace.

    python -m tests.bench.hall_tables JOB

The job is a JSON file: the tables with the broker's ports of each (the first is the table's own; its umpire goes
to the next one where that is away), `speed`, `seed`, and a directory to work in. Matches are played one after
the other until a file `enough` appears there; then the present one is played to its end. What was published is
written to a log beside the job: one line for each `state`, with the moment on the system's monotonic clock, which
all processes share. The tables stay up until the process is told to end.
"""

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
import time
import tomllib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import aiomqtt

from appliance import rules
from appliance.clock import SystemClock
from appliance.config import from_document
from appliance.daemon import TableDaemon
from appliance.mqtt.topics import Message, request_topic, to_json, topic
from appliance.ports import REAL
from sim.clock import SimClock
from sim.driver import STEP_US, Driver
from sim.layout import SOURCE, configuration_text, layout_of
from sim.mcu import Mcu
from sim.players import SimulatedMatch, simulate
from sim.wire import PtyMcu
from tests.bench.hall_boards import hush_the_library

GAMES = {"money_carrom": ("Chitra", "Dan", "Esi"), "new_carrom": ("Farah", "Gil"), "carpetball": ("Hana", "Ivo")}
"""A game for each table in turn: those whose matches are short, so that many are begun and ended."""
MATCH_MOST_US = 240_000_000
ASK_AGAIN_S = 3.0
KEEPALIVE_S = 30
HOST = "127.0.0.1"


class PersistentUmpire:
    """Asks until the table answers, by whichever broker is there; a repeat carries the transaction of the first."""

    def __init__(self, ports: Sequence[int], table: str) -> None:
        self._ports = ports
        self._table = table
        self._client: aiomqtt.Client | None = None
        self._answers: dict[str, asyncio.Future[Mapping[str, object]]] = {}
        self._asked = 0
        self.repeats = 0

    async def listen(self) -> None:
        """Stay connected until cancelled."""
        attempt = 0
        while True:
            port = self._ports[attempt % len(self._ports)]
            attempt += 1
            with contextlib.suppress(aiomqtt.MqttError):
                async with aiomqtt.Client(HOST, port, keepalive=KEEPALIVE_S) as client:
                    await client.subscribe(topic(self._table, "response"), qos=1)
                    self._client = client
                    async for message in client.messages:
                        self._hear(json.loads(bytes(message.payload)))  # type: ignore[arg-type]
            self._client = None
            await asyncio.sleep(0.2)

    async def request(self, document: Mapping[str, object]) -> Mapping[str, object]:
        """The table's answer."""
        self._asked += 1
        transaction = f"{self._table}-{self._asked}"
        answer: asyncio.Future[Mapping[str, object]] = asyncio.get_running_loop().create_future()
        self._answers[transaction] = answer
        payload = to_json({**document, "transaction": transaction})
        while True:
            with contextlib.suppress(aiomqtt.MqttError):
                if self._client is not None:
                    await self._client.publish(request_topic(self._table), payload, qos=1, timeout=ASK_AGAIN_S)
            done, _ = await asyncio.wait({answer}, timeout=ASK_AGAIN_S)
            if done:
                del self._answers[transaction]
                return answer.result()
            self.repeats += 1

    def _hear(self, document: Mapping[str, object]) -> None:
        waiting = self._answers.get(str(document.get("transaction")))
        if waiting is not None and not waiting.done():
            waiting.set_result(document)


@dataclass
class HallTable:
    """One table; `run` plays on it."""

    name: str
    game: str
    ports: Sequence[int]
    speed: float
    seed: int
    directory: Path
    log: TextIO
    published: int = 0
    matches: int = 0
    state: str | None = None
    line: str | None = None
    final: dict[str, object] | None = None

    async def run(self, enough: asyncio.Event, over: asyncio.Event) -> dict[str, Any]:
        """Play until it is enough, tell what came out, and stay up until it is over."""
        (self.directory / f"state-{self.name}").mkdir()
        port_path = self.directory / f"board-{self.name}"
        text = configuration_text(
            self.game,
            GAMES[self.game],
            port=str(port_path),
            state_dir=str(self.directory / f"state-{self.name}"),
            mqtt_host=HOST,
            mqtt_port=self.ports[0],
            web_listen=None,
            table=self.name,
        )
        clock = SimClock(SystemClock().wall_ns())
        layout = layout_of(self.game)
        board = PtyMcu(Mcu(len(layout.sensors), self.seed, 0, levels=layout.idle_levels()), port_path, clock.now_us)
        umpire = PersistentUmpire(self.ports, self.name)
        daemon = TableDaemon(from_document(tomllib.loads(text)), clock, replace(REAL, publisher=self._publisher))
        board.start()
        await daemon.start()
        listening = asyncio.create_task(umpire.listen())
        try:
            driver = Driver(board, umpire.request, clock, self.speed)
            while not daemon.is_connected(SOURCE):
                await driver.rest(STEP_US)
            await self._play(driver, umpire, enough)
            (self.directory / f"{self.name}.json").write_text(
                json.dumps(
                    {
                        "matches": self.matches,
                        "state": self.state,
                        "line": self.line,
                        "truth": self.final,
                        "published": self.published,
                        "repeats": umpire.repeats,
                    }
                )
            )
            # A table keeps its heartbeat, and with it its health, while nobody plays.
            while not over.is_set():
                await driver.rest(STEP_US)
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            await daemon.stop()
            board.stop()

    async def _play(self, driver: Driver, umpire: PersistentUmpire, enough: asyncio.Event) -> None:
        players = GAMES[self.game]
        while True:
            match = self._short_match(players)
            if self.matches:
                request = {
                    "command": "new_match",
                    "game": self.game,
                    "players": list(players),
                    "options": {},
                    "abandon": True,
                }
                answer = await umpire.request(request)
                assert answer.get("ok") is True, answer
            await driver.play(match)
            await self._until_shown(driver, match)
            self.matches += 1
            if enough.is_set():
                return

    def _short_match(self, players: tuple[str, ...]) -> SimulatedMatch:
        """The next match that ends soon."""
        while True:
            match = simulate(self.game, players, self.seed)
            self.seed += 1
            if match.actions[-1].at_us <= MATCH_MOST_US:
                return match

    async def _until_shown(self, driver: Driver, match: SimulatedMatch) -> None:
        """Time goes on until the table says what the players know."""
        self.final = json.loads(json.dumps(rules.document(match.final)))
        for _ in range(400):
            if self.state is not None and json.loads(self.state)["rules"] == self.final:
                return
            await driver.rest(STEP_US)
        raise AssertionError(f"{self.name} ends with {self.state}, its players with {self.final}")

    def _publisher(self, *arguments: Any) -> Any:
        link = REAL.publisher(*arguments)
        state, line, publish = topic(self.name, "state"), topic(self.name, "line"), link.publish

        def noting(message: Message) -> None:
            self.published += 1
            if message.topic == line:
                self.line = message.payload
            if message.topic == state and message.payload is not None:
                self.state = message.payload
                crc, seq = zlib.crc32(message.payload.encode()), json.loads(message.payload)["seq"]
                self.log.write(f"{self.name} {seq} {crc} {time.monotonic_ns()}\n")
            publish(message)

        link.publish = noting
        return link


async def main(job: Mapping[str, Any]) -> None:
    """All tables of the job, until SIGTERM."""
    directory = Path(job["directory"])
    enough, over = asyncio.Event(), asyncio.Event()
    hush_the_library(asyncio.get_running_loop())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)

    hall = os.getppid()

    async def watch() -> None:
        while os.getppid() == hall:
            if (directory / "enough").exists():
                enough.set()
            await asyncio.sleep(0.1)
        over.set()

    with (directory / "published.log").open("w", buffering=1) as log:
        tables = [
            HallTable(
                each["name"],
                list(GAMES)[each["number"] % len(GAMES)],
                each["ports"],
                job["speed"],
                job["seed"] + 1000 * each["number"],
                directory,
                log,
            )
            for each in job["tables"]
        ]
        watching = asyncio.create_task(watch())
        try:
            await asyncio.gather(*(table.run(enough, over) for table in tables))
        finally:
            watching.cancel()


if __name__ == "__main__":
    logging.getLogger("appliance").setLevel(logging.ERROR)
    asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))
