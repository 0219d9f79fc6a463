"""The core in C: its own tests, and the same conversation as the simulated board, byte for byte."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.link.configuration import BoardConfiguration, ColourSensor
from appliance.link.framing import encode
from appliance.link.messages import (
    OBJECT_CODES,
    Ack,
    ChannelLevels,
    Config,
    HelloRequest,
    HostHeartbeat,
    Nak,
    Output,
)
from sim.mcu import Mcu
from tests.firmware.core_board import CoreBoard
from tests.firmware.programs import Programs, make

pytestmark = pytest.mark.real

BOOT_ID = 0x1234ABCD
TAG = BOOT_ID & 0xFFFF
CHANNELS = 12


def test_its_own_tests_with_and_without_sanitizers(programs: Programs):
    assert make("test").count("all well") == 2


SEQUENCE = st.integers(0, 300) | st.integers(0, 0xFFFF)
MASKS = st.integers(0, (1 << CHANNELS) - 1)
SENSORS = st.builds(
    ColourSensor,
    channel=st.integers(0, CHANNELS - 1),
    analog=st.integers(0, 7),
    classes=st.lists(st.tuples(st.integers(0, 255), st.integers(0, 7)), min_size=4, max_size=4).map(tuple),
    after=st.integers(0, 255),
    wants_lowest=st.booleans(),
    active_level=st.integers(0, 1),
)


@st.composite
def configurations(draw: st.DrawFn) -> BoardConfiguration:
    """What a host may send: most of it sound, all of it of the right length."""
    inputs = draw(MASKS)
    outputs = draw(MASKS) & ~inputs if draw(st.integers(0, 9)) else draw(MASKS)
    pull_ups, rest = draw(MASKS) & inputs, draw(MASKS) & outputs
    sensors = draw(st.lists(SENSORS, max_size=4).map(tuple))
    if draw(st.integers(0, 9)):
        sensors = tuple(sensor for sensor in sensors if inputs >> sensor.channel & 1)
    mute_after, channels = draw(st.integers(0, 65)), draw(st.sampled_from([CHANNELS, CHANNELS, CHANNELS, 16]))
    return BoardConfiguration(channels, inputs, pull_ups, outputs, rest, mute_after, sensors)


OUTPUTS = st.integers(0, 16).flatmap(
    lambda channels: st.builds(ChannelLevels, st.just(channels), st.integers(0, (1 << (channels + 7) // 8 * 8) - 1))
)
MESSAGES = st.one_of(
    st.builds(Config, st.just(TAG), configurations()),
    st.builds(Output, st.just(TAG), OUTPUTS),
    st.builds(Output, st.just(TAG), st.builds(ChannelLevels, st.just(CHANNELS), MASKS)),
    st.just(HelloRequest()),
    st.builds(Ack, st.just(TAG), SEQUENCE),
    st.builds(Ack, st.just(TAG), SEQUENCE),
    st.builds(Nak, st.just(TAG), SEQUENCE),
    st.builds(HostHeartbeat, st.just(TAG), SEQUENCE, st.integers(1, 0xFFFF)),
    st.builds(Ack, st.integers(0, 0xFFFF), SEQUENCE),
)
BYTES = st.one_of(
    MESSAGES.map(lambda message: encode(message.to_bytes())),
    st.binary(max_size=80),
    MESSAGES.flatmap(lambda message: st.integers(0, 12).map(lambda cut: encode(message.to_bytes())[:cut])),
    st.binary(min_size=1, max_size=56).map(encode),
    st.integers(0x81, 0x86).flatmap(
        lambda kind: st.binary(max_size=40).map(lambda rest, kind=kind: encode(bytes([kind]) + rest))
    ),
)
STEPS = st.lists(
    st.tuples(
        st.integers(0, 400_000),
        st.one_of(
            st.tuples(st.just("edges"), st.integers(0, CHANNELS - 1), st.integers(1, 150)),
            st.tuples(st.just("colour"), st.integers(0, CHANNELS - 1), st.sampled_from(sorted(OBJECT_CODES))),
            st.tuples(st.just("hear"), BYTES),
            st.just(("poll",)),
            st.just(("poll",)),
        ),
    ),
    max_size=60,
)


@pytest.fixture(scope="module")
def core(programs: Programs) -> Iterator[CoreBoard]:
    core = CoreBoard(programs.board)
    yield core
    core.close()


@given(
    steps=STEPS,
    first_tick=st.just(0) | st.integers(0, (1 << 32) - 1) | st.just((1 << 32) - 1_000_000),
    first_sequence=st.just(0) | st.just(65_500),
)
@settings(max_examples=150, deadline=None)
def test_it_says_what_the_simulated_board_says(
    core: CoreBoard, steps: list[tuple[int, tuple[Any, ...]]], first_tick: int, first_sequence: int
):
    simulated = Mcu(CHANNELS, BOOT_ID, first_tick=first_tick, first_sequence=first_sequence)
    core.boot(CHANNELS, BOOT_ID, first_tick=first_tick, first_sequence=first_sequence)
    now_us = 0
    for pause_us, (what, *details) in steps:
        now_us += pause_us
        match what:
            case "edges":
                channel, times = details
                for number in range(times):
                    for board in (simulated, core):
                        board.drive(channel, 1 - number % 2, now_us)
            case "colour":
                for board in (simulated, core):
                    board.report_colour(*details, now_us)
            case "hear":
                for board in (simulated, core):
                    board.receive(details[0], now_us)
            case _:
                assert core.poll(now_us) == simulated.poll(now_us)
                assert core.kept(now_us) == simulated.kept
                assert core.next_deadline_us(now_us) == simulated.next_deadline_us()
    assert core.poll(now_us) == simulated.poll(now_us)
