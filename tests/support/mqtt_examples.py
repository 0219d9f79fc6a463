"""Published documents written by hand: one standing of each game, and one of each other document."""

from typing import Any

ENVELOPE: dict[str, Any] = {
    "table": "club-1",
    "match_id": "m3",
    "seq": 41,
    "at": "2026-03-01T19:30:05.250Z",
    "clock_synchronised": True,
}

CLUB: dict[str, Any] = {
    "game": "club_carrom",
    "phase": "playing",
    "board": 2,
    "turn": {"player": 1, "side": "A", "must_cover": False},
    "sides": {
        "A": {"colour": "white", "pocketed": 5, "due": 0, "score": 12},
        "B": {"colour": "black", "pocketed": 3, "due": 0, "score": 9},
    },
    "queen": {"status": "covered", "side": "A"},
    "board_result": None,
    "match_winner": None,
}

NEW: dict[str, Any] = {
    "game": "new_carrom",
    "phase": "playing",
    "board": 1,
    "turn": {"player": 2, "side": "B", "must_cover": True},
    "sides": {
        "A": {"colour": "white", "pocketed": 0, "due": 1, "score": 0},
        "B": {"colour": "black", "pocketed": 4, "due": 0, "score": 0},
    },
    "queen": {"status": "uncovered", "side": "B"},
    "board_result": None,
    "match_winner": None,
}

MONEY: dict[str, Any] = {
    "game": "money_carrom",
    "phase": "playing",
    "board": 1,
    "turn": {"player": 3},
    "players": [
        {"player": 1, "score": 7, "missed_turns": 0},
        {"player": 2, "score": 4, "missed_turns": 1},
        {"player": 3, "score": 0, "missed_turns": 0},
    ],
    "on_board": {"white": 6, "black": 8, "queen": 0},
    "match_winners": [],
}

CARPETBALL: dict[str, Any] = {
    "game": "carpetball",
    "phase": "round",
    "round": 1,
    "turn": {"end": "south", "final_throw": True},
    "ends": {"north": {"player": 1, "in_play": 5}, "south": {"player": 2, "in_play": 3}},
    "queue": [3],
    "round_winner": None,
}

NAMES = ("Asha", "Ben", "Cara", "Dan")


def state(rules: dict[str, Any], players: int, **changes: Any) -> dict[str, Any]:
    """A `state` document around a standing, with nothing going on; `changes` replace keys of it."""
    return {
        "schema": "pocketbeam.state/1",
        **ENVELOPE,
        "paused": False,
        "rules": rules,
        "stroke": None,
        "pending": [],
        "questions": [],
        "instructions": [],
        "players": [{"player": n, "name": NAMES[n - 1]} for n in range(1, players + 1)],
        "last_result": None,
        **changes,
    }


STATES: dict[str, dict[str, Any]] = {
    "club_carrom": state(CLUB, 2),
    "new_carrom": state(NEW, 2),
    "money_carrom": state(MONEY, 3),
    "carpetball": state(CARPETBALL, 3),
}

BUSY: dict[str, Any] = state(
    CLUB,
    2,
    stroke={
        "number": 13,
        "player": None,
        "fallen": [
            {
                "passage_id": "p31",
                "place": "ne",
                "object": None,
                "candidates": ["white", "queen"],
                "how": "unknown",
                "provisional": True,
            }
        ],
        "jumped": ["black"],
    },
    pending=[
        {
            "number": 12,
            "player": 1,
            "fallen": [
                {
                    "passage_id": "p30",
                    "place": "sw",
                    "object": "striker",
                    "candidates": ["striker"],
                    "how": "beam",
                    "provisional": False,
                }
            ],
            "jumped": [],
        }
    ],
    questions=[
        {
            "id": "q7",
            "stroke": 12,
            "kind": "what_fell",
            "place": "sw",
            "candidates": ["white", "queen"],
            "assumed": None,
        },
        {
            "id": "q8",
            "stroke": 12,
            "kind": "who_shot",
            "place": None,
            "candidates": [1, 2],
            "assumed": 1,
        },
    ],
    instructions=[{"do": "return", "object": "white", "count": 1, "to": "centre_circle", "by_player": 2}],
    last_result={"match_id": "m3", "certain": False, "board": 1, "board_result": {"winner": "A", "points": 12}},
)

INFO: dict[str, Any] = {
    "schema": "pocketbeam.info/1",
    **ENVELOPE,
    "version": "0.1.0",
    "schemas": ["pocketbeam.state/1"],
    "game": "money_carrom",
    "options": {"mc.values": [1, 2, 5], "mc.end": "first_to_17", "x.break_tries": 3},
    "players": [{"player": 1, "name": "Asha", "id": "a17"}, {"player": 2, "name": "Ben"}],
    "unknown_object": "ask_then_assume",
    "quiet_time_s": 6,
    "sources": [{"id": "board", "kind": "serial"}],
    "beams": [{"id": "ne", "source": "board", "place": "ne", "passes": ["striker"]}],
    "pending_configuration": ["The option mc.end becomes all_pieces with the next match."],
}

HEALTH: dict[str, Any] = {
    "schema": "pocketbeam.health/1",
    **ENVELOPE,
    "valid_for_s": 30,
    "started_at": "2026-03-01T17:00:00.000Z",
    "beams": {
        "ne": {
            "state": "blocked",
            "since_s": 12.5,
            "passages": 40,
            "glitches": 2,
            "near_misses": 0,
            "uncounted": 3,
            "summed": 0,
            "reason": "The beam is broken for 12 s: something lies in the pocket.",
        }
    },
    "strays": {"unknown_channels": 0, "unplaced_colours": 0, "reason": None},
    "sources": {"board": {"state": "ok", "board": "simulated board", "reason": None, "counters": {"frames_bad": 1}}},
    "journal": {"safe": True, "reason": None, "queue": 0, "counters": {}},
    "broker": {"connected": True, "reason": None, "counters": {"dropped": 0}},
    "clock": {"synchronised": True},
}

EVENT: dict[str, Any] = {
    "schema": "pocketbeam.event/1",
    **ENVELOPE,
    "event": "queen_covered",
    "event_id": "41.2",
    "side": "A",
    "player": 1,
    "stroke": 12,
}

CORRECTED: dict[str, Any] = {
    "schema": "pocketbeam.event/1",
    **ENVELOPE,
    "event": "corrected",
    "event_id": "41.1",
    "stroke": 12,
    "before": NEW,
    "after": CLUB,
}

DONE: dict[str, Any] = {"schema": "pocketbeam.response/1", **ENVELOPE, "transaction": "t1", "ok": True}

REFUSED: dict[str, Any] = {
    "schema": "pocketbeam.response/1",
    **ENVELOPE,
    "transaction": None,
    "ok": False,
    "error": {"code": "later_stroke_impossible", "message": "Stroke 14 would be impossible.", "stroke": 14},
}

BEAM: dict[str, Any] = {
    "schema": "pocketbeam.beam/1",
    **ENVELOPE,
    "beam": "ne",
    "what": "passage",
    "active": False,
    "passage_id": "p31",
    "dwell_us": 34_000,
    "gap_us": 900_000,
}
