"""The tier report: the same each time, complete, and within reach of what a tier can know."""

import json
import xml.etree.ElementTree as ElementTree
from collections import Counter
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from appliance import cli, rules
from sim import evening
from sim.account import Figures, Neighbours, lost_and_invented
from sim.faults import FAULTS
from sim.parameters import Parameters, parameters
from sim.report import ReportOptions, measure, picture, report, text
from sim.tiers import TIERS
from sim.truth import Drop

NAMES = {
    "tier",
    "game",
    "matches",
    "seed",
    "strokes",
    "right_without_help",
    "asked",
    "assumed_right",
    "assumed_wrong",
    "silently_wrong",
    "taps_per_stroke",
    "points_lost",
    "invented",
    "physical_floor",
    "mean_turns_until_put_right",
}


@cache
def measured(tier: str, game: str, matches: int, faults: tuple[str, ...] = ()) -> Figures:
    return measure(TIERS[tier], game, matches, 11, faults)


def document(tier: str, game: str, matches: int) -> dict:  # type: ignore[type-arg]
    options = ReportOptions(tier, game, matches, 11, (), True, None)
    return report(TIERS[tier], options, measured(tier, game, matches))


def test_a_ball_at_the_wrong_end_is_one_lost_and_one_invented() -> None:
    north, south = Counter({("north", "ball"): 2}), Counter({("north", "ball"): 1, ("south", "ball"): 1})
    assert lost_and_invented(north, south, carpetball=True) == (1, 1)
    ne, sw = Counter({("ne", "white"): 1}), Counter({("sw", "black"): 1, ("sw", "white"): 1})
    assert lost_and_invented(ne, sw, carpetball=False) == (0, 1)


@pytest.mark.parametrize("tier", ["C1", "C2"])
def test_a_ball_over_the_line_is_out_with_its_throw(tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put: list[Drop] = []
    by_hand = evening.put_in_pit

    def putting(*given: object) -> Drop:
        put.append(by_hand(*given))  # type: ignore[arg-type]
        return put[-1]

    monkeypatch.setattr(evening, "put_in_pit", putting)
    throws = [s for seed in range(8) for s in evening.play(TIERS[tier], "carpetball", seed, ("over_line",)).strokes]
    dropped = [drop for throw in throws for drop in throw.drops]
    assert put
    assert all(any(drop is each for each in dropped) for drop in put)
    for throw in throws:
        fell = Counter(drop.place for drop in throw.drops if drop.object == "ball")
        assert throw.observation == rules.Throw(fell["north"], fell["south"])


EVERY = [(tier.name, game) for tier in TIERS.values() for game in tier.games if game != "club_carrom"]


@pytest.mark.parametrize(("tier", "game"), EVERY)
def test_every_stroke_is_in_one_heap(tier: str, game: str) -> None:
    found = measured(tier, game, 4)
    heaps = ("right_without_help", "asked", "assumed_right", "assumed_wrong", "silently_wrong")
    assert found.strokes == sum(getattr(found, name) for name in heaps) > 50
    assert found.given_up == 0
    assert found.never_put_right <= 1


def test_the_same_seed_plays_the_same_matches_and_another_one_does_not() -> None:
    again = measure(TIERS["T1"], "new_carrom", 4, 11)
    assert again == measured("T1", "new_carrom", 4)
    assert measure(TIERS["T1"], "new_carrom", 4, 12) != again


def test_matches_add_up() -> None:
    apart = Figures()
    for seed in (11, 12):
        apart.add(measure(TIERS["C2"], "carpetball", 1, seed))
    assert apart == measure(TIERS["C2"], "carpetball", 2, 11)


def test_on_t1_only_what_physics_hides_is_silently_wrong() -> None:
    found = measured("T1", "new_carrom", 8)
    assert found.silently_wrong_beyond_floor <= found.late_drops
    assert found.floor_strokes > 0
    assert found.invented == 0
    assert found.passes_with_more_taps == 0
    assert found.taps_passes <= found.strokes - found.pocketing
    assert found.taps_pocketing - found.taps_done_pocketing <= found.objects_pocketing + 0.02 * found.pocketing


def test_on_t2_count_and_striker_are_right_without_help() -> None:
    found = measured("T2", "new_carrom", 8)
    assert found.right_count >= 0.985 * found.strokes
    assert found.taps_pocketing <= found.late_drops
    assert found.invented == 0


@pytest.mark.parametrize(("tier", "game"), [("T3", "new_carrom"), ("C2", "carpetball")])
def test_t3_and_c2_need_nobody(tier: str, game: str) -> None:
    found = measured(tier, game, 6)
    assert found.right_without_help >= found.strokes - 1 - found.floor_strokes
    assert found.taps == 0


@pytest.mark.parametrize(("tier", "game"), [("T1", "new_carrom"), ("T3", "new_carrom"), ("C2", "carpetball")])
def test_with_every_fault_no_point_is_invented(tier: str, game: str) -> None:
    found = measured(tier, game, 4, FAULTS)
    assert found.invented == found.invented_misread
    assert found.strokes > 100


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ({"white": -1}, {"white": 1}, (0, 0, 1)),
        ({"white": 1}, {"white": -1}, (0, 0, 1)),
        ({"white": -1}, {"black": 1}, (1, 1, 0)),
        ({"white": -1}, {}, (1, 0, 0)),
        ({"white": -2}, {"white": 1}, (1, 0, 1)),
    ],
    ids=["late", "early", "another", "lost", "one of two"],
)
def test_what_counts_in_the_stroke_beside_its_own_is_neither_lost_nor_invented(
    first: dict[str, int], second: dict[str, int], found: tuple[int, int, int]
) -> None:
    off = [Counter(first), Counter(second)]
    lost = sum(-n for each in off for n in each.values() if n < 0)
    invented = sum(n for each in off for n in each.values() if n > 0)
    sums, beside = Figures(points_lost=lost, invented=invented), Neighbours()
    for each in off:
        beside.next(sums, each)
    beside.next(sums, Counter(white=1))
    assert (sums.points_lost, sums.invented, sums.moved) == found


def test_where_it_went_wrong_is_said_with_the_pulses_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    values = parameters().values
    lost = Parameters({**values, "magnet": {**values["magnet"], "left": 0.1}})
    monkeypatch.setattr("sim.evening.parameters", lambda: lost)
    said: list[str] = []
    found = measure(TIERS["C2"], "carpetball", 1, 20, odd=said.append)
    assert found.invented == found.invented_misread == len(said) > 0, "a magnet that has lost its force is not felt"
    assert found.floor_misread >= found.invented_misread
    assert said[0].startswith("seed 20, stroke ")
    for each in said:
        end = "south" if "cue south" in each else "north"
        assert f"cue {end}" in each
        assert f"counted ball {end}" in each
        assert f"\n    {end} at +" in each


def test_hands_break_beams_and_count_for_nothing() -> None:
    assert measured("T3", "new_carrom", 4, ("hands",)).invented == 0


def test_the_document_has_its_names() -> None:
    found = document("C2", "carpetball", 4)
    assert set(found) >= NAMES | {field.name for field in fields(Figures)}
    assert json.loads(json.dumps(found)) == found
    assert found["taps_per_stroke"] == 0


def test_the_text_says_the_same() -> None:
    found = document("T1", "new_carrom", 4)
    said = text(found)
    assert said.startswith(f"T1, new_carrom: 4 matches from seed 11: {found['strokes']} strokes")
    for name in ("asked", "silently_wrong", "physical_floor"):
        assert f" {found[name]} " in said


def test_the_text_tells_of_one_as_of_one() -> None:
    of_four = document("T1", "new_carrom", 4)
    said = text({name: 1 if isinstance(value, int) else value for name, value in of_four.items()} | {"hours": 1.2})
    assert said.startswith("T1, new_carrom: 1 match from seed 1: 1 stroke in 1 hour of play\n")
    assert "of 1 pocketing stroke, more than one in 1 pass\n  of 1 object 1 lost," in said
    assert "with 1 request;" in said


def test_the_picture_can_be_read_aloud() -> None:
    root = ElementTree.fromstring(picture(document("T1", "new_carrom", 4)))
    space = "{http://www.w3.org/2000/svg}"
    assert "T1, new_carrom" in (root.findtext(f"{space}title") or "")
    assert "silently wrong" in (root.findtext(f"{space}desc") or "")
    assert len(root.findall(f"{space}rect")) == 8


def test_the_command_prints_one_object_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn = tmp_path / "c2.svg"
    command = ["sim", "report", "--tier", "C2", "--matches", "1", "--seed", "3", "--json", "--svg", str(drawn)]
    assert cli.main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["tier"], found["game"], found["matches"]) == ("C2", "carpetball", 1)
    assert drawn.read_text("utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tier", "T4"], '--tier: "T4" is not possible'),
        (["--tier", "T1", "--game", "carpetball"], "T1 is no tier of carpetball"),
        (["--tier", "T1", "--matches", "0"], "at least one match"),
        (["--tier", "T1", "--faults", "lampz"], 'did you mean "lamps"'),
    ],
)
def test_what_is_wrong_is_one_sentence(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sim", "report", *arguments]) == 2
    assert said in capsys.readouterr().err
