"""What a display sees that comes later: the newest value of each topic it names, once, and marked as kept."""

from tests.brokers.cases import case
from tests.brokers.people import at, hearing
from tests.support.broker_kinds import Broker
from tests.support.brokers import recorder


async def newcomer_sees(port: int, table: str, filter_: str, patience_s: float) -> None:
    """Somebody subscribes to `filter_` after two values, and a third one follows live."""
    state = at(table, "state")
    async with hearing(port, "nothing") as speaker:
        for payload in ("old", "new"):
            await speaker.publish(state, payload, retain=True)
        async with hearing(port, filter_) as newcomer:
            await newcomer.wait_for(lambda heard: state in heard.latest, patience_s)
            await speaker.publish(state, "live", retain=True)
            await newcomer.wait_for(lambda heard: heard.latest[state] == "live", patience_s)
            arrived = [(m.payload, m.retained) for m in newcomer.messages if m.topic == state]
            assert arrived == [("new", True), ("live", False)]


@case("A newcomer gets what is retained under a topic that it names")
async def test_by_name(broker: Broker, table: str, patience_s: float) -> None:
    await newcomer_sees(broker.port, table, at(table, "state"), patience_s)


NO_WILDCARDS = (
    "A display that subscribes with a wildcard stays empty until the score changes: it has to name each topic. "
    "The table's own pages and tools do."
)


@case("… under topics that a wildcard for one level covers", rabbitmq=NO_WILDCARDS)
async def test_by_a_wildcard_for_one_level(broker: Broker, table: str, patience_s: float) -> None:
    await newcomer_sees(broker.port, table, at(table, "+"), patience_s)


@case("… under topics that a wildcard for all levels covers", rabbitmq=NO_WILDCARDS)
async def test_by_a_wildcard_for_all_levels(broker: Broker, table: str, patience_s: float) -> None:
    await newcomer_sees(broker.port, table, at(table, "#"), patience_s)


@case("An empty payload removes what was retained")
async def test_removal(broker: Broker, table: str, patience_s: float) -> None:
    line, state = at(table, "line"), at(table, "state")
    async with hearing(broker.port, "nothing") as speaker:
        await speaker.publish(line, "l", retain=True)
        await speaker.publish(line, None, retain=True)
        await speaker.publish(state, "s", retain=True)
        async with hearing(broker.port, line, state) as newcomer:
            await newcomer.wait_for(lambda heard: state in heard.latest, patience_s)
            await speaker.publish(line, "mark")
            await newcomer.wait_for(lambda heard: heard.latest.get(line) == "mark", patience_s)
            assert (newcomer.payloads(line), newcomer.payloads(state)) == (["mark"], ["s"])


@case(
    "A newcomer gets only what it asked for",
    embedded=(
        "A client that connects gets retained messages that only other clients asked for: a display has to look "
        "at the topic of what comes, or it shows another table."
    ),
)
async def test_nobody_gets_what_only_others_asked_for(broker: Broker, table: str, patience_s: float) -> None:
    line, state = at(table, "line"), at(table, "state")
    async with hearing(broker.port, at(table, "#")) as other:
        await other.publish(state, "s", retain=True)
        await other.wait_for(lambda heard: state in heard.latest)
        async with recorder(broker.port, line) as newcomer:
            await other.publish(line, "l")
            await newcomer.wait_for(lambda heard: line in heard.latest)
            assert [message.topic for message in newcomer.messages] == [line]
