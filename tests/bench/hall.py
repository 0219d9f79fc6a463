"""A hall: tables and scoreboards on a RabbitMQ cluster, of which a node is stopped and started again during play.

    python tests/bench/hall.py [--tables 100] [--boards 300] [--processes 2] [--speed 1] [--kill]

Three nodes on loopback. Each table stays with one node, in turns; its scoreboards are spread over all three, so
that two of three do not sit at the table's node, and turn to the next node while theirs is away. Everybody plays;
after a while the second node is stopped, and later started again; matches are played to their end. Then each
scoreboard must show what its table shows, and each table what its players know.

Printed are the messages, how long a change took from a table to a scoreboard, apart for the time of the outage
and for those who sat at the lost node, and how long after the node's return each scoreboard was right.
"""

import argparse
import asyncio
import contextlib
import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.hall_boards import Scoreboard, hush_the_library
from tests.support.broker_kinds import RabbitMq, cluster

ROOT = Path(__file__).resolve().parents[2]
STARTED_WITHIN_S = 300.0
FINISHED_WITHIN_S = 600.0
RIGHT_WITHIN_S = 60.0
LOST = 1
"""The node that is stopped."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How big the hall is, and how long its parts last."""

    tables: int = 100
    boards: int = 300
    processes: int = 2
    speed: float = 1.0
    seed: int = 1
    before_s: float = 15.0
    away_s: float = 10.0
    after_s: float = 15.0
    kill: bool = False


@dataclass
class Result:
    """What came of it; `wrong` names each scoreboard or table that does not end as it should."""

    wrong: list[str] = field(default_factory=list)
    figures: dict[str, float | int | str] = field(default_factory=dict)


async def play(plan: Plan, nodes: Sequence[RabbitMq], directory: Path) -> Result:
    """The whole evening, on nodes that run."""
    hush_the_library(asyncio.get_running_loop())
    ports = [node.port for node in nodes]
    jobs = _jobs(plan, ports, directory)
    boards = [
        Scoreboard(_name(number % plan.tables), _turned(ports, number % plan.tables + number // plan.tables))
        for number in range(plan.boards)
    ]
    following: list[asyncio.Task[None]] = []
    processes = [
        subprocess.Popen(  # noqa: ASYNC220 - it returns at once
            [sys.executable, "-m", "tests.bench.hall_tables", str(job)], cwd=ROOT, stdin=subprocess.DEVNULL
        )
        for job in jobs
    ]
    try:

        def alive() -> bool:
            for process in processes:
                assert process.poll() is None, f"a process of tables has ended with {process.returncode}"
            return True

        def opened() -> bool:
            logs = [job.parent / "published.log" for job in jobs]
            told = {line.split()[0] for log in logs if log.exists() for line in log.read_text().splitlines()}
            return alive() and len(told) == plan.tables

        def started() -> bool:
            return alive() and all(board.seq >= 0 for board in boards)

        await _until(opened, STARTED_WITHIN_S, "a state of every table")
        following += [asyncio.create_task(board.follow(number * 0.05)) for number, board in enumerate(boards)]
        await _until(started, STARTED_WITHIN_S, "a state at every scoreboard")
        began_ns = time.monotonic_ns()
        await asyncio.sleep(plan.before_s)
        lost_ns = time.monotonic_ns()
        await asyncio.to_thread(nodes[LOST].kill if plan.kill else nodes[LOST].stop)
        await asyncio.sleep(plan.away_s)
        await asyncio.to_thread(nodes[LOST].start)
        back_ns = time.monotonic_ns()
        await asyncio.sleep(plan.after_s)
        for job in jobs:
            (job.parent / "enough").touch()
        truths = [job.parent / f"{each['name']}.json" for job in jobs for each in json.loads(job.read_text())["tables"]]

        def finished() -> bool:
            return alive() and all(path.exists() and path.read_text().endswith("}") for path in truths)

        await _until(finished, FINISHED_WITHIN_S, "the end of every match")
        tables = {path.stem: json.loads(path.read_text()) for path in truths}
        with contextlib.suppress(AssertionError):  # what is not right by then is told one by one below
            await _until(lambda: not _wrong(boards, tables), RIGHT_WITHIN_S, "the right end everywhere")
        result = Result(_wrong(boards, tables))
        published = [line.split() for job in jobs for line in (job.parent / "published.log").read_text().splitlines()]
        result.figures = _figures(plan, boards, tables, published, began_ns, (lost_ns, back_ns))
        return result
    finally:
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                await asyncio.to_thread(process.wait, 60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _name(number: int) -> str:
    return f"table-{number + 1}"


def _turned(ports: Sequence[int], by: int) -> list[int]:
    """The ports in their circle, from another one on."""
    by %= len(ports)
    return [*ports[by:], *ports[:by]]


def _jobs(plan: Plan, ports: Sequence[int], directory: Path) -> list[Path]:
    """A file for each process of tables."""
    made = []
    for process in range(plan.processes):
        inside = directory / f"process-{process + 1}"
        inside.mkdir()
        tables = [
            {"name": _name(number), "number": number, "ports": _turned(ports, number)}
            for number in range(process, plan.tables, plan.processes)
        ]
        job = inside / "job.json"
        job.write_text(json.dumps({"directory": str(inside), "speed": plan.speed, "seed": plan.seed, "tables": tables}))
        made.append(job)
    return made


def _wrong(boards: Iterable[Scoreboard], tables: dict[str, dict[str, Any]]) -> list[str]:
    """A sentence for each scoreboard that does not show its table, and each table that is not its players' truth."""
    found = [
        f"{name} ends with {table['state']}, its players with {table['truth']}"
        for name, table in tables.items()
        if json.loads(table["state"])["rules"] != table["truth"]
    ]
    for number, board in enumerate(boards, 1):
        table = tables[board.table]
        if board.shown.get("availability") != "online":
            found.append(f"scoreboard {number} shows {board.table} as {board.shown.get('availability')}")
        if board.shown.get("line") != table["line"]:
            found.append(f"scoreboard {number} shows of {board.table} the line {board.shown.get('line')}")
        if board.shown.get("state") != table["state"]:
            found.append(f"scoreboard {number} shows of {board.table} seq {board.seq}, and not {table['state'][:200]}")
    return found


def _figures(
    plan: Plan,
    boards: Sequence[Scoreboard],
    tables: dict[str, dict[str, Any]],
    published: Sequence[Sequence[str]],
    began_ns: int,
    outage_ns: tuple[int, int],
) -> dict[str, float | int | str]:
    first_ns: dict[tuple[str, int, int], int] = {}
    newest: dict[str, int] = {}
    for table, seq, crc, at_ns in published:
        first_ns.setdefault((table, int(seq), int(crc)), int(at_ns))
        if int(at_ns) <= outage_ns[1]:
            newest[table] = max(newest.get(table, -1), int(seq))
    quiet: list[float] = []
    elsewhere: list[float] = []
    right: list[float] = []
    watching = told_offline = 0
    for number, board in enumerate(boards):
        seen: set[tuple[int, int]] = set()
        board_home = (number % plan.tables + number // plan.tables) % 3
        for seq, crc, at_ns, since_ns in board.received:
            said_ns = first_ns.get((board.table, seq, crc))
            # What it was told about a time when it did not listen was not on its way so long.
            if said_ns is None or (seq, crc) in seen or said_ns < max(since_ns, began_ns):
                continue
            seen.add((seq, crc))
            took_ms = (at_ns - said_ns) / 1e6
            if said_ns < outage_ns[0] - 1_000_000_000 or said_ns > outage_ns[1] + 10_000_000_000:
                quiet.append(took_ms)
            elif LOST not in (_home(board.table), board_home):
                elsewhere.append(took_ms)
        arrived = [at_ns for seq, _, at_ns, _ in board.received if seq >= newest[board.table]]
        if _home(board.table) == LOST != board_home:
            watching += 1
            told_offline += any(
                word == "offline" and outage_ns[0] <= at_ns <= outage_ns[1] for word, at_ns in board.availability
            )
        right.append(max(0.0, (min(arrived) - outage_ns[1]) / 1e9) if arrived else float("inf"))
    return {
        "tables": plan.tables,
        "scoreboards": plan.boards,
        "played_s": round((time.monotonic_ns() - began_ns) / 1e9, 1),
        "node_away_s": round((outage_ns[1] - outage_ns[0]) / 1e9, 1),
        "matches": sum(table["matches"] for table in tables.values()),
        "published": sum(table["published"] for table in tables.values()),
        "received": sum(board.messages for board in boards),
        "latency_median_ms": round(statistics.median(quiet), 1),
        "latency_p99_ms": round(_part(quiet, 0.99), 1),
        "latency_max_ms": round(max(quiet), 1),
        "other_nodes_during_outage_p99_ms": round(_part(elsewhere, 0.99), 1) if elsewhere else "none",
        "right_after_return_median_s": round(statistics.median(right), 1),
        "right_after_return_max_s": round(max(right), 1),
        "told_offline_elsewhere": f"{told_offline} of {watching}",
        "connects": sum(board.connects for board in boards),
        "asked_sync": sum(board.asked for board in boards),
        "older_ignored": sum(board.older for board in boards),
        "retained_states": sum(board.retained_at_first for board in boards),
        "requests_repeated": sum(table["repeats"] for table in tables.values()),
    }


def _home(table: str) -> int:
    """Which node is the table's."""
    return (int(table.rsplit("-", 1)[1]) - 1) % 3


def _part(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


async def _until(condition: Any, within_s: float, what: str) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come about in {within_s:g} s")
        await asyncio.sleep(0.1)


def main() -> int:
    """Play and print; 1 where anything is wrong at the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--boards", type=int, default=300)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--speed", type=float, default=1.0, help="simulated seconds in a real one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kill", action="store_true", help="end the node without a word")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    plan = Plan(**vars(given))
    with tempfile.TemporaryDirectory(prefix="pocketbeam-hall-") as text:
        began = time.monotonic()
        with cluster(Path(text)) as nodes:
            print(f"three nodes are up after {time.monotonic() - began:.1f} s", flush=True)
            result = asyncio.run(play(plan, nodes, Path(text)))
    for name, value in result.figures.items():
        print(f"{name:34} {value}")
    for sentence in result.wrong:
        print(sentence)
    print("every scoreboard ends right" if not result.wrong else f"{len(result.wrong)} are wrong")
    return 1 if result.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
