"""Which lamp is lit: whose turn, an open question, a fault.

Pure: lamps follow the state of the table and whether anything needs a person's hand, and remember nothing, so
that they are right after whatever happened in between.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from appliance import rules
from appliance.sensing.bank import SensorBank
from appliance.table.model import TableState
from appliance.table.view import questions

Shows = Literal["turn", "question", "fault"]


@dataclass(frozen=True, slots=True)
class Lamp:
    """A lamp at a source's output; `player` is whose turn it shows, `lit_level` the level that lights it."""

    source: str
    channel: int
    shows: Shows
    player: int | None
    lit_level: int


def is_lit(lamp: Lamp, state: TableState, *, fault: bool) -> bool:
    """Whether a lamp is lit; `fault`: something is out of service."""
    match lamp.shows:
        case "turn":
            return state.fold.in_play and rules.player_on_turn(state.fold.rules) == lamp.player
        case "question":
            return bool(questions(state.fold))
        case "fault":
            return fault


def levels(lamps: Iterable[Lamp], state: TableState, *, fault: bool) -> dict[str, dict[int, int]]:
    """By source, the level of every output that has a lamp."""
    found: dict[str, dict[int, int]] = {}
    for lamp in lamps:
        lit = is_lit(lamp, state, fault=fault)
        found.setdefault(lamp.source, {})[lamp.channel] = lamp.lit_level if lit else 1 - lamp.lit_level
    return found


def out_of_service(bank: SensorBank) -> bool:
    """Whether a beam, strike sensor or button counts nothing now.

    Not one that has not been heard yet: that shows at its source.
    """
    return any(line.is_out for line in bank.lines.values())
