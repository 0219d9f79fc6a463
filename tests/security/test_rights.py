"""What each account may do at the broker that `pocketbeam broker-config` sets up, with real clients over TLS."""

import asyncio
import contextlib
import json
import re
import secrets
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiomqtt
import pytest

from appliance.tools.broker_config.configuration import LARGEST_MESSAGE
from tests.security.lan import ACCOUNTS, Lan, lan
from tests.support.brokers import Recorder
from tests.support.processes import program, ran
from tests.web.packets import PINGREQ, connect, publish

pytestmark = pytest.mark.real

TABLE = "pocketbeam/hall"
EVERYBODY = "appliance umpire scoreboard homeassistant"

# topic: who may write there, who hears what was written
RIGHTS = {
    f"{TABLE}/state": ("appliance", EVERYBODY),
    f"{TABLE}/availability": ("appliance", EVERYBODY),
    f"{TABLE}/health": ("appliance", EVERYBODY),
    f"{TABLE}/score/a": ("appliance", EVERYBODY),
    f"{TABLE}/event": ("appliance", EVERYBODY),
    f"{TABLE}/response": ("appliance", EVERYBODY),
    f"{TABLE}/request": ("appliance umpire homeassistant", EVERYBODY),
    f"{TABLE}/request/deeper": ("appliance", EVERYBODY),
    "pocketbeam/request": ("appliance", EVERYBODY),
    "homeassistant/device/hall/config": ("appliance homeassistant", "appliance homeassistant"),
    "homeassistant/sensor/hall/config": ("homeassistant", "homeassistant"),
    "homeassistant/status": ("homeassistant", "appliance homeassistant"),
    "zigbee2mqtt/lamp/set": ("", ""),
}


@pytest.fixture(scope="module")
def broker() -> Iterator[Lan]:
    with lan() as running:
        yield running


@contextlib.asynccontextmanager
async def everybody(broker: Lan, *hears: str) -> AsyncIterator[dict[str, Recorder]]:
    async with contextlib.AsyncExitStack() as stack:
        yield {name: await stack.enter_async_context(broker.client(name, *hears)) for name in ACCOUNTS}


def test_each_account_writes_and_reads_what_it_is_for_and_nothing_else(broker: Lan) -> None:
    async def found() -> dict[str, tuple[str, str]]:
        end = f"{TABLE}/line"
        async with everybody(broker, *RIGHTS, end) as clients:
            for name, client in clients.items():
                for topic in RIGHTS:
                    await client.publish(topic, f"by {name}")
            # A broker passes on in order: nothing of the above comes after this.
            await clients["appliance"].publish(end, "the end")
            for client in clients.values():
                await client.wait_for(lambda heard: heard.payloads(end))
            rights = {}
            for topic in RIGHTS:
                heard = {name: set(client.payloads(topic)) for name, client in clients.items()}
                by = set().union(*heard.values())
                writers = " ".join(name for name in ACCOUNTS if f"by {name}" in by)
                rights[topic] = (writers, " ".join(name for name in ACCOUNTS if heard[name]))
            return rights

    assert asyncio.run(found()) == RIGHTS


@pytest.mark.parametrize(
    ("account", "password"), [(None, None), ("scoreboard", "guessed"), ("nobody", "x"), ("umpire", "")]
)
def test_nobody_comes_in_without_the_right_password(broker: Lan, account: str | None, password: str | None) -> None:
    async def knock() -> None:
        with pytest.raises(aiomqtt.MqttError, match="authori"):
            async with aiomqtt.Client("127.0.0.1", broker.ports.plain, username=account, password=password):
                pass

    asyncio.run(knock())


def test_a_display_in_a_browser_comes_in_over_websocket(broker: Lan) -> None:
    async def look() -> None:
        async with (
            broker.client("scoreboard", f"{TABLE}/line", websocket=True) as display,
            broker.client("appliance") as table,
        ):
            await table.publish(f"{TABLE}/line", "Asha 12 – 9 Ben")
            await display.wait_for(lambda heard: heard.payloads(f"{TABLE}/line") == ["Asha 12 – 9 Ben"])

    asyncio.run(look())


def test_what_is_longer_than_anything_of_ours_goes_no_further_than_the_broker(broker: Lan) -> None:
    def push(size: int) -> bytes:
        """What the broker says to it: nothing, as it hangs up, or that it still lives."""
        with socket.create_connection(("127.0.0.1", broker.ports.plain), 20) as sock, contextlib.suppress(OSError):
            sock.sendall(connect("pushing", "umpire", broker.password("umpire")))
            sock.recv(4)
            sock.sendall(publish(f"{TABLE}/request", b"x" * size) + PINGREQ)
            return sock.recv(2)
        return b""

    async def main() -> None:
        async with broker.client("appliance", f"{TABLE}/request") as table:
            assert await asyncio.to_thread(push, LARGEST_MESSAGE + 1) == b""
            assert await asyncio.to_thread(push, LARGEST_MESSAGE - 100) == b"\xd0\x00"
            await table.wait_for(lambda heard: heard.messages)
            assert [len(heard.payload) for heard in table.messages] == [LARGEST_MESSAGE - 100]

    asyncio.run(main())


def test_what_is_not_encrypted_is_for_this_machine_unless_it_is_opened_on_purpose(broker: Lan) -> None:
    assert listening_on(broker.ports.plain) == {"127.0.0.1"}
    assert listening_on(broker.ports.websocket) == set()
    for port in (broker.ports.tls, broker.ports.websocket_tls):
        assert not listening_on(port) & {"127.0.0.1"}
    with lan(plain_on_network=True) as opened:
        for port in (opened.ports.plain, opened.ports.websocket):
            assert listening_on(port)
            assert not listening_on(port) & {"127.0.0.1"}
        for transport, port in (("tcp", opened.ports.plain), ("websockets", opened.ports.websocket)):

            async def come_in(transport: Any = transport, port: int = port) -> None:
                password = opened.password("scoreboard")
                async with aiomqtt.Client(
                    "127.0.0.1", port, username="scoreboard", password=password, transport=transport
                ) as display:
                    await display.subscribe(f"{TABLE}/line")

            asyncio.run(come_in())


def listening_on(port: int) -> set[str]:
    """The addresses at which somebody listens on a port, by the kernel's own tables."""
    found = set()
    for table, size in (("tcp", 8), ("tcp6", 32)):
        for line in Path(f"/proc/net/{table}").read_text("ascii").splitlines()[1:]:
            address, state = line.split()[1], line.split()[3]
            host, _, number = address.partition(":")
            if state == "0A" and int(number, 16) == port:
                found.add("every" if host == "0" * size else ".".join(str(part) for part in bytes.fromhex(host)[3::-1]))
    return found


def written_out(broker: Lan, directory: Path) -> Path:
    """A table's file by the lines that the command printed, and the table's own."""
    lines = broker.told.splitlines()
    begin = lines.index("[mqtt]")
    section = "\n".join(lines[begin : lines.index("", begin)])
    state = directory / "state"
    file = directory / "hall.toml"
    table = f'[table]\nid = "hall"\ngame = "club_carrom"\nplayers = ["Asha", "Ben"]\nstate_dir = "{state}"\n'
    file.write_text(f"{table}\n{section}\n", encoding="utf-8")
    return file


async def ask(client: Recorder, **request: Any) -> dict[str, Any]:
    """A request and its answer."""
    transaction = secrets.token_hex(8)
    await client.publish(f"{TABLE}/request", json.dumps({"transaction": transaction, **request}))

    def answer(heard: Recorder) -> dict[str, Any] | None:
        answers = map(json.loads, heard.payloads(f"{TABLE}/response"))
        return next((each for each in answers if each["transaction"] == transaction), None)

    answered: dict[str, Any] = await client.wait_for(answer, 20.0)
    return answered


def die_with_a_will(broker: Lan, account: str, topic: str, words: str) -> None:
    """A client whose will the broker is to carry out, and it ends without a word."""
    with socket.create_connection(("127.0.0.1", broker.ports.plain), 10) as sock:
        sock.sendall(connect("dying", account, broker.password(account), will=(topic, words)))
        sock.recv(4)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def state(heard: Recorder) -> dict[str, Any]:
    """The newest state that was heard."""
    document: dict[str, Any] = json.loads(heard.latest[f"{TABLE}/state"])
    return document


def test_a_table_scores_over_tls_and_only_who_may_ask_changes_it(broker: Lan, tmp_path: Path) -> None:
    file = written_out(broker, tmp_path)
    status, out, _ = ran(tmp_path, "check-config", str(file))
    assert status == 0, out
    discovery = "homeassistant/device/pocketbeam_hall/config"
    hears = (f"{TABLE}/state", f"{TABLE}/response", f"{TABLE}/availability")

    async def play() -> None:
        async with everybody(broker, *hears, discovery) as clients:
            umpire, display, home = clients["umpire"], clients["scoreboard"], clients["homeassistant"]
            await umpire.wait_for(lambda heard: heard.latest.get(f"{TABLE}/state"), 30.0)
            assert (await ask(umpire, command="stroke", pocketed=["white"]))["ok"]
            before = state(umpire)
            await home.wait_for(lambda heard: heard.payloads(discovery), 20.0)
            assert not display.payloads(discovery)
            assert before["rules"]["sides"]["A"]["pocketed"] == 1

            # What a read-only client tries: to ask, to forge, to take away, to pass for the table.
            undo = json.dumps({"command": "undo"})
            forged = json.dumps({**before, "seq": 999})
            for retain in (False, True):
                await display.publish(f"{TABLE}/request", undo, retain=retain)
            for client in (display, home, umpire):
                await client.publish(f"{TABLE}/state", forged, retain=True)
                await client.publish(f"{TABLE}/state", None, retain=True)
                await client.publish(f"{TABLE}/availability", "offline", retain=True)
                await client.publish(f"{TABLE}/response", forged)

            async with broker.client("scoreboard", client_id="pocketbeam-hall"):
                # No table is thrown out by it, and a will is no way to write either.
                die_with_a_will(broker, "scoreboard", f"{TABLE}/availability", "offline")

            # Whoever may ask, may; and this is the very next thing that the table heard of.
            assert (await ask(home, command="pause"))["seq"] == before["seq"] + 1
            for client in (umpire, display, home):
                await client.wait_for(lambda heard: state(heard)["paused"])
                assert max(json.loads(text)["seq"] for text in client.payloads(f"{TABLE}/state")) == before["seq"] + 1
                assert set(client.payloads(f"{TABLE}/availability")) == {"online"}
            assert state(display)["rules"] == before["rules"]

        async with broker.client("scoreboard", *hears) as newcomer:
            await newcomer.wait_for(lambda heard: len(heard.latest) == 2)
            assert state(newcomer)["seq"] == before["seq"] + 1
            assert newcomer.latest[f"{TABLE}/availability"] == "online"

    with program(tmp_path, "run", "--config", str(file)) as running:
        asyncio.run(play())
        status, out, _ = ran(tmp_path, "doctor", "--config", str(file))
        told = out + running.err
    assert re.search(rf"^well +broker +localhost:{broker.ports.tls} takes and keeps", out, re.M), out
    assert "WARNING" not in told
    assert "warning: table" not in told
