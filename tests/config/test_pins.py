"""Pins as people write them, what hangs on them, long presses and lamps."""

from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.config import ConfigurationError, Settings, load, load_all
from appliance.config.settings import pin_number

TABLE = '[table]\nid = "club-1"\ngame = "club_carrom"\n[web]\n[[sources]]\nid = "pins"\nkind = "gpio"\n'
CARPETBALL = TABLE.replace("club_carrom", "carpetball")
BEAM = '[[beams]]\nid = "ne"\nsource = "pins"\npin = "GPIO17"\nplace = "ne"\n'
BUTTON = '[[buttons]]\nid = "b"\nsource = "pins"\npin = "GPIO22"\n'
LAMP = '[[lamps]]\nid = "l"\nsource = "pins"\npin = "GPIO23"\nshows = "fault"\n'


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], Settings]:
    def _read(text: str) -> Settings:
        file = tmp_path / "table.toml"
        file.write_text(text, "utf-8")
        return load(file)

    return _read


# The header as the Raspberry Pi's own documentation draws it, from the top: left column, right column.
DRAWN = """
3V3 5V  2 5V  3 GND  4 14  GND 15  17 18  27 GND  22 23  3V3 24  10 GND  9 25  11 8  GND 7  0 1  5 GND  6 12
13 GND  19 16  26 20  GND 21
"""


def test_every_place_of_the_header_is_the_gpio_that_is_drawn_there() -> None:
    header = DRAWN.split()
    assert len(header) == 40
    for place, drawn in enumerate(header, 1):
        number = int(drawn) if drawn.isdecimal() else None
        assert pin_number(f"BOARD{place}") == number, place
    assert {pin_number(f"GPIO{n}") for n in range(28)} == set(range(28))
    for wrong in ("GPIO28", "BOARD0", "BOARD41", "17", "gpio17", "GPIO", "GPIO-1", "GPIO١", "BOARD11 ", ""):
        assert pin_number(wrong) is None, wrong


def test_a_place_on_the_header_is_the_same_wire_as_its_gpio(read: Callable[[str], Settings]) -> None:
    beam = read(TABLE + BEAM.replace("GPIO17", "BOARD11")).beams[0]
    assert (beam.pin, beam.channel) == ("BOARD11", 17)
    with pytest.raises(ConfigurationError, match=r'beam "ne" is already on this pin'):
        read(TABLE + BEAM.replace("GPIO17", "BOARD11") + BUTTON.replace("GPIO22", "GPIO17") + 'action = "undo"\n')


def test_tables_cannot_share_a_pin_under_two_names(tmp_path: Path) -> None:
    one, two = tmp_path / "one.toml", tmp_path / "two.toml"
    one.write_text(TABLE + BEAM)
    two.write_text(TABLE.replace("club-1", "club-2") + BEAM.replace("GPIO17", "BOARD11"))
    with pytest.raises(ConfigurationError, match=r"one\.toml already uses this pin"):
        load_all([one, two])


def test_a_button_has_a_short_and_a_long_press(read: Callable[[str], Settings]) -> None:
    text = TABLE + BUTTON + 'action = "done"\nplayer = 1\nlong = { action = "object", object = "striker" }\n'
    button = read(text).buttons[0]
    assert (button.action, button.fields) == ("done", {"player": 1})
    assert button.long is not None
    assert (button.long.action, button.long.fields) == ("object", {"object": "striker"})
    assert read(TABLE + BUTTON + 'action = "done"\n').buttons[0].long is None


def test_cue_is_an_action_of_carpetball_alone(read: Callable[[str], Settings]) -> None:
    assert read(CARPETBALL + BUTTON + 'action = "cue"\nplace = "north"\n').buttons[0].action == "cue"


WRONG = {
    "no gpio there": (BEAM.replace("GPIO17", "BOARD6"), "beams[0].pin", "a place on the header that has a GPIO"),
    "no pin": (BEAM.replace("GPIO17", "P17"), "beams[0].pin", '"BOARD11"'),
    "long without action": (BUTTON + 'action = "undo"\nlong = {}\n', "buttons[0].long.action", "is missing"),
    "long is text": (BUTTON + 'action = "undo"\nlong = "redo"\n', "buttons[0].long", "what a long press asks for"),
    "long is no action": (
        BUTTON + 'action = "undo"\nlong = { action = "reedo" }\n',
        "buttons[0].long.action",
        '"redo"?',
    ),
    "long lacks a field": (BUTTON + 'action = "undo"\nlong = { action = "object" }\n', "buttons[0].long", "object"),
    "long has a foreign field": (
        BUTTON + 'action = "undo"\nlong = { action = "redo", player = 1 }\n',
        "buttons[0].long.player",
        "no key",
    ),
    "long in a long": (
        BUTTON + 'action = "undo"\nlong = { action = "redo", long = { action = "undo" } }\n',
        "buttons[0].long.long",
        "no key",
    ),
    "cue in carrom": (BUTTON + 'action = "cue"\n', "buttons[0].action", "no action of club_carrom"),
    "pulled down where the board pulls up": (
        BEAM.replace("GPIO17", "BOARD3") + 'pull = "down"\n',
        "beams[0].pin",
        "GPIO2 is pulled up",
    ),
    "button to 3.3 V there": (
        BUTTON.replace("GPIO22", "GPIO3") + 'action = "undo"\npressed_level = "high"\n',
        "buttons[0].pin",
        "GPIO3 is pulled up",
    ),
    "lamp's level": (LAMP + 'lit_level = "on"\n', "lamps[0].lit_level", '"on" is not possible'),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_with_its_place(read: Callable[[str], Settings], case: str) -> None:
    text, key_path, part = WRONG[case]
    with pytest.raises(ConfigurationError) as error:
        read(TABLE + text)
    said = {problem.key_path: problem.sentence for problem in error.value.problems}
    assert part in said[key_path], said


def test_a_board_s_inputs_have_no_pull(read: Callable[[str], Settings]) -> None:
    serial = TABLE.replace('kind = "gpio"', 'kind = "serial"\nport = "/dev/serial/by-id/x"')
    with pytest.raises(ConfigurationError, match=r"beams\[0\].pull.*leave this out"):
        read(serial + BEAM.replace('pin = "GPIO17"', "channel = 0") + 'pull = "up"\n')


@pytest.mark.parametrize(
    ("keys", "warned"),
    [
        ("", False),
        ('pull = "up"\n', False),
        ('blocked_level = "low"\n', True),
        ('blocked_level = "low"\npull = "down"\n', False),
        ('pull = "down"\n', True),
    ],
)
def test_a_beam_whose_cut_wire_looks_intact_is_warned_of(
    read: Callable[[str], Settings], keys: str, warned: bool
) -> None:
    paths = [warning.key_path for warning in read(TABLE + BEAM + keys).warnings]
    assert ("beams[0].blocked_level" in paths) is warned
