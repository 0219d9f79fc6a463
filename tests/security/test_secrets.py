"""Passwords and keys stay in their files: everything that a table and its commands say is looked through for them."""

import asyncio
import contextlib
import json
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.asyncio.client import connect as open_websocket
from websockets.typing import Subprotocol

from appliance.cli import main
from tests.security.lan import ACCOUNTS, Lan, lan
from tests.support.brokers import until
from tests.support.processes import ROOT, fetch, program, ran
from tests.web.packets import connect, publish, subscribe

pytestmark = pytest.mark.real

WRONG = "canary-that-is-no-password"


@pytest.fixture(scope="module")
def broker() -> Iterator[Lan]:
    with lan() as running:
        yield running


def table(directory: Path, broker: Lan, password_file: Path, name: str = "hall", add: str = "") -> Path:
    """A table that is scored by hand, at that broker."""
    file = directory / f"{name}.toml"
    file.write_text(
        f'[table]\nid = "{name}"\ngame = "club_carrom"\nplayers = ["Asha", "Ben"]\nstate_dir = "state-{name}"\n'
        f'[mqtt]\nhost = "localhost"\nport = {broker.ports.tls}\nusername = "appliance"\n'
        f'password_file = "{password_file}"\ntls = {{ ca = "{broker.directory}/ca.crt" }}\n{add}',
        encoding="utf-8",
    )
    return file


def test_what_the_command_writes_is_readable_by_whom_it_is_for_and_its_words_hold_no_secret(broker: Lan) -> None:
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in broker.directory.iterdir()}
    public = {"ca.crt": 0o644, "server.crt": 0o644, "mosquitto.conf": 0o644, "kept": 0o700}
    secret = {"accounts", "access", "server.key", *(f"{account}.password" for account in ACCOUNTS)}
    assert modes == {**public, **dict.fromkeys(secret, 0o600)}
    for account in ACCOUNTS:
        password = broker.password(account)
        assert re.fullmatch(r"[a-z2-9]{5}(-[a-z2-9]{5}){3}", password)
        assert password not in broker.told
        assert f"{account}.password" in broker.told or account in broker.told
        assert password not in (broker.directory / "accounts").read_text()
    assert len({broker.password(account) for account in ACCOUNTS}) == len(ACCOUNTS)


def all_ran(directory: Path, commands: list[list[str]]) -> list[bytes]:
    """What each of some commands says, one after the other in one process: a busy machine is slow to start them."""
    script = "import json, sys\nfrom appliance.cli import main\n"
    script += f"for words in json.loads({json.dumps(commands)!r}):\n"
    script += "    main(words)\n    print('\\0', end='', flush=True)\n"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=100,
        check=True,
    )
    return done.stdout.split(b"\0")[:-1]


async def through_the_page(port: int) -> bytes:
    """Everything that a page's connection hears, which has no account of its own and tries to undo."""
    heard = b""
    async with open_websocket(f"ws://127.0.0.1:{port}/mqtt", subprotocols=[Subprotocol("mqtt")]) as page:
        await page.send(connect("pocketbeam-hall"))
        await page.send(subscribe("pocketbeam/#"))
        async with asyncio.timeout(20):
            while b"pocketbeam.state/1" not in heard or b"pocketbeam.health/1" not in heard:
                heard += await page.recv(decode=False)
            await page.send(publish("pocketbeam/hall/request", b'{"command": "undo"}'))
            with contextlib.suppress(Exception):
                while True:
                    heard += await page.recv(decode=False)
        assert page.close_code == 1008
        return heard + (page.close_reason or "").encode()


def test_no_secret_is_in_anything_that_is_said_written_or_sent(broker: Lan, tmp_path: Path) -> None:
    password_file = tmp_path / "secret"
    password_file.touch(0o600)
    password_file.write_text(f"{WRONG}\n")
    file = table(tmp_path, broker, password_file, add='[web]\nlisten = "127.0.0.1:0"\n')
    said: dict[str, bytes] = {"broker-config": broker.told.encode()}

    async def run() -> None:
        with program(tmp_path, "run", "--log-level", "debug", "--config", str(file)) as running:
            where = f"localhost:{broker.ports.tls}"
            await until(lambda: f"warning: table hall: the broker at {where} refuses us" in running.err, 30.0)
            status, out, err = await asyncio.to_thread(ran, tmp_path, "doctor", "--config", str(file))
            said["doctor, refused"] = (out + err).encode()
            assert status == 1
            assert f"WRONG  broker         the broker at {where} refuses us" in out

            # The right password is read anew, without a restart.
            password_file.write_text(f"{broker.password('appliance')}\n")
            await until(lambda: "table hall: connected to the broker" in running.err, 30.0)
            async with broker.client("umpire", "pocketbeam/#") as umpire:
                await umpire.publish(
                    "pocketbeam/hall/request", json.dumps({"command": "stroke", "pocketed": ["white"]})
                )
                await umpire.publish("pocketbeam/hall/request", json.dumps({"command": WRONG[:6]}))
                await umpire.wait_for(lambda heard: len(heard.payloads("pocketbeam/hall/response")) == 2, 20.0)
                said["messages"] = repr(umpire.messages).encode()
            address = re.search(r"http://127\.0\.0\.1:(\d+)/", running.err)
            assert address
            said["page"] = await through_the_page(int(address[1]))
            for name in ("", "table.json", "board.js"):
                said[f"/{name}"] = await asyncio.to_thread(fetch, address[0] + name)
            process = Path(f"/proc/{running.process.pid}")
            said.update({name: await asyncio.to_thread((process / name).read_bytes) for name in ("cmdline", "environ")})
            config, state = ("--config", str(file)), ("--state-dir", str(tmp_path / "state-hall"))
            commands = [
                ["doctor", *config],
                ["check-config", *config],
                ["status", *state],
                ["export", "--observations", *state],
                ["record", "-", *config, "--last", "10m"],
                ["backup", *state, str(tmp_path / "backup")],
            ]
            told = await asyncio.to_thread(all_ran, tmp_path, commands)
            said.update({command[0]: words for command, words in zip(commands, told, strict=True)})
        said["log"] = running.err.encode() + running.out.encode()

    asyncio.run(run())
    for path in [tmp_path / "backup", *(tmp_path / "state-hall").rglob("*")]:
        if path.is_file():
            said[str(path)] = path.read_bytes()

    secrets = [WRONG, *(broker.password(account) for account in ACCOUNTS)]
    secrets += (broker.directory / "server.key").read_text().splitlines()[1:-1]
    assert all(words for words in said.values()), [name for name, words in said.items() if not words]
    for secret in secrets:
        assert [name for name, words in said.items() if secret.encode() in words] == []


def test_a_secret_in_the_wrong_place_is_not_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin = '[table]\nid = "t"\ngame = "club_carrom"\nstate_dir = "s"\n[mqtt]\n'
    for line in (f'password = "{WRONG}"', f'host = "appliance:{WRONG}@broker"', f'tls = {{ password = "{WRONG}" }}'):
        (tmp_path / "t.toml").write_text(begin + line)
        assert main(["check-config", str(tmp_path / "t.toml")]) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert "t.toml:6: mqtt" in told.err
        assert WRONG not in told.err


def test_a_password_that_everybody_can_read_is_told_of(
    broker: Lan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    password_file = tmp_path / "secret"
    password_file.write_text(broker.password("appliance"))
    password_file.chmod(0o644)
    file = table(tmp_path, broker, password_file, "open")
    sentence = f"{password_file} can be read by everybody on this machine: chmod o-r {password_file}"
    with program(tmp_path, "run", "--config", str(file)) as running:
        asyncio.run(until(lambda: "is ready" in running.err, 30.0))
        assert f"warning: {file}:10: mqtt.password_file: {sentence}" in running.err
    for mode, warned in ((0o644, True), (0o640, False), (0o600, False)):
        password_file.chmod(mode)
        assert main(["check-config", str(file)]) == 0
        assert (sentence in capsys.readouterr().out) == warned
