"""What a look at a part of the table came to: one line each, for people."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """How a part is. Only `WRONG` makes a table unwell."""

    WELL = "well"
    NOTE = "note"  # works, and somebody should know
    UNKNOWN = "?"  # cannot be judged before something else is put right
    WRONG = "WRONG"


@dataclass(frozen=True, slots=True)
class Finding:
    """One part (`beam ne`), its verdict, and the sentence: how it is, or what is wrong and what to do."""

    part: str
    verdict: Verdict
    sentence: str


def well(part: str, sentence: str) -> Finding:
    """All is well with `part`."""
    return Finding(part, Verdict.WELL, sentence)


def note(part: str, sentence: str) -> Finding:
    """Nothing is wrong with `part`, but somebody should know."""
    return Finding(part, Verdict.NOTE, sentence)


def unknown(part: str, sentence: str) -> Finding:
    """Nothing can be said about `part` yet."""
    return Finding(part, Verdict.UNKNOWN, sentence)


def wrong(part: str, sentence: str) -> Finding:
    """Something must be done about `part`."""
    return Finding(part, Verdict.WRONG, sentence)


def lines(findings: Iterable[Finding]) -> list[str]:
    """The findings as lines, in columns."""
    known = list(findings)
    width = max((len(each.part) for each in known), default=0)
    return [f"{each.verdict.value:<5}  {each.part:<{width}}  {each.sentence}" for each in known]


def something_is_wrong(findings: Iterable[Finding]) -> bool:
    """Whether one of them is `WRONG`."""
    return any(each.verdict is Verdict.WRONG for each in findings)
