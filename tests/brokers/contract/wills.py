"""Whether a display learns that a table is gone: by its goodbye, or by the will that it left with the broker."""

import aiomqtt

from tests.brokers.cases import case
from tests.brokers.people import at, hearing, linked
from tests.support.broker_kinds import Broker
from tests.support.brokers import HOST, child_table


@case("A table that stops is offline, for those who listen and for those who come")
async def test_goodbye(broker: Broker, table: str, patience_s: float) -> None:
    availability = at(table, "availability")
    async with hearing(broker.port, availability) as heard:
        async with linked(broker.port, table):
            await heard.wait_for(lambda heard: heard.payloads(availability) == ["online"], patience_s)
        await heard.wait_for(lambda heard: heard.payloads(availability) == ["online", "offline"], patience_s)
    async with hearing(broker.port, availability) as newcomer:
        await newcomer.wait_for(lambda heard: heard.payloads(availability) == ["offline"], patience_s)


@case("A table that is killed is offline, for those who listen and for those who come")
async def test_killed(broker: Broker, table: str, patience_s: float) -> None:
    availability = at(table, "availability")
    async with hearing(broker.port, availability) as heard:
        with child_table(broker.port, table) as child:
            await heard.wait_for(lambda heard: heard.payloads(availability) == ["online"], patience_s)
            child.kill()
        await heard.wait_for(lambda heard: heard.payloads(availability) == ["online", "offline"], patience_s)
    async with hearing(broker.port, availability) as newcomer:
        await newcomer.wait_for(lambda heard: heard.payloads(availability) == ["offline"], patience_s)


@case(
    "One that falls silent is offline after one and a half keepalives",
    embedded="A program on this machine that hangs stays online for ever, as long as its connection is open.",
)
async def test_silent(broker: Broker, table: str, patience_s: float) -> None:
    availability = at(table, "availability")
    will = aiomqtt.Will(availability, b"offline", 1, True)
    async with (
        hearing(broker.port, availability) as heard,
        aiomqtt.Client(HOST, broker.port, keepalive=1, will=will) as hung,
    ):
        # Nobody reads or writes for it any more, and its connection stays open.
        hung._misc_task.cancel()
        hung._loop.remove_reader(hung._client.socket())
        await heard.wait_for(lambda heard: heard.payloads(availability) == ["offline"], patience_s)


@case("An orderly goodbye takes the will back")
async def test_no_will_after_a_goodbye(broker: Broker, table: str, patience_s: float) -> None:
    availability, line = at(table, "availability"), at(table, "line")
    async with hearing(broker.port, availability, line) as heard:
        async with aiomqtt.Client(HOST, broker.port, will=aiomqtt.Will(availability, b"offline", 1, True)) as speaker:
            await speaker.publish(availability, b"online", 1, True)
        await heard.publish(line, "mark")
        await heard.wait_for(lambda heard: line in heard.latest, patience_s)
        assert heard.payloads(availability) == ["online"]
