"""A case of the brokers' contract: one sentence, and by broker what a known defect means for people.

A defect is a strict expected failure: where a newer version of a broker mends it, the suite says so, and from
that version on the case has to pass. The sentences are also the rows of the table in `docs/hall.md`;
`python -m tests.brokers.cases` prints that table.
"""

import asyncio
import functools
import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.broker_kinds import KINDS

Version = tuple[int, ...]
TRIED: Mapping[tuple[str, Version], str] = {
    ("embedded", ()): "embedded",
    ("mosquitto", ()): "mosquitto",
    ("rabbitmq", (3, 10)): "RabbitMQ 3.10",
    ("rabbitmq", (4, 0)): "RabbitMQ 4.0",
    ("nats", (2, 9)): "NATS 2.9",
    ("nats", (2, 10)): "NATS 2.10",
}
"""The columns of the table: the brokers, in the versions that differ in something."""


@dataclass(frozen=True, slots=True)
class Defect:
    """What a broker's not doing so means for people, and the first version that was seen to do it."""

    consequence: str
    mended_in: Version | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """`what` a broker does; `defects`: by broker, that it does not."""

    what: str
    defects: Mapping[str, Defect]

    def consequence(self, kind: str, version: Version) -> str | None:
        """What people have to expect of this version of the broker; None where it does what it should."""
        defect = self.defects.get(kind)
        if defect is None or (defect.mended_in is not None and version >= defect.mended_in):
            return None
        return defect.consequence


def case(what: str, **defects: str | Defect) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Makes a coroutine function a case of the contract, run in a loop of its own."""
    assert set(defects) <= set(KINDS), defects
    known = {kind: found if isinstance(found, Defect) else Defect(found) for kind, found in defects.items()}

    def made(scenario: Callable[..., Any]) -> Callable[..., None]:
        @functools.wraps(scenario)
        def run(*arguments: Any, **named: Any) -> None:
            asyncio.run(scenario(*arguments, **named))

        run.case = Case(what, known)  # type: ignore[attr-defined]
        return run

    return made


def case_of(function: Any) -> Case | None:
    """The case behind a test function."""
    found: Case | None = getattr(function, "case", None)
    return found


def every_case() -> Iterator[Case]:
    """All of them, concern by concern."""
    contract = importlib.import_module("tests.brokers.contract")
    tests = (value for name, value in vars(contract).items() if name.startswith("test_"))
    yield from filter(None, map(case_of, tests))


def table() -> str:
    """The suite against the brokers, with a numbered note for each defect, as Markdown."""
    lines = [f"| | {' | '.join(TRIED.values())} |", "|---|" + "---|" * len(TRIED)]
    notes: dict[str, list[str]] = {}
    for each in every_case():
        cells = []
        for (kind, version), name in TRIED.items():
            consequence = each.consequence(kind, version)
            if consequence is None:
                cells.append("yes")
                continue
            concerned = notes.setdefault(consequence, [])
            if name not in concerned:
                concerned.append(name)
            cells.append(f"no ({list(notes).index(consequence) + 1})")
        lines.append(f"| {each.what} | {' | '.join(cells)} |")
    told = [f"{n}. {', '.join(brokers)}: {what}" for n, (what, brokers) in enumerate(notes.items(), 1)]
    return "\n".join([*lines, "", *told]) + "\n"


if __name__ == "__main__":
    print(table(), end="")
