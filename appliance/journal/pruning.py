"""What of the evidence is let go, and when. Facts are never touched.

Source rows go oldest first, evidence records match by match: those of the two matches that a start folds stay
whole, and within a match the newest go first, so that whatever is left, even after a power cut in the middle,
begins where the match began and folds.

Age is taken from the wall clock, and only where it was synchronised both then and now: a clock that jumps
must not throw anything away. Where it never is, the numbers alone bound the file. Freed pages are used again;
the file does not shrink and need not be rewritten.
"""

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

_NS_PER_DAY = 86_400 * 1_000_000_000
_STROKES_KEPT = 3  # ends of strokes: the open stroke's rows and those of the last two lie behind the third
_RECORDS_LOOKED_AT = 10_000
_ROWS_LOOKED_AT = 500


@dataclass(frozen=True, slots=True)
class Limits:
    """How much evidence is kept.

    `rows`: source rows, but never fewer than those of the last strokes, up to `rows_of_strokes` of them (a beam
    that flutters for days must not fill the card). `inputs`: evidence records of the newest so many inputs.
    `age_ns`: how old either may get. `per_pass`: how many of each are deleted in one go.
    """

    rows: int = 200_000
    rows_of_strokes: int = 500_000
    inputs: int = 200_000
    age_ns: int = 90 * _NS_PER_DAY
    per_pass: int = 2_000


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a pass has let go: so many source rows, and whether there may be more of anything."""

    rows: int
    may_be_more: bool


EndsStroke = Callable[[str, str], bool]
"""Whether a record of that kind and body is the end of a stroke."""


def prune(
    connection: sqlite3.Connection,
    limits: Limits,
    end: tuple[int, int],
    rows: int,
    ends_stroke: EndsStroke,
    wall_ns: int | None,
) -> Pruned:
    """Delete a pass's worth, inside the caller's transaction.

    `end` is the newest `seq` and row, `rows` how many rows there are (their numbers have gaps where a stretch has
    grown); `wall_ns` the time now, None where the clock is not synchronised.
    """
    oldest_ns = None if wall_ns is None else wall_ns - limits.age_ns
    gone = _prune_rows(connection, limits, end[1], rows, _strokes_from(connection, ends_stroke), oldest_ns)
    records = _prune_records(connection, limits, end[0], oldest_ns)
    return Pruned(gone, max(gone, records) >= limits.per_pass)


def _strokes_from(connection: sqlite3.Connection, ends_stroke: EndsStroke) -> int:
    """The newest row before the last strokes; 0 where there are no more strokes than those."""
    found: Iterable[tuple[int, str, str]] = connection.execute(
        "SELECT last_row, kind, body FROM record ORDER BY seq DESC, ordinal DESC"
    )
    ends = last_row = 0
    for number, (last_row, kind, body) in enumerate(islice(found, _RECORDS_LOOKED_AT), 1):
        ends += ends_stroke(kind, body)
        if ends == _STROKES_KEPT or number == _RECORDS_LOOKED_AT:
            return last_row
    return 0


def _prune_rows(
    connection: sqlite3.Connection, limits: Limits, newest: int, rows: int, strokes_from: int, oldest_ns: int | None
) -> int:
    too_old = 0
    if oldest_ns is not None:
        (too_old,) = _one(
            connection,
            "SELECT coalesce(max(row), 0) FROM (SELECT row, wall_ns, clock_synchronised FROM source_row"
            " ORDER BY row LIMIT ?) WHERE clock_synchronised = 1 AND wall_ns < ?",
            (_ROWS_LOOKED_AT, oldest_ns),
        )
    # The newest row stays whatever its age: the numbers go on from it.
    gone = 0
    for up_to, too_many in (
        (min(too_old, strokes_from, newest - 1), limits.per_pass),
        (min(strokes_from, newest - 1), rows - limits.rows),
        (newest - 1, rows - limits.rows_of_strokes),
    ):
        gone += connection.execute(
            "DELETE FROM source_row WHERE row IN (SELECT row FROM source_row WHERE row <= ? ORDER BY row LIMIT ?)",
            (up_to, max(0, min(too_many, limits.per_pass) - gone)),
        ).rowcount
    return gone


def _prune_records(connection: sqlite3.Connection, limits: Limits, newest: int, oldest_ns: int | None) -> int:
    pruned, folded = 0, first_match_folded(connection)
    while pruned < limits.per_pass:
        (match,) = _one(connection, "SELECT min(match) FROM record INDEXED BY evidence WHERE fact = 0")
        if match is None or match >= folded:
            break
        seq, wall_ns, synchronised = _one(
            connection,
            "SELECT seq, wall_ns, clock_synchronised FROM record INDEXED BY evidence"
            " WHERE fact = 0 AND match = ? ORDER BY seq DESC, ordinal DESC LIMIT 1",
            (match,),
        )
        is_old = oldest_ns is not None and synchronised and wall_ns < oldest_ns
        if seq > newest - limits.inputs and not is_old:
            break
        pruned += connection.execute(
            "DELETE FROM record WHERE fact = 0 AND (seq, ordinal) IN (SELECT seq, ordinal FROM record INDEXED BY"
            " evidence WHERE fact = 0 AND match = ? ORDER BY seq DESC, ordinal DESC LIMIT ?)",
            (match, limits.per_pass - pruned),
        ).rowcount
    return pruned


def first_match_folded(connection: sqlite3.Connection) -> int:
    """The number of the first match that a start reads: the one before that of the newest record."""
    (current,) = _one(
        connection, "SELECT coalesce((SELECT match FROM record ORDER BY seq DESC, ordinal DESC LIMIT 1), 0)"
    )
    (before,) = _one(connection, "SELECT max(match) FROM record WHERE match < ?", (current,))
    return int(current if before is None else before)


def _one(connection: sqlite3.Connection, statement: str, values: tuple[Any, ...] = ()) -> Any:
    return connection.execute(statement, values).fetchone()
