"""What is wrong with a configuration, in sentences that say what, where and what would be right."""

from collections.abc import Iterable
from dataclasses import dataclass

from appliance.config.lines import KeyPath
from appliance.misspelt import meant


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong (or doubtful) in one file; `line` is None where the text has no line for it."""

    key_path: str
    line: int | None
    sentence: str
    file: str = ""

    def __str__(self) -> str:
        """`file:line: key: sentence`, without the parts that are not known."""
        place = f"{self.file}:{self.line}" if self.line and self.file else self.file
        if not place and self.line:
            place = f"line {self.line}"
        return ": ".join(part for part in (place, self.key_path, self.sentence) if part)


class ConfigurationError(Exception):
    """A configuration that cannot be used, with all that is wrong in it, in the order of the text."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Keep `problems` in order; they may come from several files."""
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def dotted(path: KeyPath) -> str:
    """A key path as people write it: `beams[1].channel`, `rules."cc.target"`; list elements count from 0."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            bare = part.replace("_", "").replace("-", "").isalnum() and part.isascii()
            text += ("." if text else "") + (part if bare else f'"{part}"')
    return text


def nearest(name: str, valid: Iterable[str]) -> str:
    """`; did you mean "x"?` where a valid name is near, else the list of the valid ones."""
    names = list(valid)
    near = meant(name.lower(), [each.lower() for each in names], alike=0.5)
    for each in names:
        if each.lower() == near:
            return f'; did you mean "{each}"?'
    return f"; it can be {one_of(names)}" if names else ""


def one_of(names: Iterable[object]) -> str:
    """`"a", "b" or "c"`."""
    quoted = [f'"{name}"' if isinstance(name, str) else str(name) for name in names]
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + " or " + quoted[-1]
