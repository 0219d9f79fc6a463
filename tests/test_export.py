"""`export --observations`: what `score` reads and comes to the same state with."""

import io
import json
import sqlite3
from pathlib import Path

import pytest

from appliance import rules
from appliance.cli import main
from appliance.export import export_observations
from tests.support.kept import Kept, scored


def exported(directory: Path, match: str | None = None) -> str:
    out, err = io.StringIO(), io.StringIO()
    assert (export_observations(directory, match, out, err), err.getvalue()) == (0, "")
    return out.getvalue()


def test_corrections_are_applied_and_what_was_undone_is_left_out(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.do("stroke", pocketed=["white"])
    kept.do("stroke", pocketed=["black"])
    kept.do("stroke", pocketed=["white", "white"])
    kept.do("undo")
    kept.do("correct", stroke=1, pocketed=["white", "white"])
    kept.close()
    lines = [json.loads(line) for line in exported(tmp_path).splitlines()]
    assert [line["type"] for line in lines] == ["setup", "stroke", "stroke"]
    assert lines[1]["pocketed"] == ["white", "white"]
    assert lines[2]["pocketed"] == ["black"]
    assert scored("club_carrom", exported(tmp_path)) == rules.document(kept.engine.state.fold.rules)


def test_house_rules_and_a_position_set_by_hand_are_part_of_it(tmp_path: Path) -> None:
    kept = Kept(tmp_path, **{"cc.target": 12})
    position = {"sides": {"A": {"pocketed": 8, "due": 0, "score": 7}}, "queen": {"status": "covered", "side": "A"}}
    kept.do("new_match", position=position)
    kept.do("stroke", pocketed=["white"])
    kept.close()
    state = scored("club_carrom", exported(tmp_path))
    assert state == rules.document(kept.engine.state.fold.rules)
    assert state["match_winner"] == "A"


@pytest.mark.parametrize("game", rules.GAMES)
def test_it_is_the_latest_match_or_the_one_that_is_named(game: str, tmp_path: Path) -> None:
    kept = Kept(tmp_path, game)
    stroke = ("throw", {"out": {"north": 0, "south": 1}}) if game == "carpetball" else ("stroke", {"pocketed": []})
    first = None
    for _ in range(3):
        if game == "carpetball":
            kept.do("line_up", north=5, south=5)
        kept.do(stroke[0], **stroke[1])
        first = first or rules.document(kept.engine.state.fold.rules)
        kept.do("new_match", abandon=True)
    if game == "carpetball":
        kept.do("line_up", north=4, south=3)
    kept.close()
    assert scored(game, exported(tmp_path, "m1")) == first
    assert scored(game, exported(tmp_path)) == rules.document(kept.engine.state.fold.rules)
    assert exported(tmp_path) == exported(tmp_path, "m4")


def test_it_can_be_read_while_the_table_runs(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.do("stroke", pocketed=["white"])
    assert scored("club_carrom", exported(tmp_path))["sides"]["A"]["pocketed"] == 1
    kept.do("stroke", pocketed=["white"])
    assert scored("club_carrom", exported(tmp_path))["sides"]["A"]["pocketed"] == 2
    kept.close()


def test_an_unknown_match_is_one_sentence_with_those_that_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Kept(tmp_path).close()
    assert main(["export", "--observations", "--state-dir", str(tmp_path), "--match", "m7"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", "pocketbeam: there is no match m7; there is m1\n")


@pytest.mark.parametrize("command", [["export", "--observations"], ["status"]])
class TestBadDirectories:
    def said(self, command: list[str], directory: Path, capsys: pytest.CaptureFixture[str]) -> str:
        assert main([*command, "--state-dir", str(directory)]) in (1, 2)
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("pocketbeam: ")
        assert err.count("\n") == 1
        return err

    def test_empty(self, command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert "no journal" in self.said(command, tmp_path, capsys)

    def test_no_journal_at_all(self, command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "journal.sqlite").write_bytes(b"this is a shopping list\n" * 100)
        assert "journal.sqlite" in self.said(command, tmp_path, capsys)

    def test_records_of_another_shape(
        self, command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        Kept(tmp_path).close()
        with sqlite3.connect(tmp_path / "journal.sqlite") as connection:
            connection.execute('UPDATE record SET body = \'{"kind": "danced"}\'')
        connection.close()
        assert "cannot read" in self.said(command, tmp_path, capsys)
