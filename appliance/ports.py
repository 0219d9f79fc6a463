"""What the daemon needs of its journal, its sources and its broker, and the real ones.

A test, or a command that only looks, puts others in their place; the daemon knows none of them by name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from appliance.clock import Clock
from appliance.config import Settings
from appliance.config.settings import Source as SourceSection
from appliance.events import SourceInput
from appliance.journal import Journal, JournalPort
from appliance.link.configuration import BoardConfiguration
from appliance.link.session import HostSession
from appliance.mqtt.announcer import FileMemory, Memory, introduction, newcomers
from appliance.mqtt.client import MqttLink
from appliance.mqtt.replies import OnRequest
from appliance.mqtt.topics import Message
from appliance.records import ends_stroke
from appliance.sources.gpio import GpioSource, Pins
from appliance.sources.serial import SerialSource


class SourcePort(Protocol):
    """What the daemon needs of a source of edges."""

    source_id: str

    def start(self) -> None:
        """Begin to deliver."""

    async def stop(self) -> None:
        """Deliver nothing more and let go of the device."""

    def acknowledge(self, boot_id: int, next_sequence: int) -> None:
        """Everything below `next_sequence` of that boot is durable."""

    def show(self, levels: Mapping[int, int]) -> None:
        """Set outputs by channel, now and whenever the source is back."""

    @property
    def is_connected(self) -> bool:
        """Whether the source is heard."""

    @property
    def outages(self) -> Mapping[int, str]:
        """By channel: why that wire cannot be used, while the source is there."""

    @property
    def status(self) -> str:
        """How it stands, in words."""

    @property
    def counters(self) -> Any:
        """A frozen snapshot (a dataclass of numbers) of what it counted."""

    @property
    def moved_at_ns(self) -> int:
        """When it last attended to its device, or looked for it, by the daemon's monotonic clock."""


class PublisherPort(Protocol):
    """What the daemon needs of the connection to the broker."""

    async def run(self) -> None:
        """Stay connected until cancelled."""

    def publish(self, message: Message) -> None:
        """Send, or keep for the next connection."""

    def republish(self) -> None:
        """Send everything retained again."""

    def counters(self) -> dict[str, int]:
        """What was counted."""


OnConnection = Callable[[bool, str], None]
Deliver = Callable[[list[SourceInput]], None]
Progress = Mapping[int, int]
"""By boot of a source, the newest last: the next sequence number that is not durable."""


def _pins(source_id: str, wanted: Pins, deliver: Deliver, clock: Clock) -> SourcePort:
    return GpioSource(source_id, wanted, deliver, clock.monotonic_ns)


def _memory(settings: Settings) -> Memory:
    return FileMemory(settings.table.state_dir)


@dataclass(frozen=True, slots=True)
class Ports:
    """How a table gets its journal, its sources and its connection; tests put other ones in their place."""

    journal: Callable[[Settings, Callable[[int], None], Callable[[str | None], None]], JournalPort]
    source: Callable[[SourceSection, BoardConfiguration, Progress, Deliver, Clock], SourcePort]
    publisher: Callable[[Settings, OnRequest, OnConnection], PublisherPort]
    pins: Callable[[str, Pins, Deliver, Clock], SourcePort] = _pins
    memory: Callable[[Settings], Memory] = _memory


def _journal(
    settings: Settings, on_synced: Callable[[int], None], on_safety: Callable[[str | None], None]
) -> JournalPort:
    return Journal(settings.table.state_dir, settings.table.id, on_synced, on_safety, ends_stroke=ends_stroke)


def _source(
    section: SourceSection, wanted: BoardConfiguration, progress: Progress, deliver: Deliver, clock: Clock
) -> SourcePort:
    assert section.port is not None
    session = HostSession(section.id, resume=progress, configuration=wanted)
    return SerialSource(section.id, section.port, section.baud, session, deliver, clock.monotonic_ns)


def _publisher(settings: Settings, on_request: OnRequest, on_connection: OnConnection) -> PublisherPort:
    return MqttLink(
        settings.mqtt,
        settings.table.id,
        on_request=on_request,
        on_connection=on_connection,
        newcomers=newcomers(settings),
        introduction=introduction(settings),
    )


REAL = Ports(_journal, _source, _publisher)
