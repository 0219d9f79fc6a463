"""Sensing in the whole engine: what a hand, a storm or a long pulse at a beam does to the table, restarts included."""

from appliance.events import ColourReading
from tests.support.health import beams, health
from tests.support.session import ns
from tests.test_engine import PLACES, Board, Table, inputs_of, playing, policy


def hand(board: Board, place: str, at: float, seconds: float) -> list:
    return board.passage(place, at, ms=seconds * 1000)


def reasons(table: Table, name: str) -> list[str]:
    return [news["reason"] for output in table.outputs for news in output.news if news["event"] == name]


def test_a_hand_between_strokes_passes_no_turn():
    table, board = playing()
    table.hear(*board.passage("ne", 1, ms=40), *hand(board, "ne", 1.2, 1.5))
    assert table.state.stroke is None
    table.hear(board.heartbeat(30))
    assert table.state.fold.lines == ()
    assert len(reasons(table, "passage_not_scored")) == 2
    assert all("hand" in reason for reason in reasons(table, "passage_not_scored"))


def test_a_hand_that_is_still_there_is_taken_back_with_the_heartbeat():
    table, board = playing()
    table.hear(*board.passage("ne", 1, ms=40))
    table.hear(board.edge(0, 1, 1.2), board.heartbeat(1.55))
    assert table.state.stroke is not None
    table.hear(board.heartbeat(1.65))
    assert table.state.stroke is None
    table.hear(board.edge(0, 0, 4.2))
    assert table.state.stroke is None


def test_a_restart_in_the_middle_of_a_hand_takes_back_what_was_shown_before_it():
    table, board = playing()
    table.hear(*board.passage("ne", 1, ms=40))
    broken, clear = hand(board, "ne", 1.2, 1)
    table.hear(broken)
    again = Table(policy(), inputs_of(), table.store)
    again.hear(board.back(1.3), clear)
    assert again.state.stroke is None
    assert {unscored.fallen.passage_id for unscored in again.state.unscored} == {"p1", "p2"}


def test_what_is_usual_at_a_beam_is_known_again_after_a_restart():
    table, board = playing("ask")
    for second in range(20):
        table.hear(*board.passage("ne", 10 + 10 * second, ms=30))
    again = Table(policy("ask"), inputs_of(), table.store)
    again.hear(*board.passage("ne", 300, ms=51), *board.passage("ne", 301, ms=52), *board.passage("nw", 302, ms=52))
    stroke = again.state.stroke
    assert stroke is not None
    assert [each.doubt for each in stroke.fallen[-3:]] == [None, "possibly_two", None], "1.7 times 30 ms, at that beam"


def test_a_long_pulse_is_asked_about_and_the_answer_counts():
    table, board = playing("ask")
    table.hear(*board.passage("ne", 1, ms=120), *board.press(1, 3))
    (question,) = table_questions(table)
    assert question["kind"] == "how_many"
    assert table.ask("answer", at=4, value=1)["ok"]
    assert table.ask("answer", at=5, value="white")["ok"]
    assert table.state.fold.lines[-1]["pocketed"] == ["white"]


def table_questions(table: Table) -> list:
    return next(output.state["questions"] for output in reversed(table.outputs) if output.state is not None)


def test_a_storm_on_one_wire_is_a_fault_with_a_reason_and_the_others_go_on():
    table, board = playing()
    for n in range(40):
        table.hear(*board.passage("ne", 1 + 0.05 * n, ms=20))
    (fault,) = reasons(table, "beam_fault")
    assert "loose wire" in fault
    assert table.state.stroke is None
    table.hear(*board.passage("se", 3.5))
    assert [fallen.place for fallen in table.state.stroke.fallen] == ["se"]
    told = beams(table.engine, 4)
    assert (told["board-ne"]["state"], told["board-se"]["state"]) == ("noisy", "ok")
    table.hear(board.heartbeat(7))
    assert table.news.count("beam_well") == 1
    assert beams(table.engine, 7)["board-ne"]["state"] == "ok"


def test_a_storm_keeps_no_stroke_open():
    table, board = playing()
    table.hear(*board.passage("se", 0.5))
    for n in range(200):
        table.hear(*board.passage("ne", 0.6 + 0.05 * n, ms=20))
    assert table.state.stroke is None
    assert table.state.fold.waiting[0].fallen[0].place == "se"


def test_what_belongs_to_nothing_is_counted_and_said():
    table, board = playing()
    assert health(table.engine, 1)["strays"] == {"unknown_channels": 0, "unplaced_colours": 0, "reason": None}
    table.hear(board.edge(30, 1, 1), board.colour("ne", "white", 2))
    strays = health(table.engine, 3)["strays"]
    assert (strays["unknown_channels"], strays["unplaced_colours"]) == (1, 1)
    assert strays["reason"] == (
        "1 change came from a wire that the configuration does not know: something is connected to the wrong input, or "
        "is missing in the file. 1 colour was told with no passage in the second before: the beam beside that colour "
        "sensor misses objects, or the sensor sees something else."
    )


def test_a_dip_of_the_supply_scores_nothing():
    table, board = playing()
    table.hear(*(board.edge(channel, 1, 1) for channel in range(len(PLACES))))
    table.hear(*(board.edge(channel, 0, 1.05) for channel in range(len(PLACES))))
    assert table.state.stroke is None
    assert len(table.state.unscored) == 4
    assert all("supply" in reason for reason in reasons(table, "passage_not_scored"))


def test_colours_told_of_each_object_leave_nothing_to_ask():
    table, board = playing("ask")
    table.hear(*board.passage("ne", 1, ms=30), *board.passage("ne", 1.07, ms=30))
    for name in ("white", "striker"):
        reading = board.colour("ne", name, 1.2)
        assert isinstance(reading, ColourReading)
        table.hear(reading)
    table.hear(*board.press(1, 3))
    assert table.state.fold.queue == ()
    assert sorted(table.state.fold.lines[-1]["pocketed"]) == ["striker", "white"]
    assert table.state.last_close is not None
    assert table.state.last_close.at_ns == ns(3)
