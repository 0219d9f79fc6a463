"""The words to the service manager over a real socket: alone, and from `pocketbeam run` as a process."""

import contextlib
import os
import signal
import socket
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.notify import ServiceManager
from tests.support.ports import free_port
from tests.support.processes import Program, configured, program

pytestmark = pytest.mark.real

WATCHDOG_S = 0.9


class Manager:
    """The service manager's end: a datagram socket at a path, or under an abstract name."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("\0" + address[1:] if address.startswith("@") else address)

    def hear(self, within_s: float) -> list[str]:
        """The lines of the next datagram; none where there is none in time."""
        self._socket.settimeout(within_s)
        try:
            return self._socket.recv(4096).decode().split("\n")
        except TimeoutError:
            return []

    def hear_until(self, line: str, within_s: float = 30.0) -> list[list[str]]:
        """Every datagram up to the one with `line`."""
        deadline_s = time.monotonic() + within_s
        heard: list[list[str]] = []
        while not heard or line not in heard[-1]:
            heard.append(self.hear(max(0.01, deadline_s - time.monotonic())))
            assert heard[-1], f"no {line} in {within_s} s, but {heard[:-1]}"
        return heard

    def forget(self) -> None:
        """Drop what has come already."""
        while self.hear(0.001):
            pass

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manager]:
    address = str(tmp_path / "notify") if request.param == "path" else f"@pocketbeam-test-{os.getpid()}"
    listening = Manager(address)
    yield listening
    listening.close()


def test_lines_go_in_one_datagram_to_either_kind_of_address(manager: Manager) -> None:
    told = ServiceManager.from_environment({"NOTIFY_SOCKET": manager.address}, os.getpid())
    assert told.tell("READY=1", "STATUS=table t1: Ä – B")
    assert manager.hear(5) == ["READY=1", "STATUS=table t1: Ä – B"]
    told.close()
    assert not told.tell("WATCHDOG=1")
    assert manager.hear(0.05) == []


def test_a_manager_that_is_gone_or_takes_nothing_makes_nobody_wait(manager: Manager) -> None:
    told = ServiceManager(manager.address)
    taken = 0
    while told.tell("STATUS=" + "x" * 1000):
        taken += 1
        assert taken < 100_000
    assert taken > 0
    manager.close()
    assert not told.tell("READY=1")
    told.close()


@pytest.mark.parametrize(
    ("environment", "address", "watchdog_s"),
    [
        ({}, None, None),
        ({"NOTIFY_SOCKET": "/run/x"}, "/run/x", None),
        ({"NOTIFY_SOCKET": "vsock:2:1"}, None, None),
        ({"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"}, "@x", 30.0),
        ({"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "30000000"}, "@x", 30.0),
        ({"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"}, "@x", None),
        ({"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "0"}, "@x", None),
        ({"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "soon"}, "@x", None),
    ],
)
def test_what_the_environment_says(environment: dict[str, str], address: str | None, watchdog_s: float | None) -> None:
    told = ServiceManager.from_environment(environment, process_id=7)
    assert (told.address, told.watchdog_s) == (address, watchdog_s)


@pytest.fixture
def service(manager: Manager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    """`pocketbeam run` as the service manager starts it, with no broker and no board."""
    monkeypatch.setenv("NOTIFY_SOCKET", manager.address)
    monkeypatch.setenv("WATCHDOG_USEC", str(round(WATCHDOG_S * 1e6)))
    monkeypatch.delenv("WATCHDOG_PID", raising=False)
    with program(tmp_path, "run", "--config", str(configured(tmp_path, free_port()))) as running:
        yield running


def test_ready_after_recovery_without_a_broker_then_pings_while_it_lives_then_the_end(
    manager: Manager, service: Program, tmp_path: Path
) -> None:
    first = manager.hear(30)
    assert first[0] == "READY=1", "something came before it"
    journal = next((tmp_path / "state-t1").glob("*.sqlite"))
    with contextlib.closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as reading:
        (records,) = reading.execute("SELECT count(*) FROM record").fetchone()
    assert records > 0, "ready before the match was on disk"
    status = next(line for line in first if line.startswith("STATUS="))
    assert status.startswith("STATUS=table t1: ")

    for _ in range(4):
        manager.hear_until("WATCHDOG=1", 20)

    service.signal(signal.SIGSTOP)  # the loop turns no more
    manager.forget()
    assert manager.hear(2 * WATCHDOG_S) == []
    service.signal(signal.SIGCONT)
    manager.hear_until("WATCHDOG=1", 20)

    service.signal(signal.SIGTERM)
    last = manager.hear_until("STOPPING=1", 20)[-1]
    assert not any(line.startswith("WATCHDOG") for line in last)
    assert service.wait() == 0
    assert manager.hear(0.05) == []


def test_what_cannot_start_is_never_ready(manager: Manager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = configured(tmp_path, free_port())
    with program(tmp_path, "run", "--config", str(config)) as holder:
        while "is ready" not in holder.err:
            assert holder.process.poll() is None, holder.err
            time.sleep(0.02)
        monkeypatch.setenv("NOTIFY_SOCKET", manager.address)
        with program(tmp_path, "run", "--config", str(config)) as second:
            assert second.wait() == 1
        heard = manager.hear(0.05)
        while more := manager.hear(0.05):
            heard += more
        assert "READY=1" not in heard
