"""When a whole table announces itself to Home Assistant, and what its register holds after every kind of change."""

import json
from pathlib import Path
from typing import Any

import pytest

from appliance.config import ConfigurationError, from_document
from appliance.mqtt.announcer import FILE, FileMemory, describe, introduction, newcomers
from appliance.mqtt.home_assistant import Announced, discovery, plan
from sim.players import simulate
from tests.support import home_assistant as ha
from tests.support.ring1 import Document, Published, Table, play

CONFIG = "pocketbeam_t1/config"
PAGE = "http://127.0.0.1:8080/"
SETTLED_S = 10.0


def table(**options: Any) -> Table:
    return Table(home_assistant=True, **options)


def announced(table: Table) -> Document:
    return json.loads(table.broker.retained[CONFIG])  # type: ignore[no-any-return]


def born(table: Table) -> list[Published]:
    """Home Assistant says that it has started; what the table says then, before anything else happens."""
    said = len(table.broker.log)
    table.port.on_connection(True, "")
    return table.broker.log[said:]


def values(table: Table, components: Document) -> dict[str, Any]:
    """What every entity that shows something shows, from what the broker retains."""
    retained = {f"pocketbeam/t1/{topic}": payload for topic, payload in table.broker.retained.items()}
    return {
        key: ha.shown(component, retained[component["state_topic"]])
        for key, component in components.items()
        if component["platform"] not in ("event", "device_automation", "button") and key != "answer"
    }


def test_it_announces_itself_once_and_everything_has_a_value() -> None:
    async def main() -> None:
        async with table() as t1:
            t1.daemon.show_page(PAGE)
            await t1.run_for(SETTLED_S)
            (said,) = t1.told(CONFIG)
            assert said == discovery(describe(t1.settings, PAGE))
            order = [published.topic for published in t1.broker.log]
            assert order.index("state") < order.index(CONFIG)
            shown = values(t1, said["components"])
            unknown = {key for key, value in shown.items() if value is None}
            # a club match of two that has just begun, at a board that is not asked what it is
            assert unknown == {"score_3", "score_4", "winner", "firmware_board"}

    play(main())


def test_a_new_address_of_the_page_is_told() -> None:
    async def main() -> None:
        async with table() as t1:
            await t1.run_for(SETTLED_S)
            assert "configuration_url" not in announced(t1)["device"]
            t1.daemon.show_page(PAGE)
            await t1.run_for(SETTLED_S)
            assert announced(t1)["device"]["configuration_url"] == PAGE

    play(main())


def test_when_home_assistant_starts_everything_is_told_again_once() -> None:
    async def main() -> None:
        async with table() as t1:
            await t1.run_for(SETTLED_S)
            retained = set(t1.broker.retained)
            said = [published.topic for published in born(t1) if published.topic != "health"]
            assert len(said) == len(set(said))
            assert {*said, "health"} >= retained
            assert announced(t1) == discovery(describe(t1.settings, None))

    play(main())


def test_where_it_is_told_that_it_has_started() -> None:
    settings = Table(home_assistant=True).settings
    assert newcomers(settings) == ("homeassistant/status",)
    other = settings.model_copy(update={"home_assistant": settings.home_assistant.model_copy(update={"prefix": "ha"})})
    assert newcomers(other) == ("homeassistant/status", "ha/status")
    off = settings.model_copy(update={"home_assistant": settings.home_assistant.model_copy(update={"enabled": False})})
    assert newcomers(off) == ()


def test_a_broker_that_forgot_everything_is_told_within_seconds_though_nobody_plays() -> None:
    async def main() -> None:
        async with table() as t1:
            await t1.run_for(SETTLED_S)
            before = values(t1, announced(t1)["components"])
            t1.broker.leave(forgets=True)
            await t1.run_for(120)
            t1.broker.come_back()
            await t1.run_for(15)
            assert values(t1, announced(t1)["components"]) == before

    play(main())


def without_beams(table: Table, *names: str) -> None:
    table.document["beams"] = [beam for beam in table.document["beams"] if beam["id"] not in names]


def register(table: Table, since: int = 0, into: ha.Register | None = None) -> ha.Register:
    """Home Assistant's register after everything that it was told."""
    register = into or ha.Register()
    for published in table.broker.log[since:]:
        if published.topic == CONFIG:
            register.hear(json.dumps(published.content) if published.content else None)
    return register


def beams(register: ha.Register) -> set[str]:
    return {name.rpartition("_")[2] for name in register.entities if "_beam_" in name}


ALL, LEFT = {"ne", "nw", "se", "sw", "strike"}, {"ne", "sw", "strike"}


@pytest.mark.parametrize("broker_is_away", [False, True])
def test_beams_that_are_gone_leave_no_ghost(broker_is_away: bool) -> None:
    async def main() -> None:
        async with table() as t1:
            await t1.run_for(SETTLED_S)
            assert beams(register(t1)) == ALL
            if broker_is_away:
                t1.broker.leave()
            without_beams(t1, "nw", "se")
            await t1.restart()
            await t1.run_for(SETTLED_S)
            if broker_is_away:
                t1.broker.come_back()
                await t1.run_for(SETTLED_S)
            home = register(t1)
            assert beams(home) == LEFT
            assert not home.ghosts
            farewell = announced(t1)["components"]
            assert farewell["beam_nw"] == farewell["beam_se"] == {"platform": "binary_sensor"}
            # and are left out from the next start on
            await t1.restart()
            await t1.run_for(SETTLED_S)
            assert announced(t1) == discovery(describe(t1.settings, None))
            assert not {"beam_nw", "beam_se"} & set(announced(t1)["components"])

    play(main())


def test_the_farewell_waits_for_a_broker_that_is_away_for_more_than_one_start() -> None:
    async def main() -> None:
        async with table() as t1:
            await t1.run_for(SETTLED_S)
            t1.broker.leave()
            without_beams(t1, "nw", "se")
            for _ in range(3):
                await t1.restart()
                await t1.run_for(SETTLED_S)
            t1.broker.come_back()
            await t1.run_for(SETTLED_S)
            home = register(t1)
            assert beams(home) == LEFT
            assert not home.ghosts

    play(main())


def test_a_home_assistant_that_was_down_at_the_change_has_no_ghost_after_its_start() -> None:
    async def main() -> None:
        async with table() as t1:
            await t1.run_for(SETTLED_S)
            home = register(t1)
            home.restart()
            without_beams(t1, "nw", "se")
            await t1.restart()
            await t1.run_for(SETTLED_S)
            # it starts: it reads what the broker retains, and says so
            home.hear(t1.broker.retained[CONFIG])
            assert beams(home) == ALL
            since = len(t1.broker.log)
            born(t1)
            await t1.run_for(SETTLED_S)
            register(t1, since, home)
            assert beams(home) == LEFT
            assert not home.ghosts

    play(main())


def test_a_beam_that_comes_back_is_the_same_entity() -> None:
    async def main() -> None:
        async with table() as t1:
            await t1.run_for(SETTLED_S)
            before = announced(t1)["components"]["beam_nw"]
            all_beams = t1.document["beams"]
            without_beams(t1, "nw")
            await t1.restart()
            await t1.run_for(SETTLED_S)
            t1.document["beams"] = all_beams
            await t1.restart()
            await t1.run_for(SETTLED_S)
            assert announced(t1)["components"]["beam_nw"] == before
            assert beams(register(t1)) == ALL

    play(main())


def test_turned_off_the_device_goes_and_nothing_more_is_said() -> None:
    async def main() -> None:
        async with table() as t1:
            await t1.run_for(SETTLED_S)
            t1.document["home_assistant"] = {"enabled": False}
            await t1.restart()
            await t1.run_for(SETTLED_S)
            assert CONFIG not in t1.broker.retained
            assert not register(t1).entities
            said = len(t1.told(CONFIG))
            await t1.restart()
            await t1.run_for(SETTLED_S)
            assert len(t1.told(CONFIG)) == said

    play(main())


def test_no_rename_touches_an_entity() -> None:
    async def main() -> None:
        async with table() as t1:
            await t1.run_for(SETTLED_S)
            assert (await t1.request({"command": "players", "names": ["Chitra", "Dan"]}))["ok"]
            assert (await t1.request({"command": "new_match", "game": "money_carrom"}))["ok"]
            t1.document["table"]["players"] = ["Eve", "Finn"]
            for beam in t1.document["beams"]:
                beam["channel"] = beam["channel"] + 8
            await t1.restart()
            await t1.run_for(SETTLED_S)
            first, *rest = t1.told(CONFIG)
            assert all(said == first for said in rest)

    play(main())


def test_nothing_that_happened_is_told_as_news_when_the_broker_and_home_assistant_come_back() -> None:
    """Ten times in a match both are gone; what a trigger or the event entity hears is heard once, and in time."""

    async def main() -> None:
        async with table() as t1:
            await t1.run_for(SETTLED_S)
            components = announced(t1)["components"]
            for _ in range(10):
                await t1.request({"command": "stroke", "pocketed": []})
                t1.broker.leave(forgets=True)
                t1.say(json.dumps({"command": "stroke", "pocketed": []}))
                await t1.run_for(60)
                t1.broker.come_back()
                born(t1)
                await t1.request({"command": "stroke", "pocketed": []})
            events = [each for each in t1.broker.log if each.topic == "event"]
            assert not any(each.retained for each in events)
            fresh = []
            for each in events:
                at_s = each.at_s - events[0].at_s
                happened_s = seconds(each.content["at"]) - seconds(events[0].content["at"])
                told = ha.event(components["event"], json.dumps(each.content), age_s=at_s - happened_s)
                if told is not None:
                    fresh.append(told["event_id"])
            assert len(fresh) == len(set(fresh))
            misses = [each for each in events if each.content["event"] == "stroke_missed"]
            in_time = [each for each in misses if each.content["event_id"] in fresh]
            assert (len(misses), len(in_time)) == (30, 20)

    play(main())


def seconds(instant: str) -> float:
    return ha.datetime.fromisoformat(instant).timestamp()


def test_a_match_seen_by_beams_is_shown_without_an_error() -> None:
    """Health, events and states as a table with a sensor board publishes them, a fault and a lost board included."""

    async def main() -> None:
        async with table(game="carpetball") as t1:
            await t1.run_for(SETTLED_S)
            components = announced(t1)["components"]
            await t1.play(simulate("carpetball", ("Asha", "Ben"), seed=5))
            t1.block("north")
            await t1.run_for(20)
            assert values(t1, components)["beam_north"] is True
            t1.clear("north")
            await t1.run_for(20)
            assert values(t1, components)["beam_north"] is False
            t1.cable.pull()
            await t1.run_for(20)
            lost = values(t1, components)
            assert lost["source_board"] is True
            assert lost["beam_north"] is None
            t1.cable.put_back()
            await t1.run_for(20)
            well = values(t1, components)
            assert (well["source_board"], well["beam_north"]) == (False, False)
            (won,) = t1.events("round_won")
            assert well["winner"] == ("Asha", "Ben")[won["player"] - 1]
            for published in t1.broker.log:
                if published.topic in ("state", "health", "info", "response", "event"):
                    show(components, published)

    play(main())


def show(components: Document, published: Published) -> None:
    topic, payload = f"pocketbeam/t1/{published.topic}", json.dumps(published.content)
    for component in components.values():
        if published.topic == "event":
            if component["platform"] == "event":
                assert ha.event(component, payload)
        elif component.get("state_topic") == topic:
            ha.shown(component, payload)
            ha.attributes(component, payload)


def test_up_since_stands_still_until_the_clock_is_set() -> None:
    """A time that moved a little with each message would be news to Home Assistant each time."""

    async def main() -> None:
        async with table() as t1:
            await t1.run_for(SETTLED_S)
            began = t1.health["started_at"]
            for _ in range(20):
                t1.wall.step(0.07)
                await t1.run_for(60)
                assert t1.health["started_at"] == began
            t1.wall.step(3600)
            await t1.run_for(60)
            later = seconds(t1.health["started_at"]) - seconds(began)
            assert later == pytest.approx(3600 + 20 * 0.07, abs=0.01)

    play(main())


def press(table: Table, key: str, chosen: str | None = None) -> None:
    """A finger on one of the device's buttons, or a choice in its select."""
    table.say(json.dumps(ha.command(announced(table)["components"][key], chosen)))


def test_every_button_does_what_it_says() -> None:
    async def main() -> None:
        async with table() as t1:
            await t1.run_for(SETTLED_S)
            await t1.pass_object("ne", object="white")
            await t1.until(lambda: t1.state["stroke"] and t1.state["stroke"]["fallen"])
            press(t1, "end_stroke")
            await t1.until(lambda: t1.state["rules"]["sides"]["A"]["pocketed"] == 1)
            press(t1, "undo")
            await t1.until(lambda: t1.state["rules"]["sides"]["A"]["pocketed"] == 0)
            queen = {"status": "covered", "side": "A"}
            full = {"A": {"pocketed": 8}, "B": {"pocketed": 3}}
            assert (await t1.request({"command": "recount", "sides": full, "queen": queen}))["ok"]
            assert (await t1.request({"command": "stroke", "pocketed": ["white"]}))["ok"]
            await t1.until(lambda: t1.state["rules"]["phase"] == "board_over")
            press(t1, "next_board")
            await t1.until(lambda: t1.state["rules"]["board"] == 2)
            match = t1.state["match_id"]
            press(t1, "new_match")
            await t1.until(lambda: t1.state["match_id"] != match)
            assert t1.state["rules"]["board"] == 1
            press(t1, "game", "carpetball")
            await t1.until(lambda: t1.state["rules"]["game"] == "carpetball")
            press(t1, "end_stroke")
            await t1.until(lambda: t1.state["rules"]["phase"] == "round")
            five = {"command": "throw", "out": {"south": t1.state["rules"]["ends"]["south"]["in_play"], "north": 0}}
            assert (await t1.request(five))["ok"]
            assert (await t1.request({"command": "throw", "out": {"south": 0, "north": 0}}))["ok"]
            await t1.until(lambda: t1.state["rules"]["phase"] == "round_over")
            press(t1, "next_round")
            await t1.until(lambda: t1.state["rules"]["round"] == 2)
            assert all(answer["ok"] for answer in t1.told("response"))

    play(main())


def test_a_press_that_can_do_nothing_says_why() -> None:
    async def main() -> None:
        async with table() as t1:
            await t1.run_for(SETTLED_S)
            press(t1, "next_board")
            await t1.until(lambda: t1.told("response"))
            payload = json.dumps(t1.told("response")[-1])
            shown = ha.shown(announced(t1)["components"]["answer"], payload)
            assert shown == t1.told("response")[-1]["error"]["message"]
            assert shown != "done"

    play(main())


def test_a_match_that_was_given_up_by_a_press_can_be_had_back() -> None:
    async def main() -> None:
        async with table() as t1:
            await t1.run_for(SETTLED_S)
            assert (await t1.request({"command": "stroke", "pocketed": ["white"]}))["ok"]
            before = t1.state
            press(t1, "new_match")
            await t1.until(lambda: t1.state["match_id"] != before["match_id"])
            press(t1, "undo")
            await t1.until(lambda: t1.state["match_id"] == before["match_id"])
            # that took back the new match; and this takes back that the old one was given up
            press(t1, "undo")
            await t1.run_for(1)
            assert t1.state["rules"] == before["rules"]
            assert (await t1.request({"command": "stroke", "pocketed": ["white"]}))["ok"]

    play(main())


# --- the configuration -------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["", "a b", "/a", "a/", "a//b", "a/#", "+", "ä"])
def test_a_prefix_that_is_no_topic_is_refused_with_one_that_would_do(prefix: str) -> None:
    document = {**Table().document, "home_assistant": {"prefix": prefix}}
    with pytest.raises(ConfigurationError, match=r'home_assistant\.prefix: must be a topic .* such as "homeassistant"'):
        from_document(document)


def test_a_table_announces_itself_unless_it_is_told_not_to() -> None:
    document = {key: each for key, each in Table().document.items() if key != "home_assistant"}
    assert introduction(from_document(document)) == f"homeassistant/device/{CONFIG}"
    assert introduction(from_document({**document, "home_assistant": {"prefix": "a/b"}})) == f"a/b/device/{CONFIG}"
    assert introduction(from_document({**document, "home_assistant": {"enabled": False}})) is None


# --- the file ----------------------------------------------------------------------------------------------


def test_what_was_announced_is_kept_in_a_file(tmp_path: Path) -> None:
    said = plan(None, "homeassistant", describe(Table().settings, PAGE)).announced
    memory = FileMemory(tmp_path)
    assert memory.read() is None
    memory._write(said)
    assert FileMemory(tmp_path).read() == said
    memory._write(None)
    assert memory.read() is None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"topic": 1}', '{"topic": "a", "components": {"x": 1}}', "\0"])
def test_a_file_that_cannot_be_used_is_none(tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / FILE).write_text(text, "utf-8")
    assert FileMemory(tmp_path).read() is None
    assert FILE in caplog.text


def test_a_directory_that_is_not_there_loses_nothing_but_the_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory = FileMemory(tmp_path / "gone")
    memory._write(Announced("a/b", {}))
    assert memory.read() is None
    assert "cannot be written" in caplog.text
