"""Hand-written documents of a table, one builder a game; none of them comes from the program."""

from typing import Any

Json = dict[str, Any]
NAMES = ("Asha", "Ben", "Chitra", "Dev")


def state(rules: Json, names: tuple[str, ...] = ("Asha", "Ben"), **more: Any) -> Json:
    return {
        "schema": "pocketbeam.state/1",
        "table": "t1",
        "match_id": "m1",
        "seq": 41,
        "at": "2026-01-02T10:20:30Z",
        "clock_synchronised": True,
        "paused": False,
        "rules": rules,
        "stroke": None,
        "pending": [],
        "questions": [],
        "instructions": [],
        "players": [{"player": number, "name": name} for number, name in enumerate(names, 1)],
        "last_result": None,
        **more,
    }


def side(colour: str, pocketed: int = 0, due: int = 0, score: int = 0) -> Json:
    return {"colour": colour, "pocketed": pocketed, "due": due, "score": score}


def carrom(game: str = "club_carrom", **more: Any) -> Json:
    return {
        "game": game,
        "phase": "playing",
        "board": 2,
        "turn": {"player": 1, "side": "A", "must_cover": False},
        "sides": {"A": side("white", 5, 0, 12), "B": side("black", 0, 1, 9)},
        "queen": {"status": "on_board", "side": None},
        "board_result": None,
        "match_winner": None,
        **more,
    }


def money(scores: tuple[int, ...] = (14, 7, 5, 0), **more: Any) -> Json:
    return {
        "game": "money_carrom",
        "phase": "playing",
        "board": 1,
        "turn": {"player": 3},
        "players": [{"player": number, "score": score, "missed_turns": 0} for number, score in enumerate(scores, 1)],
        "on_board": {"white": 4, "black": 6, "queen": 1},
        "match_winners": [],
        **more,
    }


def carpetball(**more: Any) -> Json:
    return {
        "game": "carpetball",
        "phase": "round",
        "round": 3,
        "turn": {"end": "south", "final_throw": False},
        "ends": {"north": {"player": 1, "in_play": 2}, "south": {"player": 2, "in_play": 4}},
        "queue": [3, 4],
        "round_winner": None,
        **more,
    }


def fallen(place: str, thing: str | None, *candidates: str, provisional: bool = False) -> Json:
    return {
        "passage_id": "p1",
        "place": place,
        "object": thing,
        "candidates": list(candidates),
        "how": "colour" if thing else "unknown",
        "provisional": provisional,
    }


def health(valid_for_s: float, **more: Any) -> Json:
    return {
        "schema": "pocketbeam.health/1",
        "table": "t1",
        "match_id": "m1",
        "seq": 41,
        "at": "2026-01-02T10:20:30Z",
        "clock_synchronised": False,
        "valid_for_s": valid_for_s,
        "started_at": "2026-01-02T10:20:00Z",
        "beams": {},
        "strays": {"unknown_channels": 0, "unplaced_colours": 0, "reason": None},
        "sources": {},
        "journal": {"safe": True, "reason": None, "queue": 0, "counters": {}},
        "broker": {"connected": True, "reason": None, "counters": {}},
        "clock": {"synchronised": False},
        **more,
    }


def event(name: str, event_id: str, **more: Any) -> Json:
    return {
        "schema": "pocketbeam.event/1",
        "table": "t1",
        "match_id": "m1",
        "seq": 41,
        "at": "2026-01-02T10:20:30Z",
        "clock_synchronised": True,
        "event": name,
        "event_id": event_id,
        **more,
    }
