"""Hands: what passes for too long, and the pulses near it.

A hand that reaches into a pocket, or something that comes to lie in the beam, breaks it for `hand_from_ns` or more.
Fingers break it shortly before and after as well: pulses closer than `hand_gap_ns` belong to the hand, and so do
those that are as close to them.
"""

from collections.abc import Sequence

from appliance.sensing.debounce import DebounceSettings

Stretch = tuple[int, int]
"""From when to when, in nanoseconds."""


def is_hand(stretch: Stretch, settings: DebounceSettings) -> bool:
    """Whether a beam that was broken for that long saw a hand."""
    return stretch[1] - stretch[0] >= settings.hand_from_ns


def of_the_hand(hands: Sequence[Stretch], others: Sequence[Stretch], gap_ns: int) -> list[int]:
    """Which of `others`, by index, belong to one of `hands`."""
    known, open_now, found = list(hands), dict(enumerate(others)), list[int]()
    while known:
        hand = known.pop()
        near = [index for index, other in open_now.items() if apart_ns(hand, other) < gap_ns]
        known += [open_now.pop(index) for index in near]
        found += near
    return found


def apart_ns(one: Stretch, other: Stretch) -> int:
    """The time between two stretches; negative where they overlap."""
    return max(one[0], other[0]) - min(one[1], other[1])
