"""Where the journal's tests put their files."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_MEMORY = Path("/dev/shm")
_NEEDED_BYTES = 256 * 1024 * 1024


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """A file system in memory where there is one: nothing here depends on a disk, and syncs take real time.

    What a killed process leaves is the same on both; what a power cut leaves is worked out from the system
    calls themselves.
    """
    if not _MEMORY.is_dir() or shutil.disk_usage(_MEMORY).free < _NEEDED_BYTES:
        yield tmp_path
        return
    directory = Path(tempfile.mkdtemp(dir=_MEMORY))
    yield directory
    shutil.rmtree(directory, ignore_errors=True)
