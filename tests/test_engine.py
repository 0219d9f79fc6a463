"""The engine: what is durable together, whose clock closes a stroke, and the same table after any restart.

The board is played by hand here: edges with numbers of their own, heartbeats with the levels, a button a player.
"""

import json
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pytest

from appliance.engine import REMEMBERED_ANSWERS, Engine, Output
from appliance.events import ColourReading, Edge, EdgeId, EdgesLost, Levels, SourceBack, SourceInput, SourceLost
from appliance.journal import Stamp
from appliance.journal.store import Store
from appliance.sensing.bank import Beam, Button, StrikeSensor
from appliance.sensing.debounce import BUTTON, CARROM_POCKET, STRIKE_SENSOR
from appliance.table.model import Policy, Seat, TableState
from tests.support.session import CARROM, ns

PLACES = ("ne", "nw", "se", "sw")
STRIKE, DONE_1, DONE_2 = 4, 8, 9
BOARD_BOOT = 7


def inputs_of(source: str = "board", *, strike: bool = False, places: tuple[str, ...] = PLACES) -> tuple[Any, ...]:
    beams = tuple(
        Beam(f"{source}-{place}", source, channel, place, CARROM, 1, CARROM_POCKET)
        for channel, place in enumerate(places)
    )
    sensor = (StrikeSensor(f"{source}-strike", source, STRIKE, None, 1, STRIKE_SENSOR),) if strike else ()
    buttons = tuple(
        Button(f"{source}-done-{player}", source, channel, "done", (("player", player),), 0, BUTTON)
        for player, channel in ((1, DONE_1), (2, DONE_2))
    )
    return (*beams, *sensor, *buttons)


def policy(unknown: str = "ask_then_assume", *, strike: bool = False) -> Policy:
    seats = (Seat("Asha", "Asha"), Seat("Ben", "Ben"))
    return Policy("club_carrom", seats, {}, unknown, ns(6), strike)  # type: ignore[arg-type]


def stamp(at: float, boot: str = "host-1") -> Stamp:
    return Stamp(boot, ns(at), ns(at), True)


@dataclass
class Board:
    """A source: what it would deliver, numbered as it numbers it."""

    source: str = "board"
    boot: int = BOARD_BOOT
    levels: dict[int, int] = field(default_factory=lambda: {**dict.fromkeys(range(5), 0), DONE_1: 1, DONE_2: 1})
    sequence: int = 0

    def edge(self, channel: int, level: int, at: float) -> Edge:
        self.levels[channel] = level
        self.sequence += 1
        return Edge(self.source, channel, level, ns(at), EdgeId(self.boot, self.sequence - 1))

    def passage(self, place: str, at: float, ms: float = 30) -> list[SourceInput]:
        channel = PLACES.index(place)
        return [self.edge(channel, 1, at), self.edge(channel, 0, at + ms / 1000)]

    def strike(self, at: float) -> list[SourceInput]:
        return [self.edge(STRIKE, 1, at), self.edge(STRIKE, 0, at + 0.01)]

    def press(self, player: int, at: float) -> list[SourceInput]:
        channel = {1: DONE_1, 2: DONE_2}[player]
        return [self.edge(channel, 0, at), self.edge(channel, 1, at + 0.1)]

    def colour(self, place: str, name: str, at: float) -> ColourReading:
        self.sequence += 1
        identity = EdgeId(self.boot, self.sequence - 1)
        return ColourReading(self.source, PLACES.index(place), name, ns(at), identity)

    def back(self, at: float) -> SourceBack:
        return SourceBack(self.source, self.boot, ns(at))

    def heartbeat(self, at: float) -> Levels:
        return Levels(self.source, tuple(sorted(self.levels.items())), ns(at))


class Table:
    """An engine with what is durable of it."""

    def __init__(self, policy_: Policy, inputs: tuple[Any, ...], store: Store | None = None, **when: Any) -> None:
        self.store = store or Store.create_in_memory()
        self.engine = Engine("t1", policy_, inputs)
        self.outputs: list[Output] = []
        now = stamp(when.get("at", 0), when.get("host", "host-1"))
        self.recovered = self.store.recover()
        self.keep(self.engine.recover(self.recovered, now))
        rows = self.store.rows_since(self.engine.horizon_seq(self.recovered.records))
        self.engine.rebuild_sensing(rows, now.boot_id)

    def keep(self, outputs: list[Output]) -> list[Output]:
        for output in outputs:
            if output.stumbled is not None:
                raise output.stumbled
            self.outputs.append(output)
            if output.batch.records or output.batch.rows or output.batch.answers:
                self.store.write((output.batch,))
        return outputs

    def hear(self, *items: SourceInput, host: str = "host-1") -> list[Output]:
        found: list[Output] = []
        for item in items:
            found += self.keep(self.engine.handle(item, Stamp(host, item.at_ns, item.at_ns, True)))
        return found

    def ask(self, command: str, at: float = 0, transaction: str | None = None, **fields: Any) -> dict[str, Any]:
        outputs = self.keep(self.engine.request(command, fields, stamp(at), transaction=transaction))
        response = outputs[-1].response
        assert response is not None
        return dict(response)

    @property
    def state(self) -> TableState:
        return self.engine.state

    @property
    def news(self) -> list[str]:
        return [news["event"] for output in self.outputs for news in output.news]


def playing(unknown: str = "ask_then_assume", *, strike: bool = False) -> tuple[Table, Board]:
    table, board = Table(policy(unknown, strike=strike), inputs_of(strike=strike)), Board()
    table.hear(board.back(0), board.heartbeat(0.1))
    return table, board


# -- what is durable together


def test_an_edge_is_durable_with_what_followed_from_it():
    table, board = playing()
    broken, clear = board.passage("ne", 1)
    (first,) = table.hear(broken)
    assert first.batch.records == ()
    assert [row.level for row in first.batch.rows] == [1]
    assert first.acknowledge == ("board", BOARD_BOOT, 1)
    (second,) = table.hear(clear)
    assert [record.kind for record in second.batch.records] == ["stroke_opened", "passage_added"]
    assert [row.level for row in second.batch.rows] == [0]
    assert second.acknowledge == ("board", BOARD_BOOT, 2)


def test_what_time_alone_brought_is_not_tied_to_the_edge_that_told_the_time():
    table, board = playing()
    table.hear(*board.passage("ne", 1))
    closed, edge = table.hear(board.passage("se", 20)[0])
    assert [record.kind for record in closed.batch.records] == ["stepped"]
    assert closed.batch.rows == ()
    assert edge.acknowledge == ("board", BOARD_BOOT, 3)


def test_all_that_follows_from_one_input_shares_its_number():
    table, _ = playing()
    table.ask("stroke", pocketed=["white"])
    seq = table.state.seq
    outputs = table.keep(table.engine.request("new_match", {"abandon": True}, stamp(5)))
    assert {record.seq for record in outputs[0].batch.records} == {seq + 1}
    assert [(news["event"], news["match_id"], news["seq"]) for news in outputs[0].news] == [
        ("match_abandoned", "m1", seq + 1),
        ("match_started", "m2", seq + 1),
    ]
    assert len({news["event_id"] for news in outputs[0].news}) == 2


def test_a_request_that_changed_something_is_kept_beside_what_followed():
    table, _ = playing()
    (output,) = table.keep(table.engine.request("stroke", {"pocketed": ["white"]}, stamp(5), transaction="t"))
    last = output.batch.records[-1]
    assert (last.kind, last.fact) == ("requested", False)
    assert json.loads(last.body) == {"command": "stroke", "fields": {"pocketed": ["white"]}, "kind": "requested"}
    (refused,) = table.keep(table.engine.request("next_board", {}, stamp(6)))
    assert refused.batch.records == ()


# -- whose clock closes a stroke


def test_quiet_time_needs_the_sources_own_clock():
    table, board = playing()
    table.hear(*board.passage("ne", 1))
    table.keep(table.engine.tick(stamp(1000)))
    assert table.state.stroke is not None, "the host's clock closes nothing: the link may be stalled"
    table.hear(board.heartbeat(6.9))
    assert table.state.stroke is not None
    table.hear(board.heartbeat(7.1))
    assert table.state.stroke is None


def test_a_stroke_does_not_close_while_a_passage_goes_on():
    table, board = playing()
    table.hear(*board.passage("ne", 1))
    broken, clear = board.passage("se", 6.9, ms=400)
    table.hear(broken, board.heartbeat(7.2))
    assert table.state.stroke is not None
    table.hear(clear)
    assert table.state.stroke is not None
    assert len(table.state.stroke.fallen) == 2


def test_a_passage_that_began_after_the_quiet_time_is_the_next_strokes():
    table, board = playing()
    table.hear(*board.passage("ne", 1))
    table.hear(*board.passage("se", 7.1))
    assert table.state.stroke is not None
    assert table.state.stroke.number == 2


def two_sources() -> tuple[Table, Board, Board]:
    inputs = (*inputs_of("left", places=("ne", "se")), *inputs_of("right", places=("nw", "sw")))
    table, left, right = Table(policy(), inputs), Board("left"), Board("right")
    table.hear(left.back(0), right.back(0), left.heartbeat(0.1), right.heartbeat(0.1))
    return table, left, right


def test_two_sources_are_put_in_order():
    table, left, right = two_sources()
    late = left.passage("ne", 1.000, ms=10)
    early = right.passage("ne", 0.995, ms=10)
    # The right one's edges arrive after the left one's, within the window of 20 ms.
    for item in (*late, *early):
        table.keep(table.engine.handle(item, stamp(1.011)))
    table.keep(table.engine.tick(stamp(1.05)))
    assert table.state.stroke is not None
    assert [fallen.beam for fallen in table.state.stroke.fallen] == ["right-nw", "left-ne"]


def test_both_clocks_must_have_passed():
    table, left, right = two_sources()
    table.hear(*left.passage("ne", 1))
    table.hear(left.heartbeat(20))
    table.keep(table.engine.tick(stamp(21)))
    assert table.state.stroke is not None, "the right one may still tell of a passage before"
    table.hear(right.heartbeat(20))
    table.keep(table.engine.tick(stamp(21)))
    assert table.state.stroke is None


def test_a_lost_source_that_saw_nothing_of_the_stroke_holds_nobody_up():
    table, left, _ = two_sources()
    table.hear(*left.passage("ne", 1))
    table.hear(SourceLost("right", "unplugged", ns(2)), left.heartbeat(20))
    table.keep(table.engine.tick(stamp(21)))
    assert table.state.stroke is None


def test_a_lost_source_that_saw_the_stroke_keeps_it_open():
    table, left, right = two_sources()
    table.hear(*left.passage("ne", 1))
    table.hear(SourceLost("left", "unplugged", ns(2)), right.heartbeat(20))
    table.keep(table.engine.tick(stamp(21)))
    assert table.state.stroke is not None


def test_after_a_restart_only_the_sources_own_clock_closes_its_stroke():
    table, left, right = two_sources()
    table.hear(*left.passage("ne", 1))
    table.keep(table.engine.tick(stamp(2)))
    again = Table(table.engine.policy, table.engine.inputs, table.store, at=30)
    again.hear(right.back(31), right.heartbeat(32))
    assert again.state.stroke is not None
    again.hear(left.back(33), left.heartbeat(34))
    again.keep(again.engine.tick(stamp(35)))
    again.hear(right.heartbeat(36), left.heartbeat(36))
    again.keep(again.engine.tick(stamp(37)))
    assert again.state.stroke is None


def test_a_table_without_beams_closes_strokes_by_the_hosts_clock():
    table = Table(policy(), ())
    table.ask("jumped", at=1, objects=["black"])
    table.keep(table.engine.tick(stamp(6.9)))
    assert table.state.stroke is not None
    table.keep(table.engine.tick(stamp(7)))
    assert table.state.stroke is None


# -- reboots


def test_a_board_that_reboots_starts_the_quiet_time_anew():
    table, board = playing()
    table.hear(*board.passage("ne", 1))
    again = Board(boot=8)
    table.hear(again.back(5), again.heartbeat(5.1), again.heartbeat(10.9))
    assert table.state.stroke is not None, "6 s from the reboot on"
    table.hear(again.heartbeat(11.1))
    assert table.state.stroke is None


def test_a_board_that_is_back_with_the_same_boot_changes_nothing():
    table, board = playing()
    table.hear(*board.passage("ne", 1))
    seq = table.state.seq
    table.hear(SourceLost("board", "unplugged", ns(2)), board.back(3), board.heartbeat(3.1))
    assert table.state.seq == seq
    table.hear(board.heartbeat(7.1))
    assert table.state.stroke is None


def test_a_pulse_that_was_open_when_the_board_rebooted_is_void():
    table, board = playing()
    table.hear(board.passage("ne", 1)[0])
    again = Board(boot=8)
    table.hear(again.back(2), again.heartbeat(2.1), again.heartbeat(20))
    assert table.state.stroke is None
    assert "passage" not in table.news


def test_a_host_that_reboots_starts_the_quiet_time_anew():
    table, board = playing()
    table.hear(*board.passage("ne", 500))
    again = Table(table.engine.policy, table.engine.inputs, table.store, at=3, host="host-2")
    assert again.state.stroke is not None
    again.hear(board.back(4), board.heartbeat(8.9), host="host-2")
    assert again.state.stroke is not None, "its clock began anew too: 6 s from 3 on"
    again.hear(board.heartbeat(9.1), host="host-2")
    assert again.state.stroke is None


# -- restarts


def random_play(seed: int) -> list[SourceInput | dict[str, Any]]:
    """Half a minute and more of passages, strikes, presses, colours and requests; a heartbeat a second."""
    chance, board = Random(seed), Board()
    script: list[SourceInput | dict[str, Any]] = [board.back(0), board.heartbeat(0.1)]
    now = 1.0
    for number in range(24):
        now += chance.choice((0.4, 1.3, 2.6))
        kind = chance.random()
        if kind < 0.45:
            place = chance.choice(PLACES)
            script += board.passage(place, now, ms=chance.choice((8, 30, 90)))
            if chance.random() < 0.4:
                script.append(board.colour(place, chance.choice(CARROM), now + 0.15))
        elif kind < 0.6:
            script += board.press(chance.choice((1, 2)), now)
        elif kind < 0.7:
            script += board.strike(now)
        elif kind < 0.9:
            command, fields = chance.choice(
                (
                    ("undo", {}),
                    ("redo", {}),
                    ("stroke", {"pocketed": ["white"]}),
                    ("object", {"object": "own"}),
                    ("answer", {"value": "black"}),
                    ("correct", {"stroke": 1, "pocketed": ["black"]}),
                    ("new_match", {"abandon": True}),
                    ("pause", {}),
                    ("resume", {}),
                )
            )
            script.append({"at": now + 0.3, "transaction": f"t{number}", "command": command, "fields": fields})
        else:
            now += 7
        script.append(board.heartbeat(now + 0.35))
    script.append(board.heartbeat(now + 60))
    return script


def play(table: Table, item: SourceInput | dict[str, Any], most: int | None = None) -> int:
    """Play one item, keeping only the first `most` of its outputs; how many there were."""
    if isinstance(item, dict):
        outputs = table.engine.request(
            item["command"], item["fields"], stamp(item["at"]), transaction=item["transaction"]
        )
    else:
        outputs = table.engine.handle(item, Stamp("host-1", item.at_ns, item.at_ns, True))
    table.keep(outputs[:most])
    return len(outputs)


def at_of(item: SourceInput | dict[str, Any]) -> float:
    return item["at"] if isinstance(item, dict) else item.at_ns / 1e9


def levels_after(script: list[SourceInput | dict[str, Any]]) -> tuple[tuple[int, int], ...]:
    levels = Board().levels
    for item in script:
        if isinstance(item, Edge):
            levels[item.channel] = item.level
    return tuple(sorted(levels.items()))


def restarted(table: Table, script: list[SourceInput | dict[str, Any]], index: int) -> Table:
    """The table after a kill in item `index`: whoever was not answered says it again."""
    now = at_of(script[index])
    again = Table(table.engine.policy, table.engine.inputs, table.store, at=now)
    boots = again.recovered.progress.get("board", {BOARD_BOOT: 0})
    assert boots.keys() == {BOARD_BOOT}
    following = boots[BOARD_BOOT]
    again.hear(SourceBack("board", BOARD_BOOT, ns(now)))
    heard = script[: index + 1]
    for item in heard:
        if isinstance(item, Edge | ColourReading) and item.identity is not None and item.identity.sequence >= following:
            play(again, item)
    if isinstance(heard[-1], dict):
        play(again, heard[-1])
    else:
        again.hear(Levels("board", levels_after(heard), ns(now)))
    return again


@pytest.mark.parametrize("strike", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_killed_after_any_output_it_goes_on_as_if_nothing_had_been(seed, strike):
    script = random_play(seed)
    made = (policy(strike=strike), inputs_of(strike=strike))
    whole = Table(*made)
    counts = [play(whole, item) for item in script]
    for index, count in enumerate(counts):
        for kept in range(count + 1):
            table = Table(*made)
            for item in script[:index]:
                play(table, item)
            play(table, script[index], most=kept)
            again = restarted(table, script, index)
            for item in script[index + 1 :]:
                play(again, item)
            assert again.state == whole.state, f"killed in item {index}, {script[index]}, after {kept} outputs"


def test_a_restart_in_a_later_match_knows_how_many_there_were():
    table, _ = playing()
    for number in range(2, 6):
        table.ask("new_match")
        table.ask("stroke", pocketed=["white"])
        table.ask("abandon")
        assert table.state.depth == number
    for _ in range(3):
        table = Table(table.engine.policy, table.engine.inputs, table.store, at=50)
        depth, last = table.state.depth, table.state.last_match
        table.ask("new_match")
        assert (table.state.depth, table.state.last_match) == (depth + 1, last + 1)
        table.ask("stroke", pocketed=["white"])
        table.ask("abandon")
    labels = [record.match for output in table.outputs for record in output.batch.records]
    assert set(labels) == {8}
    again = Table(table.engine.policy, table.engine.inputs, table.store, at=60)
    assert again.state == table.state
    for _ in range(3):
        assert again.ask("undo")["ok"] is True
    assert again.state.match.id == "m7"


def test_the_first_word_about_a_part_after_a_restart_has_an_id_of_its_own():
    table, board = playing()
    again = Table(table.engine.policy, table.engine.inputs, table.store, at=9)
    again.hear(board.back(10))
    before = {news["event_id"] for output in table.outputs for news in output.news}
    after = {news["event_id"] for output in again.outputs for news in output.news}
    assert before
    assert after
    assert not before & after


# -- transactions


def test_a_repeated_transaction_gets_its_first_answer_and_does_nothing():
    table = Table(policy(), ())
    first = table.ask("stroke", transaction="a", pocketed=["white"])
    assert first == {"transaction": "a", "ok": True, "seq": 2}
    table.ask("stroke", transaction="b", pocketed=[])
    assert table.ask("stroke", transaction="a", pocketed=["white"]) == first
    assert table.state.seq == 3


def test_a_refusal_is_remembered_too():
    table = Table(policy(), ())
    first = table.ask("undo", transaction="a")
    assert first["ok"] is False
    assert first["error"]["code"] == "nothing_to_undo"
    table.ask("stroke", pocketed=["white"])
    assert table.ask("undo", transaction="a") == first
    assert table.state.seq == 2


def test_a_request_without_a_transaction_is_simply_done():
    table = Table(policy(), ())
    assert table.ask("stroke", pocketed=[])["transaction"] is None
    table.ask("stroke", pocketed=[])
    assert len(table.state.fold.lines) == 2


def test_the_last_thousand_are_remembered_across_a_restart():
    assert REMEMBERED_ANSWERS == 1000
    table = Table(policy(), ())
    first = table.ask("undo", transaction="t0")
    assert first["error"]["code"] == "nothing_to_undo"
    table.ask("stroke", pocketed=["white"])
    for number in range(1, 1000):
        table.ask("pause", transaction=f"t{number}")
    again = Table(policy(), (), table.store)
    assert again.ask("undo", transaction="t0") == first
    assert again.ask("pause", transaction="t999")["ok"] is True
    again.ask("resume", transaction="t1000")
    later = Table(policy(), (), again.store)
    assert later.ask("undo", transaction="t0")["ok"] is True, "the oldest is forgotten: this one is done"


def test_where_a_later_stroke_is_in_the_way_the_answer_names_it():
    table = Table(policy(), ())
    table.ask("new_match", position={"sides": {"A": {"pocketed": 1}}})
    for pocketed in (["white"], ["queen"], ["white"]):
        table.ask("stroke", pocketed=pocketed)
    error = table.ask("correct", stroke=1, pocketed=["queen", "white"])["error"]
    assert error["code"] == "later_stroke_impossible"
    assert error["stroke"] == 2
    assert error["message"]


def test_a_button_without_effect_is_remarked():
    inputs = (Button("undo", "board", DONE_1, "undo", (), 0, BUTTON),)
    table, board = Table(policy(), inputs), Board()
    outputs = table.hear(board.back(0), board.heartbeat(0.1), *board.press(1, 1))
    remarks = [output.remark for output in outputs if output.remark]
    assert remarks == ["a button had no effect: nothing has happened that could be taken back"]


def test_a_loss_that_the_board_told_is_acknowledged_and_not_told_again_after_a_restart():
    table, _ = playing()
    outputs = table.hear(EdgesLost("board", 5, ns(2), EdgeId(BOARD_BOOT, 41)))
    assert [output.acknowledge for output in outputs if output.acknowledge] == [("board", BOARD_BOOT, 42)]
    assert table.news.count("beam_fault") == 1
    again = Table(policy(), inputs_of(), table.store, at=3)
    assert again.recovered.progress["board"] == {BOARD_BOOT: 42}


@pytest.mark.parametrize(("count", "said"), [(1, "1 change was lost"), (2, "2 changes were lost")])
def test_a_loss_is_told_with_how_many(count: int, said: str):
    table, _ = playing()
    outputs = table.hear(EdgesLost("board", count, ns(2), EdgeId(BOARD_BOOT, 41)))
    (reason,) = (news["reason"] for output in outputs for news in output.news)
    assert reason.startswith(f"{said} before ")
    assert table.engine.loss_at("board", stamp(3)) == f"{said} lately: look whether the score is right"


def recovered_above(table: Table, floor: int) -> Table:
    """The same table on what is durable of it, after a loss of everything up to `floor`."""
    again = Table.__new__(Table)
    again.store, again.engine, again.outputs = table.store, Engine("t1", policy(), inputs_of()), []
    again.keep(again.engine.recover(replace(again.store.recover(), seq_floor=floor), stamp(0)))
    return again


def test_after_a_loss_an_empty_table_begins_above_what_was_given_out():
    table = Table.__new__(Table)
    table.store = Store.create_in_memory()
    table = recovered_above(table, 700)
    assert table.state.seq == 701
    assert table.ask("stroke", pocketed=["white"])["seq"] == 702
    assert recovered_above(table, 700).state == table.state


def test_after_a_loss_an_older_table_goes_on_above_it_and_nobody_acts_on_what_is_lost():
    table, _ = playing()
    assert table.ask("stroke", pocketed=["white"])["ok"]
    table = recovered_above(table, 700)
    assert table.state.seq == 700
    outputs = table.engine.request("undo", {}, stamp(1), transaction="a", expected_seq=650)
    assert outputs[-1].response is not None
    assert outputs[-1].response["error"]["code"] == "outdated", "whoever asked has seen something that is lost"
    assert table.ask("pause")["seq"] == 701
    again = recovered_above(table, 700)
    assert again.state == table.state, "the same after every later start"
    assert again.ask("undo")["ok"]


@pytest.mark.parametrize("later", [-0.02, 0.0, 0.0005, 0.03])
def test_a_pulse_with_a_restart_in_it_counts_however_the_clock_was_read_before_and_after(later):
    """A wire that was slow until then: the beginning was told late, its end is told in time."""
    table, board = playing()
    table.hear(board.edge(0, 1, 1.0))
    again = Table(policy(), inputs_of(), table.store, at=1.01)
    again.hear(board.back(1.1), board.edge(0, 0, 1.0 + later))
    assert "passage" in again.news
    again.hear(board.edge(0, 1, 3.0), board.edge(0, 0, 3.0005))
    assert again.news.count("passage") == 1, "later spikes are spikes"
