"""`pocketbeam doctor` at a simulated table: every trouble is named in its line, and a well table is well."""

import asyncio
import json
import os
import tty
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import serial

from sim.wire import PtyMcu
from tests.support.brokers import Mosquitto, Recorder, mosquitto, recorder
from tests.support.ports import free_port
from tests.support.processes import board, configured, program, ran

pytestmark = pytest.mark.real

BUTTON = '\n[[buttons]]\nid = "done-1"\nsource = "board"\nchannel = 16\naction = "done"\nplayer = 1\n'
RELEASED = {16: 1}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    with mosquitto(tmp_path_factory.mktemp("broker")) as running:
        yield running


async def examined(directory: Path, config: Path) -> tuple[int, dict[str, tuple[str, str]]]:
    """The exit status, and the verdict and the sentence of each part."""
    status, out, err = await asyncio.to_thread(ran, directory, "doctor", "--config", str(config))
    assert err == ""
    found = {}
    for line in out.splitlines():
        verdict, rest = line[:5].strip(), line[7:]
        part, _, sentence = rest.partition("  ")
        found[part.strip()] = (verdict, sentence.strip())
    return status, found


def at_a_board(
    directory: Path, broker_port: int, *, levels: dict[int, int] | None = None, **how: Any
) -> tuple[int, dict[str, tuple[str, str]]]:
    """What the doctor says of a board with these levels."""

    async def main() -> tuple[int, dict[str, tuple[str, str]]]:
        config = configured(directory, broker_port, **{"add": BUTTON, **how})
        async with board(directory, levels={**RELEASED, **(levels or {})}):
            return await examined(directory, config)

    return asyncio.run(main())


def test_a_well_table_is_well(tmp_path: Path, broker: Mosquitto) -> None:
    status, found = at_a_board(tmp_path, broker.port)
    assert status == 0, found
    assert set(found) == {
        "configuration",
        "journal",
        "clock",
        "broker",
        "source board",
        *(f"beam {beam}" for beam in ("ne", "nw", "se", "sw", "strike")),
        "button done-1",
    }
    assert found["source board"] == ("well", "simulated board, firmware 1.0.0, protocol 1, 24 inputs")
    assert found["beam ne"] == ("well", "clear")
    assert found["button done-1"] == ("well", "not pressed")
    assert found["broker"][0] == "well"


def test_the_broker_is_left_as_it_was(tmp_path: Path, broker: Mosquitto) -> None:
    at_a_board(tmp_path, broker.port)

    async def retained() -> list[str]:
        async with recorder(broker.port, "pocketbeam/t1/#", "mark") as heard:
            await heard.publish("mark", "x")
            await heard.wait_for(lambda h: "mark" in h.latest)
            return [message.topic for message in heard.messages if message.topic != "mark"]

    assert asyncio.run(retained()) == []


def test_swapped_polarity_is_suspected_before_a_game_starts(tmp_path: Path, broker: Mosquitto) -> None:
    swap = {'place = "nw"\nblocked_level = "high"': 'place = "nw"\nblocked_level = "low"'}
    status, found = at_a_board(tmp_path, broker.port, replace=swap)
    assert status == 1
    verdict, sentence = found["beam nw"]
    assert verdict == "WRONG"
    assert sentence.startswith("polarity suspect")
    assert 'blocked_level = "high"' in sentence
    assert [part for part, (each, _) in found.items() if each == "WRONG"] == ["beam nw"]


def test_a_button_that_is_down_and_a_beam_that_is_broken(tmp_path: Path, broker: Mosquitto) -> None:
    status, found = at_a_board(tmp_path, broker.port, levels={16: 0, 2: 1})
    assert status == 1
    assert (
        'pressed at rest: if nobody holds it and its wires do not touch, write pressed_level = "high"'
        in (found["button done-1"][1])
    )
    assert 'write blocked_level = "low"' in found["beam se"][1]


def test_a_channel_that_the_board_has_not(tmp_path: Path, broker: Mosquitto) -> None:
    status, found = at_a_board(tmp_path, broker.port, add=BUTTON.replace("16", "30"))
    assert status == 1
    assert found["button done-1"] == ("WRONG", "the board has only the channels 0 to 23")


def test_an_untouched_beam_that_flickers(tmp_path: Path, broker: Mosquitto) -> None:
    async def main() -> tuple[int, dict[str, tuple[str, str]]]:
        config = configured(tmp_path, broker.port, add=BUTTON)
        async with board(tmp_path, levels=RELEASED) as line:
            flickering = asyncio.create_task(flicker(line))
            found = await examined(tmp_path, config)
            flickering.cancel()
            return found

    async def flicker(line: PtyMcu) -> None:
        level = 0
        while True:
            level = 1 - level
            line.drive(3, level)
            await asyncio.sleep(0.03)

    status, found = asyncio.run(main())
    assert status == 1
    assert found["beam sw"][0] == "WRONG"
    assert "though untouched: look for sunlight" in found["beam sw"][1]
    assert found["beam ne"][0] == "well"


# -- the port ------------------------------------------------------------------------------------------


def without_a_board(directory: Path, broker_port: int) -> tuple[int, dict[str, tuple[str, str]]]:
    return asyncio.run(examined(directory, configured(directory, broker_port)))


def test_a_missing_port_and_what_hangs_on_it(tmp_path: Path, broker: Mosquitto) -> None:
    status, found = without_a_board(tmp_path, broker.port)
    assert status == 1
    assert "board-t1 is not there" in found["source board"][1]
    assert found["beam ne"] == ("?", "cannot be judged before source board is well")


def test_a_port_that_another_program_has(tmp_path: Path, broker: Mosquitto) -> None:
    master, slave = os.openpty()
    try:
        (tmp_path / "board-t1").symlink_to(os.ttyname(slave))
        other = serial.Serial(os.ttyname(slave), exclusive=True)
        status, found = without_a_board(tmp_path, broker.port)
        other.close()
    finally:
        os.close(master)
        os.close(slave)
    assert status == 1
    assert f"(process {os.getpid()}): close that one" in found["source board"][1]


@pytest.mark.parametrize("says", [b"", b"Hello from a printer\r\n"])
def test_a_device_that_is_no_board_gets_the_command_that_makes_it_one(
    tmp_path: Path, broker: Mosquitto, says: bytes
) -> None:
    async def main() -> tuple[int, dict[str, tuple[str, str]]]:
        master, slave = os.openpty()
        tty.setraw(slave)
        os.set_blocking(master, False)
        (tmp_path / "board-t1").symlink_to(os.ttyname(slave))
        talking = asyncio.create_task(talk(master))
        try:
            return await examined(tmp_path, configured(tmp_path, broker.port))
        finally:
            talking.cancel()
            os.close(slave)
            os.close(master)

    async def talk(master: int) -> None:
        while says:
            os.write(master, says)
            await asyncio.sleep(0.5)

    status, found = asyncio.run(main())
    assert status == 1
    verdict, sentence = found["source board"]
    assert verdict == "WRONG"
    assert f"make -C firmware flash PORT={tmp_path}/board-t1" in sentence
    assert ("no Pocketbeam board" in sentence) is bool(says)


def test_a_board_of_another_protocol_gets_the_command_too(tmp_path: Path, broker: Mosquitto) -> None:
    async def main() -> tuple[int, dict[str, tuple[str, str]]]:
        async with board(tmp_path, protocol=9):
            return await examined(tmp_path, configured(tmp_path, broker.port))

    status, found = asyncio.run(main())
    assert status == 1
    assert "the board speaks protocol 9 (firmware 1.0.0), this program protocol 1" in found["source board"][1]
    assert "flash it with make -C firmware flash PORT=" in found["source board"][1]


# -- the broker ----------------------------------------------------------------------------------------


def with_broker(directory: Path, extra: str) -> tuple[str, str]:
    where = directory / "broker"
    where.mkdir()
    with mosquitto(where, extra=extra) as running:
        return without_a_board(directory, running.port)[1]["broker"]


def test_no_broker(tmp_path: Path) -> None:
    _, found = without_a_board(tmp_path, free_port())
    assert found["broker"][0] == "WRONG"
    assert "is the broker running?" in found["broker"][1]


def test_a_broker_that_keeps_nothing(tmp_path: Path) -> None:
    verdict, sentence = with_broker(tmp_path, "retain_available false")
    assert verdict == "WRONG"
    assert "use another broker" in sentence


def test_a_broker_that_lets_nobody_write(tmp_path: Path) -> None:
    rights = tmp_path / "rights"
    rights.write_text("topic read pocketbeam/#\n")
    verdict, sentence = with_broker(tmp_path, f"acl_file {rights}")
    assert verdict == "WRONG"
    assert "is writing there allowed?" in sentence


# -- the journal and the file --------------------------------------------------------------------------


def test_a_damaged_journal(tmp_path: Path, broker: Mosquitto) -> None:
    config = configured(tmp_path, broker.port)
    (tmp_path / "state-t1" / "journal.sqlite").write_bytes(b"no journal " * 500)
    status, found = asyncio.run(examined(tmp_path, config))
    assert status == 1
    assert found["journal"][0] == "WRONG"
    assert "journal.sqlite" in found["journal"][1]


def test_a_state_directory_that_is_a_file(tmp_path: Path, broker: Mosquitto) -> None:
    config = configured(tmp_path, broker.port, replace={"state-t1": "state-t1/file/inner"})
    (tmp_path / "state-t1" / "file").touch()
    status, found = asyncio.run(examined(tmp_path, config))
    assert status == 1
    assert found["journal"] == ("WRONG", f"{tmp_path}/state-t1/file is a file: state_dir must be a directory")


def test_a_file_that_is_wrong_is_wrong_use(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text('[table]\nid = "t1"\ngame = "chess"\n')
    status, out, err = ran(tmp_path, "doctor", "--config", str(file))
    assert (status, out) == (2, "")
    assert "table.game" in err


# -- beside a daemon -----------------------------------------------------------------------------------


def beside_a_daemon(
    directory: Path, broker_port: int, told: Callable[[str], bool], levels: dict[int, int], protocol: int = 1
) -> tuple[int, dict[str, tuple[str, str]], list[str], int]:
    """What the doctor says while a daemon runs whose health is as `told` likes it, and the events meanwhile."""

    async def main() -> tuple[int, dict[str, tuple[str, str]], list[str], int]:
        config = configured(directory, broker_port, add=BUTTON)
        at_rest = {**RELEASED, **levels}
        there = board(directory, levels=at_rest, protocol=protocol)
        async with there, recorder(broker_port, "pocketbeam/t1/#") as heard:
            with program(directory, "run", "--config", str(config)) as daemon:
                await heard.wait_for(lambda h: told(newest_health(h)))
                before = len(heard.payloads("pocketbeam/t1/event"))
                status, found = await examined(directory, config)
                return status, found, heard.payloads("pocketbeam/t1/event")[before:], daemon.process.pid

    return asyncio.run(main())


def newest_health(heard: Recorder) -> str:
    """What the daemon that runs now has said; what the broker retains is of one before it."""
    found = [m.payload for m in heard.messages if m.topic == "pocketbeam/t1/health" and not m.retained]
    return found[-1] if found else ""


def test_beside_a_daemon_its_own_word_is_told_and_its_port_is_left_alone(tmp_path: Path, broker: Mosquitto) -> None:
    def told(health: str) -> bool:
        return '"board":{"state":"ok"' in health and '"ne":{"state":"ok"' in health

    status, found, events, pid = beside_a_daemon(tmp_path, broker.port, told, {})
    assert status == 0, found
    assert found["daemon"] == ("well", f"process {pid} runs the table; this is what it says of itself")
    assert found["source board"] == ("well", "simulated board, firmware 1.0.0, protocol 1, 24 inputs")
    assert found["beam ne"] == ("well", "clear; 0 passages, 0 glitches")
    assert found["button done-1"][0] == "well"
    assert found["journal"] == ("well", "the score is safe")
    # The start's own events may come after the first word on its health.
    assert {json.loads(event)["event"] for event in events} <= {"match_started", "source_back"}


def test_beside_a_daemon_a_blocked_beam_is_wrong(tmp_path: Path, broker: Mosquitto) -> None:
    status, found, _, _ = beside_a_daemon(tmp_path, broker.port, lambda h: '"ne":{"state":"blocked"' in h, {0: 1})
    assert status == 1
    assert found["beam ne"][0] == "WRONG"
    assert found["beam ne"][1].startswith("blocked: ")


def test_beside_a_daemon_a_board_of_another_protocol_gets_the_command(tmp_path: Path, broker: Mosquitto) -> None:
    status, found, _, _ = beside_a_daemon(tmp_path, broker.port, lambda h: "speaks protocol 9" in h, {}, protocol=9)
    assert status == 1
    assert found["source board"] == (
        "WRONG",
        "the board speaks protocol 9, this program protocol 1: flash the firmware that belongs to this program; "
        f"stop the daemon, then flash it with make -C firmware flash PORT={tmp_path}/board-t1 (docs/flashing.md)",
    )


def test_a_muted_input_is_told_at_its_source_and_at_its_beam(tmp_path: Path, broker: Mosquitto) -> None:
    async def main() -> tuple[int, dict[str, tuple[str, str]]]:
        config = configured(tmp_path, broker.port, add=BUTTON)
        async with board(tmp_path, levels=RELEASED) as line:
            line.mcu.mute(2)
            return await examined(tmp_path, config)

    status, found = asyncio.run(main())
    assert status == 1
    muted = "it changes thousands of times a second, so the board does not listen to it: look at its sensor and wire"
    assert found["beam se"] == ("WRONG", muted)
    assert found["source board"] == (
        "WRONG",
        f"simulated board, firmware 1.0.0, protocol 1, 24 inputs; channel 2: {muted}",
    )
    assert found["beam ne"] == ("well", "clear")


def test_a_daemon_on_another_broker_is_not_heard(tmp_path: Path, broker: Mosquitto) -> None:
    async def main() -> tuple[int, dict[str, tuple[str, str]]]:
        config = configured(tmp_path, broker.port)
        async with board(tmp_path), recorder(broker.port, "pocketbeam/t1/#") as heard:
            with program(tmp_path, "run", "--config", str(config)):
                await heard.wait_for(newest_health)
                where = tmp_path / "other"
                where.mkdir()
                with mosquitto(where) as other:
                    elsewhere = config.with_name("elsewhere.toml")
                    elsewhere.write_text(config.read_text().replace(f"port = {broker.port}", f"port = {other.port}"))
                    return await examined(tmp_path, elsewhere)

    status, found = asyncio.run(main())
    assert status == 1
    assert "does the daemon's [mqtt] section name the same broker?" in found["broker"][1]
