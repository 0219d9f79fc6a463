"""A broker as `pocketbeam broker-config` sets it up, started with that very configuration, and its clients."""

import asyncio
import contextlib
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import aiomqtt
import pytest

from appliance.config import Mqtt
from appliance.config.settings import Tls
from appliance.tools.broker_config import broker_config
from appliance.tools.broker_config.certificate import own_names
from appliance.tools.broker_config.configuration import Listeners
from tests.support.brokers import HOST, Recorder
from tests.support.ports import free_port

ACCOUNTS = ("appliance", "umpire", "scoreboard", "homeassistant")


@dataclass(frozen=True, slots=True)
class Lan:
    """The running broker: where its files are, and where it listens."""

    directory: Path
    ports: Listeners
    told: str

    def password(self, account: str) -> str:
        return (self.directory / f"{account}.password").read_text("utf-8").strip()

    def settings(self, account: str, *, encrypted: bool = True) -> Mqtt:
        """A client's `[mqtt]` section."""
        return Mqtt(
            host="localhost" if encrypted else HOST,
            port=self.ports.tls if encrypted else self.ports.plain,
            username=account,
            password_file=self.directory / f"{account}.password",
            tls=Tls(ca=self.directory / "ca.crt") if encrypted else None,
        )

    @contextlib.asynccontextmanager
    async def client(
        self, account: str, *hears: str, websocket: bool = False, client_id: str | None = None
    ) -> AsyncIterator[Recorder]:
        """A connected client that has subscribed to `hears`, records, and may say something."""
        context = ssl.create_default_context(cafile=str(self.directory / "ca.crt"))
        async with aiomqtt.Client(
            "localhost",
            self.ports.websocket_tls if websocket else self.ports.tls,
            username=account,
            password=self.password(account),
            tls_context=context,
            transport="websockets" if websocket else "tcp",
            identifier=client_id,
        ) as client:
            recorder = Recorder(client)
            recording = asyncio.create_task(recorder.listen())
            try:
                for pattern in hears:
                    await client.subscribe(pattern, qos=1)
                yield recorder
            finally:
                recording.cancel()
                await asyncio.wait({recording})


@contextlib.contextmanager
def lan(*, plain_on_network: bool = False) -> Iterator[Lan]:
    """A directory that the broker's own user may enter, the configuration in it, and the broker."""
    program = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
    if program is None:
        pytest.fail("mosquitto is not installed: apt-get install mosquitto")
    for _ in range(5):
        with tempfile.TemporaryDirectory(prefix="pocketbeam-lan-") as temporary:
            place = Path(temporary)
            place.chmod(0o755)
            ports = Listeners(free_port(), free_port(), free_port(), free_port(), plain_on_network)
            told = broker_config(place / "broker", own_names(), ports)
            with (place / "log").open("wb") as log:
                process = subprocess.Popen(
                    [program, "-c", str(place / "broker" / "mosquitto.conf")], stdin=subprocess.DEVNULL, stderr=log
                )
            try:
                opened = (ports.websocket,) if plain_on_network else ()
                if _listens(process, (ports.tls, ports.websocket_tls, ports.plain, *opened)):
                    yield Lan(place / "broker", ports, told)
                    return
            finally:
                process.terminate()
                process.wait(10)
            said = (place / "log").read_text()
    pytest.fail(f"mosquitto does not start with the configuration: {said}")


def _listens(process: "subprocess.Popen[bytes]", ports: tuple[int, ...]) -> bool:
    deadline = time.monotonic() + 20
    waiting = list(ports)
    while waiting and process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection((HOST, waiting[0]), 0.2):
            waiting.pop(0)
            continue
        time.sleep(0.01)
    return not waiting
