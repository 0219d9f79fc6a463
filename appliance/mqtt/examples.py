"""One example of each message, for the AsyncAPI document: an evening at the table `club-1`, told by its messages."""

from collections.abc import Mapping
from typing import Any

_ENVELOPE: Mapping[str, Any] = {
    "table": "club-1",
    "match_id": "m3",
    "seq": 41,
    "at": "2026-03-01T19:30:05.250Z",
    "clock_synchronised": True,
}

_PLAYERS = [{"player": 1, "name": "Asha"}, {"player": 2, "name": "Ben"}]


def _rules(score: int, queen: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "game": "club_carrom",
        "phase": "playing",
        "board": 2,
        "turn": {"player": 1, "side": "A", "must_cover": False},
        "sides": {
            "A": {"colour": "white", "pocketed": 5, "due": 0, "score": score},
            "B": {"colour": "black", "pocketed": 3, "due": 1, "score": 9},
        },
        "queen": dict(queen),
        "board_result": None,
        "match_winner": None,
    }


_COVERED = _rules(12, {"status": "covered", "side": "A"})

PUBLISHED: Mapping[str, Mapping[str, Any]] = {
    "State": {
        "schema": "pocketbeam.state/1",
        **_ENVELOPE,
        "paused": False,
        "rules": _COVERED,
        "stroke": {
            "number": 13,
            "player": 1,
            "fallen": [
                {
                    "passage_id": "p31",
                    "place": "ne",
                    "object": None,
                    "candidates": ["white", "black"],
                    "how": "unknown",
                    "provisional": True,
                    "doubt": None,
                }
            ],
            "jumped": [],
        },
        "pending": [],
        "questions": [
            {
                "id": "q7",
                "stroke": 12,
                "kind": "what_fell",
                "place": "sw",
                "candidates": ["white", "black"],
                "assumed": "white",
                "passage_id": "p30",
            }
        ],
        "instructions": [
            {"do": "return", "object": "black", "count": 1, "to": "centre_circle", "by_player": 1},
        ],
        "players": _PLAYERS,
        "last_result": {
            "match_id": "m3",
            "certain": True,
            "abandoned": False,
            "board": 1,
            "board_result": {"winner": "A", "points": 12},
        },
    },
    "Info": {
        "schema": "pocketbeam.info/1",
        **_ENVELOPE,
        "version": "0.1.0",
        "schemas": ["pocketbeam.state/1", "pocketbeam.event/1"],
        "game": "club_carrom",
        "options": {"cc.target": 29, "cc.queen_limit": 22},
        "players": _PLAYERS,
        "unknown_object": "ask_then_assume",
        "quiet_time_s": 6,
        "sources": [{"id": "board", "kind": "serial"}],
        "beams": [{"id": "ne", "source": "board", "place": "ne", "passes": ["white", "black", "queen", "striker"]}],
        "pending_configuration": [],
    },
    "Health": {
        "schema": "pocketbeam.health/1",
        **_ENVELOPE,
        "valid_for_s": 15,
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
                "reason": "Something lies in the beam: look at the pocket.",
            }
        },
        "strays": {"unknown_channels": 0, "unplaced_colours": 0, "reason": None},
        "sources": {"board": {"state": "ok", "board": "ATmega328P", "reason": None, "counters": {"frames_bad": 1}}},
        "journal": {"safe": True, "reason": None, "queue": 0, "counters": {}},
        "broker": {"connected": True, "reason": None, "counters": {"connects": 1, "dropped": 0}},
        "clock": {"synchronised": True},
    },
    "Event": {
        "schema": "pocketbeam.event/1",
        **_ENVELOPE,
        "event": "queen_covered",
        "event_id": "41.2",
        "side": "A",
        "player": 1,
        "stroke": 12,
    },
    "Corrected": {
        "schema": "pocketbeam.event/1",
        **_ENVELOPE,
        "event": "corrected",
        "event_id": "41.1",
        "stroke": 12,
        "before": _rules(9, {"status": "on_board", "side": None}),
        "after": _COVERED,
    },
    "Response": {
        "schema": "pocketbeam.response/1",
        **_ENVELOPE,
        "transaction": "7f3a",
        "ok": False,
        "error": {"code": "later_stroke_impossible", "message": "Stroke 14 would be impossible.", "stroke": 14},
    },
    "Beam": {
        "schema": "pocketbeam.beam/1",
        **_ENVELOPE,
        "beam": "ne",
        "what": "passage",
        "active": False,
        "passage_id": "p31",
        "dwell_us": 34_000,
        "gap_us": 900_000,
    },
}
"""What a table says, by the name of the model."""

REQUESTS: Mapping[str, Mapping[str, Any]] = {
    "EndStroke": {"command": "end_stroke", "player": 1},
    "StrokeByHand": {"command": "stroke", "pocketed": ["white", "queen"], "jumped": []},
    "ThrowByHand": {"command": "throw", "out": {"north": 0, "south": 2}, "off_table": 0},
    "Jumped": {"command": "jumped", "objects": ["black"]},
    "LineUp": {"command": "line_up", "north": 7, "south": 7},
    "Withdraw": {"command": "withdraw", "end": "north", "balls": 1},
    "NameObject": {"command": "object", "object": "queen", "place": "ne"},
    "Answer": {"command": "answer", "question": "q7", "value": "white"},
    "Recount": {"command": "recount", "queen": {"status": "on_board", "side": None}},
    "Correct": {"command": "correct", "stroke": 12, "pocketed": ["white", "queen"]},
    "NewMatch": {"command": "new_match", "game": "club_carrom", "players": ["Asha", {"id": "b7", "name": "Ben"}]},
    "Players": {"command": "players", "swap": [1, 2]},
    "WatchBeams": {"command": "diagnostics", "seconds": 60},
    "Plain": {"command": "undo"},
}
"""What may be asked of it, by the name of the model."""

PLAIN: Mapping[str, str] = {
    "availability": "online",
    "homeAssistant": "online",
    "score": "12",
    "left": "4",
    "line": "Asha 12 – 9 Ben · white 4 left · queen covered",
}
"""What is no JSON, by topic."""
