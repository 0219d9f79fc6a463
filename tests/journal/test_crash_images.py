"""Every disk that a power cut could leave opens with everything that had been acknowledged, once and in order.

A child's system calls are noted (`shim.c`), the disks that a cut at any moment could leave are worked out from
them (`images.py`), and each is opened. That the check can fail is shown with disks that lie about syncs.
"""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from appliance.journal import InlineJournal, JournalError
from appliance.journal.copies import automatic_copies, check_copy, make_automatic_copy
from appliance.journal.numbering import read_numbering
from appliance.journal.replacing import finish_replacing
from appliance.journal.store import JOURNAL_FILE, Store
from tests.journal.images import ACKNOWLEDGED, Image, Note, images, read_notes
from tests.journal.material import batch, record, reopened
from tests.journal.scenes import INPUTS, MATCH, ROWS_KEPT

ROOT = Path(__file__).parents[2]
IMAGES = int(os.environ.get("POCKETBEAM_IMAGES", "1200"))  # the long run: POCKETBEAM_IMAGES=20000

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(120 + IMAGES // 10),
    pytest.mark.skipif(sys.platform != "linux" or shutil.which("gcc") is None, reason="needs gcc: apt install gcc"),
]


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("shim") / "shim.so"
    source = Path(__file__).with_name("shim.c")
    command = ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", str(built), str(source)]
    subprocess.run([*command, "-ldl", "-lpthread"], check=True)
    return built


def noted(shim: Path, directory: Path, scene: str, swallow: str | None = None) -> list[Note]:
    """Play the scene under the shim and return its notes."""
    log = directory.with_name(f"{directory.name}.log")
    log.unlink(missing_ok=True)
    shimmed = {"LD_PRELOAD": str(shim), "SHIM_LOG": str(log), "SHIM_DIR": str(directory)}
    if swallow is not None:
        shimmed["SHIM_SWALLOW"] = swallow
    command = [sys.executable, "-m", "tests.journal.scenes", scene, str(directory)]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **shimmed}, check=True, timeout=100)
    return read_notes(log)


def outcome(image: Image, directory: Path, *, go_on: bool) -> str:
    """Open the image; "well", or what is wrong with it."""
    directory.mkdir()
    image.lay(directory)
    promised = int(image.acknowledged or 0)
    journal = InlineJournal(directory, "club-1", lambda _position: None)
    try:
        last_seq = journal.open().last_seq
        assert journal._store is not None
        journal._store.check_content()
        connection = journal._store.connection
        records = connection.execute("SELECT seq, ordinal, match, kind, body FROM record ORDER BY seq").fetchall()
        rows = [sequence for (sequence,) in connection.execute("SELECT sequence FROM source_row ORDER BY row")]
        progress = connection.execute("SELECT next_sequence FROM progress").fetchall()
        if go_on:
            journal.append(batch(last_seq + 1, match=INPUTS))
    except (JournalError, sqlite3.Error) as error:
        return f"damaged: {error}"
    finally:
        journal.close()
    if last_seq < promised:
        return "lost"
    if read_numbering(directory).up_to < promised:
        return "a number could be given out twice"
    if records != [(seq, 0, seq // MATCH + 1, "stroke_closed", record(seq).body) for seq in range(1, last_seq + 1)]:
        return "doubled, invented or a gap"
    kept = len(rows)
    if rows != list(range(last_seq - kept + 1, last_seq + 1)) or kept < min(last_seq, ROWS_KEPT):
        return "rows lost, doubled or a gap"
    if progress != ([(last_seq + 1,)] if last_seq else []):
        return "progress and rows disagree"
    if go_on and reopened(directory).last_seq != last_seq + 1:
        return "does not go on"
    for copy in automatic_copies(directory):
        try:
            check_copy(copy)
        except JournalError as error:
            return f"a copy is damaged: {error}"
    return "well"


def outcomes(notes: list[Note], directory: Path, count: int, before: dict[str, bytes] | None = None) -> Counter[str]:
    found: Counter[str] = Counter()
    for number, image in enumerate(images(notes, before or {}, count, seed=20_250_301)):
        place = directory / str(number)
        found[outcome(image, place, go_on=number % 5 == 0)] += 1
        shutil.rmtree(place)
    return found


@pytest.mark.parametrize("count", [pytest.param(IMAGES, id=f"{IMAGES} images")])
def test_every_disk_that_a_cut_could_leave_has_everything_acknowledged(shim: Path, tmp_path: Path, count: int) -> None:
    """FR-113, FR-120."""
    played = tmp_path / "played"
    played.mkdir()
    notes = noted(shim, played, "play")
    syncs = sum(note.kind == "s" for note in notes)
    carried_over = sum(note.kind == "w" and note.path == JOURNAL_FILE for note in notes)
    copies = sum(note.kind == "r" and note.path.endswith(".partial") for note in notes)
    assert syncs > 200
    assert carried_over > 50
    assert copies == 3
    assert outcomes(notes, tmp_path, count) == {"well": count}


@pytest.mark.parametrize(
    ("scene", "swallow"), [("play", "files"), ("play-OFF", None), ("play-NORMAL", None)], ids=["lies", "OFF", "NORMAL"]
)
def test_without_syncs_the_same_check_finds_what_is_lost(
    shim: Path, tmp_path: Path, scene: str, swallow: str | None
) -> None:
    played = tmp_path / "played"
    played.mkdir()
    notes = noted(shim, played, scene, swallow)
    found = outcomes(notes, tmp_path, 100)
    assert found["lost"] >= 20


def two_states(directory: Path) -> dict[str, bytes]:
    """A journal of nine inputs beside a copy from when it had five; what is in the directory."""
    directory.mkdir()
    store = Store.create(directory)
    store.write(batch(seq) for seq in range(1, 6))
    assert make_automatic_copy(directory, 0, lambda: False) is not None
    store.write(batch(seq) for seq in range(6, 10))
    files = {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    store.close()
    for path, content in files.items():  # as a killed process leaves it: the newest is in the log alone
        (directory / path).write_bytes(content)
    return files


def found_after_replacing(image: Image, place: Path) -> tuple[int, list[int]]:
    """The newest record of the journal, and of each that was set aside."""
    place.mkdir()
    image.lay(place)
    try:
        finish_replacing(place)
        last_seq = reopened(place).last_seq
        kept = []
        for aside in place.glob("journal-damaged-*.sqlite"):
            with sqlite3.connect(aside) as connection:
                kept.append(int(connection.execute("SELECT max(seq) FROM record").fetchone()[0]))
            connection.close()
        return last_seq, kept
    finally:
        shutil.rmtree(place)


def test_a_replacement_is_the_old_journal_or_the_new_one_and_the_old_one_is_kept(shim: Path, tmp_path: Path) -> None:
    before = two_states(tmp_path / "played")
    notes = noted(shim, tmp_path / "played", "replace")
    found: Counter[tuple[str, int, tuple[int, ...]]] = Counter()
    for image in images(notes, before, 200, seed=5):
        last_seq, kept = found_after_replacing(image, tmp_path / "image")
        found[(image.acknowledged, last_seq, tuple(kept))] += 1
    assert set(found) == {("", 9, ()), ("", 5, (9,)), ("replaced", 5, (9,))}


def test_a_replacement_whose_names_were_not_synced_is_found_out(shim: Path, tmp_path: Path) -> None:
    before = two_states(tmp_path / "played")
    notes = noted(shim, tmp_path / "played", "replace", swallow="directories")
    lost = [
        image
        for image in images(notes, before, 100, seed=5)
        if image.acknowledged and found_after_replacing(image, tmp_path / "image")[0] != 5
    ]
    assert lost


def test_a_copy_is_whole_or_the_one_before_and_there_once_it_is_reported(shim: Path, tmp_path: Path) -> None:
    two_states(tmp_path / "played")
    kept = tmp_path / "played" / "kept"
    kept.mkdir()
    shutil.copy(automatic_copies(tmp_path / "played")[0], kept / "copy.sqlite")
    before = {
        str(path.relative_to(tmp_path / "played")): path.read_bytes()
        for path in (tmp_path / "played").rglob("*")
        if path.is_file()
    }
    notes = noted(shim, tmp_path / "played", "copy")
    found: Counter[tuple[str, int]] = Counter()
    for image in images(notes, before, 200, seed=6):
        place = tmp_path / "image"
        place.mkdir()
        image.lay(place)
        copy = place / "kept" / "copy.sqlite"
        check_copy(copy)
        store = Store.open_file(copy)
        found[(image.acknowledged, store.recover().last_seq)] += 1
        store.close()
        shutil.rmtree(place)
    assert set(found) == {("", 5), ("", 9), ("saved", 9)}


def test_the_model_keeps_what_was_synced_and_tears_what_was_not() -> None:
    """The model itself, on one file: what was synced shares no sector with what was not."""
    notes = [
        Note("c", "file", "", b"", 0),
        Note("w", "file", "", b"a" * 4096, 0),
        Note("s", "file", "", b"", 0),
        Note("s", ".", "", b"", 0),
        Note("w", ACKNOWLEDGED, "", b"1 ", 0),
        Note("w", "file", "", b"b" * 1024, 4096),
        Note("r", "file", "other", b"", 0),
    ]
    seen = [image for image in images(notes, {}, 400, seed=1) if image.acknowledged]
    contents = [next(content for path, content in image.files.items() if not path.endswith("-shm")) for image in seen]
    assert all(content.startswith(b"a" * 4096) for content in contents)
    assert {len(content) for content in contents} == {4096, 5120}
    assert {name for image in seen for name in image.files if not name.endswith("-shm")} == {"file", "other"}
    tails = {content[4096:] for content in contents}
    assert {b"", b"b" * 1024, b"b" * 512 + bytes(512), bytes(512) + b"b" * 512, bytes(1024)} <= tails
    assert any(set(tail) - {0, ord("b")} for tail in tails)
