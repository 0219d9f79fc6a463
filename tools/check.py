"""Every check of the repository, one after the other; goes on after a failure, so that all of them show.

First the style, the types and the arrows between the layers, then the tests: those without processes and
ports, one for each processor; the real ones, which wait more than they work, more side by side, each file in
one place because its tests share their servers; and one at a time those that measure real time. The last line
counts the tests of all in pytest's own words. `--quick` leaves the real ones out.
"""

import argparse
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
STYLE = {
    "ruff check": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "."],
    "mypy": ["mypy"],
    "import-linter": ["lint-imports"],
}
TESTS = {
    "pure tests": ["-m", "not real", "-n", "2"],
    "real tests": ["-m", "real and not alone", "-n", "3", "--dist", "loadfile"],
    "real tests of time": ["-m", "alone"],
}


def main() -> int:
    """Run the steps, print the totals and return 1 where anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="no brokers, processes and browsers")
    quick = parser.parse_args().quick
    started = time.monotonic()
    bad = [name for name, command in STYLE.items() if not run(name, command)]
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as directory:
        for name, selection in TESTS.items():
            if quick and name.startswith("real"):
                continue
            results = Path(directory) / f"{name}.xml"
            if not run(name, ["pytest", *selection, f"--junit-xml={results}"]):
                bad.append(name)
            total += counted(results)
    if bad:
        print(f"\nNot well: {', '.join(bad)}")
    figures = [f"{total['passed']} passed", f"{total['failed']} failed"]
    figures += [f"{total[kind]} {kind}" for kind in ("errors", "skipped") if total[kind]]
    print(f"{', '.join(figures)} in {time.monotonic() - started:.2f}s")
    return 1 if bad else 0


def run(name: str, command: list[str]) -> bool:
    """Run one step in the open and return whether it went well."""
    print(f"== {name}", flush=True)
    return subprocess.run([str(BIN / command[0]), *command[1:]], cwd=ROOT, check=False).returncode == 0


def counted(results: Path) -> Counter[str]:
    """The figures of one run of pytest; a run that ended before it could write them counts as one error."""
    if not results.exists():
        return Counter(errors=1)
    figures: Counter[str] = Counter()
    for suite in ElementTree.parse(results).getroot().iter("testsuite"):
        figures["failed"] += int(suite.get("failures", 0))
        figures["errors"] += int(suite.get("errors", 0))
        figures["skipped"] += int(suite.get("skipped", 0))
        figures["passed"] += int(suite.get("tests", 0))
    figures["passed"] -= figures["failed"] + figures["errors"] + figures["skipped"]
    return figures


if __name__ == "__main__":
    sys.exit(main())
