"""Where keys stand: every form in which TOML lets a key or an element be written."""

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from appliance.config.lines import key_lines, line_of

TEXT = """\
# a comment with [brackets] and "quotes"
title = "a ] b # c"
[table]
id = 'x'            # [[not]]
players = [
  "Asha",           # one
  { id = "a17", name = "Ben" },
]
note = \"\"\"
[beams]
id = 1
\"\"\"
after = '''it's "here"'''
[rules]
"cc.target" = 25
'mc.values' = [1, [2, 3]]
tls.ca = "x"
[[beams]]
id = "ne"
[[beams]]
id = "nw"
[beams.settings]
min_dwell_ms = 2
[[beams]]
settings = { min_dwell_ms = 1, "a\\u0062" = 2 }
"""


def test_every_way_of_writing_a_key_has_its_line() -> None:
    lines = key_lines(TEXT)
    assert lines == {
        ("title",): 2,
        ("table",): 3,
        ("table", "id"): 4,
        ("table", "players"): 5,
        ("table", "players", 0): 6,
        ("table", "players", 1): 7,
        ("table", "players", 1, "id"): 7,
        ("table", "players", 1, "name"): 7,
        ("table", "note"): 9,
        ("table", "after"): 13,
        ("rules",): 14,
        ("rules", "cc.target"): 15,
        ("rules", "mc.values"): 16,
        ("rules", "mc.values", 0): 16,
        ("rules", "mc.values", 1): 16,
        ("rules", "mc.values", 1, 0): 16,
        ("rules", "mc.values", 1, 1): 16,
        ("rules", "tls"): 17,
        ("rules", "tls", "ca"): 17,
        ("beams",): 18,
        ("beams", 0): 18,
        ("beams", 0, "id"): 19,
        ("beams", 1): 20,
        ("beams", 1, "id"): 21,
        ("beams", 1, "settings"): 22,
        ("beams", 1, "settings", "min_dwell_ms"): 23,
        ("beams", 2): 24,
        ("beams", 2, "settings"): 25,
        ("beams", 2, "settings", "min_dwell_ms"): 25,
        ("beams", 2, "settings", "ab"): 25,
    }


def test_what_is_missing_has_the_line_of_what_it_is_missing_from() -> None:
    lines = key_lines(TEXT)
    assert line_of(lines, ("beams", 1, "channel")) == 20
    assert line_of(lines, ("mqtt", "port")) is None


# Any document, written out one key a line in every kind of key and string, is found again line by line.
_names = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=6)
_texts = st.text(st.sampled_from("ab\"'\\#[]{}=,. é"), max_size=8)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _written(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_written(each) for each in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(key)} = {_written(each)}" for key, each in value.items()) + "}"
    return _quoted(value) if isinstance(value, str) else str(value)


_values = st.recursive(
    st.integers() | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(_names, st.dictionaries(_names, _values, max_size=4), max_size=4))
def test_any_document_is_found_line_by_line(document: dict[str, dict[str, Any]]) -> None:
    text, expected, line = "", {}, 0
    for section, keys in document.items():
        line += 1
        text += f"[{_quoted(section)}] # '\n"
        expected[(section,)] = line
        for key, value in keys.items():
            line += 1
            text += f"{_quoted(key)} = {_written(value)}\n"
            expected[(section, key)] = line
    assert tomllib.loads(text) == document, "the text says what it should"
    found = key_lines(text)
    assert {path: found[path] for path in expected} == expected
    assert all(line == found[path[:2]] for path, line in found.items() if len(path) > 2)
