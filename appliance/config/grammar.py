"""What is wrong with a text that is no TOML, in words that say what would be right.

Python's own parser names the place; its words are for people who know the grammar, so those that beginners meet
are said in ours.
"""

import re
import tomllib

_AT = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)")
_WORDS = (
    (r"Invalid value", 'the value cannot be read: text stands in straight quotation marks, such as "club-1"'),
    (r"Cannot declare \('(.*)',?\) twice", r"the section [\1] is there twice"),
    (r"Cannot overwrite a value", "what this line sets is set above already"),
    (r"Illegal character '\\n'|Unterminated string", "the quotation mark at the end of a text is missing"),
    (
        r"Unescaped '\\\\' in a string|Invalid hex value",
        r"a \\ in a text has to be doubled, or the text to stand in '…'",
    ),
    (
        r"Expected newline or end of document after a statement",
        "something follows the value: each key has its own line",
    ),
    (r"Expected '=' after a key in a key/value pair", 'a key is followed by "=" and its value'),
)


def toml_fault(error: tomllib.TOMLDecodeError) -> tuple[int | None, str]:
    """The line, where there is one, and the end of a sentence about the text."""
    found = _AT.search(str(error))
    words = _AT.sub("", str(error))
    for theirs, ours in _WORDS:
        if match := re.fullmatch(theirs, words):
            words = match.expand(ours).replace("', '", ".")
            break
    return int(found[1]) if found and found[1] else None, words
