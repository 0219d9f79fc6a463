"""A table on the host's own pins: whole strokes, lamps, and a health that says which place is out and why."""

from typing import Any

from sim.layout import SOURCE
from tests.support.pins import PinTable
from tests.support.ring1 import play

LAMPS = (
    {"id": "turn-1", "pin": "GPIO10", "shows": "turn", "player": 1},
    {"id": "turn-2", "pin": "GPIO11", "shows": "turn", "player": 2, "lit_level": "low"},
    {"id": "question", "pin": "GPIO18", "shows": "question"},
    {"id": "fault", "pin": "GPIO9", "shows": "fault"},
)
BUTTONS = (
    {"id": "done-1", "action": "done", "player": 1},
    {"id": "done-2", "action": "done", "player": 2},
    {"id": "undo", "action": "undo"},
)


def lit(table: PinTable) -> set[str]:
    """The lamps that are lit, by their own polarity."""
    levels = {lamp["id"]: (table.lamp(str(lamp["id"])), lamp.get("lit_level", "high")) for lamp in LAMPS}
    return {str(name) for name, (level, lit_level) in levels.items() if level == (1 if lit_level == "high" else 0)}


def table(**keys: Any) -> PinTable:
    return PinTable(lamps=LAMPS, buttons=BUTTONS, unknown_object="ask", **keys)


def test_a_stroke_on_pins_is_shown_and_scored() -> None:
    async def main() -> None:
        async with PinTable("carpetball") as played:
            await played.request({"command": "line_up", "north": 5, "south": 5})
            end = played.state["rules"]["turn"]["end"]
            far = "south" if end == "north" else "north"
            await played.strike(end)
            await played.pass_object(far, dwell_ms=60)
            await played.run_for(0.01)
            assert [fallen["place"] for fallen in played.state["stroke"]["fallen"]] == [far]
            await played.run_for(5.3)
            assert played.state["stroke"] is None
            assert played.events("stroke_closed", "question_opened") != []

    play(main())


def test_the_lamps_follow_the_state() -> None:
    async def main() -> None:
        async with table() as played:
            assert lit(played) == {"turn-1"}
            await played.press("done-1")
            await played.run_for(0.01)
            assert lit(played) == {"turn-2"}
            await played.press("undo")
            await played.run_for(0.01)
            assert lit(played) == {"turn-1"}
            await played.run_for(2)
            await played.pass_object("ne")
            await played.press("done-1")
            await played.run_for(0.01)
            assert "question" in lit(played)
            await played.request({"command": "answer", "value": "white"})
            assert lit(played) == {"turn-1"}

    play(main())


def test_the_lamps_are_right_after_a_restart_and_dark_while_nothing_runs() -> None:
    async def main() -> None:
        async with table() as played:
            await played.press("done-1")
            await played.run_for(0.01)
            assert lit(played) == {"turn-2"}
            await played.restart()
            await played.run_for(0.01)
            assert lit(played) == {"turn-2"}
            pins = {name: played.header._watched(played.pin_of[name]) for name in ("turn-1", "turn-2")}
            await played.daemon.stop()
            assert (pins["turn-1"].states[-1].state, pins["turn-2"].states[-1].state) == (False, True)

    play(main())


def test_the_fault_lamp_is_lit_for_what_needs_a_hand() -> None:
    async def main() -> None:
        async with table() as played:
            played.block("ne")
            await played.run_for(4.5)
            assert lit(played) == {"turn-1"}
            await played.run_for(1)
            assert lit(played) == {"turn-1", "fault"}
            played.clear("ne")
            await played.run_for(2)
            assert lit(played) == {"turn-1"}
            await played._pulse(played._buttons["undo"]["channel"], 0, 6_000)
            assert "fault" in lit(played)
            await played.run_for(2)
            assert "fault" not in lit(played)
            played.disk.refuse("the disk is full")
            await played.press("done-1")
            await played.run_for(0.1)
            assert "fault" in lit(played)
            played.disk.go_on()
            await played.run_for(1.1)
            assert "fault" not in lit(played)

    play(main())


def test_lamps_come_back_with_the_controller() -> None:
    async def main() -> None:
        async with table() as played:
            played.header.unplug()
            await played.run_for(0.5)
            await played.request({"command": "end_stroke", "player": 1})
            played.header.plug()
            await played.run_for(11)
            assert lit(played) == {"turn-2"}

    play(main())


def test_a_beam_that_cannot_be_had_is_named_and_the_others_score() -> None:
    async def main() -> None:
        played = table()
        played_pins = played.pin_of
        async with played:
            played.header.held = {played_pins["ne"]: "fan-control"}
            played.header.unplug()
            await played.run_for(0.3)
            played.header.plug()
            await played.run_for(6)
            reason = f"GPIO{played_pins['ne']} is in use by fan-control: stop that, or take another pin"
            health = played.health
            assert health["beams"]["ne"]["state"] == "unknown"
            assert health["beams"]["ne"]["reason"] == reason
            assert [beam["state"] for name, beam in health["beams"].items() if name != "ne"] == ["ok"] * 4
            source = health["sources"][SOURCE]
            assert (source["state"], source["reason"], source["counters"]["pins_out"]) == ("ok", reason, 1)
            assert "fault" in lit(played)
            await played.pass_object("sw")
            await played.run_for(0.01)
            assert [fallen["place"] for fallen in played.state["stroke"]["fallen"]] == ["sw"]
            played.header.held.clear()
            await played.run_for(16)
            assert played.health["beams"]["ne"] == {**played.health["beams"]["ne"], "state": "ok", "reason": None}
            assert "fault" not in lit(played)

    play(main())


def test_a_controller_that_is_gone_is_told_with_every_beam_and_comes_back_by_itself() -> None:
    async def main() -> None:
        async with table() as played:
            played.header.unplug()
            await played.run_for(1)
            assert [event["reason"] for event in played.events("source_lost")] == ["the header is gone"]
            health = played.health
            assert health["sources"][SOURCE]["state"] == "lost"
            assert {beam["state"] for beam in health["beams"].values()} == {"unknown"}
            played.header.plug()
            await played.run_for(11)
            assert len(played.events("source_back")) == 2
            assert {beam["state"] for beam in played.health["beams"].values()} == {"ok"}
            await played.pass_object("ne")
            await played.run_for(0.01)
            assert len(played.state["stroke"]["fallen"]) == 1

    play(main())


def test_a_beam_blocked_at_the_start_is_a_condition_and_scores_when_it_is_clear_again() -> None:
    async def main() -> None:
        async with table(levels={0: 1}) as played:
            await played.run_for(0.3)
            assert played.health["beams"]["ne"]["state"] == "blocked"
            assert played.state["stroke"] is None
            played.clear("ne")
            await played.run_for(1.5)
            assert played.state["stroke"] is None
            await played.pass_object("ne")
            await played.run_for(0.01)
            assert len(played.state["stroke"]["fallen"]) == 1

    play(main())
