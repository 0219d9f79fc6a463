"""Reading JSON values strictly: every complaint names the field, what stands there and what would be right.

JSON's `true` is never a number here, a number never a list, and an unknown name is answered with the nearest
known one. Whole numbers that are kept (scores, dues, options) end at `MOST`, so that no sum of them can grow
out of what other programs can read.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

MOST = 1_000_000_000
_SHOWN = 60


class BadInput(ValueError):
    """Input that is not what it should be: `field` names the part, `message` says what would be right."""

    def __init__(self, field: str, message: str) -> None:
        """Keep the field and the sentence apart, so that callers can put a line or a file before them."""
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


def show(value: object) -> str:
    """Return a value as short ASCII text for a sentence."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = ascii(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def amount(count: int) -> str:
    """Return a count as text for a sentence, however large somebody wrote it."""
    return str(count) if -MOST <= count <= MOST else "an immense number"


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the known name that is most like `name`."""
    from difflib import SequenceMatcher

    return max(names, key=lambda known: SequenceMatcher(None, name.lower(), known.lower()).ratio())


def join(path: str, name: str) -> str:
    """Return the path of a field inside the field `path`."""
    return f"{path}.{name}" if path else name


def unknown(field: str, value: str, names: Sequence[str], what: str) -> BadInput:
    """Return the complaint about an unknown name, with the nearest known one."""
    return BadInput(field, f"{show(value)} is not {what}; the nearest is {show(nearest(value, names))}")


def mapping(value: object, path: str, names: Sequence[str]) -> Mapping[str, object]:
    """Return a JSON object whose keys are all among `names`."""
    if not isinstance(value, Mapping):
        raise BadInput(path or "line", f"an object is needed here, not {show(value)}")
    for key in value:
        if key not in names:
            raise unknown(join(path, str(key)), str(key), names, "a field that belongs here")
    return value


def whole(value: object, path: str, least: int = 0, most: int | None = None) -> int:
    """Return a whole number from `least` to `most`; a negative one and `true` are no counts."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadInput(path, f"a whole number is needed here, not {show(value)}")
    if value < least or (most is not None and value > most):
        bounds = f"of {least} or more" if most is None or most == MOST else f"from {least} to {most}"
        if most == MOST and value > MOST:
            bounds = f"of at most {MOST}"
        raise BadInput(path, f"a whole number {bounds} is needed here, not {show(value)}")
    return value


def flag(value: object, path: str) -> bool:
    """Return `true` or `false`."""
    if not isinstance(value, bool):
        raise BadInput(path, f"true or false is needed here, not {show(value)}")
    return value


def word(value: object, path: str, words: Sequence[str]) -> str:
    """Return one of `words`."""
    if not isinstance(value, str):
        raise BadInput(path, f"one of {', '.join(words)} is needed here, not {show(value)}")
    if value not in words:
        raise unknown(path, value, words, f"one of {', '.join(words)}")
    return value


def words(value: object, path: str, known: Sequence[str]) -> tuple[str, ...]:
    """Return a list of `known` words, in the order given."""
    if not isinstance(value, list | tuple):
        raise BadInput(path, f"a list is needed here, not {show(value)}")
    return tuple(word(item, path, known) for item in value)


def needed(fields: Mapping[str, object], name: str, path: str = "") -> object:
    """Return a field that must be there."""
    if name not in fields:
        raise BadInput(join(path, name), "this field is missing")
    return fields[name]
