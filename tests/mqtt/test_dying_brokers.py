"""How long a table, and a bridge, are away after a broker that dies in the middle of a word, at whatever step.

What it costs to notice is one of three: nothing where the broker hangs up; the patience for an answer where it owes
one and says nothing; one and a half keepalives where it owes none. The pause before the next attempt comes after it.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.bridges.choose import choose
from appliance.bridges.run import Running
from appliance.mqtt.client import ANSWER_TIMEOUT_S, KEEPALIVE_S, Connection, MqttLink
from appliance.mqtt.topics import Message, state_messages
from tests.support import mqtt_examples as examples
from tests.support.brokers import Settings
from tests.support.scripted import At, Fault, How, ScriptedBroker, in_virtual_time

AVAILABILITY = "pocketbeam/club-1/availability"
PAGE = "clock/custom/pocketbeam-club-1_"
SAID = {AVAILABILITY: b"online"} | {
    message.topic: (message.payload or "").encode() for message in state_messages(examples.STATES["club_carrom"])
}
SILENCE_S = 1.5 * KEEPALIVE_S
FIRST_PAUSE_S, JITTER = 0.5, 1.25

ENDS, SILENCES = (How.CLOSES, How.BREAKS_OFF), (How.SILENT, How.FALLS_SILENT)
FAULTS = [
    Fault(At.ACCEPT, How.REFUSES),
    Fault(At.ACCEPT, How.CLOSES),
    *(Fault(at, how) for at in (At.CONNECT, At.SUBSCRIBE, At.PUBLISH) for how in (*ENDS, *SILENCES)),
]
FAULTS_OF_A_LISTENER = [*FAULTS, *(Fault(At.RETAINED, how) for how in (*ENDS, *SILENCES))]


async def table_back(broker: ScriptedBroker) -> float:
    """Seconds until a table's broker has everything."""
    news: list[bool] = []
    link = MqttLink(
        Settings(1),
        "club-1",
        on_request=lambda *request: None,
        on_connection=lambda connected, reason: news.append(connected),
    )
    for topic, payload in SAID.items():
        link.publish(Message(topic, payload.decode(), True, 1))
    running = asyncio.create_task(link.run())
    await broker.until(lambda: SAID.items() <= broker.retained.items())
    back_at = asyncio.get_running_loop().time()
    assert news[-1]
    running.cancel()
    await running
    return back_at


async def bridge_back(broker: ScriptedBroker) -> float:
    """Seconds until the clock shows the score that the broker keeps."""
    running = bridge()
    await broker.until(lambda: PAGE in broker.retained)
    back_at = asyncio.get_running_loop().time()
    assert numbers(broker) == ["12", "-", "9"]
    await ended(running)
    return back_at


def bridge() -> "asyncio.Task[None]":
    chosen = choose("awtrix", "club-1", Settings(1), None, {"prefix": "clock"})
    return asyncio.create_task(Running(chosen).run())


async def ended(running: "asyncio.Task[None]") -> None:
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def numbers(broker: ScriptedBroker) -> list[str]:
    return [part["t"] for part in json.loads(broker.retained[PAGE])["text"]]


Back = Callable[[ScriptedBroker], Coroutine[Any, Any, float]]


def away_s(back: Back, faults: Sequence[Fault]) -> float:
    """Seconds until it is back after all of them, one connection each."""
    broker = ScriptedBroker(*faults, retained=SAID if back is bridge_back else None)
    seconds: float = in_virtual_time(broker, lambda: back(broker))
    return seconds


def unnoticed_s(back: Back, fault: Fault) -> float:
    """For how long at most a dead broker is taken for a slow one."""
    if fault.how not in SILENCES:
        return 0
    # A bridge waits for the acknowledgement of what it says, a table for none.
    owed = {At.CONNECT, At.SUBSCRIBE} | ({At.PUBLISH} if back is bridge_back else set())
    return ANSWER_TIMEOUT_S if fault.at in owed else SILENCE_S


def longest_s(back: Back, faults: Sequence[Fault]) -> float:
    pauses = sum(FIRST_PAUSE_S * 2**number * JITTER for number in range(len(faults)))
    return pauses + sum(unnoticed_s(back, fault) for fault in faults)


@pytest.mark.parametrize(
    ("back", "fault"),
    [*((table_back, fault) for fault in FAULTS), *((bridge_back, fault) for fault in FAULTS_OF_A_LISTENER)],
    ids=lambda value: str(value) if isinstance(value, Fault) else value.__name__,
)
def test_after_one_fault_it_is_back_as_soon_as_it_can_know(back: Back, fault: Fault) -> None:
    assert FIRST_PAUSE_S / 2 < away_s(back, [fault]) <= longest_s(back, [fault])


def some(faults: Sequence[Fault]) -> st.SearchStrategy[list[Fault]]:
    later = st.builds(Fault, st.sampled_from(At), st.sampled_from((*ENDS, *SILENCES)), st.integers(0, 3))
    return st.lists(st.sampled_from(faults) | later, max_size=5)


@given(some(FAULTS))
def test_after_any_faults_in_a_row_a_table_is_back(faults: list[Fault]) -> None:
    assert away_s(table_back, faults) <= longest_s(table_back, faults)


@given(some(FAULTS_OF_A_LISTENER))
def test_after_any_faults_in_a_row_a_bridge_is_back(faults: list[Fault]) -> None:
    assert away_s(bridge_back, faults) <= longest_s(bridge_back, faults)


def test_a_bridge_that_is_told_nothing_of_what_is_kept_shows_what_comes() -> None:
    forgetful = [Fault(At.RETAINED, How.FORGETS)]
    broker = ScriptedBroker(*forgetful, retained=SAID)

    async def main() -> None:
        running = bridge()
        await asyncio.sleep(60)
        assert PAGE not in broker.retained
        await broker.say(AVAILABILITY, b"online")
        await broker.until(lambda: PAGE in broker.retained)
        assert asyncio.get_running_loop().time() < 61
        await ended(running)

    in_virtual_time(broker, main)


def test_one_acknowledgement_that_does_not_come_ends_the_keeping_up_of_no_page() -> None:
    broker = ScriptedBroker(Fault(At.PUBLISH, How.FORGETS, after=1), retained=SAID)

    async def main() -> None:
        running = bridge()
        await asyncio.sleep(600)
        # said once, and again every minute, of which one took ten seconds to be given up
        assert broker.heard.count(PAGE) == 10
        await ended(running)

    in_virtual_time(broker, main)


def test_whoever_is_cancelled_in_the_moment_of_the_answer_waits_no_longer() -> None:
    """Swallowed there, the only word that ends a link would be lost."""

    async def main() -> None:
        answer = asyncio.get_running_loop().create_future()
        waiting = asyncio.create_task(Connection("nowhere")._wait_for(answer, None))
        await asyncio.sleep(0)
        answer.set_result(None)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(main())
