"""What somebody can ask of a bridge, and the one sentence for each thing that cannot be."""

from pathlib import Path
from typing import Any

import pytest

from appliance import cli
from appliance.bridges import BRIDGES
from appliance.bridges.choose import MAPPERS, choose
from appliance.config import ConfigurationError, Mqtt, load

AT = ("--broker", "127.0.0.1:1883", "--table", "t1")
TABLE = '[table]\nid = "t1"\ngame = "club_carrom"\n[mqtt]\nport = 1884\n'


def table(directory: Path, section: str) -> Path:
    path = directory / "table.toml"
    path.write_text(TABLE + section)
    return path


def settings(name: str, section: Path, given: dict[str, Any]) -> Any:
    found = load(section)
    bridge = choose(name, "t1", found.mqtt, getattr(found.bridges, name), given)
    assert bridge.broker == found.mqtt
    return bridge.follower.mapper.settings  # type: ignore[attr-defined]


def test_every_name_that_is_listed_can_be_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert set(BRIDGES) == set(MAPPERS)
    with pytest.raises(SystemExit) as end:
        cli.main(["bridge", "--help"])
    assert end.value.code == 0
    help_text = " ".join(capsys.readouterr().out.split())
    for name, what in BRIDGES.items():
        assert f"{name}, {what}" in help_text


def test_a_tables_file_says_how_and_the_command_line_goes_before_it(tmp_path: Path) -> None:
    section = table(tmp_path, '[bridges.awtrix]\nprefix = "clock"\nlabel = 1\nicon = 87\n')
    found = settings("awtrix", section, {"label": 2})
    assert (found.prefix, found.label, found.icon, found.lifetime_s) == ("clock", "2", "87", 180)


def test_the_presets_keep_their_order(tmp_path: Path) -> None:
    presets = "presets = { stroke_scored = 3, match_ended = 1, foul = 2 }"
    found = settings("wled", table(tmp_path, f'[bridges.wled]\ntopic = "wled/all"\n{presets}\n'), {})
    assert list(found.presets) == ["stroke_scored", "match_ended", "foul"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "missing: NAME (see pocketbeam bridge --help)"),
        (
            ["awtrx", *AT],
            'NAME: "awtrx" is not possible; did you mean "awtrix"? (see pocketbeam bridge --help)',
        ),
        (["awtrix", *AT], 'bridges.awtrix.prefix: is missing; write for example prefix = "awtrix_1a2b3c"'),
        (
            ["awtrix", *AT, "--set", "prefix"],
            '--set: "prefix" is not key=value (see pocketbeam bridge --help)',
        ),
        (
            ["awtrix", *AT, "--set", "prefix=clock", "--set", "lifetime=60"],
            'bridges.awtrix.lifetime: is no key of this section; did you mean "lifetime_s"?',
        ),
        (
            ["awtrix", *AT, "--set", "prefix=clock", "--set", "lifetime_s=5"],
            "bridges.awtrix.lifetime_s: must be at least 30, not 5",
        ),
        (
            ["awtrix", *AT, "--set", "prefix=clock/#"],
            'bridges.awtrix.prefix: must be how a topic begins, such as "wled/hall", without # and +, not "clock/#"',
        ),
        (
            ["awtrix", *AT, "--set", "prefix=pocketbeam/t1"],
            'bridges.awtrix.prefix: must be a topic of the device, and "pocketbeam/t1" is one of the tables\'',
        ),
        (
            ["wled", *AT, "--set", "topic=wled/hall", "--set", 'presets={"match_end": 3}'],
            'bridges.wled.presets.match_end: "match_end" is no event of a table; did you mean "match_ended"?',
        ),
        (
            ["wled", *AT, "--set", "topic=wled/hall", "--set", 'presets={"foul": 251}'],
            "bridges.wled.presets.foul: must be at most 250, not 251",
        ),
        (
            ["wled", *AT, "--set", "topic=wled/hall", "--set", "presets=3"],
            "bridges.wled.presets: must be a table in { }, not 3",
        ),
    ],
)
def test_wrong_use_gets_one_sentence(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bridge", *arguments]) == 2
    assert capsys.readouterr().err == f"pocketbeam: {sentence}\n"


def test_a_file_is_checked_line_by_line_with_the_rest(tmp_path: Path) -> None:
    section = '[bridges.wled]\ntopic = "wled/hall"\npresets = { foul = "red" }\n[bridges.awtrx]\n'
    with pytest.raises(ConfigurationError) as error:
        load(table(tmp_path, section))
    assert [(problem.line, problem.key_path, problem.sentence) for problem in error.value.problems] == [
        (8, "bridges.wled.presets.foul", 'must be a whole number, not "red"'),
        (9, "bridges.awtrx", 'is no key of this section; did you mean "awtrix"?'),
    ]


def test_a_broker_with_accounts_and_tls_is_known_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[Any] = []
    monkeypatch.setattr("appliance.bridges.run.run", lambda bridges: chosen.extend(bridges) or 0)
    password, ca = tmp_path / "password", tmp_path / "ca.pem"
    account = ["--username", "clock", "--password-file", str(password), "--ca", str(ca)]
    assert cli.main(["bridge", "awtrix", *AT, *account, "--set", "prefix=clock"]) == 0
    [bridge] = chosen
    assert bridge.broker.username == "clock"
    assert (bridge.broker.password_file, bridge.broker.tls.ca) == (password, ca)
    assert Mqtt(host=bridge.broker.host, port=bridge.broker.port) == Mqtt()


def test_with_a_tables_file_a_bridge_may_have_an_account_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: list[Any] = []
    monkeypatch.setattr("appliance.bridges.run.run", lambda bridges: chosen.extend(bridges) or 0)
    file = table(tmp_path, '[bridges.awtrix]\nprefix = "clock"\n')
    account = ["--username", "bridge", "--password-file", "bridge.password"]
    assert cli.main(["bridge", "awtrix", "--config", str(file), *account]) == 0
    [bridge] = chosen
    assert (bridge.broker.port, bridge.broker.username) == (1884, "bridge")
    assert str(bridge.broker.password_file) == "bridge.password"


def test_several_tables_are_several_bridges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[Any] = []
    monkeypatch.setattr("appliance.bridges.run.run", lambda bridges: chosen.extend(bridges) or 0)
    files = []
    for name in ("t1", "t2"):
        path = tmp_path / f"{name}.toml"
        path.write_text(
            f'[table]\nid = "{name}"\ngame = "new_carrom"\nstate_dir = "{name}"\n[bridges.awtrix]\nprefix = "clock"\n'
        )
        files += ["--config", str(path)]
    assert cli.main(["bridge", "awtrix", *files]) == 0
    assert [bridge.follower.mapper.clear()[0].topic for bridge in chosen] == [
        "clock/custom/pocketbeam-t1_",
        "clock/custom/pocketbeam-t2_",
    ]
