"""The wiring guide: its tables, examples and drawings say what the data file, the program and the firmware say."""

import re
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from appliance.cli.commands import COMMANDS
from appliance.config import load
from appliance.config.settings import pin_number
from tools import wiring

ROOT = Path(__file__).resolve().parent.parent
DATA = wiring.load()
HEADER = DATA["header"]["pins"]
BOARD = DATA["board"]["pins"]
LAYOUTS = DATA["layouts"]
PAGE = (ROOT / "wiring.md").read_text("utf-8")
DRAWINGS = sorted((ROOT / "docs" / "wiring").glob("*.svg"))

by_file = pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: str(layout["file"]))


# -- nothing has drifted ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", wiring.generated(DATA), ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_generated_is_up_to_date(path: Path) -> None:
    assert path.read_text("utf-8") == wiring.generated(DATA)[path], "run: python tools/wiring.py"


def test_a_table_without_a_place_in_the_page_is_an_error() -> None:
    begin, end = "<!-- generated: header -->", "<!-- end of header -->"
    assert wiring.page(f"a\n{begin}\nold\n{end}\nz\n", {"header": "new"}) == f"a\n{begin}\nnew\n{end}\nz\n"
    with pytest.raises(ValueError, match="board"):
        wiring.page(f"{begin}\n{end}", {"header": "new", "board": "b"})
    with pytest.raises(ValueError, match="no end"):
        wiring.page(begin, {"header": "new"})


# -- the examples ----------------------------------------------------------------------------------------


@by_file
def test_every_example_loads_without_a_warning(layout: dict[str, Any]) -> None:
    settings = load(ROOT / "examples" / layout["file"])
    assert settings.warnings == ()
    wires = [*settings.beams, *settings.buttons, *settings.lamps]
    assert {(wire.id, wire.pin or wire.channel) for wire in wires} == {
        (wire[wiring.kind_of(wire)], wire["at"]) for wire in layout["wires"]
    }


@by_file
def test_an_example_says_what_the_data_say(layout: dict[str, Any]) -> None:
    document = tomllib.loads((ROOT / "examples" / layout["file"]).read_text("utf-8"))
    for wire in layout["wires"]:
        kind = wiring.kind_of(wire)
        (found,) = (each for each in document[f"{kind}s"] if each["id"] == wire[kind])
        given = {key: found[key] for key in found if key not in ("id", "source", "pin", "channel", "settings")}
        assert given == wire["set"]
        assert found.get("settings") == wire.get("settings")


@by_file
def test_every_beam_reads_broken_when_its_wire_is_cut(layout: dict[str, Any]) -> None:
    for beam in load(ROOT / "examples" / layout["file"]).beams:
        assert (beam.blocked_level, beam.pull or "up") == ("high", "up"), beam.id


# -- the pins --------------------------------------------------------------------------------------------


def test_the_header_is_the_one_that_the_configuration_knows() -> None:
    assert [pin["place"] for pin in HEADER] == list(range(1, 41))
    for pin in HEADER:
        number = pin_number(f"BOARD{pin['place']}")
        assert pin["name"] == f"GPIO{number}" if number is not None else pin["name"] in ("3.3 V", "5 V", "ground")


def test_each_pin_of_the_header_is_pulled_as_its_chip_does_at_boot() -> None:
    for pin in HEADER:
        if "use" in pin:
            assert pin["boot"].split(",")[0] == ("up" if int(pin["name"][4:]) <= 8 else "down"), pin["name"]


def test_the_board_is_the_one_that_the_firmware_knows() -> None:
    told = (ROOT / "firmware" / "avr" / "board.h").read_text("utf-8")
    channels: dict[str, int] = {}
    for first, last, letter, start in re.findall(r"channels (\d+) to (\d+) +([DA])(\d+) to ", told):
        for channel in range(int(first), int(last) + 1):
            channels[f"{letter}{int(start) + channel - int(first)}"] = channel
    channels |= {pin: int(channel) for channel, pin in re.findall(r"channel (\d+) +(D\d+)", told)}
    inputs = re.search(r"channels 0 to (\d+) are\s+(?:\*\s+)?inputs", told)
    assert inputs is not None
    assert {pin["name"]: pin["channel"] for pin in BOARD if "channel" in pin} == channels
    assert {pin["channel"] for pin in BOARD if pin.get("input")} == set(range(int(inputs[1]) + 1))


@by_file
def test_wires_go_to_pins_that_are_free_for_them(layout: dict[str, Any]) -> None:
    serial = layout["source"]["kind"] == "serial"
    inputs = {pin["channel"] for pin in BOARD if pin.get("input")}
    usable = {pin["name"]: pin["boot"] for pin in HEADER if pin.get("use") in ("free", "last")}
    for wire in layout["wires"]:
        assert wire["at"] in (inputs if serial else usable), wire
        assert "lamp" not in wire or (not serial and usable[wire["at"]] == "down"), wire


# -- the page and its drawings ---------------------------------------------------------------------------


@pytest.mark.parametrize("path", DRAWINGS, ids=lambda path: str(path.name))
def test_every_drawing_is_shown_and_can_be_read_out(path: Path) -> None:
    svg = "{http://www.w3.org/2000/svg}"
    root = ElementTree.parse(path).getroot()
    assert root.get("role") == "img"
    named = {
        element.get("id"): element
        for element in (root.find(f"{svg}title"), root.find(f"{svg}desc"))
        if element is not None
    }
    assert root.get("aria-labelledby", "").split() == list(named)
    assert all(element.text and len(element.text) > 15 for element in named.values())
    shown = re.search(r"!\[([^\]]+)\]\(docs/wiring/" + re.escape(path.name) + r"\)", PAGE)
    assert shown is not None
    assert len(shown[1]) > 40


def test_the_page_names_commands_that_exist() -> None:
    named = set(re.findall(r"(?<![\w/])pocketbeam ([a-z][a-z-]+)", PAGE))
    assert named <= {command.name for command in COMMANDS}
    assert {"check-config", "run", "status", "send"} <= named


def test_the_page_lists_the_sums_of_its_parts() -> None:
    parts = DATA["parts"]
    crossed = next(i for i, build in enumerate(parts["builds"]) if build["id"] == "B")
    at_5_v = sum(part.get("ma_5v", 0) * part["counts"][crossed] for part in parts["list"])
    row = next(line for line in PAGE.splitlines() if line.startswith("| B | "))
    assert row.split("|")[3].strip() == str(round(at_5_v))
    assert all(len(part["counts"]) == len(parts["builds"]) for part in parts["list"])
