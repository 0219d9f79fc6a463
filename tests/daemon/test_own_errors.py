"""An error in the program itself: what it did not understand is kept and told, and costs nothing else.

The errors are put in from outside, at the two places where an input gets its meaning. A board must not be told
that an edge is safe which was not taken, and must not tell one again for ever which cannot be.
"""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from appliance import engine
from appliance.events import Edge, SourceInput
from appliance.sensing.bank import SensorBank
from appliance.table.decide import decide
from appliance.table.inputs import ClockPassed, Passed, Request, TableInput
from sim.layout import SOURCE
from tests.support.ring1 import PROGRAM_ERROR, Table, play

pytestmark = pytest.mark.usefixtures("_quiet")


@pytest.fixture
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "appliance.daemon")


def stumbling(monkeypatch: pytest.MonkeyPatch, over: Callable[[TableInput], bool]) -> None:
    """Have the table's decisions fail over some inputs."""

    def failing(state: Any, given: TableInput, policy: Any) -> Any:
        if over(given):
            raise KeyError("ne")
        return decide(state, given, policy)

    monkeypatch.setattr(engine, "decide", failing)


def not_sensing(monkeypatch: pytest.MonkeyPatch, over: Callable[[SourceInput], bool]) -> None:
    """Have the lines fail over some of what a source delivers."""
    feed = SensorBank.feed

    def failing(self: SensorBank, item: SourceInput) -> Any:
        if over(item):
            raise ZeroDivisionError("division by zero")
        return feed(self, item)

    monkeypatch.setattr(SensorBank, "feed", failing)


def edges_kept(table: Table) -> list[tuple[int, int]]:
    """The durable edges: channel and level."""
    found = table.disk.store.connection.execute("SELECT channel, level FROM source_row WHERE what IS NULL ORDER BY row")
    return [(channel, level) for channel, level in found]


def complaints(table: Table) -> list[str]:
    return [str(e["reason"]) for e in table.events("beam_fault") if PROGRAM_ERROR in str(e["reason"])]


async def passes_well(table: Table, place: str) -> None:
    await table.pass_object(place, object="white")
    await table.until(lambda: [event for event in table.events("passage") if event["place"] == place])


@pytest.mark.parametrize("where", ["the table", "the lines"])
@pytest.mark.parametrize("sync_s", [0.0, 0.05])
def test_an_edge_that_was_not_understood_is_kept_and_told_and_only_then_acknowledged(
    monkeypatch: pytest.MonkeyPatch, where: str, sync_s: float
) -> None:
    async def main() -> None:
        async with Table(sync_s=sync_s) as table:
            table.broker.lets_the_program_err = True
            ne = table.layout.beam_at("ne").channel
            if where == "the table":
                stumbling(monkeypatch, lambda given: isinstance(given, Passed) and given.place == "ne")
            else:
                not_sensing(monkeypatch, lambda item: isinstance(item, Edge) and (item.channel, item.level) == (ne, 0))
            # Both together, so that what comes behind the edge is in the same delivery.
            table.cable.wire.to_host.pause()
            await table.pass_object("ne")
            await table.pass_object("sw", object="white")
            table.cable.wire.to_host.resume()
            table.cable.flush()
            await table.until(lambda: table.events("passage") and not table.cable.mcu.kept)
            assert table.events("passage")[0]["place"] == "sw"
            sw = table.layout.beam_at("sw").channel
            assert edges_kept(table)[:4] == [(ne, 1), (ne, 0), (sw, 1), (sw, 0)]
            (complaint,) = complaints(table)
            assert "look whether the score is right" in complaint
            await table.until(lambda: "lost lately" in str(table.health["sources"][SOURCE]["reason"]))
            # A start on the same edges plays on too.
            await table.restart()
            await table.until(lambda: table.daemon.is_connected(SOURCE))
            await passes_well(table, "se")
            assert table.daemon.standing_still(table.daemon.clock.monotonic_ns()) is None

    play(main())


def test_a_stroke_that_cannot_be_closed_holds_nothing_else_up_and_can_be_taken_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def main() -> None:
        async with Table() as table:
            table.broker.lets_the_program_err = True
            await passes_well(table, "ne")
            with monkeypatch.context() as patch:
                stumbling(patch, lambda given: isinstance(given, ClockPassed))
                await table.run_for(30)
                assert len(complaints(table)) == 1, "it comes with every heartbeat, and is told once a minute"
                await passes_well(table, "sw")
                assert len(table.state["stroke"]["fallen"]) == 2
                await table.run_for(60)
                assert len(complaints(table)) == 2
            assert (await table.request({"command": "undo"}))["ok"]
            assert table.state["stroke"] is None

    play(main())


def test_a_request_that_was_not_understood_changes_nothing_and_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with Table() as table:
            await table.request({"command": "stroke", "pocketed": ["white"]})
            before = table.state["seq"], table.state["rules"]
            with monkeypatch.context() as patch:
                stumbling(patch, lambda given: isinstance(given, Request))
                table.broker.lets_the_program_err = True
                answer = await table.request({"command": "undo"}, "u1")
            assert answer["error"]["code"] == "malformed"
            assert PROGRAM_ERROR in answer["error"]["message"]
            assert (table.state["seq"], table.state["rules"]) == before
            again = await table.request({"command": "undo"}, "u1")
            assert again == answer, "repeated it gets its first answer"
            assert (await table.request({"command": "undo"}))["ok"]

    play(main())


def test_it_is_logged_with_where_it_happened(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with Table() as table:
            table.broker.lets_the_program_err = True
            stumbling(monkeypatch, lambda given: isinstance(given, Passed))
            caplog.set_level(logging.ERROR, "appliance.daemon")
            await table.pass_object("ne")
            await table.until(lambda: complaints(table))

    play(main())
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert PROGRAM_ERROR in record.message
    assert record.exc_info
    assert record.exc_info[0] is KeyError
