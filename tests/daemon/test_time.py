"""The clock on the wall tells people the time, and nothing else: whoever sets it changes nothing that is played.

It is set by hours, back to 1970 and forward again, over the change to daylight saving time and over a leap day;
the host boots again and again with a clock that is earlier each time, and its monotonic clock begins anew.
"""

import asyncio
import json
import os
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby

import pytest

from appliance import rules
from sim.players import SimulatedMatch, simulate
from tests.support.ring1 import Document, Table, in_no_order, plain, play

HOUR_S = 3600.0
DAY_S = 24 * HOUR_S
PARTS = {"source_back", "source_lost", "beam_fault", "beam_well"}
STEPS = {
    "hours forward": (2 * HOUR_S, 7 * HOUR_S, 11 * HOUR_S),
    "hours back": (-2 * HOUR_S, -7 * HOUR_S, -11 * HOUR_S),
    "daylight saving and back": (HOUR_S, -HOUR_S),
    "a second, again and again": (1.0, -1.0),
    "to 1970 and back": (-55 * 365.25 * DAY_S, 55 * 365.25 * DAY_S),
}
DONE = {"id": "done-1", "action": "done", "player": 1}


def moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


async def stepped_until(table: Table, steps: tuple[float, ...], seed: int, over: asyncio.Event) -> int:
    """Set the clock every few seconds; how often."""
    choose, count = random.Random(seed), 0
    while not over.is_set():
        await asyncio.sleep(choose.uniform(0.05, 3.0))
        table.wall.step(steps[count % len(steps)])
        table.wall.synchronised = choose.random() < 0.5
        count += 1
    return count


async def played(match: SimulatedMatch, steps: tuple[float, ...]) -> tuple[list[Document], Document, list[Document]]:
    async with Table(match.game, match.players, sync_s=0.004) as table:
        over = asyncio.Event()
        stepping = asyncio.create_task(stepped_until(table, steps, 3, over)) if steps else None
        await table.play(match)
        over.set()
        if stepping is not None:
            assert await stepping >= 25
        keep = ("at", "clock_synchronised")
        events = [
            {key: value for key, value in event.items() if key not in keep}
            for event in table.events()
            if event["event"] not in PARTS
        ]
        state = {key: value for key, value in table.state.items() if key not in keep}
        return events, state, table.lines


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("game", ["new_carrom", "carpetball"])
def test_setting_the_clock_changes_nothing_but_the_times_that_are_shown(game: str, steps: str) -> None:
    match = simulate(game, ("Asha", "Ben"), seed=6)
    undisturbed = play(played(match, ()))
    assert undisturbed[1]["rules"] == rules.document(match.final)
    assert play(played(match, STEPS[steps])) == undisturbed


def test_an_open_stroke_closes_when_its_quiet_time_is_over_by_no_other_clock() -> None:
    async def main(step_s: float) -> float:
        async with Table() as table:
            await table.strike()
            await table.pass_object("ne")
            began_s = asyncio.get_running_loop().time()
            await table.run_for(2)
            table.wall.step(step_s)
            await table.until(lambda: table.state["stroke"] is None)
            return asyncio.get_running_loop().time() - began_s

    undisturbed_s = play(main(0))
    assert 5.999 <= undisturbed_s < 6.5
    for step_s in (5 * HOUR_S, -5 * HOUR_S, -55 * 365 * DAY_S):
        assert play(main(step_s)) == undisturbed_s


def test_what_is_shown_follows_the_clock_and_says_whether_to_believe_it() -> None:
    async def main() -> None:
        async with Table() as table:
            table.wall.synchronised = False
            table.wall.step(moment("1970-01-01T00:00:05Z") - moment("2025-01-01T00:00:00Z"))
            answer = await table.request({"command": "pause"})
            for document in (table.state, answer, table.events("paused")[0]):
                assert document["at"].startswith("1970-01-01T00:00:")
                assert document["clock_synchronised"] is False
            await table.run_for(6)
            assert table.health["clock"] == {"synchronised": False}

            table.wall.step(moment("2028-02-29T23:59:58Z") - moment("1970-01-01T00:00:05Z"))
            table.wall.synchronised = True
            await table.request({"command": "resume"})
            assert table.state["clock_synchronised"] is True
            assert table.state["at"].startswith("2028-03-01T00:00:0")
            await table.run_for(6)
            assert table.health["clock"] == {"synchronised": True}
            kept = [record.stamp.clock_synchronised for record in table.disk.store.recover().records]
            assert [synchronised for synchronised, _ in groupby(kept)] == [True, False, True]

    play(main())


@pytest.fixture
def _summer_time() -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = "America/New_York"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


@pytest.mark.usefixtures("_summer_time")
def test_the_hour_that_comes_twice_is_shown_once() -> None:
    """Times are UTC: the local clock goes back at 06:00 UTC, the shown one does not."""

    async def main() -> list[str]:
        async with Table() as table:
            table.wall.step(moment("2026-11-01T05:50:00Z") - moment("2025-01-01T00:00:00Z"))
            for _ in range(5):
                await table.run_for(300)
                await table.request({"command": "pause"})
                await table.request({"command": "resume"})
            return [event["at"] for event in table.events("paused")]

    shown = play(main())
    assert shown == sorted(shown)
    assert datetime.fromisoformat(shown[0]).astimezone(UTC).hour == 5
    assert datetime.fromisoformat(shown[-1]).astimezone(UTC).hour == 6


class TestBootsWithoutAClock:
    """FR-103. A Raspberry Pi starts with the time that it remembers, and its monotonic clock at nought."""

    def test_three_boots_whose_clocks_run_backwards_keep_the_order_of_what_was_played(self) -> None:
        async def main() -> None:
            async with Table() as table:
                table.wall.synchronised = False
                for boot in range(2, 5):
                    await table.run_for(1000 / boot)
                    answer = await table.request({"command": "stroke", "pocketed": ["white"]})
                    assert answer["ok"] is True
                    table.wall.step(-40 * DAY_S)
                    await table.reboot(f"boot-{boot}")
                    await table.until(lambda: table.daemon.is_connected("board"))
                await table.request({"command": "new_match", "abandon": True})
                await table.run_for(1)

                told = table.events()
                order = [event["seq"] for event in told]
                assert order == sorted(order)
                shown = [event["at"] for event in table.events("stroke_scored")]
                assert len(shown) == 3
                assert shown == sorted(shown, reverse=True)
                assert not any(event["clock_synchronised"] for event in told[-5:])
                entries = table.disk.store.matches()
                assert [entry.match for entry in entries] == [1, 2]
                stamps = [record.stamp for record in table.disk.store.records(1)]
                assert len({stamp.boot_id for stamp in stamps}) == 4
                monotonic = [stamp.monotonic_ns for stamp in stamps]
                assert monotonic != sorted(monotonic), "each boot has to begin its clock anew here"

        play(main())

    def test_a_beam_that_was_blocked_over_a_boot_has_been_so_for_no_negative_time(self) -> None:
        async def main() -> None:
            async with Table() as table:
                await table.run_for(500)
                table.block("ne")
                await table.run_for(60)
                table.wall.step(-5 * HOUR_S)
                await table.reboot("boot-2")
                await table.run_for(30)
                beam = table.health["beams"]["ne"]
                assert beam["state"] == "blocked"
                assert 0 <= beam["since_s"] <= 90

        play(main())

    def test_a_passage_after_a_boot_is_not_late_for_the_stroke_before_it(self) -> None:
        """Within two seconds after a button it would be, and the new boot's clock says that it was long before."""

        async def main() -> None:
            async with Table(buttons=[DONE]) as table:
                await table.run_for(500)
                await table.strike()
                await table.press("done-1")
                await table.until(lambda: table.state["stroke"] is None)
                judged = table.lines
                await table.reboot("boot-2")
                await table.until(lambda: table.daemon.is_connected("board"))
                await table.run_for(1)
                await table.pass_object("se", object="white")
                await table.run_for(0.5)
                assert table.lines == judged
                assert [fallen["object"] for fallen in table.state["stroke"]["fallen"]] == ["white"]

        play(main())

    def test_a_button_after_a_boot_does_not_confirm_what_closed_before_it(self) -> None:
        async def main() -> None:
            async with Table(buttons=[DONE]) as table:
                await table.run_for(500)
                await table.strike()
                await table.until(lambda: table.state["stroke"] is None and len(table.lines) == 2)
                await table.reboot("boot-2")
                await table.until(lambda: table.daemon.is_connected("board"))
                await table.run_for(5)
                await table.press("done-1")
                await table.run_for(1)
                assert len(table.lines) > 2

        play(main())

    def test_a_whole_match_over_many_boots_comes_to_what_the_players_did(self) -> None:
        match = simulate("club_carrom", ("Asha", "Ben"), seed=11, options={"cc.target": 4})

        async def main() -> None:
            async with Table(match.game, match.players, options={"cc.target": 4}, sync_s=0.004) as table:
                over = asyncio.Event()

                async def boots() -> int:
                    choose, count = random.Random(1), 0
                    while not over.is_set():
                        await asyncio.sleep(choose.uniform(15, 40))
                        # Not while something falls: a boot voids what is in a beam, and that is tried elsewhere.
                        await table.until(lambda: table.is_settled)
                        table.wall.step(choose.uniform(-10, 1) * HOUR_S)
                        count += 1
                        await table.reboot(f"boot-{count}")
                    return count

                booting = asyncio.create_task(boots())
                await table.play(match)
                over.set()
                assert await booting >= 6
                await table.until(lambda: table.state["rules"] == rules.document(match.final))
                assert [in_no_order(line) for line in table.lines[1:]] == [
                    in_no_order(json.loads(json.dumps(rules.observation_document(each)))) for each in match.truth
                ]
                seqs = [plain(event)["seq"] for event in table.events()]
                assert seqs == sorted(seqs)

        play(main())
