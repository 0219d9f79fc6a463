"""Records: every event comes back as it was written, and what is none is told in one sentence."""

import json
from typing import get_args

import pytest

from appliance.journal import JournalError, NewerJournalError, Record, Stamp
from appliance.records import UnreadableRecordError, ends_stroke, is_fact, read_event, read_record, write_event
from appliance.table import model
from appliance.table.model import (
    Abandoned,
    Amended,
    Answered,
    Assumed,
    ButtonPressed,
    Called,
    Corrected,
    Fallen,
    FallenRevised,
    Judged,
    Judgement,
    JumpedAdded,
    MatchStarted,
    NotScored,
    PassageAdded,
    PassageDoubted,
    PassageProlonged,
    PassageWithdrawn,
    Paused,
    Question,
    QuietRestarted,
    Redone,
    Renamed,
    Requested,
    Resumed,
    Seat,
    Step,
    Stepped,
    StrokeClosed,
    StrokeDropped,
    StrokeOpened,
    Struck,
    Swapped,
    Told,
    Undone,
)

FALLEN = Fallen(
    "p3",
    "beam-ne",
    "ne",
    12_345_678_901_234,
    ("white", "black"),
    by_colour=True,
    told="own",
    doubt="possibly_two",
    withdrawn="a hand",
)
STROKE = StrokeClosed(
    number=4,
    by="request",
    player=2,
    at_ns=99,
    strike_sensor=True,
    fallen=(FALLEN,),
    jumped=("queen",),
    told=Told(pocketed=("white",), out=(1, 2), off_table=1, short=True),
    superseded=(FALLEN,),
)
CORRECTED = Corrected(
    4, ("white",), ("black",), (0, 1), 1, short=True, void=False, player=1, claim=FALLEN, objects=(("p1", "queen"),)
)
JUDGED = Judged(4, (Judgement("p3", None, "unknown"), Judgement("p4", "white", "assumed")), 2, player_assumed=True)
QUESTION = Question("q1", 4, "what_fell", "p3", "ne")
ACTIONS = (
    STROKE,
    Called({"type": "recount", "sides": {"A": {"pocketed": 3}}}, (FALLEN,)),
    Answered("q1", "white"),
    Answered("q1", 2),
    Answered("q1", False),
    Answered("q1", True),
    CORRECTED,
    Swapped(1, 2),
    Abandoned(),
    Assumed(),
)
STARTED = MatchStarted(
    match=3,
    setup={"game": "money_carrom", "line": {"type": "setup", "players": 2, "options": {"mc.values": [1, 2, 5]}}},
    chosen={"mc.values": [1, 2, 5]},
    players=(Seat("a", "മലയാളം"), Seat("b", "Ben")),
    unknown_object="ask",
    strike_sensor=False,
    file_rules={},
    asked=True,
    last_result={"match_id": "m2", "certain": False, "match_winners": [1, 2]},
)
EVENTS = (
    STARTED,
    *(Stepped(Step(action, (JUDGED,), (QUESTION,)), 5, 2) for action in ACTIONS),
    Amended(4, FALLEN, (JUDGED,), (QUESTION,), 5, 2),
    Undone(),
    Redone(),
    Paused(5),
    Resumed(6),
    Renamed((("a", "Zoe"),)),
    StrokeOpened(1, 5),
    Struck(5),
    PassageAdded(FALLEN, 7),
    PassageProlonged(9),
    PassageWithdrawn("p3", "a hand"),
    PassageDoubted(4, FALLEN, "a hand"),
    FallenRevised(FALLEN),
    JumpedAdded(("white", "queen")),
    StrokeDropped("the stroke was undone"),
    NotScored(FALLEN, "the board is over"),
    NotScored(FALLEN, "a hand", disturbs=False),
    ButtonPressed("done-1", 8),
    QuietRestarted(9),
    Requested("stroke", {"pocketed": ["white"], "jumped": []}),
)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.kind)
def test_it_comes_back_as_it_was_written(event):
    text = write_event(event)
    assert read_event(text) == event
    assert json.loads(text)["kind"] == event.kind


def test_every_kind_of_event_and_of_action_is_tried_here():
    assert {type(event) for event in EVENTS} == set(get_args(model.TableEvent))
    assert {type(action) for action in ACTIONS} == set(get_args(model.Action))


def test_what_a_match_is_folded_from_is_kept_for_ever():
    facts = {type(event) for event in EVENTS if is_fact(event)}
    assert facts == set(get_args(model.Fact))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", ""),
        ("[]", ""),
        ("{}", "kind"),
        ('{"kind": "dance"}', ""),
        ('{"kind": "struck"}', "at_ns"),
        ('{"kind": "struck", "at_ns": "soon"}', "at_ns"),
        ('{"kind": "stepped", "step": {"action": {"kind": "swapped", "first": 1}}}', "step.action"),
    ],
)
def test_what_is_no_record_is_one_sentence(text, where):
    with pytest.raises(UnreadableRecordError) as caught:
        read_event(text)
    assert isinstance(caught.value, JournalError)
    assert "\n" not in str(caught.value)
    assert where in str(caught.value)


def kept(kind, body):
    return Record(41, 3, kind, True, body, Stamp("boot", 1, 2, True))


@pytest.mark.parametrize(
    "body",
    [
        '{"kind": "struck"}',
        '{"kind": "struck", "at_ns": NaN}',
        '{"kind": "struck", "at_ns": 1e400}',
        '{"kind": "struck", "at_ns": "soon"}',
        '{"kind": "danced"}',
        '{"kind": ["struck"]}',
        "null",
        "[" * 10_000,
        '{"kind": "struck", "at_ns": ',
    ],
)
def test_a_record_of_a_wrong_shape_is_refused_by_its_number(body):
    """FR-117."""
    with pytest.raises(UnreadableRecordError, match=r"^record 41 of the journal \(struck\): ") as caught:
        read_record(kept("struck", body))
    assert "\n" not in str(caught.value)


def test_a_record_of_an_unknown_kind_is_a_newer_programs():
    with pytest.raises(NewerJournalError, match=r"^record 41 of the journal \(danced\) .*: update needed$"):
        read_record(kept("danced", '{"kind": "danced", "at_ns": 7}'))


def test_only_the_record_that_closes_a_stroke_ends_it():
    ends = [event for event in EVENTS if ends_stroke(event.kind, write_event(event))]
    assert [(type(event), type(event.step.action)) for event in ends] == [(model.Stepped, model.StrokeClosed)]
    assert not ends_stroke("stepped", "no JSON")
    assert not ends_stroke("stepped", "[]")
