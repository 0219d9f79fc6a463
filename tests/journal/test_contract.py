"""What every journal behind the port does: the threaded one, the inline one, and the one in memory."""

from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.journal import Answer, Batch, InlineJournal, JournalPort
from tests.journal.material import Listener, batch, edge, journal_on, record

Make = Callable[[Listener], JournalPort]


@pytest.fixture(params=["threaded", "inline", "memory"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    if request.param == "threaded":
        return lambda listener: journal_on(tmp_path / "state", listener)
    directory = tmp_path / "state" if request.param == "inline" else None
    return lambda listener: InlineJournal(directory, "club-1", listener.on_synced)


@pytest.fixture(params=["threaded", "inline"])
def make_durable(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    if request.param == "threaded":
        return lambda listener: journal_on(tmp_path / "state", listener)
    return lambda listener: InlineJournal(tmp_path / "state", "club-1", listener.on_synced)


def test_an_empty_journal_gives_an_empty_start(make: Make) -> None:
    journal = make(Listener())
    recovered = journal.open()
    assert (recovered.last_seq, recovered.records, recovered.answers, recovered.progress) == (0, (), {}, {})
    assert journal.rows_since(0) == ()
    journal.close()


def test_positions_count_the_calls_and_are_reported_in_order(make: Make) -> None:
    listener = Listener()
    journal = make(listener)
    journal.open()
    assert [journal.append(batch(seq)) for seq in range(1, 51)] == list(range(1, 51))
    listener.wait_synced(50)
    assert listener.positions == sorted(set(listener.positions))
    assert listener.positions[-1] == journal.synced == 50
    journal.close()


def test_what_was_appended_comes_back_equal_and_in_order(make_durable: Make) -> None:
    journal = make_durable(Listener())
    journal.open()
    batches = [batch(seq) for seq in range(1, 31)]
    batches[10] = Batch(
        (record(11), record(11, kind="turn_passed"), record(12, kind="passage", fact=False)),
        (edge(11, boot_id=None), edge(12, source="gpio", boot_id=None)),
    )
    batches[11] = Batch(rows=(edge(12), edge(13)))
    for one in batches:
        journal.append(one)
    journal.close()

    again = make_durable(Listener())
    recovered = again.open()
    assert recovered.records == tuple(record for one in batches for record in one.records)
    assert recovered.last_seq == 30
    assert recovered.answers == {a.transaction: a.response for one in batches for a in one.answers}
    assert recovered.progress == {"board": {77: 31}}
    assert again.rows_since(0) == tuple(row for one in batches for row in one.rows)
    again.close()


def test_positions_begin_again_and_seq_goes_on_after_a_restart(make_durable: Make) -> None:
    for start in (1, 4, 7):
        journal = make_durable(Listener())
        assert journal.open().last_seq == start - 1
        assert [journal.append(batch(seq)) for seq in range(start, start + 3)] == [1, 2, 3]
        journal.close()


def test_rows_since_begin_with_the_batch_of_the_record(make: Make) -> None:
    listener = Listener()
    journal = make(listener)
    journal.open()
    journal.append(Batch(rows=(edge(1),)))
    journal.append(Batch((record(1),), (edge(2),)))
    journal.append(Batch(rows=(edge(3),)))
    journal.append(Batch((record(5), record(5)), (edge(4), edge(5))))
    journal.append(Batch(rows=(edge(6),)))
    position = journal.append(Batch((record(6),)))
    listener.wait_synced(position)
    assert journal.rows_since(0) == tuple(edge(n) for n in (2, 3, 4, 5, 6))
    assert journal.rows_since(2) == journal.rows_since(5) == tuple(edge(n) for n in (4, 5, 6))
    assert journal.rows_since(6) == journal.rows_since(7) == ()
    journal.close()


def test_a_repeated_or_older_record_is_refused_at_the_call(make: Make) -> None:
    listener = Listener()
    journal = make(listener)
    journal.open()
    journal.append(batch(5))
    for wrong in (Batch((record(5),)), Batch((record(4),)), Batch((record(7), record(6)))):
        with pytest.raises(ValueError, match=r"comes after record"):
            journal.append(wrong)
    assert journal.append(batch(6)) == 2
    listener.wait_synced(2)
    assert journal.health().waiting == 0
    journal.close()


def test_a_repeated_record_is_refused_after_a_restart_too(make_durable: Make) -> None:
    journal = make_durable(Listener())
    journal.open()
    journal.append(batch(1))
    journal.close()
    again = make_durable(Listener())
    again.open()
    with pytest.raises(ValueError, match=r"record 1 .*comes after record 1"):
        again.append(batch(1))
    again.close()


def test_the_last_thousand_answers_are_remembered_and_the_first_of_each(make_durable: Make) -> None:
    journal = make_durable(Listener())
    journal.open()
    for number in range(1_203):
        journal.append(Batch(answers=(Answer(f"t{number}", f"r{number}"),)))
    journal.append(Batch(answers=(Answer("t1000", "another"),)))
    journal.close()
    again = make_durable(Listener())
    answers = again.open().answers
    assert answers == {f"t{number}": f"r{number}" for number in range(203, 1_203)}
    again.close()


def test_two_matches_are_recovered(make_durable: Make) -> None:
    journal = make_durable(Listener())
    journal.open()
    for seq in range(1, 41):
        journal.append(batch(seq, match=(seq - 1) // 10 + 1))
    journal.close()
    again = make_durable(Listener())
    assert again.open().records == tuple(record(seq, (seq - 1) // 10 + 1) for seq in range(21, 41))
    again.close()


def test_after_an_undone_match_the_one_before_the_present_is_recovered(make_durable: Make) -> None:
    """Back in match 2 out of match 3, a further undo leads into match 1."""
    journal = make_durable(Listener())
    journal.open()
    for seq, match in enumerate((1, 1, 2, 2, 3, 3, 2), start=1):
        journal.append(batch(seq, match))
    journal.close()
    again = make_durable(Listener())
    assert [r.match for r in again.open().records] == [1, 1, 2, 2, 3, 3, 2]
    again.close()


def test_progress_is_kept_of_each_boot_of_a_source_the_newest_last(make_durable: Make) -> None:
    journal = make_durable(Listener())
    journal.open()
    journal.append(Batch(rows=(edge(400), edge(7, source="far"), edge(401), edge(1, source="gpio", boot_id=None))))
    journal.append(Batch(rows=(edge(0, boot_id=78),)))
    journal.append(Batch(rows=(edge(0, boot_id=79), edge(402), edge(403))))
    journal.append(Batch(rows=(edge(404),)))
    journal.close()
    again = make_durable(Listener())
    progress = again.open().progress
    assert {source: list(boots.items()) for source, boots in progress.items()} == {
        "board": [(78, 1), (79, 1), (77, 405)],
        "far": [(77, 8)],
    }
    again.close()


def test_of_a_board_that_resets_again_and_again_only_the_last_boots_are_remembered(make_durable: Make) -> None:
    journal = make_durable(Listener())
    journal.open()
    for boot_id in range(20):
        journal.append(Batch(rows=(edge(boot_id, boot_id=boot_id),)))
    journal.close()
    again = make_durable(Listener())
    assert again.open().progress == {"board": {boot_id: boot_id + 1 for boot_id in range(12, 20)}}
    again.close()


def test_only_an_open_journal_takes_batches(make: Make) -> None:
    journal = make(Listener())
    with pytest.raises(RuntimeError, match="not open"):
        journal.append(batch(1))
    journal.open()
    journal.close()
    journal.close()
    with pytest.raises(RuntimeError, match="not open"):
        journal.append(batch(1))
