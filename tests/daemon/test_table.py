"""The daemon between its parts: buttons, requests, faults, the board's reboots, what the broker retains."""

import itertools
import json
from dataclasses import asdict

import pytest

from sim.layout import SOURCE
from tests.support.ring1 import Table, play

DONE_1 = {"id": "done-1", "action": "done", "player": 1}
DONE_2 = {"id": "done-2", "action": "done", "player": 2}
UNDO = {"id": "undo", "action": "undo"}
SYNC = {"id": "sync", "action": "sync"}


class TestPlay:
    """Passages, strikes, buttons and requests, one by one."""

    def test_a_coin_is_shown_at_its_clearing_edge_and_scored_when_the_stroke_closes(self) -> None:
        async def main() -> None:
            async with Table() as table:
                await table.strike()
                await table.pass_object("ne", dwell_ms=35)
                await table.run_for(0.001)
                (fallen,) = table.state["stroke"]["fallen"]
                assert (fallen["place"], fallen["object"], fallen["provisional"]) == ("ne", None, True)
                table.cable.report_colour(0, "white", table.cable.now_us())
                await table.run_for(0.001)
                assert table.state["stroke"]["fallen"][0]["how"] == "colour"
                assert table.state["rules"]["sides"]["A"]["pocketed"] == 0
                await table.run_for(5.9)
                assert table.state["stroke"] is not None
                await table.run_for(0.5)
                assert table.state["rules"]["sides"]["A"]["pocketed"] == 1
                assert table.broker.retained["left/a"] == "8"

        play(main())

    def test_a_done_button_closes_the_stroke_and_undo_takes_it_back(self) -> None:
        async def main() -> None:
            async with Table(buttons=(DONE_1, DONE_2, UNDO)) as table:
                await table.pass_object("sw", object="white")
                await table.press("done-1")
                await table.run_for(0.1)
                assert table.state["rules"]["sides"]["A"]["pocketed"] == 1
                assert table.state["rules"]["turn"]["player"] == 1
                await table.run_for(3)
                await table.press("done-1")
                await table.run_for(0.1)
                assert table.state["rules"]["turn"]["player"] == 2
                for _ in range(2):
                    await table.press("undo")
                    await table.run_for(0.1)
                assert table.state["rules"]["sides"]["A"]["pocketed"] == 0
                assert table.state["rules"]["turn"]["player"] == 1
                assert [event["event"] for event in table.events("undone")] == ["undone", "undone"]

        play(main())

    def test_a_button_without_effect_is_told_in_the_log(self, caplog: pytest.LogCaptureFixture) -> None:
        async def main() -> None:
            async with Table(buttons=(UNDO,)) as table:
                before = table.state
                await table.press("undo")
                await table.run_for(0.5)
                assert table.state == before

        with caplog.at_level("INFO", "appliance"):
            play(main())
        assert any("button had no effect" in message for message in caplog.messages)

    def test_a_stroke_without_a_strike_sensor_closes_by_quiet_time_of_the_boards_clock(self) -> None:
        """While the link is silent no time has passed for the board: the stroke stays open."""

        async def main() -> None:
            async with Table() as table:
                await table.pass_object("ne", object="white")
                await table.run_for(0.5)
                table.cable.wire.pause()
                await table.run_for(2.5)
                table.cable.wire.resume()
                table.cable.flush()
                await table.run_for(2.5)
                assert table.state["stroke"] is not None
                await table.run_for(1.5)
                assert table.state["stroke"] is None

        play(main())


class TestRequests:
    """What comes by message is answered, or refused with a reason."""

    def test_is_done_and_answered(self) -> None:
        async def main() -> None:
            async with Table() as table:
                before = table.state["seq"]
                answer = await table.request({"command": "stroke", "pocketed": ["white", "white"]})
                assert (answer["ok"], answer["seq"]) == (True, before + 1)
                assert table.state["rules"]["sides"]["A"]["pocketed"] == 2

        play(main())

    @pytest.mark.parametrize(
        ("payload", "code"),
        [
            ("{", "malformed"),
            ('{"command": "dance"}', "unknown_command"),
            ('{"command": "undo"}', "nothing_to_undo"),
            ('{"command": "next_board"}', "wrong_phase"),
            ('{"command": "stroke", "pocketed": ["queen", "queen"]}', "impossible_count"),
            ('{"command": "pause", "expected_seq": 99}', "outdated"),
            ('{"command": "answer", "question": "q9", "value": "white"}', "no_such_question"),
            ('{"command": "correct", "stroke": 9, "void": true}', "no_such_stroke"),
            ('{"command": "pause", "note": "' + "x" * 17_000 + '"}', "too_large"),
        ],
    )
    def test_is_refused_with_its_code_and_changes_nothing(self, payload: str, code: str) -> None:
        async def main() -> None:
            async with Table() as table:
                before = table.state
                table.say(payload)
                await table.run_for(0.1)
                (answer,) = table.told("response")
                assert answer["ok"] is False
                assert answer["error"]["code"] == code
                assert answer["error"]["message"]
                assert table.state == before

        play(main())

    def test_a_retained_one_is_ignored_and_the_log_says_so(self, caplog: pytest.LogCaptureFixture) -> None:
        async def main() -> None:
            async with Table() as table:
                before = table.state
                table.say('{"command": "pause", "transaction": "old"}', retained=True)
                await table.run_for(1)
                assert table.state == before
                assert table.told("response") == []

        play(main())
        assert any("retained" in message for message in caplog.messages)

    def test_sync_says_everything_again(self) -> None:
        async def main() -> None:
            async with Table(buttons=(SYNC,)) as table:
                everything = dict(table.broker.retained)
                table.broker.retained.clear()
                answer = await table.request({"command": "sync"})
                assert (answer["ok"], answer["seq"]) == (True, table.state["seq"])
                assert set(everything) - {"availability"} == set(table.broker.retained)
                table.broker.retained.clear()
                await table.press("sync")
                await table.run_for(0.1)
                assert set(everything) - {"availability"} == set(table.broker.retained)

        play(main())


class TestTheBoard:
    """The microcontroller reboots, and its cable comes out."""

    def test_a_reboot_voids_open_pulses_and_keeps_the_score(self) -> None:
        async def main() -> None:
            async with Table() as table:
                await table.strike()
                await table.pass_object("ne", object="white")
                await table.run_for(1)
                table.block("sw")
                await table.run_for(0.02)
                table.cable.reset()
                await table.run_for(0.02)
                table.clear("sw")
                await table.run_for(2)
                assert [fallen["place"] for fallen in table.state["stroke"]["fallen"]] == ["ne"]
                await table.run_for(3.5)
                assert table.state["stroke"] is not None, "the quiet time starts anew"
                await table.pass_object("nw", object="white")
                await table.run_for(8)
                assert table.state["rules"]["sides"]["A"]["pocketed"] == 2

        play(main())

    def test_a_reboot_while_the_daemon_was_away_is_noticed(self) -> None:
        async def main() -> None:
            async with Table() as table:
                await table.strike()
                await table.run_for(1)
                table.kill()
                table.cable.reset()
                await table.run_for(1)
                await table.start()
                await table.run_for(1)
                await table.pass_object("se", object="white")
                await table.run_for(8)
                assert table.state["rules"]["sides"]["A"]["pocketed"] == 1
                assert table.cable.mcu.kept == 0

        play(main())

    def test_a_pulled_cable_is_told_at_once_and_what_fell_meanwhile_comes_with_it_back(self) -> None:
        async def main() -> None:
            async with Table() as table:
                await table.strike()
                await table.run_for(0.5)
                host = table.cable.host
                assert host is not None
                host.unplug()
                await table.run_for(0.01)
                (lost,) = table.events("source_lost")
                assert (lost["source"], lost["reason"]) == (SOURCE, "the board was unplugged")
                assert table.health["sources"][SOURCE]["state"] == "lost"
                await table.pass_object("ne", object="white")
                await table.run_for(20)
                assert table.state["stroke"]["fallen"] == [], "the board's clock has not told that time has passed"
                host.start()
                await table.run_for(0.1)
                assert len(table.events("source_back")) == 2
                assert table.health["sources"][SOURCE]["state"] == "ok"
                await table.run_for(1)
                assert table.state["rules"]["sides"]["A"]["pocketed"] == 1

        play(main())


class TestHealth:
    """The document on the parts, and for how long its word holds."""

    def test_a_beam_blocked_at_the_start_is_a_condition_and_never_a_score(self) -> None:
        async def main() -> None:
            async with Table(levels={0: 1}) as table:
                await table.run_for(10)
                assert table.health["beams"]["ne"]["state"] == "blocked"
                assert table.health["beams"]["sw"]["state"] == "ok"
                assert [event["beam"] for event in table.events("beam_fault")] == ["ne"]
                table.clear("ne")
                await table.run_for(3)
                assert [event["beam"] for event in table.events("beam_well")] == ["ne"]
                assert table.health["beams"]["ne"]["state"] == "ok"
                assert table.events("passage", "passage_not_scored") == []
                await table.pass_object("ne", object="white")
                await table.run_for(0.1)
                assert len(table.state["stroke"]["fallen"]) == 1

        play(main())

    def test_polarity_is_the_configurations(self) -> None:
        """One beam that is broken when its level is low: the same fall, and health says `ok` while it is high."""

        async def main() -> None:
            table = Table(levels={0: 1})
            table.document["beams"][0]["blocked_level"] = "low"
            async with table:
                await table.run_for(6)
                assert table.health["beams"]["ne"]["state"] == "ok"
                await table._pulse(0, 0, 30)
                await table.run_for(0.1)
                assert [fallen["place"] for fallen in table.state["stroke"]["fallen"]] == ["ne"]
                await table._pulse(1, 1, 30)
                await table.run_for(0.1)
                assert len(table.state["stroke"]["fallen"]) == 2

        play(main())

    def test_a_fault_is_told_at_once_in_the_document_too(self) -> None:
        async def main() -> None:
            async with Table() as table:
                table.block("se")
                await table.until(lambda: table.events("beam_fault"), within_s=7)
                assert table.health["beams"]["se"]["state"] == "blocked"
                assert table.health["beams"]["se"]["since_s"] >= 5
                assert table.health["beams"]["se"]["reason"]

        play(main())

    def test_its_word_is_renewed_well_before_it_is_stale(self) -> None:
        async def main() -> None:
            async with Table() as table:
                await table.run_for(120)
                times_s = [published.at_s for published in table.broker.log if published.topic == "health"]
                valid_for_s = table.health["valid_for_s"]
                gaps_s = [later - earlier for earlier, later in itertools.pairwise(times_s)]
                assert max(gaps_s) * 2 < valid_for_s

        play(main())

    def test_what_a_beam_saw_is_counted(self) -> None:
        async def main() -> None:
            async with Table() as table:
                await table.strike()
                await table.pass_object("ne", dwell_ms=1)
                await table.pass_object("ne", dwell_ms=40)
                await table.run_for(6)
                beam = table.health["beams"]["ne"]
                assert (beam["passages"], beam["glitches"], beam["near_misses"]) == (1, 1, 1)

        play(main())


class TestRetained:
    """What a newcomer finds at the broker."""

    def test_on_a_new_match_what_is_not_in_use_is_cleared(self) -> None:
        async def main() -> None:
            async with Table("money_carrom", ("Asha", "Ben", "Chidi")) as table:
                assert {"score/1", "score/2", "score/3", "left/all"} <= set(table.broker.retained)
                answer = await table.request(
                    {"command": "new_match", "game": "club_carrom", "players": ["Asha", "Ben"], "options": {}}
                )
                assert answer["ok"] is True, answer
                used = {topic for topic in table.broker.retained if topic.startswith(("score/", "left/"))}
                assert used == {"score/a", "score/b", "left/a", "left/b"}
                assert json.loads(table.broker.retained["info"])["game"] == "club_carrom"
                emptied = {p.topic for p in table.broker.log if p.retained and p.content is None}
                assert {"score/1", "score/2", "score/3", "score/4", "score/north", "left/all"} <= emptied

        play(main())

    def test_at_each_start_what_an_older_game_left_is_cleared(self) -> None:
        async def main() -> None:
            async with Table() as table:
                table.broker.retained["score/north"] = "5"
                await table.restart()
                assert "score/north" not in table.broker.retained
                assert table.broker.retained["score/a"] == "0"

        play(main())

    def test_a_changed_file_waits_for_the_next_match_and_info_says_so(self) -> None:
        async def main() -> None:
            async with Table(options={"cc.target": 12}) as table:
                await table.request({"command": "stroke", "pocketed": ["white"]})
                table.document["rules"] = {"cc.target": 20}
                await table.restart()
                info = json.loads(table.broker.retained["info"])
                assert info["options"]["cc.target"] == 12
                assert any("rules" in sentence for sentence in info["pending_configuration"])
                (told,) = table.events("configuration_changed")
                assert told["changes"] == info["pending_configuration"]
                answer = await table.request({"command": "new_match", "abandon": True})
                assert answer["ok"] is True, answer
                info = json.loads(table.broker.retained["info"])
                assert info["options"]["cc.target"] == 20
                assert info["pending_configuration"] == []
                await table.restart()
                assert len(table.events("configuration_changed")) == 1

        play(main())


def test_the_links_counters_are_part_of_health() -> None:
    async def main() -> None:
        async with Table() as table:
            await table.pass_object("ne")
            await table.run_for(6)
            counted = table.health["sources"][SOURCE]["counters"]
            assert counted["entries"] == 2
            assert set(counted) == set(asdict(table.daemon._sources[SOURCE].counters))

    play(main())
