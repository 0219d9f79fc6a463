"""Lines of JSON, one object each, read strictly: what two readers could take differently is bad input.

Every name stands once, and every number is one that JSON has.
"""

import json
from collections.abc import Iterable, Iterator

from appliance.rules import BadInput

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def numbered(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Return the lines that say something, with their numbers; the mark that some editors begin a text with is none."""
    for number, line in enumerate(lines, 1):
        line = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
        if line.strip():
            yield number, line


def read_object(line: bytes) -> dict[str, object]:
    """Return the JSON object of a line. Raises `BadInput`, whose field is a name, or what is wrong with the whole."""
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput("text", f"byte {error.start + 1} of the line is not UTF-8") from error
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except BadInput:
        raise
    except json.JSONDecodeError as error:
        raise BadInput("JSON", f"this is not JSON: {error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise BadInput("JSON", "this is nested too deeply") from error
    except ValueError as error:
        raise BadInput("JSON", "a number in this line is too long") from error
    if not isinstance(value, dict):
        raise BadInput("JSON", "the line is no object in braces")
    return value


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, value in pairs:
        if name in fields:
            raise BadInput(json.dumps(name), "this field stands twice in one object")
        fields[name] = value
    return fields


def _no_number(text: str) -> object:
    raise BadInput("JSON", f"{text} is not a number in JSON")
