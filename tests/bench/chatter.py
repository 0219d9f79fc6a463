"""What a loose wire costs the journal: rows and bytes written in a minute of a beam that chatters.

    python tests/bench/chatter.py [DIRECTORY]

The widths are those of a floating input, exponential, so that some of them are long enough for a passage. The edges
come from a board or from a pin; what has come within 20 ms is one commit, as on a slow card, since that is what decides
how often pages are written. No time is measured: the figures are the same on every machine.
"""

import sys
import tempfile
from pathlib import Path
from random import Random

from appliance.engine import Engine
from appliance.events import Edge, EdgeId, Levels, SourceBack, SourceInput
from appliance.journal import Batch, Stamp
from appliance.journal.store import Store
from appliance.sensing.bank import Beam
from appliance.sensing.debounce import CARROM_POCKET
from appliance.table.model import Policy, Seat

MINUTE_NS = 60_000_000_000
COMMIT_NS = 20_000_000
HEARTBEAT_NS = 250_000_000
OBJECTS = ("white", "black", "queen", "striker")


def chatter(mean_ns: int, *, numbered: bool) -> list[SourceInput]:
    """A minute of it, with the source's heartbeats."""
    random, at_ns, level, heartbeat_ns = Random(1), 1_000_000_000, 0, HEARTBEAT_NS
    found: list[SourceInput] = [SourceBack("board", 7 if numbered else None, 0), Levels("board", ((0, 0),), 1)]
    end_ns, sequence = at_ns + MINUTE_NS, 0
    while (at_ns := at_ns + round(random.expovariate(1 / mean_ns))) < end_ns:
        while heartbeat_ns < at_ns:
            found.append(Levels("board", ((0, level),), heartbeat_ns))
            heartbeat_ns += HEARTBEAT_NS
        level = 1 - level
        found.append(Edge("board", 0, level, at_ns, EdgeId(7, sequence) if numbered else None))
        sequence += 1
    return found


def written_bytes() -> int:
    """What this process has given to the system to write."""
    (found,) = (line for line in Path("/proc/self/io").read_text().splitlines() if line.startswith("wchar:"))
    return int(found.split()[1])


def measure(name: str, items: list[SourceInput], parent: str | None) -> None:
    """Have the table hear it, and print what that costs."""
    seats = (Seat("Asha", "Asha"), Seat("Ben", "Ben"))
    engine = Engine(
        "t1",
        Policy("club_carrom", seats, {}, "ask", 6_000_000_000, False),
        (Beam("ne", "board", 0, "ne", OBJECTS, 1, CARROM_POCKET),),
    )
    with tempfile.TemporaryDirectory(dir=parent) as directory:
        store = Store.create(Path(directory))
        store.write([output.batch for output in engine.recover(store.recover(), Stamp("host", 0, 0, True))])
        group: list[Batch] = []
        begun_bytes, commits, due_ns, edges = written_bytes(), 0, COMMIT_NS, 0
        for item in items:
            if item.at_ns >= due_ns and group:
                store.write(group)
                group, commits, due_ns = [], commits + 1, item.at_ns + COMMIT_NS
            edges += isinstance(item, Edge)
            for output in engine.handle(item, Stamp("host", item.at_ns, item.at_ns, True)):
                if output.batch.records or output.batch.rows:
                    group.append(output.batch)
        store.write(group)
        store.checkpoint()
        written = written_bytes() - begun_bytes
        (rows,) = store.connection.execute("SELECT count(*) FROM source_row").fetchone()
        (pages,) = store.connection.execute("PRAGMA page_count").fetchone()
        store.close()
    print(
        f"{name}: {edges} edges, {rows} rows kept, {commits + 1} commits, {written / 1e6:.1f} MB written,"
        f" {pages * 4096 / 1e6:.2f} MB of file"
    )


def main() -> None:
    """Measure and print."""
    parent = sys.argv[1] if len(sys.argv) > 1 else None
    for name, mean_ns in (("1 kHz", 500_000), ("100 Hz", 5_000_000)):
        measure(f"{name}, from a board", chatter(mean_ns, numbered=True), parent)
        measure(f"{name}, from a pin", chatter(mean_ns, numbered=False), parent)


if __name__ == "__main__":
    main()
