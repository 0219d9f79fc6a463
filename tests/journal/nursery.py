"""Brings up journalling children to be killed; a program of its own, because only one thread may fork.

Each line on its standard input is a state directory: a child opens the journal there and appends without
end, in bursts of a size drawn from the round's seed, printing what it recovered and each position as it is
reported durable. When the child is dead, the nursery says so and takes the next line.
"""

import os
import random
import sys
import time
from pathlib import Path

from appliance.journal import Journal
from tests.journal.material import batch


def say(text: str) -> None:
    """One line, in one write, so that a kill cannot tear it."""
    os.write(1, f"{text}\n".encode())


def journal_without_end(directory: Path, seed: int) -> None:
    choose = random.Random(seed)
    journal = Journal(directory, "club-1", lambda position: say(f"synced {position}"))
    seq = journal.open().last_seq
    say(f"recovered {seq}")
    while True:
        for _ in range(choose.choice((1, 1, 2, 5, 20))):
            seq += 1
            journal.append(batch(seq, match=seq // 100 + 1))
        time.sleep(choose.uniform(0, 0.001))


def main() -> None:
    for seed, line in enumerate(sys.stdin):
        child = os.fork()
        if child == 0:
            journal_without_end(Path(line.strip()), seed)
        say(f"child {child}")
        os.waitpid(child, 0)
        say("dead")


if __name__ == "__main__":
    main()
