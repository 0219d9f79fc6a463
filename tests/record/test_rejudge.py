"""`pocketbeam rejudge`: what other settings would have made of a match, beside what counted; nothing is changed."""

import asyncio
import io
from copy import deepcopy
from pathlib import Path

import pytest

from appliance import cli
from appliance.config import Settings, from_document
from appliance.journal import JournalReader
from appliance.tools.record import RecordError
from appliance.tools.rejudge import differences, rejudge
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


def test_edges_of_an_earlier_start_of_the_machine_cannot_be_judged() -> None:
    async def main() -> None:
        async with Table(buttons=DONE) as table:
            await stroke(table, 1, ("ne", 35, "white"))
            await table.restart("virtual-boot-2")
            await table.until(lambda: table.daemon.is_connected("board"))
            await asyncio.sleep(1)
            with pytest.raises(RecordError, match="lie before the last start of this machine"):
                said(table, table.settings)

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
