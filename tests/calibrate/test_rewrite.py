"""Changing a configuration: only what is meant, with every comment in its place, or nothing at all."""

import os
import tomllib
from pathlib import Path

import pytest

from appliance.config import load
from appliance.tools.rewrite import RewriteError, changed_text, rewrite

TEXT = """\
# The club's table.
[table]
id = "t1"          # never change this
game = "club_carrom"

[[sources]]
id = "board"
kind = "serial"
port = "/dev/serial/by-id/x"

[[beams]]  # north east
id = "ne"
source = "board"
channel = 0
place = "ne"
blocked_level = "high"   # measured in May

# the one at the door
[[beams]]
id = "nw"
source = "board"
channel = 1
place = "nw"
[beams.settings]
merge_gap_ms = 40.0  # a loud rim

[[buttons]]
id = "done-1"
source = "board"
channel = 8
action = "done"
player = 1
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "t1.toml"
    path.write_text(TEXT, encoding="utf-8")
    path.chmod(0o640)
    return path


def test_values_change_and_comments_stay(file: Path) -> None:
    rewrite(file, {"beams": {"ne": {"blocked_level": "low"}, "nw": {"settings": {"min_dwell_ms": 2.5}}}})
    new = file.read_text("utf-8")
    for comment in ("# The club's table.", "# never change this", "# measured in May", "# the one at the door"):
        assert comment in new
    assert 'blocked_level = "low"   # measured in May' in new
    assert "merge_gap_ms = 40.0  # a loud rim" in new
    changed = [line for line in new.splitlines() if line not in TEXT.splitlines()]
    assert changed == ['blocked_level = "low"   # measured in May', "min_dwell_ms = 2.5"]
    assert load(file).beams[1].settings.min_dwell_ms == 2.5


def test_what_was_not_there_is_added(file: Path) -> None:
    changes = {
        "beams": {"ne": {"settings": {"min_dwell_ms": 0.9}}, "nw": {"blocked_level": "low"}},
        "buttons": {"done-1": {"pressed_level": "high"}},
    }
    rewrite(file, changes)
    settings = load(file)
    assert settings.beams[0].settings.min_dwell_ms == 0.9
    assert settings.beams[1].blocked_level == "low"
    assert settings.beams[1].settings.merge_gap_ms == 40.0
    assert settings.buttons[0].pressed_level == "high"


def test_line_ends_and_a_byte_order_mark_stay() -> None:
    text = "\ufeff" + TEXT.replace("\n", "\r\n")
    new = changed_text(text, {"beams": {"ne": {"blocked_level": "low"}}})
    assert new == text.replace('blocked_level = "high"', 'blocked_level = "low"')


def test_rights_stay_and_a_link_leads_where_it_led(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    rewrite(link, {"beams": {"ne": {"blocked_level": "low"}}})
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert load(file).beams[0].blocked_level == "low"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.toml", "t1.toml"]


def test_what_would_not_be_valid_is_not_written(file: Path) -> None:
    with pytest.raises(RewriteError, match="would not be valid any more"):
        rewrite(file, {"beams": {"ne": {"blocked_level": "middle"}}})
    assert file.read_text("utf-8") == TEXT
    assert [path.name for path in file.parent.iterdir()] == ["t1.toml"]


@pytest.mark.parametrize("when", ["write", "fsync", "replace"])
def test_a_disk_that_refuses_leaves_the_old_file(file: Path, when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """FR-119."""

    def refuse(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    if when == "write":
        monkeypatch.setattr(os, "fchmod", refuse)
    elif when == "fsync":
        monkeypatch.setattr(os, "fsync", refuse)
    else:
        monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(RewriteError, match="no space left on device"):
        rewrite(file, {"beams": {"ne": {"blocked_level": "low"}}})
    monkeypatch.undo()
    assert file.read_text("utf-8") == TEXT
    assert [path.name for path in file.parent.iterdir()] == ["t1.toml"]


def test_inline_lists_of_beams_change_too() -> None:
    text = 'beams = [{ id = "ne", channel = 0 }, { id = "nw", channel = 1 }]  # short\n'
    new = changed_text(text, {"beams": {"nw": {"blocked_level": "low"}}})
    assert tomllib.loads(new)["beams"][1] == {"id": "nw", "channel": 1, "blocked_level": "low"}
    assert new.endswith("# short\n")
