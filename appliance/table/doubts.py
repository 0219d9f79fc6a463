"""How many objects a passage was, where its beam could not say: what settles it, and what each answer makes of it.

A person's word settles it, in whatever form: the object's name, a number, yes or no. So does a colour: the sensor
has seen one object, and tells of a second one by itself. What only one object could have been is one.
"""

from dataclasses import replace

from appliance.sensing.doubt import Doubt
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


def settled_as(fallen: Fallen, value: str | int) -> tuple[Fallen, ...]:
    """What a passage is after an answer: an object's name, how many it was, or whether something fell."""
    if isinstance(value, str):
        return (replace(fallen, told=value, doubt=None),)
    if value == 0:
        return (replace(fallen, told=NOTHING, doubt=None),)
    one = replace(fallen, doubt=None)
    return (one,) if value == 1 else (one, second_of(one))


def second_of(fallen: Fallen) -> Fallen:
    """The other object of a passage that was two."""
    return replace(fallen, passage_id=fallen.passage_id + SECOND)


def number_of(passage_id: str) -> int:
    """The number in a passage's id."""
    return int(passage_id.removeprefix("p").removesuffix(SECOND))
