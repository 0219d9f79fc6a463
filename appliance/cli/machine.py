"""`install` and `broker-config`: what a machine needs to serve tables from boot on, and others over a network."""

import sys
from argparse import Namespace
from pathlib import Path

from appliance.cli.parser import Command, Parser
from appliance.cli.sentences import WELL, FoundWrong, WrongUse
from appliance.cli.values import port


def _install_arguments(parser: Parser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument("--destdir", type=Path, metavar="DIR", help="write below DIR and run nothing, for packages")


def _install(options: Namespace) -> int:
    from appliance.install import InstallError, install

    try:
        install(options.destdir, dry_run=options.dry_run, out=sys.stdout)
    except InstallError as error:
        raise FoundWrong(str(error)) from None
    return WELL


def _broker_config_arguments(parser: Parser) -> None:
    parser.add_argument("directory", metavar="DIR", type=Path, help="a new one, or an empty one")
    parser.add_argument("--name", action="append", default=[], metavar="NAME", help="of this machine, or its address")
    parser.add_argument("--tls-port", type=port, default=8883, metavar="PORT", help="default: 8883")
    parser.add_argument("--websocket-tls-port", type=port, default=8884, metavar="PORT", help="default: 8884")
    parser.add_argument("--port", type=port, default=1883, metavar="PORT", help="not encrypted; default: 1883")
    parser.add_argument(
        "--websocket-port", type=port, default=9001, metavar="PORT", help="not encrypted; default: 9001"
    )
    parser.add_argument(
        "--plain-on-network", action="store_true", help="open the ports that are not encrypted to the network"
    )


def _broker_config(options: Namespace) -> int:
    from appliance.tools import broker_config as tool
    from appliance.tools.broker_config.certificate import is_name, own_names
    from appliance.tools.broker_config.configuration import Listeners

    for name in options.name:
        if not is_name(name):
            raise WrongUse(f'--name: "{name}" is neither a name in a network, such as club.local, nor an address')
    ports = (options.port, options.tls_port, options.websocket_port, options.websocket_tls_port)
    if 0 in ports or len(set(ports)) < len(ports):
        raise WrongUse("the four ports must differ, and none can be 0")
    names = tuple(dict.fromkeys([*options.name, *own_names()]))
    try:
        print(tool.broker_config(options.directory, names, Listeners(*ports, options.plain_on_network)))
    except tool.BrokerConfigError as error:
        raise FoundWrong(str(error)) from None
    return WELL


COMMANDS = (
    Command("install", "Make this machine start the tables at boot.", _install_arguments, _install),
    Command(
        "broker-config",
        "Write a mosquitto configuration for a network: accounts, TLS.",
        _broker_config_arguments,
        _broker_config,
    ),
)
