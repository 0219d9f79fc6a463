"""The install tiers: each configuration is well, fits one sensor board, and has what its tier promises."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from appliance.config import load
from sim.tiers import TIERS, settings_of

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "sensing.md"
INPUTS_OF_A_BOARD = 12

each_tier = pytest.mark.parametrize("name", TIERS)


@each_tier
def test_a_tier_is_well_in_every_game_of_its_own(name: str) -> None:
    tier = TIERS[name]
    with_lines = load(str(files("sim.tiers").joinpath(tier.file)))
    assert with_lines.warnings == () or name == "C1", with_lines.warnings
    for game in tier.games:
        assert settings_of(tier, game).table.game == game


def test_a_tier_is_for_its_own_games() -> None:
    with pytest.raises(ValueError, match="T1 is no tier of carpetball"):
        settings_of(TIERS["T1"], "carpetball")


@each_tier
def test_a_tier_fits_one_board(name: str) -> None:
    settings = settings_of(TIERS[name], TIERS[name].games[0])
    channels = [wire.channel for wire in (*settings.beams, *settings.buttons)]
    assert len(channels) == len(set(channels)) <= INPUTS_OF_A_BOARD
    assert set(channels) <= set(range(INPUTS_OF_A_BOARD))


@each_tier
def test_a_tier_has_what_it_promises(name: str) -> None:
    tier = TIERS[name]
    settings = settings_of(tier, tier.games[0])
    assert any(beam.place == "strike" for beam in settings.beams) == tier.has_strikes
    done = [button.fields["player"] for button in settings.buttons if button.action == "done"]
    assert done == [1, 2]
    tells_apart = [beam for beam in settings.beams if beam.passes in (("striker",), ("cue",))]
    assert bool(tells_apart) == (tier.geometry in ("chute", "trough"))
    assert (settings.table.unknown_object == "ask") == (name != "T2")


@each_tier
def test_the_page_says_how_many_inputs_a_tier_takes(name: str) -> None:
    settings = settings_of(TIERS[name], TIERS[name].games[0])
    taken = len(settings.beams) + len(settings.buttons)
    row = re.search(rf"^\| \*\*{name}\*\* .*\| (\d+) of 12 \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert row is not None
    assert int(row[1]) == taken
