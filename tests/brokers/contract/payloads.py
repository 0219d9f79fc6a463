"""What is in a message: much, many, and odd."""

import asyncio

import aiomqtt

from appliance.mqtt.topics import Message
from tests.brokers.cases import Defect, case
from tests.brokers.people import at, hearing, linked
from tests.support.broker_kinds import Broker
from tests.support.brokers import until

NAMES = '{"name": "<b>Ålä</b> # + / עידו 👩‍👩‍👧 \\u0000 \x1b"}'


@case("A burst of 500 events arrives whole and in its order")
async def test_burst(broker: Broker, table: str, patience_s: float) -> None:
    event = at(table, "event")
    async with hearing(broker.port, event) as heard, linked(broker.port, table) as playing:
        await until(lambda: playing.connected, patience_s)
        for number in range(500):
            playing.link.publish(Message(event, str(number), False, 1))
        await heard.wait_for(lambda heard: len(heard.messages) >= 500, 40)
        assert heard.payloads(event) == [str(number) for number in range(500)]


@case("A state of 64 kB, and of 200 kB, is carried and retained")
async def test_big(broker: Broker, table: str, patience_s: float) -> None:
    state = at(table, "state")
    async with hearing(broker.port, state) as heard, linked(broker.port, table) as playing:
        for size in (65_536, 200_000):
            payload = "x" * size
            playing.link.publish(Message(state, payload, True, 1))
            await heard.wait_for(lambda heard, payload=payload: heard.latest.get(state) == payload, patience_s)
            async with hearing(broker.port, state) as newcomer:
                await newcomer.wait_for(lambda heard, payload=payload: heard.latest.get(state) == payload, patience_s)


@case("Names with markup, wildcards, emoji and right-to-left text are carried as they are")
async def test_odd_payload(broker: Broker, table: str, patience_s: float) -> None:
    state = at(table, "state")
    async with hearing(broker.port, state) as heard, linked(broker.port, table) as playing:
        playing.link.publish(Message(state, NAMES, True, 1))
        await heard.wait_for(lambda heard: heard.payloads(state) == [NAMES], patience_s)


@case("Every table's name that the configuration allows can be a topic level")
async def test_allowed_levels(broker: Broker, table: str, patience_s: float) -> None:
    for name in (f"{table}-", f"-{table}", f"{table}-{'9' * 64}"):
        state = at(name, "state")
        async with hearing(broker.port, state) as heard, linked(broker.port, name) as playing:
            playing.link.publish(Message(state, "s", True, 1))
            await heard.wait_for(lambda heard, state=state: heard.payloads(state) == ["s"], patience_s)


async def carried(port: int, topic: str, patience_s: float) -> None:
    """Something is said under a topic of somebody else's and heard there."""
    try:
        async with asyncio.timeout(patience_s), hearing(port, topic) as heard:
            await heard.publish(topic, "x")
            await heard.wait_for(lambda heard: heard.payloads(topic) == ["x"], patience_s)
    except (aiomqtt.MqttError, TimeoutError) as error:
        raise AssertionError(f"{topic} is not carried: {error}") from None


@case(
    "Other people's topics may have spaces",
    nats=(
        "A program that uses a topic with a space is thrown out: home automation and bridges must be set up with "
        "names without. No topic of a table has one."
    ),
)
async def test_spaces(broker: Broker, table: str, patience_s: float) -> None:
    await carried(broker.port, f"{table}/club room/x", patience_s)


@case("… and letters of all scripts")
async def test_letters(broker: Broker, table: str, patience_s: float) -> None:
    await carried(broker.port, f"{table}/ålä-עידו-卓/x", patience_s)


@case(
    "… and dots",
    rabbitmq=(
        "What is said under `club.room` arrives under `club/room`: programs with dots in their topics do not find "
        "each other by name. No topic of a table has one."
    ),
    nats=Defect("A program that uses a topic with a dot is thrown out. No topic of a table has one.", (2, 10)),
)
async def test_dots(broker: Broker, table: str, patience_s: float) -> None:
    await carried(broker.port, f"{table}/club.room/x", patience_s)
