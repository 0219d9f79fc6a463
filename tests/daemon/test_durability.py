"""What is published and acknowledged is durable; what is durable is there again after any crash.

`tests/support/ring1.py` checks with every message and every acknowledgement that it is durable. Here the disk
is made slow, stuck and unwilling, and the daemon is killed at one batch after the other.
"""

import asyncio
import json
from typing import Any

import pytest

from appliance import rules
from sim.players import simulate
from tests.support.ring1 import Document, Table, in_no_order, plain, play

PARTS = {"source_back", "source_lost", "beam_fault", "beam_well", "journal_unsafe", "journal_safe"}


def test_nothing_comes_out_while_the_disk_holds_back_and_everything_after() -> None:
    async def main() -> None:
        async with Table() as table:
            known = table.state
            table.disk.stall()
            said = len(table.broker.log)
            await table.pass_object("ne", object="white")
            table.say(json.dumps({"command": "pause", "transaction": "p"}))
            table.say("this is no request")
            await table.run_for(4)
            later = table.broker.log[said:]
            assert {published.topic for published in later} == {"health"}
            assert [health.content["seq"] for health in later] == [known["seq"]]
            assert later[0].content["journal"]["queue"] > 0
            assert table.cable.mcu.kept == 3
            assert table.state == known

            table.disk.go_on()
            await table.run_for(0.1)
            assert table.cable.mcu.kept == 0
            assert table.state["paused"] is True
            assert table.state["stroke"]["fallen"][0]["object"] == "white"
            outcomes = [(answer["transaction"], answer["ok"]) for answer in table.told("response")]
            assert outcomes == [("p", True), (None, False)]

    play(main())


def test_a_stall_of_the_disk_keeps_order_and_times() -> None:
    """The same script with and without syncs of 800 ms: the same events with the same numbers, in one order."""

    async def main(sync_s: float) -> list[Document]:
        async with Table("money_carrom", sync_s=sync_s) as table:
            await table.play(simulate("money_carrom", ("Asha", "Ben"), seed=4))
            return [plain(event) for event in table.events() if event["event"] not in PARTS]

    swift, slow = play(main(0.0)), play(main(0.8))
    assert slow == swift
    assert [event["seq"] for event in slow] == sorted(event["seq"] for event in slow)


def test_passages_during_a_stall_keep_the_moments_at_which_they_fell() -> None:
    async def main() -> list[int]:
        async with Table() as table:
            await table.strike()
            began_ns = asyncio.get_running_loop().now_ns()  # type: ignore[attr-defined]
            table.disk.stall()
            for place in ("ne", "sw", "ne"):
                await table.pass_object(place)
                await table.run_for(0.2)
            await table.run_for(0.8)
            table.disk.go_on()
            await table.run_for(0.05)
            stroke = table.daemon.engine.state.stroke
            assert stroke is not None
            assert [fallen["place"] for fallen in table.state["stroke"]["fallen"]] == ["ne", "sw", "ne"]
            return [fallen.started_ns - began_ns for fallen in stroke.fallen]

    starts_ns = play(main())
    for told_ns, fell_ms in zip(starts_ns, (0, 235, 470), strict=True):
        assert abs(told_ns / 1e6 - fell_ms) < 1


@pytest.mark.parametrize("sync_s", [0.0, 0.005])
@pytest.mark.parametrize("game", rules.GAMES)
def test_killed_again_and_again_it_goes_on_with_the_same_ids_and_numbers(game: str, sync_s: float) -> None:
    """Killed at every n-th batch: the table's own events and its end are those of a daemon that lived on."""
    options = {"club_carrom": {"cc.target": 4}, "money_carrom": {"mc.end": "first_to_6"}}.get(game, {})
    match = simulate(game, ("Asha", "Ben"), seed=5, options=options)

    async def main(every: int | None) -> tuple[Table, dict[str, Document], Document]:
        async with Table(game, options=options, sync_s=sync_s) as table:
            died_with: list[object] = [None]

            def kill_at_every_nth(number: int) -> None:
                # Not again before something more is durable: else it would die for ever at the same place.
                durable = (table.disk.seq, table.disk.progress)
                if every is not None and number % every == 0 and durable != died_with[0]:
                    died_with[0] = durable
                    table.restart_soon()

            table.disk.on_batch = kill_at_every_nth
            await table.play(match)
            table.disk.on_batch = lambda number: None
            await table.run_for(1)
            told: dict[str, Document] = {}
            for event in table.events():
                if event["event"] in PARTS:
                    continue
                # What is told a second time after a crash is told in the same words.
                assert told.setdefault(event["event_id"], plain(event)) == plain(event)
            return table, told, {key: value for key, value in table.state.items() if key not in ("at",)}

    lived, events, end = play(main(None))
    assert lived.restarts == 0
    for every in (1, 2, 7):
        table, told, state = play(main(every))
        assert table.restarts > 5
        assert state == end
        assert state["rules"] == rules.document(match.final)
        assert {key: events[key] for key in told} == told
        assert [in_no_order(line) for line in table.lines] == [in_no_order(line) for line in lived.lines]


def test_a_request_answered_before_a_crash_gets_the_same_answer_after_it() -> None:
    async def main() -> None:
        async with Table() as table:
            first = await table.request({"command": "stroke", "pocketed": ["white"]}, "once")
            await table.restart()
            again = await table.request({"command": "stroke", "pocketed": ["white"]}, "once")
            assert again["seq"] == first["seq"]
            assert table.state["rules"]["sides"]["A"]["pocketed"] == 1

    play(main())


def test_what_the_disk_never_got_was_never_there() -> None:
    """A crash before the sync: the board still has the passage, and tells it to the next daemon."""

    async def main() -> None:
        async with Table() as table:
            await table.strike()
            await table.run_for(0.5)
            table.disk.stall()
            await table.pass_object("se", object="black")
            await table.run_for(0.3)
            assert table.state["stroke"]["fallen"] == []
            table.kill()
            table.disk.go_on()
            await table.start()
            await table.run_for(1)
            assert [fallen["object"] for fallen in table.state["stroke"]["fallen"]] == ["black"]
            assert table.cable.mcu.kept == 0

    play(main())


def test_an_open_stroke_and_its_question_come_back_with_their_ids() -> None:
    async def main() -> None:
        async with Table(unknown_object="ask") as table:
            await table.strike()
            await table.pass_object("ne")
            await table.run_for(8)
            await table.strike()
            await table.pass_object("sw")
            await table.run_for(1)
            before = table.state
            assert len(before["questions"]) == 1
            assert len(before["stroke"]["fallen"]) == 1
            await table.restart()
            await table.run_for(0.5)
            assert plain(table.state) == plain(before)
            question = before["questions"][0]
            answer = await table.request({"command": "answer", "question": question["id"], "value": "white"})
            assert answer["ok"] is True
            assert table.state["rules"]["sides"]["A"]["pocketed"] == 1
            assert table.state["seq"] == before["seq"] + 1

    play(main())


def test_a_reboot_of_the_host_starts_the_quiet_time_anew_and_keeps_the_rest() -> None:
    async def main() -> None:
        async with Table() as table:
            await table.strike()
            await table.pass_object("ne", object="white")
            await table.run_for(4)
            before = table.state
            table.broker.retained.clear()
            await table.restart("virtual-boot-2")
            await table.run_for(4)
            assert table.state["stroke"] == before["stroke"]
            assert json.loads(table.broker.retained["info"])["game"] == "club_carrom"
            await table.run_for(4)
            assert table.state["stroke"] is None
            assert table.state["rules"]["sides"]["A"]["pocketed"] == 1

    play(main())


class TestAJournalThatCannotWrite:
    """The score goes on, is shown and marked; the board keeps what it told."""

    def test_is_told_and_the_score_goes_on_unacknowledged(self) -> None:
        async def main() -> None:
            async with Table() as table:
                table.disk.refuse("the disk is full")
                await table.strike()
                await table.pass_object("ne", object="white")
                await table.run_for(8)
                assert table.state["rules"]["sides"]["A"]["pocketed"] == 1
                assert table.health["journal"]["safe"] is False
                assert table.health["journal"]["reason"] == "the disk is full"
                (unsafe,) = table.events("journal_unsafe")
                assert unsafe["reason"] == "the disk is full"
                assert table.cable.mcu.kept == 5

                table.disk.go_on()
                await table.run_for(0.1)
                assert table.cable.mcu.kept == 0
                assert table.health["journal"]["safe"] is True
                assert len(table.events("journal_safe")) == 1

        play(main())

    def test_tells_each_thing_once(self) -> None:
        async def main() -> None:
            async with Table() as table:
                table.disk.refuse("the card is read-only")
                await table.strike()
                await table.pass_object("ne", object="white")
                answer = await table.request({"command": "end_stroke"})
                assert answer["ok"] is True
                table.disk.go_on()
                await table.run_for(1)
                ids = [event["event_id"] for event in table.events()]
                assert len(ids) == len(set(ids))
                assert len(table.told("response")) == 1

        play(main())

    def test_forgets_what_it_could_not_write_and_hears_it_again_from_the_board(self) -> None:
        async def main() -> None:
            async with Table() as table:
                table.disk.refuse("the card is read-only")
                await table.strike()
                await table.pass_object("ne", object="white")
                await table.run_for(0.5)
                shown: Any = table.state["stroke"]
                table.kill()
                table.disk.go_on()
                await table.start()
                await table.run_for(1)
                assert table.state["stroke"] == shown
                assert table.cable.mcu.kept == 0

        play(main())
