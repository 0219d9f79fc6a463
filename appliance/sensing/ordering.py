"""Edges of several sources, put in order.

Each source delivers in its own order, but two links have two delays. An item waits until every other live
source has spoken of a later moment, or until it has waited for the whole window, whichever comes first; with
one source nothing ever waits.
"""

import heapq
from dataclasses import dataclass, field

from appliance.events import SourceBack, SourceInput, SourceLost

WINDOW_NS = 20_000_000


@dataclass(slots=True)
class OrderingWindow:
    """Holds what arrived early. `push` and `release` answer with what is due, in order of `at_ns`."""

    window_ns: int = WINDOW_NS
    _reached_ns: dict[str, int] = field(default_factory=dict)
    _waiting: list[tuple[int, int, int, SourceInput]] = field(default_factory=list)
    _count: int = 0

    def push(self, item: SourceInput, now_ns: int) -> list[SourceInput]:
        """Take an item that arrived at `now_ns` (host clock)."""
        if isinstance(item, SourceLost):
            self._reached_ns.pop(item.source, None)
        else:
            reached_ns = self._reached_ns.get(item.source, item.at_ns)
            self._reached_ns[item.source] = item.at_ns if isinstance(item, SourceBack) else max(reached_ns, item.at_ns)
        self._count += 1
        heapq.heappush(self._waiting, (item.at_ns, self._count, now_ns + self.window_ns, item))
        return self.release(now_ns)

    def release(self, now_ns: int) -> list[SourceInput]:
        """What is due at `now_ns`."""
        due: list[SourceInput] = []
        while self._waiting:
            at_ns, _, until_ns, item = self._waiting[0]
            others = [reached for source, reached in self._reached_ns.items() if source != item.source]
            if now_ns < until_ns and any(reached_ns < at_ns for reached_ns in others):
                break
            heapq.heappop(self._waiting)
            due.append(item)
        return due

    def deadline_ns(self) -> int | None:
        """When `release` has something at the latest; None when nothing waits."""
        return min((until_ns for _, _, until_ns, _ in self._waiting), default=None)
