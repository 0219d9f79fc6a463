"""Faults from all sides, on a schedule that follows from a seed alone.

Two hands make trouble at the same time: one at the board, its cable and its wire, one at the host, its disk, its
clock and the broker. They know the table's play in one respect: nobody takes the broker away, or holds the disk up,
for so long that the umpire could not speak in time; what people cannot say, no appliance can score.

What each fault may cost is known beforehand. A board or a host that begins anew while an object falls loses that
passage: the stroke is counted as hurt and the umpire tells it as a whole. Everything else costs nothing.
"""

import asyncio
import json
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random

from sim.layout import SOURCE
from sim.mcu import Mcu
from sim.wire import CLEAN, Faults
from tests.support.ring1 import Table

BAD_WIRES = (
    Faults(bytewise=True),
    Faults(lose_frames=0.1),
    Faults(hurt_frames=0.1),
    Faults(flip_bits=0.001),
    Faults(delay_us=60_000),
    Faults(bytewise=True, lose_frames=0.03, hurt_frames=0.03, delay_us=20_000, junk=40),
)
HOSTILE = ("", "null", "[]", '{"command": "dance"}', '{"command": "stroke"', '{"command": "undo", "expected_seq": 1}')
HOURS_S = (-11 * 3600.0, -3600.0, 3600.0, 7 * 3600.0)
TO_1970_S = 55 * 365.25 * 86_400
SPARE_S = 1.2
"""So long before the umpire speaks everything has to be well again."""
REPEATED = 200
CHANNELS = 24


class Trouble:
    """What goes wrong at one table."""

    def __init__(self, table: Table, dice: Random, room_s: Callable[[], float], mean_s: float) -> None:
        """`room_s`: for how long nobody will need to speak; `mean_s`: from one fault to the next, for each hand."""
        self.counts: Counter[str] = Counter()
        self.slowest_s: dict[str, float] = {}
        self.history: list[tuple[float, str]] = []
        """What was tried, and when: for whoever has to find out what went wrong."""
        self.queued = 0
        """The most messages that waited for the broker."""
        self.waiting = 0
        """The most outputs that waited for the disk."""
        self.answered: deque[str] = deque(maxlen=REPEATED)
        self._table = table
        self._dice = dice
        self._room_s = room_s
        self._mean_s = mean_s
        self._boots = 0
        self._drawer: Mcu | None = None
        self._years_back = 0
        self._hands: list[asyncio.Task[None]] = []

    def begin(self) -> None:
        """Make trouble from now on."""
        at_the_board = (self._cable_pull, self._bad_wire, self._board_reboot_at_rest, self._board_swapped)
        at_the_host = (
            self._daemon_killed,
            self._host_reboot_at_rest,
            self._broker_away,
            self._wall_step,
            self._disk_stall,
            self._disk_refuses,
            self._request_repeated,
            self._request_hostile,
        )
        self._hands = [asyncio.ensure_future(self._hand(faults)) for faults in (at_the_board, at_the_host)]

    async def end(self) -> None:
        """Make no more, and leave everything well."""
        for hand in self._hands:
            hand.cancel()
            with suppress(asyncio.CancelledError):
                await hand
        table = self._table
        table.cable.wire.to_host.faults = table.cable.wire.to_board.faults = CLEAN
        if table.cable.is_out:
            table.cable.put_back()
        if table.disk.stalled or table.disk.refusal:
            table.disk.go_on()
        if table.broker.is_away:
            table.broker.come_back()

    @property
    def is_board_well(self) -> bool:
        """Whether what the board has to tell gets through, and is safe at once."""
        table = self._table
        bad = table.cable.is_out or table.disk.stalled or table.disk.refusal is not None
        return not bad and table.cable.wire.to_host.faults == CLEAN and table.daemon.is_connected(SOURCE)

    async def hurt(self) -> None:
        """The board or the host begins anew, whatever is in a beam now."""
        self._note("something begins anew while something falls")
        if self._dice.random() < 0.5:
            self.counts["board reboot while something falls"] += 1
            self._table.cable.reset()
        else:
            self.counts["host reboot while something falls"] += 1
            await self._reboot()

    async def _hand(self, faults: tuple[Callable[[], Awaitable[bool]], ...]) -> None:
        while True:
            await asyncio.sleep(self._dice.expovariate(1 / self._mean_s))
            fault = self._dice.choice(faults)
            name = fault.__name__.strip("_").replace("_", " ")
            self._note(name)
            if await fault():
                self.counts[name] += 1
                self._note(f"{name}: over")

    def _note(self, what: str) -> None:
        self.history.append((round(asyncio.get_running_loop().time(), 3), what))

    def _drawn(self, most_s: float) -> float | None:
        """How long a fault lasts, None where that leaves the umpire no time."""
        lasts_s = self._dice.random() ** 2 * most_s
        return lasts_s if lasts_s + SPARE_S < self._room_s() else None

    async def _well_again(self, what: str, condition: Callable[[], bool]) -> None:
        """Wait until a fault is over for the table too, and note how long that took."""
        began_s = asyncio.get_running_loop().time()
        await self._table.until(condition)
        took_s = asyncio.get_running_loop().time() - began_s
        self.slowest_s[what] = max(self.slowest_s.get(what, 0.0), took_s)

    # -- at the board --------------------------------------------------------------------------------------

    async def _cable_pull(self) -> bool:
        lasts_s = self._drawn(8.0)
        if lasts_s is None:
            return False
        self._table.cable.pull()
        await asyncio.sleep(lasts_s)
        self._table.cable.put_back()
        await self._well_again("cable", lambda: self._table.daemon.is_connected(SOURCE))
        return True

    async def _bad_wire(self) -> bool:
        wire = self._table.cable.wire
        wire.to_host.faults = wire.to_board.faults = self._dice.choice(BAD_WIRES)
        await asyncio.sleep(self._dice.uniform(1, 30))
        wire.to_host.faults = wire.to_board.faults = CLEAN
        return True

    async def _board_reboot_at_rest(self) -> bool:
        return await self._at_rest(self._table.cable.reset)

    async def _board_swapped(self) -> bool:
        """Another board takes its place, or the one that was taken away comes back and goes on in its old boot."""
        cable = self._table.cable

        def swap() -> None:
            board = self._drawer
            if board is None:
                board = Mcu(CHANNELS, self._dice.randrange(1 << 32), cable.now_us(), levels=cable.levels)
            self._drawer = cable.mcu if self._dice.random() < 0.5 else None
            cable.swap(board)

        return await self._at_rest(swap)

    async def _at_rest(self, do: Callable[[], None]) -> bool:
        for _ in range(200):
            if self._table.is_settled and self.is_board_well:
                do()
                return True
            await asyncio.sleep(0.01)
        return False

    # -- at the host ---------------------------------------------------------------------------------------

    async def _daemon_killed(self) -> bool:
        if self._table.disk.is_unsafe:
            return False  # it has said that this would cost something
        await self._table.restart()
        return True

    async def _host_reboot_at_rest(self) -> bool:
        for _ in range(200):
            if self._table.is_settled and not self._table.disk.is_unsafe:
                await self._reboot()
                return True
            await asyncio.sleep(0.01)
        return False

    async def _reboot(self) -> None:
        self._boots += 1
        await self._table.reboot(f"{self._table.boot_id.partition('+')[0]}+{self._boots}")

    async def _broker_away(self) -> bool:
        lasts_s = self._drawn(20.0)
        if lasts_s is None:
            return False
        self._table.broker.leave(forgets=self._dice.random() < 0.5)
        await asyncio.sleep(lasts_s)
        self.queued = max(self.queued, self._table.port.counters()["queued"])
        self._table.broker.come_back()
        await self._well_again("broker", lambda: "state" in self._table.broker.retained)
        return True

    async def _wall_step(self) -> bool:
        if self._dice.random() < 0.2:
            self._table.wall.step(TO_1970_S if self._years_back else -TO_1970_S)
            self._years_back ^= 1
        else:
            self._table.wall.step(self._dice.choice(HOURS_S))
        self._table.wall.synchronised = self._dice.random() < 0.7
        return True

    async def _disk_stall(self) -> bool:
        lasts_s = self._drawn(4.0)
        if lasts_s is None:
            return False
        self._table.disk.stall()
        await asyncio.sleep(lasts_s)
        self._table.disk.go_on()
        return True

    async def _disk_refuses(self) -> bool:
        self._table.disk.refuse("the disk is full")
        await asyncio.sleep(self._dice.uniform(1, 60))
        self.waiting = max(self.waiting, len(self._table.daemon._waiting) + len(self._table.daemon._owed))
        self._table.disk.go_on()
        await self._well_again("disk", lambda: not self._table.daemon._unsafe)
        return True

    async def _request_repeated(self) -> bool:
        if not self.answered or self._table.broker.is_away:
            return False
        self._table.say(self._dice.choice(self.answered), retained=self._dice.random() < 0.3)
        return True

    async def _request_hostile(self) -> bool:
        self._table.say(self._dice.choice(HOSTILE), retained=self._dice.random() < 0.3)
        return True


def repeated(request: dict[str, object], transaction: str) -> str:
    """A request as it was said, to say it again."""
    return json.dumps({**request, "transaction": transaction})
