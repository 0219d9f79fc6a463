"""The commands that are given the files of tables: all that is wrong is said before anything is done."""

from pathlib import Path

import pytest

from appliance import cli

TABLE = '[table]\nid = "t"\ngame = "club_carrom"\n[web]\n'


def test_check_config_says_everything_at_once_and_its_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    good.write_text(TABLE)
    bad.write_text('[table]\nid = "Bad"\ngame = "club_carrom"\nquite = 1\n')
    assert cli.main(["check-config", str(good)]) == 0
    assert capsys.readouterr().out == f'{good}: table "t" is well\n'
    assert cli.main(["check-config", str(good), "--config", str(bad)]) == 2
    places = [line.split(": ")[1:3] for line in capsys.readouterr().err.splitlines()]
    assert places == [[f"{bad}:2", "table.id"], [f"{bad}:4", "table.quite"]]


def test_check_config_warns_and_is_still_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    doubtful = tmp_path / "doubtful.toml"
    doubtful.write_text(TABLE.replace("[web]\n", ""))
    assert cli.main(["check-config", str(doubtful)]) == 0
    warning, well = capsys.readouterr().out.splitlines()
    assert warning.startswith(f"warning: {doubtful}: no button and no page")
    assert well == f'{doubtful}: table "t" is well'


def test_run_refuses_a_bad_configuration_before_anything_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text(TABLE.replace("club_carrom", "club"))
    assert cli.main(["run", "--config", str(bad)]) == 2
    assert "table.game" in capsys.readouterr().err
