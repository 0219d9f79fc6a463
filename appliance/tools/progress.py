"""How far a calibration has come, kept in the state directory until its end: it can be left and taken up again."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from appliance.config import Settings
from appliance.journal.lock import create_directory, sync_directory
from appliance.tools.measure import Measured

FILE = "calibration.json"
_VERSION = 2


@dataclass(slots=True)
class Progress:
    """What has been measured: beams, and the level of each pressed button (None: pressing changed nothing)."""

    directory: Path
    beams: dict[str, Measured] = field(default_factory=dict)
    buttons: dict[str, int | None] = field(default_factory=dict)

    @classmethod
    def load(cls, settings: Settings) -> "Progress":
        """What was kept, as far as it is still about the same wires; nothing where there is none."""
        found = cls(settings.table.state_dir)
        try:
            kept = json.loads((found.directory / FILE).read_text("utf-8"))
            if kept["version"] == _VERSION:
                found._take(settings, kept)
        except (OSError, ValueError, LookupError, TypeError):
            # Whatever it is: measuring again loses a few minutes, believing it could lose a table.
            found.beams.clear()
            found.buttons.clear()
        return found

    def _take(self, settings: Settings, kept: dict[str, Any]) -> None:
        wires = {each.id: [each.source, each.channel] for each in (*settings.beams, *settings.buttons)}
        for name, entry in kept["beams"].items():
            if wires.get(name) == entry["wire"]:
                widths = {key: tuple(entry["found"][key]) for key in ("slow_ns", "fast_ns", "glitches_ns", "blind")}
                readings = tuple((object, tuple(values)) for object, values in entry["found"]["readings"])
                self.beams[name] = Measured(**{**entry["found"], **widths, "readings": readings})
        for name, entry in kept["buttons"].items():
            if wires.get(name) == entry["wire"]:
                self.buttons[name] = entry["level"]

    def save(self, settings: Settings) -> None:
        """Keep it, in one step."""
        wires = {each.id: [each.source, each.channel] for each in (*settings.beams, *settings.buttons)}
        document = {
            "version": _VERSION,
            "beams": {name: {"wire": wires[name], "found": asdict(each)} for name, each in self.beams.items()},
            "buttons": {name: {"wire": wires[name], "level": level} for name, level in self.buttons.items()},
        }
        create_directory(self.directory)
        fresh = self.directory / f".{FILE}.new"
        with fresh.open("w", encoding="utf-8") as out:
            json.dump(document, out)
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(self.directory / FILE)
        sync_directory(self.directory)

    def forget(self) -> None:
        """It is over."""
        (self.directory / FILE).unlink(missing_ok=True)
