"""What outlives a broker that stops, or is killed, and starts again. Each goes through both once for all cases."""

import asyncio
from dataclasses import dataclass

import aiomqtt
import pytest

from appliance.mqtt.topics import Message
from tests.brokers.cases import case
from tests.brokers.contract.sessions import heard_by
from tests.brokers.people import at, hearing, linked
from tests.support.broker_kinds import Broker
from tests.support.brokers import HOST, Heard, until


@dataclass
class Aftermath:
    """What was found after the restart."""

    of_the_living: dict[str, str]
    of_the_gone: list[Heard]
    after_a_kill: list[Heard]
    living_after_a_kill: dict[str, str]
    connected_again: list[tuple[bool, str]]
    durable: list[object]


@pytest.fixture(scope="module")
def aftermath(server: Broker, kind: str) -> Aftermath:
    """One table plays on over the restart, another one has gone home before, a logger sleeps through it."""
    playing, gone, cut = f"restart-{kind}", f"gone-{kind}", f"cut-{kind}"

    if kind == "embedded":  # it begins anew, as with every concern
        server.stop()
        server.start()

    async def scenario() -> Aftermath:
        async with linked(server.port, playing) as table:
            table.link.publish(Message(at(playing, "state"), "before", True, 1))
            async with aiomqtt.Client(HOST, server.port, identifier=f"logger-{kind}", clean_session=False) as logger:
                await logger.subscribe(at(playing, "event"), qos=1)
            async with hearing(server.port, at(playing, "event"), at(playing, "state")) as speaker:
                await speaker.publish(at(gone, "state"), "kept", retain=True)
                await speaker.publish(at(playing, "event"), "missed")
                await speaker.wait_for(lambda heard: len(heard.latest) == 2)
            await asyncio.to_thread(server.stop)
            await until(lambda: table.news[-1][0] is False, 20)
            table.link.publish(Message(at(playing, "state"), "after", True, 1))
            await asyncio.to_thread(server.start)
            await until(lambda: table.connected, 40)
            wanted = {at(playing, "state"): "after", at(playing, "availability"): "online"}
            living = await seen(wanted)
            kept = await retained(gone)
            async with aiomqtt.Client(HOST, server.port, identifier=f"logger-{kind}", clean_session=False) as logger:
                async with hearing(server.port, "nothing") as speaker:
                    await speaker.publish(at(playing, "event"), "live")
                    await speaker.publish(at(cut, "state"), "kept", retain=True)
                durable = await heard_by(logger, at(playing, "event"), 2, 2.0 if kind == "embedded" else 20.0)
            await asyncio.to_thread(server.kill)
            await until(lambda: table.news[-1][0] is False, 20)
            await asyncio.to_thread(server.start)
            await until(lambda: table.connected, 40)
            return Aftermath(living, kept, await retained(cut), await seen(wanted), table.news, durable)

    async def seen(wanted: dict[str, str]) -> dict[str, str]:
        """What a newcomer sees of the table that plays on; it is what is wanted."""
        async with hearing(server.port, *wanted) as newcomer:
            await newcomer.wait_for(lambda heard: heard.latest == wanted, 20)
            return newcomer.latest

    async def retained(name: str) -> list[Heard]:
        """What a newcomer sees of a table that is not there."""
        async with hearing(server.port, at(name, "state"), at(name, "mark")) as newcomer:
            await newcomer.publish(at(name, "mark"), "")
            await newcomer.wait_for(lambda heard: at(name, "mark") in heard.latest)
            return [message for message in newcomer.messages if message.topic == at(name, "state")]

    return asyncio.run(scenario())


@case("A table plays on while the broker restarts, or is killed, and shows its score again")
async def test_the_table_is_back(aftermath: Aftermath) -> None:
    for seen in (aftermath.of_the_living, aftermath.living_after_a_kill):
        assert sorted(seen.values()) == ["after", "online"]
    assert [connected for connected, _ in aftermath.connected_again if connected] == [True, True, True]


FORGETS = (
    "Retained values are gone after a restart of the broker, until the table says them again; what a table said "
    "that is away itself stays unknown."
)


@case("Retained values outlive a restart", embedded=FORGETS)
async def test_retained_values_outlive_it(aftermath: Aftermath) -> None:
    assert [(heard.payload, heard.retained) for heard in aftermath.of_the_gone] == [("kept", True)]


@case(
    "… and a power cut of the broker a moment later",
    embedded=FORGETS,
    mosquitto=(
        "What came since its last save (`autosave_interval`, half an hour as it comes) is gone. A table that is there "
        "says everything again; of one that is away the score before is shown, or none."
    ),
    rabbitmq=(
        "What came in the last minutes is gone. A table that is there says everything again; of one that is away the "
        "score before is shown, or none."
    ),
)
async def test_retained_values_outlive_a_power_cut(aftermath: Aftermath) -> None:
    assert [(heard.payload, heard.retained) for heard in aftermath.after_a_kill] == [("kept", True)]


@case(
    "What waits for a durable session outlives a restart",
    embedded="A logger that was away over a restart of the broker has a gap.",
)
async def test_what_waits_outlives_it(aftermath: Aftermath) -> None:
    assert aftermath.durable == [b"missed", b"live"]
