"""Pulled cables, other boards, hosts that stall, brokers that go, disks that hang: a whole table in virtual time.

What the players did is the measure: nothing of it is lost, nothing is there twice, and nothing else is there.
"""

import asyncio
import json
import random
from collections.abc import Callable, Coroutine
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from appliance import rules
from appliance.daemon import BOARD_KEEPS
from appliance.link.messages import Ack, Config, Hello, HostHeartbeat, Nak, Output
from appliance.mqtt.outbox import ANSWER_LIMIT, QUEUE_LIMIT
from sim.layout import SOURCE
from sim.mcu import DEFAULT_RING, HEARTBEAT_PERIOD_US, Mcu
from sim.players import SimulatedMatch, simulate, truth_lines
from tests.support.ring1 import BOOT_ID, Document, Table, in_no_order, plain, play

PULLS = 1_000
SHORT = {"club_carrom": {"cc.target": 4}, "money_carrom": {"mc.end": "first_to_6"}}
RIGHT_AGAIN_S = 3.0


def short_match(game: str, seed: int) -> tuple[SimulatedMatch, Document]:
    options: Document = SHORT.get(game, {})
    return simulate(game, ("Asha", "Ben"), seed, options=options), options


def assert_true(table: Table, match: SimulatedMatch) -> None:
    """The score, and every stroke behind it, is what the players did."""
    assert table.state["rules"] == rules.document(match.final)
    assert table.state["stroke"] is None
    truth = [json.loads(line) for line in truth_lines(match)]
    assert [in_no_order(line) for line in table.lines[1:]] == [in_no_order(line) for line in truth[1:]]


async def meanwhile(trouble: Callable[[], Coroutine[Any, Any, None]], main: Coroutine[Any, Any, None]) -> int:
    """Make trouble again and again while something goes on; how often."""
    over, count = False, 0

    async def troubles() -> None:
        nonlocal count
        while not over:
            await trouble()
            count += 1

    troubling = asyncio.create_task(troubles())
    await main
    over = True
    await troubling
    return count


def passages(table: Table) -> int:
    """How many the beams have seen, whatever the rules made of them."""
    lines = table.daemon.engine.bank.lines
    return sum(lines[beam].debouncer.counters.passages for beam in ("ne", "nw", "se", "sw"))


def host_of(table: Table) -> Any:
    assert table.cable.host is not None
    return table.cable.host


class TestTheCable:
    """It is pulled and put back."""

    def test_a_thousand_times_at_any_moment(self) -> None:
        """Matches one after the other until it is enough; each score is that of the players."""
        choose = random.Random(1000)
        done, slowest_s, seed = 0, 0.0, 0

        async def main(match: SimulatedMatch, options: Document) -> int:
            nonlocal slowest_s

            async with Table(match.game, match.players, options=options, seed=seed, sync_s=0.004) as table:

                async def pull() -> None:
                    nonlocal slowest_s
                    await asyncio.sleep(choose.choice((0.0, 0.01, 0.1, 0.5)) * choose.random())
                    host = host_of(table)
                    host.unplug()
                    await asyncio.sleep(choose.choice((0.0, 0.02, 0.2, 1.5)) * choose.random())
                    host.start()
                    began_s = asyncio.get_running_loop().time()
                    await table.until(lambda: table.daemon.is_connected(SOURCE))
                    slowest_s = max(slowest_s, asyncio.get_running_loop().time() - began_s)

                count = await meanwhile(pull, table.play(match))
                assert_true(table, match)
                assert table.cable.mcu.counters.lost == 0
                assert table.unforeseen("source_lost") == []
                return count

        while done < PULLS:
            done += play(main(*short_match(rules.GAMES[seed % 4], seed)))
            seed += 1
        assert slowest_s <= 1.0

    def test_what_fell_while_it_was_out_has_its_own_time_and_its_place_in_the_order(self) -> None:
        async def main() -> None:
            async with Table() as table:
                await table.strike()
                host = host_of(table)
                host.unplug()
                began_ns = asyncio.get_running_loop().now_ns()  # type: ignore[attr-defined]
                for place in ("ne", "sw", "se"):
                    await table.pass_object(place)
                    await table.run_for(1.965)
                assert table.health["sources"][SOURCE]["state"] == "lost"
                host.start()
                await table.run_for(1)
                stroke = table.daemon.engine.state.stroke
                assert stroke is not None
                fell_ms = [(fallen.started_ns - began_ns) / 1e6 for fallen in stroke.fallen]
                assert [round(ms / 10) for ms in fell_ms] == [0, 200, 400]
                assert [fallen["place"] for fallen in table.state["stroke"]["fallen"]] == ["ne", "sw", "se"]

        play(main())

    def test_a_board_with_more_to_tell_than_it_can_keep_says_how_much_is_lost(self) -> None:
        """FR-070. Nothing is made up for what was lost, and what the beams are now is right."""

        async def main() -> None:
            async with Table() as table:
                await table.strike()
                host = host_of(table)
                host.unplug()
                for number in range(100):
                    await table.pass_object(("ne", "sw", "nw", "se")[number % 4], dwell_ms=20)
                    await table.run_for(0.5)
                host.start()
                await table.run_for(2)
                (told,) = (event for event in table.events("beam_fault") if event.get("source") == SOURCE)
                lost = table.cable.mcu.counters.lost
                assert lost == 200 - DEFAULT_RING
                assert str(lost) in told["reason"]
                assert passages(table) == DEFAULT_RING // 2
                await table.pass_object("ne", dwell_ms=20)
                await table.run_for(6)
                assert passages(table) == DEFAULT_RING // 2 + 1

        play(main())

    def test_a_board_that_hangs_is_told_within_three_seconds_and_nothing_is_lost(self) -> None:
        """FR-068."""

        async def main() -> None:
            async with Table() as table:
                await table.strike()
                table.cable.wire.to_host.pause()
                await table.pass_object("ne", object="white")
                await table.run_for(3.5)
                (lost,) = table.events("source_lost")
                assert "fallen silent" in lost["reason"]
                assert table.health["sources"][SOURCE]["state"] == "lost"
                table.cable.wire.resume()
                await table.run_for(0.5)
                assert [fallen["object"] for fallen in table.state["stroke"]["fallen"]] == ["white"]
                assert table.health["sources"][SOURCE]["state"] == "ok"

        play(main())


class Elsewhere(Mcu):
    """A board with another firmware."""

    def _hello(self, now_us: int) -> Hello:
        return replace(super()._hello(now_us), firmware=(9, 8, 7))


class TestAnotherBoard:
    """The board is changed for another one."""

    def test_in_the_middle_of_a_match(self) -> None:
        """Between two passages of one stroke, at each moment of rest: no stroke knows of it."""
        match, options = short_match("club_carrom", 3)
        choose = random.Random(5)

        async def main() -> None:
            async with Table(match.game, match.players, options=options, sync_s=0.004) as table:
                boot_id = BOOT_ID

                async def swap() -> None:
                    nonlocal boot_id
                    await asyncio.sleep(choose.uniform(3, 12))
                    await table.until(lambda: table.is_settled)
                    boot_id = choose.randrange(1 << 32)
                    board = Elsewhere(24, boot_id, table.cable.now_us(), levels=table.cable.levels)
                    table.cable.swap(board)
                    await table.until(lambda: table.daemon.is_connected(SOURCE), 2)

                assert await meanwhile(swap, table.play(match)) >= 10
                assert_true(table, match)
                hello = host_of(table)._session.hello
                assert (hello.firmware, hello.boot_id) == ((9, 8, 7), boot_id)

        play(main())

    def test_and_back_again_with_what_it_had_told_already(self) -> None:
        """The first board never heard that its passage is safe, and tells it again."""

        async def main() -> None:
            async with Table() as table:
                first = table.cable.mcu
                await table.strike()
                await table.run_for(0.5)
                table.cable.wire.to_board.pause()
                await table.pass_object("ne", object="white")
                await table.run_for(0.4)
                assert first.kept == 3
                table.cable.wire.resume()
                table.cable.swap(Mcu(24, 7, table.cable.now_us(), levels=table.cable.levels))
                await table.run_for(2)
                table.cable.swap(first)
                await table.run_for(2)
                assert first.kept == 0
                assert [fallen["object"] for fallen in table.state["stroke"]["fallen"]] == ["white"]

        play(main())


class TestARestart:
    """The daemon begins anew, and with it what it knows of the beams."""

    def test_with_a_board_that_has_begun_anew_too_sees_a_strike_at_once(self) -> None:
        """What is read again begins in the middle: with the end of a strike whose beginning lies before it."""

        async def main() -> None:
            async with Table() as table:
                for _ in range(3):
                    await table.strike()
                    await table.pass_object("ne", object="white")
                    await table.run_for(2)
                await table.until(lambda: table.state["stroke"] is None)
                await table.run_for(5)
                judged = len(table.lines)
                table.cable.reset()
                await table.run_for(1)
                await table.restart()
                await table.run_for(0.3)
                await table.strike()
                await table.run_for(0.1)
                assert table.state["stroke"] is not None
                assert len(table.lines) == judged
                assert table.events("beam_fault", "beam_well") == []

        play(main())


class TestAHostThatStalls:
    """The bytes wait in the port, and come all at once."""

    @pytest.mark.parametrize("game", rules.GAMES)
    def test_now_and_again_through_a_match(self, game: str) -> None:
        match, options = short_match(game, 8)
        choose = random.Random(9)

        async def main() -> None:
            async with Table(game, match.players, options=options, sync_s=0.004) as table:

                async def stall() -> None:
                    await asyncio.sleep(choose.uniform(0, 2))
                    table.cable.wire.pause()
                    await asyncio.sleep(choose.uniform(0, 2))
                    table.cable.wire.resume()
                    table.cable.flush()

                assert await meanwhile(stall, table.play(match)) > 20
                assert_true(table, match)
                assert table.events("source_lost") == []

        play(main())


class TestAnInjectedStallOfTheDisk:
    """Each sync takes 800 ms."""

    def test_heartbeats_go_on_both_ways_and_edges_keep_their_times(self) -> None:
        async def main() -> None:
            async with Table(sync_s=0.8) as table:
                heard: list[tuple[int, str]] = []
                told: list[int] = []
                obey = table.cable.mcu._obey

                def noted(message: Ack | HostHeartbeat | Nak | Config | Output, now_us: int) -> None:
                    heard.append((now_us, type(message).__name__))
                    obey(message, now_us)

                table.cable.mcu._obey = noted  # type: ignore[method-assign]
                for _ in range(12):
                    await table.strike()
                    for place in ("ne", "sw"):
                        began_ns = asyncio.get_running_loop().now_ns()  # type: ignore[attr-defined]
                        await table.pass_object(place, object="white" if place == "ne" else "black")
                        await table.until(lambda: len(table.daemon.engine.state.stroke.fallen) > 0)  # type: ignore[union-attr]
                        told.append(table.daemon.engine.state.stroke.fallen[-1].started_ns - began_ns)  # type: ignore[union-attr]
                    await table.run_for(1.5)
                assert all(abs(late_ns) < 1_000_000 for late_ns in told)
                beats = [at_us for at_us, kind in heard if kind == "HostHeartbeat"]
                assert max(later - earlier for earlier, later in pairwise(beats)) <= 1_000_000
                reached_ns = table.daemon.engine._reached_ns[SOURCE]
                assert asyncio.get_running_loop().now_ns() - reached_ns <= 1_000 * HEARTBEAT_PERIOD_US  # type: ignore[attr-defined]
                assert table.events("source_lost") == []
                times_s = [published.at_s for published in table.broker.log if published.topic == "health"]
                assert max(later - earlier for earlier, later in pairwise(times_s)) <= 5.1

        play(main())


class TestADiskThatStaysBad:
    """Long enough that a board's memory is full many times."""

    def test_a_whole_match_on_a_full_disk_is_scored_by_the_beams_and_written_afterwards(self) -> None:
        options: Document = {"cc.target": 9}
        match = simulate("club_carrom", ("Asha", "Ben"), 1, options=options)

        async def main() -> None:
            async with Table(match.game, match.players, options=options) as table:
                table.disk.refuse("the disk is full")
                playing = asyncio.create_task(table.play(match))
                # The umpire does not wait for what never comes: he sees it on the display.
                table.cable.acknowledged = lambda: asyncio.sleep(0.3)  # type: ignore[method-assign]
                await playing
                assert host_of(table)._session.delivered[1] > DEFAULT_RING + BOARD_KEEPS
                assert table.state["rules"] == rules.document(match.final)
                assert table.health["journal"]["safe"] is False
                assert table.cable.mcu.counters.lost == 0
                assert table.cable.mcu.kept == BOARD_KEEPS
                assert table.disk.seq == 1
                assert not table.daemon._waiting
                table.disk.go_on()
                await table.run_for(1)
                assert table.cable.mcu.kept == 0
                assert len(table.daemon._owed) == 0
                await table.restart()
                await table.run_for(1)
                assert_true(table, match)

        play(main())

    def test_a_power_cut_meanwhile_is_a_loss_that_is_told(self) -> None:
        async def main() -> None:
            async with Table() as table:
                await table.strike()
                await table.run_for(1)
                table.disk.refuse("the disk is full")
                for number in range(40):
                    await table.strike()
                    await table.pass_object(("ne", "sw", "nw", "se")[number % 4], dwell_ms=20, object="white")
                    await table.run_for(1)
                assert table.cable.mcu.kept == BOARD_KEEPS
                table.kill()
                table.disk.go_on()
                await table.start()
                await table.run_for(1)
                (told,) = (event for event in table.events("beam_fault") if event.get("source") == SOURCE)
                assert told["reason"].startswith(f"{40 * 5 - BOARD_KEEPS} changes were lost")

        play(main())

    def test_one_that_hangs_for_ten_seconds_is_one_that_refuses(self) -> None:
        async def main() -> None:
            async with Table(sync_s=0.004) as table:
                await table.run_for(1)
                table.disk.stall()
                await table.strike()
                await table.pass_object("ne", object="white")
                await table.run_for(8)
                assert table.state["stroke"] is None, "nothing is shown before it is safe, or known not to be"
                await table.run_for(8)
                assert table.health["journal"]["safe"] is False
                assert table.health["journal"]["reason"] == "the disk has taken nothing for 10 s"
                assert table.state["rules"]["sides"]["A"]["pocketed"] == 1
                (unsafe,) = table.events("journal_unsafe")
                assert unsafe["reason"] == table.health["journal"]["reason"]
                table.disk.go_on()
                await table.run_for(2)
                assert table.health["journal"]["safe"] is True
                assert len(table.events("journal_safe")) == 1
                assert table.cable.mcu.kept == 0

        play(main())

    def test_what_is_told_of_it_never_has_an_id_twice(self) -> None:
        async def main() -> None:
            async with Table(sync_s=0.004) as table:
                await table.run_for(1)
                for run in range(3):
                    for time in range(2):
                        table.disk.refuse("the card is read-only")
                        table.say(json.dumps({"command": "sync", "transaction": f"{run}.{time}"}))
                        await table.until(lambda: not table.health["journal"]["safe"])
                        table.disk.go_on()
                        await table.until(lambda: table.health["journal"]["safe"])
                    await table.restart()
                    await table.run_for(1)
                news = table.events("journal_unsafe", "journal_safe")
                assert len(news) == 12
                assert len({event["seq"] for event in news}) == 1
                assert len({event["event_id"] for event in news}) == len(news)

        play(main())


class TestTheBroker:
    """It goes and comes back, with or without what it retained."""

    @pytest.mark.parametrize("forgets", [False, True])
    def test_absent_at_the_start_and_gone_for_an_evening(self, forgets: bool) -> None:
        async def main() -> None:
            async with Table("new_carrom", sync_s=0.004) as table:
                table.broker.leave(forgets=forgets)
                await table.restart()
                for _ in range(4):
                    await table.run_for(1800)
                    await table.strike()
                    for _ in range(100):
                        table.say('{"command": "stroke", "pocketed": ["striker"]}')
                        table.say('{"command": "undo"}')
                        await table.run_for(0.01)
                    assert table.port.counters()["queued"] <= QUEUE_LIMIT + ANSWER_LIMIT
                counters = table.port.counters()
                assert counters["dropped"] > 0
                await table.strike()
                await table.run_for(1)
                before = len(table.broker.log)
                table.broker.come_back()
                await table.run_for(0.1)
                assert table.state["seq"] == table.daemon.engine.state.seq
                assert table.state["stroke"] is not None
                values = [each.topic for each in table.broker.log[before:] if each.topic == "state"]
                assert len(values) == 1, "the newest value, not the backlog"
                assert {"state", "info", "health", "line"} <= set(table.broker.retained)
                await table.run_for(6)
                assert table.health["broker"]["connected"] is True
                assert table.health["broker"]["counters"]["dropped"] == counters["dropped"]
                assert table.health["broker"]["counters"]["queued"] == 0

        play(main())

    def test_flaps_through_a_match_and_every_event_is_heard(self) -> None:
        match, options = short_match("club_carrom", 12)
        choose = random.Random(2)

        async def main(flaps: bool) -> list[Document]:
            async with Table(match.game, match.players, options=options, sync_s=0.004) as table:

                async def flap() -> None:
                    await asyncio.sleep(choose.uniform(0.1, 4))
                    table.broker.leave(forgets=choose.random() < 0.5)
                    await asyncio.sleep(choose.uniform(0, 1.5))
                    table.broker.come_back()
                    assert table.state["seq"] <= table.disk.seq

                if flaps:
                    assert await meanwhile(flap, table.play(match)) > 50
                else:
                    await table.play(match)
                assert_true(table, match)
                assert table.port.counters()["dropped"] == 0
                heard = [plain(event) for event in table.events()]
                return [event for event in heard if ".parts." not in event["event_id"]]

        assert play(main(flaps=True)) == play(main(flaps=False))


HOSTILE = (
    b"",
    b"\x00\xff\xfe",
    b"[]",
    b"null",
    b'{"command": 7}',
    b'{"command": "stroke", "pocketed": "white"}',
    b'{"command": "stroke", "pocketed": ["white"], "player": 99}',
    b'{"command": "stroke", "pocketed": ["moon"]}',
    b'{"command": "recount", "position": {"sides": {"A": {"pocketed": -1}}}}',
    b'{"command": "recount", "position": {"turn": 1e999}}',
    b'{"command": "players", "names": ["\\u0000", "B"]}',
    b'{"command": "correct", "stroke": 1e300}',
    b'{"command": "new_match"}',
    b'{"command": "answer", "value": true}',
    b'{"command": "undo", "expected_seq": -1}',
    b'{"command": "undo", "transaction": ' + b"[" * 3_000 + b"]" * 3_000 + b"}",
    b'{"command": "pause", "note": "' + b"x" * 17_000 + b'"}',
)


class TestRequests:
    """Carried out never, or once."""

    def test_repeated_retained_late_and_hostile_ones(self) -> None:
        """Every request comes up to three times, is also retained, and the daemon dies in between."""
        choose = random.Random(77)

        async def main() -> None:
            async with Table(sync_s=0.004, unknown_object="ask") as table:
                await table.request({"command": "stroke", "pocketed": ["white"]}, "first")
                asked = [f"r{number}" for number in range(120)]
                for number, transaction in enumerate(asked):
                    command = "pause" if number % 2 == 0 else "resume"
                    payload = json.dumps({"command": command, "transaction": transaction})
                    for _ in range(choose.randint(1, 3)):
                        table.say(payload)
                        table.say(payload, retained=True)
                        if choose.random() < 0.2:
                            await table.restart()
                        await table.run_for(choose.choice((0.0, 0.002, 0.5)))
                    # One that died with the daemon before it was safe was never answered: who asked asks again.
                    await table.request({"command": command}, transaction)
                    for old in choose.sample(asked[: number + 1], min(3, number + 1)):
                        table.say(json.dumps({"command": "abandon", "transaction": old}))
                    table.say(choose.choice(HOSTILE).decode("latin-1"))
                await table.run_for(3600)
                for transaction in ("first", *asked[:20]):
                    table.say(json.dumps({"command": "abandon", "transaction": transaction}))
                await table.run_for(1)
                names = [event["event"] for event in table.events("paused", "resumed", "match_abandoned")]
                ids = {event["event_id"] for event in table.events("paused", "resumed")}
                assert "match_abandoned" not in names
                assert len(ids) == 120
                assert table.state["seq"] == 2 + 120
                answers = [answer for answer in table.told("response") if answer["transaction"] in asked]
                assert all(answer["ok"] for answer in answers)
                by_transaction = {(answer["transaction"], answer["seq"]) for answer in answers}
                assert len(by_transaction) == 120, "a repeated request gets its first answer again"
                assert table.state["rules"]["sides"]["A"]["pocketed"] == 1

        play(main())

    @pytest.mark.parametrize("payload", HOSTILE)
    def test_a_hostile_one_changes_nothing_and_ends_nothing(self, payload: bytes) -> None:
        async def main() -> None:
            async with Table() as table:
                await table.request({"command": "stroke", "pocketed": ["white"]})
                before = table.state
                table.port.on_request(payload, False)
                table.port.on_request(payload, True)
                await table.run_for(1)
                assert table.state == before
                answers = [answer for answer in table.told("response") if not answer["ok"]]
                assert len(answers) == 1
                assert (await table.request({"command": "pause"}))["ok"] is True

        play(main())

    def test_a_thousand_later_ones_do_not_make_an_old_one_new(self) -> None:
        """The last thousand are remembered; beyond that `expected_seq` protects."""

        async def main() -> None:
            async with Table() as table:
                await table.request({"command": "stroke", "pocketed": []}, "old")
                for number in range(999):
                    table.say(json.dumps({"command": "sync", "transaction": f"n{number}"}))
                    table.broker.log.clear()
                await table.restart()
                table.say(json.dumps({"command": "stroke", "pocketed": ["white"], "transaction": "old"}))
                await table.run_for(0.1)
                assert len(table.lines) == 2
                assert len(table.daemon.engine._answers) <= 1000
                table.say(json.dumps({"command": "sync", "transaction": "n999"}))
                table.say(json.dumps({"command": "undo", "transaction": "old", "expected_seq": 1}))
                await table.run_for(0.1)
                assert table.told("response")[-1]["error"]["code"] == "outdated"
                assert len(table.lines) == 2

        play(main())


def test_a_day_with_everything_away_writes_few_lines(caplog: pytest.LogCaptureFixture) -> None:
    """FR-111. The broker flaps, the cable is out for hours, a beam flutters: each change is said once."""
    hours = 8

    async def main() -> None:
        async with Table() as table:
            for hour in range(hours):
                table.broker.leave()
                if hour % 3 == 0:
                    host_of(table).unplug()
                    table.cable.plug(None)
                    await table.run_for(1800)
                    table.daemon._sources[SOURCE].start()
                for _ in range(100):
                    await table.pass_object("ne", dwell_ms=3)
                    await table.run_for(0.02)
                await table.run_for(1200)
                table.broker.come_back()
                await table.run_for(600)

    caplog.set_level("INFO", logger="appliance")
    play(main())
    lines = [record.getMessage() for record in caplog.records]
    assert 0 < len(lines) < 12 * hours
    assert sum(map(len, lines)) < 100_000
