"""A configuration is read as its page says, and everything wrong in it is said at once, with its place."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance import config
from appliance.config import ConfigurationError, Player, Problem, Settings, from_document, load, load_all

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

CARROM = """\
[table]
id = "club-1"
game = "club_carrom"
players = ["Asha", "Ben"]
[[sources]]
id = "board"
kind = "serial"
port = "/dev/serial/by-id/usb-board"
"""
CARPETBALL = CARROM.replace("club_carrom", "carpetball")
GPIO = CARROM.replace('kind = "serial"\nport = "/dev/serial/by-id/usb-board"', 'kind = "gpio"')
BEAM = '[[beams]]\nid = "ne"\nsource = "board"\nchannel = 0\nplace = "ne"\n'
BUTTON = '[[buttons]]\nid = "b"\nsource = "board"\nchannel = 8\n'
WEB = "[web]\n"


def _table(key: str) -> str:
    """CARROM with one more key in its first section."""
    return CARROM.replace("[table]", f"[table]\n{key}")


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], Settings]:
    def _read(text: str) -> Settings:
        file = tmp_path / "table.toml"
        file.write_text(text, "utf-8")
        return load(file)

    return _read


@pytest.fixture
def problems(read: Callable[[str], Settings]) -> Callable[[str], list[Problem]]:
    def _problems(text: str) -> list[Problem]:
        with pytest.raises(ConfigurationError) as error:
            read(text)
        return list(error.value.problems)

    return _problems


def test_the_whole_of_a_configuration_is_read(read: Callable[[str], Settings]) -> None:
    settings = read(
        CARROM.replace('"Ben"]', '{ id = "a17", name = "Ben" }]')
        + BEAM
        + 'passes = ["striker"]\nexclusive = "ne"\nblocked_level = "low"\n'
        + "[beams.settings]\nmin_dwell_ms = 0.5\n"
        + BUTTON
        + 'action = "object"\nobject = "striker"\npressed_level = "high"\n'
        + '[[lamps]]\nid = "turn"\nsource = "board"\nchannel = 12\nshows = "turn"\nplayer = 1\n'
        + '[mqtt]\nhost = "broker.example"\nport = 8883\nusername = "u"\ntls = {}\n'
        + '[web]\nlisten = "[::1]:9000"\n'
    )
    assert settings.table.players == (Player(id="Asha", name="Asha"), Player(id="a17", name="Ben"))
    (beam,) = settings.beams
    assert (beam.id, beam.source, beam.channel, beam.place) == ("ne", "board", 0, "ne")
    assert (beam.passes, beam.exclusive, beam.blocked_level) == (("striker",), "ne", "low")
    assert beam.settings.overrides() == {"min_dwell_ns": 500_000}
    (button,) = settings.buttons
    assert (button.action, button.fields, button.pressed_level) == ("object", {"object": "striker"}, "high")
    (lamp,) = settings.lamps
    assert (lamp.shows, lamp.player, lamp.channel) == ("turn", 1, 12)
    assert (settings.mqtt.host, settings.mqtt.port, settings.mqtt.username) == ("broker.example", 8883, "u")
    assert settings.mqtt.tls is not None
    assert settings.web is not None
    assert (settings.web.host, settings.web.port) == ("::1", 9000)


def test_what_is_left_out_has_the_documented_defaults(read: Callable[[str], Settings]) -> None:
    settings = read('[table]\nid = "t"\ngame = "club_carrom"\n')
    assert settings.table.unknown_object == "ask_then_assume"
    assert settings.table.quiet_time_s == 6
    assert settings.table.quiet_time_ns == 6_000_000_000
    assert settings.table.state_dir == Path("/var/lib/pocketbeam/t")
    assert [player.name for player in settings.table.players] == ["Player 1", "Player 2"]
    assert (settings.mqtt.host, settings.mqtt.port, settings.mqtt.tls) == ("127.0.0.1", 1883, None)
    assert settings.web is None
    assert settings.sources == settings.beams == settings.buttons == settings.lamps == ()
    assert read('[table]\nid = "t"\ngame = "carpetball"\n').table.quiet_time_s == 5


def test_a_beam_passes_everything_of_its_game_unless_told(read: Callable[[str], Settings]) -> None:
    assert read(CARROM + BEAM + "blocked_level = 'high'\n").beams[0].passes == (
        "white",
        "black",
        "queen",
        "striker",
    )
    pit = BEAM.replace('place = "ne"', 'place = "north"')
    assert read(CARPETBALL + pit).beams[0].passes == ("ball", "cue")
    strike = BEAM.replace('place = "ne"', 'place = "strike"')
    assert read(CARROM + strike).beams[0].passes == ()
    assert read(CARPETBALL + strike + 'end = "north"\n').beams[0].end == "north"


def test_the_channel_of_a_pin_is_its_number(read: Callable[[str], Settings]) -> None:
    beam = read(GPIO + BEAM.replace("channel = 0", 'pin = "GPIO17"')).beams[0]
    assert (beam.pin, beam.channel) == ("GPIO17", 17)


def test_settings_cannot_be_changed(read: Callable[[str], Settings]) -> None:
    settings = read(CARROM)
    with pytest.raises(ValueError, match="frozen"):
        settings.table.quiet_time_s = 1.0  # type: ignore[misc]


def test_relative_paths_start_at_the_file(read: Callable[[str], Settings], tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "secret").chmod(0o600)
    settings = read(
        CARROM.replace("players", 'state_dir = "state"\nplayers') + '[mqtt]\nusername = "u"\npassword_file = "secret"\n'
    )
    assert settings.table.state_dir == tmp_path / "state"
    assert settings.mqtt.password_file == tmp_path / "secret"


def test_a_document_that_is_already_parsed_is_judged_the_same() -> None:
    assert from_document({"table": {"id": "t", "game": "new_carrom"}}).table.id == "t"
    with pytest.raises(ConfigurationError) as error:
        from_document({"table": {"id": "t", "game": "chess"}})
    assert error.value.problems[0].key_path == "table.game"


def test_everything_wrong_is_said_at_once_in_the_order_of_the_text(
    problems: Callable[[str], list[Problem]],
) -> None:
    found = problems(
        """\
[tabel]
[table]
id = "Club 1"
game = "club_carom"
players = ["A", "A", 5]
quite_time_s = 5
quiet_time_s = -1
[[sources]]
id = "board"
kind = "seriel"
[[beams]]
id = "ne"
source = "bord"
channel = 0
place = "nee"
passes = ["whit"]
[[buttons]]
id = "x"
source = "board"
channel = true
action = "dnoe"
[mqtt]
port = 0
[web]
listen = "foo"
"""
    )
    assert [(problem.line, problem.key_path) for problem in found] == [
        (1, "tabel"),
        (3, "table.id"),
        (4, "table.game"),
        (5, "table.players[2]"),
        (5, "table.players[1]"),
        (5, "table.players"),
        (6, "table.quite_time_s"),
        (7, "table.quiet_time_s"),
        (10, "sources[0].kind"),
        (13, "beams[0].source"),
        (15, "beams[0].place"),
        (16, "beams[0].passes[0]"),
        (20, "buttons[0].channel"),
        (21, "buttons[0].action"),
        (23, "mqtt.port"),
        (25, "web.listen"),
    ]
    suggestions = {problem.key_path: problem.sentence for problem in found}
    for key, name in {
        "tabel": "table",
        "table.game": "club_carrom",
        "table.quite_time_s": "quiet_time_s",
        "sources[0].kind": "serial",
        "beams[0].source": "board",
        "beams[0].place": "ne",
        "beams[0].passes[0]": "white",
        "buttons[0].action": "done",
    }.items():
        assert f'did you mean "{name}"?' in suggestions[key]


# text, key path, what its sentence says
COLOUR = BEAM + "colour = {{ analog = 1, {} }}\n"

WRONG = {
    "a colour sensor nowhere": (CARROM + BEAM + "colour = {}\n", "beams[0].colour.analog", "missing"),
    "an analog input that is none": (
        CARROM + BEAM + "colour = { analog = 8 }\n",
        "beams[0].colour.analog",
        "at most 7",
    ),
    "a limit beyond the scale": (
        CARROM + COLOUR.format("limits = { white = 256 }"),
        "beams[0].colour.limits.white",
        "at most 255",
    ),
    "a limit of nothing": (
        CARROM + COLOUR.format("limits = { whit = 25 }"),
        "beams[0].colour.limits.whit",
        'did you mean "white"',
    ),
    "two objects with one limit": (
        CARROM + COLOUR.format("limits = { white = 9, black = 9 }"),
        "beams[0].colour.limits.black",
        '"white" has the same limit',
    ),
    "a limit of what does not pass": (
        CARROM + COLOUR.format("limits = { queen = 9 }") + 'passes = ["white", "black"]\n',
        "beams[0].colour.limits.queen",
        "not among what this beam passes",
    ),
    "a colour sensor on pins": (
        GPIO + BEAM.replace("channel = 0", 'pin = "GPIO4"') + "colour = { analog = 1 }\n",
        "beams[0].colour",
        "needs a sensor board",
    ),
    "a colour sensor of strikes": (
        CARROM + BEAM.replace('place = "ne"', 'place = "strike"') + "colour = { analog = 1 }\n",
        "beams[0].colour",
        "sees no objects",
    ),
    "two sensors at one input": (
        CARROM
        + COLOUR.format('reads = "highest"')
        + COLOUR.format('reads = "highest"').replace('id = "ne"', 'id = "b"').replace("channel = 0", "channel = 1"),
        "beams[1].colour.analog",
        "already at analog input 1",
    ),
    "an analog input that is a channel in use": (
        CARROM
        + BUTTON.replace("channel = 8", "channel = 12")
        + 'action = "undo"\n'
        + COLOUR.format('reads = "highest"'),
        "beams[0].colour.analog",
        "is channel 12 of the board",
    ),
    "five sensors at a board": (
        CARROM
        + "".join(
            BEAM.replace('id = "ne"', f'id = "b{n}"').replace("= 0", f"= {n}") + f"colour = {{ analog = {n + 1} }}\n"
            for n in range(5)
        ),
        "beams[4].colour",
        "at most 4 colour sensors",
    ),
    "no table": ("[web]\n", "table", "missing"),
    "no id": ('[table]\ngame = "new_carrom"\n', "table.id", "missing"),
    "no game": ('[table]\nid = "t"\n', "table.game", "missing"),
    "table as a list": ('[[table]]\nid = "t"\n', "table", "[table]"),
    "list as a table": (CARROM + '[beams]\nid = "x"\n', "beams", "[[beams]]"),
    "rules as a value": ('rules = 3\n[table]\nid = "t"\ngame = "new_carrom"\n', "rules", "[rules]"),
    "three in club": (CARROM.replace('"Ben"', '"Ben", "Cy"'), "table.players", "2 or 4 players, not 3"),
    "one in carpetball": (CARPETBALL.replace(', "Ben"', ""), "table.players", "at least 2"),
    "five in money": (
        CARROM.replace("club_", "money_").replace('"Asha"', '"A", "B", "C", "D"'),
        "table.players",
        "2, 3 or 4 players, not 5",
    ),
    "same name": (CARROM.replace("Ben", "Asha"), "table.players[1]", "each player needs a name of their own"),
    "directory of a number": (_table("state_dir = 3"), "table.state_dir", "text in quotation marks, not 3"),
    "pin without its kind": (GPIO + BEAM.replace("channel = 0", "pin = 17"), "beams[0].pin", '"GPIO17"'),
    "tls without braces": (CARROM + "[mqtt]\ntls = true\n", "mqtt.tls", "a table in { }, not true"),
    "same id": (
        CARROM.replace('"Ben"', '{ id = "Asha", name = "Ben" }'),
        "table.players[1]",
        "an id of their own",
    ),
    "empty name": (CARROM.replace("Ben", ""), "table.players[1]", "1 to 40 characters"),
    "long name": (CARROM.replace("Ben", "x" * 41), "table.players[1]", "1 to 40 characters"),
    "control character": (CARROM.replace("Ben", "B\\u0007n"), "table.players[1]", "control characters"),
    "line break": (CARROM.replace("Ben", "B\\nn"), "table.players[1]", "line breaks"),
    "quiet time not a number": (
        _table('quiet_time_s = "6"'),
        "table.quiet_time_s",
        "",
    ),
    "quiet time nan": (_table("quiet_time_s = nan"), "table.quiet_time_s", "finite"),
    "quiet time inf": (_table("quiet_time_s = inf"), "table.quiet_time_s", ""),
    "quiet time true": (
        _table("quiet_time_s = true"),
        "table.quiet_time_s",
        "a number",
    ),
    "no port": (CARROM.replace("port", "#port"), "sources[0]", "needs its port"),
    "gpio with port": (GPIO + 'port = "/dev/x"\n', "sources[0].port", "leave it out"),
    "same port": (
        CARROM + '[[sources]]\nid = "b"\nkind = "serial"\nport = "/dev/serial/by-id/usb-board"\n',
        "sources[1].port",
        '"board" already uses',
    ),
    "huge baud": (CARROM + "baud = 99999999999999999999999\n", "sources[0].baud", "at most"),
    "same source id": (CARROM + '[[sources]]\nid = "board"\nkind = "gpio"\n', "sources[1].id", "twice"),
    "unknown source": (CARROM + BEAM.replace('"board"', '"b0ard"'), "beams[0].source", '"board"?'),
    "wires of no source": (
        CARROM.replace('"serial"\nport', '"none"\n#') + BEAM,
        "beams[0].source",
        "no wires",
    ),
    "no channel": (CARROM + BEAM.replace("channel = 0", ""), "beams[0]", "needs its channel"),
    "pin at serial": (CARROM + BEAM.replace("channel = 0", 'pin = "GPIO1"'), "beams[0].pin", "channels"),
    "channel at gpio": (GPIO + BEAM, "beams[0].channel", "GPIO17"),
    "no pin": (GPIO + BEAM.replace("channel = 0", ""), "beams[0]", "needs its pin"),
    "wrong pin": (GPIO + BEAM.replace("channel = 0", 'pin = "GPIO99"'), "beams[0].pin", '"GPIO27"'),
    "two on a channel": (
        CARROM + BEAM + BUTTON.replace("8", "0") + 'action = "undo"\n',
        "buttons[0].channel",
        'beam "ne" is already',
    ),
    "two on a pin of two sources": (
        GPIO
        + '[[sources]]\nid = "b"\nkind = "gpio"\n'
        + BEAM.replace("channel = 0", 'pin = "GPIO4"')
        + BEAM.replace("channel = 0", 'pin = "GPIO4"').replace('"board"', '"b"').replace('id = "ne"', 'id = "x"'),
        "beams[1].pin",
        "already",
    ),
    "channel too large": (CARROM + BEAM.replace("= 0", "= 64"), "beams[0].channel", "at most 63"),
    "carpetball place": (CARPETBALL + BEAM, "beams[0].place", "north"),
    "across at a pocket": (CARROM + BEAM + "across = true\n", "beams[0].across", "only a strike sensor"),
    "strike without end": (CARPETBALL + BEAM.replace('place = "ne"', 'place = "strike"'), "beams[0]", "end"),
    "end at a pocket": (CARROM + BEAM + 'end = "north"\n', "beams[0].end", "leave this out"),
    "strike that passes": (
        CARROM + BEAM.replace('place = "ne"', 'place = "strike"') + 'passes = ["white"]\n',
        "beams[0].passes",
        "no objects",
    ),
    "cue in carrom": (CARROM + BEAM + 'passes = ["cue"]\n', "beams[0].passes[0]", "no object"),
    "passes nothing": (CARROM + BEAM + "passes = []\n", "beams[0].passes", "at least one"),
    "passes twice": (CARROM + BEAM + 'passes = ["white", "white"]\n', "beams[0].passes", "twice"),
    "passes text": (CARROM + BEAM + 'passes = "white"\n', "beams[0].passes", "a list"),
    "group at two places": (
        CARROM + BEAM + 'exclusive = "g"\n' + BEAM.replace('"ne"', '"nw"').replace("= 0", "= 1") + 'exclusive = "g"\n',
        "beams[1].exclusive",
        'at place "ne"',
    ),
    "turn lamp of nobody": (
        CARROM + '[[lamps]]\nid = "l"\nsource = "board"\nchannel = 1\nshows = "turn"\n',
        "lamps[0]",
        "needs its player",
    ),
    "fault lamp of somebody": (
        CARROM + '[[lamps]]\nid = "l"\nsource = "board"\nchannel = 1\nshows = "fault"\nplayer = 1\n',
        "lamps[0].player",
        "no player",
    ),
    "action of the other game": (CARROM + BUTTON + 'action = "line_up"\n', "buttons[0].action", "no action"),
    "field that is missing": (CARROM + BUTTON + 'action = "object"\n', "buttons[0]", "needs object"),
    "field misspelt": (CARROM + BUTTON + 'action = "done"\nplayr = 1\n', "buttons[0].playr", '"player"?'),
    "field of no use": (CARROM + BUTTON + 'action = "undo"\nplayer = 1\n', "buttons[0].player", "no key"),
    "player 0": (CARROM + BUTTON + 'action = "done"\nplayer = 0\n', "buttons[0].player", "1 to 4"),
    "player true": (CARROM + BUTTON + 'action = "done"\nplayer = true\n', "buttons[0].player", "1 to 4"),
    "object of no game": (
        CARROM + BUTTON + 'action = "object"\nobject = "strikr"\n',
        "buttons[0].object",
        '"striker"?',
    ),
    "count as text": (
        CARPETBALL + BUTTON + 'action = "withdraw"\nend = "north"\nballs = "1"\n',
        "buttons[0].balls",
        "whole number",
    ),
    "password file missing": (
        CARROM + '[mqtt]\nusername = "u"\npassword_file = "/nowhere/p"\n',
        "mqtt.password_file",
        "no such file",
    ),
    "password without user": (CARROM + '[mqtt]\npassword_file = "/etc/hostname"\n', "mqtt", "username"),
    "certificate without key": (
        CARROM + '[mqtt]\ntls = { cert = "/etc/hostname" }\n',
        "mqtt.tls",
        "together",
    ),
    "tls misspelt": (CARROM + '[mqtt]\ntls = { cart = "x" }\n', "mqtt.tls.cart", '"cert"?'),
    "host with scheme": (CARROM + '[mqtt]\nhost = "mqtt://x"\n', "mqtt.host", "host name"),
    "port too large": (CARROM + "[mqtt]\nport = 65536\n", "mqtt.port", "at most 65535"),
    "listen without port": (CARROM + '[web]\nlisten = "localhost"\n', "web.listen", "HOST:PORT"),
    "state dir a file": (
        _table('state_dir = "/etc/hostname"'),
        "table.state_dir",
        "not a",
    ),
}


@pytest.mark.parametrize(("text", "key_path", "says"), WRONG.values(), ids=WRONG.keys())
def test_each_mistake_has_one_sentence_at_its_key(
    problems: Callable[[str], list[Problem]], text: str, key_path: str, says: str
) -> None:
    found = problems(text)
    assert {problem.key_path for problem in found} == {key_path}
    assert says in found[0].sentence
    assert "Input should" not in found[0].sentence, "the words of the library"


@pytest.mark.parametrize("written", ["0", "-1", "1e9", '"5ms"', '""', "nan", "true", "[]"])
def test_a_debounce_time_that_cannot_be_is_refused_at_load(
    problems: Callable[[str], list[Problem]], written: str
) -> None:
    found = problems(CARROM + BEAM + f"[beams.settings]\nmin_dwell_ms = {written}\n")
    assert [problem.key_path for problem in found] == ["beams[0].settings.min_dwell_ms"]
    assert found[0].line == 15


def test_a_merge_gap_may_be_none_at_all(read: Callable[[str], Settings]) -> None:
    settings = read(CARROM + BEAM + "[beams.settings]\nmerge_gap_ms = 0\n")
    assert settings.beams[0].settings.overrides() == {"merge_gap_ns": 0}


@pytest.mark.parametrize(("written", "ns"), [("0.5", 500_000), ("1", 1_000_000), ("0.0001", 100)])
def test_a_debounce_time_below_a_millisecond_stays_what_it_is(
    read: Callable[[str], Settings], written: str, ns: int
) -> None:
    settings = read(CARROM + BEAM + f"[beams.settings]\nmin_dwell_ms = {written}\n")
    assert settings.beams[0].settings.overrides() == {"min_dwell_ns": ns}


def test_every_number_of_a_beam_can_be_set(read: Callable[[str], Settings]) -> None:
    numbers = (
        "long_single_ms = 100\nlong_single_ratio = 2\nfingers_from_ms = 120\nunclear_from_ms = 160.5\n"
        "hand_from_ms = 500\nhand_gap_ms = 0\ncrowd = 4\nnoisy_over = 20\n"
    )
    settings = read(CARROM + BEAM + "[beams.settings]\n" + numbers)
    assert settings.beams[0].settings.overrides() == {
        "long_single_ns": 100_000_000,
        "long_single_percent": 200,
        "fingers_from_ns": 120_000_000,
        "unclear_from_ns": 160_500_000,
        "hand_from_ns": 500_000_000,
        "hand_gap_ns": 0,
        "crowd": 4,
        "noisy_over": 20,
    }


def test_a_long_pulse_need_never_be_two(read: Callable[[str], Settings]) -> None:
    settings = read(CARROM + BEAM + "[beams.settings]\nlong_single_ms = 0\nlong_single_ratio = 0\n")
    assert settings.beams[0].settings.overrides() == {"long_single_ns": None, "long_single_percent": None}


@pytest.mark.parametrize(
    ("numbers", "key"),
    [
        ("unclear_from_ms = 200\nhand_from_ms = 200\n", "hand_from_ms"),
        ("fingers_from_ms = 150\nunclear_from_ms = 150\n", "unclear_from_ms"),
        ("long_single_ms = 151\nunclear_from_ms = 150\n", "unclear_from_ms"),
        ("min_dwell_ms = 10\nblocked_after_ms = 9\n", "blocked_after_ms"),
        ("long_single_ratio = 1\n", "long_single_ratio"),
        ("crowd = 0\n", "crowd"),
    ],
)
def test_numbers_that_make_no_sense_together_are_refused(
    problems: Callable[[str], list[Problem]], numbers: str, key: str
) -> None:
    found = problems(CARROM + BEAM + "[beams.settings]\n" + numbers)
    assert [problem.key_path for problem in found] == [f"beams[0].settings.{key}"]


def test_a_strike_sensor_has_no_numbers_of_objects(problems: Callable[[str], list[Problem]]) -> None:
    found = problems(CARROM + BEAM.replace('place = "ne"', 'place = "strike"') + "[beams.settings]\ncrowd = 2\n")
    assert [problem.key_path for problem in found] == ["beams[0].settings.crowd"]


# -- rule options ----------------------------------------------------------------------------------------


def test_rule_options_are_those_of_the_rules(
    read: Callable[[str], Settings], problems: Callable[[str], list[Problem]]
) -> None:
    assert read(CARROM + '[rules]\n"cc.queen_limit" = 22\n').rules == {"cc.queen_limit": 22}
    found = problems(CARROM + '[rules]\n"cc.queen_limt" = 22\n"cc.target" = -1\n"cc.back_shots" = "on"\n')
    assert [(problem.key_path, problem.line) for problem in found] == [
        ('rules."cc.queen_limt"', 10),
        ('rules."cc.target"', 11),
        ('rules."cc.back_shots"', 12),
    ]
    assert "cc.queen_limit" in found[0].sentence
    assert "not available yet" in found[2].sentence


def test_an_option_without_quotes_is_explained(problems: Callable[[str], list[Problem]]) -> None:
    (problem,) = problems(CARROM + "[rules]\ncc.target = 25\n")
    assert '"cc.target" = ' in problem.sentence


# -- files that are no configuration at all --------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        (b"[table\n", 1, "not TOML"),
        (b'[table]\nid = "x"\nid = "y"\n', None, "not TOML"),
        (b"\xff\xfe", None, "UTF-8"),
        (b"", None, "missing"),
        (b"a = " + b"[" * 100_000, None, "nested"),
        (b"\0", 1, "not TOML"),
        (b"[table]\nid = club-1\n", 2, 'such as "club-1"'),
        ("[table]\nid = “club-1”\n".encode(), 2, "straight quotation marks"),
        (b"[web]\n[table]\nid = 'x'\n[web]\n", 4, "the section [web] is there twice"),
        (b"[[beams]]\n[beams.settings]\n[beams.settings]\n", 3, "[beams.settings] is there twice"),
        (b'[table]\nid = "x\ngame = 3\n', 2, "the quotation mark at the end"),
        (b'[mqtt]\npassword_file = "C:\\user\\x"\n', 2, r"a \ in a text has to be doubled"),
        (b"[table]\nid = 'x' game = 'y'\n", 2, "each key has its own line"),
        (b"[table]\nid: 'x'\n", 2, '"=" and its value'),
    ],
)
def test_a_file_that_is_no_toml_is_one_sentence(tmp_path: Path, content: bytes, line: int | None, says: str) -> None:
    file = tmp_path / "t.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigurationError) as error:
        load(file)
    (problem,) = error.value.problems
    assert says in problem.sentence
    if line is not None:
        assert problem.line == line


def test_a_file_that_is_not_there_or_a_directory_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no such file"):
        load(tmp_path / "nothing.toml")
    with pytest.raises(ConfigurationError, match="is a directory"):
        load(tmp_path)


def test_line_ends_and_marks_of_other_systems_do_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_bytes(b"\xef\xbb\xbf" + (CARROM + BEAM).replace("\n", "\r\n").encode())
    assert load(file).beams[0].id == "ne"


# -- several tables --------------------------------------------------------------------------------------


def test_tables_must_not_share_an_id_a_state_directory_or_a_port(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(CARROM)
    (tmp_path / "b.toml").write_text(CARROM)
    with pytest.raises(ConfigurationError) as error:
        load_all([tmp_path / "a.toml", tmp_path / "b.toml"])
    assert [(problem.key_path, Path(problem.file).name) for problem in error.value.problems] == [
        ("table.id", "b.toml"),
        ("table.state_dir", "b.toml"),
        ("sources[0].port", "b.toml"),
    ]
    assert all("a.toml already uses" in problem.sentence for problem in error.value.problems)


def test_a_port_is_the_same_under_another_name(tmp_path: Path) -> None:
    device, link = tmp_path / "ttyX", tmp_path / "by-id"
    device.touch()
    link.symlink_to(device)
    for name, port in (("a", device), ("b", link)):
        text = CARROM.replace("club-1", name).replace("/dev/serial/by-id/usb-board", str(port))
        (tmp_path / f"{name}.toml").write_text(text)
    with pytest.raises(ConfigurationError, match="already uses this serial port"):
        load_all([tmp_path / "a.toml", tmp_path / "b.toml"])


def test_different_tables_get_on(tmp_path: Path) -> None:
    for name in ("a", "b"):
        text = CARROM.replace("club-1", name).replace("usb-board", f"usb-{name}")
        (tmp_path / f"{name}.toml").write_text(text)
    assert [each.table.id for each in load_all([tmp_path / "a.toml", tmp_path / "b.toml"])] == ["a", "b"]


def test_one_file_given_twice_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(CARROM)
    with pytest.raises(ConfigurationError) as error:
        load_all([tmp_path / "a.toml", tmp_path / "a.toml"])
    assert [problem.sentence for problem in error.value.problems] == ["is given twice: one file a table"]


def test_the_problems_of_all_files_come_together(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("[table]\n")
    (tmp_path / "b.toml").write_text("oh no")
    with pytest.raises(ConfigurationError) as error:
        load_all([tmp_path / "a.toml", tmp_path / "b.toml"])
    assert {Path(problem.file).name for problem in error.value.problems} == {"a.toml", "b.toml"}


# -- warnings --------------------------------------------------------------------------------------------


def _warned(settings: Settings) -> set[str]:
    return {warning.key_path for warning in settings.warnings}


def _full_carrom(striker: bool) -> str:
    text = CARROM + WEB
    for channel, place in enumerate(("ne", "nw", "se", "sw")):
        text += f'[[beams]]\nid = "{place}"\nsource = "board"\nchannel = {channel}\nplace = "{place}"\n'
    if striker:
        text += BEAM.replace('id = "ne"', 'id = "s"').replace("= 0", "= 9") + 'passes = ["striker"]\n'
    return text


def test_assuming_without_a_beam_that_tells_the_striker_apart_is_doubtful(
    read: Callable[[str], Settings],
) -> None:
    assert _warned(read(_full_carrom(striker=False))) == {"table.unknown_object"}
    assert _warned(read(_full_carrom(striker=True))) == set()
    asks = _full_carrom(striker=False).replace("players", 'unknown_object = "ask"\nplayers')
    assert _warned(read(asks)) == set()


def test_a_colour_sensor_that_knows_the_striker_tells_it_apart_and_one_without_limits_nothing(
    read: Callable[[str], Settings],
) -> None:
    full = _full_carrom(striker=False)
    assert _warned(read(full + "colour = { analog = 1, limits = { white = 255, striker = 90 } }\n")) == set()
    assert _warned(read(full + "colour = { analog = 1, limits = { white = 255 } }\n")) == {"table.unknown_object"}
    assert _warned(read(full + "colour = { analog = 1 }\n")) == {"table.unknown_object", "beams[3].colour"}


def test_a_place_without_a_beam_is_doubtful_but_a_table_without_any_is_not(
    read: Callable[[str], Settings],
) -> None:
    one = read(CARROM + BEAM + 'passes = ["striker"]\n' + WEB)
    assert [warning.sentence.split('"')[1] for warning in one.warnings] == ["nw", "se", "sw"]
    assert _warned(read(CARROM + WEB)) == set()


def test_no_button_and_no_page_is_doubtful(read: Callable[[str], Settings]) -> None:
    (warning,) = read(CARROM).warnings
    assert "no button and no page" in warning.sentence
    assert read(CARROM + BUTTON + 'action = "undo"\n').warnings == ()


def test_a_numbered_port_is_doubtful_and_the_lasting_name_is_told(read: Callable[[str], Settings]) -> None:
    (warning,) = read(CARROM.replace("/dev/serial/by-id/usb-board", "/dev/ttyUSB0") + WEB).warnings
    assert (warning.key_path, warning.line) == ("sources[0].port", 8)
    assert "/dev/serial/by-id" in warning.sentence


def test_a_password_for_everybody_to_read_is_doubtful(read: Callable[[str], Settings], tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    text = CARROM + WEB + '[mqtt]\nusername = "u"\npassword_file = "secret"\n'
    secret.chmod(0o644)
    assert _warned(read(text)) == {"mqtt.password_file"}
    secret.chmod(0o640)
    assert _warned(read(text)) == set()


def test_strokes_that_nothing_closes_are_doubtful(read: Callable[[str], Settings]) -> None:
    text = _full_carrom(striker=True).replace("players", "quiet_time_s = 0\nplayers")
    assert _warned(read(text)) == {"table.quiet_time_s"}
    assert _warned(read(text + BUTTON + 'action = "done"\n')) == set()


# -- the examples that ship ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(os.listdir(EXAMPLES)))
def test_every_example_is_well_without_a_warning(name: str) -> None:
    assert load(EXAMPLES / name).warnings == ()


def test_what_the_package_offers_is_there() -> None:
    assert all(hasattr(config, name) for name in config.__all__)
