"""A noisy beam in the engine: every change is accounted for at every moment, across kills too, and none counts.

What is durable of the board (its `progress`) and what the journal holds of it, one by one and in sums, are two
accounts of the same changes; they must agree after every single commit.
"""

from dataclasses import replace
from random import Random

import pytest

from appliance.events import Chatter, Edge, EdgesLost, Levels, SourceInput
from appliance.journal import SourceRow
from appliance.records import read_row, write_row
from tests.support.health import beams
from tests.support.session import ns
from tests.test_engine import BOARD_BOOT, DONE_1, Board, Table, inputs_of, playing, policy, stamp

NE, SE = 0, 2


def storm(board: Board, random: Random, since: float, until: float, channel: int = NE) -> list[SourceInput]:
    """A loose wire: breaks of 1 to 9 ms, 60 a second; every 250 ms the board's heartbeat."""
    found: list[SourceInput] = []
    at, heartbeat = since, since + 0.25
    while at < until:
        if at > heartbeat:
            found.append(board.heartbeat(at - 0.0001))
            heartbeat += 0.25
        width = random.uniform(0.001, 0.009)
        found += [board.edge(channel, 1, at), board.edge(channel, 0, at + width)]
        at += width + random.uniform(0.004, 0.015)
    return found


def accounted(rows: tuple[SourceRow, ...]) -> int:
    return sum(row.stretch.edges if row.stretch else row.sequence is not None for row in rows)


def durable(table: Table) -> int:
    """The number of the board's next entry that is not durable."""
    return table.store.recover().progress.get("board", {}).get(BOARD_BOOT, 0)


def agree(table: Table) -> None:
    assert accounted(table.store.rows_since(0)) == durable(table)


def seen(table: Table) -> tuple[object, ...]:
    """What a person sees of the game."""
    state = table.state
    fallen = [(each.place, each.started_ns) for each in state.stroke.fallen] if state.stroke else None
    return state.fold.rules, state.fold.lines, fallen, [each.stroke.number for each in state.fold.strokes]


def test_rows_of_a_quarantined_beam_are_a_sum_that_is_exact() -> None:
    table, board = playing()
    for item in storm(board, Random(1), 1, 31):
        table.hear(item)
        agree(table)
    table.hear(board.heartbeat(31.2))
    agree(table)
    assert durable(table) == board.sequence, "the board may forget all of it"
    rows = table.store.rows_since(0)
    (many,) = [row for row in rows if row.stretch]
    one_by_one = [row for row in rows if row.level is not None and not row.stretch]
    assert len(one_by_one) < 60 < many.stretch.edges, "the first half a second, until it was clear that it is noise"
    assert many.stretch.edges == board.sequence - len(one_by_one)
    assert (many.stretch.shortest_ns >= ns(0.001), many.stretch.longest_ns <= ns(0.009)) == (True, True)
    assert many.stretch.since_ns > one_by_one[-1].at_ns
    assert read_row(write_row(read_row(many), many.stamp)) == read_row(many)


def test_what_is_told_to_the_board_is_durable_and_comes_soon() -> None:
    table, board = playing()
    told = 0
    for item in storm(board, Random(2), 1, 20):
        for output in table.hear(item):
            if output.acknowledge is not None:
                told = output.acknowledge[2]
                assert told == durable(table), "no more than is durable, and nothing that was told before"
        assert board.sequence >= told
        if isinstance(item, Levels):
            assert told == accounted(table.store.rows_since(0))


def test_another_beam_of_the_same_board_goes_on_and_leaves_no_gap_behind_it() -> None:
    table, board = playing("ask")
    for item in storm(board, Random(3), 1, 4):
        table.hear(item)
    for item in (*board.passage("se", 4.02), *board.press(1, 4.2)):
        table.hear(item)
        agree(table)
    assert durable(table) == board.sequence
    (waiting,) = table.state.fold.waiting
    assert [each.place for each in waiting.fallen] == ["se"]


def test_the_first_passage_after_the_noise_is_kept_by_itself_and_counts() -> None:
    table, board = playing("ask")
    table.hear(*storm(board, Random(4), 1, 4), board.heartbeat(5), board.heartbeat(7.3))
    assert table.news.count("beam_well") == 1
    table.hear(*board.passage("ne", 8))
    rows = table.store.rows_since(0)
    assert [(row.level, row.at_ns) for row in rows[-2:]] == [(1, ns(8)), (0, ns(8.03))]
    assert [each.started_ns for each in table.state.stroke.fallen] == [ns(8)]


def test_a_beam_that_is_noisy_again_begins_a_stretch_of_its_own() -> None:
    table, board = playing()
    table.hear(*storm(board, Random(5), 1, 3), board.heartbeat(7), *storm(board, Random(6), 8, 10), board.heartbeat(15))
    stretches = [row.stretch for row in table.store.rows_since(0) if row.stretch]
    assert [each.since_ns < ns(4) for each in stretches] == [True, False]
    agree(table)


def test_a_wire_that_is_noisy_for_an_hour_is_sixty_rows() -> None:
    table, board = playing()
    at = 1.0
    while at < 3_600:
        table.hear(*board.passage("ne", at, ms=5))
        at += 0.04
    table.hear(board.heartbeat(at + 1))
    assert 55 <= len([row for row in table.store.rows_since(0) if row.stretch]) <= 61
    agree(table)


def test_a_button_is_believed_however_often_it_changes() -> None:
    table, board = playing()
    for n in range(200):
        table.hear(board.edge(DONE_1, n % 2, 1 + n * 0.013))
    assert all(row.stretch is None for row in table.store.rows_since(0))


@pytest.mark.parametrize("what", ["lost", "another boot", "gone"])
def test_what_is_held_is_kept_before_the_source_changes(what: str) -> None:
    table, board = playing()
    table.hear(*storm(board, Random(7), 1, 3))
    table.hear(board.edge(NE, 1, 3.001))
    held = board.sequence - durable(table)
    if what == "lost":
        table.hear(EdgesLost("board", 5, ns(3.01)))
    elif what == "gone":
        table.keep(table.engine.settle(stamp(3.02)))
    else:
        table.hear(replace(board.back(3.01), boot_id=BOARD_BOOT + 1))
    assert held > 0
    assert durable(table) == board.sequence
    agree(table)


def script(random: Random) -> list[SourceInput]:
    """A minute at the table: two storms at `ne`, and meanwhile objects at `se` and `nw`, and `done`."""
    board = Board()
    plain: list[tuple[float, list[tuple[int, int, float]]]] = []
    at = 2.0
    for n in range(12):
        place, width = random.choice((1, SE)), random.uniform(0.02, 0.06)
        plain.append((at, [(place, 1, 0.0), (place, 0, width)]))
        if n % 3 == 2:
            plain.append((at + 1.1, [(DONE_1, 0, 0.0), (DONE_1, 1, 0.1)]))
        at += random.uniform(2.5, 4)
    changes = [(start + after, channel, level) for start, each in plain for channel, level, after in each]
    for since, until in ((1.0, 9.0), (20.0, 31.0)):
        noisy = storm(Board(), random, since, until)
        changes += [(item.at_ns / 1e9, item.channel, item.level) for item in noisy if isinstance(item, Edge)]
    found: list[SourceInput] = []
    heartbeat = 0.25
    for when, channel, level in sorted(changes):
        while heartbeat < when:
            found.append(board.heartbeat(heartbeat))
            heartbeat += 0.25
        found.append(board.edge(channel, level, when))
    return [*found, *(board.heartbeat(heartbeat + n) for n in range(12))]


@pytest.mark.parametrize("seed", range(12))
def test_killed_at_any_moment_of_the_noise_it_goes_on_as_if_nothing_had_been(seed: int) -> None:
    random = Random(seed)
    items = script(random)
    steady = Table(policy("ask"), inputs_of())
    steady.hear(Board().back(0), Board().heartbeat(0.1), *items)
    table = Table(policy("ask"), inputs_of())
    table.hear(Board().back(0), Board().heartbeat(0.1))
    kills = sorted(random.sample(range(1, len(items)), 8))
    told: list[SourceInput] = []
    for n, item in enumerate(items):
        if n in kills:
            table = Table(policy("ask"), inputs_of(), table.store, at=item.at_ns / 1e9)
            table.hear(Board().back(item.at_ns / 1e9))
            # The board tells again what it has not heard to be durable.
            again = [each for each in told if isinstance(each, Edge) and each.identity.sequence >= durable(table)]
            table.hear(*again)
        told.append(item)
        table.hear(item)
        agree(table)
    assert seen(table) == seen(steady)
    assert durable(table) == durable(steady) == sum(isinstance(item, Edge) for item in items)
    assert "noisy" not in str(beams(table.engine, 60))


def test_after_a_restart_it_is_noisy_since_the_same_moment_and_until_the_same_moment() -> None:
    table, board = playing()
    table.hear(*storm(board, Random(8), 1, 4), board.heartbeat(4.2))
    # Two strokes close by hand, so that the beginning of the noise is not read at a start any more.
    for n in range(3):
        table.hear(*board.passage("se", 4.3 + n), *board.press(1, 4.5 + n), *board.passage("ne", 4.8 + n, ms=3))
    table.hear(board.heartbeat(7.4))
    last = table.engine.bank.lines["board-ne"].noise
    again = Table(policy(), inputs_of(), table.store, at=7.5)
    noise = again.engine.bank.lines["board-ne"].noise
    assert (noise.since_ns, noise.quiet_since_ns) == (last.since_ns, last.quiet_since_ns)
    assert beams(again.engine, 7.5)["board-ne"]["state"] == beams(table.engine, 7.5)["board-ne"]["state"] == "noisy"
    for each in (table, again):
        each.hear(board.back(7.6), board.heartbeat(9.7))
        assert beams(each.engine, 9.7)["board-ne"]["state"] == "noisy"
        each.hear(board.heartbeat(9.9))
        assert beams(each.engine, 9.9)["board-ne"]["state"] == "ok", "3 s after the last break at 6.803"


def test_a_sum_that_is_told_to_the_engine_makes_the_beam_noisy_and_counts_for_nothing() -> None:
    table, _ = playing()
    table.hear(Chatter("board", NE, 0, ns(2), ns(5), 700, 1, ns(0.009), ns(1.5), ns(4.9)))
    assert table.news[-1] == "beam_fault"
    noisy = beams(table.engine, 3)["board-ne"]
    assert (noisy["state"], noisy["summed"], noisy["since_s"]) == ("noisy", 700, 1.5)
    assert table.state.stroke is None
    assert accounted(table.store.rows_since(0)) == 700
