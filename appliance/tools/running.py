"""Whether a daemon runs a table, without getting in its way.

The operating system's lock on the state directory tells: it ends with its holder, and a shared lock that is let
go of at once disturbs nobody (a daemon that starts in that moment waits longer than that for its own).
"""

import fcntl
import os
from pathlib import Path

from appliance.journal.lock import LOCK_FILE


def holder(directory: Path) -> str | None:
    """Who runs the table with this state directory ("process 4711"); None where nobody does.

    Raises OSError where the directory is there and cannot be looked into.
    """
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _name(directory)
    finally:
        os.close(descriptor)
    return None


def _name(directory: Path) -> str:
    try:
        lines = (directory / LOCK_FILE).read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    process = next((line for line in lines if line.startswith("process: ")), None)
    return f"process {process.removeprefix('process: ')}" if process else "another process"
