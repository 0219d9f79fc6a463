"""A broker that can be stopped and started again, and the pages served from a thread of their own."""

import asyncio
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

import pytest
from paho.mqtt import publish

from appliance.web.server import WebServer
from tests.support.brokers import Settings
from tests.support.ports import free_port

HOST = "127.0.0.1"
T = TypeVar("T")


def wait_until(what: str, condition: Callable[[], bool], seconds: float = 5.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.01)


class Broker:
    """A real mosquitto on one loopback port, in memory only: it forgets everything when it stops."""

    def __init__(self) -> None:
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        program = shutil.which("mosquitto", path="/usr/sbin:/usr/bin:/sbin:/bin") or "mosquitto"
        self._process = subprocess.Popen(
            [program, "-p", str(self.port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_until("mosquitto listens", self._listens)

    def kill(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
            self._process.wait()
            self._process = None

    def freeze(self) -> None:
        """Stay connected and say nothing any more, as a network that drops packets."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def publish(self, topic: str, payload: str | None, *, retain: bool = True) -> None:
        publish.single(topic, payload, qos=1, retain=retain, hostname=HOST, port=self.port)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((HOST, self.port)) == 0


class LoopThread:
    """An event loop in a thread of its own, for what must run beside a test."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture
def broker() -> Iterator[Broker]:
    broker = Broker()
    broker.start()
    yield broker
    broker.kill()


@pytest.fixture
def beside() -> Iterator[LoopThread]:
    loop = LoopThread()
    yield loop
    loop.close()


@pytest.fixture
def pages(broker: Broker, beside: LoopThread) -> Iterator[str]:
    """The address of the pages of table `t1`."""
    server = WebServer(HOST, 0, Settings(broker.port), "t1")
    port = beside.run(server.start())
    yield f"http://{HOST}:{port}"
    beside.run(server.stop())
