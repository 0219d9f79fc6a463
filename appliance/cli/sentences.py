"""How a command says what went wrong, and the exit status that goes with it.

Whatever ends a command early is an exception whose text is the sentence; `main` alone prints it. So a command's
body reads straight on, and no sentence is said twice or without its status.
"""

import contextlib
import sys
from collections.abc import Sequence

from appliance.misspelt import meant

WELL, FOUND_WRONG, WRONG_USE, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141


class CommandError(Exception):
    """The command cannot go on; the text is the sentence."""

    status = FOUND_WRONG


class WrongUse(CommandError):
    """It was asked for wrongly, or what it was given cannot be used."""

    status = WRONG_USE


class FoundWrong(CommandError):
    """It was asked for rightly, and something is wrong with the table, the machine or the broker."""


def say(sentence: str) -> None:
    """One sentence on standard error."""
    with contextlib.suppress(OSError):
        print(f"pocketbeam: {sentence}", file=sys.stderr, flush=True)


def nearest(word: str, valid: Sequence[str]) -> str:
    """The end of a sentence about a `word` that is not possible: the one that was probably meant, or all."""
    near = meant(word, valid)
    return f'; did you mean "{near}"?' if near else f"; it can be {', '.join(valid)}"
