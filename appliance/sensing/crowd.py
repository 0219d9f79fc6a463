"""Crowds: more passages of one beam in two seconds than play brings; something else is going on there.

All of them are in doubt then. A hand, with all its pieces, is one of them: a wire that works loose passes for hands.
A beam that is crowded again and again is noisy (`noise.py`).
"""

from collections.abc import Sequence

from appliance.sensing.debounce import SECOND

CROWD_WITHIN_NS = 2 * SECOND


def crowded(starts_ns: Sequence[int], most: int) -> set[int]:
    """Those of a beam's passages, by their starts in order, that are among more than `most` within two seconds."""
    found: set[int] = set()
    for first, last in zip(starts_ns, starts_ns[most:], strict=False):
        if last - first < CROWD_WITHIN_NS:
            found.update(start for start in starts_ns if first <= start <= last)
    return found
