"""The configuration of a simulated table says what its wiring is."""

import tomllib

import pytest

from appliance.config.load import load
from sim.layout import configuration_text, layout_of

GAMES = ("money_carrom", "club_carrom", "new_carrom", "carpetball")


def configuration(*args, **kwargs):
    return tomllib.loads(text_of(*args, **kwargs))


def text_of(game, players=("Asha", "Ben"), options=None, web_listen="127.0.0.1:8080"):
    return configuration_text(
        game,
        players,
        port="/dev/pts/7",
        state_dir="/var/lib/x",
        mqtt_host="127.0.0.1",
        mqtt_port=1883,
        web_listen=web_listen,
        options=options,
    )


@pytest.mark.parametrize("game", GAMES)
def test_the_configuration_names_every_sensor_once(game):
    beams = configuration(game)["beams"]
    wired = {
        (sensor.id, sensor.channel, sensor.place, sensor.end, sensor.blocked_level)
        for sensor in layout_of(game).sensors
    }
    level = {"high": 1, "low": 0}
    told = {
        (beam["id"], beam["channel"], beam["place"], beam.get("end"), level[beam["blocked_level"]]) for beam in beams
    }
    assert told == wired
    assert len(beams) == len(wired)
    assert len({beam["channel"] for beam in beams}) == len(beams)


def test_a_carrom_table_has_four_pockets_and_a_strike_sensor():
    document = configuration("club_carrom")
    assert {beam["channel"]: beam["place"] for beam in document["beams"]} == {
        0: "ne",
        1: "nw",
        2: "se",
        3: "sw",
        4: "strike",
    }
    assert document["table"]["quiet_time_s"] == 6
    assert document["sources"] == [{"id": "board", "kind": "serial", "port": "/dev/pts/7"}]


def test_a_carpetball_table_has_two_pits_and_a_strike_sensor_at_each_end():
    document = configuration("carpetball")
    assert [(beam["place"], beam.get("end")) for beam in document["beams"]] == [
        ("north", None),
        ("south", None),
        ("strike", "north"),
        ("strike", "south"),
    ]
    assert document["table"]["quiet_time_s"] == 5


def test_names_and_options_come_back_as_they_went_in():
    players = ['A "quoted" name', "back\\slash", "Zoë 🎯", "del\x7fete"]
    options = {"cc.target": 25, "x.jump": "none"}
    document = configuration("club_carrom", players, options)
    assert document["table"]["players"] == players
    assert document["rules"] == options


def test_values_of_money_carrom_are_a_list():
    assert configuration("money_carrom", options={"mc.values": [1, 2, 3]})["rules"] == {"mc.values": [1, 2, 3]}


def test_without_pages_there_is_no_web_section():
    assert "web" not in configuration("club_carrom", web_listen=None)
    assert configuration("club_carrom")["web"] == {"listen": "127.0.0.1:8080"}


@pytest.mark.parametrize("game", GAMES)
def test_the_appliance_takes_the_configuration(game, tmp_path):
    file = tmp_path / "table.toml"
    file.write_text(text_of(game), encoding="utf-8")
    settings = load(file)
    assert settings.table.game == game
    assert [player.name for player in settings.table.players] == ["Asha", "Ben"]
    assert len(settings.beams) == len(layout_of(game).sensors)
