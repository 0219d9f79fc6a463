"""What a player may be called: any word in any script, as long as every display can show it and stays itself.

Markup, slashes and wildcards are words like others: nothing of ours takes a name for anything else. Letters that
run from right to left are welcome. What is refused are characters that nobody sees and that act on what stands
beside them: a name that turned the direction of its line would show 9 – 12 where it stands 12 – 9.
"""

import unicodedata

LONGEST = 40

_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Embeddings, overrides and isolates; the plain marks of direction (U+200E, U+200F) act on nothing else."""
_RIGHT_TO_LEFT = ("R", "AL", "AN")
_FIRST_STRONG_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"


def name_fault(name: str) -> str | None:
    """Why `name` cannot be a player's name, or None: 1 to 40 characters, not blank, no control ones."""
    if not 1 <= len(name) <= LONGEST:
        return f"must have 1 to {LONGEST} characters, this has {len(name)}"
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in name):
        return "must not contain control characters or line breaks"
    if any(character in _TURNING for character in name):
        return "must not contain characters that turn the direction of what stands beside it"
    if not name.strip():
        return "must not be blank"
    return None


def beside_numbers(name: str) -> str:
    """The name for a line of text: one that runs from right to left is kept from taking the numbers with it."""
    if any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in name):
        return f"{_FIRST_STRONG_ISOLATE}{name}{_POP_ISOLATE}"
    return name
