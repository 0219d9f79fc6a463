"""WLED, the firmware of LED strips: a preset of the strip for each event that is given one.

The strip goes back by itself: with a `base` preset an event is a playlist of one entry that ends with it, so the
strip is right again even when nobody is there to tell it. Of several events that come together (a stroke that wins
a board wins a match, too) the one that stands first in the settings counts. Nothing is retained: a strip that is
switched on again must not celebrate yesterday's match.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from appliance.bridges.settings import WledSettings
from appliance.bridges.standing import Standing, ending
from appliance.mqtt.topics import Document, Message, to_json


@dataclass(frozen=True, slots=True)
class Wled:
    """One table on one strip, or one group of strips."""

    table: str
    settings: WledSettings

    @property
    def refresh_s(self) -> float | None:
        """A strip keeps its preset, and somebody may have switched it off on purpose."""
        return None

    def show(self, standing: Standing) -> Sequence[Message]:
        """The preset of a table that is there, or that is not, where one is set."""
        preset = self.settings.base if standing.online else self.settings.offline
        return [] if preset is None else [self._message({"ps": preset})]

    def tell(self, standing: Standing, event: Document, before: Sequence[str]) -> Sequence[Message]:
        """The event's preset, unless one that counts more came with it."""
        put_right = ending(event)
        names = (event["event"],) if put_right is None else (event["event"], put_right[0])
        wanted = next((name for name in self.settings.presets if name in names), None)
        if wanted is None or self._rank(wanted) > min(map(self._rank, before), default=self._last):
            return []
        preset = self.settings.presets[wanted]
        if self.settings.base is None:
            return [self._message({"ps": preset})]
        # A duration is in tenths of a second.
        entry = {"ps": [preset], "dur": [round(self.settings.shown_s * 10)], "repeat": 1, "end": self.settings.base}
        return [self._message({"playlist": entry})]

    def clear(self) -> Sequence[Message]:
        """The strip stays as it is, or goes to the preset of a table that is not there."""
        return self.show(Standing(online=False))

    @property
    def _last(self) -> int:
        return len(self.settings.presets)

    def _rank(self, name: str) -> int:
        presets = list(self.settings.presets)
        return presets.index(name) if name in presets else self._last

    def _message(self, document: Document) -> Message:
        return Message(f"{self.settings.topic}/api", to_json(document), False, 1)
