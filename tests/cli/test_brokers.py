"""A running table is named by its file, or by broker and id: never by both, and never by half."""

from argparse import Namespace
from pathlib import Path

import pytest

from appliance import cli
from appliance.cli import brokers
from appliance.cli.parser import Parser

AT = ("--broker", "127.0.0.1:1883", "--table", "t1")
EITHER = "needs either --config FILE, or --broker HOST:PORT and --table ID"


def options(*arguments: str) -> Namespace:
    parser = Parser()
    brokers.add_options(parser)
    return parser.parse_args(arguments)


@pytest.mark.parametrize("command", [("send", "undo"), ("watch",), ("bridge", "wled")])
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), EITHER),
        (("--table", "t1"), EITHER),
        (AT[:2], EITHER),
        ((*AT, "--config", "f"), EITHER),
        (("--config", "f", "--table", "t1"), EITHER),
        (("--config", "f", "--ca", "ca.crt"), "--ca goes with --broker: a table's file has its own"),
        (("--config", "f", "--tls"), "--tls goes with --broker: a table's file has its own"),
        ((*AT, "--password-file", "p"), "--password-file needs --username NAME beside it"),
        ((*AT, "--key", "k"), "--key needs --cert FILE beside it"),
        ((*AT[:3], "Club 1"), '--table: "Club 1" cannot be part of a topic'),
        (("--broker", "a@b:1", "--table", "t1"), '--broker: "a@b:1" is not HOST:PORT'),
    ],
)
def test_wrong_use_is_one_sentence(
    command: tuple[str, ...], arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*command, *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", [("send", "undo"), ("watch",)])
def test_a_file_has_the_account(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*command, "--config", "f", "--username", "umpire"]) == 2
    assert capsys.readouterr().err == "pocketbeam: --username goes with --broker: a table's file has its own\n"


def test_the_options_are_a_broker_with_an_account() -> None:
    broker, table = brokers.named_table(options(*AT, "--username", "u", "--password-file", "p", "--ca", "c"))
    assert (broker.host, broker.port, broker.username, table) == ("127.0.0.1", 1883, "u", "t1")
    assert broker.password_file == Path("p")
    assert broker.tls is not None
    assert broker.tls.ca == Path("c")


def test_without_a_word_of_tls_none_is_spoken() -> None:
    broker, _ = brokers.named_table(options(*AT))
    assert (broker.tls, broker.username, broker.password_file) == (None, None, None)
    secured, _ = brokers.named_table(options(*AT, "--tls"))
    assert secured.tls is not None
