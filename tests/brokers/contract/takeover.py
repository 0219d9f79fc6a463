"""Two connections with one client id: a table that comes back before the broker has noticed that it was gone."""

import asyncio
import contextlib
import signal

import aiomqtt

from tests.brokers.cases import Defect, case
from tests.brokers.people import at, hearing, linked
from tests.support.broker_kinds import Broker
from tests.support.brokers import HOST, child_table, until

BOTH_STAY = (
    "Two programs with the same table's name both stay connected and contradict each other, where another broker "
    "throws the first one out, which then says so."
)
NO_WILL = (
    "Whoever is thrown out by a second client of its name goes without its will: displays that wait for it do "
    "not see the change. A table says `online` itself when it comes back."
)


@case("The second client with an id throws the first one out", embedded=BOTH_STAY)
async def test_the_first_one_goes(broker: Broker, table: str, patience_s: float) -> None:
    echo = at(table, "echo")
    async with contextlib.AsyncExitStack() as stack:
        thrown_out = False
        with contextlib.suppress(aiomqtt.MqttError):
            async with aiomqtt.Client(HOST, broker.port, identifier=table) as first:
                second = await stack.enter_async_context(aiomqtt.Client(HOST, broker.port, identifier=table))
                try:
                    async with asyncio.timeout(patience_s):
                        await anext(aiter(first.messages))
                except aiomqtt.MqttError:
                    thrown_out = True
                except TimeoutError:
                    pass
        await second.subscribe(echo, qos=1)
        await second.publish(echo, "e", qos=1)
        message = await anext(aiter(second.messages))
        assert message.payload == b"e"
        assert thrown_out


@case("… and its will is said", embedded=BOTH_STAY, rabbitmq=Defect(NO_WILL, (4, 0)), nats=NO_WILL)
async def test_its_will(broker: Broker, table: str, patience_s: float) -> None:
    will = at(table, "will")
    async with hearing(broker.port, will) as heard, contextlib.AsyncExitStack() as stack:
        with contextlib.suppress(aiomqtt.MqttError):
            async with aiomqtt.Client(HOST, broker.port, identifier=table, will=aiomqtt.Will(will, b"w", 1)):
                await stack.enter_async_context(aiomqtt.Client(HOST, broker.port, identifier=table))
                await heard.wait_for(lambda heard: heard.payloads(will) == ["w"], patience_s)


@case("A table that comes back while its old connection hangs ends up online")
async def test_back_beside_a_hung_connection(broker: Broker, table: str, patience_s: float) -> None:
    availability = at(table, "availability")
    with child_table(broker.port, table) as hung:
        try:
            async with hearing(broker.port, availability) as heard:
                await heard.wait_for(lambda heard: heard.payloads(availability) == ["online"], patience_s)
                hung.send_signal(signal.SIGSTOP)
                async with linked(broker.port, table) as back:
                    await until(lambda: back.connected, patience_s)
                    await heard.wait_for(lambda heard: heard.payloads(availability)[-1] == "online", patience_s)
                    # The will of the old connection may still be on its way: what was said behind it is a mark.
                    back.link.republish()
                    await heard.wait_for(lambda heard: len(heard.payloads(availability)) >= 2, patience_s)
                    async with hearing(broker.port, availability) as newcomer:
                        await newcomer.wait_for(lambda heard: heard.latest.get(availability) == "online", patience_s)
        finally:
            hung.kill()
