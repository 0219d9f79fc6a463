"""A table on a serial board: what the board is made to be, its lamps, and which of its wires are out."""

from dataclasses import replace
from typing import Any

from appliance.config import from_document
from appliance.link.configuration import BoardConfiguration, ColourSensor
from appliance.wiring import board_of
from sim.layout import SOURCE
from sim.mcu import CAUSE_WATCHDOG
from tests.support.ring1 import Table, play

TURN_1, TURN_2, FAULT = 20, 21, 22
LAMPS = [
    {"id": "turn-1", "source": SOURCE, "channel": TURN_1, "shows": "turn", "player": 1},
    {"id": "turn-2", "source": SOURCE, "channel": TURN_2, "shows": "turn", "player": 2, "lit_level": "low"},
    {"id": "fault", "source": SOURCE, "channel": FAULT, "shows": "fault"},
]
DONE_1, TO_THE_SUPPLY = (
    {"id": "done-1", "action": "done", "player": 1},
    {"id": "undo", "action": "undo", "pressed_level": "high"},
)
NE = 0
OUT = "it changes thousands of times a second, so the board does not listen to it: look at its sensor and wire"
RING = 128


def table(**keys: Any) -> Table:
    made = Table(buttons=[DONE_1], **keys)
    made.document["lamps"] = list(LAMPS)
    return made


def lit(played: Table) -> set[int]:
    """The lamps that are lit, by their own polarity."""
    outputs = played.cable.mcu.outputs
    return {each for each in (TURN_1, TURN_2, FAULT) if (outputs >> each & 1) != (each == TURN_2)}


def test_what_a_board_has_to_be_follows_from_the_wires() -> None:
    made = Table(buttons=[DONE_1, TO_THE_SUPPLY])
    made.document["lamps"] = list(LAMPS)
    made.document["sources"].append({"id": "other", "kind": "serial", "port": "/dev/other"})
    settings = from_document(made.document)
    beams, buttons = 0b11111, 1 << 16 | 1 << 17
    wanted = BoardConfiguration(
        channels=FAULT + 1,
        inputs=beams | buttons,
        pull_ups=beams | 1 << 16,
        outputs=1 << TURN_1 | 1 << TURN_2 | 1 << FAULT,
        rest=1 << TURN_2,
    )
    assert board_of(settings, SOURCE) == wanted
    assert board_of(settings, "other") == BoardConfiguration(0, 0)
    beams_low = tuple(beam.model_copy(update={"blocked_level": "low"}) for beam in settings.beams)
    low = settings.model_copy(update={"beams": beams_low})
    assert board_of(low, SOURCE) == wanted, "an open collector pulls down whichever way round it is"


def test_what_colour_sensors_mean_goes_to_the_board_in_the_order_of_the_limits() -> None:
    made = Table(buttons=[DONE_1])
    ne, nw = made.document["beams"][:2]
    limits = {"white": 255, "black": 60, "queen": 150}
    ne |= {"colour": {"analog": 3, "limits": limits, "after_ms": 70.0}, "blocked_level": "low"}
    nw |= {"colour": {"analog": 4, "reads": "lowest"}}
    settings = from_document(made.document)
    # 70 ms are two of the board's units of 65.536 ms; white, black and queen are codes 1, 2 and 3.
    shown = ColourSensor(ne["channel"], 3, ((60, 2), (150, 3), (255, 1)), after=2, active_level=0)
    assert board_of(settings, SOURCE).sensors == (shown,), "one without limits has nothing to tell"
    raw = ((255, 7),)
    assert board_of(settings, SOURCE, tells_readings=True).sensors == (
        replace(shown, classes=raw),
        ColourSensor(nw["channel"], 4, raw, after=1, wants_lowest=True),
    )


def test_the_board_is_what_the_file_says_and_its_lamps_follow_the_state() -> None:
    async def main() -> None:
        async with table() as played:
            await played.run_for(0.5)
            assert played.cable.mcu.configuration == board_of(played.settings, SOURCE)
            assert lit(played) == {TURN_1}
            await played.press("done-1")
            await played.run_for(0.05)
            assert lit(played) == {TURN_2}

    play(main())


def test_lamps_are_right_after_a_restart_and_after_a_reset_of_the_board() -> None:
    async def main() -> None:
        async with table() as played:
            await played.press("done-1")
            await played.run_for(0.5)
            await played.restart()
            await played.run_for(0.5)
            assert lit(played) == {TURN_2}
            played.cable.mcu.reset(CAUSE_WATCHDOG, played.cable.now_us())
            assert played.cable.mcu.configuration is None
            played.cable.flush()
            await played.run_for(0.5)
            assert lit(played) == {TURN_2}
            played.kill()
            await played.run_for(6)
            assert lit(played) == set(), "nobody speaks to the board"
            await played.start()
            await played.run_for(0.5)
            assert lit(played) == {TURN_2}

    play(main())


def test_a_muted_beam_is_a_fault_that_everybody_can_see_and_the_others_score() -> None:
    async def main() -> None:
        async with table() as played:
            await played.run_for(2)
            played.cable.mcu.mute(NE)
            await played.run_for(2)
            (fault,) = played.events("beam_fault")
            assert (fault["beam"], fault["reason"]) == ("ne", OUT)
            beams, source = played.health["beams"], played.health["sources"][SOURCE]
            assert (beams["ne"]["state"], beams["ne"]["reason"]) == ("unknown", OUT)
            assert (source["state"], source["reason"]) == ("ok", f"channel {NE}: {OUT}")
            assert source["counters"]["board_muted"] == 1
            assert {beam["state"] for name, beam in beams.items() if name != "ne"} == {"ok"}
            assert FAULT in lit(played)
            await played.pass_object("sw")
            await played.run_for(0.1)
            assert [fallen["place"] for fallen in played.state["stroke"]["fallen"]] == ["sw"]
            played.cable.mcu.mute()
            await played.run_for(2)
            assert [event["beam"] for event in played.events("beam_fault", "beam_well")] == ["ne", "ne"]
            assert played.health["beams"]["ne"]["state"] == "ok"
            assert played.health["sources"][SOURCE]["reason"] is None
            assert FAULT not in lit(played)

    play(main())


def test_a_beam_that_is_blocked_and_muted_is_well_only_when_it_is_neither() -> None:
    async def main() -> None:
        async with table() as played:
            await played.run_for(1)
            played.block("ne")
            await played.run_for(6)
            played.cable.mcu.mute(NE)
            await played.run_for(2)
            played.cable.mcu.mute()
            await played.run_for(2)
            faults = [(event["event"], event["reason"]) for event in played.events("beam_fault", "beam_well")]
            assert faults == [("beam_fault", "blocked"), ("beam_fault", OUT)]
            played.cable.mcu.mute(NE)
            await played.run_for(2)
            played.clear("ne")
            await played.run_for(3)
            assert played.events("beam_well") == []
            played.cable.mcu.mute()
            await played.run_for(2)
            assert [event["beam"] for event in played.events("beam_well")] == ["ne"]

    play(main())


def test_a_wire_that_the_board_does_not_have_is_named() -> None:
    async def main() -> None:
        made = table()
        made.document["lamps"][2:] = [{**LAMPS[2], "channel": 40}]
        next(beam for beam in made.document["beams"] if beam["id"] == "strike")["channel"] = 30
        async with made as played:
            await played.run_for(2)
            reason = "the board has only the channels 0 to 23"
            assert [(event["beam"], event["reason"]) for event in played.events("beam_fault")] == [("strike", reason)]
            assert played.health["beams"]["strike"]["reason"] == reason
            assert played.health["sources"][SOURCE]["reason"] == f"channel 30: {reason}; channel 40: {reason}"
            await played.pass_object("ne")
            await played.run_for(0.1)
            assert len(played.state["stroke"]["fallen"]) == 1

    play(main())


def test_edges_that_found_no_room_are_a_fault_for_a_minute() -> None:
    async def main() -> None:
        async with table() as played:
            await played.run_for(1)
            played.kill()
            for number in range(RING + 12):
                played.cable.mcu.drive(NE, 1 - number % 2, played.cable.now_us() + number)
            await played.start()
            await played.run_for(2)
            (fault,) = played.events("beam_fault")
            assert fault["source"] == SOURCE
            assert fault["reason"].startswith("12 changes were lost")
            source = played.health["sources"][SOURCE]
            assert source["reason"] == "12 changes were lost lately: look whether the score is right"
            assert source["counters"]["board_lost"] == 12
            assert FAULT in lit(played)
            await played.run_for(75)
            assert played.health["sources"][SOURCE]["reason"] is None
            assert FAULT not in lit(played)

    play(main())
