"""FR-110: what the program writes lies in the table's state directory; its configuration it only reads."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.brokers import mosquitto, recorder
from tests.support.processes import ROOT, configured

pytestmark = pytest.mark.real

WATCHED = """
import os, sys

told = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

def note(event, arguments):
    path = None
    if event == "open":
        path = arguments[0] if arguments[2] & WRITES else None
    elif event == "sqlite3.connect":
        path = arguments[0]
    elif event in ("os.rename", "os.mkdir", "os.remove", "os.symlink", "os.link", "os.truncate"):
        path = arguments[1] if event in ("os.rename", "os.symlink", "os.link") else arguments[0]
    if path is not None and not isinstance(path, int):
        os.write(told, f"{event} {os.fspath(path)}\\n".encode())

from appliance.cli import main
sys.addaudithook(note)
sys.exit(main(sys.argv[2:]))
"""


@contextmanager
def watched(notes: Path, config: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """The program, which notes what it opens to write."""
    process = subprocess.Popen(
        [sys.executable, "-c", WATCHED, str(notes), "run", "--config", str(config)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_the_program_writes_into_its_state_directory_and_nowhere_else(tmp_path: Path) -> None:
    async def main() -> None:
        with mosquitto(tmp_path) as broker:
            config = configured(tmp_path, broker.port, web_listen="127.0.0.1:0")
            before, changed_ns = config.read_bytes(), config.stat().st_mtime_ns
            notes = tmp_path / "notes"
            with watched(notes, config) as process:
                async with recorder(broker.port, "pocketbeam/t1/#") as heard:
                    await heard.wait_for(lambda h: "pocketbeam/t1/state" in h.latest)
                    for transaction, request in (
                        ("a", {"command": "stroke", "pocketed": ["white"]}),
                        ("b", {"command": "players", "names": ["Chidi", "Dana"]}),
                        ("c", {"command": "new_match", "abandon": True, "options": {"cc.target": 4}}),
                    ):
                        payload = json.dumps({**request, "transaction": transaction})
                        await heard.publish("pocketbeam/t1/request", payload)
                        await heard.wait_for(
                            lambda h, t=transaction: any(
                                json.loads(p)["transaction"] == t for p in h.payloads("pocketbeam/t1/response")
                            )
                        )
                    assert all(json.loads(p)["ok"] for p in heard.payloads("pocketbeam/t1/response"))
                process.send_signal(signal.SIGTERM)
                assert process.wait(30) == 0
            state_dir = tmp_path / "state-t1"
            written = [line.partition(" ")[2] for line in notes.read_text("utf-8").splitlines()]
            assert any("journal.sqlite" in path for path in written), "the hook has seen nothing"
            own = (str(state_dir), state_dir.as_uri(), "/dev/null", "file::memory:", str(tmp_path / "board-t1"))
            assert [path for path in written if not path.startswith(own)] == []
            assert (config.read_bytes(), config.stat().st_mtime_ns) == (before, changed_ns)

    asyncio.run(main())
