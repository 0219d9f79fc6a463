"""The small topics say what the state document says, for every game and phase."""

import copy
import json
from typing import Any

import pytest

from appliance.mqtt import topics
from appliance.mqtt.topics import Message
from tests.support import mqtt_examples as examples
from tests.support.validated import validate


def small(state: dict[str, Any], *, clear: bool = False) -> dict[str, str | None]:
    """Payloads of all topics but `state`, by the part of the topic after the table."""
    messages = list(topics.state_messages(state, clear=clear))
    return {message.topic.removeprefix("pocketbeam/club-1/"): message.payload for message in messages[1:]}


@pytest.mark.parametrize("game", examples.STATES)
def test_state_goes_first_and_everything_is_retained_with_qos_1(game: str) -> None:
    state = examples.STATES[game]
    messages = list(topics.state_messages(state, clear=True))
    assert messages[0] == Message("pocketbeam/club-1/state", messages[0].payload, True, 1)
    assert json.loads(messages[0].payload or "") == state
    assert {(message.retain, message.qos) for message in messages} == {(True, 1)}
    assert len({message.topic for message in messages}) == len(messages)
    for message in messages:
        validate(message.topic, message.payload or "") if message.payload is not None else None


SMALL = {
    "club_carrom": {
        "score/a": "12", "score/b": "9", "left/a": "4", "left/b": "6",
        "line": "Asha 12 – 9 Ben · white 4 left · queen covered",
    },
    "new_carrom": {
        "score/a": "0", "score/b": "0", "left/a": "9", "left/b": "5",
        "line": "Asha 0 – 0 Ben · black 5 left · queen to be covered · white owes 1",
    },
    "money_carrom": {
        "score/1": "7", "score/2": "4", "score/3": "0", "left/all": "14",
        "line": "Asha 7 · Ben 4 · Cara 0 · Cara to shoot · 14 left · Ben misses a turn",
    },
    "carpetball": {
        "score/north": "5", "score/south": "3", "left/north": "5", "left/south": "3",
        "line": "North Asha 5 – 3 Ben South · Ben to throw · final throw",
    },
}  # fmt: skip

EVERY_SMALL = {topic for game in SMALL.values() for topic in game} | {"score/4"}


@pytest.mark.parametrize("game", SMALL)
def test_small_topics_of_each_game(game: str) -> None:
    assert small(examples.STATES[game]) == SMALL[game]


@pytest.mark.parametrize("game", SMALL)
def test_clearing_empties_exactly_what_the_game_does_not_use(game: str) -> None:
    cleared = small(examples.STATES[game], clear=True)
    assert cleared == {topic: SMALL[game].get(topic) for topic in EVERY_SMALL}


def changed(rules: dict[str, Any], **changes: Any) -> dict[str, Any]:
    document = copy.deepcopy(rules)
    for path, value in changes.items():
        *steps, last = path.split("__")
        node = document
        for step in steps:
            node = node[step]
        node[last] = value
    return document


C, N, M, B = examples.CLUB, examples.NEW, examples.MONEY, examples.CARPETBALL
QUESTION = {"id": "q7", "stroke": 3, "kind": "what_fell", "place": "ne", "candidates": [], "assumed": None}


def over(rules: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return changed(rules, phase="match_over", turn=None, **changes)


@pytest.mark.parametrize(
    ("state", "line"),
    [
        (examples.state(changed(C, queen={"status": "on_board", "side": None}), 2), "Asha 12 – 9 Ben · white 4 left"),
        (
            examples.state(changed(C, turn={"player": 4, "side": "B", "must_cover": False}), 4),
            "Asha & Cara 12 – 9 Ben & Dan · Dan to shoot · black 6 left · queen covered",
        ),
        (
            examples.state(
                changed(C, phase="board_over", turn=None, board_result={"winner": "B", "points": 7}), 2
            ),
            "Asha 12 – 9 Ben · board to Ben, 7 points",
        ),
        (
            examples.state(
                changed(N, phase="board_over", turn=None, board_result={"winner": "A", "points": 1}), 2
            ),
            "Asha 0 – 0 Ben · board to Asha, 1 point",
        ),
        (examples.state(over(C, match_winner="A", sides__A__score=29), 2), "Asha 29 – 9 Ben · match to Asha"),
        (
            examples.state(over(C, match_winner="B"), 4),
            "Asha & Cara 12 – 9 Ben & Dan · match to Ben & Dan",
        ),
        (examples.state(over(C, match_winner="draw"), 2), "Asha 12 – 9 Ben · draw"),
        (examples.state(over(C), 2), "Asha 12 – 9 Ben · no winner"),
        (examples.state(over(M, match_winners=[1]), 3), "Asha 7 · Ben 4 · Cara 0 · match to Asha"),
        (
            examples.state(over(M, match_winners=[1, 2, 3]), 3),
            "Asha 7 · Ben 4 · Cara 0 · match shared by Asha, Ben and Cara",
        ),
        (examples.state(over(M), 3), "Asha 7 · Ben 4 · Cara 0 · no winner"),
        (
            examples.state(
                changed(
                    B,
                    phase="line_up",
                    turn={"end": "north", "final_throw": False},
                    ends__north__in_play=None,
                    ends__south__in_play=None,
                ),
                2,
            ),
            "North Asha – Ben South · line up · Asha throws first",
        ),
        (
            examples.state(changed(B, phase="standoff", turn={"end": "north", "final_throw": False}), 2),
            "North Asha 5 – 3 Ben South · standoff · Asha to throw",
        ),
        (
            examples.state(changed(B, phase="round_over", turn=None, round_winner=1, ends__south__in_play=0), 2),
            "North Asha 5 – 0 Ben South · round to Asha",
        ),
        (
            examples.state(changed(B, phase="round_over", turn=None), 2),
            "North Asha 5 – 3 Ben South · no winner",
        ),
        (
            examples.state(changed(B, ends__north__player=3), 3),
            "North Cara 5 – 3 Ben South · Ben to throw · final throw",
        ),
        (
            examples.state(C, 2, last_result={"match_id": "m3", "abandoned": True, "certain": True}),
            "Asha 12 – 9 Ben · queen covered · abandoned",
        ),
        (
            examples.state(C, 2, last_result={"match_id": "m2", "abandoned": True, "certain": True}),
            "Asha 12 – 9 Ben · white 4 left · queen covered",
        ),
        (
            examples.state(C, 2, paused=True),
            "Asha 12 – 9 Ben · white 4 left · queen covered · paused",
        ),
        (
            examples.state(C, 2, questions=[QUESTION]),
            "Asha 12 – 9 Ben · white 4 left · queen covered · what fell at ne?",
        ),
        (
            examples.state(C, 2, questions=[{**QUESTION, "kind": "who_shot", "place": None}, QUESTION, QUESTION]),
            "Asha 12 – 9 Ben · white 4 left · queen covered · who shot? (and 2 more)",
        ),
        (
            examples.state(B, 2, questions=[{**QUESTION, "kind": "cue", "place": "south"}]),
            "North Asha 5 – 3 Ben South · Ben to throw · final throw · was it the cue ball at south?",
        ),
        (
            examples.state(C, 2, questions=[{**QUESTION, "kind": "how_many"}], paused=True),
            "Asha 12 – 9 Ben · white 4 left · queen covered · how many fell at ne? · paused",
        ),
        (
            examples.state(C, 2, questions=[{**QUESTION, "kind": "did_it_fall"}]),
            "Asha 12 – 9 Ben · white 4 left · queen covered · did it fall at ne?",
        ),
    ],
)  # fmt: skip
def test_the_line(state: dict[str, Any], line: str) -> None:
    assert topics.line(state) == line


def test_balls_that_are_not_lined_up_have_no_number() -> None:
    rules = changed(B, phase="line_up", ends__north__in_play=None, ends__south__in_play=None)
    payloads = small(examples.state(rules, 2))
    assert payloads["score/north"] is None
    assert payloads["left/south"] is None


def test_long_names_are_shortened_only_where_the_line_would_be_too_long() -> None:
    long = [{"player": n, "name": f"{n}" * 40} for n in (1, 2, 3, 4)]
    assert "3" * 40 in topics.line({**examples.state(C, 2), "players": [*long[:1], *long[2:3]]})
    text = topics.line({**examples.state(over(C, match_winner="A"), 4, questions=[QUESTION]), "players": long})
    assert len(text) <= 255
    assert f"{'2' * 19}… & {'4' * 19}…" in text
    assert text.endswith("what fell at ne?")


@pytest.mark.parametrize("name", ["<b>Asha</b>", "#", "+/a", "Ålä – ½", "👩‍👩‍👧", '"quoted"\\'])
def test_names_are_carried_as_they_are(name: str) -> None:
    state = {**examples.state(C, 2), "players": [{"player": 1, "name": name}, {"player": 2, "name": "Ben"}]}
    messages = list(topics.state_messages(state))
    assert validate(messages[0].topic, messages[0].payload or "")["players"][0]["name"] == name
    assert (messages[-1].payload or "").startswith(f"{name} 12 – 9 Ben")


@pytest.mark.parametrize("name", ["עידו", "عائشة", "עידו & Ben"])
def test_a_name_from_right_to_left_does_not_take_the_score_with_it(name: str) -> None:
    """Without the isolate (U+2068 to U+2069) a display shows 9 – 12 where it stands 12 – 9."""
    state = {**examples.state(C, 2), "players": [{"player": 1, "name": name}, {"player": 2, "name": "Ben"}]}
    messages = list(topics.state_messages(state))
    assert validate(messages[0].topic, messages[0].payload or "")["players"][0]["name"] == name
    assert (messages[-1].payload or "").startswith(f"\u2068{name}\u2069 12 – 9 Ben")


def test_where_each_document_goes() -> None:
    def place(message: Message) -> tuple[str, bool, int]:
        return message.topic, message.retain, message.qos

    assert place(topics.info_message(examples.INFO)) == ("pocketbeam/club-1/info", True, 1)
    assert place(topics.health_message(examples.HEALTH)) == ("pocketbeam/club-1/health", True, 1)
    assert place(topics.event_message(examples.EVENT)) == ("pocketbeam/club-1/event", False, 1)
    assert place(topics.response_message(examples.DONE)) == ("pocketbeam/club-1/response", False, 1)
    assert place(topics.beam_message(examples.BEAM)) == ("pocketbeam/club-1/beam/ne", False, 0)
    assert topics.availability_message("club-1", online=True) == Message(
        "pocketbeam/club-1/availability", "online", True, 1
    )
    assert topics.request_topic("club-1", base="hall") == "hall/club-1/request"


@pytest.mark.parametrize("level", ["", "Club", "a b", "a/b", "#", "+", "tâble"])
def test_no_topic_that_a_broker_might_refuse(level: str) -> None:
    with pytest.raises(ValueError, match="cannot be part of a topic"):
        topics.topic(level, "state")
    with pytest.raises(ValueError, match="cannot be part of a topic"):
        topics.topic("club-1", "beam", level)


def test_a_number_that_is_none_in_json_is_refused_before_it_is_sent() -> None:
    with pytest.raises(ValueError, match="JSON"):
        topics.to_json({"x": float("nan")})
