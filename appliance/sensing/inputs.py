"""What hangs on a table's wires, as the configuration says it: beams, strike sensors and buttons."""

from dataclasses import dataclass

from appliance.sensing.debounce import DebounceSettings


@dataclass(frozen=True, slots=True)
class Beam:
    """A beam over a pocket or pit. `passes` is everything that can break it; beams of one `exclusive` group see
    the same objects.
    """

    id: str
    source: str
    channel: int
    place: str
    passes: tuple[str, ...]
    blocked_level: int
    settings: DebounceSettings
    exclusive: str | None = None


@dataclass(frozen=True, slots=True)
class StrikeSensor:
    """A sensor that feels a stroke begin; `end` is the thrower's end (carpetball), None elsewhere.

    One that lies `across` the throwing line also sees the ball which arrives from the other end.
    """

    id: str
    source: str
    channel: int
    end: str | None
    blocked_level: int
    settings: DebounceSettings
    across: bool = False


@dataclass(frozen=True, slots=True)
class LongPress:
    """What a press of a second or more asks for instead."""

    action: str
    fields: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class Button:
    """A button; `action` and `fields` are the request that a press stands for, `long` that of a long one."""

    id: str
    source: str
    channel: int
    action: str
    fields: tuple[tuple[str, object], ...]
    pressed_level: int
    settings: DebounceSettings
    long: LongPress | None = None

    def asks(self, long: bool) -> tuple[str, dict[str, object]]:
        """The command and the fields of the request that a press is."""
        meant = self.long if long and self.long is not None else self
        return meant.action, dict(meant.fields)


Input = Beam | StrikeSensor | Button
