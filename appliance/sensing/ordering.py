"""Edges of several sources, put in order.

Each source delivers in its own order, and that order is kept: what a source says after something else comes
after it, even where its stamp is older (entries that a board kept while the link was down). Two links have two
delays, so an item waits until every other live source has spoken of a later moment, or until it, or something
that comes after it, has waited for the whole window; with one source nothing ever waits.
"""

import heapq
from dataclasses import dataclass, field

from appliance.events import SourceInput, SourceLost

WINDOW_NS = 20_000_000


@dataclass(slots=True)
class OrderingWindow:
    """Holds what arrived early. `push` and `release` answer with what is due, in order."""

    window_ns: int = WINDOW_NS
    _reached_ns: dict[str, int] = field(default_factory=dict)  # by source: up to when it has told everything
    _live: set[str] = field(default_factory=set)
    _waiting: list[tuple[int, int, int, SourceInput]] = field(default_factory=list)
    _count: int = 0

    def push(self, item: SourceInput, now_ns: int) -> list[SourceInput]:
        """Take an item that arrived at `now_ns` (host clock)."""
        place_ns = max(item.at_ns, self._reached_ns.get(item.source, item.at_ns))
        self._reached_ns[item.source] = place_ns
        if isinstance(item, SourceLost):
            self._live.discard(item.source)
        else:
            self._live.add(item.source)
        self._count += 1
        heapq.heappush(self._waiting, (place_ns, self._count, now_ns + self.window_ns, item))
        return self.release(now_ns)

    def release(self, now_ns: int) -> list[SourceInput]:
        """What is due at `now_ns`."""
        due: list[SourceInput] = []
        overdue = max(((place_ns, n) for place_ns, n, until_ns, _ in self._waiting if until_ns <= now_ns), default=None)
        while self._waiting:
            place_ns, n, _, item = self._waiting[0]
            in_time = overdue is None or (place_ns, n) > overdue
            others = self._live - {item.source}
            if in_time and any(self._reached_ns[source] < place_ns for source in others):
                break
            heapq.heappop(self._waiting)
            due.append(item)
        return due

    def deadline_ns(self) -> int | None:
        """When `release` has something at the latest; None when nothing waits."""
        return min((until_ns for _, _, until_ns, _ in self._waiting), default=None)
