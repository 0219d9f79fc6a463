"""The demo as a process: whole matches at full speed, its page, and its end at Ctrl-C."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from appliance import rules
from tests.support.brokers import HOST, Mosquitto, mosquitto, recorder
from tests.support.kept import scored
from tests.support.processes import ROOT, Program, fetch, program, ran

pytestmark = pytest.mark.real

PLAYERS = {"money_carrom": "Asha,Ben,Chidi", "club_carrom": "Asha,Ben", "new_carrom": "Asha,Ben", "carpetball": "A,B"}
SEED = {"money_carrom": "11", "club_carrom": "1", "new_carrom": "3", "carpetball": "4"}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    with mosquitto(tmp_path_factory.mktemp("broker")) as running:
        yield running


def is_calm(err: str) -> bool:
    """Whether the log tells of no error, and nothing else was written there."""
    assert all(line.startswith(("info: ", "warning: ")) for line in err.splitlines()), err
    return True


def once(directory: Path, game: str, *more: str) -> tuple[dict[str, Any], str]:
    """The final rules as printed, and the truth as written."""
    truth = directory / "truth.jsonl"
    status, out, err = ran(
        directory,
        *("demo", "--once", "--speed", "max", "--game", game, "--players", PLAYERS[game], "--seed", SEED[game]),
        *("--truth", str(truth), "--http-port", "0", *more),
        within_s=100,
    )
    assert status == 0, err
    assert is_calm(err)
    final: dict[str, Any] = json.loads(out.splitlines()[-1])
    return final, truth.read_text("utf-8")


@pytest.mark.parametrize("game", [game for game in rules.GAMES if game != "club_carrom"])
def test_a_match_comes_to_what_was_played_with_the_demos_own_broker(game: str, tmp_path: Path) -> None:
    final, truth = once(tmp_path, game, "--mqtt-port", "0")
    assert final == scored(game, truth)
    assert final["phase"] in ("match_over", "round_over")


@pytest.mark.parametrize("game", rules.GAMES)
def test_a_match_comes_to_what_was_played_over_mosquitto(game: str, tmp_path: Path, broker: Mosquitto) -> None:
    state_dir = tmp_path / "state"

    async def main() -> None:
        async with recorder(broker.port, "pocketbeam/demo/#") as heard:
            where = ("--broker", f"{HOST}:{broker.port}", "--state-dir", str(state_dir))
            final, truth = await asyncio.to_thread(once, tmp_path, game, *where)
            assert final == scored(game, truth)
            await heard.wait_for(lambda h: h.latest["pocketbeam/demo/availability"] == "offline")
            assert json.loads(heard.latest["pocketbeam/demo/state"])["rules"] == final
            events = [json.loads(text) for text in heard.payloads("pocketbeam/demo/event")]
            ids = [event["event_id"] for event in events if not message_of_parts(event)]
            assert len(ids) == len(set(ids))
            lines = [json.loads(line) for line in truth.splitlines()]
            strokes = sum(line["type"] in ("stroke", "throw") for line in lines)
            assert sum(event["event"] == "stroke_closed" for event in events) == strokes

    asyncio.run(main())
    status, out, _ = ran(tmp_path, "export", "--observations", "--state-dir", str(state_dir))
    assert status == 0
    assert scored(game, out) == scored(game, (tmp_path / "truth.jsonl").read_text("utf-8"))


def message_of_parts(event: dict[str, Any]) -> bool:
    return ".parts." in event["event_id"]


def test_the_same_seed_plays_the_same_match(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    first.mkdir()
    second.mkdir()
    assert once(first, "carpetball", "--mqtt-port", "0") == once(second, "carpetball", "--mqtt-port", "0")


def test_a_table_with_a_history_begins_a_match_of_its_own(tmp_path: Path) -> None:
    """A demo that was stopped in mid-match, and then whole ones of other games, all in one journal."""
    where = ("--state-dir", str(tmp_path / "state"), "--mqtt-port", "0")
    with program(tmp_path, "demo", "--http-port", "0", "--speed", "max", *where) as running:
        deadline = time.monotonic() + 30
        log = tmp_path / "state" / "journal.sqlite-wal"
        while not log.exists() or log.stat().st_size < 200_000:
            assert time.monotonic() < deadline, running.err
            time.sleep(0.02)
        running.signal(signal.SIGKILL)
        running.process.wait()
    for game in ("carpetball", "money_carrom"):
        final, truth = once(tmp_path, game, *where)
        assert final == scored(game, truth)


def page_of(running: Program, within_s: float = 30.0) -> str:
    """The address that the demo prints."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        found = re.search(r"http://\S+", running.out)
        if found:
            return found.group()
        assert running.process.poll() is None, running.err
        time.sleep(0.02)
    raise AssertionError(f"no page within {within_s} s: {running.out} {running.err}")


def said(running: Program, text: str, within_s: float = 60) -> None:
    """Wait until it says so."""
    deadline = time.monotonic() + within_s
    while text not in running.out:
        assert running.process.poll() is None, running.err
        assert time.monotonic() < deadline, running.out
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_in_mid_play_leaves_nothing(number: signal.Signals, tmp_path: Path, monkeypatch: Any) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    with program(tmp_path, "demo", "--http-port", "0", "--mqtt-port", "0", "--speed", "20") as running:
        page_of(running)
        deadline = time.monotonic() + 20
        while running.out.count("\n") < 6:
            assert time.monotonic() < deadline, running.out
            time.sleep(0.02)
        running.signal(number)
        assert running.wait(10) == 0
        assert running.leaves() == []
        assert is_calm(running.err)
        assert "Stopped." in running.out
    assert list(temporary.iterdir()) == []


def test_ctrl_c_at_full_speed_leaves_no_traceback(tmp_path: Path) -> None:
    with program(tmp_path, "demo", "--http-port", "0", "--mqtt-port", "0", "--speed", "max") as running:
        page_of(running)
        running.signal(signal.SIGINT)
        assert running.wait(10) == 0
        assert is_calm(running.err)


INTERRUPTED_AGAIN = """
import asyncio, os, signal
import sim.demo

class Interrupted(sim.demo.TableDaemon):
    async def stop(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(100):
            await asyncio.sleep(0)
        await super().stop()
        print("The table has stopped.", flush=True)

sim.demo.TableDaemon = Interrupted
raise SystemExit(sim.demo.main(sim.demo.DemoOptions(mqtt_port=0, http_port=0)))
"""


def test_ctrl_c_while_it_stops_does_not_keep_it_from_tidying_up(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED_AGAIN],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            assert running.stdout is not None
            assert any("Ctrl-C stops everything" in line for line in running.stdout)
            running.send_signal(signal.SIGINT)
            rest, err = running.communicate(timeout=15)
        finally:
            running.kill()
    assert rest.splitlines()[-2:] == ["The table has stopped.", "Stopped."]
    assert running.returncode == 0
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def has_not_ended_within(process: "subprocess.Popen[str]", timeout_s: float) -> bool:
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        return True
    return False


def test_ctrl_c_again_and_again_until_it_has_ended_changes_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    with program(tmp_path, "demo", "--http-port", "0", "--mqtt-port", "0", "--speed", "20") as running:
        said(running, "Ctrl-C stops everything")
        deadline = time.monotonic() + 20
        while has_not_ended_within(running.process, 0.01):
            assert time.monotonic() < deadline, running.out
            running.signal(signal.SIGINT)
        assert running.wait(10) == 0, running.err
        assert is_calm(running.err)
        assert running.out.endswith("Stopped.\n")
    assert list(temporary.iterdir()) == []


def test_the_command_for_a_first_look_shows_a_page_that_knows_its_table(tmp_path: Path) -> None:
    """`make demo` as the README says it."""
    with subprocess.Popen(
        ["make", "--silent", "demo", "ARGS=--http-port 0 --mqtt-port 0 --seed 1"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as make:
        try:
            assert make.stdout is not None
            page = next(found.group() for line in make.stdout if (found := re.search(r"http://\S+", line)))
            assert b"<script" in fetch(page)
            assert json.loads(fetch(f"{page}table.json")) == {"base": "pocketbeam", "tables": ["demo"], "may_ask": True}
            with urllib.request.urlopen(page, timeout=5) as answer:
                assert answer.headers.get_content_type() == "text/html"
            os.killpg(make.pid, signal.SIGINT)  # as a terminal does at Ctrl-C
            rest, said = make.communicate(timeout=15)
            assert "Stopped." in rest
            assert is_calm(said)
        finally:
            if make.poll() is None:
                os.killpg(make.pid, signal.SIGKILL)


def test_whoever_changes_the_score_only_makes_the_players_begin_again(tmp_path: Path) -> None:
    """The umpire's calls no longer fit; a demonstration that ends for that would be a poor one."""
    with program(tmp_path, "demo", "--http-port", "0", "--mqtt-port", "0", "--seed", "1", "--speed", "60") as running:
        page_of(running)
        said(running, "Playing club_carrom")
        found = re.search(r"Broker: +(\S+),", running.out)
        assert found is not None
        to_the_table = ("send", "--broker", found[1], "--table", "demo")
        status, _, err = ran(tmp_path, *to_the_table, "new_match", "game=carpetball", "abandon=true")
        assert status == 0, err
        said(running, "the players begin a new match")
        assert is_calm(running.err)


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["--game", "club_carrom", "--players", "A,B,C"], 2, "2 or 4 players, not by 3"),
        (["--game", "money_carrom", "--players", "A"], 2, "2 to 4 players, not by 1"),
        (
            ["--broker", "127.0.0.1:1", "--once", "--speed", "max", "--http-port", "0"],
            1,
            "nothing listens at 127.0.0.1:1",
        ),
        (["--truth", "/nowhere/truth", "--once", "--speed", "max", "--http-port", "0"], 1, "/nowhere/truth"),
    ],
)
def test_what_cannot_be_is_one_sentence(arguments: list[str], status: int, says: str, tmp_path: Path) -> None:
    found, _, err = ran(tmp_path, "demo", "--seed", "4", "--game", "carpetball", *arguments, within_s=60)
    assert found == status, err
    assert says in err
    assert "Traceback" not in err


def test_a_page_port_that_is_taken_is_told_with_the_demos_own_option(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        found, _, err = ran(tmp_path, "demo", "--http-port", port, "--mqtt-port", "0", within_s=60)
    assert found == 1
    assert f"pocketbeam: the pages cannot have port {port}: Address already in use; leave --http-port out" in err
