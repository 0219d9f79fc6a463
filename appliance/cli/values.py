"""What one argument can be: each function makes a value of its text, or says in a sentence what would be right."""

import re
from argparse import ArgumentTypeError
from typing import Any, NoReturn

GAMES = ("money_carrom", "club_carrom", "new_carrom", "carpetball")


def host_and_port(text: str) -> tuple[str, int]:
    """A broker, as `127.0.0.1:1883` or `[::1]:1883`."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (
        colon and re.fullmatch(r"[^\s/@]+", host) and port.isascii() and port.isdigit() and 1 <= int(port) <= 65_535
    ):
        raise ArgumentTypeError(f'"{text}" is not HOST:PORT such as 127.0.0.1:1883')
    return host, int(port)


def duration(text: str) -> int:
    """Seconds, from `90s`, `10m`, `2h` or `1d`."""
    found = re.fullmatch(r"([0-9]{1,6})([smhd])", text)
    if found is None or int(found[1]) == 0:
        raise ArgumentTypeError(f'"{text}" is no time such as 90s, 10m or 2h')
    return int(found[1]) * {"s": 1, "m": 60, "h": 3_600, "d": 86_400}[found[2]]


def port(text: str) -> int:
    """A port; 0 is any free one, where the command allows it."""
    if not (text.isascii() and text.isdigit() and int(text) <= 65_535):
        raise ArgumentTypeError(f'"{text}" is not a port from 0 to 65535')
    return int(text)


def seconds(text: str) -> float:
    """How long to wait, up to an hour."""
    value = _number(text)
    if not 0 < value <= 3_600:
        raise ArgumentTypeError(f'"{text}" is no number of seconds from more than 0 to 3600')
    return value


def speed(text: str) -> float | None:
    """A factor of real time, or None for max."""
    if text == "max":
        return None
    value = _number(text)
    if not 0 < value <= 1_000_000:
        raise ArgumentTypeError(f'"{text}" is neither a number above 0 nor max')
    return value


def _number(text: str) -> float:
    """The number, or 0, which no caller takes."""
    try:
        return float(text)
    except ValueError:
        return 0.0


def whole(text: str) -> int:
    """A whole number."""
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f'"{text}" is not a whole number') from None


def names(text: str) -> tuple[str, ...]:
    """Players, as `Asha,Ben`."""
    import json

    from appliance.names import name_fault

    given = tuple(name.strip() for name in text.split(","))
    for name in given:
        if (fault := name_fault(name)) is not None:
            raise ArgumentTypeError(f"{json.dumps(name)} {fault}")
    if len(set(given)) != len(given):
        raise ArgumentTypeError("each player needs a name of their own")
    return given


def field(text: str) -> tuple[str, Any]:
    """`player=1`, `object=white`, `names=["Asha","Ben"]`: JSON where it is JSON, else plain text."""
    import json

    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ArgumentTypeError(f'"{text}" is not key=value')
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ArgumentTypeError(f"the value of {key!a} is not UTF-8")
    try:
        return key, json.loads(value, parse_constant=_not_json)
    except (ValueError, RecursionError):
        return key, value


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
