"""How many objects a passage was, where its beam could not say: what settles it, and what each answer makes of it.

A person's word settles it, in whatever form: the object's name, a number, yes or no. So does a colour: the sensor
has seen one object, and tells of a second one by itself. What only one object could have been is one.

There is one striker, and one queen. Where the sensors of a stroke tell of her twice, one of them is wrong, and nobody
knows which: the first is *contested*, and asked about; the others are none as soon as it is confirmed.
"""

from collections.abc import Sequence
from dataclasses import replace

from appliance.sensing.doubt import ONLY_ONE, Doubt
from appliance.table.model import NOTHING, Fallen

SECOND = "b"
"""What the id of a passage's second object ends in."""


def is_nothing(fallen: Fallen) -> bool:
    """Whether it is known that no object fell."""
    return fallen.withdrawn is not None or fallen.told == NOTHING


def open_doubt(fallen: Fallen) -> Doubt | None:
    """What nobody has settled about a passage by itself."""
    settled = fallen.told is not None or fallen.withdrawn is not None or fallen.by_colour
    return None if settled else fallen.doubt


def contested(seen: Sequence[Fallen]) -> frozenset[str]:
    """The ids of what sensors tell more often in one stroke than there is of it: the first of each kind."""
    found: set[str] = set()
    open_now = [fallen for fallen in seen if fallen.told is None and not is_nothing(fallen)]
    for name in ONLY_ONE:
        told = any(fallen.told == name for fallen in seen)
        claims = [fallen for fallen in open_now if fallen.candidates == (name,)]
        plain = [fallen.passage_id for fallen in claims if open_doubt(fallen) != "unclear"]
        if len(claims) > 1 and plain and not told:
            found.add(plain[0])
    return frozenset(found)


def settled_as(fallen: Fallen, value: str | int) -> tuple[Fallen, ...]:
    """What a passage is after an answer: an object's name, how many it was, or whether something fell.

    Of what can be one thing only, a number says what it was as well.
    """
    if isinstance(value, str):
        return (replace(fallen, told=value, doubt=None),)
    if value == 0:
        return (replace(fallen, told=NOTHING, doubt=None),)
    only = fallen.candidates[0] if len(fallen.candidates) == 1 else None
    one = replace(fallen, doubt=None, told=only)
    return (one,) if value == 1 else (one, second_of(one))


def second_of(fallen: Fallen) -> Fallen:
    """The other object of a passage that was two."""
    return replace(fallen, passage_id=fallen.passage_id + SECOND)


def number_of(passage_id: str) -> int:
    """The number in a passage's id."""
    return int(passage_id.removeprefix("p").removesuffix(SECOND))
