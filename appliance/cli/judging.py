"""`score`, `record`, `replay` and `rejudge`: what was played, ruled on, written down, played again, judged anew."""

import sys
from argparse import Namespace
from pathlib import Path

from appliance.cli import files
from appliance.cli.parser import Command, Parser
from appliance.cli.sentences import WELL, FoundWrong, WrongUse, say
from appliance.cli.values import GAMES, duration


def _score_arguments(parser: Parser) -> None:
    parser.add_argument("game", metavar="GAME", choices=GAMES, help=", ".join(GAMES))
    parser.add_argument("file", metavar="FILE", nargs="?", default="-", help="default: standard input")


def _score(options: Namespace) -> int:
    with files.input_lines(options.file) as lines:
        from appliance.score import score

        return score(options.game, lines, sys.stdout, sys.stderr)


def _record_arguments(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="a new one; - is standard output")
    parser.add_argument("--config", required=True, metavar="FILE", help="the table's file")
    parser.add_argument("--last", type=duration, metavar="10m", help="what was, instead of what comes: 90s, 10m, 2h")


def _record(options: Namespace) -> int:
    (settings,) = files.tables([options.config])
    import asyncio

    from appliance.clock import SystemClock
    from appliance.journal import JournalError
    from appliance.tools.record import RecordError, record_last, record_live

    clock = SystemClock()
    try:
        with files.new_file(options.file) as out:
            if options.last is not None:
                told = record_last(settings, options.last, clock, out)
            else:
                say("recording until Ctrl-C")
                told = asyncio.run(record_live(settings, clock, out))
    except (RecordError, JournalError) as error:
        if options.file != "-":
            Path(options.file).unlink(missing_ok=True)
        raise FoundWrong(str(error)) from None
    say(told)
    return WELL


def _replay_arguments(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="a recording; - is standard input")


def _replay(options: Namespace) -> int:
    with files.input_lines(options.file) as lines:
        from appliance.replay import replay

        return replay(lines, sys.stdout, sys.stderr)


def _rejudge_arguments(parser: Parser) -> None:
    parser.add_argument("--config", required=True, metavar="FILE", help="the table's file, with the settings to try")
    parser.add_argument("--match", metavar="ID", help="default: the latest")


def _rejudge(options: Namespace) -> int:
    (settings,) = files.tables([options.config])
    from appliance.journal import JournalError, read
    from appliance.tools.record import RecordError
    from appliance.tools.rejudge import rejudge

    try:
        with read(settings.table.state_dir) as reader:
            rejudge(reader, settings, options.match, sys.stdout)
    except (RecordError, JournalError) as error:
        raise WrongUse(str(error)) from None
    return WELL


COMMANDS = (
    Command("score", "Rule on observations, one JSON object a line.", _score_arguments, _score),
    Command(
        "record", "Write down what a table sees, to attach to a report or to play again.", _record_arguments, _record
    ),
    Command("replay", "Run recorded edges through the appliance and print its events.", _replay_arguments, _replay),
    Command(
        "rejudge",
        "Judge a played match anew with other settings, and say the difference.",
        _rejudge_arguments,
        _rejudge,
    ),
)
