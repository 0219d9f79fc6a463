"""`run`, `check-config`, `doctor` and `calibrate`: real tables, each told by its file."""

import logging
import sys
from argparse import Namespace

from appliance.cli import files
from appliance.cli.log import set_up_logging
from appliance.cli.parser import Command, Parser
from appliance.cli.sentences import WELL, WrongUse


def _tables_arguments(parser: Parser) -> None:
    parser.add_argument("--config", action="append", required=True, metavar="FILE", help="one a table")


def _run(options: Namespace) -> int:
    tables = files.tables(options.config)
    log = logging.getLogger("appliance.config")
    for warning in (warning for table in tables for warning in table.warnings):
        log.warning("%s", warning)
    from appliance import process

    return process.run(list(tables))


def _check_config_arguments(parser: Parser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="*", help="one a table")
    parser.add_argument("--config", action="append", default=[], metavar="FILE", help="the same as FILE")


def _check_config(options: Namespace) -> int:
    given = [*options.files, *options.config]
    if not given:
        raise WrongUse("check-config needs the name of at least one configuration file")
    for table in files.tables(given):
        for warning in table.warnings:
            print(f"warning: {warning}")
        print(f'{table.file}: table "{table.table.id}" is well')
    return WELL


def _doctor(options: Namespace) -> int:
    tables = files.tables(options.config)
    from appliance.clock import SystemClock
    from appliance.tools.doctor import doctor

    return doctor(tables, SystemClock(), sys.stdout)


def _calibrate_arguments(parser: Parser) -> None:
    parser.add_argument("--config", required=True, metavar="FILE", help="the table's file")
    parser.add_argument("--again", action="store_true", help="measure anew what was measured already")


def _calibrate(options: Namespace) -> int:
    (settings,) = files.tables([options.config])
    import asyncio

    from appliance.clock import SystemClock
    from appliance.tools.calibrate import calibrate
    from appliance.tools.console import Terminal

    set_up_logging("critical")  # what sources log while they are tried is said by the guide

    async def guided() -> int:
        terminal = Terminal()
        terminal.start()
        return await calibrate(settings, SystemClock(), terminal, again=options.again)

    return asyncio.run(guided())


COMMANDS = (
    Command("run", "Keep the score of real tables.", _tables_arguments, _run),
    Command(
        "check-config",
        "Say everything that is wrong in configurations, at once.",
        _check_config_arguments,
        _check_config,
    ),
    Command(
        "doctor", "Look at every part of a table and say what is wrong and what to do.", _tables_arguments, _doctor
    ),
    Command("calibrate", "Be guided around a table, beam by beam, and set it right.", _calibrate_arguments, _calibrate),
)
