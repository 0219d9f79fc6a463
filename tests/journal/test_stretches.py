"""A row that stands for many edges: it grows in one place, and its numbers cost no other row its own."""

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.journal import Batch, SourceRow, Stretch, read
from appliance.journal.copies import make_automatic_copy
from appliance.journal.pruning import Limits
from appliance.journal.store import JOURNAL_FILE, Store
from tests.journal.material import Listener, edge, journal_on, record, reopened, stamp
from tests.journal.test_formats import written_by
from tests.journal.test_salvage import page_of, spoil

WALL_NS = 1_740_830_400 * 1_000_000_000


def grown(edges: int, since_ns: int = 40_000, channel: int = 5, boot_id: int | None = 77) -> SourceRow:
    """A stretch of so many edges, one a nanosecond, which the board numbered on from 1,000."""
    number = None if boot_id is None else 1_000 + edges
    at_ns = since_ns + edges
    return SourceRow(
        "board", boot_id, number, channel, 1, None, at_ns, stamp(2), Stretch(since_ns, edges, 1, 2, 30_000, at_ns)
    )


def test_a_stretch_that_grows_is_one_row_at_its_newest_place(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    store.write((Batch(rows=(grown(3),)), Batch((record(1),), (edge(1),)), Batch(rows=(grown(9),))))
    assert store.rows_since(0) == (edge(1), grown(9))
    store.write((Batch(rows=(grown(9, channel=6), grown(2, since_ns=70_000), edge(2), grown(12))),))
    assert store.rows_since(0) == (edge(1), grown(9, channel=6), grown(2, since_ns=70_000), edge(2), grown(12))
    assert store.stretches() == (grown(9, channel=6), grown(2, since_ns=70_000), grown(12))
    assert store.recover().progress == {"board": {77: 1_013}}
    store.close()
    with read(tmp_path) as reader:
        assert reader.stretches()[-1] == grown(12)


def test_one_of_another_boot_of_the_host_is_another(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    other = replace(grown(4), stamp=replace(stamp(2), boot_id="another"))
    store.write((Batch(rows=(grown(3),)), Batch(rows=(other,))))
    assert store.stretches() == (grown(3), other)
    store.close()


def test_a_commit_that_fails_leaves_what_there_was_of_it(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    store.write((Batch((record(1),), (grown(3),)),))
    with pytest.raises(sqlite3.IntegrityError):
        store.write((Batch(rows=(grown(9),)), Batch((record(1),))))
    assert store.stretches() == (grown(3),)
    store.close()


def test_numbers_that_a_stretch_has_used_up_push_nothing_out(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    limits = Limits(rows=100, rows_of_strokes=200, per_pass=30)
    store.write(Batch((record(n),), (edge(n),)) for n in range(1, 81))
    store.write(Batch(rows=(grown(n),)) for n in range(1, 5_000))
    for _ in range(3):
        assert not store.prune(limits, lambda kind, _body: kind == "stroke_closed", None)
    assert len(store.rows_since(0)) == 80 + 1
    store.write(Batch((record(n),), (edge(n),)) for n in range(81, 131))
    while store.prune(limits, lambda kind, _body: kind == "stroke_closed", None):
        pass
    rows = store.rows_since(0)
    store.close()
    assert len(rows) == 100, "of 131"
    assert rows[0] == edge(32)
    assert grown(4_999) in rows


def test_what_grew_after_the_backup_is_salvaged_as_it_was_last(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    store.write(Batch((record(n),), (edge(n),)) for n in range(1, 400))
    store.write((Batch((record(400),), (grown(50),)),))
    assert make_automatic_copy(tmp_path, WALL_NS, lambda: False) is not None
    store.write((Batch(rows=(grown(70),)), Batch((record(401),), (grown(90),))))
    store.close()
    spoil(tmp_path, page_of(tmp_path, 100))
    journal = journal_on(tmp_path, Listener())
    assert journal.open().progress == {"board": {77: 1_091}}
    assert [row for row in journal.rows_since(0) if row.stretch] == [grown(90)]
    journal.close()


def test_a_damaged_journal_of_a_format_without_stretches_keeps_its_edges(tmp_path: Path) -> None:
    directory = written_by(3, tmp_path)
    whole = tmp_path / "whole"
    whole.mkdir()
    shutil.copy(directory / JOURNAL_FILE, whole)
    reopened(whole)
    with read(whole) as reader:
        expected = reader.rows_after(0)
    connection = sqlite3.connect(directory / JOURNAL_FILE)
    # Nothing that is read of it is damaged: an index alone.
    (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'evidence'").fetchone()
    connection.close()
    spoil(directory, root - 1)
    journal = journal_on(directory, Listener())
    assert journal.open().progress["board"][157331778] == 118
    assert len(journal.rows_since(0)) == len(expected) == 181
    journal.close()
