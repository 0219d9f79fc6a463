"""The command line `pocketbeam`.

Each command imports what it needs when it runs, so that `--version` and `score` answer at once. Exit status:
0 well, 1 something was found wrong, 2 wrong use or bad input, 130 ended by Ctrl-C. Whatever goes wrong is
said in one sentence on standard error.
"""

import argparse
import contextlib
import difflib
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from appliance import __version__

if TYPE_CHECKING:
    from appliance.config import Mqtt, Settings

WELL, FOUND_WRONG, WRONG_USE, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141
GAMES = ("money_carrom", "club_carrom", "new_carrom", "carpetball")
LOG_LEVELS = ("debug", "info", "warning", "error")


class _WrongUseError(Exception):
    """Wrong use or bad input; the text is the sentence."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are sentences, with the nearest valid word."""

    def error(self, message: str) -> NoReturn:
        """Raise `message` as a sentence."""
        message = re.sub(r"^argument ([^:]+): ", r"\1: ", message)
        choice = re.search(r"invalid choice: '([^']*)'", message)
        if choice:
            where = message.split(": ")[0]
            valid = re.findall(r"[\w-]+", message.split("choose from", 1)[1])
            message = f'{where}: "{choice.group(1)}" is not possible{_nearest(choice.group(1), valid)}'
        message = re.sub(r"^the following arguments are required: ", "missing: ", message)
        raise _WrongUseError(f"{message} (see {self.prog} --help)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    with contextlib.suppress(AttributeError):  # a stream that somebody else put there
        # A name in letters that this terminal does not know is no reason to stop.
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        options = _parse(arguments)
        set_up_logging(getattr(options, "log_level", "info"))
        status: int = options.run(options)
        print(end="", flush=True)
    except _WrongUseError as error:
        _say(str(error))
        return WRONG_USE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # whoever read us is gone; the interpreter must not stumble over that once more at its end
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except OSError as error:
        _say(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        return FOUND_WRONG
    return status


def commands() -> tuple[str, ...]:
    """The names of the commands."""
    return tuple(_parsers()[1])


# -- what is said, and where ---------------------------------------------------------------------------


def _say(sentence: str) -> None:
    """One sentence on standard error."""
    with contextlib.suppress(OSError):
        print(f"pocketbeam: {sentence}", file=sys.stderr, flush=True)


class _Formatter(logging.Formatter):
    """`warning: the words`."""

    def format(self, record: logging.LogRecord) -> str:
        """The level in small letters before the message."""
        return f"{record.levelname.lower()}: {super().format(record)}"


class _Once(logging.Filter):
    """A line said again right after itself is counted, and the count told with the next other line."""

    def __init__(self) -> None:
        """Nothing has been said yet."""
        super().__init__()
        self._last: tuple[int, str] | None = None
        self._again = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write the line; a record with an exception always is."""
        line = (record.levelno, record.getMessage())
        if line == self._last and record.exc_info is None:
            self._again += 1
            return False
        if self._again:
            record.msg = f"{line[1]} (the line before came {self._again} times more)"
            record.args = ()
        self._last, self._again = line, 0
        return True


def set_up_logging(level: str) -> None:
    """Our own lines from `level` on; those of libraries only where they warn, or all of them for debug."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter("%(message)s"))
    handler.addFilter(_Once())
    own = getattr(logging, level.upper())
    libraries = own if level == "debug" else max(own, logging.WARNING)
    logging.basicConfig(level=libraries, handlers=[handler], force=True)
    for package in ("appliance", "sim"):
        logging.getLogger(package).setLevel(own)


def _nearest(word: str, valid: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, valid, n=1)
    return f'; did you mean "{close[0]}"?' if close else f"; it can be {', '.join(valid)}"


# -- the arguments -------------------------------------------------------------------------------------


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser, commands = _parsers()
    word = _command_word(arguments)
    if word is not None and word not in commands:
        raise _WrongUseError(f'there is no command "{word}"{_nearest(word, list(commands))}')
    options, left_over = parser.parse_known_args(arguments)
    if not hasattr(options, "run"):
        raise _WrongUseError(f"which command? One of {', '.join(commands)} (see pocketbeam --help)")
    if left_over:
        unknown = left_over[0].split("=")[0]
        if not unknown.startswith("-"):
            raise _WrongUseError(f'{word} cannot do anything with "{unknown}" (see pocketbeam {word} --help)')
        valid = sorted(set(re.findall(r"(?<![\w-])--[a-z-]+", commands[str(word)].format_help())))
        raise _WrongUseError(f"{word} has no option {unknown}{_nearest(unknown, valid)}")
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


def _parsers() -> tuple[_Parser, dict[str, _Parser]]:
    common = _Parser(add_help=False)
    common.add_argument(
        "--log-level", choices=LOG_LEVELS, default=argparse.SUPPRESS, help="what to log (default: info)"
    )
    parser = _Parser(
        prog="pocketbeam",
        description="A scoring appliance for carrom boards and carpetball tables.",
        parents=[common],
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"pocketbeam {__version__}")
    places = parser.add_subparsers(metavar="COMMAND", dest="command")
    commands: dict[str, _Parser] = {}

    def command(name: str, run: Callable[[argparse.Namespace], int], what: str) -> _Parser:
        commands[name] = places.add_parser(name, help=what, description=what, parents=[common], allow_abbrev=False)
        commands[name].set_defaults(run=run)
        return commands[name]

    _demo_arguments(command("demo", _demo, "Play on a simulated table, with pages and a broker of its own."))

    run = command("run", _run, "Keep the score of real tables.")
    run.add_argument("--config", action="append", required=True, metavar="FILE", help="one a table")

    status = command("status", _status, "Say what a table's journal holds: the match, the score, its health.")
    status.add_argument("--state-dir", required=True, type=Path, metavar="DIR")

    score = command("score", _score, "Rule on observations, one JSON object a line.")
    score.add_argument("game", metavar="GAME", choices=GAMES, help=", ".join(GAMES))
    score.add_argument("file", metavar="FILE", nargs="?", default="-", help="default: standard input")

    check = command("check-config", _check_config, "Say everything that is wrong in configurations, at once.")
    check.add_argument("files", metavar="FILE", nargs="*")
    check.add_argument("--config", action="append", default=[], metavar="FILE", help="the same as FILE")

    _send_arguments(command("send", _send, "Send one request to a table and print its answer."))

    export = command("export", _export, "Write what a table keeps as text.")
    export.add_argument("--observations", action="store_true", required=True, help="a match, as score reads it")
    export.add_argument("--state-dir", required=True, type=Path, metavar="DIR")
    export.add_argument("--match", metavar="ID", help="default: the latest")

    backup = command("backup", _backup, "Copy a table's journal to a file, while it plays on.")
    backup.add_argument("--state-dir", required=True, type=Path, metavar="DIR")
    backup.add_argument("file", metavar="FILE", nargs="?", type=Path, help="default: a dated one here")

    restore = command("restore", _restore, "Make a backup a table's journal again; what was there is kept.")
    restore.add_argument("file", metavar="FILE", type=Path)
    restore.add_argument("--state-dir", required=True, type=Path, metavar="DIR")

    doctor = command("doctor", _doctor, "Look at every part of a table and say what is wrong and what to do.")
    doctor.add_argument("--config", action="append", required=True, metavar="FILE", help="one a table")

    calibrate = command("calibrate", _calibrate, "Be guided around a table, beam by beam, and set it right.")
    calibrate.add_argument("--config", required=True, metavar="FILE")
    calibrate.add_argument("--again", action="store_true", help="measure anew what was measured already")

    record = command("record", _record, "Write down what a table sees, to attach to a report or to play again.")
    record.add_argument("file", metavar="FILE", help="a new one; - is standard output")
    record.add_argument("--config", required=True, metavar="FILE")
    record.add_argument("--last", type=_duration, metavar="10m", help="what was, instead of what comes: 90s, 10m, 2h")

    rejudge = command("rejudge", _rejudge, "Judge a played match anew with other settings, and say the difference.")
    rejudge.add_argument("--config", required=True, metavar="FILE", help="the table's file, with the settings to try")
    rejudge.add_argument("--match", metavar="ID", help="default: the latest")

    watch = command("watch", _watch, "Watch every beam of a running table, live.")
    watch.add_argument("--config", metavar="FILE", help="the table's file")
    watch.add_argument("--broker", type=_host_and_port, metavar="HOST:PORT", help="instead of a file, with --table")
    watch.add_argument("--table", metavar="ID")

    _bridge_arguments(command("bridge", _bridge, "Show a table on a device that people already have."))

    replay = command("replay", _replay, "Run recorded edges through the appliance and print its events.")
    replay.add_argument("file", metavar="FILE", help="a recording; - is standard input")

    _sim_arguments(command("sim", _sim, "Play matches with the physics of the sensors, and say what is got right."))

    schema = command("schema", _schema, "Print the contract over MQTT: an AsyncAPI 3 document.")
    schema.add_argument("--json-schema", action="store_true", help="the JSON Schemas of its messages alone")

    broker = command("broker-config", _broker_config, "Write a mosquitto configuration for a network: accounts, TLS.")
    broker.add_argument("directory", metavar="DIR", type=Path, help="a new one, or an empty one")
    broker.add_argument("--name", action="append", default=[], metavar="NAME", help="of this machine, or its address")
    broker.add_argument("--tls-port", type=_port, default=8883, metavar="PORT", help="default: 8883")
    broker.add_argument("--websocket-tls-port", type=_port, default=8884, metavar="PORT", help="default: 8884")
    broker.add_argument("--port", type=_port, default=1883, metavar="PORT", help="not encrypted; default: 1883")
    broker.add_argument(
        "--websocket-port", type=_port, default=9001, metavar="PORT", help="not encrypted; default: 9001"
    )
    broker.add_argument(
        "--plain-on-network", action="store_true", help="open the ports that are not encrypted to the network"
    )

    install = command("install", _install, "Make this machine start the tables at boot.")
    install.add_argument("--dry-run", action="store_true", help="only say what would be done")
    install.add_argument("--destdir", type=Path, metavar="DIR", help="write below DIR and run nothing, for packages")
    return parser, commands


def _bridge_arguments(bridge: _Parser) -> None:
    from appliance.bridges import BRIDGES

    bridge.formatter_class = argparse.RawDescriptionHelpFormatter
    bridge.epilog = "\n".join(["names:", *(f"  {name:<10}{what}" for name, what in BRIDGES.items())])
    bridge.add_argument("name", metavar="NAME", choices=tuple(BRIDGES), help="what to show it on; see below")
    bridge.add_argument("--config", action="append", default=[], metavar="FILE", help="a table's, with [bridges]")
    bridge.add_argument("--broker", type=_host_and_port, metavar="HOST:PORT", help="instead of a file, with --table")
    bridge.add_argument("--table", metavar="ID")
    bridge.add_argument("--username", metavar="NAME", help="its own account, with --password-file")
    bridge.add_argument("--password-file", type=Path, metavar="FILE")
    bridge.add_argument("--ca", type=Path, metavar="FILE", help="TLS, and the authorities to trust")
    bridge.add_argument(
        "--set",
        action="append",
        default=[],
        type=request_field,
        metavar="KEY=VALUE",
        help="one of its settings; goes before the file's",
    )


def _send_arguments(send: _Parser) -> None:
    send.add_argument("--config", metavar="FILE", help="the table's file: its broker, account and id")
    send.add_argument("--broker", type=_host_and_port, metavar="HOST:PORT", help="instead of a file, with --table")
    send.add_argument("--table", metavar="ID")
    send.add_argument("--username", metavar="NAME", help="the account at that broker")
    send.add_argument("--password-file", type=Path, metavar="FILE", help="its password, in the first line")
    send.add_argument("--tls", action="store_true", help="speak TLS, and trust the system's authorities")
    send.add_argument("--ca", type=Path, metavar="FILE", help="speak TLS, and trust these authorities")
    send.add_argument("--cert", type=Path, metavar="FILE", help="a certificate of one's own")
    send.add_argument("--key", type=Path, metavar="FILE", help="its key, where it is in another file")
    send.add_argument("--expected-seq", type=_whole, metavar="N", help="do nothing if the table is further than that")
    send.add_argument("--transaction", metavar="ID", help="the same again does nothing more (default: a new one)")
    send.add_argument("--timeout", type=_seconds, default=5.0, metavar="SECONDS", help="for the answer (default: 5)")
    send.add_argument("request", metavar="COMMAND", help="such as undo, end_stroke, new_match, pause")
    send.add_argument("fields", metavar="KEY=VALUE", nargs="*", type=request_field, help="JSON or plain text")


def _sim_arguments(sim: _Parser) -> None:
    sim.add_argument("what", metavar="report", choices=("report",), help="report: how many strokes a tier gets right")
    sim.add_argument("--tier", required=True, metavar="TIER", help="T1, T2, T3 (carrom), C1, C2 (carpetball)")
    sim.add_argument("--game", choices=GAMES, metavar="GAME", help="default: the tier's first")
    sim.add_argument("--matches", type=_whole, default=20, metavar="N", help="how many (default: 20)")
    sim.add_argument("--seed", type=_whole, default=1, metavar="N", help="the same seed plays the same matches")
    sim.add_argument("--faults", default="", metavar="NAMES", help="switched on, separated by commas, or all")
    sim.add_argument("--json", action="store_true", help="one JSON object")
    sim.add_argument("--svg", type=Path, metavar="FILE", help="a picture of where strokes are lost")
    sim.add_argument("--where", action="store_true", help="say of each odd stroke what fell, and what the beams saw")


def _demo_arguments(demo: _Parser) -> None:
    demo.add_argument("--game", choices=GAMES, default="club_carrom", metavar="GAME", help=", ".join(GAMES))
    demo.add_argument("--players", type=_names, metavar='"Asha,Ben"', help="names, in order of play")
    demo.add_argument("--seed", type=_whole, metavar="N", help="the same seed plays the same match")
    demo.add_argument("--speed", type=_speed, default=1.0, metavar="X", help="times real time, or max")
    demo.add_argument("--once", action="store_true", help="end after one match and print the final score")
    demo.add_argument("--mqtt-port", type=_port, metavar="PORT", help="of the demo's broker; 0: any free one")
    demo.add_argument("--http-port", type=_port, metavar="PORT", help="of the pages; 0: any free one")
    demo.add_argument("--state-dir", type=Path, metavar="DIR", help="default: a temporary one")
    demo.add_argument("--truth", type=Path, metavar="FILE", help="write what the players really did")
    demo.add_argument("--broker", type=_host_and_port, metavar="HOST:PORT", help="instead of the demo's own")


def _host_and_port(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (
        colon and re.fullmatch(r"[^\s/]+", host) and port.isascii() and port.isdigit() and 1 <= int(port) <= 65_535
    ):
        raise argparse.ArgumentTypeError(f'"{text}" is not HOST:PORT such as 127.0.0.1:1883')
    return host, int(port)


def _duration(text: str) -> int:
    """Seconds, from `90s`, `10m`, `2h` or `1d`."""
    found = re.fullmatch(r"([0-9]{1,6})([smhd])", text)
    if found is None or int(found[1]) == 0:
        raise argparse.ArgumentTypeError(f'"{text}" is no time such as 90s, 10m or 2h')
    return int(found[1]) * {"s": 1, "m": 60, "h": 3_600, "d": 86_400}[found[2]]


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65_535):
        raise argparse.ArgumentTypeError(f'"{text}" is not a port from 0 to 65535')
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3_600:
        raise argparse.ArgumentTypeError(f'"{text}" is no number of seconds from more than 0 to 3600')
    return seconds


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{text}" is not a whole number') from None


def _speed(text: str) -> float | None:
    """A factor, or None for max."""
    if text == "max":
        return None
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0 < speed <= 1_000_000:
        raise argparse.ArgumentTypeError(f'"{text}" is neither a number above 0 nor max')
    return speed


def _names(text: str) -> tuple[str, ...]:
    import json

    from appliance.names import name_fault

    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if (fault := name_fault(name)) is not None:
            raise argparse.ArgumentTypeError(f"{json.dumps(name)} {fault}")
    if len(set(names)) != len(names):
        raise argparse.ArgumentTypeError("each player needs a name of their own")
    return names


def request_field(text: str) -> tuple[str, Any]:
    """`player=1`, `object=white`, `names=["Asha","Ben"]`: JSON where it is JSON, else plain text."""
    import json

    key, equals, value = text.partition("=")
    if not equals or not key:
        raise argparse.ArgumentTypeError(f'"{text}" is not key=value')
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise argparse.ArgumentTypeError(f"the value of {key!a} is not UTF-8")
    try:
        return key, json.loads(value, parse_constant=_not_json)
    except (ValueError, RecursionError):
        return key, value


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


# -- the commands --------------------------------------------------------------------------------------


@contextlib.contextmanager
def _input(name: str) -> Iterator[IO[bytes]]:
    """A file to read by lines of bytes; `-` is standard input."""
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        file = Path(name).open("rb")  # noqa: SIM115  # closed below; only the opening is bad input
    except OSError as error:
        raise _WrongUseError(f"{name} cannot be read: {(error.strerror or str(error)).lower()}") from None
    with file:
        yield file


@contextlib.contextmanager
def _new_file(name: str) -> Iterator[IO[str]]:
    """A file that was not there before; `-` is standard output."""
    if name == "-":
        yield sys.stdout
        return
    try:
        file = Path(name).open("x", encoding="utf-8")  # noqa: SIM115  # closed below; only the opening is wrong use
    except OSError as error:
        raise _WrongUseError(f"{name} cannot be written: {(error.strerror or str(error)).lower()}") from None
    with file:
        yield file


def _score(options: argparse.Namespace) -> int:
    with _input(options.file) as lines:
        from appliance.score import score

        return score(options.game, lines, sys.stdout, sys.stderr)


def _replay(options: argparse.Namespace) -> int:
    with _input(options.file) as lines:
        from appliance.replay import replay

        return replay(lines, sys.stdout, sys.stderr)


def _schema(options: argparse.Namespace) -> int:
    from appliance.mqtt import asyncapi, schema

    print(schema.json_schema_text() if options.json_schema else asyncapi.main_text())
    return WELL


def _install(options: argparse.Namespace) -> int:
    from appliance.install import InstallError, install

    try:
        install(options.destdir, dry_run=options.dry_run, out=sys.stdout)
    except InstallError as error:
        _say(str(error))
        return FOUND_WRONG
    return WELL


def _broker_config(options: argparse.Namespace) -> int:
    from appliance.tools import broker_config as tool
    from appliance.tools.broker_config.certificate import is_name, own_names
    from appliance.tools.broker_config.configuration import Listeners

    for name in options.name:
        if not is_name(name):
            raise _WrongUseError(f'--name: "{name}" is neither a name in a network, such as club.local, nor an address')
    ports = (options.port, options.tls_port, options.websocket_port, options.websocket_tls_port)
    if 0 in ports or len(set(ports)) < len(ports):
        raise _WrongUseError("the four ports must differ, and none can be 0")
    names = tuple(dict.fromkeys([*options.name, *own_names()]))
    try:
        print(tool.broker_config(options.directory, names, Listeners(*ports, options.plain_on_network)))
    except tool.BrokerConfigError as error:
        _say(str(error))
        return FOUND_WRONG
    return WELL


def _run(options: argparse.Namespace) -> int:
    tables = _settings(options.config)
    log = logging.getLogger("appliance.config")
    for warning in (warning for table in tables for warning in table.warnings):
        log.warning("%s", warning)
    from appliance import process

    return process.run(list(tables))


def _settings(files: Sequence[str]) -> "tuple[Settings, ...]":
    """The tables of the files; everything that is wrong in them is said, the last of it as wrong use."""
    from appliance.config import ConfigurationError, load_all

    try:
        return load_all(files)
    except ConfigurationError as error:
        *before, last = error.problems
        for problem in before:
            _say(str(problem))
        raise _WrongUseError(str(last)) from None


def _doctor(options: argparse.Namespace) -> int:
    tables = _settings(options.config)
    from appliance.clock import SystemClock
    from appliance.tools.doctor import doctor

    return doctor(tables, SystemClock(), sys.stdout)


def _calibrate(options: argparse.Namespace) -> int:
    (settings,) = _settings([options.config])
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


def _watch(options: argparse.Namespace) -> int:
    if (options.config is None) == (options.broker is None) or (options.broker is None) != (options.table is None):
        raise _WrongUseError("watch needs either --config FILE, or --broker HOST:PORT and --table ID")
    import asyncio

    from appliance.config import Mqtt
    from appliance.mqtt.topics import topic
    from appliance.tools.watch import Watched, watch

    if options.config is not None:
        (settings,) = _settings([options.config])
        inputs = [each.id for each in (*settings.beams, *settings.buttons)]
        watched = Watched(settings.table.id, settings.mqtt, inputs)
    else:
        host, port = options.broker
        try:
            topic(options.table)
        except ValueError as error:
            raise _WrongUseError(f"--table: {error}") from None
        watched = Watched(options.table, Mqtt(host=host, port=port))
    return asyncio.run(watch(watched, sys.stdout))


def _bridge(options: argparse.Namespace) -> int:
    if bool(options.config) == (options.broker is not None):
        raise _WrongUseError("bridge needs either --config FILE, or --broker HOST:PORT and --table ID")
    if options.config and (options.table or options.ca):
        raise _WrongUseError("--table and --ca go with --broker; a file has its own")
    if options.broker and not options.table:
        raise _WrongUseError("--broker needs --table ID beside it")
    if (options.username is None) != (options.password_file is None):
        raise _WrongUseError("--username and --password-file go together")
    tables = _settings(options.config)
    from appliance.bridges.choose import choose
    from appliance.bridges.run import run
    from appliance.config import ConfigurationError, Mqtt, Tls

    given = dict(options.set)
    account = {"username": options.username, "password_file": options.password_file} if options.username else {}
    try:
        if options.broker:
            host, port = options.broker
            at = Mqtt(host=host, port=port, tls=None if options.ca is None else Tls(ca=options.ca))
            bridges = [choose(options.name, options.table, at.model_copy(update=account), None, given)]
        else:
            bridges = [
                choose(
                    options.name,
                    table.table.id,
                    table.mqtt.model_copy(update=account),
                    getattr(table.bridges, options.name),
                    given,
                )
                for table in tables
            ]
    except ConfigurationError as error:
        raise _WrongUseError("; ".join(str(problem) for problem in error.problems)) from None
    except ValueError as error:
        raise _WrongUseError(f"--table: {error}") from None
    return run(bridges)


def _record(options: argparse.Namespace) -> int:
    (settings,) = _settings([options.config])
    import asyncio

    from appliance.clock import SystemClock
    from appliance.journal import JournalError
    from appliance.tools.record import RecordError, record_last, record_live

    clock = SystemClock()
    try:
        with _new_file(options.file) as out:
            if options.last is not None:
                told = record_last(settings, options.last, clock, out)
            else:
                _say("recording until Ctrl-C")
                told = asyncio.run(record_live(settings, clock, out))
    except (RecordError, JournalError) as error:
        if options.file != "-":
            Path(options.file).unlink(missing_ok=True)
        _say(str(error))
        return FOUND_WRONG
    _say(told)
    return WELL


def _rejudge(options: argparse.Namespace) -> int:
    (settings,) = _settings([options.config])
    from appliance.journal import JournalError, read
    from appliance.tools.record import RecordError
    from appliance.tools.rejudge import rejudge

    try:
        with read(settings.table.state_dir) as reader:
            rejudge(reader, settings, options.match, sys.stdout)
    except (RecordError, JournalError) as error:
        raise _WrongUseError(str(error)) from None
    return WELL


def _check_config(options: argparse.Namespace) -> int:
    files = [*options.files, *options.config]
    if not files:
        raise _WrongUseError("check-config needs the name of at least one configuration file")
    tables = _settings(files)
    for table in tables:
        for warning in table.warnings:
            print(f"warning: {warning}")
        print(f'{table.file}: table "{table.table.id}" is well')
    return WELL


def _status(options: argparse.Namespace) -> int:
    directory = _directory(options.state_dir)
    from appliance.status import status_text

    print(status_text(directory))
    return WELL


def _export(options: argparse.Namespace) -> int:
    directory = _directory(options.state_dir)
    from appliance.export import export_observations

    return export_observations(directory, options.match, sys.stdout, sys.stderr)


def _backup(options: argparse.Namespace) -> int:
    directory = _directory(options.state_dir)
    from appliance.backup import back_up
    from appliance.clock import SystemClock
    from appliance.journal import JournalError

    try:
        print(back_up(directory, options.file, SystemClock()))
    except JournalError as error:
        _say(str(error))
        return FOUND_WRONG
    return WELL


def _restore(options: argparse.Namespace) -> int:
    from appliance.backup import restore
    from appliance.clock import SystemClock
    from appliance.journal import JournalError

    try:
        print(restore(options.file, options.state_dir, SystemClock()))
    except JournalError as error:
        _say(str(error))
        return FOUND_WRONG
    return WELL


def _directory(path: Path) -> Path:
    if not path.is_dir():
        raise _WrongUseError(f"there is no directory {path}")
    return path


def _send(options: argparse.Namespace) -> int:
    import asyncio
    import json

    from appliance.mqtt import requester

    settings, table = _broker_and_table(options)
    asked = [*options.fields]
    asked += [("expected_seq", options.expected_seq)] if options.expected_seq is not None else []
    asked += [("transaction", options.transaction)] if options.transaction is not None else []
    fields: dict[str, Any] = {}
    for key, value in asked:
        if key in fields or key == "command":
            raise _WrongUseError(f'"{key}" is there twice')
        fields[key] = value
    try:
        answer = asyncio.run(requester.send(settings, table, options.request, fields, options.timeout))
    except ValueError as error:
        raise _WrongUseError(str(error)) from None
    print(json.dumps(answer, ensure_ascii=False))
    if not answer.get("ok"):
        _say(f"{table} refuses it: {answer.get('error', {}).get('message')}")
        return FOUND_WRONG
    return WELL


def _broker_and_table(options: argparse.Namespace) -> "tuple[Mqtt, str]":
    """Of a table's file, or of the options that say the same."""
    from appliance.config import Mqtt, Tls
    from appliance.mqtt.topics import topic

    given = [name for name in ("username", "password_file", "tls", "ca", "cert", "key") if getattr(options, name)]
    if (options.config is None) == (options.broker is None) or (options.broker is None) != (options.table is None):
        raise _WrongUseError("send needs either --config FILE, or --broker HOST:PORT and --table ID")
    if options.config is not None:
        if given:
            raise _WrongUseError(f"--{given[0].replace('_', '-')}: the account is in the file {options.config}")
        (settings,) = _settings([options.config])
        return settings.mqtt, settings.table.id
    try:
        topic(options.table)
    except ValueError as error:
        raise _WrongUseError(f"--table: {error}") from None
    host, port = options.broker
    secured = options.tls or options.ca or options.cert or options.key
    tls = Tls(ca=options.ca, cert=options.cert, key=options.key) if secured else None
    account = {"username": options.username, "password_file": options.password_file}
    return Mqtt(host=host, port=port, tls=tls, **account), options.table


def _sim(options: argparse.Namespace) -> int:
    from sim import report
    from sim.faults import FAULTS
    from sim.tiers import TIERS

    tier = TIERS.get(options.tier)
    if tier is None:
        raise _WrongUseError(f'--tier: "{options.tier}" is not possible{_nearest(options.tier, list(TIERS))}')
    game = options.game or tier.games[0]
    if game not in tier.games:
        raise _WrongUseError(f"--game: {tier.name} is no tier of {game}; it can be {', '.join(tier.games)}")
    if options.matches < 1:
        raise _WrongUseError("--matches: at least one match is needed")
    faults = FAULTS if options.faults == "all" else tuple(name for name in options.faults.split(",") if name)
    for name in faults:
        if name not in FAULTS:
            raise _WrongUseError(f'--faults: "{name}" is not possible{_nearest(name, [*FAULTS, "all"])}')
    asked = report.ReportOptions(
        tier.name, game, options.matches, options.seed, faults, options.json, options.svg, options.where
    )
    return report.main(asked)


def _demo(options: argparse.Namespace) -> int:
    from sim import demo

    return demo.main(
        demo.DemoOptions(
            game=options.game,
            players=options.players,
            seed=options.seed,
            speed=options.speed,
            once=options.once,
            mqtt_port=options.mqtt_port,
            http_port=options.http_port,
            state_dir=options.state_dir,
            truth=options.truth,
            broker=options.broker,
        )
    )
