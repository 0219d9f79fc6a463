"""`pocketbeam rejudge`: what other settings would have made of a match, beside what counted; nothing is changed."""

import asyncio
import io
import json
import signal
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from appliance import cli
from appliance.config import Settings, from_document
from appliance.journal import JournalReader
from appliance.journal.pruning import Limits
from appliance.tools.record import RecordError
from appliance.tools.rejudge import differences, rejudge
from tests.support.brokers import Recorder, mosquitto, recorder
from tests.support.processes import board, configured, program, pulse, ran
from tests.support.ring1 import Table, play

DONE = [
    {"id": "done-1", "action": "done", "player": 1},
    {"id": "done-2", "action": "done", "player": 2},
]


def with_least(table: Table, min_dwell_ms: float) -> Settings:
    """The table's settings, but that a passage takes at least so long."""
    document = deepcopy(table.document)
    for beam in document["beams"]:
        beam["settings"] = {"min_dwell_ms": min_dwell_ms}
    return from_document(document)


def said(table: Table, settings: Settings, match_id: str | None = None) -> list[str]:
    out = io.StringIO()
    rejudge(JournalReader(table.disk.store), settings, match_id, out)
    return out.getvalue().splitlines()


async def stroke(table: Table, player: int, *falls: tuple[str, int, str]) -> None:
    """What falls, each as place, width in milliseconds and colour; then `done`."""
    for place, width_ms, name in falls:
        await table.pass_object(place, width_ms, name)
        await table.run_for(1)
    await table.press(f"done-{player}")
    await table.run_for(4)


def test_what_a_longer_least_pulse_would_have_left_out_is_said() -> None:
    async def main() -> None:
        async with Table(buttons=DONE, unknown_object="ask") as table:
            await stroke(table, 1, ("ne", 35, "white"))
            await stroke(table, 1, ("sw", 35, "white"), ("nw", 4, "white"))
            before, records = table.state, table.disk.store.read_end()
            text = said(table, with_least(table, 5))
            assert text[1:3] == [
                "  was       2: stroke; pocketed white, white",
                "  would be  2: stroke; pocketed white",
            ]
            assert len([line for line in text if line.startswith("  ")]) == 2, "the other strokes are as they were"
            came, would = (line.partition(":")[2] for line in text[3:5])
            assert "white 6 left" in came
            assert "white 7 left" in would
            assert text[-1] == "Nothing was changed."
            assert (table.state, table.disk.store.read_end()) == (before, records)

    play(main())


def test_with_the_same_settings_nothing_would_have_been_otherwise() -> None:
    async def main() -> None:
        async with Table(buttons=DONE, unknown_object="ask") as table:
            await stroke(table, 1, ("ne", 35, "white"))
            await stroke(table, 1)
            assert said(table, table.settings)[1] == "Nothing would have been otherwise."

    play(main())


def test_an_earlier_match_is_judged_alone_and_one_that_is_not_there_is_said() -> None:
    async def main() -> None:
        async with Table(buttons=DONE, unknown_object="ask") as table:
            await stroke(table, 1, ("ne", 4, "white"))
            await table.request({"command": "new_match", "abandon": True})
            await stroke(table, 1, ("ne", 35, "white"), ("nw", 35, "white"))
            first, second = said(table, with_least(table, 5), "m1"), said(table, with_least(table, 5), "m2")
            assert first[1:3] == ["  was       1: stroke; pocketed white", "  would be  1: stroke"]
            assert second[1] == "Nothing would have been otherwise."
            assert said(table, with_least(table, 5)) == second, "the latest, where none is named"
            with pytest.raises(RecordError, match="there is no match m3; there are m1, m2"):
                said(table, table.settings, "m3")

    play(main())


def test_a_request_about_what_is_not_there_any_more_is_said_to_be_refused() -> None:
    async def main() -> None:
        async with Table(buttons=DONE, unknown_object="ask") as table:
            await table.pass_object("ne", 4)
            await table.run_for(1)
            await table.press("done-1")
            await table.run_for(4)
            await table.request({"command": "answer", "question": "q1", "value": "white"})
            await table.run_for(1)
            text = said(table, with_least(table, 5))
            assert text[1:3] == ["  was       1: stroke; pocketed white", "  would be  1: stroke"]
            (refused,) = [line for line in text if line.startswith("Not taken this time")]
            assert "no_such_question" in refused

    play(main())


async def began_anew(table: Table) -> None:
    """The table hears its board again, and what that brings is over."""
    await table.until(lambda: table.daemon.is_connected("board"))
    await table.run_for(1)


def test_a_match_over_two_boots_of_the_host_and_one_of_the_board_is_judged_as_a_whole() -> None:
    """What was open when the machine, or the board, went down is void; both have passages of 4 ms on either side."""

    async def main() -> None:
        async with Table(buttons=DONE, unknown_object="ask") as table:
            await stroke(table, 1, ("ne", 35, "white"))
            await table.pass_object("nw", 35, "white")
            await table.pass_object("se", 4, "white")
            table.block("sw")
            await table.run_for(1)
            await table.reboot("boot-2")
            await began_anew(table)
            table.clear("sw")
            await table.run_for(2)
            await stroke(table, 1, ("ne", 4, "white"))
            await table.pass_object("nw", 35, "white")
            await table.pass_object("ne", 35, "white")
            table.block("sw")
            await table.run_for(1)
            table.cable.reset()
            await began_anew(table)
            table.clear("sw")
            await table.run_for(2)
            await stroke(table, 1)
            assert said(table, table.settings)[1] == "Nothing would have been otherwise."
            text = said(table, with_least(table, 5))
            assert text[1:3] == [
                "  was       2: stroke; pocketed white, white, white",
                "  would be  2: stroke; pocketed white",
            ]
            came, would = (line.partition(":")[2] for line in text[3:5])
            assert "white 3 left" in came
            assert "white 5 left" in would
            assert text[5] == "In it the program started anew, once; the machine, once."

    play(main())


def test_quiet_time_begins_anew_with_each_boot_and_only_with_it() -> None:
    """6 s of quiet: 4 before the boot and 4 after it close nothing, nor do 3 and a program that was killed."""

    async def main() -> None:
        async with Table(quiet_time_s=6, unknown_object="assume") as table:
            await table.pass_object("ne", 35, "white")
            await table.run_for(4)
            await table.reboot("boot-2")
            await began_anew(table)
            await table.run_for(3)
            await table.pass_object("nw", 35, "white")
            await table.run_for(3)
            await table.restart()
            await began_anew(table)
            await table.pass_object("sw", 35, "white")
            await table.run_for(10)
            await table.pass_object("se", 4, "white")
            await table.run_for(2)
            await table.restart()
            await began_anew(table)
            await table.run_for(5)
            assert [line["pocketed"] for line in table.lines[1:]] == [["white"] * 3, ["white"]]
            assert said(table, table.settings)[1] == "Nothing would have been otherwise."
            assert said(table, with_least(table, 5))[1] == "  was       2: stroke; pocketed white"

    play(main())


def test_a_program_that_was_away_missed_no_time_that_nobody_told_it_of() -> None:
    """Killed in an open stroke, back long after its quiet time; it is ended before the board has told the time."""

    async def main() -> None:
        async with Table(buttons=DONE, unknown_object="ask") as table:
            await table.pass_object("ne", 35, "white")
            await table.run_for(1)
            table.cable.pull()
            table.kill()
            await table.run_for(60)
            await table.start()
            await table.request({"command": "end_stroke", "player": 1})
            table.cable.put_back()
            await began_anew(table)
            await stroke(table, 1)
            assert [line["pocketed"] for line in table.lines[1:]] == [["white"], []]
            assert said(table, table.settings)[1] == "Nothing would have been otherwise."

    play(main())


def test_what_fell_while_the_cable_was_out_is_judged_with_its_own_times() -> None:
    async def main() -> None:
        async with Table(buttons=DONE, unknown_object="ask") as table:
            await table.pass_object("ne", 35, "white")
            await table.run_for(1)
            table.cable.pull()
            await table.pass_object("nw", 4, "white")
            await table.run_for(20)
            table.cable.put_back()
            await began_anew(table)
            await stroke(table, 1)
            assert [line["pocketed"] for line in table.lines[1:]] == [["white", "white"], []]
            assert said(table, table.settings)[1] == "Nothing would have been otherwise."
            assert said(table, with_least(table, 5))[1:3] == [
                "  was       1: stroke; pocketed white, white",
                "  would be  1: stroke; pocketed white",
            ]

    play(main())


def test_a_journal_that_knows_no_starts_is_judged_by_the_boots_of_its_entries() -> None:
    """So older programs kept it. What lay in a beam at the end of a boot is void all the same."""

    async def main() -> None:
        async with Table(buttons=DONE, unknown_object="ask") as table:
            await stroke(table, 1, ("ne", 35, "white"))
            table.block("sw")
            await table.reboot("boot-2")
            await began_anew(table)
            table.clear("sw")
            await table.run_for(2)
            await stroke(table, 1, ("nw", 35, "white"))
            table.block("se")
            await table.run_for(1)
            table.cable.reset()
            await began_anew(table)
            table.clear("se")
            await table.run_for(2)
            await stroke(table, 1, ("ne", 4, "white"))
            connection = table.disk.store.connection
            connection.execute("DELETE FROM source_row WHERE what IS NOT NULL")
            connection.execute("UPDATE source_row SET row = 1 WHERE row = (SELECT min(row) FROM source_row)")
            assert [line["pocketed"] for line in table.lines[1:]] == [["white"]] * 3
            assert said(table, table.settings)[1] == "Nothing would have been otherwise."
            assert said(table, with_least(table, 5))[1:3] == [
                "  was       3: stroke; pocketed white",
                "  would be  3: stroke",
            ]

    play(main())


async def storm(table: Table, place: str, seconds: float) -> None:
    """A wire that is loose: 40 breaks of 5 ms a second."""
    for _ in range(round(seconds * 40)):
        await table.pass_object(place, 5)
        await table.run_for(0.02)


def test_noise_is_noise_again_and_everything_else_is_judged() -> None:
    async def main() -> None:
        async with Table(buttons=DONE, unknown_object="ask") as table:
            await storm(table, "ne", 4)
            await table.restart()
            await began_anew(table)
            await storm(table, "ne", 4)
            await stroke(table, 1, ("sw", 35, "white"), ("nw", 4, "white"))
            await stroke(table, 1, ("ne", 35, "white"), ("sw", 35, "white"), ("nw", 35, "white"))
            summed = sum(row.stretch.edges for row in table.disk.store.stretches() if row.stretch)
            assert summed > 400
            same = said(table, table.settings)
            assert same[1] == "Nothing would have been otherwise."
            assert (
                f"board, channel {table.layout.beam_at('ne').channel}: {summed} changes are kept as a sum;" in same[5]
            )
            assert said(table, with_least(table, 5.5))[1:3] == [
                "  was       1: stroke; pocketed white, white",
                "  would be  1: stroke; pocketed white",
            ]

    play(main())


def test_edges_that_are_too_old_to_be_kept_are_said_to_be() -> None:
    async def main() -> None:
        async with Table(buttons=DONE, unknown_object="ask") as table:
            for _ in range(3):
                await stroke(table, 1, ("ne", 35, "white"))
            table.disk.store.prune(Limits(rows=4, rows_of_strokes=4), lambda kind, body: True, None)
            with pytest.raises(RecordError, match="the edges of match m1 are not in the journal any more"):
                said(table, table.settings)

    play(main())


def test_requests_that_are_too_old_to_be_kept_are_said_to_be() -> None:
    async def main() -> None:
        async with Table(buttons=DONE, unknown_object="ask") as table:
            await table.request({"command": "jumped", "objects": ["white"]})
            await stroke(table, 1, ("ne", 35, "white"))
            for _ in range(2):
                await table.request({"command": "new_match", "abandon": True})
            table.disk.store.prune(Limits(inputs=0), lambda kind, body: True, None)
            with pytest.raises(
                RecordError, match="some of what was asked for in match m1 is not in the journal any more"
            ):
                said(table, table.settings, "m1")

    play(main())


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (["a", "b"], ["a", "b"], []),
        (["a", "b", "c"], ["a", "c"], ["  was       2: b"]),
        (["a", "c"], ["a", "b", "c"], ["  would be  2: b"]),
        (["a", "b"], ["x", "b"], ["  was       1: a", "  would be  1: x"]),
        ([], ["a"], ["  would be  1: a"]),
    ],
)
def test_differences_have_their_place(before: list[str], after: list[str], found: list[str]) -> None:
    assert differences(before, after) == found


def test_without_a_journal_it_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "table.toml"
    text = f'[table]\nid = "t1"\ngame = "club_carrom"\nplayers = ["A", "B"]\nstate_dir = "{tmp_path / "none"}"\n'
    config.write_text(text, "utf-8")
    assert cli.main(["rejudge", "--config", str(config)]) == 2
    assert "no journal" in capsys.readouterr().err


@pytest.mark.real
def test_a_match_in_which_the_program_was_killed_is_judged_as_it_was(tmp_path: Path) -> None:
    """Killed for good in the middle of a stroke, twice; the second time while something is in a beam."""
    done = '\n[[buttons]]\nid = "done-1"\nsource = "board"\nchannel = 16\naction = "done"\nplayer = 1\n'
    base = "pocketbeam/t1"

    async def main(port: int) -> Path:
        # However slowly a program starts here, no stroke ends for that.
        config = configured(tmp_path, port, add=done, replace={"quiet_time_s = 6": "quiet_time_s = 0"})
        async with board(tmp_path, levels={16: 1}) as line, recorder(port, f"{base}/#") as heard:

            def fallen(places: list[str]) -> Callable[[Recorder], bool]:
                return lambda h: f"{places}" == f"{[each['place'] for each in stroke_of(h)]}"

            def stroke_of(h: Recorder) -> list[Any]:
                state = json.loads(h.latest.get(f"{base}/state", "{}"))
                return (state.get("stroke") or {}).get("fallen", [])

            def backs(h: Recorder) -> int:
                return "".join(h.payloads(f"{base}/event")).count('"source_back"')

            with program(tmp_path, "run", "--config", str(config)) as running:
                await heard.wait_for(lambda h: backs(h) == 1)
                await pulse(line, 0)
                await heard.wait_for(fallen(["ne"]))
                running.signal(signal.SIGKILL)
                running.wait()
            await pulse(line, 1)
            with program(tmp_path, "run", "--config", str(config)) as running:
                await heard.wait_for(fallen(["ne", "nw"]))
                line.drive(2, 1)
                await line.acknowledged()
                running.signal(signal.SIGKILL)
                running.wait()
            line.drive(2, 0)
            with program(tmp_path, "run", "--config", str(config)) as running:
                await heard.wait_for(lambda h: backs(h) == 3)
                await pulse(line, 3)
                await heard.wait_for(lambda h: '"sw"' in h.latest[f"{base}/state"])
                request = {"transaction": "x", "command": "end_stroke", "player": 1}
                await heard.publish(f"{base}/request", json.dumps(request))
                await heard.wait_for(lambda h: h.payloads(f"{base}/response"))
                await pulse(line, 16, 60, active=0)
                running.signal(signal.SIGTERM)
                assert running.wait() == 0
        return config

    with mosquitto(tmp_path) as broker:
        config = asyncio.run(main(broker.port))
    status, out, err = ran(tmp_path, "rejudge", "--config", str(config))
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("Match m1, ")
    assert lines[1] == "Nothing would have been otherwise."
    assert lines[2].removeprefix("It came to:").strip() == lines[3].removeprefix("It would come to:").strip()
    assert lines[4] == "In it the program started anew, 2 times; the machine, never."
