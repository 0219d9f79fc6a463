"""The demo: a simulated table, the real appliance, a broker and the pages, in one process.

Nothing is shortened on the way: the simulated board speaks the serial protocol over a pseudo-terminal, the
appliance journals into a real file, the umpire's calls and the scoreboard's numbers go over MQTT. Only time
is simulated, and the board and the appliance share it.
"""

import asyncio
import json
import logging
import os
import random
import secrets
import signal
import sys
import tempfile
import tomllib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from appliance.clock import SystemClock
from appliance.config import Mqtt, Settings, from_document
from appliance.daemon import TableDaemon
from appliance.journal import JournalError
from appliance.mqtt.broker import EmbeddedBroker, EmbeddedBrokerError
from appliance.web.server import WebServer, WebServerError
from sim.clock import SimClock
from sim.driver import STEP_US, CallRefusedError, Driver
from sim.layout import SOURCE, configuration_text, layout_of
from sim.mcu import Mcu
from sim.players import SimulatedMatch, simulate, truth_lines
from sim.umpire import Umpire, UmpireError
from sim.wire import PtyMcu

TABLE = "demo"
LOOPBACK = "127.0.0.1"
USUAL_HTTP_PORT = 8080
NAMES = ("Asha", "Ben", "Chitra", "Dan")
FINISHED = frozenset({"match_over", "round_over"})
SEATS = {"money_carrom": range(2, 5), "club_carrom": (2, 4), "new_carrom": (2, 4), "carpetball": range(2, 33)}
BETWEEN_MATCHES_US = 15_000_000
_ENDING = (signal.SIGINT, signal.SIGTERM)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """What the command line asks of the demo; `speed` None is as fast as acknowledgements come back."""

    game: str = "club_carrom"
    players: tuple[str, ...] | None = None
    seed: int | None = None
    speed: float | None = 1.0
    once: bool = False
    mqtt_port: int | None = None
    http_port: int | None = None
    state_dir: Path | None = None
    truth: Path | None = None
    broker: tuple[str, int] | None = None


class DemoError(Exception):
    """The demo cannot go on; the text is one sentence."""


class UnfinishedError(DemoError):
    """The table does not say what the players made of the match."""


def main(options: DemoOptions) -> int:
    """Run the demo until it is over or Ctrl-C; the exit status."""
    players = options.players or NAMES[:2]
    if len(players) not in SEATS[options.game]:
        seats = SEATS[options.game]
        _say_wrong(
            f"{options.game} is played by {min(seats)} to {max(seats)} players, not by {len(players)}"
            if isinstance(seats, range)
            else f"{options.game} is played by 2 or 4 players, not by {len(players)}"
        )
        return 2
    try:
        return asyncio.run(_until_interrupted(options, players))
    except (DemoError, CallRefusedError, UmpireError, EmbeddedBrokerError, WebServerError, JournalError) as error:
        _say_wrong(str(error))
        return 1


def _say_wrong(sentence: str) -> None:
    print(f"pocketbeam: {sentence}", file=sys.stderr, flush=True)


async def _until_interrupted(options: DemoOptions, players: tuple[str, ...]) -> int:
    """Play until the end or Ctrl-C, and tidy up in a task of its own, which no further Ctrl-C reaches."""
    loop = asyncio.get_running_loop()
    stopped = False
    async with AsyncExitStack() as stack:
        stack.callback(_heed_no_more, loop)
        playing = asyncio.ensure_future(_demo(options, players, stack))
        for number in _ENDING:
            loop.add_signal_handler(number, playing.cancel)
        try:
            await playing
        except asyncio.CancelledError:
            stopped = playing.cancelling() > 0
            if not stopped:
                raise
    if stopped:
        print("Stopped.", flush=True)
    return 0


def _heed_no_more(loop: asyncio.AbstractEventLoop) -> None:
    """All is tidied up; a Ctrl-C at this moment would only spoil the exit status."""
    for number in _ENDING:
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_IGN)


async def _demo(options: DemoOptions, players: tuple[str, ...], stack: AsyncExitStack) -> None:
    """Put up everything, to be taken down with the stack, and play."""
    seed = secrets.randbelow(10_000) if options.seed is None else options.seed
    if options.truth is not None:
        options.truth.touch()  # a place that cannot be written to is told before the match, not after it
    directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pocketbeam-demo-")))
    host, port = await stack.enter_async_context(_broker(options))
    settings = _settings(options, players, directory, host, port)
    clock = SimClock(SystemClock().wall_ns())
    board = _board(options.game, directory / "board", clock, seed)
    board.start()
    stack.callback(board.stop)
    daemon = TableDaemon(settings, clock)
    await daemon.start()
    stack.push_async_callback(daemon.stop)
    pages = await stack.enter_async_context(_pages(options, host, port))
    daemon.show_page(pages)
    show_lines = options.speed is not None
    umpire = await stack.enter_async_context(Umpire(host, port, TABLE, _print_line if show_lines else _ignore))
    print(f"Scoreboard:  {pages}", flush=True)
    print(f"Broker:      {host}:{port}, topics pocketbeam/{TABLE}/…", flush=True)
    print(f"Playing {options.game} with seed {seed}; Ctrl-C stops everything.", flush=True)
    driver = Driver(board, umpire.request, clock, options.speed)
    while not daemon.is_connected(SOURCE):
        await driver.rest(STEP_US)
    await _play(options, players, seed, driver, umpire)


async def _play(options: DemoOptions, players: tuple[str, ...], seed: int, driver: Driver, umpire: Umpire) -> None:
    """Match after match, or one; each is the next seed's."""
    before = await umpire.first_state()
    fresh = before["seq"] == 1
    while True:
        match = simulate(options.game, players, seed)
        if not fresh:
            await _new_match(match, umpire)
        fresh = False
        try:
            await driver.play(match)
            final = await _final_rules(driver, umpire)
        except (CallRefusedError, UnfinishedError):
            if options.once:
                raise
            print("Somebody else had a hand in the score, so the players begin a new match.", flush=True)
            seed += 1
            continue
        if options.truth is not None:
            options.truth.write_text("".join(f"{line}\n" for line in truth_lines(match)), encoding="utf-8")
        if options.once:
            print(json.dumps(final, ensure_ascii=False), flush=True)
            return
        await driver.rest(BETWEEN_MATCHES_US)
        seed += 1


async def _new_match(match: SimulatedMatch, umpire: Umpire) -> None:
    request: dict[str, object] = {
        "command": "new_match",
        "game": match.game,
        "players": list(match.players),
        "options": {},
        "abandon": True,
    }
    answer = await umpire.request(request)
    if answer.get("ok") is not True:
        raise DemoError(f"the table refused a new match: {answer.get('error')}")


async def _final_rules(driver: Driver, umpire: Umpire) -> dict[str, Any]:
    """What the scoreboard says when the match is over; time goes on until it does."""
    for _ in range(200):
        state = umpire.state
        if state is not None and state["rules"]["phase"] in FINISHED:
            rules: dict[str, Any] = state["rules"]
            return rules
        await driver.rest(STEP_US)
        await asyncio.sleep(0.01)
    raise UnfinishedError("the players have finished, but the table does not say so")


def _settings(options: DemoOptions, players: tuple[str, ...], directory: Path, host: str, port: int) -> Settings:
    text = configuration_text(
        options.game,
        players,
        port=str(directory / "board"),
        state_dir=str((options.state_dir or directory / "state").absolute()),
        mqtt_host=host,
        mqtt_port=port,
        web_listen=None,
        table=TABLE,
    )
    return from_document(tomllib.loads(text))


def _board(game: str, path: Path, clock: SimClock, seed: int) -> PtyMcu:
    layout = layout_of(game)
    boot_id = random.Random(seed).getrandbits(31) ^ (SystemClock().monotonic_ns() & 0x7FFFFFFF)
    mcu = Mcu(len(layout.sensors), boot_id, clock.now_us(), levels=layout.idle_levels())
    return PtyMcu(mcu, path, clock.now_us)


@asynccontextmanager
async def _broker(options: DemoOptions) -> AsyncIterator[tuple[str, int]]:
    if options.broker is not None:
        yield options.broker
        return
    broker = EmbeddedBroker(LOOPBACK, options.mqtt_port or 0)
    port = await broker.start()
    try:
        yield LOOPBACK, port
    finally:
        await broker.stop()


@asynccontextmanager
async def _pages(options: DemoOptions, broker_host: str, broker_port: int) -> AsyncIterator[str]:
    """The pages on the port asked for, or on the usual one, or, if that is taken, on any."""
    wanted = USUAL_HTTP_PORT if options.http_port is None else options.http_port
    broker = Mqtt(host=broker_host, port=broker_port)
    server = WebServer(LOOPBACK, wanted, broker, TABLE)
    try:
        port = await server.start()
    except WebServerError as error:
        if options.http_port is not None:
            why = os.strerror(error.__cause__.errno or 0) if isinstance(error.__cause__, OSError) else str(error)
            sentence = f"the pages cannot have port {wanted}: {why}; leave --http-port out for any free one"
            raise DemoError(sentence) from None
        server = WebServer(LOOPBACK, 0, broker, TABLE)
        port = await server.start()
    try:
        yield f"http://{LOOPBACK}:{port}/"
    finally:
        await server.stop()


def _print_line(line: str) -> None:
    print(line, flush=True)


def _ignore(line: str) -> None:
    """At full speed nobody could read them."""
