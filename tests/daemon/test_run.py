"""`pocketbeam run` as a process: a real port, a real journal, a real broker, real signals."""

import asyncio
import contextlib
import json
import os
import random
import signal
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sim.wire import PtyMcu
from tests.support.brokers import HOST, Mosquitto, Recorder, mosquitto, recorder
from tests.support.forked import forked, nursery
from tests.support.kept import scored
from tests.support.ports import free_port
from tests.support.processes import Program, board, configured, fetch, program, pulse, ran

pytestmark = pytest.mark.real

DONE = '\n[[buttons]]\nid = "done-1"\nsource = "board"\nchannel = 16\naction = "done"\nplayer = 1\n'
BUTTON = 16
BASE = "pocketbeam/t1"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    with mosquitto(tmp_path_factory.mktemp("broker")) as running:
        yield running


def state_of(heard: Recorder) -> dict[str, Any] | None:
    text = heard.latest.get(f"{BASE}/state")
    document: dict[str, Any] | None = json.loads(text) if text else None
    return document


def in_state(check: Any) -> Any:
    """A predicate for a recorder: there is a state, and `check` likes it."""

    def look(heard: Recorder) -> Any:
        state = state_of(heard)
        return state is not None and check(state)

    return look


@asynccontextmanager
async def table(directory: Path, port: int, add: str = "") -> AsyncIterator[tuple[PtyMcu, Program, Recorder]]:
    """A board, a daemon and a listener, once they have found each other."""
    config = configured(directory, port, add=add)
    async with board(directory, levels={BUTTON: 1}) as line, recorder(port, f"{BASE}/#") as heard:
        with program(directory, "run", "--config", str(config)) as running:
            await heard.wait_for(lambda h: '"source_back"' in "".join(h.payloads(f"{BASE}/event")))
            yield line, running, heard


def test_passages_and_a_button_become_a_score_and_sigterm_says_goodbye(tmp_path: Path, broker: Mosquitto) -> None:
    async def main() -> None:
        async with table(tmp_path, broker.port, DONE) as (line, running, heard):
            await pulse(line, 4)
            await heard.wait_for(in_state(lambda s: s["stroke"] is not None))
            await pulse(line, 0)
            line.report_colour(0, "white")
            await heard.wait_for(in_state(lambda s: s["stroke"]["fallen"] and s["stroke"]["fallen"][0]["object"]))
            await pulse(line, BUTTON, 60, active=0)
            state = await heard.wait_for(
                in_state(lambda s: s["rules"]["sides"]["A"]["pocketed"] == 1 and s["stroke"] is None)
            )
            assert state
            await line.acknowledged()
            await heard.wait_for(lambda h: h.latest.get(f"{BASE}/left/a") == "8")
            running.signal(signal.SIGTERM)
            assert running.wait() == 0
            await heard.wait_for(lambda h: h.latest[f"{BASE}/availability"] == "offline")
            assert "Traceback" not in running.err
            async with recorder(broker.port, f"{BASE}/#") as newcomer:
                await newcomer.wait_for(in_state(lambda s: s["rules"]["sides"]["A"]["pocketed"] == 1))
                assert all(message.retained for message in newcomer.messages)

    asyncio.run(main())


def test_killed_without_a_word_the_broker_says_offline(tmp_path: Path, broker: Mosquitto) -> None:
    async def main() -> None:
        async with table(tmp_path, broker.port) as (_, running, heard):
            assert heard.latest[f"{BASE}/availability"] == "online"
            running.signal(signal.SIGKILL)
            await heard.wait_for(lambda h: h.latest[f"{BASE}/availability"] == "offline")

    asyncio.run(main())


KILLS = int(os.environ.get("POCKETBEAM_DAEMON_KILLS", "50"))


@pytest.mark.timeout(120 + 3 * KILLS)
def test_killed_at_random_moments_it_counts_everything_once(tmp_path: Path, broker: Mosquitto) -> None:
    """Strokes by hand over passages at the beams: each is one accepted input, whatever is killed when."""
    choose = random.Random(20_260_301)
    config = configured(tmp_path, broker.port, replace={"quiet_time_s = 6": "quiet_time_s = 0"})
    strokes: list[list[str]] = []
    passages = 0

    async def play(line: PtyMcu, heard: Recorder, over: asyncio.Event) -> None:
        nonlocal passages
        while not over.is_set():
            await pulse(line, passages % 4, 5)
            passages += 1
            await asyncio.sleep(choose.uniform(0.0, 0.03))
            pocketed = choose.choice(([], [], ["striker"]))
            strokes.append(list(pocketed))
            await ask(heard, f"s{len(strokes)}", {"command": "stroke", "pocketed": pocketed})

    async def ask(heard: Recorder, transaction: str, request: dict[str, Any]) -> None:
        """Say it until it is answered."""
        payload = json.dumps({**request, "transaction": transaction})
        needle = f'"transaction":"{transaction}"'
        for _ in range(200):
            await heard.publish(f"{BASE}/request", payload)
            try:
                await heard.wait_for(lambda h: any(needle in p for p in h.payloads(f"{BASE}/response")), 0.1)
            except AssertionError:
                continue
            return
        raise AssertionError(f"no answer to {transaction}")

    async def main() -> None:
        over = asyncio.Event()
        async with board(tmp_path) as line, recorder(broker.port, f"{BASE}/#") as heard:
            source = alive.enter_context(nursery())
            playing = asyncio.create_task(play(line, heard, over))
            shown = 0
            for kill in range(KILLS + 1):
                before = len(heard.payloads(f"{BASE}/state"))
                with forked(source, tmp_path, "run", "--config", str(config)) as running:
                    await heard.wait_for(lambda h, before=before: len(h.payloads(f"{BASE}/state")) > before)
                    first = json.loads(heard.payloads(f"{BASE}/state")[before])
                    assert first["seq"] >= shown, "it forgot what it had shown"
                    if kill < KILLS:
                        await asyncio.sleep(choose.uniform(0.0, 0.35))
                        running.signal(signal.SIGKILL)
                        running.wait()
                        shown = json.loads(heard.latest[f"{BASE}/state"])["seq"]
                        assert not playing.done(), playing.result()
                        continue
                    over.set()
                    await playing
                    await asyncio.wait_for(line.acknowledged(), 10)
                    expected = 1 + passages + len(strokes)
                    await heard.wait_for(in_state(lambda s, expected=expected: s["seq"] == expected))
                    running.signal(signal.SIGTERM)
                    assert running.wait() == 0
            state = state_of(heard)
            assert state is not None
            lines = [{"type": "setup"}, *({"type": "stroke", "pocketed": each} for each in strokes)]
            assert state["rules"] == scored("club_carrom", "\n".join(map(json.dumps, lines)))
            told: dict[str, dict[str, Any]] = {}
            for payload in heard.payloads(f"{BASE}/event"):
                event = json.loads(payload)
                if ".parts." not in event["event_id"]:
                    assert told.setdefault(event["event_id"], event) == event
            closed = [event["stroke"] for event in told.values() if event["event"] == "stroke_closed"]
            assert len(closed) == len(set(closed))
            assert line.mcu.counters.lost == 0

    with contextlib.ExitStack() as alive:
        asyncio.run(main())
    assert len(strokes) > KILLS


def test_a_second_daemon_on_the_same_journal_ends_at_once_and_names_the_first(
    tmp_path: Path, broker: Mosquitto
) -> None:
    async def main() -> None:
        async with table(tmp_path, broker.port) as (_, running, heard):
            status, out, err = ran(tmp_path, "run", "--config", str(tmp_path / "t1.toml"), within_s=10)
            assert (status, out) == (1, "")
            assert str(running.process.pid) in err
            assert "Traceback" not in err
            assert running.process.poll() is None
            assert heard.payloads(f"{BASE}/availability")[-1] == "online"

    asyncio.run(main())


def test_a_second_daemon_with_a_journal_of_its_own_does_not_throw_the_first_out(
    tmp_path: Path, broker: Mosquitto
) -> None:
    async def main() -> None:
        async with table(tmp_path, broker.port) as (_, running, heard):
            (tmp_path / "other").mkdir()
            second = configured(tmp_path / "other", broker.port)
            before = heard.payloads(f"{BASE}/availability")
            status, out, err = ran(tmp_path, "run", "--config", str(second), within_s=10)
            assert (status, out) == (1, "")
            assert f"table t1 is already run by process {running.process.pid} at the broker" in err
            assert "Traceback" not in err
            # It has not even been seen: nobody was thrown out, and no journal was begun.
            assert heard.payloads(f"{BASE}/availability") == before
            assert not list((tmp_path / "other" / "state-t1").glob("journal*"))
            running.signal(signal.SIGTERM)
            assert running.wait() == 0
            with program(tmp_path, "run", "--config", str(second)):
                await heard.wait_for(lambda h: h.payloads(f"{BASE}/availability")[-1] == "online")

    asyncio.run(main())


def test_a_broker_that_comes_late_and_one_that_forgets(tmp_path: Path) -> None:
    async def main() -> None:
        late = Mosquitto(tmp_path)
        config = configured(tmp_path, late.port)
        async with board(tmp_path) as line:
            with program(tmp_path, "run", "--config", str(config)) as running:
                await pulse(line, 0)
                await asyncio.wait_for(line.acknowledged(), 15)
                for _ in range(2):
                    late.start()
                    try:
                        async with recorder(late.port, f"{BASE}/#") as heard:
                            await heard.wait_for(in_state(lambda s: len(s["stroke"]["fallen"]) == 1), 20)
                            await heard.wait_for(lambda h: h.latest.get(f"{BASE}/availability") == "online")
                            await heard.wait_for(lambda h: {f"{BASE}/info", f"{BASE}/line"} <= set(h.latest))
                    finally:
                        late.kill()
                running.signal(signal.SIGTERM)
                assert running.wait() == 0
                assert "Traceback" not in running.err

    asyncio.run(main())


def test_two_tables_in_one_process_have_a_journal_and_a_will_each(tmp_path: Path, broker: Mosquitto) -> None:
    async def main() -> None:
        configs = [configured(tmp_path, broker.port, table=name) for name in ("left", "right")]
        arguments = [argument for config in configs for argument in ("--config", str(config))]
        async with (
            board(tmp_path, table="left") as left,
            board(tmp_path, table="right") as right,
            recorder(broker.port, "pocketbeam/left/#", "pocketbeam/right/#") as heard,
        ):
            with program(tmp_path, "run", *arguments) as running:
                for name, line, channel in (("left", left, 0), ("right", right, 3)):
                    await heard.wait_for(lambda h, name=name: f"pocketbeam/{name}/state" in h.latest)
                    await pulse(line, channel)
                    await asyncio.wait_for(line.acknowledged(), 10)
                await heard.wait_for(lambda h: '"place":"ne"' in h.latest["pocketbeam/left/state"])
                await heard.wait_for(lambda h: '"place":"sw"' in h.latest["pocketbeam/right/state"])
                assert '"place":"sw"' not in heard.latest["pocketbeam/left/state"]
                running.signal(signal.SIGKILL)
                for name in ("left", "right"):
                    await heard.wait_for(lambda h, name=name: h.latest[f"pocketbeam/{name}/availability"] == "offline")

    asyncio.run(main())


def test_the_page_and_its_table_are_there(tmp_path: Path, broker: Mosquitto) -> None:
    async def main() -> None:
        port = free_port()
        config = configured(tmp_path, broker.port, web_listen=f"{HOST}:{port}")
        async with recorder(broker.port, f"{BASE}/#") as heard:
            with program(tmp_path, "run", "--config", str(config)) as running:
                await heard.wait_for(lambda h: f"{BASE}/state" in h.latest)
                await until_listening(port)
                page = await asyncio.to_thread(fetch, f"http://{HOST}:{port}/")
                assert b"<script" in page
                where = json.loads(await asyncio.to_thread(fetch, f"http://{HOST}:{port}/table.json"))
                assert where == {"base": "pocketbeam", "tables": ["t1"], "may_ask": True}
                running.signal(signal.SIGINT)
                assert running.wait() == 0
                assert "Traceback" not in running.err

    asyncio.run(main())


def test_send_and_status_and_export_of_a_running_table(tmp_path: Path, broker: Mosquitto) -> None:
    async def main() -> None:
        async with table(tmp_path, broker.port) as (_, _running, heard):
            at = ("send", "--broker", f"{HOST}:{broker.port}", "--table", "t1")
            status, out, _ = await asyncio.to_thread(ran, tmp_path, *at, "stroke", 'pocketed=["white"]')
            assert (status, json.loads(out)["ok"]) == (0, True)
            status, out, _ = await asyncio.to_thread(ran, tmp_path, *at, "next_board")
            assert status == 1
            assert json.loads(out)["error"]["code"] == "wrong_phase"
            where = ("--state-dir", str(tmp_path / "state-t1"))
            status, out, _ = await asyncio.to_thread(ran, tmp_path, "status", *where)
            assert status == 0
            assert "white 8 left" in out
            status, out, _ = await asyncio.to_thread(ran, tmp_path, "export", "--observations", *where)
            state = state_of(heard)
            assert state is not None
            assert scored("club_carrom", out) == state["rules"]

    asyncio.run(main())


def test_a_port_that_is_not_there_is_told_and_the_table_plays_by_hand(tmp_path: Path, broker: Mosquitto) -> None:
    async def main() -> None:
        config = configured(tmp_path, broker.port)
        async with recorder(broker.port, f"{BASE}/#") as heard:
            with program(tmp_path, "run", "--config", str(config)):
                await heard.wait_for(lambda h: '"lost"' in h.latest.get(f"{BASE}/health", ""))
                health = json.loads(heard.latest[f"{BASE}/health"])
                assert "is not there" in health["sources"]["board"]["reason"]
                await heard.publish(f"{BASE}/request", '{"command": "stroke", "pocketed": ["white"]}')
                await heard.wait_for(in_state(lambda s: s["rules"]["sides"]["A"]["pocketed"] == 1))

    asyncio.run(main())


@pytest.mark.parametrize(
    ("replace", "says"),
    [
        ({'game = "club_carrom"': 'game = "club_carom"'}, 'did you mean "club_carrom"'),
        ({'place = "ne"': 'place = "north"'}, "beams"),
        ({"[table]": "[tabel]"}, "table"),
        ({"[table]": "[table"}, "t1.toml:1: is not TOML"),
    ],
)
def test_a_wrong_configuration_is_told_in_sentences(replace: dict[str, str], says: str, tmp_path: Path) -> None:
    config = configured(tmp_path, 1883, replace=replace)
    status, out, err = ran(tmp_path, "run", "--config", str(config))
    assert (status, out) == (2, "")
    assert says in err
    assert all(line.startswith("pocketbeam: ") for line in err.splitlines())


def test_a_state_directory_that_cannot_be_is_one_sentence(tmp_path: Path) -> None:
    config = configured(tmp_path, free_port())
    (tmp_path / "state-t1").rmdir()
    (tmp_path / "state-t1").write_text("in the way")
    status, out, err = ran(tmp_path, "run", "--config", str(config))
    assert (status, out) == (2, "")
    assert "state-t1" in err
    assert err.count("\n") == 1


async def until_listening(port: int) -> None:
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_connection((HOST, port), 0.2).close()
            return
        except OSError:
            assert time.monotonic() < deadline, f"nobody listens at {port}"
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("before", [True, False])
def test_the_level_of_the_log_holds_wherever_it_stands(before: bool, tmp_path: Path) -> None:
    level, command = ("--log-level", "error"), ("run", "--config", str(configured(tmp_path, free_port())))

    async def main() -> None:
        async with board(tmp_path) as line:
            with program(tmp_path, *(*level, *command) if before else (*command, *level)) as running:
                await pulse(line, 0)
                await asyncio.wait_for(line.acknowledged(), 15)
                running.signal(signal.SIGTERM)
                assert running.wait() == 0
                assert running.err == ""

    asyncio.run(main())
