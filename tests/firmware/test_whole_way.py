"""Pins to subscriber: the firmware in real time, `pocketbeam run` as a process, a real broker, and what goes wrong.

The pins are driven at exact microseconds of the board; the journal says afterwards what was counted.
"""

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from appliance.journal.reader import read
from appliance.journal.values import SourceRow
from sim.layout import SOURCE
from tests.firmware.emulation import Cable, Emulation, cable, emulation
from tests.firmware.programs import Programs
from tests.support.brokers import Mosquitto, Recorder, mosquitto, recorder, until
from tests.support.processes import configured, program, ran

pytestmark = pytest.mark.real

BASE = "pocketbeam/t1"
PLACES = ("ne", "nw", "se", "sw")
"""By channel."""
STRIKE, DONE, TURN_1, TURN_2, FAULT = 4, 16, 12, 13, 17
WIRES = """
[[buttons]]
id = "done-1"
source = "board"
channel = 16
action = "done"
player = 1

[[lamps]]
id = "turn-1"
source = "board"
channel = 12
shows = "turn"
player = 1

[[lamps]]
id = "turn-2"
source = "board"
channel = 13
shows = "turn"
player = 2

[[lamps]]
id = "fault"
source = "board"
channel = 17
shows = "fault"
lit_level = "low"
"""
OPEN_END = {"quiet_time_s = 6": "quiet_time_s = 0"}
BETWEEN = 'blocked_level = "high"\n\n[[beams]]'
ANY_NUMBER = {BETWEEN: BETWEEN.replace("\n\n", "\nsettings = { crowd = 1000, noisy_over = 1000 }\n\n")}
"""For the pockets, behind each of which another beam follows."""
RING = 128
BACK_S = 15.0
LATE_NS = 10_000_000
"""By what a time may be off on a machine so busy that the emulated board stands still; in virtual time it is exact."""


@pytest.fixture
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    """One that retains nothing yet."""
    with mosquitto(tmp_path_factory.mktemp("broker")) as running:
        yield running


@asynccontextmanager
async def wired(
    programs: Programs, directory: Path, port: int, replace: dict[str, str]
) -> AsyncIterator[tuple[Emulation, Cable, Recorder, Path]]:
    """A board on a cable, its table's configuration, and a subscriber."""
    config = configured(directory, port, add=WIRES, replace=replace)
    async with recorder(port, f"{BASE}/#") as heard:
        with emulation(programs) as board, cable(board, directory / "board-t1") as line:
            board.tell(f"edge 0 {DONE} 1")
            yield board, line, heard, config


def pulse(board: Emulation, *pulses: tuple[int, int, int], active: int = 1) -> None:
    """(channel, begin, end) in microseconds from now."""
    board.tell(*(f"edge {at} {c} {level}" for c, a, b in pulses for at, level in ((a, active), (b, 1 - active))))


def state_of(heard: Recorder) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(heard.latest.get(f"{BASE}/state") or "{}")
    return found


def fallen(heard: Recorder) -> list[str]:
    return [each["place"] for each in (state_of(heard).get("stroke") or {"fallen": []})["fallen"]]


def back(number: int) -> Callable[[Recorder], bool]:
    """The source has been back so many times."""
    return lambda heard: sum('"source_back"' in each for each in heard.payloads(f"{BASE}/event")) >= number


def events(heard: Recorder, name: str) -> list[dict[str, Any]]:
    found = (json.loads(each) for each in heard.payloads(f"{BASE}/event"))
    return [event for event in found if event["event"] == name]


def journal(directory: Path) -> Sequence[SourceRow]:
    """Every edge of the table so far, in the order of arrival."""
    with read(directory / "state-t1") as reader:
        return [row for _, row in reader.rows_after(0) if row.what is None]


def test_pins_become_a_score_and_lamps_follow_it_whatever_restarts(
    programs: Programs, tmp_path: Path, broker: Mosquitto
) -> None:
    async def main() -> None:
        async with wired(programs, tmp_path, broker.port, OPEN_END) as (board, line, heard, config):
            with program(tmp_path, "run", "--config", str(config)) as running:
                await heard.wait_for(back(1), BACK_S)
                await until(lambda: (line.level(TURN_1), line.level(TURN_2)) == (1, 0))
                pulse(board, (STRIKE, 10_000, 20_000))
                pulse(board, (DONE, 120_000, 200_000), active=0)
                await until(lambda: (line.level(TURN_1), line.level(TURN_2)) == (0, 1))
                pulse(board, (STRIKE, 1_200_000, 1_210_000), (0, 1_250_000, 1_285_000), (2, 1_290_000, 1_321_000))
                await heard.wait_for(lambda h: fallen(h) == ["ne", "se"])
                boot = line.boot
                board.tell("reset")
                await heard.wait_for(back(2), BACK_S)
                assert line.boot != boot
                await until(lambda: (line.level(TURN_1), line.level(TURN_2), line.level(FAULT)) == (0, 1, 1))
                pulse(board, (1, 10_000, 45_000))
                await heard.wait_for(lambda h: fallen(h) == ["ne", "se", "nw"])
                running.signal(signal.SIGKILL)
                running.wait()
            pulse(board, (3, 10_000, 45_000))
            await until(lambda: line.level(TURN_2) == 0, what="the lamps go to rest without a host")
            with program(tmp_path, "run", "--config", str(config)) as running:
                await heard.wait_for(lambda h: fallen(h) == ["ne", "se", "nw", "sw"], BACK_S)
                await until(lambda: line.level(TURN_2) == 1)
                async with recorder(broker.port, f"{BASE}/#") as newcomer:
                    await newcomer.wait_for(lambda h: fallen(h) == ["ne", "se", "nw", "sw"])
                assert "Traceback" not in running.err
        ends = {place: row.at_ns for row in journal(tmp_path) if row.level == 0 for place in [row.channel]}
        begins = {place: row.at_ns for row in journal(tmp_path) if row.level == 1 for place in [row.channel]}
        widths_us = {0: 35_000, 2: 31_000, 1: 35_000, 3: 35_000, STRIKE: 10_000}
        for channel, width_us in widths_us.items():
            assert abs(ends[channel] - begins[channel] - width_us * 1_000) < LATE_NS
        assert abs(begins[2] - begins[0] - 40_000_000) < LATE_NS
        assert line.lost == 0

    asyncio.run(main())


COLOUR = {'place = "ne"': 'place = "ne"\ncolour = { analog = 4, limits = { black = 60, queen = 150, white = 255 } }'}
MILLIVOLTS = {"black": 500, "queen": 2_000, "white": 4_500}
"""What means 25, 102 and 230 of 255 at 5 V."""


def test_what_a_colour_sensor_reads_names_what_fell(programs: Programs, tmp_path: Path, broker: Mosquitto) -> None:
    async def main() -> None:
        async with wired(programs, tmp_path, broker.port, OPEN_END | COLOUR) as (board, _line, heard, config):
            with program(tmp_path, "run", "--config", str(config)):
                await heard.wait_for(back(1), BACK_S)
                for number, millivolts in enumerate(MILLIVOLTS.values()):
                    at_us = 300_000 * (number + 1)
                    pulse(board, (0, at_us, at_us + 35_000))
                    board.tell(f"adc {at_us - 1_000} 4 200", f"adc {at_us + 10_000} 4 {millivolts}")
                await heard.wait_for(
                    lambda h: len(fallen(h)) == 3 and '"how":"unknown"' not in h.latest[f"{BASE}/state"]
                )
        found = state_of(heard)["stroke"]["fallen"]
        assert [(each["object"], each["how"]) for each in found] == [(name, "colour") for name in MILLIVOLTS]

    asyncio.run(main())


CHUNK = 10
APART_US, DWELL_US = 90_000, 50_000
"""Wide enough for a machine so busy that the emulated board stands still now and then."""


def test_killed_daemons_and_pulled_cables_count_each_edge_once(
    programs: Programs, tmp_path: Path, broker: Mosquitto
) -> None:
    driven: list[tuple[int, int]] = []
    enough = asyncio.Event()

    async def play(board: Emulation, line: Cable) -> None:
        """Passages one after the other until it is enough, as many as the ring has room for while nobody takes them."""
        while not enough.is_set():
            await until(lambda: len(driven) - line.acknowledged <= RING - 2 * CHUNK, 30)
            first = len(driven) // 2
            places = [(first + n) % len(PLACES) for n in range(CHUNK)]
            pulse(board, *((c, (n + 1) * APART_US, (n + 1) * APART_US + DWELL_US) for n, c in enumerate(places)))
            driven.extend((place, level) for place in places for level in (1, 0))
            await until(lambda: len(line.sent) >= len(driven), 30)

    async def sends(line: Cable, count: int) -> None:
        """Wait until the board has sent so many edges more, in the middle of the play."""
        wanted = len(line.sent) + count
        await until(lambda: len(line.sent) >= wanted, 30)

    async def main() -> None:
        async with wired(programs, tmp_path, broker.port, OPEN_END | ANY_NUMBER) as (board, line, heard, config):
            playing: asyncio.Task[None] | None = None
            for run in range(3):
                with program(tmp_path, "run", "--config", str(config)) as running:
                    await heard.wait_for(back(2 * run + 1), BACK_S)
                    playing = playing or asyncio.create_task(play(board, line))
                    for action in (line.pull, line.plug):
                        await sends(line, CHUNK)
                        action()
                    await heard.wait_for(back(2 * run + 2), BACK_S)
                    if run < 2:
                        running.signal(signal.SIGKILL)
                        running.wait()
                        continue
                    enough.set()
                    await playing
                    await until(lambda: line.acknowledged == len(driven))
                    await heard.wait_for(lambda h: 2 * len(fallen(h)) == len(driven))
                    assert fallen(heard) == [PLACES[channel] for channel, level in driven if level]
            assert line.lost == 0
            assert line.resent > 0
        rows = journal(tmp_path)
        assert [(row.channel, row.level) for row in rows] == driven
        assert [row.sequence for row in rows] == list(range(len(driven)))
        assert len({row.boot_id for row in rows}) == 1

    asyncio.run(main())


WAVE_S, HALF_US = 0.3, 10


def test_a_beam_at_50_khz_is_muted_and_named_while_the_others_count(
    programs: Programs, tmp_path: Path, broker: Mosquitto
) -> None:
    async def main() -> None:
        async with wired(programs, tmp_path, broker.port, OPEN_END) as (board, line, heard, config):
            with program(tmp_path, "run", "--config", str(config)):
                await heard.wait_for(lambda h: '"ne":{"state":"ok"' in h.latest.get(f"{BASE}/health", ""), BACK_S)
                wild = asyncio.create_task(wave(board))
                await heard.wait_for(lambda h: "channel 3: it changes" in h.latest[f"{BASE}/health"])
                health = json.loads(heard.latest[f"{BASE}/health"])
                assert health["beams"]["sw"]["state"] == "unknown"
                assert "does not listen to it" in health["beams"]["sw"]["reason"]
                assert health["sources"][SOURCE]["state"] == "ok"
                assert health["sources"][SOURCE]["counters"]["board_muted"] == 1
                # The health is told as it is, the event when it is durable.
                await heard.wait_for(lambda h: any("beam" in event for event in events(h, "beam_fault")))
                faults = events(heard, "beam_fault")
                assert {event["beam"] for event in faults if "beam" in event} == {"sw"}
                # What the board could not keep before it was muted is told as lost.
                assert all("were lost" in event["reason"] for event in faults if "beam" not in event)
                await until(lambda: line.level(FAULT) == 0)
                pulse(board, (0, 10_000, 45_000), (1, 300_000, 335_000), (2, 600_000, 635_000))
                await heard.wait_for(lambda h: fallen(h) == ["ne", "nw", "se"])
                wild.cancel()
                await heard.wait_for(lambda h: '"sw":{"state":"ok"' in h.latest[f"{BASE}/health"], BACK_S)
                await heard.wait_for(lambda h: {event["beam"] for event in events(h, "beam_well")} == {"sw"})
                pulse(board, (3, 10_000, 45_000))
                await heard.wait_for(lambda h: fallen(h) == ["ne", "nw", "se", "sw"])

    async def wave(board: Emulation) -> None:
        while True:
            board.tell(f"wave 0 3 {HALF_US} {round(WAVE_S * 1e6) // HALF_US}")
            await asyncio.sleep(WAVE_S)

    asyncio.run(main())


def test_the_doctor_names_the_board_its_firmware_and_its_protocol(
    programs: Programs, tmp_path: Path, broker: Mosquitto
) -> None:
    async def main() -> None:
        async with wired(programs, tmp_path, broker.port, {}) as (_, _, _, config):
            status, out, err = await asyncio.to_thread(ran, tmp_path, "doctor", "--config", str(config))
            assert (status, err) == (0, ""), out
            assert "ATmega328P (Arduino Uno, Nano), firmware 1.0.0, protocol 1" in out

    asyncio.run(main())
