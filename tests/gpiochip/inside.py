"""What runs inside the machine with the simulated gpiochip: the daemon itself, on lines that are driven here.

Prints one line of JSON a case: its name, what was seen, how long it took in the machine's own time. Nothing is
judged here; that is done outside, where pytest is. The daemon has its real journal, sources and pin library;
only its messages go into a list instead of to a broker.
"""

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from appliance.clock import SystemClock
from appliance.config import from_document
from appliance.daemon import TableDaemon
from appliance.mqtt.topics import Message
from appliance.ports import REAL, OnConnection, OnRequest, Ports
from appliance.sensing.bank import Beam
from appliance.sources.header import Controller
from tests.gpiochip.lines import Chip, hold
from tests.support.passages import counted, difference, read_cases
from tests.support.validated import validate

Seen = dict[str, Any]

CARROM = {"ne": "GPIO17", "nw": "BOARD13", "se": "GPIO22", "sw": "GPIO23"}
CARPETBALL = {"north": "GPIO17", "south": "BOARD13"}
NUMBER = {"ne": 17, "nw": 27, "se": 22, "sw": 23, "north": 17, "south": 27}
BUTTON = {"done": 12, "done-1": 5, "done-2": 6, "undo": 13, "line-up": 19, "pause": 26}
LAMP = {"turn-1": 20, "turn-2": 21, "fault": 16}
WIDTHS_MS = (0.1, 0.2, 0.5, 1, 1.4, 1.6, 2, 3, 5.5, 12, 35, 90)
US = 1_000_000

HEADER = Chip("header")
EXPANDERS = [Chip("expander", "an-expander", 8)]


def document(game: str) -> Seen:
    """The configuration of a table on the header."""
    beams = CARPETBALL if game == "carpetball" else CARROM
    buttons = [
        {"id": "done", "action": "done"},
        {"id": "done-1", "action": "done", "player": 1},
        {"id": "done-2", "action": "done", "player": 2},
        {"id": "undo", "action": "undo", "long": {"action": "redo"}},
        {"id": "pause", "action": "pause", "long": {"action": "resume"}},
    ]
    if game == "carpetball":
        buttons.append({"id": "line-up", "action": "line_up", "north": 5, "south": 5})
    table = {"id": "t1", "game": game, "players": ["Asha", "Ben"], "unknown_object": "assume"}
    return {
        "table": {**table, "state_dir": f"/run/{game}-{time.monotonic_ns()}"},
        "sources": [{"id": "pins", "kind": "gpio"}],
        "beams": [{"id": place, "source": "pins", "pin": pin, "place": place} for place, pin in beams.items()],
        "buttons": [{**button, "source": "pins", "pin": f"GPIO{BUTTON[button['id']]}"} for button in buttons],
        "lamps": [
            {"id": name, "source": "pins", "pin": f"GPIO{LAMP[name]}", **shows}
            for name, shows in (
                ("turn-1", {"shows": "turn", "player": 1}),
                ("turn-2", {"shows": "turn", "player": 2}),
                ("fault", {"shows": "fault"}),
            )
        ],
    }


class Broker:
    """Keeps what was published; every message is held to its contract."""

    def __init__(self, on_request: OnRequest, on_connection: OnConnection) -> None:
        self.on_request = on_request
        self._on_connection = on_connection
        self.events: list[tuple[float, Seen]] = []
        self.retained: dict[str, Any] = {}

    async def run(self) -> None:
        self._on_connection(True, "")
        await asyncio.Event().wait()

    def publish(self, message: Message) -> None:
        content = validate(message.topic, message.payload or "")
        kind = message.topic.split("/")[2]
        if kind == "event":
            self.events.append((time.monotonic(), content))
        elif message.retain:
            self.retained[kind] = content

    def republish(self) -> None:
        """Nobody asks for it here."""

    def counters(self) -> dict[str, int]:
        return {"queued": 0}


class Table:
    """A daemon on the header, and hands; an asynchronous context manager. `blocked` are beams left dark."""

    def __init__(self, game: str = "club_carrom", blocked: tuple[str, ...] = ()) -> None:
        self.settings = from_document(document(game))
        self.places = tuple(CARPETBALL if game == "carpetball" else CARROM)
        self._blocked = blocked
        self._hands = ThreadPoolExecutor(1)

    async def __aenter__(self) -> "Table":
        def publisher(settings: Any, on_request: OnRequest, on_connection: OnConnection) -> Broker:
            self.broker = Broker(on_request, on_connection)
            return self.broker

        self.daemon = TableDaemon(self.settings, SystemClock(), Ports(REAL.journal, REAL.source, publisher))
        await self.daemon.start()
        self.intact()
        # What was dark for a moment, pulled up with nothing to pull it down, counts again after a second.
        well = [place for place in self.places if place not in self._blocked]
        await self.until(lambda: all(self.line(place).is_serviceable for place in well), "the beams to be well")
        await asyncio.sleep(0.1)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.daemon.stop()
        self._hands.shutdown()

    def intact(self) -> None:
        """Light on every beam that is not left dark, no finger on any button."""
        for place in self.places:
            HEADER.drive(NUMBER[place], 1 if place in self._blocked else 0)
        for number in BUTTON.values():
            HEADER.drive(number, 1)

    async def play(self, changes: list[tuple[int, int, int]]) -> None:
        """Drive lines at their microseconds from now; a moment later everything of it has been heard."""
        await asyncio.get_running_loop().run_in_executor(self._hands, HEADER.play, changes)
        await asyncio.sleep(0.05)

    async def pulse(self, number: int, ms: float, active: int = 1) -> None:
        await self.play([(0, number, active), (round(ms * 1_000), number, 1 - active)])

    async def passes(self, place: str, ms: float = 35) -> None:
        await self.pulse(NUMBER[place], ms)

    async def press(self, name: str, ms: float = 80) -> None:
        await self.pulse(BUTTON[name], ms, active=0)

    async def until(self, condition: Callable[[], Any], what: str, within_s: float = 15.0) -> float:
        """Wait until something is true; how many seconds that took."""
        began = time.monotonic()
        while not condition():
            if time.monotonic() - began > within_s:
                raise TimeoutError(f"{what}: not within {within_s} s")
            await asyncio.sleep(0.01)
        return time.monotonic() - began

    # -- what can be seen

    def line(self, name: str) -> Any:
        return self.daemon.engine.bank.lines[name]

    def counts(self) -> dict[str, int]:
        lines = self.daemon.engine.bank.lines.values()
        beams = [(line.input, line.debouncer) for line in lines if isinstance(line.input, Beam)]
        return counted((beam.place, asdict(debouncer.counters)) for beam, debouncer in beams)

    def events(self, *names: str) -> list[Seen]:
        return [event for _, event in self.broker.events if event["event"] in names]

    def scored(self) -> list[str]:
        """The places of all passages that counted, in order."""
        return [event["place"] for event in self.events("passage")]

    def lit(self) -> list[str]:
        return [name for name, number in LAMP.items() if HEADER.level(number)]

    @property
    def state(self) -> Seen:
        return self.broker.retained["state"]  # type: ignore[no-any-return]

    @property
    def health(self) -> Seen:
        return self.broker.retained["health"]  # type: ignore[no-any-return]

    @property
    def source(self) -> Any:
        return self.daemon._sources["pins"]

    @property
    def counters(self) -> dict[str, int]:
        return asdict(self.source.counters)


# -- the cases -------------------------------------------------------------------------------------------------


async def strokes_carrom() -> Seen:
    """A coin at each pocket, a stroke each, three closed by the button and one by quiet; then a miss and undo."""
    async with Table() as table:
        lamps = [table.lit()]
        delays_ms = []
        for place in table.places:
            before = len(table.broker.events)
            await table.passes(place)
            cleared = table.line(place).newest.ended_ns / 1e9
            shown = next(at for at, event in table.broker.events[before:] if event["event"] == "passage")
            delays_ms.append(round((shown - cleared) * 1_000, 3))
            if place == "sw":
                await asyncio.sleep(6.5)
            else:
                await table.press("done-1")
                await asyncio.sleep(2.5)
        pocketed = table.state["rules"]["sides"]["A"]["pocketed"]
        await asyncio.sleep(4)
        await table.press("done-1")
        turns = [table.state["rules"]["turn"]["player"]]
        lamps.append(table.lit())
        await table.press("undo")
        turns.append(table.state["rules"]["turn"]["player"])
        lamps.append(table.lit())
        return {
            "scored": table.scored(),
            "strokes": len(table.events("stroke_closed")),
            "pocketed": pocketed,
            "turns": turns,
            "lamps": lamps,
            "counts": table.counts(),
            "shown_after_ms": delays_ms,
            "counters": table.counters,
        }


async def strokes_carpetball() -> Seen:
    """A line-up by the button, then a ball into each pit, one throw each."""
    async with Table("carpetball") as table:
        await table.press("line-up")
        ends: list[dict[str, int]] = []
        for _ in range(2):
            rules = table.state["rules"]
            far = "south" if rules["turn"]["end"] == "north" else "north"
            await table.passes(far, 57)
            await table.passes(far, 30)
            await table.press("done")
            await asyncio.sleep(2.5)
            ends.append({end: table.state["rules"]["ends"][end]["in_play"] for end in ("north", "south")})
        return {
            "phase": table.state["rules"]["phase"],
            "scored": sorted(table.scored()),
            "in_play": ends,
            "throws": len(table.events("stroke_closed")),
            "counts": table.counts(),
        }


async def pulse_widths() -> Seen:
    """Twenty pulses of each width at one pocket."""
    rows = []
    async with Table() as table:
        for width_ms in WIDTHS_MS:
            before = table.counts()
            step_us = round(width_ms * 1_000) + 100_000
            pulse = ((0, 1), (round(width_ms * 1_000), 0))
            await table.play([(n * step_us + at_us, NUMBER["ne"], to) for n in range(20) for at_us, to in pulse])
            await asyncio.sleep(0.3)
            rows.append({"ms": width_ms, **difference(table.counts(), before)})
        return {"rows": rows}


async def passages_table() -> Seen:
    """Every case of the table of passages that the other sources are held to as well."""
    seen: dict[str, dict[str, int]] = {}
    for game in ("club_carrom", "carpetball"):
        async with Table(game) as table:
            for case in read_cases():
                if case.game != game:
                    continue
                before = table.counts()
                await table.play([(at_us, NUMBER[place], int(broken)) for at_us, place, broken in case.edges])
                await asyncio.sleep(1.5)
                seen[case.name] = difference(table.counts(), before)
    return {"seen": seen}


async def flicker() -> Seen:
    """Lamps at 100 Hz on every line for ten seconds: drop-outs of 0.8 ms; then a coin."""
    async with Table() as table:
        idle = {**{NUMBER[place]: 0 for place in table.places}, **dict.fromkeys(table_buttons(table), 1)}
        changes = []
        for turn in range(1_000):
            for number, level in idle.items():
                changes += [(turn * 10_000, number, 1 - level), (turn * 10_000 + 800, number, level)]
        seq = table.state["seq"]
        await table.play(sorted(changes, key=lambda change: change[0]))
        counts, edges = table.counts(), table.counters["edges"]
        scored, changed = table.scored(), table.state["seq"] != seq
        await asyncio.sleep(5)
        await table.passes("se")
        return {
            "lines": len(idle),
            "edges": edges,
            "counts": counts,
            "scored": scored,
            "changed": changed,
            "then": table.scored(),
            "counters": table.counters,
        }


def table_buttons(table: Table) -> list[int]:
    return [button.channel for button in table.settings.buttons]


async def burst(changes: int, apart_us: int, ends: int) -> Seen:
    """So many edges at one beam, then rest; the last level is `ends`. Afterwards a coin."""
    async with Table() as table:
        first = 1 if (changes % 2) == ends else 0
        HEADER.drive(NUMBER["nw"], 1 - first)
        await asyncio.sleep(0.1 if first else 2)
        before = table.counters
        await table.play([(n * apart_us, NUMBER["nw"], (first + n) % 2) for n in range(changes)])
        right_after_s = await table.until(lambda: table.line("nw").debouncer.active == bool(ends), "the level")
        edges = table.counters["edges"] - before["edges"]
        repaired = table.counters["levels_repaired"] - before["levels_repaired"]
        await asyncio.sleep(6)
        out = table.line("nw").is_out
        HEADER.drive(NUMBER["nw"], 0)
        back_s = await table.until(lambda: table.line("nw").is_serviceable, "the beam to be well")
        await asyncio.sleep(3)
        told = len(table.scored())
        await table.passes("nw")
        return {
            "edges": edges,
            "level_right_within_s": round(right_after_s, 3),
            "out": out,
            "back_within_s": round(back_s, 3),
            "scored_by_the_burst": told,
            "scored_by_the_coin": len(table.scored()) - told,
            "levels_repaired": repaired,
        }


async def bursts() -> Seen:
    """200 edges in 5 ms and 200 edges at once, ending clear and ending blocked."""
    return {
        f"{name} ending {'blocked' if ends else 'clear'}": await burst(200 if ends == 0 else 201, apart_us, ends)
        for name, apart_us in (("5 ms", 25), ("at once", 0))
        for ends in (0, 1)
    }


async def two_lines() -> Seen:
    """Two pockets broken within 20 us of each other, a thousand times, while paused: only counting is looked at."""
    async with Table() as table:
        await table.press("pause")
        before = table.counters
        changes = []
        for turn in range(1_000):
            began_us, offset_us = turn * 115_000, turn % 21
            first, second = (NUMBER["ne"], NUMBER["sw"]) if turn % 2 else (NUMBER["sw"], NUMBER["ne"])
            for at_us, level in ((began_us, 1), (began_us + 35_000, 0)):
                changes += [(at_us, first, level), (at_us + offset_us, second, level)]
        await table.play(changes)
        await asyncio.sleep(0.5)
        after = table.counters
        return {"counts": table.counts(), **{name: after[name] - before[name] for name in ("edges", "levels_repaired")}}


async def blocked_at_start() -> Seen:
    """One beam is dark as the daemon starts; the others score; it scores when it is clear again."""
    async with Table(blocked=("se",)) as table:
        await asyncio.sleep(5.5)
        health = table.health["beams"]["se"]
        lamps = table.lit()
        for place in ("ne", "nw", "sw"):
            await table.passes(place)
            await asyncio.sleep(1)
        others = table.scored()
        HEADER.drive(NUMBER["se"], 0)
        back_s = await table.until(lambda: table.line("se").is_serviceable, "the beam to be well")
        await asyncio.sleep(1.2)
        await table.passes("se")
        return {
            "health": health["state"],
            "since_s": health["since_s"],
            "lamps": lamps,
            "others": others,
            "back_within_s": round(back_s, 3),
            "then": table.scored()[len(others) :],
            "lamps_then": table.lit(),
        }


async def busy_pin() -> Seen:
    """Another program holds a pin; the others go on; it is had when it is free."""
    device = f"/dev/{CHIP_NAME}"
    held = hold(device, NUMBER["sw"], "fan-control")
    async with Table(blocked=("sw",)) as table:
        health = table.health
        beam, source = health["beams"]["sw"], health["sources"]["pins"]
        await table.passes("ne")
        scored = table.scored()
        os.close(held)
        had_s = await table.until(lambda: not table.source.outages, "the pin to be had")
        HEADER.drive(NUMBER["sw"], 0)
        await table.until(lambda: table.line("sw").is_serviceable, "the beam to be well")
        await asyncio.sleep(2)
        await table.passes("sw")
        return {
            "beam": [beam["state"], beam["reason"]],
            "source": [source["state"], source["reason"], source["counters"]["pins_out"]],
            "scored": scored,
            "had_within_s": round(had_s, 3),
            "then": table.scored()[1:],
        }


async def presses() -> Seen:
    """A short press, a long one, one that is none, and a button that is stuck."""
    async with Table() as table:
        await table.press("done-1")
        turns = [table.state["rules"]["turn"]["player"]]
        for ms in (80, 1_500, 8, 8_000):
            await table.press("undo", ms)
            turns.append(table.state["rules"]["turn"]["player"])
        faults = [event["beam"] for event in table.events("beam_fault") if event.get("beam") == "undo"]
        return {"turns": turns, "faults": faults}


async def gone_and_back() -> Seen:
    """The controller goes in mid-game and comes back under another number."""
    errors = Path("/run/stderr")
    async with Table() as table:
        await table.passes("ne")
        names = [CHIP_NAME]
        errors_before = size(errors)
        HEADER.away()
        lost_s = await table.until(lambda: not table.source.is_connected, "the loss to be noticed")
        await asyncio.sleep(2)
        flood = size(errors) - errors_before
        health = table.health
        another = Chip("usurper", "another", 4)
        another.there()
        names.append(HEADER.there())
        back_s = await table.until(lambda: table.source.is_connected, "the controller to be found", 30)
        table.intact()
        await asyncio.sleep(2)
        table_before = table.scored()
        for place in table.places:
            await table.passes(place)
            await asyncio.sleep(1)
        await table.press("done-1")
        await asyncio.sleep(0.2)
        return {
            "names": names,
            "lost_within_s": round(lost_s, 3),
            "bytes_on_stderr": flood,
            "source": [health["sources"]["pins"]["state"], health["sources"]["pins"]["reason"]],
            "beams": sorted({beam["state"] for beam in health["beams"].values()}),
            "events": [event["event"] for event in table.events("source_lost", "source_back")],
            "back_within_s": round(back_s, 3),
            "scored_before": table_before,
            "scored_after": table.scored()[len(table_before) :],
            "lamps": table.lit(),
        }


def stall(seconds: float) -> None:
    """Hold the loop up."""
    time.sleep(seconds)


def size(file: Path) -> int:
    return file.stat().st_size


async def held_up() -> Seen:
    """Fifty coins while the loop is held up again and again."""
    async with Table() as table:
        await table.press("pause")

        async def hold_up() -> None:
            while True:
                stall(0.05)
                await asyncio.sleep(0.02)

        busy = asyncio.create_task(hold_up())
        for turn in range(50):
            await table.passes(table.places[turn % 4], 20)
            await asyncio.sleep(0.1)
        busy.cancel()
        await asyncio.sleep(1)
        return {"counts": table.counts(), "counters": table.counters}


def configuration(state: str, table: str) -> str:
    """A file for a table with one beam."""
    file = Path("/run", f"{table}.toml")
    file.write_text(
        f'[table]\nid = "{table}"\ngame = "club_carrom"\nstate_dir = "/run/{state}"\n'
        '[[sources]]\nid = "pins"\nkind = "gpio"\n'
        '[[beams]]\nid = "ne"\nsource = "pins"\npin = "GPIO17"\nplace = "ne"\n'
    )
    return str(file)


def start(config: str) -> subprocess.Popen[str]:
    """The whole program, as a service manager would start it."""
    command = [sys.executable, "-m", "appliance", "run", "--config", config]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def until_held(began: float) -> float:
    """Wait until the beam's line is held by us; how many seconds since `began`."""
    controller = Controller(Path("/dev", CHIP_NAME))
    try:
        while controller.owner_of(NUMBER["ne"]) != "pocketbeam":
            time.sleep(0.01)
            if time.monotonic() - began > 15:
                raise TimeoutError("the line was not claimed")
    finally:
        controller.close()
    return round(time.monotonic() - began, 3)


def processes() -> Seen:
    """Two programs on one header: on one state directory, and on another; then one killed and started again."""
    mine, other = configuration("state", "first"), configuration("other-state", "second")
    first = start(mine)
    claimed_s = until_held(time.monotonic())
    began = time.monotonic()
    again = start(mine)
    _, refusal = again.communicate(timeout=15)
    refused_s = time.monotonic() - began
    rival = start(other)
    assert rival.stderr is not None
    busy = next(line for line in rival.stderr if "GPIO17" in line)
    rival.send_signal(signal.SIGTERM)
    rival.communicate(timeout=15)
    first.kill()
    first.communicate(timeout=15)
    began = time.monotonic()
    second = start(mine)
    reclaimed_s = until_held(began)
    second.send_signal(signal.SIGINT)
    second.communicate(timeout=15)
    return {
        "claimed_within_s": claimed_s,
        "again": [again.returncode, refusal.strip().splitlines()[-1], round(refused_s, 3)],
        "rival": [rival.returncode, busy.strip()],
        "reclaimed_within_s": reclaimed_s,
        "ended": second.returncode,
    }


async def two_programs() -> Seen:
    """The whole program, twice."""
    return await asyncio.to_thread(processes)


CASES: tuple[Callable[[], Coroutine[Any, Any, Seen]], ...] = (
    strokes_carrom,
    strokes_carpetball,
    presses,
    pulse_widths,
    passages_table,
    flicker,
    bursts,
    two_lines,
    held_up,
    blocked_at_start,
    busy_pin,
    two_programs,
    gone_and_back,
)


def main() -> int:
    """Run the cases one after the other; a case that breaks ends only itself."""
    global CHIP_NAME
    logging.basicConfig(level=logging.WARNING)
    for expander in EXPANDERS:
        expander.there()
    CHIP_NAME = HEADER.there()
    for case in CASES:
        began = time.monotonic()
        try:
            seen = asyncio.run(case())
        except Exception as error:
            traceback.print_exc()
            seen = {"error": f"{type(error).__name__}: {error}"}
        line = {"case": case.__name__, "took_s": round(time.monotonic() - began, 3), **seen}
        print("RESULT " + json.dumps(line), flush=True)
    return 0


CHIP_NAME = ""

if __name__ == "__main__":
    sys.exit(main())
