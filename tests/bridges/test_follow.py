"""A bridge lives through whatever comes, tells nothing twice, and believes nothing old."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.bridges.awtrix import Awtrix
from appliance.bridges.follow import Follower
from appliance.bridges.settings import AwtrixSettings, WledSettings
from appliance.bridges.wled import Wled
from tests.support import mqtt_examples as examples

ENDED = {**examples.EVENT, "event": "match_ended", "winner": "A"}
ENDED.pop("side")


def follower() -> Follower:
    return Follower("club-1", Awtrix("club-1", AwtrixSettings(prefix="clock")))


def hear(following: Follower, level: str, document: Any, *, retained: bool = False) -> list[str]:
    payload = document if isinstance(document, bytes) else json.dumps(document).encode()
    return [message.topic for message in following.hear(f"pocketbeam/club-1/{level}", payload, retained)]


def test_its_topics_are_named_one_by_one() -> None:
    assert follower().topics == ("pocketbeam/club-1/availability", "pocketbeam/club-1/state", "pocketbeam/club-1/event")


def test_an_event_that_comes_twice_is_told_once() -> None:
    following = follower()
    assert hear(following, "event", ENDED) == ["clock/notify"]
    assert hear(following, "event", ENDED) == []
    assert hear(following, "event", {**ENDED, "event_id": "41.3"}) == ["clock/notify"]


def test_a_retained_event_is_no_news() -> None:
    assert hear(follower(), "event", ENDED, retained=True) == []


def test_nothing_stands_before_both_are_known() -> None:
    following = follower()
    assert not following.heard
    assert hear(following, "state", examples.STATES["club_carrom"]) == []
    assert following.heard
    assert hear(following, "availability", b"online") == ["clock/custom/pocketbeam-club-1_"]


def test_what_stands_can_be_said_again_and_what_does_not_is_not() -> None:
    following = follower()
    hear(following, "state", examples.STATES["club_carrom"])
    hear(following, "availability", b"online")
    assert [message.topic for message in following.again()] == ["clock/custom/pocketbeam-club-1_"]
    hear(following, "availability", b"offline")
    assert following.again() == []


@pytest.mark.parametrize("payload", [b"", b"{", b"\xff", b"[]", b"null", b"{}", b"[" * 100_000, b'{"rules": 1}'])
@pytest.mark.parametrize("level", ["state", "event", "availability", "other"])
def test_what_is_no_document_is_counted_and_changes_nothing(level: str, payload: bytes) -> None:
    following = follower()
    hear(following, "state", examples.STATES["club_carrom"])
    hear(following, "availability", b"online")
    stands = following.again()
    assert hear(following, level, payload) == []
    assert following.unreadable == 1
    assert following.again() == stands
    assert hear(following, "availability", b"offline") != []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 300) | st.sampled_from(["A", "B", "north", "x", "match_over", "draw"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(examples.CLUB)), inner),
    max_leaves=6,
)
DOCUMENTS = [*examples.STATES.values(), examples.BUSY, examples.EVENT, examples.CORRECTED, ENDED]


@given(st.sampled_from(DOCUMENTS), st.data())
def test_no_document_however_wrong_ends_a_bridge(document: dict[str, Any], data: st.DataObject) -> None:
    wrong = dict(document)
    for key in data.draw(st.lists(st.sampled_from(sorted(document)), min_size=1, max_size=3)):
        wrong[key] = data.draw(JSON)
    if isinstance(document.get("rules"), dict):
        wrong["rules"] = {**document["rules"], data.draw(st.sampled_from(sorted(document["rules"]))): data.draw(JSON)}
    wled = Wled("club-1", WledSettings(topic="wled/hall", presets={"match_ended": 1}, base=2))
    for following in (follower(), Follower("club-1", wled)):
        hear(following, "availability", b"online")
        hear(following, "state", examples.STATES["club_carrom"])
        hear(following, "event" if "event" in document else "state", wrong)
        assert hear(following, "availability", b"offline") is not None
