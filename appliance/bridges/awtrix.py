"""AWTRIX 3, a clock of 32 by 8 lamps: the score as one of its pages, match points and winners as notifications.

The page is retained, so that a clock that starts again has it at once, and has a lifetime, so that it goes away
where nobody keeps it up. It also goes away while the table is off: an old score on a wall is a wrong score. The
clock removes every page whose name begins with the one to be removed; the `_` at the end of ours, which no table's
id contains, keeps `table-1` from taking `table-10` with it.

The clock draws few letters, takes the colour black for "rainbow", and takes `{{…}}` in a text for a topic that it
shall subscribe to. So names are put into the letters that it has, and lose their braces.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from appliance.bridges.settings import AwtrixSettings
from appliance.bridges.standing import (
    ENDS,
    Standing,
    ending,
    is_over,
    player_name,
    side_players,
    winners,
)
from appliance.mqtt.topics import Document, Message, to_json

INK, SOFT, TURN, WON = "FFFFFF", "808080", "FFC832", "50E080"

SHOWN_S = 8
"""How long a notification stays that fits the clock; a longer one runs through `RUNS` times instead."""
RUNS = 2

_POLISH = "ĄąĆćĘęŁłŃńŚśŹźŻż"
_CYRILLIC = range(0x0401, 0x0460)
_LATIN = range(0x00A1, 0x0100)


@dataclass(frozen=True, slots=True)
class Awtrix:
    """One table on one clock."""

    table: str
    settings: AwtrixSettings

    @property
    def refresh_s(self) -> float | None:
        """Often enough that the clock misses two and still has the page."""
        return self.settings.lifetime_s / 3

    def show(self, standing: Standing) -> Sequence[Message]:
        """The page with the score, or no page while the table is off."""
        if standing.state is None or not standing.online:
            return self.clear()
        page: dict[str, Any] = {"text": self._text(standing.state), "lifetime": self.settings.lifetime_s}
        return [Message(self._page, to_json(self._with_icon(page)), True, 1)]

    def tell(self, standing: Standing, event: Document, before: Sequence[str]) -> Sequence[Message]:
        """A notification at a match point and at the end."""
        state = standing.state
        if event["event"] == "match_point":
            names = _names(state, side_players(state, event["side"]))
            return self._notify(f"Match point {names}", TURN)
        if event["event"] in ENDS:
            return self._won(state, _event_winners(state, event), event.get("certain") is not False)
        put_right = ending(event)
        return [] if put_right is None else self._won(state, winners(state, put_right[1]), True)

    def clear(self) -> Sequence[Message]:
        """An empty page is none."""
        return [Message(self._page, None, True, 1)]

    @property
    def _page(self) -> str:
        return f"{self.settings.prefix}/custom/pocketbeam-{self.table}_"

    def _text(self, state: Document) -> list[dict[str, str]]:
        rules: Document = state["rules"]
        parts = [] if self.settings.label is None else [(f"{drawable(self.settings.label, '')} ", SOFT)]
        if rules["phase"] == "line_up":
            parts.append(("Line up", INK))
        else:
            won, over = winners(state, rules), is_over(rules)
            for index, (number, players, on_turn) in enumerate(_numbers(state)):
                if index:
                    parts.append(("-", SOFT))
                colour = WON if over and set(players) & set(won) else TURN if on_turn else INK
                parts.append((str(number), SOFT if state["paused"] else colour))
        if state["questions"]:
            parts.append(("?", TURN))
        return [{"t": text, "c": colour} for text, colour in parts]

    def _won(self, state: Document | None, players: Sequence[int], certain: bool) -> Sequence[Message]:
        if not players:
            return self._notify("Draw", INK)
        verb = "wins" if len(players) == 1 else "win"
        return self._notify(f"{_names(state, players)} {verb}{'' if certain else '?'}", WON)

    def _notify(self, text: str, colour: str) -> Sequence[Message]:
        note = {"text": text, "color": f"#{colour}", "repeat": RUNS, "duration": SHOWN_S}
        return [Message(f"{self.settings.prefix}/notify", to_json(self._with_icon(note)), False, 1)]

    def _with_icon(self, document: dict[str, Any]) -> dict[str, Any]:
        return document if self.settings.icon is None else {**document, "icon": self.settings.icon}


def drawable(text: str, otherwise: str) -> str:
    """The text in the letters that the clock has; `otherwise` where no letter or digit is left of it."""
    kept = "".join(_drawn(character) for character in unicodedata.normalize("NFC", text))
    kept = " ".join(kept.translate({ord("{"): "(", ord("}"): ")"}).split())
    return kept if any(character.isalnum() for character in kept) else otherwise


def _drawn(character: str) -> str:
    code = ord(character)
    if 0x20 <= code < 0x7F or code in _LATIN or code in _CYRILLIC or character in _POLISH:
        return character
    bare = unicodedata.normalize("NFKD", character)[0]
    return bare if " " <= bare < "\x7f" else ""


def _names(state: Document | None, players: Sequence[int]) -> str:
    return " & ".join(drawable(player_name(state, player), f"Player {player}") for player in players)


def _event_winners(state: Document | None, event: Document) -> list[int]:
    if event["event"] == "round_won":
        return [event["player"]]
    if event.get("winners") is not None:
        return list(event["winners"])
    return side_players(state, event["winner"]) if event["winner"] in ("A", "B") else []


def _numbers(state: Document) -> list[tuple[int, list[int], bool]]:
    """Each number of the score, whose it is, and whether they are on turn."""
    rules: Document = state["rules"]
    turn: Document = rules["turn"] or {}
    match rules["game"]:
        case "money_carrom":
            return [
                (seat["score"], [seat["player"]], turn.get("player") == seat["player"]) for seat in rules["players"]
            ]
        case "carpetball":
            return [
                (end["in_play"] or 0, [end["player"]], turn.get("end") == name) for name, end in rules["ends"].items()
            ]
        case _:
            return [
                (side["score"], side_players(state, name), turn.get("side") == name)
                for name, side in rules["sides"].items()
            ]
