"""How a command is told of a running table: by the table's file, or by its broker, account and id."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from appliance.cli.parser import Parser
from appliance.cli.sentences import WrongUse
from appliance.cli.values import host_and_port

if TYPE_CHECKING:
    from appliance.config import Mqtt

ACCOUNT = ("username", "password_file")
_TLS = ("tls", "ca", "cert", "key")


def add_options(parser: Parser) -> None:
    """The options that stand in for a file; `--config` is the command's own."""
    parser.add_argument("--broker", type=host_and_port, metavar="HOST:PORT", help="instead of a file, with --table")
    parser.add_argument("--table", metavar="ID", help="the table's id, with --broker")
    parser.add_argument("--username", metavar="NAME", help="the account at the broker")
    parser.add_argument("--password-file", type=Path, metavar="FILE", help="its password, in the first line")
    parser.add_argument("--tls", action="store_true", help="speak TLS, and trust the system's authorities")
    parser.add_argument("--ca", type=Path, metavar="FILE", help="speak TLS, and trust these authorities")
    parser.add_argument("--cert", type=Path, metavar="FILE", help="a certificate of one's own")
    parser.add_argument("--key", type=Path, metavar="FILE", help="its key, where it is in another file")


def check_options(options: Namespace, besides_a_file: tuple[str, ...] = ()) -> None:
    """Refuse options that name no table, or two; `besides_a_file` may be given with a file, too."""
    if bool(options.config) == (options.broker is not None) or (options.broker is None) != (options.table is None):
        raise WrongUse(f"{options.command} needs either --config FILE, or --broker HOST:PORT and --table ID")
    if options.config:
        for name in (*ACCOUNT, *_TLS):
            if getattr(options, name) and name not in besides_a_file:
                raise WrongUse(f"--{name.replace('_', '-')} goes with --broker: a table's file has its own")
    if options.password_file is not None and options.username is None:
        raise WrongUse("--password-file needs --username NAME beside it")
    if options.key is not None and options.cert is None:
        raise WrongUse("--key needs --cert FILE beside it")


def named_table(options: Namespace) -> "tuple[Mqtt, str]":
    """The broker that the options name, with the account there, and the table's id."""
    from appliance.config import Mqtt, Tls
    from appliance.mqtt.topics import topic

    try:
        topic(options.table)
    except ValueError as error:
        raise WrongUse(f"--table: {error}") from None
    host, port = options.broker
    tls = (
        Tls(ca=options.ca, cert=options.cert, key=options.key) if any(getattr(options, name) for name in _TLS) else None
    )
    return Mqtt(host=host, port=port, tls=tls, **account(options)), options.table


def account(options: Namespace) -> dict[str, Any]:
    """The account that the options name, as the settings of a broker have it; empty where they name none."""
    return {name: getattr(options, name) for name in ACCOUNT} if options.username else {}
