"""What is said of a journal that cannot be kept names the remedy that helps."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from appliance.tools.doctor import check_journal


@pytest.mark.parametrize(("flags", "remedy"), [(os.ST_RDONLY, "mount it writable"), (0, "chown")])
def test_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: int, remedy: str) -> None:
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    monkeypatch.setattr(os, "statvfs", lambda _path: SimpleNamespace(f_flag=flags))
    (finding,) = check_journal(tmp_path / "not-yet" / "t1")
    assert remedy in finding.sentence
    assert str(tmp_path) in finding.sentence
