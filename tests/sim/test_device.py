"""A strike is a pulse, a fall is a pulse with a colour behind it, and a call makes no edge at all."""

from sim.actions import Call, Fall, Over, Strike
from sim.device import Colour, Edge, signals
from sim.layout import Layout, Sensor, layout_of


def test_a_strike_is_a_pulse_at_the_strike_sensor():
    assert signals([Strike(1_000, None, 12_000)], layout_of("club_carrom")) == [
        Edge(1_000, 4, 1),
        Edge(13_000, 4, 0),
    ]


def test_carpetball_strikes_come_from_the_throwers_end():
    found = signals([Strike(0, "south", 5_000), Strike(9_000_000, "north", 5_000)], layout_of("carpetball"))
    assert [edge.channel for edge in found] == [3, 3, 2, 2]


def test_a_fall_is_a_pulse_and_its_colour_within_a_tenth_of_a_second():
    edge, clear, colour = signals([Fall(500_000, "se", "queen", 30_000)], layout_of("new_carrom"))
    assert (edge, clear) == (Edge(500_000, 2, 1), Edge(530_000, 2, 0))
    assert isinstance(colour, Colour)
    assert (colour.channel, colour.object) == (2, "queen")
    assert 530_000 < colour.at_us <= 630_000


def test_a_beam_that_is_high_while_intact_goes_low():
    layout = Layout((Sensor("ne", 7, "ne", blocked_level=0),))
    assert signals([Fall(0, "ne", "white", 20_000)], layout)[:2] == [Edge(0, 7, 0), Edge(20_000, 7, 1)]
    assert layout.idle_levels() == {7: 1}


def test_signals_of_falls_that_overlap_come_in_order_of_time():
    falls = [Fall(0, "ne", "white", 50_000), Fall(10_000, "sw", "black", 20_000)]
    times = [signal.at_us for signal in signals(falls, layout_of("club_carrom"))]
    assert times == sorted(times)
    assert len(times) == 6


def test_calls_and_the_end_give_no_signal():
    assert signals([Call(0, {"command": "next_board"}), Over(5)], layout_of("club_carrom")) == []
