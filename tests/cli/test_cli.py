"""The command line: each misuse is one sentence and exit status 2, and what is found wrong is status 1."""

import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance import __version__, cli

ROOT = Path(__file__).resolve().parents[2]
TABLE = '[table]\nid = "t"\ngame = "club_carrom"\n[web]\n'


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "which command?"),
        (["rnu"], 'no command "rnu"; did you mean "run"?'),
        (["--log-level", "debug", "scroe"], 'did you mean "score"?'),
        (["xyzzy"], "it can be demo, run"),
        (["run"], "missing: --config"),
        (["run", "--confg", "x"], "--config"),
        (["demo", "--onec"], 'did you mean "--once"?'),
        (["demo", "--on"], 'no option --on; did you mean "--once"?'),
        (["demo", "--game", "carompetball"], 'did you mean "carpetball"?'),
        (["demo", "--seed", "x"], '"x" is not a whole number'),
        (["demo", "--speed", "0"], '"0" is neither'),
        (["demo", "--speed", "nan"], '"nan" is neither'),
        (["demo", "--http-port", "65536"], '"65536" is not a port'),
        (["demo", "--broker", "localhost"], "HOST:PORT"),
        (["demo", "--players", "Asha,Asha"], "name of their own"),
        (["demo", "--players", "Asha,"], "1 to 40"),
        (["demo", "now"], 'anything with "now"'),
        (["score"], "missing: GAME"),
        (["score", "clubcarrom"], 'did you mean "club_carrom"?'),
        (["score", "club_carrom", "a", "b"], '"b"'),
        (["score", "club_carrom", "/nowhere"], "/nowhere cannot be read: no such file or directory"),
        (["replay", "/nowhere"], "/nowhere cannot be read"),
        (["check-config"], "at least one"),
        (["check-config", "/nowhere"], "/nowhere: cannot be read"),
        (["status", "--state-dir", "/nowhere"], "no directory /nowhere"),
        (["export", "--state-dir", "/nowhere"], "missing: --observations"),
        (["export", "--observations", "--state-dir", "/nowhere"], "no directory /nowhere"),
        (["send", "--broker", "h:1", "--table", "t"], "missing: COMMAND"),
        (["send", "--broker", "h:1", "--table", "t", "undo", "x"], '"x" is not key=value'),
        (["--log-level", "loud", "schema"], "it can be debug, info, warning, error"),
    ],
)
def test_wrong_use_is_one_sentence(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("pocketbeam: ")
    assert err.count("\n") == 1
    assert says in err


def test_check_config_says_everything_at_once_and_its_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    good.write_text(TABLE)
    bad.write_text('[table]\nid = "Bad"\ngame = "club_carrom"\nquite = 1\n')
    assert cli.main(["check-config", str(good)]) == 0
    assert capsys.readouterr().out == f'{good}: table "t" is well\n'
    assert cli.main(["check-config", str(good), "--config", str(bad)]) == 2
    places = [line.split(": ")[1:3] for line in capsys.readouterr().err.splitlines()]
    assert places == [[f"{bad}:2", "table.id"], [f"{bad}:4", "table.quite"]]


def test_check_config_warns_and_is_still_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    doubtful = tmp_path / "doubtful.toml"
    doubtful.write_text(TABLE.replace("[web]\n", ""))
    assert cli.main(["check-config", str(doubtful)]) == 0
    warning, well = capsys.readouterr().out.splitlines()
    assert warning.startswith(f"warning: {doubtful}: no button and no page")
    assert well == f'{doubtful}: table "t" is well'


def test_run_refuses_a_bad_configuration_before_anything_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text(TABLE.replace("club_carrom", "club"))
    assert cli.main(["run", "--config", str(bad)]) == 2
    assert "table.game" in capsys.readouterr().err


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


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("player=1", ("player", 1)),
        ("object=white", ("object", "white")),
        ('names=["Asha","Ben"]', ("names", ["Asha", "Ben"])),
        ("value=true", ("value", True)),
        ("name=a=b", ("name", "a=b")),
        ("name=", ("name", "")),
        ("name=NaN", ("name", "NaN")),
    ],
)
def test_fields_of_a_request_are_json_or_plain_text(text: str, field: tuple[str, object]) -> None:
    assert cli.request_field(text) == field


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["--help"])
    assert end.value.code == 0
    told = capsys.readouterr().out
    for command in ["demo", "run", "status", "score", "check-config", "send", "export", "replay", "schema"]:
        assert f"\n    {command} " in told


# -- logging -------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _log_as_before() -> Iterator[None]:
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    yield
    root.setLevel(level)
    root.handlers[:] = handlers


def test_a_log_line_is_its_level_and_its_words_and_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    cli.set_up_logging("info")
    ours = logging.getLogger("appliance.anything")
    ours.debug("too quiet")
    ours.info("the table is open")
    for _ in range(1000):
        ours.warning("the broker at %s does not answer", "127.0.0.1")
    ours.info("the broker is back")
    logging.getLogger("library").info("chatter")
    assert capsys.readouterr().err.splitlines() == [
        "info: the table is open",
        "warning: the broker at 127.0.0.1 does not answer",
        "info: the broker is back (the line before came 999 times more)",
    ]


def test_the_level_decides_what_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    cli.set_up_logging("error")
    logging.getLogger("appliance.anything").warning("not this")
    logging.getLogger("library").warning("nor this")
    logging.getLogger("appliance.anything").error("this")
    assert capsys.readouterr().err == "error: this\n"
    cli.set_up_logging("debug")
    logging.getLogger("library").debug("and all of this")
    assert "debug: and all of this" in capsys.readouterr().err


# -- as a process --------------------------------------------------------------------------------------


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
def test_a_reader_that_goes_away_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "appliance", "schema"]
    with os.fdopen(write, "wb") as pipe:
        done = subprocess.run(command, cwd=ROOT, stdout=pipe, stderr=subprocess.PIPE, check=False, timeout=60)
    assert done.returncode == 141
    assert done.stderr == b""


@pytest.mark.real
def test_letters_that_the_terminal_does_not_know_are_no_error(tmp_path: Path) -> None:
    file = tmp_path / "עידו.toml"
    file.write_text(f'[table]\nid = "t"\ngame = "club_carrom"\nstate_dir = "{tmp_path}/state"\n', "utf-8")
    command = [sys.executable, "-m", "appliance", "check-config", str(file)]
    known = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=ROOT, env=known, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert r"\u05e2\u05d9\u05d3\u05d5.toml" in done.stdout
