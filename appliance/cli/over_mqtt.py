"""`send`, `watch`, `bridge` and `schema`: a running table as its broker shows it, to anybody who reads the contract."""

import sys
from argparse import Namespace
from typing import Any

from appliance.cli import brokers, files
from appliance.cli.parser import Command, Parser
from appliance.cli.sentences import WELL, FoundWrong, WrongUse
from appliance.cli.values import field, seconds, whole


def _send_arguments(parser: Parser) -> None:
    parser.add_argument("--config", metavar="FILE", help="the table's file: its broker, account and id")
    brokers.add_options(parser)
    parser.add_argument("--expected-seq", type=whole, metavar="N", help="do nothing if the table is further than that")
    parser.add_argument("--transaction", metavar="ID", help="the same again does nothing more (default: a new one)")
    parser.add_argument("--timeout", type=seconds, default=5.0, metavar="SECONDS", help="for the answer (default: 5)")
    parser.add_argument("request", metavar="COMMAND", help="such as undo, end_stroke, new_match, pause")
    parser.add_argument("fields", metavar="KEY=VALUE", nargs="*", type=field, help="JSON or plain text")


def _send(options: Namespace) -> int:
    brokers.check_options(options)
    import asyncio
    import json

    from appliance.mqtt import requester

    if options.config is None:
        broker, table = brokers.named_table(options)
    else:
        (settings,) = files.tables([options.config])
        broker, table = settings.mqtt, settings.table.id
    try:
        answer = asyncio.run(requester.send(broker, table, options.request, _fields(options), options.timeout))
    except ValueError as error:
        raise WrongUse(str(error)) from None
    print(json.dumps(answer, ensure_ascii=False), flush=True)
    if not answer.get("ok"):
        raise FoundWrong(f"{table} refuses it: {answer.get('error', {}).get('message')}")
    return WELL


def _fields(options: Namespace) -> dict[str, Any]:
    """The request's fields, whether they were given as such or as options."""
    given = [*options.fields]
    given += [(key, value) for key in ("expected_seq", "transaction") if (value := getattr(options, key)) is not None]
    fields: dict[str, Any] = {}
    for key, value in given:
        if key in fields or key == "command":
            raise WrongUse(f'"{key}" is there twice')
        fields[key] = value
    return fields


def _watch_arguments(parser: Parser) -> None:
    parser.add_argument("--config", metavar="FILE", help="the table's file")
    brokers.add_options(parser)


def _watch(options: Namespace) -> int:
    brokers.check_options(options)
    import asyncio

    from appliance.tools.watch import Watched, watch

    if options.config is None:
        broker, table = brokers.named_table(options)
        watched = Watched(table, broker)
    else:
        (settings,) = files.tables([options.config])
        inputs = [each.id for each in (*settings.beams, *settings.buttons)]
        watched = Watched(settings.table.id, settings.mqtt, inputs)
    return asyncio.run(watch(watched, sys.stdout))


def _bridge_arguments(parser: Parser) -> None:
    from appliance.bridges import BRIDGES

    known = "; ".join(f"{name}, {what}" for name, what in BRIDGES.items())
    parser.add_argument("name", metavar="NAME", choices=tuple(BRIDGES), help=known)
    parser.add_argument("--config", action="append", default=[], metavar="FILE", help="a table's, with [bridges]")
    brokers.add_options(parser)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=field,
        metavar="KEY=VALUE",
        help="one of its settings; goes before the file's",
    )


def _bridge(options: Namespace) -> int:
    brokers.check_options(options, besides_a_file=brokers.ACCOUNT)
    tables = files.tables(options.config)
    from appliance.bridges.choose import choose
    from appliance.bridges.run import run
    from appliance.config import ConfigurationError

    given = dict(options.set)
    try:
        if options.broker:
            broker, table_id = brokers.named_table(options)
            bridges = [choose(options.name, table_id, broker, None, given)]
        else:
            bridges = [
                choose(
                    options.name,
                    table.table.id,
                    table.mqtt.model_copy(update=brokers.account(options)),
                    getattr(table.bridges, options.name),
                    given,
                )
                for table in tables
            ]
    except ConfigurationError as error:
        raise WrongUse("; ".join(str(problem) for problem in error.problems)) from None
    return run(bridges)


def _schema_arguments(parser: Parser) -> None:
    parser.add_argument("--json-schema", action="store_true", help="the JSON Schemas of its messages alone")


def _schema(options: Namespace) -> int:
    from appliance.mqtt import asyncapi, schema

    print(schema.json_schema_text() if options.json_schema else asyncapi.main_text())
    return WELL


COMMANDS = (
    Command("send", "Send one request to a table and print its answer.", _send_arguments, _send),
    Command("watch", "Watch every beam of a running table, live.", _watch_arguments, _watch),
    Command("bridge", "Show a table on a device that people already have.", _bridge_arguments, _bridge),
    Command("schema", "Print the contract over MQTT: an AsyncAPI 3 document.", _schema_arguments, _schema),
)
