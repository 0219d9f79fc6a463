"""Which line of a TOML text a key stands on.

The standard parser gives values without places. This scanner runs over a text that the parser has already
accepted, so it need not judge anything: it only follows keys, brackets and strings, and notes where each
key path and each list element begins.
"""

import re

KeyPath = tuple[str | int, ...]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\n]*")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}


def key_lines(text: str) -> dict[KeyPath, int]:
    """Map every key path (names and list indices, from 0) of a valid TOML text to its line, from 1."""
    scanner = _Scanner(text)
    scanner.document()
    return scanner.lines


def line_of(lines: dict[KeyPath, int], path: KeyPath) -> int | None:
    """The line of `path`, or of the nearest thing around it that stands in the text."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return None


class _Scanner:
    """One pass over the text; `at` is the position, `lines` what was found."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self._counts: dict[KeyPath, int] = {}
        self._line = 1
        self._counted_to = 0

    def document(self) -> None:
        """Statements to the end of the text."""
        table: KeyPath = ()
        self._blank(newlines=True)
        while self.at < len(self.text):
            if self._take("[["):
                table = self._list_element(self._header("]]"))
            elif self._take("["):
                table = self._resolve(self._header("]"))
            else:
                self._assignment(table)
            self._blank(newlines=True)

    def _note(self, path: KeyPath) -> None:
        self._line += self.text.count("\n", self._counted_to, self.at)
        self._counted_to = self.at
        self.lines.setdefault(path, self._line)

    def _take(self, token: str) -> bool:
        if self.text.startswith(token, self.at):
            self.at += len(token)
            return True
        return False

    def _blank(self, *, newlines: bool) -> None:
        """Skip spaces and comments, and line ends where they mean nothing."""
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif character in " \t\r" or (newlines and character == "\n"):
                self.at += 1
            else:
                return

    def _key(self) -> tuple[str, ...]:
        """A dotted key."""
        parts = []
        while True:
            self._blank(newlines=False)
            if self.text[self.at] in "\"'":
                parts.append(self._string())
            else:
                bare = _BARE.match(self.text, self.at)
                assert bare is not None, "the text was parsed before"
                self.at = bare.end()
                parts.append(bare.group())
            self._blank(newlines=False)
            if not self._take("."):
                return tuple(parts)

    def _header(self, end: str) -> tuple[str, ...]:
        key = self._key()
        self._take(end)
        return key

    def _resolve(self, key: tuple[str, ...]) -> KeyPath:
        """The path of a header, in which a list of tables stands for its newest element."""
        path: KeyPath = ()
        for part in key:
            path = (*path, part)
            self._note(path)
            if path in self._counts:
                path = (*path, self._counts[path] - 1)
        return path

    def _list_element(self, key: tuple[str, ...]) -> KeyPath:
        path: KeyPath = (*self._resolve(key[:-1]), key[-1])
        self._note(path)
        index = self._counts.get(path, 0)
        self._counts[path] = index + 1
        self._note((*path, index))
        return (*path, index)

    def _assignment(self, table: KeyPath) -> None:
        start = self.at
        key = self._key()
        end = self.at
        self.at = start
        for length in range(1, len(key) + 1):
            self._note((*table, *key[:length]))
        self.at = end
        self._take("=")
        self._value((*table, *key))

    def _value(self, path: KeyPath) -> None:
        self._blank(newlines=False)
        if self._take("["):
            self._elements(path)
        elif self._take("{"):
            self._inline_table(path)
        elif self.text[self.at] in "\"'":
            self._string()
        else:
            scalar = _SCALAR.match(self.text, self.at)
            assert scalar is not None, "the pattern matches the empty text"
            self.at = scalar.end()

    def _elements(self, path: KeyPath) -> None:
        index = 0
        self._blank(newlines=True)
        while not self._take("]"):
            self._note((*path, index))
            self._value((*path, index))
            index += 1
            self._blank(newlines=True)
            self._take(",")
            self._blank(newlines=True)

    def _inline_table(self, path: KeyPath) -> None:
        self._blank(newlines=True)
        while not self._take("}"):
            self._assignment(path)
            self._blank(newlines=True)
            self._take(",")
            self._blank(newlines=True)

    def _string(self) -> str:
        """Any of the four kinds of string; what it says matters only where it is a key."""
        quote = self.text[self.at]
        long = self._take(quote * 3)
        if not long:
            self.at += 1
        said = []
        while True:
            character = self.text[self.at]
            if character == "\\" and quote == '"':
                said.append(self._escape())
            elif character == quote and not long:
                self.at += 1
                return "".join(said)
            elif long and self._take(quote * 3):
                while self._take(quote):  # up to two quotes may stand right before the closing three
                    said.append(quote)
                return "".join(said)
            else:
                said.append(character)
                self.at += 1

    def _escape(self) -> str:
        kind = self.text[self.at + 1]
        length = {"u": 4, "U": 8}.get(kind, 0)
        digits = self.text[self.at + 2 : self.at + 2 + length]
        self.at += 2 + length
        return chr(int(digits, 16)) if length else _ESCAPES.get(kind, "")
