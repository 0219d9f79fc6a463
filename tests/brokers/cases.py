"""A case of the brokers' contract: one sentence, and by broker what a known defect means for people.

A defect is a strict expected failure: where a newer version of a broker mends it, the suite says so. The
sentences are also the rows of the table in `docs/hall.md`; `python -m tests.brokers.cases` prints that table.
"""

import asyncio
import functools
import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.broker_kinds import KINDS

NAMES = {"embedded": "embedded", "mosquitto": "mosquitto", "rabbitmq": "RabbitMQ", "nats": "NATS"}


@dataclass(frozen=True, slots=True)
class Case:
    """`what` a broker does; `defects`: by broker, the consequence of its not doing so."""

    what: str
    defects: Mapping[str, str]


def case(what: str, **defects: str) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Makes a coroutine function a case of the contract, run in a loop of its own."""
    assert set(defects) <= set(KINDS), defects

    def made(scenario: Callable[..., Any]) -> Callable[..., None]:
        @functools.wraps(scenario)
        def run(*arguments: Any, **named: Any) -> None:
            asyncio.run(scenario(*arguments, **named))

        run.case = Case(what, defects)  # type: ignore[attr-defined]
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
    lines = [f"| | {' | '.join(NAMES[kind] for kind in KINDS)} |", "|---|" + "---|" * len(KINDS)]
    notes: dict[str, list[str]] = {}
    for each in every_case():
        cells = []
        for kind in KINDS:
            consequence = each.defects.get(kind)
            if consequence is None:
                cells.append("yes")
                continue
            concerned = notes.setdefault(consequence, [])
            if NAMES[kind] not in concerned:
                concerned.append(NAMES[kind])
            cells.append(f"no ({list(notes).index(consequence) + 1})")
        lines.append(f"| {each.what} | {' | '.join(cells)} |")
    told = [f"{n}. {', '.join(brokers)}: {what}" for n, (what, brokers) in enumerate(notes.items(), 1)]
    return "\n".join([*lines, "", *told]) + "\n"


if __name__ == "__main__":
    print(table(), end="")
