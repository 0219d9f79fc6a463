"""A simulated pin header in virtual time, on gpiozero's own mock pins, and a table that hangs on it.

`Header` is the outside world: it keeps what each wire says, whoever watches it. Its controller can be taken
away and brought back, single lines can be held by somebody else or refuse to be watched, and an edge can get
lost on its way.
"""

from collections.abc import Callable, Iterable
from typing import Any

from gpiozero.pins.mock import MockFactory, MockPin
from gpiozero.pins.pi import PiPin

from appliance.daemon import TableDaemon
from appliance.events import SourceInput
from appliance.ports import Deliver, Ports
from appliance.sources.gpio import GpioSource, Pins
from appliance.sources.header import GpiozeroPins, HeaderError
from sim.layout import SOURCE
from sim.loop import VirtualClock
from tests.support.ring1 import BrokerPort, DiskJournal, Document, Table, _loop

FIRST_PIN = 4
"""Channel 0 of a layout is on this pin, the others follow."""


class HeaderPin(MockPin):
    """A mock pin that says what its wire says, and stamps by the header's clock."""

    def __init__(self, factory: Any, info: Any) -> None:
        self.header: Header = factory.header
        number = int(info.name[4:])
        if number in self.header.held:
            raise RuntimeError("GPIO busy")
        super().__init__(factory, info)
        self._state = self.header.wire(number, self._pull)

    def _set_pull(self, value: str) -> None:
        self._pull = value
        self._state = self.header.wire(self._number, value)

    def _get_state(self) -> bool:
        if self.header.gone:
            raise RuntimeError("bad GPIO read")
        return bool(super()._get_state())

    def _enable_event_detect(self) -> None:
        if self.header.unwatchable.get(self._number, 0) > 0:
            self.header.unwatchable[self._number] -= 1
            raise RuntimeError("an unexpected error")

    def _call_when_changed(self) -> None:
        PiPin._call_when_changed(self, self.header.now_ns() / 1e9, int(self._state))

    def wire_changed(self, level: int, *, heard: bool) -> None:
        """The wire's level changed; one that is not heard is an edge that got lost."""
        if not heard:
            self._state = bool(level)
        elif level:
            self.drive_high()
        else:
            self.drive_low()


class Header:
    """The header and everything that is wired to it."""

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self.now_ns = now_ns
        self.levels: dict[int, int] = {}
        self.held: dict[int, str] = {}
        self.unwatchable: dict[int, int] = {}
        self.gone = False
        self.openings = 0
        self._factory: MockFactory | None = None

    # -- the wires

    def wire(self, number: int, pull: str) -> bool:
        """What a pin with that pull reads."""
        return bool(self.levels.get(number, 1 if pull == "up" else 0))

    def drive(self, number: int, level: int, *, heard: bool = True) -> None:
        self.levels[number] = level
        pin = self._watched(number)
        if pin is not None and pin._state != bool(level):
            pin.wire_changed(level, heard=heard)

    def output(self, number: int) -> int | None:
        """What an output gives; None where nobody drives it."""
        pin = self._watched(number)
        return int(pin._state) if pin is not None and pin._function == "output" else None

    def _watched(self, number: int) -> Any:
        pins = self._factory.pins.values() if self._factory is not None else ()
        return next((pin for pin in pins if pin._number == number), None)

    # -- the controller

    def unplug(self) -> None:
        self.gone = True
        self._factory = None

    def plug(self) -> None:
        self.gone = False

    def open(self) -> GpiozeroPins:
        self.openings += 1
        if self.gone:
            raise HeaderError("there is no header")
        self._factory = MockFactory(pin_class=HeaderPin)
        self._factory.header = self
        return GpiozeroPins(self._factory, self)  # type: ignore[arg-type]

    def check(self) -> None:
        if self.gone:
            raise HeaderError("the header is gone")

    def owner_of(self, number: int) -> str | None:
        return self.held.get(number)

    def close(self) -> None:
        """The controller has nothing to close."""


class PinTable(Table):
    """A `Table` whose beams, buttons and lamps are on the host's own pins."""

    def __init__(self, *args: Any, lamps: Iterable[Document] = (), **keys: Any) -> None:
        super().__init__(*args, **keys)
        document = self.document
        document["sources"] = [{"id": SOURCE, "kind": "gpio"}]
        document["lamps"] = [{**lamp, "source": SOURCE} for lamp in lamps]
        for kind in ("beams", "buttons"):
            document[kind] = [_on_a_pin(each) for each in document[kind]]
        wired = [*document["beams"], *document["buttons"], *document["lamps"]]
        self.pin_of = {each["id"]: int(each["pin"].removeprefix("GPIO")) for each in wired}
        self._at_rest = {FIRST_PIN + channel: level for channel, level in self._levels.items()}

    async def __aenter__(self) -> "PinTable":
        self.header = Header(_loop().now_ns)
        self.header.levels = {
            number: self._at_rest[number] for number in self.pin_of.values() if number in self._at_rest
        }
        await self.start()
        await self.run_for(0.1)
        return self

    async def start(self, boot_id: str = "virtual-boot-1") -> None:
        def journal(settings: Any, on_synced: Any, on_safety: Any) -> DiskJournal:
            return DiskJournal(self.disk, on_synced, on_safety)

        def publisher(settings: Any, on_request: Any, on_connection: Any) -> BrokerPort:
            self.port = BrokerPort(self.broker, on_request, on_connection)
            return self.port

        def board(*arguments: object) -> Any:
            raise AssertionError("this table has no board")

        def pins(source_id: str, wanted: Pins, deliver: Deliver, clock: object) -> GpioSource:
            self.source = GpioSource(source_id, wanted, self._listening(deliver), _loop().now_ns, self.header.open)
            return self.source

        ports = Ports(journal, board, publisher, pins)
        self.daemon = TableDaemon(self.settings, VirtualClock(_loop(), boot_id), ports)
        await self.daemon.start()
        self._started.set()

    def _listening(self, deliver: Deliver) -> Deliver:
        self.alive = alive = [True]

        def heard(items: list[SourceInput]) -> None:
            if alive[0]:
                deliver(items)

        return heard

    def kill(self) -> None:
        """The daemon is gone: the kernel takes its lines back, its outputs stay as they are."""
        self._started.clear()
        assert self.disk.journal is not None
        self.disk.journal.die()
        self.port.cut = True
        self.alive[0] = False
        for timer in (*self.daemon._timers.values(), *self.source._timers.values()):
            timer.cancel()
        assert self.daemon._publishing is not None
        self.daemon._publishing.cancel()
        self.restarts += 1

    async def _pulse(self, channel: int, active: int, dwell_ms: int) -> None:
        self.header.drive(FIRST_PIN + channel, active)
        await self.run_for(dwell_ms / 1_000)
        self.header.drive(FIRST_PIN + channel, 1 - active)
        await self.run_for(0)  # the loop has still to hear of it

    def block(self, place: str) -> None:
        sensor = self.layout.beam_at(place)
        self.header.drive(FIRST_PIN + sensor.channel, sensor.blocked_level)

    def clear(self, place: str) -> None:
        sensor = self.layout.beam_at(place)
        self.header.drive(FIRST_PIN + sensor.channel, sensor.idle_level)

    def lamp(self, name: str) -> int | None:
        """The level at a lamp."""
        return self.header.output(self.pin_of[name])


def _on_a_pin(wired: Document) -> Document:
    rest = {key: value for key, value in wired.items() if key != "channel"}
    return {**rest, "pin": f"GPIO{FIRST_PIN + wired['channel']}"}
