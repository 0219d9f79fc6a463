"""Who takes part in a case: a table's link, in this process or in one that can be killed, and its topics."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

import aiomqtt

from appliance.mqtt.client import MqttLink
from tests.support.brokers import Recorder, Settings, recorder
from tests.support.links import LinkedTable


def at(table: str, level: str) -> str:
    """A topic of a table."""
    return f"pocketbeam/{table}/{level}"


@contextlib.asynccontextmanager
async def hearing(port: int, *topics: str) -> AsyncIterator[Recorder]:
    """A subscriber that records what it asked for, and nothing else.

    It tries three times: NATS may stand still for four seconds when another one leaves that heard everything.
    """
    async with contextlib.AsyncExitStack() as stack:
        for attempt in range(1, 4):
            try:
                heard = await stack.enter_async_context(recorder(port, *topics, only_asked=True))
                break
            except aiomqtt.MqttError:
                if attempt == 3:
                    raise
        yield heard


@contextlib.asynccontextmanager
async def linked(port: int, name: str, *, newcomers: Sequence[str] = ()) -> AsyncIterator[LinkedTable]:
    """A table's link to the broker; at the end it says goodbye."""
    made = LinkedTable(
        MqttLink(
            Settings(port),
            name,
            on_request=lambda payload, retained, *_: made.requests.append((payload, retained)),
            on_connection=lambda connected, reason: made.news.append((connected, reason)),
            newcomers=newcomers,
        )
    )
    task = asyncio.create_task(made.link.run())
    try:
        yield made
    finally:
        task.cancel()
        await asyncio.wait_for(task, 20)
