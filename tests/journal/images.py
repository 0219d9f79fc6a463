"""Works out what a power cut could have left of the files that a child wrote, from the shim's notes.

The disk of this model keeps what was synced and nothing else for sure. Of what was written to a file since its
last sync, each sector may have its old content, its new one, or rubbish over the whole sector, in any
combination. Names (creations, renames, removals) are durable once their directory is synced; of those since,
any first part may be there, in order. Syncing a file does not save its name.
"""

import random
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

_HEAD = struct.Struct("=4Q")
ACKNOWLEDGED = "acknowledged"


@dataclass(frozen=True)
class Note:
    """One call: `kind` is write, truncate, sync, create, rename or unlink by its first letter."""

    kind: str
    path: str
    second: str
    data: bytes
    offset: int


def read_notes(log: Path) -> list[Note]:
    content, at, notes = log.read_bytes(), 0, []
    while at < len(content):
        kind = chr(content[at])
        path, second, data, offset = _HEAD.unpack_from(content, at + 1)
        at += 1 + _HEAD.size
        parts = []
        for length in (path, second, data):
            parts.append(content[at : at + length])
            at += length
        notes.append(Note(kind, parts[0].decode(), parts[1].decode(), parts[2], offset))
    return notes


@dataclass
class File:
    """What is durable of a file, and the writes since."""

    durable: bytearray = field(default_factory=bytearray)
    pending: list[Note] = field(default_factory=list)

    def sync(self) -> None:
        for note in self.pending:
            _apply(self.durable, note)
        self.pending.clear()

    def after_a_cut(self, choose: random.Random) -> bytes:
        content = bytearray(self.durable)
        fate = choose.choice(("nothing", "everything", "first ones", "any", "sectors", "rubbish"))
        if fate == "nothing":
            return bytes(content)
        notes = self.pending
        if fate == "first ones":
            notes = notes[: choose.randint(0, len(notes))]
        if fate == "any":
            notes = [note for note in notes if choose.random() < 0.5]
        if fate in ("sectors", "rubbish"):
            for note in notes:
                _apply_in_part(content, note, choose, rubbish=fate == "rubbish")
            return bytes(content)
        for note in notes:
            _apply(content, note)
        return bytes(content)


def _apply(content: bytearray, note: Note) -> None:
    if note.kind == "t":
        del content[note.offset :]
        content.extend(bytes(note.offset - len(content)))
        return
    content.extend(bytes(max(0, note.offset + len(note.data) - len(content))))
    content[note.offset : note.offset + len(note.data)] = note.data


def _apply_in_part(content: bytearray, note: Note, choose: random.Random, *, rubbish: bool) -> None:
    if note.kind == "t":
        if choose.random() < 0.5:
            _apply(content, note)
        return
    sector = choose.choice((512, 4096))
    first, end = note.offset // sector, -(-(note.offset + len(note.data)) // sector)
    content.extend(bytes(max(0, note.offset + len(note.data) - len(content))))
    for number in range(first, end):
        start = max(note.offset, number * sector)
        stop = min(note.offset + len(note.data), (number + 1) * sector)
        fate = choose.random()
        if fate < 0.4:
            content[start:stop] = note.data[start - note.offset : stop - note.offset]
        elif rubbish and fate < 0.7:
            whole = slice(number * sector, min((number + 1) * sector, len(content)))
            content[whole] = choose.randbytes(whole.stop - whole.start)


Names = dict[str, File]


class Disk:
    """The files as notes come in."""

    def __init__(self, files: dict[str, bytes]) -> None:
        """`files` were there and durable before."""
        self.now: Names = {path: File(bytearray(content)) for path, content in files.items()}
        self.durable: Names = dict(self.now)
        self.pending: list[tuple[str, Note, File | None]] = []

    def take(self, note: Note) -> None:
        match note.kind:
            case "w" | "t":
                self.now[note.path].pending.append(note)
            case "s" if note.path in self.now:
                self.now[note.path].sync()
            case "s":
                own = [each for each in self.pending if _folder(each[0]) == note.path]
                self.pending = [each for each in self.pending if _folder(each[0]) != note.path]
                _rename_all(self.durable, own)
            case "c":
                self._name(note, File())
            case _:
                self._name(note, None)

    def _name(self, note: Note, file: File | None) -> None:
        one = (note.path, note, file)
        _rename_all(self.now, [one])
        self.pending.append(one)

    def after_a_cut(self, choose: random.Random) -> dict[str, bytes]:
        names = dict(self.durable)
        _rename_all(names, self.pending[: choose.randint(0, len(self.pending))])
        return {path: file.after_a_cut(choose) for path, file in names.items()}


def _folder(path: str) -> str:
    return str(PurePosixPath(path).parent)


def _rename_all(names: Names, changes: Iterable[tuple[str, Note, File | None]]) -> None:
    for path, note, file in changes:
        if file is not None:
            names[path] = file
        elif note.kind == "u":
            names.pop(path, None)
        elif path in names:
            names[note.second] = names.pop(path)


@dataclass(frozen=True)
class Image:
    """What one power cut left, and the last word that had gone out before it."""

    files: dict[str, bytes]
    acknowledged: str
    seed: int

    def lay(self, directory: Path) -> None:
        for path, content in self.files.items():
            place = directory / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)


def images(notes: list[Note], before: dict[str, bytes], count: int, seed: int) -> Iterator[Image]:
    """So many images, cut at moments drawn from the seed; the very end is among them."""
    choose = random.Random(seed)
    moments = sorted([*(choose.randint(0, len(notes)) for _ in range(count - 1)), len(notes)])
    disk, said, at = Disk(before), "", 0
    for number, moment in enumerate(moments):
        for note in notes[at:moment]:
            if note.path == ACKNOWLEDGED:
                said = note.data.decode().split()[-1] if note.kind == "w" else said
            else:
                disk.take(note)
        at = moment
        files = {path: content for path, content in disk.after_a_cut(choose).items() if not path.endswith("-shm")}
        if choose.random() < 0.5:
            files["journal.sqlite-shm"] = choose.randbytes(choose.choice((100, 32_768)))
        yield Image(files, said, number)
