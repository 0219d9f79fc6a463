"""What a journal keeps of noise, in sentences: whatever came in and is not there by itself can be seen here."""

from collections.abc import Iterable

from appliance.documents import instant
from appliance.grammar import how_many
from appliance.journal import SourceRow, Stretch

_NS_PER_MS = 1_000_000


def sums(rows: Iterable[SourceRow]) -> list[str]:
    """One sentence for each channel of which changes were kept as a sum, and not one by one."""
    found: dict[tuple[str, int], list[tuple[SourceRow, Stretch]]] = {}
    for row in rows:
        if row.stretch is not None:
            found.setdefault((row.source, row.channel), []).append((row, row.stretch))
    return [_sentence(*key, found[key]) for key in sorted(found)]


def _sentence(source: str, channel: int, rows: list[tuple[SourceRow, Stretch]]) -> str:
    edges = sum(stretch.edges for _, stretch in rows)
    first, last = rows[0], rows[-1][0]
    since = instant(first[0].stamp.wall_ns - (first[0].stamp.monotonic_ns - first[1].since_ns))
    shortest = [stretch.shortest_ns for _, stretch in rows if stretch.shortest_ns is not None]
    longest = [stretch.longest_ns for _, stretch in rows if stretch.longest_ns is not None]
    broken = f", broken for {_ms(min(shortest))} to {_ms(max(longest))} ms" if shortest and longest else ""
    kept = how_many(edges, "change of noise is kept as a sum", "changes of noise are kept as a sum")
    return f"{source}, channel {channel}: {kept}, {since} to {instant(last.stamp.wall_ns)}{broken}"


def _ms(width_ns: int) -> str:
    return f"{width_ns / _NS_PER_MS:.2f}"
