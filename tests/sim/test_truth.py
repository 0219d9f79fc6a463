"""What sensing and the session at the table make of a script is what the players really did.

The whole way from edges to the score without a wire, a clock or a broker; each heartbeat carries the levels.
"""

import json

import pytest

from appliance import rules
from appliance.events import ColourReading, Edge, Levels, SourceBack
from appliance.sensing.bank import Beam, ColourSeen, PassageSeen, SensorBank, StrikeSeen, StrikeSensor
from appliance.sensing.debounce import CARPETBALL_PIT, CARROM_POCKET, STRIKE_SENSOR
from appliance.sensing.identify import objects_of
from appliance.table import inputs
from appliance.table.decide import begin, decide
from appliance.table.matches import first_match
from appliance.table.model import Policy, Seat
from appliance.table.view import observation_lines
from sim import device
from sim.actions import Call, Over
from sim.driver import script
from sim.layout import SOURCE, STRIKE, layout_of
from sim.players import simulate, truth_lines

NAMES = ("Asha", "Ben", "Chidi", "Dana")
HEARTBEAT_NS = 250_000_000


def bank_of(game):
    pit_or_pocket = CARPETBALL_PIT if game == "carpetball" else CARROM_POCKET
    return SensorBank(
        StrikeSensor(sensor.id, SOURCE, sensor.channel, sensor.end, sensor.blocked_level, STRIKE_SENSOR)
        if sensor.place == STRIKE
        else Beam(
            sensor.id,
            SOURCE,
            sensor.channel,
            sensor.place,
            objects_of(game),
            sensor.blocked_level,
            pit_or_pocket,
        )
        for sensor in layout_of(game).sensors
    )


class Table:
    """Debounced lines and a session, fed with what a source would deliver."""

    def __init__(self, match):
        seats = tuple(Seat(name, name) for name in match.players)
        quiet_ns = 5_000_000_000 if match.game == "carpetball" else 6_000_000_000
        options = dict(rules.setup_document(match.setup)["options"])
        self.policy = Policy(match.game, seats, options, "ask", quiet_ns, strike_sensor=True)
        self.state = begin(first_match(self.policy)).state
        self.bank = bank_of(match.game)
        self.levels = layout_of(match.game).idle_levels()
        self.bank.feed(SourceBack(SOURCE, 1, 0))
        self.heartbeat(0)

    def heartbeat(self, at_ns):
        self.hear(Levels(SOURCE, tuple(self.levels.items()), at_ns))
        self.take(inputs.ClockPassed(at_ns))

    def hear(self, item):
        for signal in self.bank.feed(item):
            match signal:
                case PassageSeen(beam, passage):
                    self.take(inputs.Passed(beam.id, beam.place, beam.passes, passage.started_ns, passage.ended_ns))
                case ColourSeen(beam, started_ns, name):
                    self.take(inputs.Coloured(beam.id, started_ns, name))
                case StrikeSeen(sensor, at_ns):
                    self.take(inputs.Strike(sensor.end, at_ns))
                case _:
                    pytest.fail(f"a clean table brings no {signal}")

    def take(self, given):
        decision = decide(self.state, given, self.policy)
        assert not isinstance(decision, inputs.Refused), (given, decision)
        if decision.events:
            self.state = decision.state

    def play(self, match):
        now_ns = 0
        for item in script(match):
            at_ns = item.at_us * 1_000
            while now_ns + HEARTBEAT_NS < at_ns:
                now_ns += HEARTBEAT_NS
                self.heartbeat(now_ns)
            now_ns = at_ns
            match item:
                case device.Edge(_, channel, level):
                    self.levels[channel] = level
                    self.hear(Edge(SOURCE, channel, level, at_ns))
                case device.Colour(_, channel, name):
                    self.hear(ColourReading(SOURCE, channel, name, at_ns))
                case Call(_, request):
                    fields = dict(request)
                    self.take(inputs.Request(fields.pop("command"), at_ns, fields))
                case Over():
                    self.heartbeat(at_ns)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("game", rules.GAMES)
def test_the_table_arrives_at_what_the_players_did(game, seed):
    seats = (2, 3, 4) if game in ("money_carrom", "carpetball") else (2, 4)
    options = {"nc.match": "best_of_3"} if game == "new_carrom" and seed % 2 else {}
    match = simulate(game, NAMES[: seats[seed % len(seats)]], seed, options, skill=(seed % 4) / 4 + 0.2)
    table = Table(match)
    table.play(match)
    assert rules.document(table.state.fold.rules) == rules.document(match.final)
    assert table.bank.unplaced_colours == 0
    assert table.state.stroke is None
    assert not table.state.fold.questions
    lines = observation_lines(table.state.match)[1:]
    truth = [json.loads(line) for line in truth_lines(match)[1:]]
    assert [in_no_order(line) for line in lines] == [in_no_order(line) for line in truth]


def in_no_order(line):
    """An observation line with its pieces sorted: inside a stroke there is no order."""
    return {name: sorted(value) if isinstance(value, list) else value for name, value in line.items()}
