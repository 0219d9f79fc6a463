"""The files of the pages, read once at the start and kept in memory, packed as they go out.

They are a few hundred kilobytes, and packed a third of that; every browser unpacks. No request waits for the disk,
and only what was found at the start can ever be served: a path is looked up, never joined to a folder.
"""

import hashlib
import zlib
from dataclasses import dataclass
from pathlib import Path

from appliance.web.http import accepts

STATIC = Path(__file__).parent / "static"

CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
    ".svg": "image/svg+xml",
}

_PACKING = "gzip"
_GZIP_BITS = 31
"""What the library calls the format of gzip, with the largest window."""
_BLOCK_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class Asset:
    """One file. `etag` names its content, with the quotes; it is a weak one, since it is the same packed and not."""

    body: bytes
    content_type: str
    etag: str
    is_packed: bool = False

    def for_reader(self, accepted: str) -> tuple[bytes, tuple[tuple[str, str], ...]]:
        """The bytes for somebody with this `Accept-Encoding`, and the headers that say how they are to be read."""
        if not self.is_packed:
            return self.body, ()
        varies = ("Vary", "Accept-Encoding")
        if accepts(accepted, _PACKING):
            return self.body, (varies, ("Content-Encoding", _PACKING))
        return zlib.decompress(self.body, _GZIP_BITS), (varies,)


def asset(body: bytes, content_type: str) -> Asset:
    """An asset from its content, as it is."""
    return Asset(body, content_type, _etag(hashlib.sha256(body).hexdigest()))


def load(folder: Path = STATIC) -> dict[str, Asset]:
    """Every file below `folder` by the path of its address; the index page is `/` too."""
    assets = {
        f"/{file.relative_to(folder).as_posix()}": _packed(file)
        for file in sorted(folder.rglob("*"))
        if file.suffix in CONTENT_TYPES and file.is_file()
    }
    assets["/"] = assets["/index.html"]
    return assets


def _packed(file: Path) -> Asset:
    """Read in blocks: what a file took for a moment, whole and unpacked, would stay with the process for ever."""
    digest, packer = hashlib.sha256(), zlib.compressobj(wbits=_GZIP_BITS)
    parts: list[bytes] = []
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
            parts.append(packer.compress(block))
    parts.append(packer.flush())
    return Asset(b"".join(parts), CONTENT_TYPES[file.suffix], _etag(digest.hexdigest()), is_packed=True)


def _etag(digest: str) -> str:
    return f'W/"{digest[:16]}"'
