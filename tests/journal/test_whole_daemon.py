"""Bad disks under the whole daemon.

The score goes on and says that it is not safe; then it is safe again, or the operator is told what is lost.
"""

import asyncio
import contextlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.journal import JournalError, NewerJournalError, UnsavedError
from appliance.journal.copies import automatic_copies
from appliance.journal.store import JOURNAL_FILE
from tests.journal.material import files_no_longer_than
from tests.journal.table import Table, playing, plug, remount, small_disk, unplug

pytestmark = pytest.mark.real


class Disk:
    """A directory that can be filled: a small file system, or, without the right to one, a limit on files."""

    def __init__(self, directory: Path, real: bool) -> None:
        self.directory = directory
        self._real = real
        self._limit: contextlib.ExitStack | None = None

    def fill(self) -> None:
        if not self._real:
            self._limit = contextlib.ExitStack()
            self._limit.enter_context(files_no_longer_than(0))
            return
        with contextlib.suppress(OSError), (self.directory / "ballast").open("wb", buffering=0) as ballast:
            while True:
                ballast.write(bytes(512))

    def clear(self) -> None:
        if self._limit is not None:
            self._limit.close()
        else:
            (self.directory / "ballast").unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with small_disk(tmp_path / "card", "2m") as mounted:
        yield Disk(mounted or tmp_path / "card", mounted is not None)


def test_a_disk_that_fills_up_in_play_and_is_cleared(disk: Disk) -> None:
    async def main() -> None:
        async with playing(disk.directory) as table:
            await table.score()
            disk.fill()
            await table.score(4)  # answered and shown all the same
            await table.until(lambda: table.journal["safe"] is False)
            assert str(disk.directory) in table.journal["reason"]
            (unsafe,) = table.told("journal_unsafe")
            assert unsafe["reason"] == table.journal["reason"]
            assert table.pocketed == 5
            disk.clear()
            await table.until(lambda: table.journal["safe"] is True)
            assert table.names()[-1] == "journal_safe"
        async with playing(disk.directory) as table:
            assert table.pocketed == 5
            assert table.journal["safe"] is True

    asyncio.run(main())


def test_a_disk_that_is_full_at_the_start_and_is_cleared(disk: Disk) -> None:
    async def main() -> None:
        disk.fill()
        async with playing(disk.directory) as table:
            await table.score(2)
            await table.until(lambda: table.journal["safe"] is False)
            assert table.pocketed == 2
            disk.clear()
            await table.until(lambda: table.journal["safe"] is True)
            await table.score()
        async with playing(disk.directory) as table:
            assert table.pocketed == 3

    asyncio.run(main())


def test_a_disk_that_stays_full_and_what_is_lost_is_said(tmp_path: Path) -> None:
    """Full by a limit: on a small file system the room of the log itself, folded into the file, is enough again."""
    disk = Disk(tmp_path, real=False)

    async def main() -> None:
        async with playing(disk.directory, stop=False) as table:
            await table.score()
            disk.fill()
            await table.score(3)
            await table.until(lambda: table.journal["safe"] is False)
            heard = table.caught.latest["state"]["seq"]
            with pytest.raises(UnsavedError, match=r"^\d+ batch.* could not be written and .* lost: the journal "):
                await table.daemon.stop()
        disk.clear()
        async with playing(disk.directory) as table:
            assert 1 <= table.pocketed < 4
            assert table.caught.latest["state"]["seq"] >= heard, "what was shown is lost; its number is not used again"

    asyncio.run(main())


def test_a_card_that_is_pulled_out_in_play_and_put_back(disk: Disk, tmp_path: Path) -> None:
    """The kernel lets go of the file system under the daemon's feet; later it is there again as it was."""
    place = tmp_path / "place"

    async def main() -> None:
        plug(disk.directory, place)
        async with playing(place) as table:
            await table.score()
            await table.until(lambda: table.daemon._journal.health().waiting == 0)
            unplug(place)
            await table.score(2)
            await table.until(lambda: table.journal["safe"] is False)
            assert table.pocketed == 3
            plug(disk.directory, place)
            await table.until(lambda: table.journal["safe"] is True)
        async with playing(place) as table:
            assert table.pocketed == 3
        unplug(place)

    _needs_a_file_system(disk)
    place.mkdir()
    asyncio.run(main())


@pytest.mark.parametrize("played", [0, 2])
def test_a_disk_that_is_read_only_at_the_start(disk: Disk, played: int) -> None:
    async def main() -> None:
        if played:
            async with playing(disk.directory) as table:
                await table.score(played)
        remount(disk.directory, "ro")
        async with playing(disk.directory) as table:
            await table.score(2)
            await table.until(lambda: table.journal["safe"] is False)
            assert table.pocketed == played + 2
            remount(disk.directory, "rw")
            await table.until(lambda: table.journal["safe"] is True)
        async with playing(disk.directory) as table:
            assert table.pocketed == played + 2

    _needs_a_file_system(disk)
    asyncio.run(main())


def _needs_a_file_system(disk: Disk) -> None:
    if not disk._real:
        pytest.skip("needs the right to mount a file system (root)")


def spoiled(directory: Path) -> None:
    (directory / JOURNAL_FILE).write_bytes(b"7 to 4\n" * 3_000)


def unfoldable(directory: Path) -> None:
    with sqlite3.connect(directory / JOURNAL_FILE) as connection:
        connection.execute('UPDATE record SET body = \'{"kind": "undone"}\' WHERE seq = 1')
    connection.close()


def unreadable(directory: Path) -> None:
    with sqlite3.connect(directory / JOURNAL_FILE) as connection:
        connection.execute("UPDATE record SET body = '[]' WHERE seq = 2")
    connection.close()


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (spoiled, "is damaged: file is not a database"),
        (unfoldable, "cannot be folded: a table begins with a match"),
        (unreadable, "cannot be folded: record 2 of the journal (stepped): "),
    ],
)
@pytest.mark.parametrize("copied", [False, True])
def test_a_damaged_journal_never_keeps_a_table_from_starting_and_is_told_aloud(
    tmp_path: Path, damage: Callable[[Path], None], sentence: str, copied: bool
) -> None:
    async def main() -> None:
        async with playing(tmp_path) as table:
            await table.score(2)
            if copied:
                await table.ask("abandon")
                await table.until(lambda: automatic_copies(tmp_path))
                await table.ask("new_match")
                await table.score()
            heard = table.caught.latest["state"]["seq"]
        damage(tmp_path)
        for start in range(2):
            async with playing(tmp_path) as table:
                await table.until(lambda: "state" in table.caught.latest)
                assert table.caught.latest["state"]["seq"] >= heard, "it goes back"
                heard = table.caught.latest["state"]["seq"]
                if start == 0:
                    assert table.journal["safe"] is False
                    assert sentence in table.journal["reason"]
                    (unsafe,) = table.told("journal_unsafe")
                    assert unsafe["reason"] == table.journal["reason"]
                    if copied:
                        assert table.caught.latest["state"]["match_id"] == "m1"
                        assert table.pocketed == 2
                        await table.ask("new_match")
                    before = table.pocketed
                    await table.score()
                    assert table.pocketed == before + 1
                else:
                    assert table.journal["safe"] is True
                    assert table.pocketed == 1

    asyncio.run(main())
    assert len(list(tmp_path.glob("journal-damaged-*.sqlite"))) == 1


def test_what_can_still_be_read_of_a_damaged_journal_is_played_on(tmp_path: Path) -> None:
    """An index is gone; the match stands in the table's own tree."""

    async def main() -> None:
        async with playing(tmp_path) as table:
            await table.score(3)
        with sqlite3.connect(tmp_path / JOURNAL_FILE) as connection:
            (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'record_by_match'").fetchone()
        connection.close()
        with (tmp_path / JOURNAL_FILE).open("r+b") as file:
            file.seek((page - 1) * 4096)
            file.write(bytes(4096))
        async with playing(tmp_path) as table:
            await table.until(lambda: "state" in table.caught.latest)
            assert "inputs could be read in it" in table.journal["reason"]
            assert table.pocketed == 3
            assert (await table.ask("undo"))["ok"]
            assert table.pocketed == 2

    asyncio.run(main())
    assert len(list(tmp_path.glob("journal-damaged-*.sqlite"))) == 1


@pytest.mark.parametrize("change", ["version = 2", "kind = 'danced', body = '{\"kind\": \"danced\"}'"])
def test_a_journal_of_a_newer_program_stops_the_start_in_words_and_stays(tmp_path: Path, change: str) -> None:
    async def main() -> None:
        async with playing(tmp_path) as table:
            await table.score(2)
        with sqlite3.connect(tmp_path / JOURNAL_FILE) as connection:
            connection.execute(f"UPDATE record SET {change} WHERE seq = 3")
        connection.close()
        for _ in range(2):
            with pytest.raises(NewerJournalError, match=r"^record 3 of the journal .*: update needed$"):
                async with playing(tmp_path):
                    pass

    asyncio.run(main())
    assert not list(tmp_path.glob("journal-damaged-*"))


def test_a_state_directory_that_is_deleted_in_play_is_noticed_at_once(tmp_path: Path) -> None:
    async def main() -> None:
        directory = tmp_path / "club-1"
        async with playing(directory, stop=False) as table:
            await table.score()
            shutil.rmtree(directory)
            await table.until(lambda: table.journal["safe"] is False)  # before anything more happens
            assert len(table.told("journal_unsafe")) == 1
            await table.score(2)
            assert table.pocketed == 3
            with pytest.raises(JournalError, match="are lost"):
                await table.daemon.stop()

    asyncio.run(main())


def test_a_match_that_ends_leaves_a_copy(tmp_path: Path) -> None:
    async def main() -> None:
        async with playing(tmp_path) as table:
            await table.score()
            assert not automatic_copies(tmp_path)
            await table.ask("abandon")
            await table.until(lambda: automatic_copies(tmp_path))
            await table.until(lambda: table.journal["counters"]["backups"] == 1)
            assert table.journal["counters"]["backup_failures"] == 0
            await still_scores(table)

    asyncio.run(main())


async def still_scores(table: Table) -> None:
    await table.ask("new_match")
    await table.score()
    assert table.pocketed == 1
