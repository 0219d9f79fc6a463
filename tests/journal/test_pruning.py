"""Evidence goes by age and number, facts never, and the file stays as big as it is."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from appliance.engine import Engine
from appliance.history import latest, matches
from appliance.journal import Batch, Journal, Record, SourceRow, Stamp
from appliance.journal.pruning import Limits
from appliance.journal.store import JOURNAL_FILE, Store
from appliance.records import ends_stroke
from appliance.table.model import Policy, Seat
from tests.journal.material import Listener
from tests.journal.test_formats import written_by

DAY_NS = 86_400 * 1_000_000_000
BEGUN_NS = 1_740_830_400 * 1_000_000_000
CLOSED = '{"step": {"action": {"kind": "stroke_closed"}}}'
LIMITS = Limits(rows=600, rows_of_strokes=2_000, inputs=400, age_ns=90 * DAY_NS, per_pass=50)
STROKES_A_MATCH = 20


def closes(kind: str, _body: str) -> bool:
    return kind == "closed"


class Play:
    """Strokes as they come: opened, two passages of two edges each, closed; a match every twenty."""

    def __init__(self, store: Store, *, synchronised: bool = True) -> None:
        self.store = store
        self.synchronised = synchronised
        self.seq = self.rows = self.strokes = 0
        self.wall_ns = BEGUN_NS

    def stamp(self) -> Stamp:
        return Stamp("boot", self.wall_ns - BEGUN_NS, self.wall_ns, self.synchronised)

    def batch(self, kind: str, *, fact: bool = False, edges: int = 0) -> Batch:
        self.seq += 1
        match = self.strokes // STROKES_A_MATCH + 1
        record = Record(self.seq, match, kind, fact, '{"what": "a stroke as long as they are"}', self.stamp())
        rows = []
        for _ in range(edges):
            self.rows += 1
            rows.append(SourceRow("board", 7, self.rows, 1, self.rows % 2, None, self.rows, self.stamp()))
        return Batch((record,), tuple(rows))

    def stroke(self, *, edges: int = 2) -> None:
        batches = [self.batch("opened"), *(self.batch("passage", edges=edges) for _ in range(2))]
        self.store.write((*batches, self.batch("closed", fact=True)))
        self.strokes += 1

    def prune(self) -> int:
        """Until there is no more; how many passes."""
        wall_ns, passes = self.wall_ns if self.synchronised else None, 1
        while self.store.prune(LIMITS, closes, wall_ns):
            passes += 1
        return passes

    def count(self, what: str) -> int:
        return int(self.store.connection.execute(f"SELECT count(*) FROM {what}").fetchone()[0])

    def facts_since(self, seq: int) -> list[Record]:
        return [record for record in self.store.recover().records if record.fact and record.seq > seq]

    def first_row(self) -> int:
        return int(self.store.connection.execute("SELECT min(row) FROM source_row").fetchone()[0])


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    with closing(Store.create(tmp_path)) as store:
        yield Play(store)


def test_rows_beyond_the_number_go_oldest_first(play: Play) -> None:
    for _ in range(300):
        play.stroke()
    assert play.count("source_row") == 1_200
    assert play.prune() > 600 // LIMITS.per_pass
    assert (play.first_row(), play.count("source_row")) == (601, 600)


def test_a_pass_is_bounded(play: Play) -> None:
    for _ in range(300):
        play.stroke()
    assert play.store.prune(LIMITS, closes, None) is True
    assert play.count("source_row") == 1_200 - LIMITS.per_pass
    assert play.count("record") >= 1_200 - LIMITS.per_pass


def test_rows_go_by_age_too(play: Play) -> None:
    for _ in range(100):
        play.stroke()
        play.wall_ns += DAY_NS
    play.prune()
    # The last stroke was played a day ago, the oldest that is kept ninety.
    assert play.count("source_row") == 4 * 90


def test_a_clock_that_is_not_known_to_be_right_throws_nothing_away(tmp_path: Path) -> None:
    play = Play(Store.create(tmp_path), synchronised=False)
    for _ in range(100):
        play.stroke()
        play.wall_ns += DAY_NS
    play.prune()
    assert play.count("source_row") == 400
    # Nor does a right clock now judge what was written under a wrong one.
    play.synchronised = True
    play.prune()
    assert play.count("source_row") == 400
    play.store.close()


def test_the_rows_of_the_open_stroke_and_of_the_last_two_stay_however_old_and_many(play: Play) -> None:
    for _ in range(10):
        play.stroke()
    for _ in range(2):
        play.stroke(edges=300)
    play.store.write((play.batch("opened"), play.batch("passage", edges=500)))
    play.wall_ns += 400 * DAY_NS
    play.prune()
    assert play.count("source_row") == 2 * 600 + 500
    assert play.first_row() == 10 * 4 + 1


def test_even_those_have_an_end(play: Play) -> None:
    """A beam that flutters for days, with no stroke to end it."""
    for _ in range(50):
        play.store.write((play.batch("passage", edges=100),))
    play.prune()
    assert play.count("source_row") == LIMITS.rows_of_strokes


def test_row_numbers_go_on_when_every_row_is_old(tmp_path: Path) -> None:
    play = Play(Store.create(tmp_path))
    play.stroke()
    for _ in range(3):
        play.stroke(edges=0)
    play.wall_ns += 400 * DAY_NS
    play.prune()
    assert play.count("source_row") == 1
    play.store.close()
    store = Store.create(tmp_path)
    assert store.end == (16, 4)
    play.store = store
    play.stroke()
    assert [row.sequence for row in store.rows_since(17)] == [5, 6, 7, 8]
    store.close()


def test_evidence_goes_match_by_match_but_never_that_of_the_matches_a_start_folds(play: Play) -> None:
    for _ in range(10 * STROKES_A_MATCH):
        play.stroke()
    facts, recovered = play.count("record WHERE fact = 1"), play.store.recover().records
    play.prune()
    assert play.count("record WHERE fact = 1") == facts == 200
    assert play.store.recover().records == recovered
    # Match 5 ended with input 400 of 800.
    left = play.store.connection.execute("SELECT DISTINCT match FROM record WHERE fact = 0 ORDER BY match").fetchall()
    assert [match for (match,) in left] == [6, 7, 8, 9, 10]
    play.wall_ns += 400 * DAY_NS
    play.prune()
    left = play.store.connection.execute("SELECT DISTINCT match FROM record WHERE fact = 0 ORDER BY match").fetchall()
    assert [match for (match,) in left] == [9, 10]


def test_what_is_left_of_a_match_at_any_moment_begins_where_the_match_began(play: Play) -> None:
    for _ in range(10 * STROKES_A_MATCH):
        play.stroke()
    whole = play.store.records(1)
    while play.store.prune(LIMITS, closes, None):
        left = [record for record in play.store.records(1) if not record.fact]
        assert left == [record for record in whole if not record.fact][: len(left)]
    assert not left


def test_pruning_changes_nothing_that_is_folded(tmp_path: Path) -> None:
    """Real play of every kind: the state, every match, and what a start makes of it stay the same."""
    directory = written_by(1, tmp_path)
    store = Store.create(directory)
    every, tip = matches(directory), latest(directory)
    evidence = "SELECT count(*) FROM record WHERE fact = 0"
    (before,) = store.connection.execute(evidence).fetchone()
    while store.prune(Limits(rows=1, inputs=1, age_ns=0, per_pass=3), ends_stroke, 2**62):
        assert latest(directory) == tip
        assert {name: match.fold for name, match in matches(directory).items()} == {
            name: match.fold for name, match in every.items()
        }
    assert 0 < store.connection.execute(evidence).fetchone()[0] < before
    recovered = store.recover()
    store.close()
    engine = Engine("club-1", Policy("club_carrom", (Seat("a", "A"), Seat("b", "B")), {}, "ask", 0, False), ())
    engine.recover(recovered, recovered.records[-1].stamp)
    assert tip is not None
    assert replace(engine.state, depth=tip.depth) == tip


def test_evidence_takes_no_more_after_a_year_than_after_a_season(tmp_path: Path) -> None:
    """Three strokes a day at the small limits above, beside a journal of the facts alone and one never pruned.

    Facts are kept for ever; among them, SQLite leaves a page up to half empty where evidence has gone.
    """
    for name in ("pruned", "facts", "whole"):
        (tmp_path / name).mkdir()
    play, whole = Play(Store.create(tmp_path / "pruned")), Play(Store.create(tmp_path / "whole"))
    facts = Store.create(tmp_path / "facts")
    sizes: dict[int, list[int]] = {}
    for day in range(1, 366):
        for _ in range(3):
            play.stroke()
            whole.stroke()
        play.wall_ns = whole.wall_ns = BEGUN_NS + day * DAY_NS
        play.prune()
        facts.write(Batch((record,)) for record in play.facts_since(facts.end[0]))
        if day in (120, 365):
            for store in (play.store, facts, whole.store):
                store.carry_over()
            sizes[day] = [(tmp_path / name / JOURNAL_FILE).stat().st_size for name in ("pruned", "facts", "whole")]
    assert play.count("record WHERE fact = 1") == facts.end[0] // 4 == 3 * 365
    for store in (play.store, facts, whole.store):
        store.close()
    pruned, alone, everything = (late - early for early, late in zip(sizes[120], sizes[365], strict=True))
    assert pruned < 2.2 * alone
    assert pruned < 0.4 * everything


def test_the_file_stays_flat_while_only_edges_come(tmp_path: Path) -> None:
    play, sizes = Play(Store.create(tmp_path)), []
    for _ in range(4):
        play.stroke(edges=0)
    for _ in range(365):
        play.store.write(Batch(rows=play.batch("passage", edges=20).rows) for _ in range(5))
        play.wall_ns += DAY_NS
        play.prune()
        play.store.carry_over()
        sizes.append((tmp_path / JOURNAL_FILE).stat().st_size)
    play.store.close()
    assert play.rows == 36_500
    assert sizes[-1] <= max(sizes[30:60]) + 2 * 4096


def test_the_daemons_journal_prunes_as_it_goes(tmp_path: Path) -> None:
    listener = Listener()
    journal = Journal(tmp_path, "club-1", listener.on_synced, ends_stroke=closes, limits=LIMITS)
    journal.open()
    play = Play(Store.create_in_memory())
    position = 0
    for number in range(1_500):
        position = journal.append(play.batch("closed" if number % 4 == 3 else "passage", edges=2))
        listener.wait_synced(position)
    journal.close()
    connection = sqlite3.connect(tmp_path / JOURNAL_FILE)
    (rows,) = connection.execute("SELECT count(*) FROM source_row").fetchone()
    (records,) = connection.execute("SELECT count(*) FROM record").fetchone()
    connection.close()
    assert records == 1_500
    assert LIMITS.rows <= rows < LIMITS.rows + 256 * 2 + LIMITS.per_pass
