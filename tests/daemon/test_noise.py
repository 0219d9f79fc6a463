"""A loose wire at a whole table whose program is killed in the middle of it: every change is kept once, none counts."""

from random import Random

import pytest

from appliance.journal.store import Store
from tests.support.ring1 import Table, play

DONE = [{"id": "done-1", "action": "done", "player": 1}]


async def storm(table: Table, place: str, dice: Random, seconds: float) -> int:
    """Breaks of 2 to 9 ms, some forty a second; how many changes that are."""
    changes, until_us = 0, table.cable.now_us() + seconds * 1e6
    while table.cable.now_us() < until_us:
        await table.pass_object(place, dice.randint(2, 9))
        await table.run_for(dice.uniform(0.01, 0.03))
        changes += 2
    return changes


def changes_kept(store: Store, channel: int) -> int:
    """How many changes of a channel the journal holds, one by one and as a sum."""
    rows = [row for row in store.rows_since(0) if row.level is not None and row.channel == channel]
    return sum(row.stretch.edges if row.stretch else 1 for row in rows)


@pytest.mark.parametrize("sync_s", [0.0, 0.03])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_killed_in_the_middle_of_it(seed: int, sync_s: float) -> None:
    async def main() -> None:
        dice, changes = Random(seed), 0
        async with Table(buttons=DONE, unknown_object="ask", quiet_time_s=0, sync_s=sync_s) as table:
            await table.pass_object("se", 35, "white")
            for _ in range(6):
                changes += await storm(table, "ne", dice, dice.uniform(0.5, 2.5))
                table.restart_soon()
            await table.pass_object("sw", 35, "white")
            await table.run_for(1)
            await table.press("done-1")
            await table.run_for(8)
            await table.until(lambda: not table.cable.mcu.kept)
            assert table.cable.mcu.counters.lost == 0
            assert changes_kept(table.disk.store, table.layout.beam_at("ne").channel) == changes
            assert len(table.disk.store.rows_since(0)) < changes / 3
            assert table.lines[1:] == [{"type": "stroke", "pocketed": ["white", "white"]}]
            assert (table.state["stroke"], table.state["questions"]) == (None, [])
            assert table.health["beams"][table.layout.beam_at("ne").id]["state"] == "ok"
            await table.pass_object("ne", 35, "white")
            await table.run_for(1)
            assert [each["place"] for each in table.state["stroke"]["fallen"]] == ["ne"]

    play(main())


def test_what_pins_have_told_is_kept_before_the_program_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A board would tell again what it has not heard to be safe; a sum is not to be lost to a clean end either way."""

    async def main() -> None:
        async with Table(buttons=DONE) as table:
            changes = await storm(table, "ne", Random(4), 2)
            # Nothing is due yet by itself, as with pins.
            monkeypatch.setattr(type(table.daemon.engine.quarantine), "is_due", lambda *_, **__: False)
            for _ in range(3):
                await table.pass_object("ne", 5)
                await table.run_for(0.02)
                changes += 2
            ne = table.layout.beam_at("ne").channel
            assert changes_kept(table.disk.store, ne) < changes
            await table.daemon.stop()
            assert changes_kept(table.disk.store, ne) == changes
            await table.start()

    play(main())
