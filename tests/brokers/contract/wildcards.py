"""Live messages by wildcard: what loggers, bridges and home automation listen with."""

from tests.brokers.cases import Defect, case
from tests.brokers.people import at, hearing
from tests.support.broker_kinds import Broker


@case("Wildcards carry live messages, of the levels that they cover and of no others")
async def test_live(broker: Broker, table: str, patience_s: float) -> None:
    said = [at(table, "event"), at(table, "score/a"), at(f"{table}-b", "event"), at(table, "end")]
    expected = {
        at(table, "+"): [said[0], said[3]],
        at(table, "#"): [said[0], said[1], said[3]],
        at(table, "score/+"): [said[1], said[3]],
        at("+", "event"): [said[0], said[2], said[3]],
    }
    for filter_, topics in expected.items():
        async with hearing(broker.port, filter_, said[3]) as heard:
            for topic in said:
                await heard.publish(topic, "x")
            await heard.wait_for(lambda heard: said[3] in heard.latest, patience_s)
            ours = [m.topic for m in heard.messages if m.topic.startswith(at(table, "")[:-1])]
            assert list(dict.fromkeys(ours)) == topics, filter_


@case("A subscription that ends brings nothing more")
async def test_unsubscribing(broker: Broker, table: str, patience_s: float) -> None:
    line, state = at(table, "line"), at(table, "state")
    async with hearing(broker.port, line, state) as heard:
        await heard.publish(state, "first")
        await heard.wait_for(lambda heard: state in heard.latest, patience_s)
        await heard.client.unsubscribe(state)
        await heard.publish(state, "second")
        await heard.publish(line, "mark")
        await heard.wait_for(lambda heard: line in heard.latest, patience_s)
        assert heard.payloads(state) == ["first"]


@case(
    "Who listens to everything (`#`) hears what people said, and nothing else",
    nats=Defect(
        "A logger that listens to `#` hears with each message what the server says to itself (`$JS/…`), and when it "
        "leaves, the server may stand still for four seconds and turn away who comes then. Let it listen to "
        "`pocketbeam/#`.",
        (2, 10),
    ),
)
async def test_everything(broker: Broker, table: str, patience_s: float) -> None:
    event, mark = at(table, "event"), at(table, "mark")
    async with hearing(broker.port, "#") as heard:
        await heard.publish(event, "e")
        await heard.publish(mark, "m")
        await heard.wait_for(lambda heard: mark in heard.latest, 20)
        live = [message.topic for message in heard.messages if not message.retained]
        assert live == [event, mark]
