"""Buttons, at a serial board and at the host's own pins alike: what a finger asks for, and what is no finger."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.pins import PinTable
from tests.support.ring1 import Document, Table, play

WIRED = pytest.mark.parametrize("wired", [Table, PinTable], ids=["serial", "gpio"])
NEARLY_WON = {
    "sides": {"A": {"pocketed": 8}, "B": {"pocketed": 5}},
    "queen": {"status": "covered", "side": "A"},
    "turn": {"player": 1},
}


def button(name: str, action: str, **fields: Any) -> Document:
    return {"id": name, "action": action, **fields}


async def hold(table: Table, name: str, ms: float) -> None:
    """A finger on a button for so long; then a moment for what follows."""
    await table._pulse(table._buttons[name]["channel"], 0, ms)  # type: ignore[arg-type]
    await table.run_for(0.3)


def phase(table: Table) -> Any:
    return table.state["rules"]["phase"]


def turn(table: Table) -> Any:
    return table.state["rules"]["turn"]["player"]


def pocketed(table: Table, side: str = "A") -> Any:
    return table.state["rules"]["sides"][side]["pocketed"]


# -- every action of a carrom table ----------------------------------------------------------------------------


async def close_mine(table: Table) -> None:
    await table.press("b")
    await table.run_for(0.1)
    assert turn(table) == 2


async def close_anybody_s(table: Table) -> None:
    await table.pass_object("ne")
    await table.press("b")
    await table.run_for(0.1)
    assert (len(table.state["questions"]), table.state["stroke"]) == (1, None)


async def take_back(table: Table) -> None:
    await table.request({"command": "stroke", "pocketed": ["white"]})
    assert pocketed(table) == 1
    await table.press("b")
    await table.run_for(0.1)
    assert pocketed(table) == 0


async def name_own(table: Table) -> None:
    await table.pass_object("ne")
    await table.press("b")
    await table.run_for(0.1)
    await table.request({"command": "end_stroke", "player": 1})
    assert (pocketed(table), table.state["questions"]) == (1, [])


async def answer_white(table: Table) -> None:
    await table.pass_object("ne")
    await table.request({"command": "end_stroke", "player": 1})
    assert len(table.state["questions"]) == 1
    await table.press("b")
    await table.run_for(0.1)
    assert (pocketed(table), table.state["questions"]) == (1, [])


async def begin_anew(table: Table) -> None:
    await table.request({"command": "stroke", "pocketed": ["white"]})
    before = table.state["match_id"]
    await table.press("b")
    await table.run_for(0.1)
    assert table.state["match_id"] != before
    assert pocketed(table) == 0


async def stop_and_go(table: Table) -> None:
    await table.press("b")
    await table.run_for(0.1)
    assert table.state["paused"]
    await table.press("c")
    await table.run_for(0.1)
    assert not table.state["paused"]


async def set_up_the_next(table: Table) -> None:
    await table.request({"command": "new_match", "position": NEARLY_WON})
    await table.request({"command": "stroke", "pocketed": ["white"]})
    assert phase(table) == "board_over"
    await table.press("b")
    await table.run_for(0.1)
    assert phase(table) == "playing"


CARROM: dict[str, tuple[list[Document], Callable[[Table], Any]]] = {
    "done": ([button("b", "done", player=1)], close_mine),
    "end_stroke": ([button("b", "end_stroke")], close_anybody_s),
    "undo": ([button("b", "undo")], take_back),
    "object": ([button("b", "object", object="own")], name_own),
    "answer": ([button("b", "answer", value="white")], answer_white),
    "new_match": ([button("b", "new_match", abandon=True)], begin_anew),
    "pause and resume": ([button("b", "pause"), button("c", "resume")], stop_and_go),
    "next_board": ([button("b", "next_board")], set_up_the_next),
}


@WIRED
@pytest.mark.parametrize("action", CARROM)
def test_every_action_of_a_carrom_table(wired: type[Table], action: str) -> None:
    buttons, test = CARROM[action]

    async def main() -> None:
        async with wired(buttons=buttons, unknown_object="ask") as table:
            await test(table)

    play(main())


# -- and of a carpetball table ---------------------------------------------------------------------------------


@WIRED
def test_every_action_of_a_carpetball_table(wired: type[Table]) -> None:
    buttons = (
        button("line-up", "line_up", north=5, south=5),
        button("cue", "cue"),
        button("done", "done"),
        button("withdraw", "withdraw", end="north", balls=1),
        button("miss", "throw", out={"north": 0, "south": 0}),
        button("next", "next_round"),
    )

    async def main() -> None:
        async with wired("carpetball", buttons=buttons, unknown_object="ask") as table:

            async def press(name: str) -> Any:
                await table.press(name)
                await table.run_for(0.1)
                return table.state["rules"]

            assert phase(table) == "line_up"
            begun = await press("line-up")
            assert phase(table) == "round"
            far = "south" if begun["turn"]["end"] == "north" else "north"
            await table.pass_object(far, dwell_ms=60)
            await table.run_for(0.2)
            await table.pass_object(far, dwell_ms=60)
            await press("cue")
            (first, second) = table.state["stroke"]["fallen"]
            assert (first["how"], second["how"], second["object"]) == ("beam", "told", "cue")
            await press("done")
            before = table.state["rules"]
            after = await press("withdraw")
            assert after["ends"]["north"]["in_play"] == before["ends"]["north"]["in_play"] - 1
            thrower = table.state["rules"]["turn"]
            assert (await press("miss"))["turn"] != thrower
            rules = table.state["rules"]
            far = "south" if rules["turn"]["end"] == "north" else "north"
            answer = await table.request({"command": "throw", "out": {far: rules["ends"][far]["in_play"]}})
            assert answer["ok"], answer
            await table.run_for(2)
            await press("miss")  # the last throw, which the loser still has
            assert phase(table) == "round_over"
            await press("next")
            assert phase(table) == "line_up"

    play(main())


# -- short, long, and what is no press -------------------------------------------------------------------------

TWO = button("b", "undo", long={"action": "redo"})


@WIRED
@pytest.mark.parametrize(("ms", "left"), [(9, 1), (11, 0), (80, 0), (999, 0), (1_001, 1), (4_990, 1), (5_010, 1)])
def test_how_long_a_press_is_decides_what_it_means(wired: type[Table], ms: int, left: int) -> None:
    """Up to 10 ms it is none, from 1 s on it is a long one, from 5 s on it is a stuck button."""

    async def main() -> None:
        async with wired(buttons=[TWO]) as table:
            await table.request({"command": "stroke", "pocketed": ["white"]})
            await hold(table, "b", ms)
            assert pocketed(table) == left

    play(main())


@WIRED
def test_a_long_press_asks_for_the_other_thing(wired: type[Table]) -> None:
    async def main() -> None:
        async with wired(buttons=[TWO]) as table:
            await table.request({"command": "stroke", "pocketed": ["white"]})
            await hold(table, "b", 100)
            assert pocketed(table) == 0
            await hold(table, "b", 1_500)
            assert pocketed(table) == 1

    play(main())


@WIRED
def test_without_another_thing_to_ask_for_a_long_press_is_a_press(wired: type[Table]) -> None:
    async def main() -> None:
        async with wired(buttons=[button("b", "done", player=1)]) as table:
            await hold(table, "b", 2_000)
            assert turn(table) == 2

    play(main())


@WIRED
def test_a_contact_that_bounces_at_both_ends_makes_one_press(wired: type[Table]) -> None:
    async def main() -> None:
        async with wired(buttons=[button("b", "undo")]) as table:
            for _ in range(3):
                await table.request({"command": "stroke", "pocketed": ["white"]})
            for ms in (1, 2, 1):
                await table._pulse(table._buttons["b"]["channel"], 0, ms)
                await table.run_for(0.002)
            await table._pulse(table._buttons["b"]["channel"], 0, 120)
            for ms in (4, 11, 3):
                await table.run_for(0.004)
                await table._pulse(table._buttons["b"]["channel"], 0, ms)
            await table.run_for(0.5)
            assert pocketed(table) == 2

    play(main())


def faults(table: Table) -> list[tuple[str, str]]:
    return [(event["event"], event["beam"]) for event in table.events("beam_fault", "beam_well")]


@WIRED
def test_a_stuck_button_is_one_fault_and_is_let_go_into_nothing(wired: type[Table]) -> None:
    async def main() -> None:
        async with wired(buttons=[button("b", "undo")]) as table:
            await table.request({"command": "stroke", "pocketed": ["white"]})
            await hold(table, "b", 60_000)
            assert faults(table) == [("beam_fault", "b")]
            assert pocketed(table) == 1
            health = table.health["beams"]["b"]
            assert (health["state"], "it asks for nothing" in health["reason"]) == ("blocked", True)
            await table.run_for(1.5)
            assert faults(table) == [("beam_fault", "b"), ("beam_well", "b")]
            assert "b" not in table.health["beams"]
            await hold(table, "b", 80)
            assert pocketed(table) == 0

    play(main())


@WIRED
def test_a_stuck_button_that_chatters_is_a_fault_and_not_a_hundred_presses(wired: type[Table]) -> None:
    async def main() -> None:
        async with wired(buttons=[button("b", "undo")]) as table:
            for _ in range(8):
                await table.request({"command": "stroke", "pocketed": ["white"]})
            presses = pocketed(table)
            for n in range(150):
                await table._pulse(table._buttons["b"]["channel"], 0, 15 + 7 * n % 40)
                await table.run_for(0.004 + n % 5 / 125)
            assert faults(table) == [("beam_fault", "b")]
            assert presses - pocketed(table) <= 1

    play(main())


@WIRED
def test_a_button_held_at_the_start_is_a_condition_and_no_press(wired: type[Table]) -> None:
    async def main() -> None:
        async with wired(buttons=[button("b", "done", player=1)], levels={16: 0}) as table:
            await table.run_for(0.5)
            assert faults(table) == [("beam_fault", "b")]
            if isinstance(table, PinTable):
                table.header.drive(table.pin_of["b"], 1)
            else:
                table.cable.drive(16, 1, table.cable.now_us())
            await table.run_for(1.5)
            assert turn(table) == 1
            await hold(table, "b", 80)
            assert turn(table) == 2

    play(main())


@WIRED
def test_what_a_button_asks_for_in_vain_changes_nothing(wired: type[Table]) -> None:
    async def main() -> None:
        async with wired(buttons=[button("b", "answer", value="white")]) as table:
            before = table.state["seq"]
            await hold(table, "b", 80)
            assert table.state["seq"] == before

    play(main())
