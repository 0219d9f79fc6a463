"""What waits for the broker: the newest values, a bounded story, and nothing lost without a count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.mqtt.outbox import ANSWER_LIMIT, ANSWER_WINDOW, WINDOW, Outbox, Outgoing
from appliance.mqtt.topics import Message

STATE = "pocketbeam/t/state"


def value(topic: str, payload: str | None) -> Message:
    return Message(topic, payload, True, 1)


def event(payload: str) -> Message:
    return Message("pocketbeam/t/event", payload, False, 1)


def answer(payload: str) -> Message:
    return Message("pocketbeam/t/response", payload, False, 1, is_answer=True)


def outbox(**options: int) -> Outbox:
    return Outbox(("pocketbeam/t/availability", STATE), **options)


def drain(box: Outbox, *, acknowledge: bool = True) -> list[str | None]:
    """Takes everything, as a connection would; the payloads in order."""
    payloads = []
    while outgoing := box.take():
        message_id = drain.ids = getattr(drain, "ids", 0) + 1  # type: ignore[attr-defined]
        box.sent(message_id, outgoing)
        if acknowledge:
            box.acknowledged(message_id)
        payloads.append(outgoing.message.payload)
    return payloads


def test_nothing_leaves_without_a_connection() -> None:
    box = outbox()
    box.put(event("e"))
    box.put(value(STATE, "s"))
    assert box.take() is None
    box.opened()
    box.closed()
    assert box.take() is None


def test_only_the_newest_value_of_a_topic_goes_out_and_all_events_do() -> None:
    box = outbox()
    for number in range(500):
        box.put(value("pocketbeam/t/line", f"l{number}"))
        box.put(value(STATE, f"s{number}"))
        box.put(event(f"e{number}"))
    box.opened()
    assert drain(box) == ["s499", "l499", *(f"e{n}" for n in range(500))]
    assert box.empty


def test_a_value_that_the_broker_has_is_not_sent_again() -> None:
    box = outbox()
    box.opened()
    box.put(value(STATE, "s"))
    assert drain(box) == ["s"]
    box.put(value(STATE, "s"))
    assert drain(box) == []
    box.put(value(STATE, "other"))
    box.put(value(STATE, "s"))
    assert drain(box) == []
    box.put(value("pocketbeam/t/score/a", None))
    assert drain(box) == [None]


def test_every_connection_gets_everything_retained_state_first() -> None:
    box = outbox()
    for topic in ("pocketbeam/t/line", STATE, "pocketbeam/t/availability", "pocketbeam/t/info"):
        box.put(value(topic, topic))
    expected = ["pocketbeam/t/availability", STATE, "pocketbeam/t/line", "pocketbeam/t/info"]
    for _ in range(2):
        box.opened()
        assert drain(box) == expected
        box.refresh()
        assert drain(box) == expected
        box.closed()


def test_told_again_to_a_newcomer_the_introduction_goes_first() -> None:
    box = outbox()
    box.opened()
    for topic, payload in ((STATE, "s"), ("pocketbeam/t/line", "l"), ("ha/device/t/config", "c")):
        box.put(value(topic, payload))
    assert drain(box) == ["s", "l", "c"]
    box.refresh("ha/device/t/config")
    assert drain(box) == ["c", "s", "l"]
    box.closed()
    box.opened()
    assert drain(box) == ["s", "l", "c"]


def test_the_queue_is_bounded_and_says_what_it_dropped() -> None:
    box = outbox(limit=10)
    for number in range(25):
        box.put(event(str(number)))
    assert box.counters()["queued"] == 10
    assert box.counters()["dropped"] == 15
    box.opened()
    assert drain(box) == [str(number) for number in range(15, 25)]


def test_diagnostics_are_not_kept_for_later_but_counted() -> None:
    box = outbox()
    box.put(Message("pocketbeam/t/beam/ne", "old", False, 0))
    assert box.counters()["dropped"] == 1
    box.opened()
    assert drain(box) == []
    box.put(Message("pocketbeam/t/beam/ne", "new", False, 0))
    assert drain(box, acknowledge=False) == ["new"]
    assert box.empty, "nobody acknowledges QoS 0"


def test_what_was_not_acknowledged_is_sent_again_in_its_order() -> None:
    box = outbox()
    box.opened()
    for number in range(4):
        box.put(event(f"e{number}"))
    first = box.take()
    assert first is not None
    box.sent(1, first)
    box.acknowledged(1)
    drain(box, acknowledge=False)
    box.put(event("e4"))
    box.closed()
    box.put(event("e5"))
    box.opened()
    assert drain(box) == ["e1", "e2", "e3", "e4", "e5"]
    assert box.counters()["resent"] == 3


def test_at_most_a_window_is_unacknowledged_and_newer_values_replace_those_that_wait() -> None:
    box = outbox()
    box.opened()
    for number in range(WINDOW + 5):
        box.put(event(str(number)))
    assert len(drain(box, acknowledge=False)) == WINDOW
    for number in range(50):
        box.put(value(STATE, f"s{number}"))
    assert box.take() is None
    box.acknowledged(getattr(drain, "ids"))  # noqa: B009
    outgoing = box.take()
    assert outgoing is not None
    assert outgoing.message.payload == "s49"


@pytest.mark.parametrize(("asked", "given"), [(1, 1), (3, 3), (WINDOW + 50, WINDOW)])
def test_a_broker_gets_no_more_at_once_than_it_takes(asked: int, given: int) -> None:
    box = outbox()
    box.opened(asked)
    for number in range(WINDOW + 100):
        box.put(event(str(number)))
    assert len(drain(box, acknowledge=False)) == given
    # the next broker may take more
    box.closed()
    box.opened()
    drain(box)
    for number in range(WINDOW + 100):
        box.put(event(str(number)))
    assert len(drain(box, acknowledge=False)) == WINDOW


def test_answers_leave_half_of_a_narrow_broker_to_the_score() -> None:
    box = outbox()
    box.opened(8)
    for number in range(8):
        box.put(answer(str(number)))
    assert len(drain(box, acknowledge=False)) == 4
    box.put(value(STATE, "s"))
    assert drain(box, acknowledge=False) == ["s"]


def test_what_the_broker_refuses_is_counted_and_not_sent_again() -> None:
    box = outbox()
    box.opened()
    box.put(event("e"))
    outgoing = box.take()
    assert outgoing is not None
    box.sent(1, outgoing)
    box.acknowledged(1, refused=True)
    assert box.counters()["refused"] == 1
    box.closed()
    box.opened()
    assert drain(box) == []
    assert box.empty


def test_a_message_that_breaks_five_connections_by_itself_is_given_up() -> None:
    box = outbox()
    box.put(event("poison"))
    box.put(event("behind it"))
    box.opened()
    assert drain(box, acknowledge=False) == ["poison", "behind it"]
    for _ in range(5):
        box.closed()
        box.opened()
        assert drain(box, acknowledge=False) == ["poison"]
    box.closed()
    box.opened()
    assert drain(box) == ["behind it"]
    assert box.counters()["refused"] == 1
    for number in range(3):
        box.put(event(f"later {number}"))
    assert drain(box, acknowledge=False) == ["later 0", "later 1", "later 2"]


def test_an_event_is_innocent_where_a_retained_message_breaks_the_connection() -> None:
    box = outbox()
    box.put(value(STATE, "s"))
    box.put(event("innocent"))
    box.opened()
    assert drain(box, acknowledge=False) == ["s", "innocent"]
    for _ in range(20):
        box.closed()
        box.opened()
        assert drain(box, acknowledge=False) == ["s"]
    assert box.counters()["refused"] == 0
    assert box.counters()["queued"] == 1


def test_an_event_that_is_dropped_while_it_waits_to_be_sent_again_holds_nobody_up() -> None:
    box = outbox(limit=2)
    box.opened()
    box.put(event("first"))
    drain(box, acknowledge=False)
    box.closed()
    box.put(event("second"))
    box.put(event("third"))
    box.opened()
    assert drain(box, acknowledge=False) == ["second", "third"]


@given(st.lists(st.sampled_from(["event", "open", "close", "take", "acknowledge"]), max_size=60))
@pytest.mark.timeout(60)
def test_no_event_is_lost_or_overtaken_whatever_the_connection_does(steps: list[str]) -> None:
    """Each event reaches a broker, first arrivals in order; what was acknowledged never comes again."""
    box = outbox(limit=1000)
    put = taken = 0
    opened = False
    arrived: list[str] = []
    flying: dict[int, Outgoing] = {}
    acknowledged: set[str] = set()

    def take() -> bool:
        nonlocal taken
        outgoing = box.take()
        if outgoing is None:
            return False
        taken += 1
        flying[taken] = outgoing
        box.sent(taken, outgoing)
        payload = outgoing.message.payload or ""
        assert payload not in acknowledged
        if payload not in arrived:
            arrived.append(payload)
        return True

    def acknowledge() -> None:
        message_id = min(flying)
        acknowledged.add(flying.pop(message_id).message.payload or "")
        box.acknowledged(message_id)

    closes = 0
    for step in steps:
        if step == "event":
            box.put(event(str(put)))
            put += 1
        elif step == "open" and not opened:
            box.opened()
            opened = True
        elif step == "close" and opened and closes < 4:
            box.closed()
            flying.clear()
            opened, closes = False, closes + 1
        elif step == "take":
            take()
        elif step == "acknowledge" and flying:
            acknowledge()
    if not opened:
        box.opened()
    while take() or flying:
        if flying:
            acknowledge()
    assert arrived == [str(number) for number in range(put)]
    assert acknowledged == set(arrived)
    assert box.empty


def test_answers_go_after_everything_else_and_push_nothing_out() -> None:
    box = outbox(limit=10)
    for number in range(ANSWER_LIMIT + 7):
        box.put(answer(f"a{number}"))
    for number in range(10):
        box.put(event(f"e{number}"))
    box.put(value(STATE, "s"))
    box.opened()
    assert drain(box) == ["s", *(f"e{n}" for n in range(10)), *(f"a{n}" for n in range(7, ANSWER_LIMIT + 7))]
    assert (box.counters()["dropped"], box.counters()["answers_dropped"]) == (0, 7)
    assert box.empty


def test_answers_that_nobody_acknowledges_hold_up_neither_state_nor_events() -> None:
    box = outbox()
    box.opened()
    for number in range(WINDOW):
        box.put(answer(f"a{number}"))
    assert drain(box, acknowledge=False) == [f"a{n}" for n in range(ANSWER_WINDOW)]
    box.put(event("e"))
    box.put(value(STATE, "s"))
    assert drain(box, acknowledge=False) == ["s", "e"]
    assert box.counters()["queued"] == WINDOW - ANSWER_WINDOW


def test_answers_are_sent_again_after_a_break_and_once_they_are_acknowledged_there_is_room_again() -> None:
    box = outbox()
    box.opened()
    for number in range(ANSWER_WINDOW + 3):
        box.put(answer(f"a{number}"))
    drain(box, acknowledge=False)
    box.closed()
    box.opened()
    assert drain(box) == [f"a{n}" for n in range(ANSWER_WINDOW + 3)]
    assert (box.resent, box.empty) == (ANSWER_WINDOW, True)
