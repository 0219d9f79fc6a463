"""The ways in which a case of the table of passages can be run without a machine of its own."""

from collections.abc import Callable
from dataclasses import asdict

from appliance.config import from_document
from appliance.events import Edge, Levels, SourceBack
from appliance.link.session import HostSession
from appliance.sensing.bank import Beam, SensorBank
from appliance.wiring import inputs_of
from sim.layout import SOURCE, layout_of
from sim.mcu import Mcu
from sim.wire import Wire
from tests.support.passages import Case, Counts, counted

US = 1_000


def bank_of(game: str) -> SensorBank:
    beams = [
        {"id": s.id, "source": SOURCE, "channel": s.channel, "place": s.place, **({"end": s.end} if s.end else {})}
        for s in layout_of(game).sensors
    ]
    table = {"id": "t1", "game": game, "players": ["Asha", "Ben"]}
    sources = [{"id": SOURCE, "kind": "serial", "port": "/dev/none"}]
    return SensorBank(inputs_of(from_document({"table": table, "sources": sources, "beams": beams})))


def counts(bank: SensorBank) -> Counts:
    beams = ((line.input, line.debouncer) for line in bank.lines.values())
    return counted((beam.place, asdict(debouncer.counters)) for beam, debouncer in beams if isinstance(beam, Beam))


def fed_directly(case: Case) -> Counts:
    """Edges and heartbeats straight into the sensing."""
    bank, layout = bank_of(case.game), layout_of(case.game)
    levels = layout.idle_levels()
    bank.feed(SourceBack(SOURCE, None, 0))
    edges = iter([*case.edges, (case.end_us + 1, "", False)])
    at_us, place, broken = next(edges)
    for beat_us in range(0, case.end_us + 1, 250_000):
        while at_us <= beat_us:
            sensor = layout.beam_at(place)
            levels[sensor.channel] = sensor.blocked_level if broken else sensor.idle_level
            bank.feed(Edge(SOURCE, sensor.channel, levels[sensor.channel], at_us * US))
            at_us, place, broken = next(edges)
        bank.feed(Levels(SOURCE, tuple(levels.items()), beat_us * US))
    return counts(bank)


def over_the_serial_link(case: Case) -> Counts:
    """The simulated board at the other end of a wire, its ticks and its ring between them."""
    bank, layout = bank_of(case.game), layout_of(case.game)
    mcu = Mcu(8, 0x5EED, 0, levels=layout.idle_levels(), first_tick=0xFFFF_0000)
    wire = Wire()
    session = HostSession(SOURCE)
    session.connected(0)
    wire.open(0)

    def turn(now_us: int) -> None:
        moved = True
        while moved:
            moved = False
            if data := mcu.poll(now_us):
                wire.to_host.send(data, now_us)
            for chunk in wire.to_host.receive(now_us):
                moved = True
                for item in session.receive(chunk, now_us * US):
                    bank.feed(item)
            if data := session.poll(now_us * US):
                wire.to_board.send(data, now_us)
            for chunk in wire.to_board.receive(now_us):
                moved = True
                mcu.receive(chunk, now_us)
            if (reached := session.delivered) is not None:
                session.acknowledge(*reached)

    edges = iter([*case.edges, (case.end_us, "", False)])
    at_us, place, broken = next(edges)
    now_us = 0
    while now_us < case.end_us:
        while at_us <= now_us:
            sensor = layout.beam_at(place)
            mcu.drive(sensor.channel, sensor.blocked_level if broken else sensor.idle_level, at_us)
            at_us, place, broken = next(edges)
        turn(now_us)
        due_us = (mcu.next_deadline_us(), wire.to_host.next_arrival_us(), wire.to_board.next_arrival_us())
        session_ns = session.next_deadline_ns()
        due_us = (*due_us, at_us, None if session_ns is None else -(-session_ns // US))
        now_us = max(now_us + 1, min(due for due in due_us if due is not None))
    return counts(bank)


SOURCES: dict[str, Callable[[Case], Counts]] = {"in process": fed_directly, "serial": over_the_serial_link}
"""The third way, the lines of a gpiochip, has a machine of its own: tests/gpiochip."""
