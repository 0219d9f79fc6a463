"""`pocketbeam record`: what was played comes out the same when it is played again, and nobody is named."""

import asyncio
import io
import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance import rules
from appliance.journal import JournalReader
from appliance.replay import replay
from appliance.tools.record import RecordError, write_last
from sim.loop import VirtualClock, VirtualLoop
from sim.players import simulate
from tests.support.brokers import Mosquitto, mosquitto, recorder
from tests.support.processes import board, configured, program, pulse, ran
from tests.support.ring1 import Document, Table, play

DONE = [
    {"id": "done-1", "action": "done", "player": 1},
    {"id": "done-2", "action": "done", "player": 2},
]
A_DAY_S = 86_400.0


def clock(boot_id: str = "virtual-boot-1") -> VirtualClock:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return VirtualClock(loop, boot_id)


def recorded(table: Table, last_s: float = A_DAY_S) -> str:
    """The recording of a table's journal."""
    out = io.StringIO()
    write_last(JournalReader(table.disk.store), table.settings, last_s, clock(), out)
    return out.getvalue()


def played(text: str) -> tuple[list[Document], Document]:
    """The events and the last state of a recording."""
    out, err = io.StringIO(), io.StringIO()
    status = replay([line.encode() for line in text.splitlines()], out, err)
    assert (status, err.getvalue()) == (0, "")
    *events, last = [json.loads(line) for line in out.getvalue().splitlines()]
    return events, last["state"]


def told(events: list[Document]) -> list[Document]:
    """Events of the game, without what depends on when and where."""
    elsewhere = ("at", "table", "clock_synchronised", "event_id", "schema", "players", "options")
    return [
        {key: value for key, value in event.items() if key not in elsewhere}
        for event in events
        if not event["event"].startswith(("source_", "beam_", "journal_"))
    ]


def same(table: Table, text: str) -> None:
    """The recording, played, says what the table said."""
    events, state = played(text)
    assert told(events) == told(table.events())
    for part in ("rules", "stroke", "pending", "questions", "instructions", "paused", "seq"):
        assert state[part] == table.state[part], part


@pytest.mark.parametrize("game", rules.GAMES)
@pytest.mark.parametrize("seed", [2, 9])
def test_a_whole_match_comes_out_the_same_event_by_event(game: str, seed: int) -> None:
    async def main() -> None:
        async with Table(game, unknown_object="ask") as table:
            await table.play(simulate(game, ("Asha", "Ben"), seed))
            same(table, recorded(table))

    play(main())


def test_buttons_answers_undo_and_corrections_come_out_the_same() -> None:
    async def main() -> None:
        async with Table(buttons=DONE, unknown_object="ask") as table:
            await table.pass_object("ne", object="white")
            await table.run_for(1)
            await table.press("done-1")
            await table.run_for(4)
            await table.pass_object("nw")
            await table.run_for(1)
            await table.press("done-1")
            await table.run_for(4)
            await table.request({"command": "answer", "value": "white"})
            await table.request({"command": "undo"})
            await table.request({"command": "redo"})
            await table.request({"command": "correct", "stroke": 2, "pocketed": ["queen"]})
            await table.request({"command": "pause"})
            await table.request({"command": "resume"})
            await table.press("done-2")
            await table.run_for(20)
            same(table, recorded(table))
            assert played(recorded(table, 22.0)) == played(recorded(table)), "an undo needs the match's beginning"

    play(main())


def test_an_open_stroke_and_a_request_refused_come_out_the_same() -> None:
    async def main() -> None:
        async with Table() as table:
            await table.strike()
            await table.pass_object("se", object="black")
            await table.request({"command": "next_board"})
            await table.run_for(1)
            same(table, recorded(table))
            assert table.state["stroke"] is not None

    play(main())


def test_a_daemon_that_was_killed_in_between_makes_no_difference() -> None:
    async def main() -> None:
        async with Table(buttons=DONE) as table:
            await table.pass_object("ne", object="white")
            await table.run_for(1)
            await table.restart()
            await table.until(lambda: table.daemon.is_connected("board"))
            await table.press("done-1")
            await table.run_for(5)
            _, state = played(recorded(table))
            assert state["rules"] == table.state["rules"]
            assert state["rules"]["sides"]["A"]["pocketed"] == 1

    play(main())


def test_a_later_beginning_leaves_out_what_was_before_and_comes_to_the_same() -> None:
    async def main() -> None:
        async with Table() as table:
            for place in ("ne", "nw", "se"):
                await table.strike()
                await table.pass_object(place, object="white")
                await table.run_for(20)
            whole, part = recorded(table), recorded(table, 25.0)
            assert 0 < len(part.splitlines()) < len(whole.splitlines())
            head = json.loads(part.splitlines()[0])
            assert head["start"]["sides"]["A"]["pocketed"] in (1, 2)
            assert played(part)[1]["rules"] == played(whole)[1]["rules"] == table.state["rules"]

    play(main())


def test_nothing_names_people_ports_or_the_broker() -> None:
    async def main() -> None:
        async with Table("money_carrom", ("Asha Ruiz", "Ben Okafor", "Chitra")) as table:
            await table.request({"command": "players", "names": ["Asha Ruiz", "Benjamin", "Chitra"]})
            await table.request({"command": "stroke", "pocketed": ["white"]})
            request = {"command": "new_match", "players": ["Chitra", {"id": "d4", "name": "Dan"}], "abandon": True}
            await table.request(request)
            text = recorded(table)
            for name in ("Asha", "Ben", "Chitra", "Dan", "d4", "/dev/none", "localhost", '"t1"', "/nowhere"):
                assert name not in text
            config = json.loads(text.splitlines()[0])["config"]
            assert config["table"]["players"] == ["P1", "P2", "P3"]
            requests = [line["request"] for line in map(json.loads, text.splitlines()) if "request" in line]
            assert requests[0] == {"command": "players", "names": ["P1", "P4", "P3"]}
            assert requests[2]["players"] == ["P3", "P5"]
            assert played(text)[1]["rules"] == table.state["rules"]

    play(main())


def test_after_a_new_boot_of_the_machine_there_is_no_common_clock() -> None:
    async def main() -> None:
        async with Table(buttons=DONE) as table:
            await table.pass_object("ne", object="white")
            await table.run_for(1)
            await table.restart("virtual-boot-2")
            await table.until(lambda: table.daemon.is_connected("board"))
            with pytest.raises(RecordError, match="the last start of this machine"):
                write_last(
                    JournalReader(table.disk.store), table.settings, A_DAY_S, clock("virtual-boot-2"), io.StringIO()
                )
            await table.press("done-1")
            await table.run_for(10)
            out = io.StringIO()
            write_last(JournalReader(table.disk.store), table.settings, A_DAY_S, clock("virtual-boot-2"), out)
            assert played(out.getvalue())[1]["rules"] == table.state["rules"]

    play(main())


# -- as a process --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    with mosquitto(tmp_path_factory.mktemp("broker")) as running:
        yield running


@pytest.mark.real
def test_beside_a_daemon_play_is_written_as_it_comes(tmp_path: Path, broker: Mosquitto) -> None:
    file = tmp_path / "play.jsonl"

    async def main() -> tuple[Document, str]:
        config = configured(tmp_path, broker.port)
        base = "pocketbeam/t1"
        async with board(tmp_path) as line, recorder(broker.port, f"{base}/#") as heard:
            with program(tmp_path, "run", "--config", str(config)):
                await heard.wait_for(lambda h: '"source_back"' in "".join(h.payloads(f"{base}/event")))
                with program(tmp_path, "record", str(file), "--config", str(config)) as recording:
                    await pulse(line, 4)
                    await pulse(line, 0)
                    line.report_colour(0, "white")
                    await heard.wait_for(lambda h: '"white"' in h.latest.get(f"{base}/state", ""))
                    request = {"transaction": "x", "command": "end_stroke", "player": 1}
                    await heard.publish(f"{base}/request", json.dumps(request))
                    await heard.wait_for(lambda h: h.payloads(f"{base}/response"))
                    while not file.exists() or "end_stroke" not in file.read_text():  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
                    recording.signal(signal.SIGINT)
                    assert await asyncio.to_thread(recording.wait) == 0
                    state: Document = json.loads(heard.latest[f"{base}/state"])
                    return state, recording.err

    state, err = asyncio.run(main())
    assert "6 edges, colours and requests were written" in err
    _, again = played(file.read_text())
    assert again["rules"] == state["rules"]
    assert again["rules"]["sides"]["A"]["pocketed"] == 1


@pytest.mark.real
@pytest.mark.parametrize("game", ["club_carrom", "carpetball"])
def test_a_demo_recorded_from_its_journal_ends_as_it_ended(tmp_path: Path, game: str) -> None:
    config = configured(tmp_path, 1, table="demo", game=game)
    state_dir = str(tmp_path / "state-demo")
    how = ("--once", "--speed", "max", "--seed", "5", "--http-port", "0", "--state-dir", state_dir)
    status, out, err = ran(tmp_path, "demo", "--game", game, *how)
    assert status == 0, err
    file = tmp_path / "demo.jsonl"
    status, _, err = ran(tmp_path, "record", str(file), "--config", str(config), "--last", "1d")
    assert status == 0, err
    assert played(file.read_text())[1]["rules"] == json.loads(out.splitlines()[-1])


@pytest.mark.real
def test_what_cannot_be_recorded_is_one_sentence_and_leaves_no_file(tmp_path: Path) -> None:
    config = str(configured(tmp_path, 1))
    file = tmp_path / "new.jsonl"
    status, _, err = ran(tmp_path, "record", str(file), "--config", config)
    assert status == 1
    assert "no daemon runs this table" in err
    status, _, err = ran(tmp_path, "record", str(file), "--config", config, "--last", "5m")
    assert status == 1
    assert "there is no journal" in err
    assert not file.exists()
    file.write_text("mine")
    status, _, err = ran(tmp_path, "record", str(file), "--config", config, "--last", "5m")
    assert (status, file.read_text()) == (2, "mine")
    assert "file exists" in err
    status, _, err = ran(tmp_path, "record", str(file), "--config", config, "--last", "soon")
    assert status == 2
    assert '"soon" is no time such as' in err
