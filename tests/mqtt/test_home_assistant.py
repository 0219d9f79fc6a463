"""What a table looks like in Home Assistant: the message by which it is announced, and what it then shows."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance import rules
from appliance.mqtt import models
from appliance.mqtt.home_assistant import EVENTS, GAMES, PHASES, Announced, Description, discovery, plan
from appliance.mqtt.requests import Request, parse_request
from appliance.mqtt.topics import EVENT_SCHEMA, to_json
from sim.players import simulate
from tests.support import home_assistant as ha
from tests.support import mqtt_examples as examples
from tests.support.mqtt_examples import state
from tests.support.session import ENVELOPE, Session

SNAPSHOT = Path(__file__).parent / "snapshots" / "home-assistant.json"
PREFIX = "homeassistant"
TOPIC = "homeassistant/device/pocketbeam_club-1/config"

CLUB = Description(
    table="club-1",
    version="1.2.3",
    beams=(("ne", "board"),),
    sources=("board",),
    boards=("board",),
    page="http://pocketbeam.local:8080/",
)
PARTS = discovery(CLUB)["components"]

Document = dict[str, Any]


# --- the message -------------------------------------------------------------------------------------------


def test_the_message_is_the_one_that_was_written_down() -> None:
    """What the templates put out is asked below, document by document; everything else stands in the file."""
    made = discovery(CLUB)
    for component in made["components"].values():
        component.update({name: "…" for name in ha.TEMPLATES if name in component})
    assert made == json.loads(SNAPSHOT.read_text("utf-8"))


slugs = st.from_regex(r"[a-z0-9-]{1,20}", fullmatch=True)
descriptions = st.builds(
    Description,
    table=slugs,
    version=st.just("1.2.3"),
    beams=st.lists(st.tuples(slugs, slugs), max_size=12, unique_by=lambda beam: beam[0]).map(tuple),
    sources=st.lists(slugs, max_size=3, unique=True).map(tuple),
    boards=st.lists(slugs, max_size=3, unique=True).map(tuple),
    page=st.sampled_from([None, "http://127.0.0.1:8080/", "http://[::1]:80/?table=a"]),
)


@settings(max_examples=40, deadline=None)
@given(descriptions)
def test_home_assistant_would_take_any_table_whole(description: Description) -> None:
    (message,) = plan(None, PREFIX, description).messages
    assert message.retain
    assert message.payload is not None
    ha.check(message.topic, json.loads(message.payload))
    assert len(message.payload) < 65_536, "too long for some brokers"


@settings(max_examples=40, deadline=None)
@given(descriptions, descriptions)
def test_a_key_never_changes_its_platform(one: Description, other: Description) -> None:
    """Or its farewell and its return could not stand in one message."""
    first, second = discovery(one)["components"], discovery(other)["components"]
    for key in set(first) & set(second):
        assert first[key]["platform"] == second[key]["platform"]


@settings(max_examples=40, deadline=None)
@given(descriptions, descriptions)
def test_a_change_leaves_no_ghost_and_nothing_twice(one: Description, other: Description) -> None:
    register = ha.Register()
    before = plan(None, PREFIX, one)
    register.hear(before.messages[-1].payload)
    other = replace(other, table=one.table)
    after = plan(before.announced, PREFIX, other)
    for message in after.messages:
        if message.payload:
            ha.check(message.topic, json.loads(message.payload))
        register.hear(message.payload)
    assert not register.ghosts
    assert set(register.entities) == unique_ids(other)
    # the next start has nothing more to take back
    assert plan(after.announced, PREFIX, other).messages == plan(None, PREFIX, other).messages


@settings(max_examples=40, deadline=None)
@given(descriptions, descriptions)
def test_one_that_was_restarted_meanwhile_has_no_ghost_either(one: Description, other: Description) -> None:
    register = ha.Register()
    before = plan(None, PREFIX, one)
    register.hear(before.messages[-1].payload)
    register.restart()
    other = replace(other, table=one.table)
    after = plan(before.announced, PREFIX, other)
    register.hear(after.messages[-1].payload)
    if after.revival is not None:
        assert after.revival.payload is not None
        ha.check(after.revival.topic, json.loads(after.revival.payload))
        register.hear(after.revival.payload)
    register.hear(after.messages[-1].payload)
    assert not register.ghosts
    assert set(register.entities) == unique_ids(other)


def unique_ids(description: Description) -> set[str]:
    components = discovery(description)["components"].values()
    return {each["unique_id"] for each in components if "unique_id" in each}


def test_without_home_assistant_nothing_is_said_and_what_was_said_is_taken_back() -> None:
    assert plan(None, None, CLUB).messages == ()
    said = plan(None, PREFIX, CLUB).announced
    (message,) = plan(said, None, CLUB).messages
    assert (message.topic, message.payload, message.retain) == (TOPIC, None, True)
    assert plan(said, None, CLUB).announced is None


@pytest.mark.parametrize("prefix", ["ha", "home/ha"])
def test_another_prefix_moves_the_announcement(prefix: str) -> None:
    said = plan(None, PREFIX, CLUB).announced
    cleared, anew = plan(said, prefix, CLUB).messages
    assert (cleared.topic, cleared.payload) == (TOPIC, None)
    assert anew.topic == f"{prefix}/device/pocketbeam_club-1/config"


def test_a_table_with_another_id_leaves_nothing_under_the_old_one() -> None:
    said = plan(None, PREFIX, CLUB).announced
    cleared, anew = plan(said, PREFIX, Description("club-2", "1.2.3")).messages
    assert (cleared.topic, cleared.payload) == (TOPIC, None)
    assert anew.topic == "homeassistant/device/pocketbeam_club-2/config"


def test_what_an_older_version_announced_goes_as_well() -> None:
    """Whatever it was: its component is kept as it was announced."""
    old = {"platform": "switch", "unique_id": "pocketbeam_club-1_x", "command_topic": "x"}
    planned = plan(Announced(TOPIC, {"x": old}), PREFIX, CLUB)
    assert json.loads(planned.messages[0].payload or "")["components"]["x"] == {"platform": "switch"}
    assert planned.revival is not None
    assert json.loads(planned.revival.payload or "")["components"]["x"] == old


# --- what it shows -----------------------------------------------------------------------------------------

GIVEN: dict[str, tuple[Document, dict[str, Any]]] = {
    "club": (
        examples.STATES["club_carrom"],
        {
            **{"score_1": 12, "score_2": 9, "score_3": None, "score_4": None, "left": 10, "left_1": 4, "left_2": 6},
            **{"phase": "playing", "turn": "Asha", "winner": None, "question": False, "game": "club_carrom"},
        },
    ),
    "club, four players, the last board over": (
        state({**examples.CLUB, "phase": "match_over", "turn": None, "match_winner": "B"}, 4),
        {
            **{"score_1": 12, "score_2": 9, "score_3": None, "score_4": None, "left": 10, "left_1": 4, "left_2": 6},
            **{"phase": "match_over", "turn": None, "winner": "Ben & Dan", "question": False, "game": "club_carrom"},
        },
    ),
    "club, a draw": (
        state({**examples.CLUB, "phase": "match_over", "turn": None, "match_winner": "draw"}, 2),
        {
            **{"score_1": 12, "score_2": 9, "score_3": None, "score_4": None, "left": 10, "left_1": 4, "left_2": 6},
            **{"phase": "match_over", "turn": None, "winner": "draw", "question": False, "game": "club_carrom"},
        },
    ),
    "club, something asked": (
        examples.BUSY,
        {
            **{"score_1": 12, "score_2": 9, "score_3": None, "score_4": None, "left": 10, "left_1": 4, "left_2": 6},
            **{"phase": "playing", "turn": "Asha", "winner": None, "question": True, "game": "club_carrom"},
        },
    ),
    "new": (
        examples.STATES["new_carrom"],
        {
            **{"score_1": 0, "score_2": 0, "score_3": None, "score_4": None, "left": 14, "left_1": 9, "left_2": 5},
            **{"phase": "playing", "turn": "Ben", "winner": None, "question": False, "game": "new_carrom"},
        },
    ),
    "money": (
        examples.STATES["money_carrom"],
        {
            **{"score_1": 7, "score_2": 4, "score_3": 0, "score_4": None, "left": 14, "left_1": None, "left_2": None},
            **{"phase": "playing", "turn": "Cara", "winner": None, "question": False, "game": "money_carrom"},
        },
    ),
    "money, two winners": (
        state({**examples.MONEY, "phase": "match_over", "turn": None, "match_winners": [1, 3]}, 3),
        {
            **{"score_1": 7, "score_2": 4, "score_3": 0, "score_4": None, "left": 14, "left_1": None, "left_2": None},
            **{"phase": "match_over", "turn": None, "winner": "Asha & Cara", "question": False, "game": "money_carrom"},
        },
    ),
    "carpetball": (
        examples.STATES["carpetball"],
        {
            **{"score_1": 5, "score_2": 3, "score_3": None, "score_4": None, "left": 8, "left_1": 5, "left_2": 3},
            **{"phase": "round", "turn": "Ben", "winner": None, "question": False, "game": "carpetball"},
        },
    ),
    "carpetball, before the line-up": (
        state(
            {
                **examples.CARPETBALL,
                "phase": "line_up",
                "ends": {"north": {"player": 3, "in_play": None}, "south": {"player": 2, "in_play": None}},
                "turn": {"end": "north", "final_throw": False},
            },
            3,
        ),
        {
            **{"score_1": None, "score_2": None, "score_3": None, "score_4": None},
            **{"left": None, "left_1": None, "left_2": None},
            **{"phase": "line_up", "turn": "Cara", "winner": None, "question": False, "game": "carpetball"},
        },
    ),
    "carpetball, a round won": (
        state({**examples.CARPETBALL, "phase": "round_over", "turn": None, "round_winner": 2}, 3),
        {
            **{"score_1": 5, "score_2": 3, "score_3": None, "score_4": None, "left": 8, "left_1": 5, "left_2": 3},
            **{"phase": "round_over", "turn": None, "winner": "Ben", "question": False, "game": "carpetball"},
        },
    ),
}


@pytest.mark.parametrize("name", GIVEN)
def test_every_entity_shows_what_the_state_says(name: str) -> None:
    document, expected = GIVEN[name]
    payload = to_json(document)
    assert {key: ha.shown(PARTS[key], payload) for key in expected} == expected
    followed = {key for key, each in PARTS.items() if each.get("state_topic") == "pocketbeam/club-1/state"}
    assert followed == set(expected)


def beside(key: str, document: Document) -> dict[str, Any]:
    return ha.attributes(PARTS[key], to_json(document))


def test_beside_a_score_stands_whose_it_is() -> None:
    four = state(examples.CLUB, 4)
    assert beside("score_1", four) == {"who": "Asha & Cara", "side": "A"}
    assert beside("score_2", four) == {"who": "Ben & Dan", "side": "B"}
    assert beside("score_3", four) == {"who": None, "side": None}
    assert beside("score_3", examples.STATES["money_carrom"]) == {"who": "Cara", "side": None}
    assert beside("score_4", examples.STATES["money_carrom"]) == {"who": None, "side": None}
    assert beside("score_1", examples.STATES["carpetball"]) == {"who": "Asha", "side": "north"}
    assert beside("score_2", examples.STATES["carpetball"]) == {"who": "Ben", "side": "south"}


def test_beside_the_turn_stands_what_a_light_may_want_to_know() -> None:
    turn = {"player": 2, "side": "B", "must_cover": True, "final_throw": False}
    assert beside("turn", examples.STATES["new_carrom"]) == turn
    thrower = {"player": 2, "side": "south", "must_cover": False, "final_throw": True}
    assert beside("turn", examples.STATES["carpetball"]) == thrower
    nobody = {"player": None, "side": None, "must_cover": False, "final_throw": False}
    assert beside("turn", state({**examples.CLUB, "turn": None}, 2)) == nobody


def test_beside_the_winner_stands_who_it_is_by_number() -> None:
    won = state({**examples.CLUB, "phase": "match_over", "turn": None, "match_winner": "A"}, 4)
    assert beside("winner", won) == {"players": [1, 3], "draw": False, "certain": True}
    unsure = {**won, "last_result": {"match_id": "m3", "certain": False, "match_winner": "A"}}
    assert beside("winner", unsure)["certain"] is False
    drawn = state({**examples.CLUB, "phase": "match_over", "turn": None, "match_winner": "draw"}, 2)
    assert beside("winner", drawn) == {"players": [], "draw": True, "certain": True}


def test_beside_the_phase_and_a_question_stands_more() -> None:
    phase = {"board": 2, "round": None, "paused": False, "waiting_strokes": 1}
    assert beside("phase", examples.BUSY) == phase
    phase = {"board": None, "round": 1, "paused": False, "waiting_strokes": 0}
    assert beside("phase", examples.STATES["carpetball"]) == phase
    question = {"questions": 2, "kind": "what_fell", "place": "sw", "stroke": 12, "candidates": ["white", "queen"]}
    assert beside("question", examples.BUSY) == question
    none = {"questions": 0, "kind": None, "place": None, "stroke": None, "candidates": None}
    assert beside("question", examples.STATES["club_carrom"]) == none


def with_beam(**changes: Any) -> str:
    beam = {**examples.HEALTH["beams"]["ne"], **changes}
    return to_json({**examples.HEALTH, "beams": {"ne": beam}})


@pytest.mark.parametrize("condition", ["blocked", "noisy", "dark", "polarity_suspect", "unknown"])
def test_a_beam_that_needs_a_hand_is_a_problem(condition: str) -> None:
    payload = with_beam(state=condition, reason="Look.")
    assert ha.shown(PARTS["beam_ne"], payload) is True
    assert ha.attributes(PARTS["beam_ne"], payload) == {"condition": condition, "reason": "Look."}


def test_a_beam_that_works_is_none() -> None:
    payload = with_beam(state="ok", reason=None)
    assert ha.shown(PARTS["beam_ne"], payload) is False
    assert ha.attributes(PARTS["beam_ne"], payload) == {"condition": "ok", "reason": None}


def test_of_a_beam_that_nobody_hears_or_knows_nothing_is_said() -> None:
    lost = {**examples.HEALTH["sources"]["board"], "state": "lost"}
    unheard = {**json.loads(with_beam(state="unknown")), "sources": {"board": lost}}
    assert ha.shown(PARTS["beam_ne"], to_json(unheard)) is None
    assert ha.shown(PARTS["source_board"], to_json(unheard)) is True
    foreign = {**examples.HEALTH, "beams": {}, "sources": {}}
    assert ha.shown(PARTS["beam_ne"], to_json(foreign)) is None
    assert ha.shown(PARTS["source_board"], to_json(foreign)) is None
    assert ha.attributes(PARTS["beam_ne"], to_json(foreign)) == {"condition": None, "reason": None}
    assert ha.shown(PARTS["firmware_board"], to_json(foreign)) is None


def test_diagnostics() -> None:
    health = to_json(examples.HEALTH)
    assert ha.shown(PARTS["source_board"], health) is False
    assert ha.shown(PARTS["firmware_board"], health) == "simulated board"
    assert str(ha.shown(PARTS["started"], health)) == "2026-03-01 17:00:00+00:00"
    assert ha.shown(PARTS["clock"], health) is False
    assert ha.shown(PARTS["journal"], health) is False
    bad = {
        **examples.HEALTH,
        "clock": {"synchronised": False},
        "journal": {"safe": False, "reason": "the disk is full", "queue": 3, "counters": {}},
    }
    assert ha.shown(PARTS["clock"], to_json(bad)) is True
    assert ha.shown(PARTS["journal"], to_json(bad)) is True
    assert ha.attributes(PARTS["journal"], to_json(bad)) == {"reason": "the disk is full"}
    assert ha.shown(PARTS["version"], to_json(examples.INFO)) == "0.1.0"


def test_a_health_from_before_the_start_was_told_is_no_error() -> None:
    """The broker may still hold one that an older version published."""
    old = {key: each for key, each in examples.HEALTH.items() if key != "started_at"}
    assert ha.shown(PARTS["started"], to_json(old)) is None


def test_a_refusal_can_be_read() -> None:
    assert ha.shown(PARTS["answer"], to_json(examples.DONE)) == "done"
    assert ha.shown(PARTS["answer"], to_json(examples.REFUSED)) == "Stroke 14 would be impossible."
    error = {"code": "malformed", "message": "x" * 400}
    assert ha.shown(PARTS["answer"], to_json({**examples.REFUSED, "error": error})) == "x" * 255


# --- what happens ------------------------------------------------------------------------------------------


def test_every_name_is_announced_byte_for_byte_and_once() -> None:
    """Whatever the daemon can publish as an event, a phase or a game is among the options of its entity."""
    assert set(EVENTS) == set(get_args(models.EventName))
    assert set(GAMES) == set(get_args(models.Game)) == set(rules.GAMES)
    phases: set[str] = set()
    for model in (models.SidesRules, models.MoneyCarromRules, models.CarpetballRules):
        phases |= set(get_args(model.model_fields["phase"].annotation))
    assert set(PHASES) == phases
    for names in (EVENTS, GAMES, PHASES):
        assert len(set(names)) == len(names)
        assert not {"unknown", "unavailable", "none", "None", ""} & set(names)


def test_an_event_keeps_what_it_says() -> None:
    told = ha.event(PARTS["event"], to_json(examples.EVENT))
    assert told == {**examples.EVENT, "event_type": "queen_covered"}


MOMENTS: dict[str, tuple[Document, set[str]]] = {
    "stroke": ({"event": "stroke_scored"}, {"on_stroke_scored"}),
    "miss": ({"event": "stroke_missed"}, set()),
    "queen": ({"event": "queen_covered"}, {"on_queen_covered"}),
    "queen pocketed": ({"event": "queen_pocketed"}, set()),
    "foul": ({"event": "foul"}, {"on_foul"}),
    "board": ({"event": "board_won", "side": "A"}, {"on_board_won"}),
    "match": ({"event": "match_ended", "winner": "A"}, {"on_match_won"}),
    "drawn match": ({"event": "match_ended", "winner": "draw"}, set()),
    "money": ({"event": "match_ended", "winners": [1]}, {"on_match_won"}),
    "money, shared": ({"event": "match_ended", "winners": [1, 2]}, {"on_match_won"}),
    "abandoned": ({"event": "match_abandoned"}, set()),
    "round": ({"event": "round_won", "player": 1}, {"on_match_won"}),
    "beam": ({"event": "beam_fault", "beam": "ne"}, {"on_beam_fault"}),
    "beam well": ({"event": "beam_well", "beam": "ne"}, set()),
    "question": ({"event": "question_opened"}, {"on_question_opened"}),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_a_moment_sets_its_trigger_off_and_no_other(name: str) -> None:
    event, expected = MOMENTS[name]
    payload = to_json({**examples.ENVELOPE, "event_id": "1.1", **event})
    fired = {key for key, each in PARTS.items() if key.startswith("on_") and ha.fires(each, payload)}
    assert fired == expected


@pytest.mark.parametrize("name", MOMENTS)
def test_what_waited_for_a_broker_sets_nothing_off_after_the_fact(name: str) -> None:
    payload = to_json({**examples.ENVELOPE, "event_id": "1.1", **MOMENTS[name][0]})
    assert not any(ha.fires(each, payload, age_s=31) for key, each in PARTS.items() if key.startswith("on_"))
    assert ha.event(PARTS["event"], payload, age_s=31) is None
    assert ha.event(PARTS["event"], payload, age_s=29) is not None


def test_a_clock_that_was_not_set_makes_no_event_late() -> None:
    payload = to_json({**examples.EVENT, "clock_synchronised": False})
    assert ha.event(PARTS["event"], payload, age_s=1_000_000_000) is not None
    assert ha.fires(PARTS["on_queen_covered"], payload, age_s=1_000_000_000)


# --- what is asked -----------------------------------------------------------------------------------------


PRESSES = {
    "undo": {"command": "undo"},
    "end_stroke": {"command": "end_stroke"},
    "next_board": {"command": "next_board"},
    "next_round": {"command": "next_round"},
    "new_match": {"command": "new_match", "abandon": True},
}


def asked(made: Document) -> Request:
    request = parse_request(json.dumps(made).encode(), retained=False)
    assert isinstance(request, Request), request
    return request


@pytest.mark.parametrize("key", PRESSES)
def test_a_button_asks_what_it_says(key: str) -> None:
    assert PARTS[key]["command_topic"] == "pocketbeam/club-1/request"
    made = ha.command(PARTS[key])
    transaction = made.pop("transaction")
    assert made == PRESSES[key]
    assert asked({**made, "transaction": transaction}).command == PRESSES[key]["command"]
    assert ha.command(PARTS[key])["transaction"] != transaction, "a second press is another request"


def test_every_button_is_among_them() -> None:
    assert {key for key, each in PARTS.items() if each["platform"] == "button"} == set(PRESSES)


@pytest.mark.parametrize("game", GAMES)
def test_a_game_can_be_chosen(game: str) -> None:
    request = asked(ha.command(PARTS["game"], game))
    assert (request.command, dict(request.fields)) == ("new_match", {"game": game, "abandon": True})


# --- whole matches -----------------------------------------------------------------------------------------

SIZES = [
    *(("club_carrom", 2), ("club_carrom", 4), ("new_carrom", 2), ("money_carrom", 2), ("money_carrom", 4)),
    *(("carpetball", 2), ("carpetball", 5)),
]
ODD_NAMES = ('<b>Asha</b> & "co" {{ 7*7 }}', "None", "unknown", "بن 🎯", "#+/ " + "x" * 36)


@cache
def played(game: str, count: int) -> tuple[list[Document], list[Document]]:
    """A whole match, scored by hand, of people with odd names: every state that it came through, and every event."""
    table = Session(game, ODD_NAMES[:count], check=False)
    states = [table.document]
    for observation in simulate(game, ODD_NAMES[:count], seed=11, rounds=2).truth:
        document = dict(rules.observation_document(observation))
        table.do(str(document.pop("type")), **document)
        states.append(table.document)
    return states, table.events


@pytest.mark.parametrize(("game", "count"), SIZES)
def test_no_state_of_a_whole_match_is_an_error(game: str, count: int) -> None:
    """Every template, on every state that a match comes through: no missing key, nothing that is no option."""
    states, _ = played(game, count)
    followed = [each for each in PARTS.values() if each.get("state_topic") == "pocketbeam/club-1/state"]
    for document in states:
        payload = to_json(document)
        for component in followed:
            ha.shown(component, payload)
            ha.attributes(component, payload)


@pytest.mark.parametrize(("game", "count"), SIZES)
def test_no_event_of_a_whole_match_is_an_error(game: str, count: int) -> None:
    _, events = played(game, count)
    fired: set[str] = set()
    for event in events:
        payload = to_json({"schema": EVENT_SCHEMA, **ENVELOPE, **event})
        told = ha.event(PARTS["event"], payload)
        assert told is not None
        assert told["event_type"] == event["event"]
        fired |= {key for key, each in PARTS.items() if key.startswith("on_") and ha.fires(each, payload)}
    assert {"on_stroke_scored", "on_match_won"} <= fired


def test_the_matches_come_through_every_phase() -> None:
    seen = {document["rules"]["phase"] for size in SIZES for document in played(*size)[0]}
    assert seen >= set(PHASES) - {"standoff"}


def test_a_standoff_is_no_error_either() -> None:
    document = state({**examples.CARPETBALL, "phase": "standoff"}, 3)
    assert ha.shown(PARTS["phase"], to_json(document)) == "standoff"


def test_the_number_of_entities_is_the_same_for_every_game() -> None:
    """The game is not even among what the message follows from."""
    assert "game" not in Description.__dataclass_fields__


def test_names_are_carried_as_they_are() -> None:
    document = state(examples.MONEY, 2)
    for name in ("<b>Asha</b>", "{{ 7*7 }}", "بن 🎯", "#+/", 'a "quoted" \\ name'):
        named: Mapping[str, Any] = {**document, "players": [{"player": n, "name": name + "!" * n} for n in (1, 2, 3)]}
        assert ha.shown(PARTS["turn"], to_json(named)) == name + "!!!"
        assert ha.attributes(PARTS["score_1"], to_json(named))["who"] == name + "!"
