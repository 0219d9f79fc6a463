"""Changing values of a configuration file and nothing else: comments, order and spacing stay as they are.

The new text is read back before it takes the old one's place: it must be a valid configuration, and say what the
old one said but for the change. It takes it in one step, so that a power cut leaves the one or the other.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from appliance.config import ConfigurationError, load
from appliance.journal.lock import sync_directory

Changes = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""By the list ("beams") and the entry's id: keys of the entry, or `settings` with keys of that."""


class RewriteError(Exception):
    """The file is as it was; the text is one sentence."""


def changed_text(text: str, changes: Changes) -> str:
    """The configuration with the changes, checked to say nothing else."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    plain = text.removeprefix(mark)
    try:
        document = tomlkit.parse(plain)
        for entry, change in _entries(document, changes):
            for key, value in change.items():
                if not isinstance(value, Mapping):
                    entry[key] = value
                    continue
                if key not in entry:
                    entry[key] = tomlkit.inline_table()
                entry[key].update({name: _inline(inner) for name, inner in value.items()})
        new = tomlkit.dumps(document)
    except TOMLKitError as error:
        raise RewriteError(f"the file cannot be changed: {error}") from None
    if tomllib.loads(new) != _expected(tomllib.loads(plain), changes):
        raise RewriteError("the file is written in a way that cannot be changed safely: change the values by hand")
    return mark + new


def _inline(value: Any) -> Any:
    """A table inside stays on the line of its key."""
    if not isinstance(value, Mapping):
        return value
    table = tomlkit.inline_table()
    table.update(value)
    return table


def _entries(document: Any, changes: Changes) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Every entry that changes, with what changes in it."""
    for name, wanted in changes.items():
        for entry in document.get(name, []):
            if entry["id"] in wanted:
                yield entry, wanted[entry["id"]]


def _expected(document: dict[str, Any], changes: Changes) -> dict[str, Any]:
    for entry, change in _entries(document, changes):
        for key, value in change.items():
            entry[key] = {**entry.get(key, {}), **value} if isinstance(value, Mapping) else value
    return document


def rewrite(file: Path, changes: Changes) -> None:
    """Change the file, or leave it exactly as it is and raise RewriteError."""
    target = file.resolve()
    try:
        before = target.read_bytes()
        text = before.decode("utf-8")
        new = changed_text(text, changes).encode("utf-8")
        fresh = target.with_name(f".{target.name}.new")
        try:
            _write(fresh, new, target)
            load(fresh)  # beside the old one, so that relative paths in it lead to the same places
            if target.read_bytes() != before:
                raise RewriteError(f"{file} was changed by somebody else meanwhile: nothing is written")
            fresh.replace(target)
        finally:
            fresh.unlink(missing_ok=True)
        sync_directory(target.parent)
    except OSError as error:
        raise RewriteError(f"{file} cannot be written: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError:
        raise RewriteError(f"{file} is not a text in UTF-8") from None
    except ConfigurationError as error:
        raise RewriteError(f"{file} would not be valid any more: {error.problems[0].sentence}") from None


def _write(fresh: Path, content: bytes, like: Path) -> None:
    """Write and sync a file with the old one's rights and owner."""
    status = like.stat()
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, status.st_mode & 0o777)
    try:
        os.fchmod(descriptor, status.st_mode & 0o777)
        if os.geteuid() == 0:
            os.fchown(descriptor, status.st_uid, status.st_gid)
        with os.fdopen(descriptor, "wb", closefd=False) as out:
            out.write(content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
