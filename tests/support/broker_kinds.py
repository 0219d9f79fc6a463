"""The brokers that tables are tried with, each a process on loopback with a directory and ports of its own.

All of them keep on disk what they can, so that a stop and a start show what outlives it. A RabbitMQ node needs
more room of its own than the others: a node's name, an Erlang cookie, and a name service (`epmd`) that is told
to end with it; nothing of the machine's own RabbitMQ, should it have one, is touched.
"""

import contextlib
import functools
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import pytest

from tests.support.brokers import HOST, Mosquitto, listens

RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
START_WITHIN_S = 120.0
"""An Erlang node on a machine that has other things to do takes its time."""
STOP_WITHIN_S = 30.0


class Broker(Protocol):
    """A broker that may be stopped and started again; it keeps its port."""

    port: int

    def start(self) -> int:
        """Begin, and return the port once it answers."""

    def stop(self) -> None:
        """An orderly end."""

    def kill(self) -> None:
        """An end without a word."""


class Held:
    """A loopback port that is kept free for a server of ours, also while that is down or still on its way up.

    It is bound and does not listen: whoever listens with `SO_REUSEADDR`, as servers do, gets it all the same, and
    the system gives it to nobody else, be it for an outgoing connection.
    """

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind((HOST, 0))
        self.number: int = self._socket.getsockname()[1]

    def release(self) -> None:
        """Lets go of it."""
        self._socket.close()


class Server:
    """A broker as a process in a session of its own; what it says is in `log`. `close` ends it for good."""

    name = "broker"

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.log = directory / "log"
        self._held = [Held()]
        self.port = self._held[0].number
        self._process: subprocess.Popen[bytes] | None = None

    def hold(self) -> int:
        """One more port of its own."""
        self._held.append(Held())
        return self._held[-1].number

    def command(self) -> Sequence[str | Path]:
        """The program and its arguments; writes what it reads."""
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        """The process's environment."""
        return dict(os.environ)

    def spawn(self) -> None:
        """Begin without waiting for an answer."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [str(word) for word in self.command()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment(),
                start_new_session=True,
            )

    def wait(self) -> int:
        """The port, once it answers."""
        deadline = time.monotonic() + START_WITHIN_S
        while time.monotonic() < deadline and self._process and self._process.poll() is None:
            if listens(self.port):
                return self.port
            time.sleep(0.02)
        told = self.log.read_text(errors="replace")[-4000:]
        self.kill()
        pytest.fail(f"{self.name} does not start:\n{told}")

    def start(self) -> int:
        self.spawn()
        return self.wait()

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_WITHIN_S)
        self.kill()

    def kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def close(self) -> None:
        """Ends it, and gives its ports back."""
        self.stop()
        for held in self._held:
            held.release()


class Embedded(Server):
    """The appliance's own small broker, alone in a process."""

    name = "the embedded broker"

    def command(self) -> Sequence[str | Path]:
        program = (
            "import asyncio, signal, sys\n"
            "from appliance.mqtt.broker import EmbeddedBroker\n"
            "async def main():\n"
            "    stopping = asyncio.Event()\n"
            "    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)\n"
            "    broker = EmbeddedBroker(port=int(sys.argv[1]))\n"
            "    await broker.start()\n"
            "    await stopping.wait()\n"
            "    await broker.stop()\n"
            "asyncio.run(main())\n"
        )
        return [sys.executable, "-c", program, str(self.port)]


class Nats(Server):
    """A NATS server with JetStream, which its MQTT needs."""

    name = "nats-server"

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._client_port = self.hold()

    def command(self) -> Sequence[str | Path]:
        configuration = self.directory / "nats.conf"
        configuration.write_text(
            f'server_name: "{self.directory.name}"\nlisten: "{HOST}:{self._client_port}"\n'
            f'jetstream {{ store_dir: "{self.directory}/jetstream", max_memory_store: 64MB, max_file_store: 256MB }}\n'
            # As it comes it lets half a minute pass before it sends again what was not acknowledged.
            f'mqtt {{ listen: "{HOST}:{self.port}", ack_wait: "1s" }}\n'
        )
        return [program(self.name), "-c", configuration]


class NameService:
    """An `epmd` of our own: how the nodes of one cluster find each other, and nobody else."""

    def __init__(self) -> None:
        self._held = Held()
        self.port = self._held.number
        self._process = subprocess.Popen(
            [program("epmd"), "-port", str(self.port), "-address", HOST],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + START_WITHIN_S
        while not listens(self.port):
            if time.monotonic() > deadline:
                pytest.fail("epmd does not start")
            time.sleep(0.02)

    def stop(self) -> None:
        """Ends it."""
        self._process.kill()
        self._process.wait()
        self._held.release()


class RabbitMq(Server):
    """One RabbitMQ node with its MQTT plugin; with a `leader` it joins that node's cluster when it first starts."""

    name = "rabbitmq-server"

    def __init__(self, directory: Path, *, names: NameService | None = None, leader: "RabbitMq | None" = None) -> None:
        super().__init__(directory)
        if not RABBITMQ.exists():
            pytest.fail("rabbitmq-server is not installed: apt-get install rabbitmq-server")
        self.node = f"pocketbeam-{secrets.token_hex(4)}@localhost"
        self._leader = leader
        self._names = names
        self._own_names: NameService | None = None
        self._distribution_port = self.hold()

    def spawn(self) -> None:
        if self._names is None and self._own_names is None:
            self._own_names = NameService()
        super().spawn()

    def command(self) -> Sequence[str | Path]:
        cookie = self.directory / ".erlang.cookie"
        if not cookie.exists():
            cookie.write_text("POCKETBEAM")
            cookie.chmod(0o400)
        lines = [
            "listeners.tcp = none",
            f"mqtt.listeners.tcp.default = {HOST}:{self.port}",
            "mqtt.allow_anonymous = true",
            "mqtt.tcp_listen_options.nodelay = true",
            "cluster_partition_handling = pause_minority",
            "log.console = true",
            "log.console.level = warning",
            "vm_memory_high_watermark.absolute = 512MB",
            "disk_free_limit.absolute = 10MB",
        ]
        if self._leader is not None:
            lines += [
                "cluster_formation.peer_discovery_backend = classic_config",
                f"cluster_formation.classic_config.nodes.1 = {self._leader.node}",
                f"cluster_formation.classic_config.nodes.2 = {self.node}",
            ]
        (self.directory / "rabbitmq.conf").write_text("\n".join(lines) + "\n")
        (self.directory / "plugins").write_text("[rabbitmq_mqtt].\n")
        (self.directory / "env.conf").touch()
        return [RABBITMQ]

    def environment(self) -> dict[str, str]:
        names = self._names or self._own_names
        assert names is not None
        # It shall not inherit a word that was meant for the machine's own node.
        ours = {key: value for key, value in os.environ.items() if not key.startswith(("RABBITMQ_", "ERL_"))}
        return ours | {
            "HOME": str(self.directory),
            "ERL_EPMD_PORT": str(names.port),
            "ERL_EPMD_ADDRESS": HOST,
            "RABBITMQ_NODENAME": self.node,
            "RABBITMQ_DIST_PORT": str(self._distribution_port),
            "RABBITMQ_MNESIA_BASE": str(self.directory / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.directory / "logs"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_CONFIG_FILE": str(self.directory / "rabbitmq.conf"),
            "RABBITMQ_ADVANCED_CONFIG_FILE": str(self.directory / "advanced.config"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.directory / "plugins"),
            "RABBITMQ_CONF_ENV_FILE": str(self.directory / "env.conf"),
            # The shell around it would stand between us and the node's own signals.
            "RUNNING_UNDER_SYSTEMD": "1",
            # Schedulers that wait without spinning leave the processor to the others.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
                "-kernel inet_dist_use_interface {127,0,0,1} +S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none"
            ),
        }

    def close(self) -> None:
        """Ends it for good, with its name service."""
        super().close()
        if self._own_names is not None:
            self._own_names.stop()
            self._own_names = None


def program(name: str) -> str:
    """The path of a program; a failed test that says what to install where it is not there."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    if found is None:
        pytest.fail(f"{name} is not installed: tools/debian-packages installs what the tests need")
    return found


def _mosquitto(directory: Path) -> Broker:
    return Mosquitto(directory, persistence=True)


KINDS: dict[str, Callable[[Path], Broker]] = {
    "embedded": Embedded,
    "mosquitto": _mosquitto,
    "rabbitmq": RabbitMq,
    "nats": Nats,
}
"""By name: how each is made."""


@functools.cache
def version_of(kind: str) -> tuple[int, ...]:
    """The version that is installed here of a broker whose versions differ in what they do; () of any other."""
    if kind == "rabbitmq":
        said = " ".join(path.name for path in RABBITMQ.parents[1].glob("lib/rabbitmq_server-*"))
    elif kind == "nats" and (program := shutil.which("nats-server")):
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    else:
        said = ""
    found = re.search(r"\d+(\.\d+)+", said)
    return tuple(map(int, found.group().split("."))) if found else ()


@contextlib.contextmanager
def running(kind: str, directory: Path) -> Iterator[Broker]:
    """A broker of this kind that answers; ended with everything that belongs to it."""
    broker = KINDS[kind](directory)
    try:
        broker.start()
        yield broker
    finally:
        broker.close() if isinstance(broker, Server) else broker.stop()


@contextlib.contextmanager
def cluster(directory: Path, count: int = 3) -> Iterator[list[RabbitMq]]:
    """RabbitMQ nodes that have found each other."""
    names = NameService()
    first = RabbitMq(directory / "node-1", names=names)
    nodes = [first, *(RabbitMq(directory / f"node-{n}", names=names, leader=first) for n in range(2, count + 1))]
    try:
        # Only a node whose clients' register has its leader can be joined: all at once would wait for each other.
        first.start()
        for node in nodes[1:]:
            node.spawn()
        for node in nodes[1:]:
            node.wait()
        yield nodes
    finally:
        for node in nodes:
            node.kill()
            node.close()
        names.stop()
