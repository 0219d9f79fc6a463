"""`pocketbeam send`: one request from a shell, with its answer or one sentence."""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from appliance import cli
from appliance.mqtt.client import MqttLink
from appliance.mqtt.requester import RequesterError, send
from appliance.mqtt.topics import Message
from tests.support import brokers
from tests.support.brokers import HOST, Mosquitto, Settings, recorder, until
from tests.support.ports import free_port

CONFIGURATION = """
[table]
id = "club-1"
game = "club_carrom"
players = ["Asha", "Ben"]
state_dir = "{directory}"
[mqtt]
port = {port}
username = "umpire"
password_file = "{directory}/secret"
"""


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    with brokers.mosquitto(tmp_path_factory.mktemp("broker")) as running:
        yield running


@contextlib.asynccontextmanager
async def answering(settings: Settings, *before: str, refuses: bool = False) -> AsyncIterator[list[dict[str, Any]]]:
    """A table that answers every request, after having said `before` under the same topic; what it was asked."""
    asked: list[dict[str, Any]] = []
    connected: list[bool] = []

    def answer(payload: bytes, retained: bool) -> None:
        request = json.loads(payload)
        asked.append(request)
        done = {"ok": False, "error": {"code": "outdated", "message": "Too late."}} if refuses else {"ok": True}
        for text in (*before, json.dumps({"transaction": request["transaction"], "seq": 7, **done})):
            link.publish(Message("pocketbeam/club-1/response", text, False, 1))

    link = MqttLink(settings, "club-1", on_request=answer, on_connection=lambda up, reason: connected.append(up))
    task = asyncio.create_task(link.run())
    try:
        await until(lambda: connected)
        yield asked
    finally:
        task.cancel()
        await task


@pytest.mark.real
def test_the_answer_to_this_request_and_to_no_other_comes_back(broker: Mosquitto) -> None:
    others = ("no JSON", "[1]", '{"transaction": "somebody else", "ok": false}')

    async def run() -> None:
        async with answering(broker.settings, *others) as asked:
            for fields in ({"player": 2}, {}):
                answer = await send(broker.settings, "club-1", "end_stroke", fields, 10)
                assert answer["ok"] is True
                assert answer["seq"] == 7
                assert asked[-1] == {"command": "end_stroke", "transaction": answer["transaction"], **fields}
            assert asked[0]["transaction"] != asked[1]["transaction"]
            mine = await send(broker.settings, "club-1", "undo", {"transaction": "mine"}, 10)
            assert mine["transaction"] == "mine"

    asyncio.run(run())


@pytest.mark.real
@pytest.mark.parametrize(
    ("availability", "words"),
    [
        (None, "did not answer within 0.3 s, and nothing was ever heard of it at {where}: is the id right?"),
        ("offline", "did not answer within 0.3 s: it is offline"),
        ("online", "did not answer within 0.3 s, though it is online: may this account send requests?"),
    ],
)
def test_a_table_that_does_not_answer(availability: str | None, words: str, broker: Mosquitto) -> None:
    async def run() -> None:
        async with recorder(broker.port, "nothing") as somebody:
            await somebody.publish("pocketbeam/club-9/availability", availability, retain=True)
            with pytest.raises(RequesterError) as told:
                await send(broker.settings, "club-9", "undo", {}, 0.3)
        assert str(told.value) == f'the table "club-9" {words.format(where=f"{HOST}:{broker.port}")}'

    asyncio.run(run())


@pytest.mark.real
def test_a_broker_that_is_not_there() -> None:
    port = free_port()
    with pytest.raises(RequesterError, match=f"^nothing listens at 127.0.0.1:{port}: is the broker running"):
        asyncio.run(send(Settings(port), "club-1", "undo", {}))


@pytest.mark.real
def test_a_server_that_is_no_broker() -> None:
    with socket.create_server((HOST, 0)) as deaf:
        port = deaf.getsockname()[1]
        with pytest.raises(RequesterError, match=f"^the broker at {HOST}:{port} did not answer within 0.3 s$"):
            asyncio.run(send(Settings(port), "club-1", "undo", {}, 0.3))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"transaction": 7}, "a transaction is a text of 1 to 200 characters"),
        ({"transaction": ""}, "a transaction is a text of 1 to 200 characters"),
        ({"transaction": "x" * 201}, "a transaction is a text of 1 to 200 characters"),
        ({"note": "x" * 17_000}, "a table reads 16384"),
    ],
)
def test_what_no_table_could_answer_is_not_sent(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        asyncio.run(send(Settings(1), "club-1", "undo", fields))


# --- the command --------------------------------------------------------------------------------------------


@contextlib.contextmanager
def table(settings: Settings, *, refuses: bool = False) -> Iterator[list[dict[str, Any]]]:
    """The same table in a thread, for a command that waits; what it was asked."""
    asked: list[dict[str, Any]] = []
    ready, over = threading.Event(), threading.Event()

    async def run() -> None:
        async with answering(settings, refuses=refuses) as requests:
            ready.set()
            await asyncio.to_thread(over.wait)
            asked.extend(requests)

    thread = threading.Thread(target=asyncio.run, args=[run()])
    thread.start()
    try:
        assert ready.wait(10)
        yield asked
    finally:
        over.set()
        thread.join()


@pytest.mark.real
def test_fields_are_json_where_they_are_json_and_text_where_not(
    broker: Mosquitto, capsys: pytest.CaptureFixture[str]
) -> None:
    to = ["send", "--broker", f"{HOST}:{broker.port}", "--table", "club-1"]
    with table(broker.settings) as asked:
        assert cli.main([*to, "correct", "stroke=12", 'pocketed=["white","queen"]', "void=false", "object=white"]) == 0
        assert (
            cli.main([*to, "--expected-seq", "41", "--transaction", "t-1", "players", 'names=["1","Élodie 🎯"]']) == 0
        )
        assert cli.main([*to, "answer", "value=NaN", "question=q7", "out={"]) == 0
        assert cli.main([*to, "undo", "note=a=b", "empty="]) == 0
    out, err = capsys.readouterr()
    answers = [json.loads(line) for line in out.splitlines()]
    assert err == ""
    assert [answer["transaction"] for answer in answers] == [request["transaction"] for request in asked]
    mine = asked[1].pop("transaction")
    assert mine == "t-1"
    for request in (asked[0], *asked[2:]):
        assert len(request.pop("transaction")) == 16
    assert asked == [
        {"command": "correct", "stroke": 12, "pocketed": ["white", "queen"], "void": False, "object": "white"},
        {"command": "players", "expected_seq": 41, "names": ["1", "Élodie 🎯"]},
        {"command": "answer", "value": "NaN", "question": "q7", "out": "{"},
        {"command": "undo", "note": "a=b", "empty": ""},
    ]


@pytest.mark.real
def test_a_refusal_is_told_on_both_outputs_and_by_the_status(
    broker: Mosquitto, capsys: pytest.CaptureFixture[str]
) -> None:
    with table(broker.settings, refuses=True):
        status = cli.main(["send", "--broker", f"{HOST}:{broker.port}", "--table", "club-1", "undo"])
    out, err = capsys.readouterr()
    assert status == 1
    assert json.loads(out)["error"]["code"] == "outdated"
    assert err == "pocketbeam: club-1 refuses it: Too late.\n"


@pytest.mark.real
def test_it_has_the_account_of_the_tables_file_or_of_its_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hashed, secret, wrong = (tmp_path / name for name in ("passwords", "secret", "wrong"))
    hashed.touch()
    for name in ("umpire", "club-1"):
        subprocess.run(["mosquitto_passwd", "-b", str(hashed), name, "geheim"], check=True, timeout=10)
    for file, word in ((secret, "geheim"), (wrong, "falsch")):
        file.write_text(f"{word}\n")
        file.chmod(0o600)
    with brokers.mosquitto(tmp_path, extra=f"allow_anonymous false\npassword_file {hashed}") as guarded:
        config = tmp_path / "club-1.toml"
        config.write_text(CONFIGURATION.format(directory=tmp_path, port=guarded.port))
        to = ["send", "--broker", f"{HOST}:{guarded.port}", "--table", "club-1"]
        with table(Settings(guarded.port, username="club-1", password_file=secret)) as asked:
            assert cli.main(["send", "--config", str(config), "undo"]) == 0
            assert cli.main([*to, "--username", "umpire", "--password-file", str(secret), "undo"]) == 0
            capsys.readouterr()
            assert cli.main([*to, "--username", "umpire", "--password-file", str(wrong), "undo"]) == 1
            assert cli.main([*to, "undo"]) == 1
        err = capsys.readouterr().err
        assert err.count("check user name, password and rights") == 2
        assert "falsch" not in err
        assert len(asked) == 2


TO = ["send", "--broker", "h:1", "--table", "t"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*TO, "undo", "x"], '"x" is not key=value'),
        ([*TO, "undo", "=x"], '"=x" is not key=value'),
        ([*TO, "undo", "player=1", "player=2"], '"player" is there twice'),
        ([*TO, "undo", "command=redo"], '"command" is there twice'),
        ([*TO, "--expected-seq", "4", "undo", "expected_seq=5"], '"expected_seq" is there twice'),
        ([*TO, "--expected-seq", "now", "undo"], '"now" is not a whole number'),
        ([*TO, "--timeout", "0", "undo"], '"0" is no number of seconds'),
        ([*TO, "--transaction", "", "undo"], "a transaction is a text of 1 to 200 characters"),
        ([*TO, "undo", "transaction=7"], "a transaction is a text of 1 to 200 characters"),
        ([*TO, "undo", os.fsdecode(b"note=\xff")], "the value of 'note' is not UTF-8"),
    ],
)
def test_wrong_use_is_one_sentence(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert err.count("\n") == 1
