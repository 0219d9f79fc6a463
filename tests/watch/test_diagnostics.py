"""Diagnostics: every wire live for as long as somebody watches, and not a word longer."""

import asyncio
import json
from typing import Any

import pytest

from appliance.diagnostics import MOST_PER_S, Diagnostics
from appliance.events import Edge, Levels
from appliance.sensing.bank import Beam, Button
from appliance.sensing.debounce import BUTTON, CARROM_POCKET
from tests.support.ring1 import Document, Table, play

S = 1_000_000_000
MS = 1_000_000
NE = Beam("ne", "board", 0, "ne", ("white",), 1, CARROM_POCKET)
NW = Beam("nw", "board", 1, "nw", ("white",), 0, CARROM_POCKET)
DONE = Button("done-1", "board", 8, "done", (), 0, BUTTON)


def watched(seconds: float = 60) -> Diagnostics:
    found = Diagnostics()
    found.switch_on((NE, NW, DONE), seconds, 0)
    return found


def test_a_break_and_a_clear_with_their_times() -> None:
    found = watched()
    assert found.hear(Edge("board", 0, 1, 10 * MS), 10 * MS) == [
        {"beam": "ne", "what": "level", "active": True, "passage_id": None, "dwell_us": None, "gap_us": None}
    ]
    (clear,) = found.hear(Edge("board", 0, 0, 45 * MS), 45 * MS)
    assert (clear["what"], clear["active"], clear["dwell_us"]) == ("level", False, 35_000)
    (broken,) = found.hear(Edge("board", 0, 1, 145 * MS), 145 * MS)
    assert (broken["active"], broken["gap_us"]) == (True, 100_000)


def test_what_is_too_short_is_a_glitch_and_polarity_is_the_files() -> None:
    found = watched()
    (broken,) = found.hear(Edge("board", 1, 0, 10 * MS), 10 * MS)
    assert broken["active"] is True
    (clear,) = found.hear(Edge("board", 1, 1, 11 * MS), 11 * MS)
    assert (clear["what"], clear["dwell_us"]) == ("glitch", 1_000)
    (pressed,) = found.hear(Edge("board", 8, 0, 20 * MS), 20 * MS)
    assert (pressed["beam"], pressed["active"]) == ("done-1", True)


def test_a_passage_is_told_with_its_id() -> None:
    found = watched()
    found.hear(Edge("board", 0, 1, 10 * MS), 10 * MS)
    found.hear(Edge("board", 0, 0, 45 * MS), 45 * MS)
    (told,) = found.passed({"event": "passage", "beam": "ne", "passage_id": "p3"}, 50 * MS)
    assert (told["what"], told["passage_id"], told["dwell_us"]) == ("passage", "p3", 35_000)
    assert found.passed({"event": "beam_fault", "beam": "ne"}, 50 * MS) == []
    assert found.passed({"event": "passage", "beam": "other", "passage_id": "p4"}, 50 * MS) == []


def test_levels_are_told_once_a_second() -> None:
    found = watched()
    told = [len(found.hear(Levels("board", ((0, 0), (1, 1), (9, 1)), at), at)) for at in range(S, 4 * S, S // 4)]
    assert told == [2, 0, 0, 0] * 3


def test_nothing_is_told_before_after_or_once_it_is_switched_off() -> None:
    found = Diagnostics()
    edge = Edge("board", 0, 1, 10 * MS)
    assert found.hear(edge, 10 * MS) == []
    found.switch_on((NE,), 2, 0)
    assert found.hear(edge, 2 * S - 1) != []
    assert found.hear(Edge("board", 0, 0, 2 * S), 2 * S) == []
    found.switch_on((NE,), 5, 3 * S)
    found.switch_on((NE,), 0, 4 * S)
    assert found.hear(edge, 4 * S) == []


def test_a_storm_is_thinned_out_and_counted_and_the_others_are_told() -> None:
    found = watched()
    told = sum(len(found.hear(Edge("board", 0, n % 2, S + n * MS), S + n * MS)) for n in range(500))
    assert told == MOST_PER_S
    assert found.dropped == 500 - MOST_PER_S
    assert len(found.hear(Edge("board", 1, 0, S + 500 * MS), S + 500 * MS)) == 1
    assert len(found.hear(Edge("board", 0, 0, 2 * S), 2 * S)) == 1


def beams(table: Table) -> list[tuple[str, Document]]:
    return [(each.topic, each.content) for each in table.broker.log if each.topic.startswith("beam/")]


def test_a_table_tells_its_beams_while_it_was_asked_to() -> None:
    async def main() -> None:
        async with Table() as table:
            await table.pass_object("ne")
            assert beams(table) == []
            answer = await table.request({"command": "diagnostics", "seconds": 20})
            assert answer["ok"] is True
            await table.pass_object("nw", dwell_ms=30)
            await table.run_for(1.5)
            heard = beams(table)
            assert all(topic == f"beam/{content['beam']}" for topic, content in heard)
            of_nw = [content for topic, content in heard if topic == "beam/nw"]
            assert [(c["what"], c["active"]) for c in of_nw][:3] == [
                ("level", True),
                ("level", False),
                ("passage", False),
            ]
            assert (of_nw[2]["passage_id"], of_nw[2]["dwell_us"]) == ("p2", 30_000)
            assert {content["beam"] for _, content in heard} == {"ne", "nw", "se", "sw", "strike"}
            await table.run_for(20)
            before = len(beams(table))
            await table.pass_object("se")
            await table.run_for(5)
            assert len(beams(table)) == before

    play(main())


def test_it_is_about_the_wires_and_changes_nothing_in_the_game() -> None:
    async def main() -> None:
        async with Table() as table:
            before = table.state["seq"]
            await table.request({"command": "diagnostics"})
            assert table.state["seq"] == before
            assert "requested" not in json.dumps(table.events())
            refused = await table.request({"command": "diagnostics", "seconds": 601})
            assert refused["error"]["code"] == "malformed"

    play(main())


@pytest.mark.parametrize("waiting", [100, 101])
def test_diagnostics_give_way_to_what_waits_for_a_slow_broker(waiting: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> tuple[int, Any]:
        async with Table() as table:
            await table.request({"command": "diagnostics"})
            monkeypatch.setattr(table.port, "counters", lambda: {"queued": waiting})
            before = len(beams(table))
            await table.pass_object("ne")
            await asyncio.sleep(0.1)
            return len(beams(table)) - before, table.daemon._diagnostics.dropped

    told, dropped = play(main())
    assert (told > 0) is (waiting <= 100)
    assert (dropped > 0) is (waiting > 100)
