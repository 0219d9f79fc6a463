"""Who may come: clients of both versions of the protocol, a table's page, and those who send a request."""

import asyncio
import queue

from paho.mqtt.client import CallbackAPIVersion, MQTTv5
from paho.mqtt.client import Client as PahoClient

from appliance.mqtt.topics import Message
from appliance.web.server import WebServer
from tests.brokers.cases import Defect, case
from tests.brokers.people import at, hearing, linked
from tests.support.broker_kinds import Broker
from tests.support.brokers import HOST, Settings, until


@case("A request reaches its table, and one that was retained is marked as such")
async def test_requests(broker: Broker, table: str, patience_s: float) -> None:
    request = at(table, "request")
    async with hearing(broker.port, "nothing") as other:
        await other.publish(request, b"old", retain=True)
        async with linked(broker.port, table) as playing:
            await until(lambda: playing.requests, patience_s)
            await other.publish(request, b"new")
            await until(lambda: len(playing.requests) == 2, patience_s)
            assert playing.requests == [(b"old", True), (b"new", False)]


@case("A page that comes by the table's own address sees its state at once")
async def test_page(broker: Broker, table: str, patience_s: float) -> None:
    state, seen = at(table, "state"), queue.Queue[tuple[bytes, bool]]()
    server = WebServer(HOST, 0, Settings(broker.port), table)
    async with linked(broker.port, table) as playing:
        playing.link.publish(Message(state, "s", True, 1))
        await until(lambda: playing.connected, patience_s)
        port = await server.start()
        page = PahoClient(CallbackAPIVersion.VERSION2, f"page-{table}", transport="websockets")
        page.ws_set_options(path="/mqtt")
        page.on_connect = lambda *_: page.subscribe(state, qos=1)
        page.message_callback_add(state, lambda _client, _data, message: seen.put((message.payload, message.retain)))
        try:
            await asyncio.to_thread(page.connect, HOST, port)
            page.loop_start()
            assert await asyncio.to_thread(seen.get, timeout=patience_s) == (b"s", True)
        finally:
            page.disconnect()
            await asyncio.to_thread(page.loop_stop)
            await server.stop()


@case("Home Assistant, which listens with a wildcard, hears of the tables when it says that it has started")
async def test_home_assistant(broker: Broker, table: str, patience_s: float) -> None:
    birth, config = f"{table}/status", f"{table}/device/x/config"
    async with linked(broker.port, table, newcomers=[birth]) as playing:
        playing.link.publish(Message(config, "c", True, 1))
        await until(lambda: playing.connected, patience_s)
        async with hearing(broker.port, f"{table}/device/+/config") as home_assistant:
            told = len(playing.news)
            await home_assistant.publish(birth, "online")
            await until(lambda: len(playing.news) > told, patience_s)
            playing.link.republish()
            await home_assistant.wait_for(lambda heard: heard.latest.get(config) == "c", patience_s)


ONLY_3_1_1 = (
    "Programs that insist on MQTT 5 cannot be used, and Home Assistant, which asks for it, raises a repair issue: "
    "set it to 3.1.1 there. A table speaks both, its pages 3.1.1."
)


@case("A client of MQTT 5 is welcome", embedded=ONLY_3_1_1, rabbitmq=Defect(ONLY_3_1_1, (4, 0)), nats=ONLY_3_1_1)
async def test_version_5(broker: Broker, table: str, patience_s: float) -> None:
    welcomes: queue.Queue[bool] = queue.Queue()
    client = PahoClient(CallbackAPIVersion.VERSION2, table, protocol=MQTTv5, reconnect_on_failure=False)
    client.on_connect = lambda _client, _data, _flags, reason, _properties: welcomes.put(not reason.is_failure)
    client.on_disconnect = lambda *_: welcomes.put(False)
    client.connect(HOST, broker.port)
    client.loop_start()
    try:
        welcome = await asyncio.to_thread(welcomes.get, timeout=patience_s)
    except queue.Empty:
        welcome = False
    finally:
        client.disconnect()
        await asyncio.to_thread(client.loop_stop)
    assert welcome, "it is not let in"
