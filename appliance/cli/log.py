"""Where log lines go, and which: standard error, as `warning: the words`, never the same line twice running."""

import logging
import sys

from appliance.grammar import times

LEVELS = ("debug", "info", "warning", "error")
PACKAGES = ("appliance", "sim")


class _Formatter(logging.Formatter):
    """`warning: the words`."""

    def format(self, record: logging.LogRecord) -> str:
        """The level in small letters before the message."""
        return f"{record.levelname.lower()}: {super().format(record)}"


class _Once(logging.Filter):
    """A line said again right after itself is counted, and the count told with the next other line."""

    def __init__(self) -> None:
        """Nothing has been said yet."""
        super().__init__()
        self._last: tuple[int, str] | None = None
        self._again = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write the line; a record with an exception always is."""
        line = (record.levelno, record.getMessage())
        if line == self._last and record.exc_info is None:
            self._again += 1
            return False
        if self._again:
            record.msg = f"{line[1]} (the line before came {times(self._again)} more)"
            record.args = ()
        self._last, self._again = line, 0
        return True


def set_up_logging(level: str) -> None:
    """Our own lines from `level` on; those of libraries only where they warn, or all of them for debug."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter("%(message)s"))
    handler.addFilter(_Once())
    own = getattr(logging, level.upper())
    libraries = own if level == "debug" else max(own, logging.WARNING)
    logging.basicConfig(level=libraries, handlers=[handler], force=True)
    for package in PACKAGES:
        logging.getLogger(package).setLevel(own)
