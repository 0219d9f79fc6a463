"""What a bridge knows of its table, the words that all mappers need, and what a mapper is.

A mapper is asked two things: what has to stand now (`show`, an answer that is the same however often it is asked),
and what one event is worth (`tell`). Names are other people's words and go through here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from appliance.mqtt.topics import Document, Message

ENDS = ("match_ended", "round_won")
"""The events with which a game is over."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a table: whether it is there (None: nobody has said), and its newest `state`."""

    online: bool | None = None
    state: Document | None = None


class Mapper(Protocol):
    """One device that shows one table."""

    @property
    def refresh_s(self) -> float | None:
        """How often what stands must be said again, even when nothing changes; None: never."""

    def show(self, standing: Standing) -> Sequence[Message]:
        """What has to stand on the device now."""

    def tell(self, standing: Standing, event: Document, before: Sequence[str]) -> Sequence[Message]:
        """What an event is worth; `before` names those that came already with the same `seq`."""

    def clear(self) -> Sequence[Message]:
        """What takes everything off the device again; the first is also said when the bridge vanishes."""


def player_name(state: Document | None, player: int) -> str:
    """A player's name; one that nobody has told yet is known by the number."""
    seats: Sequence[Document] = state["players"] if state else ()
    return next((str(seat["name"]) for seat in seats if seat["player"] == player), f"Player {player}")


def side_players(state: Document | None, side: str) -> list[int]:
    """Who plays for a carrom side: odd players are A, even ones B."""
    first = 1 if side == "A" else 2
    seats: Sequence[Document] = state["players"] if state else ()
    return [seat["player"] for seat in seats if seat["player"] % 2 == first % 2] or [first]


def is_over(rules: Document) -> bool:
    """Whether a match or round is over, won or not."""
    return rules["phase"] in ("match_over", "round_over")


def winners(state: Document | None, rules: Document) -> list[int]:
    """Who has won the match or round of `rules`; nobody before its end, and in a draw."""
    match rules["game"]:
        case "money_carrom":
            return list(rules["match_winners"])
        case "carpetball":
            return [] if rules["round_winner"] is None else [rules["round_winner"]]
        case _:
            side = rules["match_winner"]
            return side_players(state, side) if side in ("A", "B") else []


def ending(event: Document) -> tuple[str, Document] | None:
    """What a correction that brings a match or round to its end is worth, and the rules with its winner.

    No other event goes with a correction, so that nobody else tells of the end.
    """
    if event["event"] != "corrected":
        return None
    after: Document = event["after"]
    if not is_over(after) or is_over(event["before"]):
        return None
    return ("round_won" if after["game"] == "carpetball" else "match_ended"), after
