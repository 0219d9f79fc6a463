"""`status`, `export`, `backup` and `restore`: what a table has written down, wherever its directory is."""

import sys
from argparse import Namespace
from pathlib import Path

from appliance.cli import files
from appliance.cli.parser import Command, Parser
from appliance.cli.sentences import WELL, FoundWrong


def _state_dir(parser: Parser) -> None:
    parser.add_argument("--state-dir", required=True, type=Path, metavar="DIR", help="state_dir in the table's file")


def _status(options: Namespace) -> int:
    directory = files.directory(options.state_dir)
    from appliance.status import status_text

    print(status_text(directory))
    return WELL


def _export_arguments(parser: Parser) -> None:
    parser.add_argument("--observations", action="store_true", required=True, help="a match, as score reads it")
    _state_dir(parser)
    parser.add_argument("--match", metavar="ID", help="default: the latest")


def _export(options: Namespace) -> int:
    directory = files.directory(options.state_dir)
    from appliance.export import export_observations

    return export_observations(directory, options.match, sys.stdout, sys.stderr)


def _backup_arguments(parser: Parser) -> None:
    _state_dir(parser)
    parser.add_argument("file", metavar="FILE", nargs="?", type=Path, help="default: a dated one here")


def _backup(options: Namespace) -> int:
    directory = files.directory(options.state_dir)
    from appliance.backup import back_up
    from appliance.clock import SystemClock
    from appliance.journal import JournalError

    try:
        print(back_up(directory, options.file, SystemClock()))
    except JournalError as error:
        raise FoundWrong(str(error)) from None
    return WELL


def _restore_arguments(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="what backup has written")
    _state_dir(parser)


def _restore(options: Namespace) -> int:
    from appliance.backup import restore
    from appliance.clock import SystemClock
    from appliance.journal import JournalError

    try:
        print(restore(options.file, options.state_dir, SystemClock()))
    except JournalError as error:
        raise FoundWrong(str(error)) from None
    return WELL


COMMANDS = (
    Command("status", "Say what a table's journal holds: the match, the score, its health.", _state_dir, _status),
    Command("export", "Write what a table keeps as text.", _export_arguments, _export),
    Command("backup", "Copy a table's journal to a file, while it plays on.", _backup_arguments, _backup),
    Command("restore", "Make a backup a table's journal again; what was there is kept.", _restore_arguments, _restore),
)
