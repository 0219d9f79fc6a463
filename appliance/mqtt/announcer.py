"""When a table is announced to Home Assistant, and what it keeps of that; what is said, `home_assistant.py` decides.

Some moments after each connection, when the score is out and the address of the pages is known, and again when
Home Assistant has started. What was announced is kept in a file beside the journal, written by a thread, so that
the next start knows what to take back. Without that file nothing is lost but the farewell of what is gone.
"""

import json
import logging
import os
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

from appliance import __version__
from appliance.config import Settings
from appliance.mqtt.home_assistant import BIRTH_TOPIC, Announced, Description, Plan, discovery_topic, plan
from appliance.mqtt.topics import Message

ANNOUNCE_AFTER_S = 1.0
FAREWELL_AFTER_S = 3.0
"""So long a removed component is shown to a Home Assistant that has just started, before it is told to go."""
FILE = "home-assistant.json"

_log = logging.getLogger(__name__)

SetTimer = Callable[[str, float, Callable[[], None]], None]


class Memory(Protocol):
    """What was announced last, kept across starts."""

    def read(self) -> Announced | None:
        """Nothing was, as far as anybody knows: None."""

    def write(self, announced: Announced | None) -> None:
        """Keep it; never blocks."""


class Publisher(Protocol):
    """Where messages go."""

    def publish(self, message: Message) -> None:
        """Send, or keep for the next connection."""

    def republish(self) -> None:
        """Send everything retained again."""


class FileMemory:
    """`home-assistant.json` in the table's state directory."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE

    def read(self) -> Announced | None:
        """A file that cannot be read is none: then nothing can be taken back."""
        try:
            document = json.loads(self._path.read_text("utf-8"))
            return Announced(str(document["topic"]), {key: dict(each) for key, each in document["components"].items()})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            _log.warning("%s cannot be used: %s", self._path, error)
            return None

    def write(self, announced: Announced | None) -> None:
        """In a thread, because a disk may take its time."""
        threading.Thread(target=self._write, args=(announced,), name="home-assistant", daemon=True).start()

    def _write(self, announced: Announced | None) -> None:
        try:
            if announced is None:
                self._path.unlink(missing_ok=True)
                return
            draft = self._path.with_suffix(".new")
            draft.write_text(json.dumps(asdict(announced)), encoding="utf-8")
            os.replace(draft, self._path)
        except OSError as error:
            _log.warning("%s cannot be written: %s", self._path, error.strerror or error)


def describe(settings: Settings, page: str | None) -> Description:
    """What of the settings is announced."""
    return Description(
        table=settings.table.id,
        version=__version__,
        beams=tuple((beam.id, beam.source) for beam in settings.beams),
        sources=tuple(source.id for source in settings.sources if source.kind != "none"),
        boards=tuple(source.id for source in settings.sources if source.kind == "serial"),
        page=page,
    )


def introduction(settings: Settings) -> str | None:
    """The topic of the announcement, None where there is none."""
    section = settings.home_assistant
    return discovery_topic(section.prefix, settings.table.id) if section.enabled else None


def newcomers(settings: Settings) -> tuple[str, ...]:
    """Where Home Assistant says that it has started: at its usual topic, or under the prefix that it was given."""
    section = settings.home_assistant
    return tuple(dict.fromkeys((BIRTH_TOPIC, f"{section.prefix}/status"))) if section.enabled else ()


@dataclass(slots=True)
class Announcer:
    """The announcements of one table.

    `before` is what was announced before this start: all of this run's messages follow from that.
    """

    settings: Settings
    publisher: Publisher
    memory: Memory
    set_timer: SetTimer
    before: Announced | None
    _page: str | None = None
    _kept: Announced | None = field(init=False)
    _connected: bool = False

    def __post_init__(self) -> None:
        """What was announced before is what the memory holds."""
        self._kept = self.before

    def connection(self, connected: bool) -> None:
        """The broker is there, or gone; there again without having been gone, it is somebody new who listens."""
        new, self._connected = connected and self._connected, connected
        if new:
            self._greet()
        elif connected:
            self.set_timer("announce", ANNOUNCE_AFTER_S, self._announce)

    def show_page(self, address: str) -> None:
        """The pages are served there."""
        self._page = address
        self.set_timer("announce", ANNOUNCE_AFTER_S, self._announce)

    def _plan(self) -> Plan:
        section = self.settings.home_assistant
        prefix = section.prefix if section.enabled else None
        return plan(self.before, prefix, describe(self.settings, self._page))

    def _announce(self) -> None:
        if not self._connected:
            return
        planned = self._plan()
        for message in planned.messages:
            self.publisher.publish(message)
        if planned.announced != self._kept:
            self._kept = planned.announced
            self.memory.write(planned.announced)

    def _greet(self) -> None:
        """Home Assistant has started."""
        planned = self._plan()
        if planned.revival is not None:
            self.publisher.publish(planned.revival)
            self.set_timer("announce", FAREWELL_AFTER_S, self._announce)
        self.publisher.republish()
