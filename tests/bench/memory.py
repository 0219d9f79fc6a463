"""What the daemon keeps resident after a match, with its pages, and what it costs while nothing happens.

    python tests/bench/memory.py [IDLE_SECONDS]

A simulated match goes in twice: as edges at the board (as many passages as it had), and as strokes by hand,
which decide it. Then the page and its files are fetched and the process is left alone, board and broker
connected. Beside it: an interpreter with nothing but the libraries. The design asks for at most 48 MiB and
0.5 % of one core.

Debian's interpreter is within it (47.6 to 47.8 MiB, the libraries alone 28.5). One built without further options, with
a shared library, is not: 48.3, of which 0.9 are its own (the libraries alone 29.4). Of what the program adds, classes
of values take most (230 of them, some 12 kB each with what `dataclasses` writes for them), then byte code (2.2 MiB),
then the checks of configuration and records.
"""

import gzip
import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from sim.actions import Fall
from sim.players import simulate, truth_lines
from tests.bench.plain_mqtt import PlainMqtt
from tests.bench.table import GAME, REQUEST, TABLE, Board, running
from tests.support.brokers import HOST
from tests.support.ports import free_port

MOST_MIB = 48.0
MOST_PERCENT = 0.5
LIBRARIES = "import asyncio, sqlite3, pydantic, paho.mqtt.client, aiomqtt, serial"
SHOW = "; print(next(line for line in open('/proc/self/status') if line.startswith('VmRSS')))"


def resident_mib(pid: int) -> float:
    """The resident set now."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found
    return int(found.group(1)) / 1024


def processor_ns(pid: int) -> int:
    """Processor time of all threads so far."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)


def play(board: Board, port: int) -> int:
    """The match; the number of strokes."""
    match = simulate(GAME, ("Asha", "Ben"), seed=1)
    table = PlainMqtt(HOST, port, "umpire")
    table.subscribe(f"pocketbeam/{TABLE}/response")
    for fall in (action for action in match.actions if isinstance(action, Fall)):
        board.drive(["ne", "nw", "se", "sw"].index(fall.place), 1)
        board.attend(0.01)
        board.drive(["ne", "nw", "se", "sw"].index(fall.place), 0)
        board.attend(0.08)
    board.attend_until_acknowledged()
    lines = [json.loads(line) for line in truth_lines(match)[1:]]
    for line in lines:
        request = {"command": line.pop("type"), **line}
        table.publish(REQUEST, json.dumps(request).encode())
        answer = json.loads(table.receive()[1])
        assert answer["ok"], (request, answer)
        board.attend(0.001)
    table.close()
    return len(lines)


def look_at_the_page(port: int) -> None:
    """Fetch everything that a browser would, as a browser does."""
    page = gzip.decompress(fetch(port, "")).decode()
    for name in re.findall(r'(?:src|href)="([^"#:]+)"', page):
        fetch(port, name.lstrip("./"))


def fetch(port: int, path: str) -> bytes:
    """One file, packed."""
    request = urllib.request.Request(f"http://{HOST}:{port}/{path}", headers={"Accept-Encoding": "gzip"})
    answer: bytes = urllib.request.urlopen(request, timeout=5).read()
    return answer


def main() -> int:
    """Measure and print; 1 where a target is missed."""
    idle_s = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    told = subprocess.run([sys.executable, "-c", LIBRARIES + SHOW], check=True, capture_output=True, text=True)
    bare_mib = int(told.stdout.split()[1]) / 1024
    web_port = free_port()
    with tempfile.TemporaryDirectory() as text, running(Path(text), web_port) as (broker, board, process):
        fresh_mib = resident_mib(process.pid)
        strokes = play(board, broker.port)
        look_at_the_page(web_port)
        board.attend(3)
        before_ns, began = processor_ns(process.pid), time.monotonic()
        board.attend(idle_s)
        percent = (processor_ns(process.pid) - before_ns) / 1e7 / (time.monotonic() - began)
        mib = resident_mib(process.pid)
    print(f"libraries alone                 {bare_mib:6.1f} MiB")
    print(f"daemon, ready                   {fresh_mib:6.1f} MiB")
    print(f"daemon, after {strokes} observations   {mib:6.1f} MiB (at most {MOST_MIB:g})")
    print(f"idle, {idle_s} s                      {percent:6.2f} % of one core (at most {MOST_PERCENT})")
    return 0 if mib <= MOST_MIB and percent <= MOST_PERCENT else 1


if __name__ == "__main__":
    sys.exit(main())
