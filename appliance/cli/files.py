"""The files and directories that commands are given, opened or refused with a sentence."""

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from appliance.cli.sentences import WrongUse, say

if TYPE_CHECKING:
    from appliance.config import Settings


def tables(files: Sequence[str]) -> "tuple[Settings, ...]":
    """The tables of the files; everything that is wrong in them is said, the last of it as wrong use."""
    from appliance.config import ConfigurationError, load_all

    try:
        return load_all(files)
    except ConfigurationError as error:
        *before, last = error.problems
        for problem in before:
            say(str(problem))
        raise WrongUse(str(last)) from None


@contextlib.contextmanager
def input_lines(name: str) -> Iterator[IO[bytes]]:
    """A file to read by lines of bytes; `-` is standard input."""
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        file = Path(name).open("rb")  # noqa: SIM115  # closed below; only the opening is bad input
    except OSError as error:
        raise WrongUse(f"{name} cannot be read: {(error.strerror or str(error)).lower()}") from None
    with file:
        yield file


@contextlib.contextmanager
def new_file(name: str) -> Iterator[IO[str]]:
    """A file that was not there before; `-` is standard output."""
    if name == "-":
        yield sys.stdout
        return
    try:
        file = Path(name).open("x", encoding="utf-8")  # noqa: SIM115  # closed below; only the opening is wrong use
    except OSError as error:
        raise WrongUse(f"{name} cannot be written: {(error.strerror or str(error)).lower()}") from None
    with file:
        yield file


def directory(path: Path) -> Path:
    """A directory that is there."""
    if not path.is_dir():
        raise WrongUse(f"there is no directory {path}")
    return path
