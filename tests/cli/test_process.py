"""The command line as a process: its statuses, its signals, and what a terminal can do to it."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from appliance import __version__, cli

ROOT = Path(__file__).resolve().parents[2]


def _pocketbeam(*arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "appliance", *arguments]
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        command, cwd=ROOT, text=True, capture_output=True, check=False, timeout=60, **more
    )


@pytest.mark.real
def test_version_is_told_without_loading_anything_heavy() -> None:
    done = _pocketbeam("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"pocketbeam {__version__}\n", "")
    heavy = ["pydantic", "asyncio", "aiomqtt", "paho", "sqlite3", "serial", "websockets", "amqtt", "sim"]
    probe = f"""
import sys
from appliance import cli
try: cli.main(["--version"])
except SystemExit: pass
print([name for name in {heavy} if name in sys.modules])
"""
    command = [sys.executable, "-c", probe]
    loaded = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert loaded.stdout.splitlines()[-1] == "[]"


@pytest.mark.real
def test_control_c_ends_quietly_with_130() -> None:
    command = [sys.executable, "-m", "appliance", "score", "money_carrom"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as score:
        assert score.stdin is not None
        assert score.stdout is not None
        assert score.stderr is not None
        score.stdin.write(b'{"type": "stroke", "pocketed": []}\n')
        score.stdin.flush()
        assert score.stdout.readline().startswith(b"{"), "it waits for the next line now"
        score.send_signal(signal.SIGINT)
        assert score.wait(timeout=30) == 130
        assert score.stderr.read() == b""


@pytest.mark.real
@pytest.mark.parametrize("module", ["argparse", "appliance.cli.over_mqtt", "appliance.score"])
def test_control_c_while_it_still_loads_is_as_quiet(module: str) -> None:
    script = f"""
import sys
class Interrupted:
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
from appliance.cli import main
sys.exit(main(["score", "club_carrom"]))
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.real
def test_a_reader_that_goes_away_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "appliance", "schema"]
    with os.fdopen(write, "wb") as pipe:
        done = subprocess.run(command, cwd=ROOT, stdout=pipe, stderr=subprocess.PIPE, check=False, timeout=60)
    assert done.returncode == 141
    assert done.stderr == b""


@pytest.mark.real
def test_a_full_disk_is_one_sentence() -> None:
    command = [sys.executable, "-m", "appliance", "schema"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (1, b"pocketbeam: No space left on device\n")


@pytest.mark.real
def test_letters_that_the_terminal_does_not_know_are_no_error(tmp_path: Path) -> None:
    file = tmp_path / "עידו.toml"
    file.write_text(f'[table]\nid = "t"\ngame = "club_carrom"\nstate_dir = "{tmp_path}/state"\n', "utf-8")
    command = [sys.executable, "-m", "appliance", "check-config", str(file)]
    known = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=ROOT, env=known, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert r"\u05e2\u05d9\u05d3\u05d5.toml" in done.stdout


@pytest.mark.real
def test_send_without_a_broker_is_something_wrong_not_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound, not listening: nobody answers there
        broker = f"127.0.0.1:{unused.getsockname()[1]}"
        assert cli.main(["send", "--broker", broker, "--table", "t", "undo"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert broker in err
    assert err.count("\n") == 1
