"""What a hostile or broken client sends to a table's topic of requests, and how each is turned away.

One list for every ring: the gate alone, a whole table in virtual time, and a real one behind a real broker.
"""

import json
from dataclasses import dataclass
from typing import Any

MARKUP = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
"""What a page would run if it took a word for markup."""


@dataclass(frozen=True, slots=True)
class Hostile:
    """A payload, and the code with which it is refused; None: it is not answered at all.

    `by_table`: it is well said, so that only the table itself can know better.
    """

    name: str
    payload: bytes
    code: str | None
    retained: bool = False
    by_table: bool = False


def _json(**fields: Any) -> bytes:
    return json.dumps(fields, ensure_ascii=False).encode()


_UNDO = b'{"command": "undo"}'

HOSTILE = (
    # retained: nobody knows how old it is
    Hostile("retained undo", _UNDO, None, retained=True),
    Hostile("retained nonsense", b"\xff" * 100, None, retained=True),
    Hostile("retained and empty", b"", None, retained=True),
    Hostile("retained and oversized", b"x" * 20_000, None, retained=True),
    # too much of it
    Hostile("16 kB and a byte", b" " * (16 * 1024 + 1 - len(_UNDO)) + _UNDO, "too_large"),
    Hostile("100 kB that would be well", _json(command="players", names=["x" * 100_000, "Ben"]), "too_large"),
    Hostile("10 MB", b"x" * 10_000_000, "too_large"),
    # no JSON
    Hostile("empty", b"", "malformed"),
    Hostile("a word", b"undo", "malformed"),
    Hostile("cut off", b'{"command": "undo"', "malformed"),
    Hostile("two documents", _UNDO + _UNDO, "malformed"),
    Hostile("a comment", b'{"command": "undo"} // now', "malformed"),
    Hostile("single quotes", b"{'command': 'undo'}", "malformed"),
    Hostile("a comma too many", b'{"command": "undo",}', "malformed"),
    Hostile("zeros", b"\0" * 1000, "malformed"),
    Hostile("a zero in a text", b'{"command": "un\0do"}', "malformed"),
    Hostile("pickle", b"\x80\x04\x95\x1c\x00\x00\x00\x8c\x05posix\x8c\x06system\x93\x94.", "malformed"),
    # not UTF-8, or not quite
    Hostile("not UTF-8", b'{"command": "undo", "transaction": "\xff\xfe"}', "malformed"),
    Hostile("UTF-16", '{"command": "undo"}'.encode("utf-16"), "malformed"),
    Hostile("a byte order mark", b"\xef\xbb\xbf" + _UNDO, "malformed"),
    Hostile("an overlong slash", b'{"command": "\xc0\xaf"}', "malformed"),
    Hostile("an encoded surrogate", b'{"command": "undo", "transaction": "\xed\xa0\x80"}', "malformed"),
    Hostile("half a character", b'{"command": "undo", "transaction": "\\ud800"}', "malformed"),
    # deep
    Hostile("100,000 brackets", b"[" * 100_000, "too_large"),
    Hostile("16,000 brackets", b"[" * 16_000, "malformed"),
    Hostile("16,000 brackets that close", b"[" * 8_000 + b"]" * 8_000, "malformed"),
    Hostile("2,500 objects", b'{"a":' * 2_500 + b"1" + b"}" * 2_500, "malformed"),
    Hostile("depth in a field", b'{"command":"stroke","pocketed":' + b"[" * 6_000 + b"]" * 6_000 + b"}", "malformed"),
    Hostile("depth in a key", b'{"command":"recount","sides":' + b'{"A":' * 50 + b"1" + b"}" * 51, "malformed"),
    # numbers that readers disagree about
    Hostile("NaN", b'{"command": "answer", "value": NaN}', "malformed"),
    Hostile("infinity", b'{"command": "answer", "value": Infinity}', "malformed"),
    Hostile("minus infinity", b'{"command": "line_up", "north": -Infinity, "south": 1}', "malformed"),
    Hostile("1e999", b'{"command": "answer", "value": 1e999}', "malformed"),
    Hostile("15,000 digits", b'{"command": "end_stroke", "player": ' + b"9" * 15_000 + b"}", "malformed"),
    Hostile("2**64", b'{"command": "undo", "expected_seq": 18446744073709551616}', "malformed"),
    Hostile("a huge stroke", b'{"command": "correct", "stroke": 1e300, "void": true}', "malformed"),
    Hostile("a hexadecimal number", b'{"command": "end_stroke", "player": 0x1}', "malformed"),
    # keys twice: one reader takes the first, another the last
    Hostile("two commands", b'{"command": "sync", "command": "undo"}', "malformed"),
    Hostile("two commands, one escaped", b'{"command": "sync", "\\u0063ommand": "undo"}', "malformed"),
    Hostile("two keys inside", b'{"command": "recount", "turn": {"player": 1, "player": 2}}', "malformed"),
    # wrong types
    Hostile("a list", b'[{"command": "undo"}]', "malformed"),
    Hostile("null", b"null", "malformed"),
    Hostile("a number", b"7", "malformed"),
    Hostile("command is a list", b'{"command": ["undo"]}', "malformed"),
    Hostile("command is null", b'{"command": null}', "malformed"),
    Hostile("command is an object", b'{"command": {"undo": 1}}', "malformed"),
    Hostile("no command", b'{"transaction": "t"}', "malformed"),
    Hostile("player is true", b'{"command": "end_stroke", "player": true}', "malformed"),
    Hostile("player is a text", b'{"command": "end_stroke", "player": "1"}', "malformed"),
    Hostile("player is negative", b'{"command": "end_stroke", "player": -1}', "malformed"),
    Hostile("transaction is a number", b'{"command": "undo", "transaction": 7}', "malformed"),
    Hostile("transaction is a list", b'{"command": "undo", "transaction": ["t"]}', "malformed"),
    Hostile("a long transaction", _json(command="undo", transaction="t" * 201), "malformed"),
    Hostile("expected_seq is a text", b'{"command": "undo", "expected_seq": "41"}', "malformed"),
    Hostile("names of names", _json(command="players", names=[["Asha"], ["Ben"]]), "malformed"),
    Hostile("fields of another command", _json(command="undo", stroke=1, void=True), "malformed"),
    Hostile("an unknown field", _json(command="undo", __class__="x"), "malformed"),
    # commands there are none of
    Hostile("a method", _json(command="__init__"), "unknown_command"),
    Hostile("markup", _json(command=MARKUP), "unknown_command"),
    Hostile("a path", _json(command="../../etc/passwd"), "unknown_command"),
    Hostile("SQL", _json(command="undo'; DROP TABLE entries; --"), "unknown_command"),
    Hostile("a format", _json(command="%s%n{0.__class__}"), "unknown_command"),
    Hostile("another case", _json(command="UNDO"), "unknown_command"),
    Hostile("a look-alike", _json(command="und\N{CYRILLIC SMALL LETTER O}"), "unknown_command"),
    Hostile("a long one", _json(command="x" * 15_000), "unknown_command"),
    # well said, and not for this table
    Hostile("no such player", _json(command="end_stroke", player=2**53), "malformed", by_table=True),
    Hostile("no such stroke", _json(command="correct", stroke=2**53, void=True), "no_such_stroke", by_table=True),
    Hostile(
        "no such question", _json(command="answer", question="q" * 200, value=1), "no_such_question", by_table=True
    ),
    Hostile("a state that is to come", _json(command="undo", expected_seq=2**53), "outdated", by_table=True),
    Hostile(
        "more than there is", _json(command="stroke", pocketed=["white"] * 1_000), "impossible_count", by_table=True
    ),
    Hostile("a name that turns", _json(command="players", names=["\u202eA", "Ben"]), "malformed"),
    Hostile("a name of line breaks", _json(command="players", names=["A\nB", "Ben"]), "malformed"),
    Hostile("a name too long", _json(command="players", names=["x" * 200, "Ben"]), "malformed"),
)


@dataclass(frozen=True, slots=True)
class Name:
    """A name that somebody gives a player, and whether it is taken."""

    name: str
    taken: bool = True


NAMES = (
    Name("<b>Asha</b>"),
    Name("<img src=x onerror=alert(1)>"),
    Name("<script>document.title=1</script>"),
    Name("</script><svg/onload=alert(1)>"),
    Name('"><a href=javascript:alert(1)>x'),
    Name("&lt;b&gt;"),
    Name("{{7*7}}${7*7}%s"),
    Name("#"),
    Name("+"),
    Name("/"),
    Name("a/b/#"),
    Name("$SYS"),
    Name("../../etc/passwd"),
    Name("🙂👩‍👩‍👧‍👦🏳️‍🌈"),
    Name("\u202eahsA", taken=False),  # what follows would run from right to left
    Name("\u2067אשה\u2069", taken=False),
    Name("אשה"),
    Name("\u200fAsha"),
    Name("عائشة"),
    Name("a\u0301\u0302\u0303\u0304"),
    Name("\ufeffAsha"),
    Name("'; DROP TABLE entries; --"),
    Name("x" * 40),
    Name("🙂" * 40),
    Name("null"),
    Name("x" * 41, taken=False),
    Name("x" * 200, taken=False),
    Name("", taken=False),
    Name("   ", taken=False),
    Name("A\nB", taken=False),
    Name("A\x1b[2J", taken=False),
    Name("A\0", taken=False),
    Name("A\x7f", taken=False),
    Name("A\x9b31m", taken=False),
)
