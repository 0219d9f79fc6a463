"""The files of the pages, read once at the start and kept in memory.

They are a few hundred kilobytes; so no request waits for the disk, and only what was found at the start can
ever be served: a path is looked up, never joined to a folder.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

STATIC = Path(__file__).parent / "static"

CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """One file as it goes out. `etag` names its content, with the quotes."""

    body: bytes
    content_type: str
    etag: str


def asset(body: bytes, content_type: str) -> Asset:
    """An asset from its content."""
    return Asset(body, content_type, f'"{hashlib.sha256(body).hexdigest()[:16]}"')


def load(folder: Path = STATIC) -> dict[str, Asset]:
    """Every file below `folder` by the path of its address; the index page is `/` too."""
    assets = {
        f"/{file.relative_to(folder).as_posix()}": asset(file.read_bytes(), CONTENT_TYPES[file.suffix])
        for file in sorted(folder.rglob("*"))
        if file.suffix in CONTENT_TYPES and file.is_file()
    }
    assets["/"] = assets["/index.html"]
    return assets
