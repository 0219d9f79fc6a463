"""The header's pins through gpiozero and lgpio: found by label, claimed one by one, read and let go.

Everything that is peculiar to the library stands here. The controller behind the header is found by its label,
because its number differs between boards and changes when it comes back. lgpio keeps no line's errors to
itself, so each call is turned into a sentence. A test, or another board, puts another `Header` in its place.
"""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

HEADER_LABELS = ("pinctrl-rp1", "pinctrl-bcm2711", "pinctrl-bcm2835")
FACTORY_VARIABLE = "GPIOZERO_PIN_FACTORY"
FACTORY = "lgpio"

Pull = Literal["up", "down"]
OnEdge = Callable[[int, int, int], None]
"""(pin number, level, nanoseconds of the kernel's monotonic clock); called from a thread of the library."""


class HeaderError(Exception):
    """The header, or one pin of it, cannot be used; the text is one sentence with the remedy."""


class PinsPort(Protocol):
    """The pins of one controller, open."""

    def claim(self, number: int, pull: Pull, on_edge: OnEdge) -> None:
        """Begin to watch an input; HeaderError where it cannot be had."""

    def claim_output(self, number: int) -> None:
        """Take a pin as an output, low; HeaderError where it cannot be had."""

    def level(self, number: int) -> int:
        """The electrical level now; HeaderError where the controller is gone."""

    def write(self, number: int, level: int) -> None:
        """Set an output; HeaderError where the controller is gone."""

    def close(self) -> None:
        """Let go of every pin."""


@dataclass(slots=True)
class _Watch:
    """Keeps the callback alive: the library itself holds only a weak reference to it."""

    number: int
    on_edge: OnEdge

    def changed(self, ticks: float, state: int) -> None:
        """Stamp and pass on; nothing else may happen on the library's thread."""
        self.on_edge(self.number, int(state), round(ticks * 1_000_000_000))


class GpiozeroPins:
    """The pins of a gpiozero pin factory."""

    def __init__(self, factory: Any, owner_of: Callable[[int], str | None]) -> None:
        """Use `factory`; `owner_of` names who holds a line."""
        self._factory = factory
        self._owner_of = owner_of
        self._pins: dict[int, Any] = {}
        self._watches: dict[int, _Watch] = {}

    def claim(self, number: int, pull: Pull, on_edge: OnEdge) -> None:
        """Begin to watch an input; HeaderError where it cannot be had."""
        pin = self._pin(number)
        try:
            pin.function = "input"
            pin.pull = pull
            pin.bounce = None  # the library's debounce deletes edges; ours does not
            pin.edges = "both"
            watch = _Watch(number, on_edge)
            pin.when_changed = watch.changed
        except Exception as error:
            raise HeaderError(self._why_not(number, error)) from error
        self._watches[number] = watch

    def claim_output(self, number: int) -> None:
        """Take a pin as an output, low; HeaderError where it cannot be had."""
        pin = self._pin(number)
        try:
            pin.output_with_state(0)
        except Exception as error:
            raise HeaderError(self._why_not(number, error)) from error

    def level(self, number: int) -> int:
        """The electrical level now; HeaderError where the controller is gone."""
        try:
            return int(self._pins[number].state)
        except Exception as error:
            raise HeaderError(f"the controller of the header's pins is gone ({error})") from error

    def write(self, number: int, level: int) -> None:
        """Set an output; HeaderError where the controller is gone."""
        try:
            self._pins[number].state = level
        except Exception as error:
            raise HeaderError(f"the controller of the header's pins is gone ({error})") from error

    def close(self) -> None:
        """Let go of every pin; what cannot be let go of any more is gone already."""
        for number in self._watches:
            try:
                self._pins[number].when_changed = None
            except Exception:
                continue
        self._watches.clear()
        self._pins.clear()
        self._factory.close()

    def _pin(self, number: int) -> Any:
        try:
            pin = self._factory.pin(f"GPIO{number}")
        except Exception as error:
            raise HeaderError(self._why_not(number, error)) from error
        self._pins[number] = pin
        return pin

    def _why_not(self, number: int, error: Exception) -> str:
        owner = self._owner_of(number)
        if owner:
            return f"GPIO{number} is used by {owner}; stop that, or choose another pin"
        return f"GPIO{number} cannot be used: {error}"


def open_header() -> GpiozeroPins:
    """The Raspberry Pi's header through lgpio. Raises HeaderError with a sentence where there is none."""
    asked = os.environ.get(FACTORY_VARIABLE, FACTORY)
    if asked != FACTORY:
        raise HeaderError(
            f"{FACTORY_VARIABLE} asks for {asked!r}, whose timing is not known; unset it, the pins need {FACTORY}"
        )
    # The library leaves a pipe in its working directory, which a hardened service cannot write to.
    os.environ.setdefault("LG_WD", tempfile.gettempdir())
    try:
        import lgpio
        from gpiozero.pins.lgpio import LGPIOFactory
    except ImportError as error:
        raise HeaderError(
            f"the package {error.name or 'lgpio'} is missing: install pocketbeam with its gpio extra"
        ) from error
    chip = _find_chip(lgpio)
    try:
        factory = LGPIOFactory(chip=chip)
    except Exception as error:
        raise HeaderError(f"the header's controller gpiochip{chip} cannot be opened: {error}") from error
    handle = factory._handle

    def owner_of(number: int) -> str | None:
        try:
            status, _, _, _, user = lgpio.gpio_get_line_info(handle, number)
        except lgpio.error:
            return None
        return user if status == 0 and user and user != "lg" else None

    return GpiozeroPins(factory, owner_of)


def _find_chip(lgpio: Any) -> int:
    """The number of the controller whose label is that of a header."""
    denied: list[str] = []
    seen: list[str] = []
    for path in sorted(Path("/dev").glob("gpiochip*")):
        if not os.access(path, os.R_OK | os.W_OK):
            denied.append(str(path))
            continue
        number = int(path.name.removeprefix("gpiochip"))
        try:
            handle = lgpio.gpiochip_open(number)
        except lgpio.error:
            continue
        try:
            label = lgpio.gpio_get_chip_info(handle)[3]
        finally:
            lgpio.gpiochip_close(handle)
        if label in HEADER_LABELS:
            return number
        seen.append(label)
    if denied:
        raise HeaderError(f"{denied[0]} may not be opened: add the user to the group gpio")
    if seen:
        raise HeaderError(f"no pin header here: there are only the controllers {', '.join(seen)}")
    raise HeaderError("no pin header here: there is no /dev/gpiochip")
