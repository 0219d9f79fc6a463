"""A year of play in an afternoon: `python -m tests.soak [--hours 150] [--seed 1] [--directory PATH]`.

Hours are hours of play in virtual time; a busy table plays about 110 of them, 50,000 strokes, in a year. Ctrl-C
ends the run with the figures so far. The exit status is 1 where a score was not what the players did.
"""

import argparse
import logging
import sys
import tempfile
import time
from pathlib import Path

from tests.soak.year import Club, Figures, UntrueError

MEGABYTE = 1 << 20


def main() -> int:
    """Run, and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__.partition("\n")[0])
    parser.add_argument("--hours", type=float, default=150.0, help="of play at the tables, in virtual time")
    parser.add_argument("--seed", type=int, default=1, help="what is played and what goes wrong follow from it")
    parser.add_argument("--directory", type=Path, help="where the journals are made (and removed)")
    parser.add_argument("--every", type=float, default=6.0, help="seconds from one fault to the next, on average")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    status, began_s, said_s = 0, time.monotonic(), time.monotonic()
    with tempfile.TemporaryDirectory(dir=arguments.directory) as directory:
        club = Club(arguments.seed, Path(directory), arguments.every)
        try:
            while club.figures.played_s < arguments.hours * 3600:
                club.evening()
                if time.monotonic() - said_s > 60:
                    said_s = time.monotonic()
                    print(progress(club.figures, said_s - began_s), flush=True)
        except UntrueError as error:
            print(f"seed {arguments.seed}, evening {club.evenings}: {error}", file=sys.stderr)
            status = 1
        except KeyboardInterrupt:
            print("ended early")
        finally:
            club.close()
    print(report(club.figures, time.monotonic() - began_s))
    return status


def progress(figures: Figures, took_s: float) -> str:
    """One line on the way."""
    memory = figures.memory[-1] / MEGABYTE
    hours = figures.played_s / 3600
    return f"{took_s / 60:5.0f} min: {hours:6.1f} h of play, {figures.strokes} strokes, {memory:.0f} MiB"


def report(figures: Figures, took_s: float) -> str:
    """The figures in full."""
    games = ", ".join(f"{number} {game}" for game, number in sorted(figures.matches.items()))
    lines = [
        f"{figures.played_s / 3600:.1f} hours of play in {took_s / 60:.0f} minutes: {figures.strokes} strokes in "
        f"{figures.matches.total()} matches ({games}) that came to what the players did",
        f"{figures.hurt} strokes were hurt by a reboot in the middle of a fall, and told by the umpire as a whole",
        *(f"  {count:6} {fault}" for fault, count in sorted(figures.faults.items())),
        *(f"  at most {took_s:.2f} s until well again: {what}" for what, took_s in sorted(figures.slowest_s.items())),
        f"at most {figures.queued} messages and {figures.waiting} outputs waited",
    ]
    if figures.memory:
        middle = figures.memory[len(figures.memory) // 2]
        lines.append(
            f"memory {figures.memory[0] / MEGABYTE:.1f} MiB after the first evening, {middle / MEGABYTE:.1f} half "
            f"way, {figures.memory[-1] / MEGABYTE:.1f} at the end, {max(figures.memory) / MEGABYTE:.1f} at most"
        )
    for kind, sizes in figures.sizes.items():
        if sizes:
            strokes, size, rows = sizes[-1]
            lines.append(
                f"journal of the {kind} table: {size / MEGABYTE:.1f} MiB after {strokes} strokes, "
                f"{bytes_a_stroke(sizes):.0f} bytes a stroke in the second half, {rows} rows of evidence"
            )
    return "\n".join(lines)


def bytes_a_stroke(sizes: list[tuple[int, int, int]]) -> float:
    """How fast the file grew in the second half, by the strokes of its own table."""
    (strokes0, size0, _), (strokes1, size1, _) = sizes[len(sizes) // 2], sizes[-1]
    return (size1 - size0) / max(1, strokes1 - strokes0)


if __name__ == "__main__":
    sys.exit(main())
