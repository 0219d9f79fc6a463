"""What a link counts: nothing that is dropped, repeated or refused goes unseen."""

from dataclasses import dataclass, replace
from typing import Literal, Self

Countable = Literal[
    "frames",
    "bad_frames",
    "discarded_bytes",
    "unknown_kinds",
    "unknown_entries",
    "strangers",
    "entries",
    "duplicates",
    "gaps",
    "naks",
    "boots",
    "silences",
]


@dataclass(frozen=True, slots=True)
class LinkCounters:
    """What has happened on one link since the program began.

    `frames` are whole ones, `bad_frames` the others, `discarded_bytes` their bytes. `strangers` are frames
    of a board that has not said hello or of an earlier boot. `entries` were handed over, `duplicates` came
    again. `gaps` are the times when something was missing, `naks` those sent, `boots` the boots met,
    `silences` the times when the link was declared lost for want of frames. What begins with `board_` is
    the board's own count since its boot, `board_muted` the inputs that it does not listen to now.
    """

    frames: int = 0
    bad_frames: int = 0
    discarded_bytes: int = 0
    unknown_kinds: int = 0
    unknown_entries: int = 0
    strangers: int = 0
    entries: int = 0
    duplicates: int = 0
    gaps: int = 0
    naks: int = 0
    boots: int = 0
    silences: int = 0
    round_trip_ns: int = 0
    skew_ppb: int = 0
    board_lost: int = 0
    board_bad_frames: int = 0
    board_resent: int = 0
    board_muted: int = 0

    def plus(self, what: Countable, by: int = 1) -> Self:
        """Return these counters with one of them raised."""
        return replace(self, **{what: getattr(self, what) + by})
