"""From the words of a command line to the command and its options, with errors that are sentences.

argparse does the reading. What it says of a mistake is put into our words, and the nearest valid one is offered.
"""

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from appliance import __version__
from appliance.cli import log
from appliance.cli.sentences import WrongUse, nearest


class Parser(argparse.ArgumentParser):
    """A parser whose errors are sentences, with the nearest valid word."""

    def error(self, message: str) -> NoReturn:
        """Raise `message` as a sentence."""
        message = re.sub(r"^argument ([^:]+): ", r"\1: ", message)
        choice = re.search(r"invalid choice: '([^']*)'", message)
        if choice:
            where = message.split(": ")[0]
            valid = re.findall(r"[\w-]+", message.split("choose from", 1)[1])
            message = f'{where}: "{choice.group(1)}" is not possible{nearest(choice.group(1), valid)}'
        message = re.sub(r"^the following arguments are required: ", "missing: ", message)
        raise WrongUse(f"{message} (see {self.prog} --help)")


@dataclass(frozen=True, slots=True)
class Command:
    """One command: what it is called, what it does in a sentence, what it is given, and its body."""

    name: str
    what: str
    arguments: Callable[[Parser], None]
    run: Callable[[argparse.Namespace], int]


def parse(commands: Sequence[Command], arguments: Sequence[str]) -> argparse.Namespace:
    """The options of one command, whose body is `run` among them."""
    parser, parsers = _parsers(commands)
    word = _command_word(arguments)
    if word is not None and word not in parsers:
        raise WrongUse(f'there is no command "{word}"{nearest(word, list(parsers))}')
    options, left_over = parser.parse_known_args(arguments)
    if not hasattr(options, "run"):
        raise WrongUse(f"which command? One of {', '.join(parsers)} (see pocketbeam --help)")
    if left_over:
        unknown = left_over[0].split("=")[0]
        if not unknown.startswith("-"):
            raise WrongUse(f'{word} cannot do anything with "{unknown}" (see pocketbeam {word} --help)')
        valid = sorted(set(re.findall(r"(?<![\w-])--[a-z-]+", parsers[str(word)].format_help())))
        raise WrongUse(f"{word} has no option {unknown}{nearest(unknown, valid)}")
    return options


def _command_word(arguments: Sequence[str]) -> str | None:
    """The first argument that is neither an option nor the level of `--log-level`."""
    rest = iter(arguments)
    for each in rest:
        if each == "--log-level":
            next(rest, None)
        elif not each.startswith("-"):
            return each
    return None


def _parsers(commands: Sequence[Command]) -> tuple[Parser, dict[str, Parser]]:
    """The parser of everything, and that of each command by its name."""
    common = Parser(add_help=False)
    common.add_argument(
        "--log-level",
        choices=log.LEVELS,
        default=argparse.SUPPRESS,
        metavar="LEVEL",
        help=f"what to log: {', '.join(log.LEVELS)} (default: info)",
    )
    parser = Parser(
        prog="pocketbeam",
        description="A scoring appliance for carrom boards and carpetball tables.",
        parents=[common],
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"pocketbeam {__version__}")
    places = parser.add_subparsers(metavar="COMMAND", dest="command")
    parsers: dict[str, Parser] = {}
    for command in commands:
        of_command = places.add_parser(
            command.name, help=command.what, description=command.what, parents=[common], allow_abbrev=False
        )
        command.arguments(of_command)
        of_command.set_defaults(run=command.run)
        parsers[command.name] = of_command
    return parser, parsers
