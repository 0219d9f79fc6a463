"""What the benchmarks of the whole put around a daemon: a broker, a board at a pty, the process itself."""

import compileall
import os
import subprocess
import sys
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import appliance
from sim.layout import configuration_text, layout_of
from sim.mcu import Mcu
from tests.bench.plain_mqtt import PlainMqtt
from tests.support.brokers import HOST, Mosquitto, mosquitto

TABLE = "bench"
STATE = f"pocketbeam/{TABLE}/state"
REQUEST = f"pocketbeam/{TABLE}/request"
GAME = "club_carrom"
UNIT = Path(__file__).parents[2] / "systemd" / "pocketbeam.service"


class Board:
    """A simulated board whose bytes are written to a pty when the benchmark says so."""

    def __init__(self, path: Path) -> None:
        self.mcu = Mcu(8, time.monotonic_ns() & 0x7FFFFFFF, self.now_us(), levels=layout_of(GAME).idle_levels())
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        path.unlink(missing_ok=True)
        path.symlink_to(os.ttyname(self._slave))

    @staticmethod
    def now_us() -> int:
        return time.monotonic_ns() // 1_000

    def attend(self, seconds: float) -> None:
        """Hear and speak as a board does, for so long."""
        until = time.monotonic() + seconds
        while True:
            self._exchange()
            left = until - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(0.002, left))

    def attend_until_acknowledged(self) -> None:
        """The same, until the host has acknowledged everything."""
        while self.mcu.kept:
            self.attend(0.002)

    def drive(self, channel: int, level: int) -> int:
        """Write an edge at once; the moment before, in nanoseconds."""
        self._exchange()
        self.mcu.drive(channel, level, self.now_us())
        data = self.mcu.poll(self.now_us())
        before_ns = time.perf_counter_ns()
        os.write(self._master, data)
        return before_ns

    def close(self) -> None:
        os.close(self._master)
        os.close(self._slave)

    def _exchange(self) -> None:
        try:
            while data := os.read(self._master, 4096):
                self.mcu.receive(data, self.now_us())
        except BlockingIOError:
            pass
        if data := self.mcu.poll(self.now_us()):
            os.write(self._master, data)


def compile_program() -> None:
    """Byte code for the program, as an installation has it: without it every start compiles all of it anew."""
    compileall.compile_dir(Path(appliance.__file__).parent, quiet=1)


def configure(directory: Path, port: int, web_port: int | None = None) -> Path:
    """The daemon's configuration file."""
    text = configuration_text(
        GAME,
        ("Asha", "Ben"),
        port=str(directory / "board"),
        state_dir=str(directory / "state"),
        mqtt_host=HOST,
        mqtt_port=port,
        web_listen=None if web_port is None else f"{HOST}:{web_port}",
        table=TABLE,
    )
    (directory / "state").mkdir(exist_ok=True)
    path = directory / "bench.toml"
    path.write_text(text, encoding="utf-8")
    return path


def start(config: Path) -> "subprocess.Popen[bytes]":
    """`pocketbeam run`, with the environment that its unit gives it."""
    command = [
        str(Path(sys.executable).with_name("pocketbeam")),
        "--log-level",
        "error",
        "run",
        "--config",
        str(config),
    ]
    lines = UNIT.read_text().splitlines()
    given = dict(line.split("=", 2)[1:] for line in lines if line.startswith("Environment="))
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, env={**os.environ, **given})


def stop(process: "subprocess.Popen[bytes]") -> None:
    """SIGTERM, and wait."""
    process.terminate()
    process.wait(20)


@contextmanager
def running(
    directory: Path, web_port: int | None = None
) -> Iterator[tuple[Mosquitto, Board, "subprocess.Popen[bytes]"]]:
    """A broker, a board and a daemon that have found each other."""
    compile_program()
    with mosquitto(directory) as broker:
        board = Board(directory / "board")
        process = start(configure(directory, broker.port, web_port))
        try:
            listener = PlainMqtt(HOST, broker.port, "waits")
            listener.subscribe(f"pocketbeam/{TABLE}/event")
            while True:
                if process.poll() is not None:
                    raise RuntimeError(f"the daemon has ended with status {process.returncode}")
                board.attend(0.05)
                try:
                    if b"source_back" in listener.receive(0.05)[1]:
                        break
                except TimeoutError:
                    continue
            listener.close()
            yield broker, board, process
        finally:
            stop(process)
            board.close()
