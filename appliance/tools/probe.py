"""A look at a table's sources while no daemon runs: who is there, and what every wire says.

The very sources of the daemon are opened. Whoever only looks acknowledges nothing: a board keeps everything in its
ring for the daemon that comes next. Whoever makes edges on purpose takes them out of the ring, for they are no play.
Only what happens after a source is there counts.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Container, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from appliance.clock import Clock
from appliance.config import Settings
from appliance.events import Brightness, ColourReading, Edge, EdgesLost, Levels, SourceBack, SourceInput, SourceLost
from appliance.link.messages import ForeignHello, Hello
from appliance.ports import REAL, Ports, SourcePort
from appliance.sources.serial import SerialSource
from appliance.wiring import board_of, pins_of

CONNECT_S = 9.0
"""A board that is reset by the opening of its port is back after two seconds; then it has five to say hello."""
WATCH_S = 2.0

Wire = tuple[str, int]
"""A source and a channel of it."""


@dataclass(slots=True)
class Sources:
    """The open sources of a table, and what has been heard of their wires.

    `listen` is called with each edge, each word on the levels and each reading of a colour sensor, in the order in
    which they came. `takes`: what was heard is acknowledged, and the board forgets it.
    """

    opened: dict[str, SourcePort] = field(default_factory=dict)
    levels: dict[Wire, int] = field(default_factory=dict)
    told: dict[str, set[int]] = field(default_factory=dict)
    edges: Counter[Wire] = field(default_factory=Counter)
    listen: Callable[[Edge | Levels | Brightness], None] = lambda item: None
    takes: bool = False
    _since_ns: dict[str, int] = field(default_factory=dict)

    def hear(self, items: list[SourceInput]) -> None:
        """What a source delivered."""
        for item in items:
            match item:
                case SourceBack():
                    self._since_ns[item.source] = item.at_ns
                case SourceLost():
                    self._since_ns.pop(item.source, None)
                case Levels():
                    self.told[item.source] = {channel for channel, _ in item.levels}
                    self.levels.update({(item.source, channel): level for channel, level in item.levels})
                    self.listen(item)
                case Edge() if item.at_ns >= self._since_ns.get(item.source, item.at_ns):
                    self.edges[item.source, item.channel] += 1
                    self.levels[item.source, item.channel] = item.level
                    self.listen(item)
                case Brightness():
                    self.listen(item)
            if self.takes and isinstance(item, Edge | ColourReading | EdgesLost) and item.identity is not None:
                self.opened[item.source].acknowledge(item.identity.boot_id, item.identity.sequence + 1)

    def is_ready(self, source: str) -> bool:
        """Whether the source is there and has told its levels."""
        return self.opened[source].is_connected and source in self.told

    def hello(self, source: str) -> Hello | ForeignHello | None:
        """What the board of a serial source said about itself."""
        opened = self.opened[source]
        return opened.hello if isinstance(opened, SerialSource) else None

    def board(self, source: str) -> str | None:
        """The same in words; None before it has said anything that we understand."""
        opened = self.opened[source]
        return opened.board if isinstance(opened, SerialSource) else None

    def outages(self, source: str) -> Mapping[int, str]:
        """By channel: why that wire cannot be used."""
        return self.opened[source].outages

    async def ready(self, within_s: float, *, but: Container[str] = ()) -> None:
        """Wait until every source is ready, but for those that cannot be, or has had its time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while not all(source in but or self.is_ready(source) for source in self.opened):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)


@asynccontextmanager
async def open_sources(
    settings: Settings, clock: Clock, ports: Ports = REAL, *, takes: bool = False
) -> AsyncIterator[Sources]:
    """The table's sources, opened as the daemon opens them, and closed again at the end.

    Whoever takes what they tell gets what colour sensors read, and not what it means.
    """
    sources = Sources(takes=takes)
    for section in settings.sources:
        if section.kind == "serial":
            sources.opened[section.id] = ports.source(
                section, board_of(settings, section.id, tells_readings=takes), {}, sources.hear, clock
            )
        elif section.kind == "gpio":
            wanted = pins_of(settings, section.id)
            sources.opened[section.id] = ports.pins(section.id, wanted, sources.hear, clock)
    try:
        for source in sources.opened.values():
            source.start()
        yield sources
    finally:
        for source in sources.opened.values():
            await source.stop()
