"""What is published under which topic: pure functions from a document to messages.

The `state` document says everything; the small topics beside it (`score/…`, `left/…`, `line`) repeat parts
of it for displays that cannot read JSON, so all of them are derived from that one document and from
nothing else. `state` is always the first message: whoever follows it alone is up to date first.

Small topics that the present game does not use would keep the last game's numbers at the broker. `clear`
therefore adds an empty retained payload, which removes them, for each of them.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from appliance.grammar import how_many
from appliance.names import beside_numbers

BASE = "pocketbeam"

STATE_SCHEMA = "pocketbeam.state/1"
INFO_SCHEMA = "pocketbeam.info/1"
HEALTH_SCHEMA = "pocketbeam.health/1"
EVENT_SCHEMA = "pocketbeam.event/1"
RESPONSE_SCHEMA = "pocketbeam.response/1"
BEAM_SCHEMA = "pocketbeam.beam/1"

SCHEMAS = (STATE_SCHEMA, INFO_SCHEMA, HEALTH_SCHEMA, EVENT_SCHEMA, RESPONSE_SCHEMA, BEAM_SCHEMA)

Document = Mapping[str, Any]
"""A published document as plain JSON values; its shape is that of `appliance.mqtt.models`."""

LINE_LIMIT = 255
"""Characters in `line`: the longest text that home automation accepts as a value."""

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_LEVEL = re.compile(r"[a-z0-9-]+")
_SHORT_NAME = 20

SIDE_LEVELS = ("a", "b", "1", "2", "3", "4", "north", "south")
LEFT_LEVELS = ("a", "b", "all", "north", "south")


@dataclass(frozen=True, slots=True)
class Message:
    """One message for the broker; a `payload` of None is empty, which removes a retained topic.

    `correlation` goes with an answer, as far as the connection's version of MQTT carries it.
    """

    topic: str
    payload: str | None
    retain: bool
    qos: int
    correlation: bytes | None = None
    is_answer: bool = False


def is_level(word: str) -> bool:
    """Whether every broker carries this as one level of a topic."""
    return _LEVEL.fullmatch(word) is not None


def topic(table: str, *levels: str, base: str = BASE) -> str:
    """The full name of a table's topic; ValueError for a level that not every broker would carry."""
    for level in (table, *levels):
        if not is_level(level):
            raise ValueError(f'"{level}" cannot be part of a topic: only a to z, 0 to 9 and "-" can')
    return "/".join((base, table, *levels))


def request_topic(table: str, *, base: str = BASE) -> str:
    """Where a table listens."""
    return topic(table, "request", base=base)


def availability_message(table: str, *, online: bool, base: str = BASE) -> Message:
    """Birth (`online`), and will or farewell (`offline`): one retained topic for all three."""
    return Message(topic(table, "availability", base=base), "online" if online else "offline", True, 1)


def info_message(document: Document, *, base: str = BASE) -> Message:
    """The retained `info` document."""
    return Message(topic(document["table"], "info", base=base), to_json(document), True, 1)


def health_message(document: Document, *, base: str = BASE) -> Message:
    """The retained `health` document."""
    return Message(topic(document["table"], "health", base=base), to_json(document), True, 1)


def event_message(document: Document, *, base: str = BASE) -> Message:
    """One event; never retained, so that nobody sees an old one as news."""
    return Message(topic(document["table"], "event", base=base), to_json(document), False, 1)


def response_message(document: Document, *, base: str = BASE) -> Message:
    """The answer to one request."""
    return Message(topic(document["table"], "response", base=base), to_json(document), False, 1, is_answer=True)


def beam_message(document: Document, *, base: str = BASE) -> Message:
    """One line of a beam's diagnostics; QoS 0, because the next one is as good."""
    return Message(topic(document["table"], "beam", document["beam"], base=base), to_json(document), False, 0)


def state_messages(state: Document, *, base: str = BASE, clear: bool = False) -> Iterator[Message]:
    """The `state` document and the small topics derived from it, `state` first: it can go before they are made.

    With `clear`, small topics that this game does not use are emptied too: wanted once at the start and
    with each new match.
    """
    table: str = state["table"]

    def small(*levels: str, payload: str | None) -> Message:
        return Message(topic(table, *levels, base=base), payload, True, 1)

    yield small("state", payload=to_json(state))
    scores, left = _numbers(state["rules"])
    yield from (small("score", side, payload=number) for side, number in scores.items())
    yield from (small("left", side, payload=number) for side, number in left.items())
    yield small("line", payload=line(state))
    if clear:
        yield from (small("score", side, payload=None) for side in SIDE_LEVELS if side not in scores)
        yield from (small("left", side, payload=None) for side in LEFT_LEVELS if side not in left)


def to_json(document: Document) -> str:
    """A document as it goes over the wire: compact, and readable in any script."""
    return _COMPACT.encode(document)


def line(state: Document) -> str:
    """The whole standing in one line of text; names are shortened where it would not fit LINE_LIMIT."""
    text = _line(state, _Names(state["players"], limit=None))
    if len(text) > LINE_LIMIT:
        text = _line(state, _Names(state["players"], limit=_SHORT_NAME))
    return text if len(text) <= LINE_LIMIT else text[: LINE_LIMIT - 1] + "…"


def _numbers(rules: Document) -> tuple[dict[str, str | None], dict[str, str | None]]:
    """Scores and pieces left by topic level; None where a number is not known yet (before the line-up)."""
    match rules["game"]:
        case "money_carrom":
            board = rules["on_board"]
            return (
                {str(player["player"]): str(player["score"]) for player in rules["players"]},
                {"all": str(board["white"] + board["black"] + board["queen"])},
            )
        case "carpetball":
            balls = {name: _number(end["in_play"]) for name, end in rules["ends"].items()}
            return balls, dict(balls)
        case _:
            sides = rules["sides"]
            return (
                {name.lower(): str(side["score"]) for name, side in sides.items()},
                {name.lower(): str(9 - side["pocketed"]) for name, side in sides.items()},
            )


def _number(value: int | None) -> str | None:
    return None if value is None else str(value)


class _Names:
    """Players' names by number, cut to `limit` characters with a mark."""

    def __init__(self, players: list[Document], limit: int | None) -> None:
        self._names = {entry["player"]: beside_numbers(_shorten(entry["name"], limit)) for entry in players}

    def __getitem__(self, player: int) -> str:
        return self._names.get(player, f"Player {player}")

    def side(self, side: str) -> str:
        """The names of a carrom side: odd players are A, even ones B."""
        return " & ".join(name for player, name in self._names.items() if ("A", "B")[1 - player % 2] == side)

    @property
    def count(self) -> int:
        return len(self._names)


def _shorten(name: str, limit: int | None) -> str:
    return name if limit is None or len(name) <= limit else name[: limit - 1] + "…"


def _line(state: Document, names: _Names) -> str:
    rules: Document = state["rules"]
    if abandoned := _is_abandoned(state):
        rules = {**rules, "turn": None}
    parts = _LINES[rules["game"]](rules, names)
    if abandoned:
        parts.append("abandoned")
    questions: list[Document] = state["questions"]
    if questions:
        more = len(questions) - 1
        parts.append(_question(questions[0]) + (f" (and {more} more)" if more else ""))
    if state["paused"]:
        parts.append("paused")
    return " · ".join(part for part in parts if part)


def _is_abandoned(state: Document) -> bool:
    """Whether the match was given up: the rules know nothing of that and stand where they stood."""
    result = state["last_result"]
    return bool(result) and result.get("abandoned") is True and result["match_id"] == state["match_id"]


def _question(question: Document) -> str:
    at = f" at {question['place']}" if question["place"] else ""
    match question["kind"]:
        case "what_fell":
            return f"what fell{at}?"
        case "how_many":
            return f"how many fell{at}?"
        case "did_it_fall":
            return f"did it fall{at}?"
        case "cue":
            return f"was it the cue ball{at}?"
        case _:
            return "who shot?"


def _sides_line(rules: Document, names: _Names) -> list[str]:
    """Club and New Carrom; the colour and the pieces left are those of the side on turn."""
    a, b = rules["sides"]["A"], rules["sides"]["B"]
    parts = [f"{names.side('A')} {a['score']} – {b['score']} {names.side('B')}"]
    if rules["phase"] == "match_over":
        winner = rules["match_winner"]
        if winner in ("A", "B"):
            parts.append(f"match to {names.side(winner)}")
        else:
            parts.append("draw" if winner == "draw" else "no winner")
        return parts
    if rules["phase"] == "board_over":
        result = rules["board_result"]
        if result:
            points = how_many(result["points"], "point")
            parts.append(f"board to {names.side(result['winner'])}, {points}")
        return parts
    turn = rules["turn"]
    if turn:
        own = rules["sides"][turn["side"]]
        if names.count > 2:
            parts.append(f"{names[turn['player']]} to shoot")
        parts.append(f"{own['colour']} {9 - own['pocketed']} left")
    queen = rules["queen"]["status"]
    if queen != "on_board":
        parts.append("queen covered" if queen == "covered" else "queen to be covered")
    parts += [f"{side['colour']} owes {side['due']}" for side in (a, b) if side["due"]]
    return parts


def _money_line(rules: Document, names: _Names) -> list[str]:
    players: list[Document] = rules["players"]
    parts = [" · ".join(f"{names[player['player']]} {player['score']}" for player in players)]
    if rules["phase"] == "match_over":
        winners = [names[player] for player in rules["match_winners"]]
        if len(winners) > 1:
            parts.append(f"match shared by {', '.join(winners[:-1])} and {winners[-1]}")
        else:
            parts.append(f"match to {winners[0]}" if winners else "no winner")
        return parts
    if rules["turn"]:
        parts.append(f"{names[rules['turn']['player']]} to shoot")
    board = rules["on_board"]
    parts.append(f"{board['white'] + board['black'] + board['queen']} left")
    parts += [f"{names[player['player']]} misses a turn" for player in players if player["missed_turns"]]
    return parts


def _carpetball_line(rules: Document, names: _Names) -> list[str]:
    north, south = rules["ends"]["north"], rules["ends"]["south"]
    balls = tuple("" if end["in_play"] is None else f"{end['in_play']} " for end in (north, south))
    ends = f"North {names[north['player']]} {balls[0]}– {balls[1]}{names[south['player']]} South"
    parts = [ends]
    if rules["phase"] == "round_over":
        winner = rules["round_winner"]
        parts.append("no winner" if winner is None else f"round to {names[winner]}")
        return parts
    turn = rules["turn"]
    thrower = names[rules["ends"][turn["end"]]["player"]] if turn else None
    if rules["phase"] == "line_up":
        parts += ["line up", f"{thrower} throws first" if thrower else ""]
        return parts
    if rules["phase"] == "standoff":
        parts.append("standoff")
    if turn:
        parts += [f"{thrower} to throw", "final throw" if turn["final_throw"] else ""]
    return parts


_LINES: Mapping[str, Callable[[Document, _Names], list[str]]] = {
    "club_carrom": _sides_line,
    "new_carrom": _sides_line,
    "money_carrom": _money_line,
    "carpetball": _carpetball_line,
}
