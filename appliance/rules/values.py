"""What a decision is made of: rulings, refusals and instructions.

A *ruling* says what happened (events, folded into the state by `evolve`) and what hands must now do
(instructions, which nothing waits for). A *refusal* says why an observation cannot be; the state stays as it
was. Input that is no observation at all never gets this far (`parsing.BadInput`).
"""

from dataclasses import dataclass
from typing import Literal

from appliance.rules.events import Event

Document = dict[str, object]
RefusalCode = Literal["impossible_count", "wrong_phase", "nothing_to_undo"]


@dataclass(frozen=True, slots=True)
class Instruction:
    """What hands must do: `count` of `object` brought to `to` by a player; physical order is left to people."""

    do: str
    object: str
    count: int
    to: str
    by_player: int

    def document(self) -> Document:
        """Return the instruction as a JSON object."""
        return {
            "do": self.do,
            "object": self.object,
            "count": self.count,
            "to": self.to,
            "by_player": self.by_player,
        }


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the rules make of an observation: the events to fold, and the instructions to show."""

    events: tuple[Event, ...]
    instructions: tuple[Instruction, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an observation cannot be; `message` is a sentence for people."""

    code: RefusalCode
    message: str


def wrong_phase(message: str) -> Refusal:
    """Refuse an observation that does not belong to this moment of the game."""
    return Refusal("wrong_phase", message)


def impossible_count(message: str) -> Refusal:
    """Refuse an observation of more than the table holds."""
    return Refusal("impossible_count", message)
