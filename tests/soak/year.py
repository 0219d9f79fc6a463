"""Evenings of play at tables with which everything goes wrong, and what is left of the truth afterwards.

Simulated players play all four games at two tables, one with pockets and one with pits; an umpire says what no
sensor sees, and looks at the display before he speaks. After each match the score and every stroke behind it are
compared with what the players did; now and then the match is judged anew from the journal, and must come to the same.
Each table has one journal on disk for its whole life.
"""

import asyncio
import gc
import io
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from appliance import rules
from appliance.journal import JournalReader
from appliance.journal.pruning import Limits
from appliance.journal.store import JOURNAL_FILE, Store
from appliance.records import ends_stroke
from appliance.replay import state_after
from appliance.tools.record import match_lines
from appliance.tools.rejudge import differences, observed
from sim.actions import Call, Over
from sim.device import Colour, Edge
from sim.driver import script
from sim.layout import SOURCE
from sim.players import SimulatedMatch, request, simulate, truth_lines
from tests.soak.trouble import Trouble, repeated
from tests.support.ring1 import Broker, Disk, Document, Table, in_no_order, play

NAMES = ("Asha", "Ben", "Chidi", "Dana")
SYNC_S = 0.004
GAMES = {
    "carrom": ("club_carrom", "new_carrom", "money_carrom"),
    "carpetball": ("carpetball",),
}
SEATS = {"money_carrom": (2, 3, 4), "carpetball": (2, 3, 4), "club_carrom": (2, 4), "new_carrom": (2, 4)}
OPTIONS: dict[str, tuple[Document, ...]] = {
    "money_carrom": ({}, {"mc.end": "first_to_17"}, {"mc.values": [1, 1, 3]}),
    "club_carrom": ({"cc.target": 4}, {"cc.target": 9}, {"cc.target": 6, "cc.own_with_foul": "returns"}),
    "new_carrom": ({}, {"nc.match": "best_of_3"}, {"nc.own_plus_opp": "continue"}),
    "carpetball": ({}, {"cb.mercy": "none"}, {"cb.max_balls": 7}),
}
ON_OPEN_STROKE = ("stroke", "jumped", "break_not_made", "no_stroke", "throw")
INSTEAD = ("break_not_made", "no_stroke", "throw")
"""What the umpire says takes the place of all that the beams have seen of the stroke."""
STROKES = (rules.Stroke, rules.Throw, rules.BreakNotMade, rules.NoStroke)
TELLS_AFTER_US = 1_200_000
"""So long after the last fall of a stroke that was hurt the umpire tells it as a whole."""
KEPT = Limits(rows=400, inputs=400)
"""Small, so that a short run prunes as a long one does."""


class UntrueError(AssertionError):
    """The score is not what the players did."""


@dataclass
class Figures:
    """What a run came to."""

    matches: Counter[str] = field(default_factory=Counter)
    strokes_of: Counter[str] = field(default_factory=Counter)
    hurt: int = 0
    passages: int = 0
    played_s: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)
    slowest_s: dict[str, float] = field(default_factory=dict)
    memory: list[int] = field(default_factory=list)
    sizes: dict[str, list[tuple[int, int, int]]] = field(default_factory=dict)
    """By table, after each match: strokes, bytes of the journal, source rows in it."""
    queued: int = 0
    waiting: int = 0

    @property
    def strokes(self) -> int:
        """Of all games."""
        return self.strokes_of.total()


class Evening:
    """One evening at one table: some matches, one after the other, with trouble."""

    def __init__(self, table: Table, dice: Random, figures: Figures, mean_s: float) -> None:
        self._table = table
        self._dice = dice
        self._figures = figures
        self._words: list[float] = []
        self._shift_us = 0
        self.trouble = Trouble(table, dice, self._room_s, mean_s)

    def _room_s(self) -> float:
        """How long it is until somebody has to speak next."""
        now_s = asyncio.get_running_loop().time()
        return min((at_s - now_s for at_s in self._words if at_s > now_s - 10), default=60.0)

    async def play(self, game: str) -> None:
        """A whole match; UntrueError where its score is not that of the players."""
        dice, figures = self._dice, self._figures
        seats, options = dice.choice(SEATS[game]), dice.choice(OPTIONS[game])
        names = NAMES[:seats]
        match = simulate(game, names, dice.randrange(1 << 30), options, dice.choice((0.4, 0.6, 0.8)))
        # All options, since those that are not named stay as they were in the match before.
        every = dict(rules.options_document(match.setup.options))
        await self._say({"command": "new_match", "game": game, "players": list(names), "options": every})
        began_s = asyncio.get_running_loop().time()
        self.trouble.begin()
        await self._follow(match)
        await self.trouble.end()
        await self._speakable()
        await self._closed()
        self._compare(match)
        if figures.matches.total() % 3 == 0:
            self._judge_anew()
        figures.matches[game] += 1
        figures.strokes_of[game] += sum(isinstance(each, STROKES) for each in match.truth)
        figures.played_s += asyncio.get_running_loop().time() - began_s
        self._check_events()

    # -- the players and the umpire ------------------------------------------------------------------------

    async def _follow(self, match: SimulatedMatch) -> None:
        items = list(script(match))
        start_us = self._table.cable.now_us()
        self._shift_us = 0
        calls = [start_us + item.at_us for item in items if isinstance(item, Call | Over)]
        strikes = {sensor.channel for sensor in self._table.layout.sensors if sensor.place == "strike"}
        truth = iter(each for each in match.truth if isinstance(each, STROKES))
        stroke: rules.Observation | None = None
        hurt_at: dict[int, None] = {}
        is_hurt = False  # until the next strike: told as a whole, what jumped is not said once more
        for index, item in enumerate(items):
            self._words = [(at_us + self._shift_us) / 1e6 for at_us in calls if at_us >= start_us + item.at_us]
            if isinstance(item, Edge) and item.channel in strikes and item.level:
                stroke, is_hurt = next(truth), False
                hurt_at = self._where_to_hurt(items, index, strikes)
                if hurt_at:
                    last = next(n for n in range(index, len(items)) if self._is_last_of_stroke(items, n, strikes))
                    calls.append(start_us + items[last].at_us + TELLS_AFTER_US)
            if index in hurt_at:
                # Before this edge, while the one before it has just been: in the fall, or while its colour is told.
                await self._wait_until(start_us + item.at_us - 4_000)
                if self._may_hurt(strikes):
                    await self.trouble.hurt()
                    is_hurt = True
                    self._figures.hurt += 1
            await self._wait_until(start_us + item.at_us)
            if isinstance(item, Call):
                if not (is_hurt and item.request["command"] == "jumped"):
                    await self._call(dict(item.request))
            elif isinstance(item, Over):
                await self._closed()
            elif isinstance(item, Edge):
                self._table.cable.drive(item.channel, item.level, self._table.cable.now_us())
            else:
                self._table.cable.report_colour(item.channel, item.object, self._table.cable.now_us())
            if is_hurt and stroke is not None and self._is_last_of_stroke(items, index, strikes):
                await self._wait_until(start_us + item.at_us + TELLS_AFTER_US)
                await self._call(dict(request(stroke)))

    def _where_to_hurt(self, items: list[Any], strike: int, strikes: set[int]) -> dict[int, None]:
        """At which signal of this stroke something begins anew, if at all: at the end of a fall, or at its colour."""
        falls = []
        for index in range(strike + 2, len(items)):
            item = items[index]
            if isinstance(item, Over) or (isinstance(item, Edge) and item.channel in strikes and item.level):
                break
            if isinstance(item, Call):
                # Told as a whole anyway: there is nothing for the umpire to put right.
                if item.request["command"] in INSTEAD:
                    return {}
                continue
            is_fall_over = isinstance(item, Edge) and item.channel not in strikes and not item.level
            if is_fall_over or isinstance(item, Colour):
                falls.append(index)
        return {self._dice.choice(falls): None} if falls and self._dice.random() < 0.05 else {}

    def _may_hurt(self, strikes: set[int]) -> bool:
        """Whether only falls would be lost, and not the strike that tells one stroke from the next."""
        table = self._table
        kept = any(getattr(entry, "channel", None) in strikes for entry in table.cable.mcu._entries)
        return self.trouble.is_board_well and not kept and not table.broker.is_away

    @staticmethod
    def _is_last_of_stroke(items: list[Any], index: int, strikes: set[int]) -> bool:
        if isinstance(items[index], Call | Over):
            return False
        for item in items[index + 1 :]:
            if isinstance(item, Over) or (isinstance(item, Edge) and item.channel in strikes and item.level):
                return True
            if not isinstance(item, Call):
                return False
        return True

    async def _wait_until(self, at_us: int) -> None:
        delay_us = at_us + self._shift_us - self._table.cable.now_us()
        if delay_us > 0:
            await asyncio.sleep(delay_us / 1e6)

    async def _call(self, document: Document) -> None:
        """The umpire speaks: when the display shows what he has seen, and then play goes on from there."""
        began_us = self._table.cable.now_us()
        await self._speakable()
        if document["command"] not in ON_OPEN_STROKE:
            await self._closed()
        await self._say(document)
        self._shift_us += self._table.cable.now_us() - began_us

    async def _speakable(self) -> None:
        table = self._table
        await table.until(
            lambda: (
                not table.broker.is_away
                and not table.cable.is_out
                and table.daemon.is_connected(SOURCE)
                and (table.cable.mcu.kept == 0 or table.disk.is_unsafe)
            )
        )
        if table.disk.is_unsafe:
            await table.run_for(0.6)  # what the board has told is shown, although it still keeps it

    async def _closed(self) -> None:
        await self._table.until(lambda: "state" in self._table.broker.retained and self._table.state["stroke"] is None)

    async def _say(self, document: Document) -> None:
        transaction = f"u{self._dice.randrange(1 << 60):x}"
        answer = await self._table.request(document, transaction)
        if answer["ok"] is not True:
            raise UntrueError(f"refused: {document}: {answer['error']}, state {self._table.state['stroke']}")
        self.trouble.answered.append(repeated(document, transaction))

    # -- the truth -----------------------------------------------------------------------------------------

    def _compare(self, match: SimulatedMatch) -> None:
        table = self._table
        truth = [in_no_order(json.loads(line)) for line in truth_lines(match)][1:]
        found = [in_no_order(line) for line in table.lines][1:]
        if table.state["rules"] == rules.document(match.final) and found == truth:
            return
        real, scored = (Counter(json.dumps(line, sort_keys=True) for line in lines) for lines in (truth, found))
        first = next((n for n, (a, b) in enumerate(zip(truth, found, strict=False)) if a != b), len(found))
        raise UntrueError(
            f"lost {(real - scored).total()}, doubled or invented {(scored - real).total()} of {len(truth)}; "
            f"first at {first}: {truth[first : first + 2]} was scored as {found[first : first + 2]}"
        )

    def _judge_anew(self) -> None:
        """The same edges and requests, over every start and outage, come to the same once more."""
        state, refusals = self._table.daemon.engine.state, io.StringIO()
        recording = match_lines(JournalReader(self._table.disk.store), self._table.settings, state)
        again = state_after((text.encode() for text in recording.lines), refusals)
        if again is None or refusals.getvalue():
            raise UntrueError(f"judged anew: {refusals.getvalue()}")
        if found := differences(observed(state.match), observed(again.match)):
            raise UntrueError(f"judged anew it is another match: {found}")

    def _check_events(self) -> None:
        """What was told twice was told in the same words, and nothing goes back."""
        told: dict[str, Document] = {}
        newest = 0
        for event in self._table.events():
            words = {key: value for key, value in event.items() if key not in ("at", "clock_synchronised")}
            if told.setdefault(event["event_id"], words) != words:
                raise UntrueError(f"one id, two events: {told[event['event_id']]}, {words}")
            if ".parts." in event["event_id"] or ".journal." in event["event_id"]:
                continue
            newest = max(newest, event["seq"])
        if newest != self._table.state["seq"] and newest > self._table.state["seq"]:
            raise UntrueError(f"an event tells of {newest}, the state of {self._table.state['seq']}")
        self._figures.passages += sum(event["event"] == "passage" for event in told.values())
        self._table.broker.log.clear()
        self._table.disk.batches = 0


class Club:
    """The two tables over a year of evenings; `run` as long as wanted, then look at `figures`."""

    def __init__(self, seed: int, directory: Path, mean_s: float = 6.0) -> None:
        self._dice = Random(seed)
        self._mean_s = mean_s
        self.evenings = 0
        self.figures = Figures()
        self._stores: dict[str, Store] = {}
        self._directories = {kind: directory / kind for kind in GAMES}
        for kind, place in self._directories.items():
            place.mkdir(parents=True)
            self._stores[kind] = Store.create(place)
            self.figures.sizes[kind] = []

    def close(self) -> None:
        """Close the journals."""
        for store in self._stores.values():
            store.close()

    def evening(self, matches: int = 3) -> None:
        """An evening at the next table."""
        kind = list(GAMES)[self.evenings % len(GAMES)]
        self.evenings += 1
        play(self._evening(kind, matches))
        gc.collect()
        self.figures.memory.append(_resident_bytes())

    async def _evening(self, kind: str, matches: int) -> None:
        figures = self.figures
        table = Table(GAMES[kind][0], NAMES[:2], seed=self.evenings, sync_s=SYNC_S)
        table.disk = Disk(SYNC_S, self._stores[kind])
        table.broker = Broker(table.disk)
        table.boot_id = f"evening-{self.evenings}"
        async with table:
            evening = Evening(table, self._dice, figures, self._mean_s)
            for number in range(matches):
                await evening.play(GAMES[kind][(self.evenings // 2 + number) % len(GAMES[kind])])
                self._tidy(kind, table)
            figures.faults += evening.trouble.counts
            figures.queued = max(figures.queued, evening.trouble.queued)
            figures.waiting = max(figures.waiting, evening.trouble.waiting)
            for what, took_s in evening.trouble.slowest_s.items():
                figures.slowest_s[what] = max(figures.slowest_s.get(what, 0.0), took_s)

    def _tidy(self, kind: str, table: Table) -> None:
        """What the journal's own thread does between commits."""
        store = self._stores[kind]
        while store.prune(KEPT, ends_stroke, table.daemon.clock.wall_ns() if table.wall.synchronised else None):
            pass
        store.checkpoint()
        (rows,) = store.connection.execute("SELECT count(*) FROM source_row").fetchone()
        size = (self._directories[kind] / JOURNAL_FILE).stat().st_size
        own = sum(self.figures.strokes_of[game] for game in GAMES[kind])
        self.figures.sizes[kind].append((own, size, rows))


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * 4096
