"""What `pocketbeam doctor` says of a broker: its sentences agree with what the cases found."""

import asyncio

from appliance.tools.broker import check_broker
from appliance.tools.findings import Verdict
from tests.brokers.people import hearing
from tests.support.broker_kinds import Broker, version_of
from tests.support.brokers import Settings

WILDCARDS = "it brings no retained messages to a wildcard"
OTHERS = "it sends newcomers what only others have asked for"
VERSION_5 = "it speaks MQTT 3.1.1 only"
NOTES = {
    "embedded": [OTHERS, VERSION_5],
    "mosquitto": [],
    "rabbitmq": [WILDCARDS] if version_of("rabbitmq") >= (4, 0) else [WILDCARDS, VERSION_5],
    "nats": [VERSION_5],
}


def test_each_broker_is_told_by_what_will_not_work(broker: Broker, kind: str, table: str) -> None:
    async def scenario() -> None:
        # Somebody else follows every table, as a logger does.
        async with hearing(broker.port, "pocketbeam/#") as other:
            await other.publish(f"pocketbeam/{table}-b/state", "s", retain=True)
            first, *notes = await check_broker(Settings(broker.port), table)
            assert first.verdict is Verdict.WELL
            assert f"127.0.0.1:{broker.port} takes and keeps what a table says (QoS 1, retained" in first.sentence
            assert [finding.verdict for finding in notes] == [Verdict.NOTE] * len(NOTES[kind])
            assert [finding.sentence.split(":")[0] for finding in notes] == NOTES[kind]
            await other.publish(f"pocketbeam/{table}-b/mark", "")
            await other.wait_for(lambda heard: f"pocketbeam/{table}-b/mark" in heard.latest)
            left = {topic: last for topic, last in other.latest.items() if topic.startswith(f"pocketbeam/{table}/")}
            assert set(left.values()) <= {"", "mine"}, "something was left behind"

    asyncio.run(scenario())
