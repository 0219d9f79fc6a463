"""Several beams of a table played by hand: pulses in milliseconds, and what became of them."""

from collections.abc import Iterable

from appliance.events import Edge, Levels
from appliance.sensing.bank import Beam, Input, PassageSeen, SensorBank, TableSignal
from appliance.sensing.debounce import CARPETBALL_PIT, CARROM_POCKET, DebounceSettings

MS = 1_000_000
SECOND = 1_000_000_000
CARROM = ("white", "black", "queen", "striker")


def pocket(
    name: str,
    channel: int,
    *,
    source: str = "board",
    passes: tuple[str, ...] = CARROM,
    exclusive: str | None = None,
    settings: DebounceSettings = CARROM_POCKET,
) -> Beam:
    return Beam(name, source, channel, exclusive or name, passes, 1, settings, exclusive)


def pit(name: str, channel: int, **more: object) -> Beam:
    return pocket(name, channel, passes=("ball", "cue"), settings=CARPETBALL_PIT, **more)  # type: ignore[arg-type]


class Lines:
    """A bank whose inputs are all clear at 0; times are milliseconds, and fractions of them."""

    def __init__(self, *inputs: Input, dark: Iterable[str] = ()) -> None:
        self.bank = SensorBank(inputs)
        self.inputs = {each.id: each for each in inputs}
        self.signals: list[TableSignal] = []
        for source in sorted({each.source for each in inputs}):
            levels = tuple((each.channel, int(each.id in dark)) for each in inputs if each.source == source)
            self.signals += self.bank.feed(Levels(source, levels, 0))

    def edge(self, name: str, active: bool, at_ms: float) -> None:
        found = self.inputs[name]
        self.signals += self.bank.feed(Edge(found.source, found.channel, int(active), round(at_ms * MS)))

    def pulses(self, *pulses: tuple[str, float, float]) -> None:
        """Pulses of several beams, each as (beam, from, width), put in order of time."""
        edges = [
            (at, name, active) for name, start, ms in pulses for at, active in ((start, True), (start + ms, False))
        ]
        for at, name, active in sorted(edges, key=lambda edge: edge[0]):
            self.edge(name, active, at)

    def time(self, at_ms: float) -> None:
        for source in sorted({each.source for each in self.inputs.values()}):
            self.signals += self.bank.feed(Levels(source, (), round(at_ms * MS)))

    def final(self) -> list[PassageSeen]:
        """The passages as they stand in the end, in the order of their first showing."""
        return list(
            {
                (each.beam.id, each.passage.started_ns): each for each in self.signals if isinstance(each, PassageSeen)
            }.values()
        )

    def counted(self) -> list[str]:
        """The beams of the passages that count, one name each."""
        return [each.beam.id for each in self.final() if each.reason is None]

    def told(self, kind: type) -> list[TableSignal]:
        return [each for each in self.signals if isinstance(each, kind)]
