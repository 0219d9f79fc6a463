"""How long after the start of the process the first retained `state` is at a subscriber.

    python tests/bench/start.py [ROUNDS]

Beside it, taken in turns in the same run: a bare interpreter, and one that imports the libraries that the
daemon cannot do without (pydantic, paho-mqtt, aiomqtt, pyserial). The journal already holds a match.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.plain_mqtt import PlainMqtt
from tests.bench.table import STATE, compile_program, configure, start, stop
from tests.support.brokers import HOST, mosquitto

LIBRARIES = "import asyncio, sqlite3, pydantic, paho.mqtt.client, aiomqtt, serial"


def process_of(program: str) -> int:
    """Nanoseconds that an interpreter takes for a program, start and end included."""
    began_ns = time.perf_counter_ns()
    subprocess.run([sys.executable, "-c", program], check=True)
    return time.perf_counter_ns() - began_ns


def first_state(config: Path, port: int) -> int:
    """Nanoseconds from the start of the process to the state."""
    subscriber = PlainMqtt(HOST, port, "subscriber")
    subscriber.publish(STATE, b"", retain=True)
    subscriber.subscribe(STATE)
    subscriber.drain(0.1)
    began_ns = time.perf_counter_ns()
    process = start(config)
    try:
        while not subscriber.receive(30)[1]:
            pass
        return time.perf_counter_ns() - began_ns
    finally:
        stop(process)
        subscriber.close()


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    took: dict[str, list[int]] = {"bare interpreter": [], "with its libraries": [], "first retained state": []}
    compile_program()
    with tempfile.TemporaryDirectory() as text, mosquitto(Path(text)) as broker:
        config = configure(Path(text), broker.port)
        first_state(config, broker.port)
        for _ in range(rounds):
            took["bare interpreter"].append(process_of("pass"))
            took["with its libraries"].append(process_of(LIBRARIES))
            took["first retained state"].append(first_state(config, broker.port))
    medians = {name: statistics.median(times) / 1e6 for name, times in took.items()}
    for name, times in took.items():
        print(f"{name:24} median {medians[name]:6.0f} ms   {min(times) / 1e6:6.0f} to {max(times) / 1e6:.0f}")
    print(f"ratio to the libraries alone {medians['first retained state'] / medians['with its libraries']:.2f}")


if __name__ == "__main__":
    main()
