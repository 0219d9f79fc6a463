"""`pocketbeam calibrate` as an installer meets it: a simulated table with a wrong polarity and a dead emitter.

The installer reads what is said and does it with simulated hands, in virtual time; and once more as a process, at a
real port and a pipe for a keyboard.
"""

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from appliance.config import load
from appliance.config.settings import Source as SourceSection
from appliance.journal.lock import DirectoryLock
from appliance.link.session import HostSession
from appliance.ports import Deliver, Ports, Progress
from appliance.tools.calibrate import Pace, calibrate
from sim.layout import layout_of
from sim.loop import VirtualClock, VirtualLoop
from sim.wire import CLEAN, PtyMcu
from tests.support.processes import ROOT, board, configured
from tests.support.ring1 import Cable, CableSource, Disk, play

BUTTON = '\n[[buttons]]\nid = "done-1"\nsource = "board"\nchannel = 16\naction = "done"\nplayer = 1\n'
CHANNELS = {
    **{sensor.id: sensor.channel for game in ("club_carrom", "carpetball") for sensor in layout_of(game).sensors},
    "north-cue": 1,
}
QUICK = Pace(rest_s=1.0, hold_s=0.2, turn_s=2.0, help_s=15.0)
MAGNET = {
    'place = "north"\n': 'place = "north"\nexclusive = "north"\n',
    'id = "south"\nsource = "board"\nchannel = 1\nplace = "south"\n': (
        'id = "north-cue"\nsource = "board"\nchannel = 1\nplace = "north"\npasses = ["cue"]\nexclusive = "north"\n'
    ),
}
"""Carpetball with a trough in the north, and a magnet sensor in it."""
EACH_WAY = ("up", "along the trough", "across the trough")

Drive = Callable[[int, int], None]
Pause = Callable[[float], Awaitable[None]]


@dataclass(slots=True)
class Installer:
    """Does what is asked. `rest` is the level of each untouched channel, as the electronics are.

    `dead` beams never change; `ticks` is how short a glitch each passage through a beam brings with it.
    `looks` is what a colour sensor reads of each object, and `tell` makes the board say so. A magnet sensor feels the
    cue ball for `feels_s` where its pole lies the way that is named there, and for good otherwise; it misses `misses`
    of the cue balls that roll by, and feels `strangers` of the others. `leaves_at` types q at that text; `writes` is
    what is typed at the end.
    """

    drive: Drive
    pause: Pause
    rest: dict[int, int]
    dead: frozenset[int] = frozenset()
    ticks: dict[int, float] = field(default_factory=dict)
    looks: dict[str, int] = field(default_factory=dict)
    tell: Drive = lambda channel, reading: None
    feels_s: dict[str, float] = field(default_factory=dict)
    misses: int = 0
    strangers: int = 0
    leaves_at: str | None = None
    writes: str = ""
    said: list[str] = field(default_factory=list)
    typed: "asyncio.Queue[str | None]" = field(default_factory=asyncio.Queue)
    hands: "list[asyncio.Task[None]]" = field(default_factory=list)
    channel: int = 0

    def say(self, text: str) -> None:
        self.said.append(text)
        if self.leaves_at is not None and self.leaves_at in text:
            self.typed.put_nowait("q")
            return
        if found := re.search(r"^Beam \d+ of \d+: ([a-z-]+),", text):
            self.channel = CHANNELS[found[1]]
        if "Break it with a finger" in text:
            self._act(self._level, 1 - self.rest[self.channel])
        elif "Take the finger away" in text:
            self._act(self._level, self.rest[self.channel])
        elif found := re.search(r"Lay it over the switches with the pole ([a-z ]+);", text):
            self._act(self._lies, self.feels_s.get(found[1], 60.0))
        elif "Take the ball away" in text:
            self._act(self._level, self.rest[self.channel])
        elif "Roll the cue ball by slowly" in text:
            self._act(self._rolls, 0.100, 10, self.misses)
        elif "Now other balls" in text:
            self._act(self._rolls, 0.060, self.strangers, 10 - self.strangers)
        elif "slowly" in text:
            self._act(self._passes, 0.040)
        elif "Now fast" in text or "Shoot" in text:
            self._act(self._passes, 0.006)
        elif found := re.search(r"Let (?:a|the) (\w+).* fall past the colour sensor", text):
            self._act(self._shown, self.looks[found[1]])
        elif "Press it once" in text:
            self.channel = 16
            self._act(self._passes, 0.080, 1)
        elif "Enter writes" in text:
            self.typed.put_nowait(self.writes)
        elif "Still waiting" in text:
            self.typed.put_nowait("s")

    def show(self, text: str) -> None:
        self.said.append(text)

    async def line(self) -> str | None:
        return await self.typed.get()

    @property
    def text(self) -> str:
        return "\n".join(self.said)

    def _act(self, hand: Callable[..., Awaitable[None]], *how: float) -> None:
        async def moved() -> None:
            await self.pause(0.3)
            await hand(*how)

        self.hands.append(asyncio.ensure_future(moved()))

    async def _level(self, level: int) -> None:
        if self.channel not in self.dead:
            self.drive(self.channel, level)

    async def _passes(self, width_s: float, count: int = 10) -> None:
        if self.channel in self.dead:
            return
        channel, rest = self.channel, self.rest[self.channel]
        for _ in range(count):
            await self._pulse(channel, rest, width_s)
            if channel in self.ticks:
                await self._pulse(channel, rest, self.ticks[channel])

    async def _lies(self, felt_s: float) -> None:
        if felt_s:
            await self._level(1 - self.rest[self.channel])
        if felt_s < 60:
            await self.pause(felt_s)
            await self._level(self.rest[self.channel])

    async def _rolls(self, width_s: float, felt: int, unfelt: int) -> None:
        """Balls that break the beam beside a magnet sensor; it feels the last ones."""
        beside = CHANNELS["north"]
        for number in range(felt + unfelt):
            felt_too = [self.channel] if number >= unfelt else []
            for channel in (beside, *felt_too):
                self.drive(channel, 1 - self.rest[channel])
            await self.pause(width_s)
            for channel in (beside, *felt_too):
                self.drive(channel, self.rest[channel])
            await self.pause(0.15)

    async def _shown(self, reading: int) -> None:
        for number in range(5):
            await self._pulse(self.channel, self.rest[self.channel], 0.030)
            self.tell(self.channel, reading + 2 * number)

    async def _pulse(self, channel: int, rest: int, width_s: float) -> None:
        self.drive(channel, 1 - rest)
        await self.pause(width_s)
        self.drive(channel, rest)
        await self.pause(0.15)


class _Taken(CableSource):
    """A source whose edges are taken without a journal."""

    session: HostSession

    def acknowledge(self, boot_id: int, next_sequence: int) -> None:
        self.session.acknowledge(boot_id, next_sequence)


def at_a_table(
    directory: Path,
    config: Path,
    *,
    rest: dict[int, int] | None = None,
    again: bool = False,
    **how: object,
) -> tuple[int, Installer]:
    """The exit status and the installer, in virtual time."""
    levels = {**layout_of("club_carrom").idle_levels(), 16: 1, **(rest or {})}

    async def main() -> tuple[int, Installer]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        cable = Cable(layout_of("club_carrom"), CLEAN, 1, levels)
        disk = Disk()

        def source(
            section: SourceSection, wanted: object, progress: Progress, deliver: Deliver, clock: object
        ) -> CableSource:
            session = HostSession(section.id)
            found = _Taken(section.id, cable, session, deliver, disk, VirtualClock(loop))
            found.session = session
            return found

        def unused(*arguments: object) -> object:
            raise AssertionError("calibrating opens sources and nothing else")

        installer = Installer(lambda c, v: cable.drive(c, v, cable.now_us()), asyncio.sleep, levels, **how)  # type: ignore[arg-type]
        installer.tell = lambda c, v: cable.report_brightness(c, v, cable.now_us())
        ports = Ports(unused, source, unused)  # type: ignore[arg-type]
        try:
            status = await calibrate(load(config), VirtualClock(loop), installer, again=again, pace=QUICK, ports=ports)
        finally:
            for hand in installer.hands:
                hand.cancel()
            await asyncio.gather(*installer.hands, return_exceptions=True)
        return status, installer

    result: tuple[int, Installer] = play(main())
    return result


def without_comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_a_table_that_is_right_stays_as_it_is(tmp_path: Path) -> None:
    config = configured(tmp_path, 1, add=BUTTON)
    before = config.read_text()
    status, installer = at_a_table(tmp_path, config)
    assert status == 0, installer.text
    assert "5 of 5 beams accepted" in installer.text
    assert "The file is right as it is." in installer.text
    assert "    10 of 10: 40.0 ms" in installer.text
    assert "    10 of 10: 6.0 ms" in installer.text
    assert config.read_text() == before
    assert not (tmp_path / "state-t1" / "calibration.json").exists()


def test_wrong_polarity_and_a_dead_emitter(tmp_path: Path) -> None:
    config = configured(tmp_path, 1, add=BUTTON)
    config.write_text("# our table\n" + config.read_text())
    nw, se = CHANNELS["nw"], CHANNELS["se"]
    status, installer = at_a_table(tmp_path, config, rest={nw: 1, se: 1}, dead=frozenset({se}))
    assert status == 1
    assert 'polarity was wrong: blocked_level = "low"' in installer.text
    sheet = installer.text[installer.text.index("Acceptance sheet") :]
    assert "beam nw at nw: accepted\n    rests high, broken low" in sheet
    assert "beam se at se: NOT ACCEPTED" in sheet
    assert "no light arrives" in sheet
    assert "4 of 5 beams accepted" in sheet
    settings = load(config)
    assert {beam.id: beam.blocked_level for beam in settings.beams} == {
        "ne": "high",
        "nw": "low",
        "se": "high",
        "sw": "high",
        "strike": "high",
    }
    assert config.read_text().startswith("# our table\n")


def test_a_button_wired_the_other_way(tmp_path: Path) -> None:
    config = configured(tmp_path, 1, add=BUTTON)
    status, installer = at_a_table(tmp_path, config, rest={16: 0})
    assert status == 0, installer.text
    assert load(config).buttons[0].pressed_level == "high"


def test_a_receiver_that_ticks_gets_a_longer_time(tmp_path: Path) -> None:
    config = configured(tmp_path, 1)
    sw = CHANNELS["sw"]
    status, installer = at_a_table(tmp_path, config, ticks={sw: 0.0011})
    assert status == 0, installer.text
    assert "glitches: " in installer.text
    assert "the longest 1.1 ms" in installer.text
    # Half way, by ratio, between the longest glitch and the shortest passage of 6 ms.
    assert next(beam for beam in load(config).beams if beam.id == "sw").settings.min_dwell_ms == 2.6


def test_a_colour_sensor_is_shown_each_piece_and_gets_its_limits(tmp_path: Path) -> None:
    config = configured(tmp_path, 1)
    before = config.read_text()
    config.write_text(before.replace('place = "ne"\n', 'place = "ne"\ncolour = { analog = 3 } # under the rail\n'))
    looks = {"white": 220, "black": 20, "queen": 90, "striker": 150}
    status, installer = at_a_table(tmp_path, config, looks=looks)
    assert status == 0, installer.text
    assert "    5 of 5: reads 228" in installer.text
    assert "colour sensor, queen: 90 to 98" in installer.text
    colour = next(beam for beam in load(config).beams if beam.id == "ne").colour
    assert colour is not None
    # Half way from the brightest reading of one to the darkest of the next: 28 and 90, 98 and 150, 158 and 220.
    assert colour.limits == {"black": 59, "queen": 124, "striker": 189, "white": 255}
    assert "# under the rail" in config.read_text()


def test_pieces_that_look_the_same_are_not_accepted(tmp_path: Path) -> None:
    config = configured(tmp_path, 1)
    config.write_text(config.read_text().replace('place = "ne"\n', 'place = "ne"\ncolour = { analog = 3 }\n'))
    status, installer = at_a_table(tmp_path, config, looks={"white": 220, "black": 20, "queen": 24, "striker": 150})
    assert status == 1
    assert "no limit tells them apart" in installer.text
    assert "4 of 5 beams accepted" in installer.text
    assert load(config).beams[0].colour.limits == {}  # type: ignore[union-attr]


def test_a_magnet_sensor_is_shown_the_cue_ball_each_way_round_and_then_other_balls(tmp_path: Path) -> None:
    config = configured(tmp_path, 1, game="carpetball", replace=MAGNET)
    status, installer = at_a_table(tmp_path, config)
    assert status == 0, installer.text
    assert "4 of 4 beams accepted" in installer.text
    assert installer.text.count("Good. Take the ball away.") == 3
    asked = installer.text[installer.text.index("north-cue") : installer.text.index("strike-north")]
    assert "finger" not in asked, "a magnet sensor does not feel one"


@pytest.mark.parametrize(
    ("how", "trouble"),
    [
        ({"feels_s": {"up": 0.0}}, "does not feel the cue ball with its pole up:"),
        (
            {"feels_s": {"along the trough": 1.0, "across the trough": 0.0}},
            "does not feel the cue ball with its pole along the trough or across the trough:",
        ),
        ({"misses": 1}, "did not feel 1 cue ball that broke the beam before it"),
        ({"strangers": 2}, "felt 2 other balls"),
        (
            {"feels_s": dict.fromkeys(("up", "along the trough", "across the trough"), 0.0)},
            "not feel the cue ball at all",
        ),
    ],
    ids=["one dead", "weak", "missed", "strangers", "dead"],
)
def test_a_magnet_sensor_that_misses_or_feels_too_much_is_not_accepted(
    tmp_path: Path, how: dict[str, Any], trouble: str
) -> None:
    config = configured(tmp_path, 1, game="carpetball", replace=MAGNET)
    status, installer = at_a_table(tmp_path, config, **how)
    assert status == 1
    assert "beam north-cue at north: NOT ACCEPTED" in installer.text
    assert trouble in installer.text
    assert "3 of 4 beams accepted" in installer.text


def test_n_leaves_the_file_and_the_measurements(tmp_path: Path) -> None:
    config = configured(tmp_path, 1)
    before = config.read_text()
    status, _ = at_a_table(tmp_path, config, rest={0: 1}, writes="n")
    assert status == 1
    assert config.read_text() == before
    status, installer = at_a_table(tmp_path, config, rest={0: 1})
    assert "Measured already: ne, nw, se, sw, strike" in installer.text
    assert "Break it with a finger" not in installer.text
    assert status == 0
    assert load(config).beams[0].blocked_level == "low"


def test_it_can_be_left_anywhere_and_goes_on_there(tmp_path: Path) -> None:
    config = configured(tmp_path, 1, add=BUTTON)
    before = config.read_text()
    for at, done in (
        ("Beam 1 of 5", ""),
        ("Beam 3 of 5", "ne, nw"),
        ("Now fast", "ne, nw"),
        ("Press it once", "strike"),
    ):
        status, installer = at_a_table(tmp_path, config, leaves_at=at)
        assert status == 1
        assert "What was measured is kept" in installer.text
        assert config.read_text() == before
        if done and at == "Now fast":
            assert f"Measured already: {done}." in installer.text
    status, installer = at_a_table(tmp_path, config)
    assert status == 0
    assert "Measured already: ne, nw, se, sw, strike." in installer.text


def test_again_measures_everything_anew(tmp_path: Path) -> None:
    config = configured(tmp_path, 1)
    at_a_table(tmp_path, config, leaves_at="Beam 3 of 5")
    status, installer = at_a_table(tmp_path, config, again=True)
    assert status == 0
    assert "Beam 1 of 5: ne" in installer.text


def test_a_beam_on_another_wire_is_measured_again(tmp_path: Path) -> None:
    config = configured(tmp_path, 1)
    at_a_table(tmp_path, config, leaves_at="Beam 3 of 5")
    config.write_text(config.read_text().replace("channel = 1\n", "channel = 9\n"))
    _, installer = at_a_table(tmp_path, config, leaves_at="Beam 2 of")
    assert "Measured already: ne." in installer.text


@pytest.mark.parametrize("kept", ["", "{", '{"version": 1}', '{"version": 1, "beams": {"ne": 5}, "buttons": {}}', "[]"])
def test_kept_measurements_that_cannot_be_read_are_none(tmp_path: Path, kept: str) -> None:
    config = configured(tmp_path, 1)
    (tmp_path / "state-t1" / "calibration.json").write_text(kept)
    _, installer = at_a_table(tmp_path, config, leaves_at="Beam 1 of 5")
    assert "Measured already" not in installer.text


def test_a_table_that_is_being_played_on_is_left_alone(tmp_path: Path) -> None:
    config = configured(tmp_path, 1)
    lock = DirectoryLock(tmp_path / "state-t1", "t1")
    lock.acquire()
    try:
        status, installer = at_a_table(tmp_path, config)
    finally:
        lock.release()
    assert status == 1
    assert installer.said == [
        f"process {os.getpid()} runs this table and has its ports: "
        "stop it (sudo systemctl stop pocketbeam), then begin."
    ]


def test_a_table_scored_by_hand_has_nothing_to_calibrate(tmp_path: Path) -> None:
    config = tmp_path / "by-hand.toml"
    config.write_text(f'[table]\nid = "by-hand"\ngame = "club_carrom"\nstate_dir = "{tmp_path}"\n')
    status, installer = at_a_table(tmp_path, config)
    assert status == 1
    assert installer.said == [f"{config} has neither beams nor buttons: there is nothing to calibrate."]


# -- a process, a real port and a keyboard -------------------------------------------------------------


@contextlib.asynccontextmanager
async def calibrating(config: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "appliance", "calibrate", "--config", str(config)),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def guided(process: asyncio.subprocess.Process, line: PtyMcu, rest: dict[int, int], until: str = "") -> Installer:
    """An installer who follows what the process prints."""
    installer = Installer(line.drive, asyncio.sleep, rest)
    assert process.stdout is not None
    assert process.stdin is not None
    while raw := await process.stdout.readline():
        installer.say(raw.decode().rstrip("\n"))
        while not installer.typed.empty():
            process.stdin.write(f"{installer.typed.get_nowait()}\n".encode())
        if until and until in installer.said[-1]:
            break
    return installer


@pytest.mark.real
def test_as_a_process_at_a_real_port(tmp_path: Path) -> None:
    only = {'id = "se"': 'id = "se"'}

    async def main() -> tuple[int, Installer]:
        config = configured(tmp_path, 1, replace=only)
        rest = {**layout_of("club_carrom").idle_levels(), 1: 1}
        async with board(tmp_path, levels=rest) as line, calibrating(config) as process:
            installer = await guided(process, line, rest)
            return await process.wait(), installer

    status, installer = asyncio.run(main())
    assert status == 0, installer.text
    assert "5 of 5 beams accepted" in installer.text
    assert load(tmp_path / "t1.toml").beams[1].blocked_level == "low"


@pytest.mark.real
def test_ctrl_c_leaves_everything_as_it_was(tmp_path: Path) -> None:
    async def main() -> tuple[int, str, str]:
        config = configured(tmp_path, 1)
        rest = layout_of("club_carrom").idle_levels()
        async with board(tmp_path, levels=rest) as line, calibrating(config) as process:
            await guided(process, line, rest, until="Beam 2 of 5")
            process.send_signal(signal.SIGINT)
            out, err = await process.communicate()
            return process.returncode or 0, out.decode(), err.decode()

    before = configured(tmp_path, 1).read_text()
    status, out, err = asyncio.run(main())
    assert (status, err) == (130, "")
    assert "Stopped. What was measured is kept" in out
    assert (tmp_path / "t1.toml").read_text() == before
    assert '"ne"' in (tmp_path / "state-t1" / "calibration.json").read_text()
