"""A broker that is not who it should be, or does not want us: one clear sentence each."""

import asyncio
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from appliance.config import Mqtt, Tls
from appliance.mqtt.client import MqttLink
from appliance.tools.broker import check_broker
from appliance.tools.findings import Verdict
from tests.support import brokers
from tests.support.brokers import HOST, until
from tests.support.certificates import certificate
from tests.support.ports import free_port

pytestmark = pytest.mark.real

SENTENCES = {
    "expired": "has expired: give the broker a new one (or set this machine's clock, if it is wrong)",
    "early": "is not valid yet: is this machine's clock set?",
    "elsewhere": 'is for other names than "localhost": the host in [mqtt] must be one of those that stand in it',
    "unknown": "is signed by nobody whom this table trusts: name the file of its authority as ca in [mqtt] tls",
}
"""What is wrong with each certificate of `bad`, which its listener has."""


@dataclass(frozen=True)
class Bad:
    """A broker with one listener for each kind of certificate."""

    ports: dict[str, int]
    files: dict[str, Path]

    def settings(self, kind: str) -> Mqtt:
        trusted = self.files["good" if kind in ("unknown", "plain", "client") else kind]
        return Mqtt(host="localhost", port=self.ports[kind], tls=Tls(ca=trusted))


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bad]:
    directory = tmp_path_factory.mktemp("bad")
    times = {"expired": ("20200101000000Z", "20200102000000Z"), "early": ("20900101000000Z", "21000101000000Z")}
    files = {}
    for kind in ("good", *SENTENCES):
        place = directory / kind
        place.mkdir()
        name = "elsewhere" if kind == "elsewhere" else "localhost"
        files[kind] = certificate(place, name, *times.get(kind, ()))
    ports = {kind: free_port() for kind in (*files, "client")}
    extra = [f"listener {ports[kind]}\ncertfile {file}\nkeyfile {file}" for kind, file in files.items()]
    good = files["good"]
    extra.append(
        f"listener {ports['client']}\ncertfile {good}\nkeyfile {good}\ncafile {good}\nrequire_certificate true"
    )
    with brokers.mosquitto(directory, extra="\n".join(extra)) as broker:
        # The helper waits for the first listener alone.
        asyncio.run(until(lambda: all(map(listens, ports.values())), 20.0))
        yield Bad({**ports, "plain": broker.port}, files)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


async def news(settings: Mqtt) -> tuple[bool, str]:
    """The first thing that a table's link has to say."""
    told: list[tuple[bool, str]] = []
    link = MqttLink(settings, "t1", on_request=print, on_connection=lambda *each: told.append(each))
    running = asyncio.create_task(link.run())
    try:
        await until(lambda: told, 20.0)
        return told[0]
    finally:
        running.cancel()
        await asyncio.wait({running})


@pytest.mark.parametrize("kind", SENTENCES)
def test_a_bad_certificate_is_refused_with_its_remedy(bad: Bad, kind: str) -> None:
    settings = bad.settings(kind)
    sentence = f"the certificate of localhost:{bad.ports[kind]} {SENTENCES[kind]}"
    assert asyncio.run(news(settings)) == (False, sentence)
    (finding,) = asyncio.run(check_broker(settings, "t1"))
    assert finding.verdict is Verdict.WRONG
    assert finding.sentence.startswith(sentence)


def test_a_good_one_is_taken(bad: Bad) -> None:
    assert asyncio.run(news(bad.settings("good"))) == (True, "")


def test_no_tls_where_there_should_be_some_and_the_other_way_round(bad: Bad) -> None:
    port = bad.ports["plain"]
    connected, reason = asyncio.run(news(bad.settings("plain")))
    assert not connected
    assert reason in (
        f"localhost:{port} does not speak TLS: is it the port for plain MQTT?",
        f"localhost:{port} closes the connection during the TLS handshake: is it a port for TLS?",
    )
    connected, reason = asyncio.run(news(Mqtt(host="localhost", port=bad.ports["good"])))
    assert (connected, reason) == (
        False,
        f"the broker at localhost:{bad.ports['good']} closed the connection without a word: is it a port for TLS?",
    )


def test_a_broker_that_wants_a_certificate_of_ours(bad: Bad) -> None:
    connected, reason = asyncio.run(news(bad.settings("client")))
    assert not connected
    assert reason.endswith("without a word: does it want a certificate of this table's (cert and key in [mqtt] tls)?")
    good = bad.files["good"]
    own = Mqtt(host="localhost", port=bad.ports["client"], tls=Tls(ca=good, cert=good, key=good))
    assert asyncio.run(news(own)) == (True, "")


def test_the_table_comes_back_by_itself_once_the_certificate_is_right(tmp_path: Path) -> None:
    """An old one is renewed, and so is a clock that was set to the past at boot: nothing is ever switched off."""
    served = tmp_path / "served"
    expired = certificate(tmp_path, "localhost", end="20200102000000Z")
    served.write_bytes(expired.read_bytes())
    (tmp_path / "new").mkdir()
    renewed = certificate(tmp_path / "new", "localhost")
    trusted = tmp_path / "trusted"
    trusted.write_bytes(expired.read_bytes())
    told: list[tuple[bool, str]] = []

    async def main() -> None:
        settings = Mqtt(host="localhost", port=broker.port, tls=Tls(ca=trusted))
        link = MqttLink(settings, "t1", on_request=print, on_connection=lambda *each: told.append(each))
        running = asyncio.create_task(link.run())
        try:
            await until(lambda: link.counters()["failures"] >= 2, 20.0)
            await asyncio.to_thread(broker.stop)
            for file in (served, trusted):
                file.write_bytes(renewed.read_bytes())
            await asyncio.to_thread(broker.start)
            await until(lambda: told[-1] == (True, ""), 60.0)
        finally:
            running.cancel()
            await asyncio.wait({running})

    with brokers.mosquitto(tmp_path, extra=f"certfile {served}\nkeyfile {served}") as broker:
        asyncio.run(main())
    assert SENTENCES["expired"] in told[0][1]
    # Each reason once, however often it was tried; while the broker was away nothing listened there.
    assert len(told) == len(dict.fromkeys(told))
