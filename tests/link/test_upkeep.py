"""A board is made what it should be, after whatever happens, and not believed until it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.events import Levels, SourceBack
from appliance.link.configuration import BoardConfiguration, ColourSensor
from appliance.link.framing import Deframer, Rejection
from appliance.link.messages import ChannelLevels, Config, Output, decode
from appliance.link.session import HostSession
from sim.mcu import CAUSE_WATCHDOG, HOST_SILENCE_US
from sim.wire import Faults
from tests.link.bench import BOOT_ID, SECOND_US, Bench

TAG = BOOT_ID & 0xFFFF
LAMP, LOW_LAMP = 10, 11
WANTED = BoardConfiguration(
    channels=12,
    inputs=0x0FF,
    pull_ups=0x0F0,
    outputs=1 << LAMP | 1 << LOW_LAMP,
    rest=1 << LOW_LAMP,
    sensors=(ColourSensor(channel=2, analog=1, classes=((80, 2), (255, 1), (0, 0), (0, 0))),),
)


def bench_of(wanted: BoardConfiguration | None = WANTED, faults: Faults | None = None, seed: int = 1) -> Bench:
    session = HostSession("board", configuration=wanted)
    return Bench(faults or Faults(), seed=seed, session=session)


def is_lit(bench: Bench, channel: int) -> int:
    return bench.mcu.outputs >> channel & 1


def upkeep_sent(bench: Bench) -> list[object]:
    messages = [decode(found) for found in Deframer().feed(bench.sent_by_host) if isinstance(found, bytes)]
    return [message for message in messages if isinstance(message, Config | Output)]


# ------------------------------------------------------------------ the bytes


@given(st.binary(max_size=60))
def test_any_bytes_are_a_configuration_or_a_reason(body: bytes):
    found = BoardConfiguration.from_bytes(body)
    if isinstance(found, BoardConfiguration):
        assert found.is_sound
        assert found.to_bytes() == body
        assert found.checksum != 0
    else:
        assert found in (Rejection.LENGTH, Rejection.VALUE)


def test_the_largest_fits_into_a_frame():
    sensor = WANTED.sensors[0]
    largest = BoardConfiguration(18, 0x3FFFF, 0x3FFFF, sensors=(sensor,) * 4)
    assert len(largest.to_bytes()) <= 55


# ------------------------------------------------------------------ in force


def test_a_board_is_configured_before_its_levels_count():
    bench = bench_of()
    bench.mcu.drive(3, 1, 0)
    bench.plug()
    bench.run(SECOND_US)
    assert bench.mcu.configuration == WANTED
    first = next(value for value in bench.inputs if isinstance(value, Levels))
    assert dict(first.levels) == {channel: int(channel in (3, LOW_LAMP)) for channel in range(12)}
    assert bench.session.outages == {}


@pytest.mark.parametrize("seed", range(5))
def test_it_is_configured_and_lit_over_a_wire_that_loses_half_of_the_frames(seed: int):
    bench = bench_of(faults=Faults(lose_frames=0.5), seed=seed)
    bench.session.show({LAMP: 1, LOW_LAMP: 0})
    bench.plug()
    bench.run_until(lambda: bool(bench.of(Levels)) and is_lit(bench, LAMP) == 1, within_s=60)
    assert bench.mcu.configuration == WANTED
    assert is_lit(bench, LOW_LAMP) == 0


def test_after_a_reset_it_is_told_again():
    bench = bench_of()
    bench.session.show({LAMP: 1, LOW_LAMP: 0})
    bench.plug()
    bench.run(SECOND_US)
    bench.mcu.reset(CAUSE_WATCHDOG, bench.now_us)
    assert bench.mcu.configuration is None
    bench.run_until(lambda: is_lit(bench, LAMP) == 1, within_s=1)
    assert bench.mcu.configuration == WANTED
    assert len(bench.of(SourceBack)) == 2
    # Between the reset and the new configuration no levels were believed.
    after = bench.inputs[bench.inputs.index(bench.of(SourceBack)[1]) :]
    levels = [value for value in after if isinstance(value, Levels)]
    assert all(dict(value.levels)[LOW_LAMP] == 1 or dict(value.levels)[LAMP] == 1 for value in levels)


def test_what_is_well_is_not_said_again():
    bench = bench_of()
    bench.session.show({LAMP: 1})
    bench.plug()
    bench.run(2 * SECOND_US)
    assert upkeep_sent(bench) == [Config(TAG, WANTED), Output(TAG, ChannelLevels(12, 1 << LAMP | 1 << LOW_LAMP))]
    bench.session.show({LAMP: 1})
    bench.run(6 * SECOND_US)
    assert len(upkeep_sent(bench)) == 2
    bench.session.show({LAMP: 0})
    bench.run(7 * SECOND_US)
    assert is_lit(bench, LAMP) == 0


def test_outputs_rest_while_the_host_is_away_and_are_lit_when_it_is_back():
    bench = bench_of()
    bench.session.show({LAMP: 1, LOW_LAMP: 0})
    bench.plug()
    bench.run(SECOND_US)
    assert (is_lit(bench, LAMP), is_lit(bench, LOW_LAMP)) == (1, 0)
    bench.unplug()
    bench.run(bench.now_us + HOST_SILENCE_US - SECOND_US)
    bench.mcu.poll(bench.now_us)
    assert is_lit(bench, LAMP) == 1
    bench.run(bench.now_us + 2 * SECOND_US)
    bench.mcu.poll(bench.now_us)
    assert (is_lit(bench, LAMP), is_lit(bench, LOW_LAMP)) == (0, 1)
    bench.plug()
    bench.run(bench.now_us + SECOND_US)
    assert (is_lit(bench, LAMP), is_lit(bench, LOW_LAMP)) == (1, 0)


def test_without_a_configuration_the_board_stays_as_it_is():
    bench = bench_of(None)
    bench.session.show({LAMP: 1})
    bench.plug()
    bench.run(2 * SECOND_US)
    assert bench.mcu.configuration is None
    assert bench.of(Levels)


# ------------------------------------------------------------------ what cannot be used


def test_channels_that_the_board_does_not_have_are_named_and_the_others_work():
    wanted = BoardConfiguration(channels=20, inputs=1 << 3 | 1 << 19, outputs=1 << 15)
    bench = bench_of(wanted).plug()
    bench.run(SECOND_US)
    assert bench.mcu.configuration == BoardConfiguration(channels=12, inputs=1 << 3)
    assert sorted(bench.session.outages) == [15, 19]
    assert "0 to 11" in bench.session.outages[19]
    bench.mcu.drive(3, 1, bench.now_us)
    bench.run(2 * SECOND_US)
    assert bench.edges == [(3, 1)]


def test_a_muted_input_is_named_until_it_is_well():
    bench = bench_of().plug()
    bench.run(SECOND_US)
    bench.mcu.mute(5)
    bench.run(2 * SECOND_US)
    assert list(bench.session.outages) == [5]
    assert bench.session.counters.board_muted == 1
    bench.mcu.mute()
    bench.run(3 * SECOND_US)
    assert bench.session.outages == {}
    assert bench.session.counters.board_muted == 0
