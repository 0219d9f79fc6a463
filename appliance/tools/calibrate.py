"""`pocketbeam calibrate`: a guided walk around the table, beam by beam and button by button.

The hands of the installer say everything: what they do is seen by the edges that it makes, so that nobody walks
between table and keyboard. The keyboard is for what does not work: `s` skips a step, `q` leaves. Nothing is
written into the configuration before the end, and then only when that is asked for.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from appliance.clock import Clock
from appliance.config import Settings
from appliance.config.settings import Beam, Button
from appliance.events import Brightness, Edge, Levels
from appliance.grammar import how_many
from appliance.ports import REAL, Ports
from appliance.tools.console import Console
from appliance.tools.doctor import check_sources
from appliance.tools.findings import lines, something_is_wrong
from appliance.tools.measure import LEAST_DWELL_NS, Line, Measured, Pulse, counted
from appliance.tools.probe import CONNECT_S, Sources, Wire, open_sources
from appliance.tools.progress import Progress
from appliance.tools.rewrite import RewriteError, rewrite
from appliance.tools.running import holder
from appliance.tools.sheet import changes_of, proposals, sheet

WELL, FOUND_WRONG = 0, 1
PASSES, ENOUGH_PASSES, COLOUR_PASSES = 10, 3, 5
GLITCH_ROOM = 1.5
_NS_PER_S = 1_000_000_000
_STRIKE = "strike"
_CALLED = {
    **{"white": "a white piece", "black": "a black piece", "queen": "the queen", "striker": "the striker"},
    **{"ball": "a ball", "cue": "the cue ball"},
}
_PRESS_NS = 10_000_000
_POLE = ("up", "along the trough", "across the trough")
"""How the cue ball's magnet lies: one switch after the other feels nearly all of it, and the others hardly any."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long the guide waits, in seconds: for rest, for a finger that stays, for a ball that somebody turns, and
    before it offers help.
    """

    rest_s: float = 3.0
    hold_s: float = 0.5
    turn_s: float = 5.0
    help_s: float = 15.0


class LeaveError(Exception):
    """Whoever is at the keyboard wants to leave, or is not there."""


@dataclass(slots=True)
class Guide:
    """One walk around a table whose sources are open."""

    settings: Settings
    console: Console
    clock: Clock
    sources: Sources
    progress: Progress
    pace: Pace
    _lines: dict[Wire, Line] = field(default_factory=dict)
    _restless: dict[Wire, int] = field(default_factory=dict)
    _readings: list[int] = field(default_factory=list)
    """What the colour sensor that is being shown something has read."""
    _shown_to: Wire | None = None
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _typed: "asyncio.Task[str | None] | None" = None

    async def walk(self) -> None:
        """Everything that has not been measured yet. LeaveError where somebody leaves."""
        try:
            await self._rest()
            beams = [beam for beam in self.settings.beams if beam.id not in self.progress.beams]
            for number, beam in enumerate(beams, 1):
                self.console.say("")
                self.console.say(f"Beam {number} of {len(beams)}: {beam.id}, {_where(beam)}")
                self.progress.beams[beam.id] = await self._beam(beam)
                self.progress.save(self.settings)
            buttons = [button for button in self.settings.buttons if button.id not in self.progress.buttons]
            for number, button in enumerate(buttons, 1):
                self.console.say("")
                self.console.say(f"Button {number} of {len(buttons)}: {button.id} ({button.action}). Press it once.")
                self.progress.buttons[button.id] = await self._button(button)
                self.progress.save(self.settings)
        finally:
            if self._typed is not None:
                self._typed.cancel()

    # -- the steps -----------------------------------------------------------------------------------------

    async def _rest(self) -> None:
        """Learn the level at which every untouched line rests, and how much it flickers."""
        seconds = self.pace.rest_s
        self.console.say(f"Take everything out of the pockets and your hands off the table for {seconds:g} seconds.")
        self.sources.edges.clear()
        spent: dict[Wire, dict[int, int]] = {}
        began_ns = self.clock.monotonic_ns()
        since = {wire: (level, began_ns) for wire, level in self.sources.levels.items()}

        def note(item: Edge | Levels | Brightness) -> None:
            if isinstance(item, Edge):
                wire = (item.source, item.channel)
                level, since_ns = since.get(wire, (1 - item.level, began_ns))
                told = spent.setdefault(wire, {})
                told[level] = told.get(level, 0) + max(0, item.at_ns - since_ns)
                since[wire] = (item.level, item.at_ns)

        self.sources.listen = note
        await asyncio.sleep(seconds)
        ended_ns = self.clock.monotonic_ns()
        for wire, (level, since_ns) in since.items():
            told = spent.setdefault(wire, {})
            told[level] = told.get(level, 0) + max(0, ended_ns - since_ns)
            rest = max(told, key=lambda each: told[each])
            self._restless[wire] = self.sources.edges[wire]
            self._lines[wire] = Line(rest, self.sources.levels.get(wire, rest), ended_ns)
        self.sources.listen = self._hear

    async def _beam(self, beam: Beam) -> Measured:
        wire = (beam.source, beam.channel)
        line = self._lines.get(wire)
        if line is None:
            self.console.say(f"  The board has no channel {beam.channel}; nothing can be measured.")
            return Measured(rest=0)
        restless = self._restless[wire]
        if beam.place == _STRIKE:
            struck, glitches = await self._passes(line, f"Shoot {PASSES} times, a second apart.")
            broken = 1 - line.rest if struck else None
            return Measured(line.rest, restless, broken, (), struck, glitches)
        if beam.passes == ("cue",):
            return await self._magnet(beam, line, restless)
        self.console.say("  Break it with a finger, and keep the finger there.")
        if not await self._until(lambda: line.level != line.rest and self._held(line), line):
            return Measured(line.rest, restless)
        self.console.say("  Good. Take the finger away.")
        await self._until(lambda: line.is_settled(self.clock.monotonic_ns()), line)
        slow, some = await self._passes(line, f"Let a piece fall through it slowly, {PASSES} times.")
        # What came between slow passages is no fast one.
        glitch_ns = max((LEAST_DWELL_NS, *(round(GLITCH_ROOM * width_ns) for width_ns in some)))
        fast, more = await self._passes(line, f"Now fast, {PASSES} times.", glitch_ns)
        readings = tuple([(name, await self._colour(wire, line, name)) for name in beam.passes] if beam.colour else [])
        return Measured(line.rest, restless, 1 - line.rest, slow, fast, (*some, *more), readings)

    async def _magnet(self, beam: Beam, line: Line, restless: int) -> Measured:
        """What feels the cue ball alone: lying each way round, rolling, and no other ball."""
        self.console.say("  Mark a pole of the magnet on the cue ball: a paper clip on a thread stands upright there.")
        blind = tuple([way for way in _POLE if not await self._lies(line, way)])
        if len(blind) == len(_POLE):
            return Measured(line.rest, restless, blind=blind)
        beside = self._beside(beam)
        if beside is not None:
            beside.pulses.clear()
        slow, some = await self._passes(line, f"Roll the cue ball by slowly, {PASSES} times, each time another way up.")
        glitch_ns = max((LEAST_DWELL_NS, *(round(GLITCH_ROOM * width_ns) for width_ns in some)))
        seen = 0 if beside is None else len(counted(beside.pulses))
        fast, more = await self._passes(line, f"Now fast, {PASSES} times.", glitch_ns)
        found = Measured(line.rest, restless, 1 - line.rest, slow, fast, (*some, *more), blind=blind)
        if beside is None:
            return found
        line.pulses.clear()
        await self._passes(beside, f"Now other balls, {PASSES} times.")
        return replace(found, unfelt=max(0, seen - len(slow)), strangers=len(counted(line.pulses)))

    async def _lies(self, line: Line, way: str) -> bool:
        """Whether the cue ball is felt as long as it lies there, with its pole that way, and is turned a little."""
        seconds = self.pace.turn_s
        self.console.say(f"  Lay it over the switches with the pole {way}; turn it a little to and fro, {seconds:g} s.")
        if not await self._until(lambda: line.level != line.rest and self._held(line), line):
            return False
        felt_ns, until_ns = line.changed_ns, self.clock.monotonic_ns() + round(seconds * _NS_PER_S)
        await self._until(lambda: line.changed_ns != felt_ns or self.clock.monotonic_ns() >= until_ns, line)
        stays = line.changed_ns == felt_ns
        self.console.say(
            "  Good. Take the ball away." if stays else "  It was not felt all the time. Take the ball away."
        )
        await self._until(lambda: line.is_settled(self.clock.monotonic_ns()), line)
        return stays

    def _beside(self, beam: Beam) -> Line | None:
        """The beam that sees the same objects, and others as well."""
        for each in self.settings.beams:
            if each.id != beam.id and beam.exclusive is not None and each.exclusive == beam.exclusive:
                return self._lines.get((each.source, each.channel))
        return None

    async def _colour(self, wire: Wire, line: Line, name: str) -> tuple[int, ...]:
        """What the colour sensor reads of one kind of object."""
        self.console.say(
            f"  Let {_CALLED[name]} fall past the colour sensor, {COLOUR_PASSES} times. "
            f"(Enter ends this, once {ENOUGH_PASSES} are seen.)"
        )
        self._readings.clear()
        self._shown_to = wire
        shown = 0

        def enough() -> bool:
            nonlocal shown
            for number in range(shown, min(len(self._readings), COLOUR_PASSES)):
                self.console.show(f"    {number + 1} of {COLOUR_PASSES}: reads {self._readings[number]}")
            shown = len(self._readings)
            return shown >= COLOUR_PASSES

        await self._until(enough, line, ends=lambda: len(self._readings) >= ENOUGH_PASSES)
        self._shown_to = None
        return tuple(self._readings[:COLOUR_PASSES])

    def _held(self, line: Line) -> bool:
        return self.clock.monotonic_ns() - line.changed_ns >= self.pace.hold_s * _NS_PER_S

    async def _passes(
        self, line: Line, what: str, longer_than_ns: int = LEAST_DWELL_NS
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The widths of the passages that were asked for, and those of the glitches between them."""
        self.console.say(f"  {what} (Enter ends this, once {ENOUGH_PASSES} are seen.)")
        line.pulses.clear()
        shown = 0

        def passages() -> list[Pulse]:
            over = line.pulses if line.is_settled(self.clock.monotonic_ns()) else line.pulses[:-1]
            return counted(over, longer_than_ns)[:PASSES]

        def enough() -> bool:
            nonlocal shown
            seen = passages()
            for number in range(shown, len(seen)):
                self.console.show(f"    {number + 1} of {PASSES}: {seen[number].width_ns / 1_000_000:.1f} ms")
            shown = len(seen)
            return shown >= PASSES

        await self._until(enough, line, ends=lambda: len(passages()) >= ENOUGH_PASSES)
        seen = passages()
        glitches = [pulse for pulse in line.pulses if pulse not in counted(line.pulses, longer_than_ns)]
        self.console.say(f"    {how_many(len(seen), 'passage')} seen.")
        return tuple(pulse.width_ns for pulse in seen), tuple(pulse.solid_ns for pulse in glitches)

    async def _button(self, button: Button) -> int | None:
        line = self._lines.get((button.source, button.channel))
        if line is None:
            self.console.say(f"  The board has no channel {button.channel}; nothing can be measured.")
            return None
        line.pulses.clear()

        def pressed() -> bool:
            long_enough = any(pulse.width_ns >= _PRESS_NS for pulse in line.pulses)
            return long_enough and line.is_settled(self.clock.monotonic_ns())

        if not await self._until(pressed, line):
            return None
        self.console.say(f"    seen, {max(pulse.width_ns for pulse in line.pulses) / 1_000_000:.0f} ms.")
        return 1 - line.rest

    # -- waiting for hands and for the keyboard ------------------------------------------------------------

    def _hear(self, item: Edge | Levels | Brightness) -> None:
        if isinstance(item, Brightness):
            if (item.source, item.channel) == self._shown_to:
                self._readings.append(item.reading)
            self._news.set()
            return
        known = [(item.channel, item.level)] if isinstance(item, Edge) else item.levels
        for channel, level in known:
            line = self._lines.get((item.source, channel))
            if line is not None:
                line.edge(level, item.at_ns)
        self._news.set()

    async def _until(self, reached: Callable[[], bool], line: Line, ends: Callable[[], bool] = lambda: False) -> bool:
        """Whether it was reached; False where it was skipped, or ended by Enter when `ends` allows that."""
        help_at_ns = self.clock.monotonic_ns() + round(self.pace.help_s * _NS_PER_S)
        while not reached():
            now_ns = self.clock.monotonic_ns()
            if now_ns >= help_at_ns:
                help_at_ns = now_ns + 10 * round(self.pace.help_s * _NS_PER_S)
                level = "as at rest" if line.level == line.rest else "other than at rest"
                self.console.say(f"    Still waiting; the line is {level}. s and Enter skips this, q and Enter leaves.")
            typed = await self._typed_or_news()
            if typed is None:
                continue
            if typed in ("q", "quit"):
                raise LeaveError
            if typed in ("s", "skip") or (typed == "" and ends()):
                return False
        return True

    async def _typed_or_news(self) -> str | None:
        """What was typed; None where an edge came, or a moment has passed. LeaveError at the end of the input."""
        if self._typed is None:
            self._typed = asyncio.ensure_future(self.console.line())
        self._news.clear()
        news = asyncio.ensure_future(self._news.wait())
        try:
            await asyncio.wait({self._typed, news}, timeout=0.1, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
        if not self._typed.done():
            return None
        typed, self._typed = self._typed.result(), None
        if typed is None:
            raise LeaveError
        return typed.lower()


def _where(beam: Beam) -> str:
    return "the strike sensor" if beam.place == _STRIKE else f"at {beam.place} (channel {beam.channel})"


async def calibrate(
    settings: Settings,
    clock: Clock,
    console: Console,
    *,
    again: bool = False,
    pace: Pace | None = None,
    ports: Ports = REAL,
) -> int:
    """Guide somebody around the table; the exit status."""
    file = Path(settings.file)
    if not settings.beams and not settings.buttons:
        console.say(f"{file} has neither beams nor buttons: there is nothing to calibrate.")
        return FOUND_WRONG
    held = holder(settings.table.state_dir)
    if held is not None:
        console.say(f"{held} runs this table and has its ports: stop it (sudo systemctl stop pocketbeam), then begin.")
        return FOUND_WRONG
    progress = Progress.load(settings)
    if again:
        progress.beams.clear()
        progress.buttons.clear()
    elif progress.beams or progress.buttons:
        done = ", ".join((*progress.beams, *progress.buttons))
        console.say(f"Going on where you left. Measured already: {done}. (--again measures everything anew.)")
    async with open_sources(settings, clock, ports, takes=True) as sources:
        console.say("Looking for the sources …")
        await sources.ready(CONNECT_S)
        found = check_sources(settings, sources)
        if something_is_wrong(found):
            console.say("\n".join(lines(found)))
            return FOUND_WRONG
        guide = Guide(settings, console, clock, sources, progress, pace or Pace())
        try:
            await guide.walk()
        except LeaveError:
            console.say("Left. What was measured is kept: the same command goes on here. The file is as it was.")
            return FOUND_WRONG
        except asyncio.CancelledError:
            console.say("Stopped. What was measured is kept: the same command goes on here. The file is as it was.")
            raise
    return await _finish(settings, clock, console, progress, file)


async def _finish(settings: Settings, clock: Clock, console: Console, progress: Progress, file: Path) -> int:
    """The sheet, and what is to be written."""
    found = proposals(settings, progress.beams)
    console.say("")
    for line in sheet(settings, progress.beams, found, progress.buttons, clock.wall_ns()):
        console.say(line)
    changes = changes_of(settings, found, progress.buttons)
    if changes:
        console.say("")
        console.say(f"Enter writes the changes into {file}; n and Enter leaves it as it is.")
        typed = await console.line()
        if typed is None or typed.lower() not in ("", "y", "yes"):
            console.say("The file is as it was; what was measured is kept.")
            return FOUND_WRONG
        try:
            rewrite(file, changes)
        except RewriteError as error:
            console.say(f"{error}. What was measured is kept: the same command goes on here.")
            return FOUND_WRONG
        console.say(f"{file} is changed.")
    else:
        console.say("The file is right as it is.")
    progress.forget()
    well = all(each.accepted for each in found.values()) and None not in progress.buttons.values()
    return WELL if well else FOUND_WRONG
