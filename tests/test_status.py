"""`status`: the match, the standing and what is open, from the journal alone."""

from pathlib import Path

import pytest

from appliance.cli import main
from tests.support.kept import Kept


def told(directory: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main(["status", "--state-dir", str(directory)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out.splitlines()


def test_the_match_the_score_and_how_many_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = Kept(tmp_path)
    kept.do("stroke", pocketed=["white", "white"])
    first, line, *more = told(tmp_path, capsys)
    assert first == "Match m1, club carrom, accepted inputs: 2"
    assert line.startswith("Asha 0 – 0 Ben")
    assert "white 7 left" in line
    assert more == []
    kept.do("new_match", game="money_carrom", players=["Asha", "Ben", "Chidi"], abandon=True, options={})
    kept.close()
    first, line = told(tmp_path, capsys)
    assert first == "Match m2, money carrom, accepted inputs: 3"
    assert line.startswith("Asha 0 · Ben 0 · Chidi 0")


def test_an_open_stroke_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = Kept(tmp_path)
    kept.do("jumped", objects=["white"])
    kept.close()
    assert told(tmp_path, capsys)[2] == "Stroke 1 is open, 0 fallen"


def test_a_journal_without_a_match(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from appliance.journal import InlineJournal

    journal = InlineJournal(tmp_path, "t1", lambda position: None)
    journal.open()
    journal.close()
    assert told(tmp_path, capsys) == ["No match has begun."]
