"""How many objects a passage is, from the widths of its pulses: one, possibly two, or perhaps none.

A disc that bounces on the rim breaks the beam again, but shorter than at first; a second pulse of nearly the same
width may be a second disc. So may one pulse that is far longer than this beam's pulses usually are. And one that
is longer still may be a disc that teeters, or a hand: then it is not clear whether anything fell.

Where one object comes behind the other (a beam without `long_single`), bounces are far shorter than anything that
falls: a later pulse of half the usual width, and twice the least that counts there, may be a second disc whatever the
first was. A colour sensor looks at every pulse, a bounce's as well; the same colour twice is two objects if the later
pulse is longer still, two and a half times the least: pulses seem up to 1.4 times as wide as they are.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from appliance.sensing.debounce import MS, DebounceSettings, Passage

Doubt = Literal["possibly_two", "unclear"]

ONLY_ONE = ("striker", "queen")

TWIN_PERCENT = 60
TWIN_LEAST_NS = 8 * MS
USUAL_FROM = 20
USUAL_KEPT = 99


@dataclass(slots=True)
class Usual:
    """The widths of a beam's newest passages; their median, in nanoseconds, once there are enough."""

    _widths_ns: deque[int] = field(default_factory=lambda: deque(maxlen=USUAL_KEPT))

    def add(self, width_ns: int) -> None:
        """Learn from a passage that will not change any more."""
        self._widths_ns.append(width_ns)

    @property
    def median_ns(self) -> int | None:
        """The usual width; None before `USUAL_FROM` passages."""
        widths_ns = sorted(self._widths_ns)
        return widths_ns[(len(widths_ns) - 1) // 2] if len(widths_ns) >= USUAL_FROM else None


def doubt_of(passage: Passage, settings: DebounceSettings, usual_ns: int | None) -> Doubt | None:
    """What is in doubt about a passage by itself; `usual_ns` is its beam's median width. None: it is one object."""
    if passage.longest_ns >= settings.unclear_from_ns:
        return "unclear"
    if (
        _has_twin(passage)
        or _is_whole(passage, settings, usual_ns, 200)
        or _is_long(passage.longest_ns, settings, usual_ns)
    ):
        return "possibly_two"
    return None


def is_twice(passage: Passage, settings: DebounceSettings, usual_ns: int | None) -> bool:
    """Whether a later pulse is longer than any bounce, where one object comes behind the other."""
    return _is_whole(passage, settings, usual_ns, 250)


def _is_whole(passage: Passage, settings: DebounceSettings, usual_ns: int | None, percent: int) -> bool:
    """Whether a later pulse takes half of what is usual, and `percent` of the least that counts."""
    if passage.merged is None or settings.long_single_ns is not None:
        return False
    least_ns = max(TWIN_LEAST_NS, settings.min_dwell_ns * percent // 100, (usual_ns or 0) // 2)
    return passage.merged.later_ns >= least_ns


def _has_twin(passage: Passage) -> bool:
    merged = passage.merged
    if merged is None or merged.later_ns < TWIN_LEAST_NS:
        return False
    return merged.later_ns * 100 >= merged.first_ns * TWIN_PERCENT


def _is_long(width_ns: int, settings: DebounceSettings, usual_ns: int | None) -> bool:
    if settings.long_single_ns is not None and width_ns > settings.long_single_ns:
        return True
    if settings.long_single_percent is None or usual_ns is None:
        return False
    return width_ns * 100 > usual_ns * settings.long_single_percent
