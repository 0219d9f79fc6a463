"""Collecting problems while a document is read, and reading values of which nothing is known yet."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from appliance.config.lines import KeyPath, line_of
from appliance.config.problems import Problem, dotted


@dataclass
class Report:
    """What was found in one file so far; a thing said twice is kept once."""

    file: str
    lines: dict[KeyPath, int]
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def wrong(self, path: KeyPath, sentence: str) -> None:
        """Something for which the configuration cannot be used."""
        self._keep(self.problems, path, sentence)

    def doubtful(self, path: KeyPath, sentence: str) -> None:
        """Something that works, but perhaps not as its author wished."""
        self._keep(self.warnings, path, sentence)

    def _keep(self, kept: list[Problem], path: KeyPath, sentence: str) -> None:
        problem = Problem(dotted(path), line_of(self.lines, path), sentence, self.file)
        if problem not in kept:
            kept.append(problem)


@dataclass(frozen=True)
class View:
    """A table of the document whose values may be anything: what has the wrong type reads as None.

    The wrong type itself is reported where the models are filled; this lets the checks between keys
    go on around it, so that all problems come at once.
    """

    path: KeyPath
    raw: dict[str, Any]

    def has(self, key: str) -> bool:
        """Whether the key is there, whatever its value."""
        return key in self.raw

    def text(self, key: str) -> str | None:
        """A string."""
        value = self.raw.get(key)
        return value if isinstance(value, str) else None

    def whole(self, key: str) -> int | None:
        """A whole number."""
        value = self.raw.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def section(self, key: str) -> "View":
        """A table inside, empty where there is none."""
        value = self.raw.get(key)
        return View((*self.path, key), value if isinstance(value, dict) else {})

    def tables(self, key: str) -> Iterator["View"]:
        """The tables of a list."""
        value = self.raw.get(key)
        for index, each in enumerate(value if isinstance(value, list) else []):
            if isinstance(each, dict):
                yield View((*self.path, key, index), each)

    def elements(self, key: str) -> Iterator[tuple[KeyPath, Any]]:
        """The elements of a list, each with its path."""
        value = self.raw.get(key)
        for index, each in enumerate(value if isinstance(value, list) else []):
            yield (*self.path, key, index), each
