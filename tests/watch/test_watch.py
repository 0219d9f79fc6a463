"""`pocketbeam watch` beside a running table: as lines, on a terminal, and where there is nothing to watch."""

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.brokers import HOST, Mosquitto, mosquitto, recorder, until
from tests.support.processes import ROOT, Program, board, configured, program, pulse, ran

pytestmark = pytest.mark.real

BASE = "pocketbeam/t1"
BUTTON = '\n[[buttons]]\nid = "done-1"\nsource = "board"\nchannel = 16\naction = "done"\nplayer = 1\n'


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    with mosquitto(tmp_path_factory.mktemp("broker")) as running:
        yield running


@pytest.mark.parametrize("by", ["config", "broker"])
def test_as_lines_it_tells_every_change_and_ends_well(tmp_path: Path, broker: Mosquitto, by: str) -> None:
    async def main() -> None:
        config = configured(tmp_path, broker.port, add=BUTTON)
        where = {
            "config": ("--config", str(config)),
            "broker": ("--broker", f"{HOST}:{broker.port}", "--table", "t1"),
        }[by]
        async with board(tmp_path, levels={16: 1}) as line, recorder(broker.port, f"{BASE}/#", qos=0) as heard:
            with program(tmp_path, "run", "--config", str(config)):
                await heard.wait_for(lambda h: '"source_back"' in "".join(h.payloads(f"{BASE}/event")))
                with program(tmp_path, "watch", *where) as watching:
                    await heard.wait_for(lambda h: h.payloads(f"{BASE}/beam/ne"))
                    await until(lambda: " ne clear" in watching.out, what="the watcher knows the level")
                    await pulse(line, 0, 30)
                    await until(lambda: re.search(r" ne passage p1 [345]\d\.\d ms", watching.out), what="a passage")
                    assert re.search(r"\d\d:\d\d:\d\d\.\d{3} ne broken\n", watching.out)
                    if by == "config":
                        await pulse(line, 16, 60, active=0)
                        await until(lambda: " done-1 clear" in watching.out, what="a button")
                    watching.signal(signal.SIGINT)
                    assert await asyncio.to_thread(watching.wait) == 0
                    assert watching.err == ""
                    assert "the table is online" in watching.out
                    assert "\x1b" not in watching.out

    asyncio.run(main())


def test_a_table_that_goes_and_comes_back_is_watched_again(tmp_path: Path, broker: Mosquitto) -> None:
    async def main() -> None:
        config = configured(tmp_path, broker.port)
        async with board(tmp_path) as line:
            with program(tmp_path, "watch", "--config", str(config)) as watching:
                with program(tmp_path, "run", "--config", str(config)) as running:
                    await until(lambda: "the table is online" in watching.out)
                    running.signal(signal.SIGTERM)
                    await asyncio.to_thread(running.wait)
                    await until(lambda: "the table is offline" in watching.out)
                with program(tmp_path, "run", "--config", str(config)):
                    await until(lambda: watching.out.count("the table is online") == 2)
                    await until(lambda: "source board: ok" in watching.out)
                    assert line.mcu is not None

    asyncio.run(main())


def test_on_a_terminal_the_screen_is_drawn_again_and_the_cursor_comes_back(tmp_path: Path, broker: Mosquitto) -> None:
    async def main() -> bytes:
        config = configured(tmp_path, broker.port)
        async with board(tmp_path) as line, recorder(broker.port, f"{BASE}/#", qos=0) as heard:
            with program(tmp_path, "run", "--config", str(config)):
                await heard.wait_for(lambda h: '"source_back"' in "".join(h.payloads(f"{BASE}/event")))
                master, slave = os.openpty()
                os.set_blocking(master, False)
                arguments = [sys.executable, "-m", "appliance", "watch", "--config", str(config)]
                process = subprocess.Popen(arguments, cwd=ROOT, stdin=slave, stdout=slave, stderr=slave)  # noqa: ASYNC220
                os.close(slave)
                seen = b""

                def shown(pattern: bytes) -> bool:
                    nonlocal seen
                    with contextlib.suppress(OSError):
                        seen += os.read(master, 65_536)
                    return re.search(pattern, seen) is not None

                try:
                    await until(lambda: shown(b"clear"), 40, what="a level on the screen")
                    await pulse(line, 1, 25)
                    await until(lambda: shown(rb"nw +clear.* [234]\d\.\d"), what="a width on the screen")
                    process.send_signal(signal.SIGINT)
                    assert await asyncio.to_thread(process.wait, 10) == 0
                    await until(lambda: shown(rb"\x1b\[\?25h"), what="the cursor")
                finally:
                    process.kill()
                    process.wait()
                    os.close(master)
                return seen

    assert asyncio.run(main()).startswith(b"\x1b[?25l\x1b[2J")


def test_a_table_that_does_not_know_diagnostics_is_watched_by_its_health(tmp_path: Path, broker: Mosquitto) -> None:
    async def main() -> None:
        async with recorder(broker.port, "pocketbeam/old/request") as heard:
            with program(tmp_path, "watch", "--broker", f"{HOST}:{broker.port}", "--table", "old") as watching:
                await heard.wait_for(lambda h: h.messages)
                asked = json.loads(heard.messages[0].payload)
                refused = {"transaction": asked["transaction"], "ok": False, "error": {"code": "unknown_command"}}
                await heard.publish("pocketbeam/old/response", json.dumps(refused))
                await until(lambda: "it is watched by its health alone" in watching.out)
                await heard.publish("pocketbeam/old/health", "{}")
                await until(lambda: "health carries something that is no document of a table" in watching.out)

    asyncio.run(main())


def test_without_a_broker_it_says_so_and_looks_again(tmp_path: Path) -> None:
    async def main() -> Program:
        late = Mosquitto(tmp_path)
        with program(tmp_path, "watch", "--broker", f"{HOST}:{late.port}", "--table", "t1") as watching:
            await until(lambda: f"nothing listens at {HOST}:{late.port}" in watching.out)
            port = late.port
            late.start()
            try:
                assert late.port == port, "somebody took the port meanwhile"
                async with recorder(port, f"{BASE}/request") as heard:
                    await heard.wait_for(lambda h: h.messages)
            finally:
                late.stop()
            assert watching.out.count("nothing listens") == 1
            watching.signal(signal.SIGINT)
            assert await asyncio.to_thread(watching.wait) == 0
            return watching

    assert asyncio.run(main()).err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--broker", "127.0.0.1:1883"),
        ("--table", "t1"),
        ("--config", "x", "--broker", "127.0.0.1:1883", "--table", "t1"),
        ("--broker", "127.0.0.1:1883", "--table", "T 1"),
    ],
)
def test_wrong_use_is_one_sentence(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    status, out, err = ran(tmp_path, "watch", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
