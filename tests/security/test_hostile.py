"""What hostile requests come to: at the gate, and at a whole table in virtual time while a match is played."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from appliance.config import ConfigurationError, from_document
from appliance.mqtt.requests import MAX_BYTES, RequestError, parse_request
from appliance.mqtt.topics import request_topic
from sim.players import simulate
from tests.security.hostile import HOSTILE, MARKUP, NAMES, Hostile
from tests.support.ring1 import Table, play


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: hostile.name)
def test_the_gate_turns_it_away_with_one_short_sentence(hostile: Hostile) -> None:
    answer = parse_request(hostile.payload, retained=hostile.retained)
    if hostile.by_table:
        assert not isinstance(answer, RequestError)
        assert len(hostile.payload) <= MAX_BYTES
        return
    assert isinstance(answer, RequestError)
    assert (answer.ignored, answer.code) == ((True, "outdated") if hostile.code is None else (False, hostile.code))
    # Short, and safe for a log and a terminal, whatever was sent.
    assert answer.message.isprintable()
    assert len(answer.message) < 400


def test_every_hostile_request_has_a_name_of_its_own() -> None:
    assert max(Counter(hostile.name for hostile in HOSTILE).values()) == 1


def told(table: Table) -> dict[str, Any]:
    """Everything that people see of a match, with the times at which they saw it."""
    return {
        "state": table.state,
        "events": [(published.at_s, published.content) for published in table.broker.log if published.topic == "event"],
        "lines": table.lines,
        "line": table.broker.retained["line"],
    }


async def match(hostile: tuple[Hostile, ...]) -> tuple[dict[str, Any], Counter[str]]:
    """A whole match, with everything hostile every five seconds from somebody else."""
    options = {"cc.target": 4}
    async with Table("club_carrom", options=options) as table:
        sent: Counter[str] = Counter()

        async def interfere() -> None:
            while True:
                for each in hostile:
                    table.port.on_request(each.payload, each.retained)
                    sent[each.code or "ignored"] += 1
                await table.run_for(5.0)

        interfering = asyncio.create_task(interfere())
        await table.play(simulate("club_carrom", ("Asha", "Ben"), seed=11, options=options))
        interfering.cancel()
        # Where the match is over, that is the matter with a stroke before its number of pieces is.
        codes = [answer["error"]["code"] for answer in table.told("response") if not answer["ok"]]
        refused = Counter("impossible_count" if code == "wrong_phase" else code for code in codes)
        assert refused == {code: number for code, number in sent.items() if code != "ignored"}
        return told(table), sent


def test_a_match_comes_to_the_same_to_the_microsecond_whatever_else_is_asked() -> None:
    # 10 MB again and again would only take time.
    small = tuple(each for each in HOSTILE if len(each.payload) < 1_000_000)
    calm, _ = play(match(()))
    troubled, sent = play(match(small))
    assert sent.total() > 10 * len(small)
    assert troubled == calm


def test_names_are_carried_as_they_are_or_refused_and_change_no_topic() -> None:
    async def main() -> None:
        async with Table("club_carrom") as table:
            topics = set(table.broker.retained)
            for name in NAMES:
                answer = await table.request({"command": "players", "names": [name.name, "Ben"]})
                assert answer["ok"] == name.taken, name
                if name.taken:
                    assert table.state["players"][0]["name"] == name.name
                    assert name.name in table.broker.retained["line"]
            assert set(table.broker.retained) == topics

    play(main())


def test_a_transaction_comes_back_as_it_was_sent_whatever_it_is() -> None:
    async def main() -> None:
        async with Table("club_carrom") as table:
            topics = set(table.broker.retained)
            for transaction in [name.name for name in NAMES if name.name] + ["🙂" * 200, MARKUP]:
                answer = await table.request({"command": "sync"}, transaction)
                assert (answer["ok"], answer["transaction"]) == (True, transaction)
            assert set(table.broker.retained) == topics

    play(main())


@pytest.mark.parametrize("word", ["", "<b>", "#", "+", "a/b", "Club", "club 1", "🙂", "\u200fclub", "é", "a\0", "$SYS"])
def test_what_becomes_a_topic_is_refused_in_a_sentence(word: str) -> None:
    for kind in ("table", "beams", "buttons"):
        document: dict[str, Any] = {
            "table": {"id": "club-1", "game": "club_carrom", "state_dir": "/nowhere"},
            "sources": [{"id": "board", "kind": "serial", "port": "/dev/none"}],
            "beams": [{"id": "ne", "source": "board", "channel": 0, "place": "ne"}],
            "buttons": [{"id": "undo", "source": "board", "channel": 8, "action": "undo"}],
        }
        section = document[kind]
        (section if isinstance(section, dict) else section[0])["id"] = word
        with pytest.raises(ConfigurationError, match="must consist of small letters a-z, digits and hyphens"):
            from_document(document)
    with pytest.raises(ValueError, match="cannot be part of a topic"):
        request_topic(word)
