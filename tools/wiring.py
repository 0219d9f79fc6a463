"""Writes what wiring.md and examples/ say of pins, wires, parts and currents, from docs/wiring/pins.toml.

One file holds the facts, so that a table, a drawing and a configuration cannot disagree. In wiring.md the text
between `<!-- generated: NAME -->` and `<!-- end of NAME -->` is replaced; whole files are written in examples/,
and the drawing of the header in docs/wiring/. `--check` writes nothing and returns 1 where something differs.
"""

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "wiring" / "pins.toml"
PAGE = ROOT / "wiring.md"
EXAMPLES = ROOT / "examples"
HEADER_DRAWING = ROOT / "docs" / "wiring" / "header.svg"

KINDS = ("beam", "button", "lamp")
AT = {"serial": "channel", "gpio": "pin"}
BOOT_MARKS = {"up": "▲", "down": "▼"}


def main() -> int:
    """Write everything, or say what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, name what is out of date")
    check = parser.parse_args().check
    stale = [path for path, text in generated(load()).items() if not path.exists() or path.read_text("utf-8") != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)}: {'out of date' if check else 'written'}")
        if not check:
            path.write_text(generated(load())[path], encoding="utf-8")
    return 1 if check and stale else 0


def load() -> dict[str, Any]:
    """The data file."""
    return tomllib.loads(DATA.read_text("utf-8"))


def generated(data: Mapping[str, Any]) -> dict[Path, str]:
    """Every generated file with the text that it must have."""
    files = {EXAMPLES / layout["file"]: example(layout) for layout in data["layouts"]}
    files[HEADER_DRAWING] = header_drawing(data["header"]["pins"])
    files[PAGE] = page(PAGE.read_text("utf-8"), sections(data))
    return files


# -- wiring.md -------------------------------------------------------------------------------------------


def page(text: str, tables: Mapping[str, str]) -> str:
    """`text` with the tables between their marks. ValueError where a table has no place or a place no table."""
    found = re.findall(r"<!-- generated: (.+?) -->", text)
    if sorted(found) != sorted(tables):
        differing = sorted(set(found) ^ set(tables)) or sorted(found)
        raise ValueError(f"wiring.md and the data differ in their generated sections: {', '.join(differing)}")
    for name, table in tables.items():
        begin, end = f"<!-- generated: {name} -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        _, closed, after = rest.partition(end)
        if not closed:
            raise ValueError(f"wiring.md: the generated section {name} has no end")
        text = f"{before}{begin}\n{table}\n{end}{after}"
    return text


def sections(data: Mapping[str, Any]) -> dict[str, str]:
    """The generated sections of wiring.md by name."""
    return {
        "header": header_table(data["header"]["pins"]),
        "board": board_table(data["board"]["pins"]),
        "parts": parts_table(data["parts"]),
        "currents": currents_table(data["parts"]),
        **{layout["file"]: wires_table(layout, data) for layout in data["layouts"]},
    }


def table_of(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def header_table(pins: Sequence[Mapping[str, Any]]) -> str:
    """Every pin of the header that is not power or ground."""
    rows = (
        (
            pin["name"],
            pin["place"],
            pin["boot"],
            {"never": "**no**", "last": "at last"}.get(pin["use"], "yes"),
            note(pin),
        )
        for pin in sorted((pin for pin in pins if "use" in pin), key=lambda pin: int(pin["name"][4:]))
    )
    return table_of(("pin", "place on the header", "pulled at boot", "use it", "because"), rows)


def board_table(pins: Sequence[Mapping[str, Any]]) -> str:
    """Every pin of the sensor board."""
    rows = (
        (pin["name"], pin.get("channel", "–"), "beam, sensor or button" if pin.get("input") else "–", note(pin))
        for pin in pins
    )
    return table_of(("pin", "channel", "use", "note"), rows)


def note(pin: Mapping[str, Any]) -> str:
    """What is to be said of a pin."""
    return str(pin.get("note", ""))


def wires_table(layout: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """The wires of one layout with the pin of each."""
    on_board = {pin["channel"]: pin["name"] for pin in data["board"]["pins"] if "channel" in pin}
    on_header = {pin["name"]: pin["place"] for pin in data["header"]["pins"]}
    serial = layout["source"]["kind"] == "serial"
    rows = []
    for wire in layout["wires"]:
        kind = kind_of(wire)
        where = (on_board[wire["at"]], wire["at"]) if serial else (wire["at"], on_header[wire["at"]])
        rows.append((f"`{wire[kind]}`", kind, *where, wire["what"], levels(wire)))
    places = ("board pin", "channel") if serial else ("pin", "place on the header")
    return table_of(("id", "kind", *places, "what", "high means"), rows)


def levels(wire: Mapping[str, Any]) -> str:
    """What the high level of a wire means."""
    settings = wire["set"]
    if "beam" in wire:
        high = settings.get("blocked_level", "high") == "high"
        sees = "the cue ball is there" if settings.get("passes") == ["cue"] else "broken"
        return f"{sees}, or the wire is cut" if high else "intact"
    if "button" in wire:
        return "up" if settings.get("pressed_level", "low") == "low" else "pressed"
    return "lit" if settings.get("lit_level", "high") == "high" else "dark"


def parts_table(parts: Mapping[str, Any]) -> str:
    """Quantities, one column a way of building."""
    heads = ("part", *(build["id"] for build in parts["builds"]))
    return table_of(heads, ((part["name"], *(count or "" for count in part["counts"])) for part in parts["list"]))


def currents_table(parts: Mapping[str, Any]) -> str:
    """The sum of the currents of each way of building, with what it builds on."""
    rows = []
    sums: dict[str, tuple[float, float]] = {}
    for index, build in enumerate(parts["builds"]):
        below = sums[build["plus"]] if "plus" in build else (0.0, 0.0)
        own = [sum(part.get(rail, 0) * part["counts"][index] for part in parts["list"]) for rail in ("ma_5v", "ma_3v3")]
        sums[build["id"]] = (below[0] + own[0], below[1] + own[1])
        adds = f"adds {own[0]:.0f} and {own[1]:.0f}" if "plus" in build else ""
        rows.append((build["id"], build["name"], *(f"{total:.0f}" for total in sums[build["id"]]), adds))
    return table_of(("", "build", "5 V, in mA", "3.3 V, in mA", ""), rows)


# -- examples --------------------------------------------------------------------------------------------


def kind_of(wire: Mapping[str, Any]) -> str:
    """Whether a wire is a beam's, a button's or a lamp's."""
    return next(kind for kind in KINDS if kind in wire)


def example(layout: Mapping[str, Any]) -> str:
    """The configuration of one layout."""
    about = [f"# {line}" for line in layout["about"].strip().splitlines()]
    about.append(f"# Check it with: pocketbeam check-config examples/{layout['file']}")
    about.append("# Written by tools/wiring.py from docs/wiring/pins.toml: change a copy, or those.")
    parts = ["\n".join(about), layout["top"].strip(), "[[sources]]\n" + pairs(layout["source"])]
    for kind in KINDS:
        for wire in layout["wires"]:
            if kind_of(wire) == kind:
                parts.append(f"[[{kind}s]]\n" + pairs(keys_of(wire, layout["source"])))
                if "settings" in wire:
                    parts.append("[beams.settings]\n" + with_comment(pairs(wire["settings"]), wire.get("why")))
    return "\n\n".join([*parts, layout["bottom"].strip()]) + "\n"


def keys_of(wire: Mapping[str, Any], source: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of one beam, button or lamp."""
    return {"id": wire[kind_of(wire)], "source": source["id"], AT[source["kind"]]: wire["at"], **wire["set"]}


def pairs(values: Mapping[str, Any]) -> str:
    """Keys and values, one a line."""
    return "\n".join(f"{key} = {toml(value)}" for key, value in values.items())


def toml(value: Any) -> str:
    """One value as TOML writes it."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def with_comment(line: str, comment: str | None) -> str:
    """A line with a comment where the others of these files have theirs."""
    return line if comment is None else f"{line:<36} # {comment}"


# -- the drawing of the header ---------------------------------------------------------------------------

_COLOURS = {"free": "#cfe8cf", "last": "#fff2b3", "never": "#f3c2c2", "5 V": "#f08080", "3.3 V": "#f6b26b"}


def header_drawing(pins: Sequence[Mapping[str, Any]]) -> str:
    """The header as it lies on the board, two pins a row, each with its name, its use and its pull at boot."""
    rows = max(pin["place"] for pin in pins) // 2
    top, step = 74, 27
    height = top + rows * step + 92
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" role="img" aria-labelledby="t d"'
        ' font-family="sans-serif" font-size="14">',
        '<title id="t">The 40-pin header of a Raspberry Pi</title>',
        f'<desc id="d">{described(pins)}</desc>',
        f'<rect width="760" height="{height}" fill="#fff"/>',
        '<text x="380" y="28" text-anchor="middle" font-size="18" font-weight="bold">'
        "The header, seen from above</text>",
        '<text x="380" y="52" text-anchor="middle">end of the board with the SD card, away from the USB sockets</text>',
    ]
    for pin in pins:
        row, right = (pin["place"] - 1) // 2, pin["place"] % 2 == 0
        lines += pin_drawing(pin, 386 if right else 350, top + row * step, right)
    lines += legend(top + rows * step + 24)
    return "\n".join([*lines, "</svg>"]) + "\n"


def described(pins: Sequence[Mapping[str, Any]]) -> str:
    """The drawing in words."""
    names = {
        use: ", ".join(pin["name"] for pin in sorted(pins, key=lambda pin: pin["name"]) if pin.get("use") == use)
        for use in ("free", "last", "never")
    }
    return (
        "Two columns of twenty pins, odd places left, even places right, place 1 at the top. "
        f"Free to use: {names['free']}. Only when those are taken: {names['last']}. Never: {names['never']}. "
        "The table in wiring.md says the same, with the pull of each pin at boot."
    )


def pin_drawing(pin: Mapping[str, Any], x: int, y: int, right: bool) -> list[str]:
    """One pin: its place in a square, its name and mark beside it."""
    use = pin.get("use", pin["name"])
    mark = BOOT_MARKS.get(pin.get("boot", "").split(",")[0], "")
    words = {"never": "not for sensors", "last": "at last"}.get(use, "")
    said = [pin["name"], mark, f"({words})" if words else ""]
    label = " ".join(part for part in (said if right else reversed(said)) if part)
    fill = _COLOURS.get(use, "#ccc")
    at, anchor = (x + 34, "start") if right else (x - 10, "end")
    weight = ' font-weight="bold"' if use == "free" else ""
    return [
        f'<rect x="{x}" y="{y}" width="24" height="22" rx="3" fill="{fill}" stroke="#333"/>',
        f'<text x="{x + 12}" y="{y + 16}" text-anchor="middle" font-size="12">{pin["place"]}</text>',
        f'<text x="{at}" y="{y + 16}" text-anchor="{anchor}"{weight}>{label}</text>',
    ]


def legend(y: int) -> list[str]:
    """What the colours and marks mean, in words."""
    entries = (
        ("free", "free, name in bold"),
        ("last", "only when the free ones are taken"),
        ("never", "not for sensors"),
    )
    lines = []
    for index, (use, words) in enumerate(entries):
        x = 60 + (0, 180, 460)[index]
        lines.append(f'<rect x="{x}" y="{y}" width="18" height="16" fill="{_COLOURS[use]}" stroke="#333"/>')
        lines.append(f'<text x="{x + 26}" y="{y + 13}">{words}</text>')
    lines.append(
        f'<text x="60" y="{y + 46}">▲ pulled up at boot    ▼ pulled down at boot: lamps belong on these</text>'
    )
    return lines


if __name__ == "__main__":
    sys.exit(main())
