"""What somebody who watches a table knows of it, and how it looks: as a screen that is drawn again, or as lines.

Pure: documents in, text out. `health` tells how each beam is and what it has counted, `beam/<id>` what it does
now; where diagnostics do not come, the view still says what `health` says.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

WIDTHS_KEPT = 8
_HEADINGS = ("", "now", "passages", "glitches", "near", "health", "last widths in ms")
_PLAIN_AT = slice(11, 23)


@dataclass(slots=True)
class Wire:
    """One beam or button."""

    name: str
    active: bool | None = None
    widths_us: deque[int] = field(default_factory=lambda: deque(maxlen=WIDTHS_KEPT))
    passages: int = 0
    glitches: int = 0
    near_misses: int = 0
    state: str = ""
    reason: str | None = None

    @property
    def now(self) -> str:
        """What it does now."""
        return "?" if self.active is None else "BROKEN" if self.active else "clear"


@dataclass(slots=True)
class View:
    """A table as it is watched."""

    table: str
    wires: dict[str, Wire] = field(default_factory=dict)
    line: str = ""
    availability: str = "unknown"
    sources: dict[str, str] = field(default_factory=dict)
    health_at_s: float | None = None
    health_valid_s: float = 0.0
    remark: str | None = None

    def wire(self, name: str) -> Wire:
        """A beam or button, known from now on."""
        return self.wires.setdefault(name, Wire(name))

    def hear_text(self, level: str, text: str) -> list[str]:
        """`line` or `availability`; what is worth a line of its own."""
        if level == "line" and text != self.line:
            self.line = text
            return [text] if text else []
        if level == "availability" and text != self.availability:
            self.availability = text
            return [f"the table is {text}"]
        return []

    def hear_health(self, health: Mapping[str, Any], now_s: float) -> list[str]:
        """A health document; the changes, as lines."""
        self.health_at_s, self.health_valid_s = now_s, health["valid_for_s"]
        told: list[str] = []
        for name, source in health["sources"].items():
            status = source["reason"] or source["state"]
            if self.sources.get(name) != status:
                self.sources[name] = status
                told.append(f"source {name}: {status}")
        for name, beam in health["beams"].items():
            wire = self.wire(name)
            if wire.state != beam["state"]:
                reason = f": {beam['reason']}" if beam["reason"] else ""
                told.append(f"{name}: {beam['state'].replace('_', ' ')}{reason}")
            wire.state, wire.reason = beam["state"], beam["reason"]
            wire.passages, wire.glitches, wire.near_misses = (
                beam["passages"],
                beam["glitches"],
                beam["near_misses"],
            )
        return told

    def hear_beam(self, beam: Mapping[str, Any]) -> list[str]:
        """A line of diagnostics; what is worth a line of its own."""
        wire = self.wire(beam["beam"])
        at, before = beam["at"][_PLAIN_AT], wire.active
        wire.active = beam["active"]
        width = "" if beam["dwell_us"] is None else f" {beam['dwell_us'] / 1_000:.1f} ms"
        if beam["what"] == "passage":
            wire.passages += 1  # until health says it for certain
            return [f"{at} {wire.name} passage {beam['passage_id']}{width}"]
        if beam["what"] == "glitch":
            wire.glitches += 1
            return [f"{at} {wire.name} glitch{width}"]
        if beam["dwell_us"] is not None:
            wire.widths_us.append(beam["dwell_us"])
        return [] if wire.active == before else [f"{at} {wire.name} {wire.now.lower()}{width}"]

    def screen(self, now_s: float, columns: int, rows: int) -> list[str]:
        """Everything as lines that fit; the newest width stands first."""
        lines = [f"{self.table}   {self.availability}   {self.line}", *self._trouble(now_s), ""]
        table = [_HEADINGS, *(self._row(wire) for wire in self.wires.values())]
        widths = [max(len(row[column]) for row in table) for column in range(len(_HEADINGS))]
        lines += ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in table]
        lines += ["", "Ctrl-C ends this; the table goes on."]
        return [line.rstrip()[:columns] for line in lines[:rows]]

    def _row(self, wire: Wire) -> tuple[str, ...]:
        newest = " ".join(f"{width / 1_000:.1f}" for width in reversed(wire.widths_us))
        counted = (str(wire.passages), str(wire.glitches), str(wire.near_misses))
        return (wire.name, wire.now, *counted, wire.state.replace("_", " "), newest)

    def _trouble(self, now_s: float) -> list[str]:
        told = [
            f"source {name}: {status}" for name, status in self.sources.items() if status not in ("ok", "connected")
        ]
        told += [f"{wire.name}: {wire.reason}" for wire in self.wires.values() if wire.reason]
        if self.health_at_s is not None and now_s - self.health_at_s > self.health_valid_s:
            told.append(f"nothing has been heard of its health for {now_s - self.health_at_s:.0f} s")
        return [*told, *([self.remark] if self.remark else [])]
