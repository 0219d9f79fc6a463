"""The header's pins through gpiozero and lgpio: found by label, claimed one by one, read and let go.

Everything that is peculiar to the libraries stands here. The controller behind the header is found by its label,
because its number differs between boards and changes when it comes back. What the kernel can say better than
the libraries (what a device is, who holds a line, whether the controller is still there) is asked of the
kernel. Whatever goes wrong becomes one sentence with its remedy. A test, or another board, puts another
`PinsPort` in place of `GpiozeroPins`.
"""

import ctypes
import errno
import fcntl
import os
import struct
import tempfile
import threading
from collections.abc import Callable
from contextlib import chdir, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

HEADER_LABELS = ("pinctrl-rp1", "pinctrl-bcm2711", "pinctrl-bcm2835")
FACTORY_VARIABLE = "GPIOZERO_PIN_FACTORY"
FACTORY = "lgpio"
USER = "pocketbeam"
"""What the kernel tells others who ask for the owner of our lines."""

Pull = Literal["up", "down"]
OnEdge = Callable[[int, int, int], None]
"""(pin number, level, nanoseconds of the kernel's monotonic clock); called from a thread of the library."""

_GET_CHIP_INFO = 0x8044B401
_CHIP_INFO = struct.Struct("=32s32sI")
_GET_LINE_INFO = 0xC100B405
_LINE_INFO = struct.Struct("=32s32sIIQ160x16x")
_LINE_IS_USED = 1


class HeaderError(Exception):
    """The header, or one pin of it, cannot be used; the text is one sentence with the remedy."""


class DeafError(HeaderError):
    """The library's thread, which hands over the edges, has ended; nothing but a new process brings it back."""


class PinsPort(Protocol):
    """The pins of one controller, open. Every method but `close` raises HeaderError with a sentence."""

    def claim(self, number: int, pull: Pull, on_edge: OnEdge) -> None:
        """Begin to watch an input."""

    def claim_output(self, number: int, level: int) -> None:
        """Take a pin as an output at `level`."""

    def check(self) -> None:
        """Find out whether the controller is still there; DeafError where the library hears nothing any more."""

    def level(self, number: int) -> int:
        """The electrical level now."""

    def write(self, number: int, level: int) -> None:
        """Set an output."""

    def close(self) -> None:
        """Let go of every pin; may take a tenth of a second and may be called from any thread."""


@dataclass(slots=True, weakref_slot=True)
class _Watch:
    """Keeps the callback alive: the library itself holds only a weak reference to it."""

    number: int
    on_edge: OnEdge

    def changed(self, ticks: float, state: int) -> None:
        """Stamp and pass on; nothing else may happen on the library's thread."""
        self.on_edge(self.number, int(state), round(ticks * 1_000_000_000))


class Controller:
    """A gpiochip device, open: what the kernel itself says of it."""

    def __init__(self, path: Path) -> None:
        """Open it; OSError where it cannot be, ENOTTY where it is something else."""
        self.number = int(path.name.removeprefix("gpiochip"))
        self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            self.label = self._label()
        except OSError:
            self.close()
            raise

    def _label(self) -> str:
        answer = fcntl.ioctl(self._descriptor, _GET_CHIP_INFO, bytes(_CHIP_INFO.size))
        return _text(_CHIP_INFO.unpack(answer)[1])

    def check(self) -> None:
        """HeaderError where the controller has gone since it was opened."""
        try:
            self._label()
        except OSError as error:
            raise _gone(error) from error

    def owner_of(self, number: int) -> str | None:
        """Who holds a line, by the name that they gave; None where nobody does."""
        question = _LINE_INFO.pack(b"", b"", number, 0, 0)
        try:
            answer = fcntl.ioctl(self._descriptor, _GET_LINE_INFO, question)
        except OSError:
            return None
        _, consumer, _, _, flags = _LINE_INFO.unpack(answer)
        return (_text(consumer) or "a program without a name") if flags & _LINE_IS_USED else None

    def close(self) -> None:
        """Let go of the device."""
        os.close(self._descriptor)


class GpiozeroPins:
    """The pins of a gpiozero pin factory; `controller` is None for one that is not the kernel's."""

    def __init__(
        self, factory: Any, controller: Controller | None = None, is_listening: Callable[[], bool] = lambda: True
    ) -> None:
        """Use `factory`, which is let go of with the pins. `is_listening`: whether the library's thread lives."""
        # The library keeps one table of pins for all its factories; those of a controller that is gone would
        # come back with the next one.
        factory.pins = {}
        self._factory = factory
        self._controller = controller
        self._is_listening = is_listening
        self._pins: dict[int, Any] = {}
        self._watches: dict[int, _Watch] = {}

    def claim(self, number: int, pull: Pull, on_edge: OnEdge) -> None:
        """Begin to watch an input."""
        watch = _Watch(number, on_edge)

        def set_up(pin: Any) -> None:
            pin.function = "input"
            pin.pull = pull
            pin.bounce = None  # the library's debounce deletes edges; ours does not
            pin.edges = "both"
            pin.when_changed = watch.changed

        self._claim(number, set_up)
        self._watches[number] = watch

    def claim_output(self, number: int, level: int) -> None:
        """Take a pin as an output at `level`."""
        self._claim(number, lambda pin: pin.output_with_state(level))

    def _claim(self, number: int, set_up: Callable[[Any], None]) -> None:
        pin = None
        try:
            pin = self._factory.pin(f"GPIO{number}")
            set_up(pin)
        except Exception as error:
            # Half set up, the library would take it for watched and watch it no more.
            self._factory.pins = {info: each for info, each in self._factory.pins.items() if each is not pin}
            self.check()
            raise HeaderError(self._why_not(number, error)) from error
        self._pins[number] = pin

    def _why_not(self, number: int, error: Exception) -> str:
        owner = self._controller.owner_of(number) if self._controller is not None else None
        if owner is not None and "busy" in str(error):
            return f"GPIO{number} is in use by {owner}: stop that, or take another pin"
        return f"GPIO{number} cannot be used ({error}): take another pin"

    def check(self) -> None:
        """Find out whether the controller is still there; DeafError where the library hears nothing any more."""
        if self._controller is not None:
            self._controller.check()
        _check_hearing(self._is_listening)

    def level(self, number: int) -> int:
        """The electrical level now."""
        try:
            return int(self._pins[number].state)
        except Exception as error:
            raise _gone(error) from error

    def write(self, number: int, level: int) -> None:
        """Set an output."""
        try:
            self._pins[number].state = level
        except Exception as error:
            raise _gone(error) from error

    def close(self) -> None:
        """Let go of every pin; of a controller that is gone, what is left of it."""
        for number in self._watches:
            with suppress(Exception):
                self._pins[number].when_changed = None
        self._watches.clear()
        self._pins.clear()
        for pin in self._factory.pins.values():
            with suppress(Exception):
                pin.close()
        self._factory.pins.clear()
        with suppress(Exception):
            self._factory.close()
        if self._controller is not None:
            self._controller.close()


def open_header() -> GpiozeroPins:
    """The Raspberry Pi's header through lgpio. Raises HeaderError with a sentence where there is none."""
    asked = os.environ.get(FACTORY_VARIABLE) or FACTORY
    if asked != FACTORY:
        raise HeaderError(
            f"{FACTORY_VARIABLE} asks for {asked!r}, whose edges have no times of the kernel: "
            f"unset it, the pins need {FACTORY}"
        )
    lgpio, factory_class = _library()
    # Private, but nothing else says whether edges still come; main_thread: a library without that thread.
    is_listening = getattr(lgpio, "_notify_thread", threading.main_thread()).is_alive
    _check_hearing(is_listening)
    controller = find_controller(Path("/dev"))
    try:
        factory = factory_class(chip=controller.number)
    except Exception as error:
        controller.close()
        raise HeaderError(f"/dev/gpiochip{controller.number} cannot be opened ({error}): it is tried again") from error
    _tame(lgpio, factory._handle)
    pins = GpiozeroPins(factory, controller, is_listening)
    try:
        factory.board_info  # noqa: B018  # asks which board this is
    except Exception as error:
        pins.close()
        raise HeaderError(
            f"there is a pin header, but not of a Raspberry Pi that gpiozero knows ({error}): "
            'put the sensors on a serial board, kind = "serial"'
        ) from error
    return pins


def find_controller(devices: Path) -> Controller:
    """The controller whose label is that of a header, open. HeaderError where there is none under `devices`."""
    denied: list[Path] = []
    others: list[str] = []
    for path in sorted(path for path in devices.glob("gpiochip*") if path.name[8:].isdecimal()):
        try:
            controller = Controller(path)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM):
                denied.append(path)
            elif error.errno not in (errno.ENOENT, errno.ENODEV, errno.ENXIO):
                others.append(f"{path}, which is no GPIO controller")
            continue
        if controller.label in HEADER_LABELS:
            return controller
        others.append(f"{path} ({controller.label})")
        controller.close()
    if denied:
        raise HeaderError(f"{denied[0]} may not be opened: add the user of the service to the group gpio")
    if others:
        raise HeaderError(
            f'no pin header here, only {", ".join(others)}: kind = "gpio" is for a Raspberry Pi\'s own pins, '
            'a sensor board needs kind = "serial"'
        )
    raise HeaderError(
        f"there is no {devices}/gpiochip0, so no pin header: is this a Raspberry Pi, and are its pins switched on?"
    )


def _library() -> tuple[Any, Any]:
    """Lgpio and gpiozero's factory on it. HeaderError where one is missing or broken."""
    try:
        # As it is imported the library makes a pipe in its directory and walks into that, for good.
        with tempfile.TemporaryDirectory(prefix="pocketbeam-") as directory, chdir(directory):
            import lgpio
            from gpiozero.pins.lgpio import LGPIOFactory
    except Exception as error:
        missing = error.name if isinstance(error, ImportError) and error.name else FACTORY
        raise HeaderError(
            f"the pin library {missing} cannot be used ({error}): install pocketbeam with its gpio extra"
        ) from error
    return lgpio, LGPIOFactory


def _tame(lgpio: Any, handle: int) -> None:
    """Give our lines a name that others see, and silence a thread that floods stderr when a controller goes.

    The Python half of the library offers neither; where its C half does not, both stay as they are.
    """
    with suppress(OSError, AttributeError, ValueError):
        native = ctypes.CDLL(lgpio._lgpio.__file__)
        native.lgGpioSetUser(handle & 0xFFFF, USER.encode())
        ctypes.c_uint64.in_dll(native, "lgDbgLevel").value = 0


def _check_hearing(is_listening: Callable[[], bool]) -> None:
    if not is_listening():
        raise DeafError("the pin library hears nothing any more: only a restart of pocketbeam helps")


def _gone(error: Exception) -> HeaderError:
    return HeaderError(f"the controller of the header's pins is gone ({error}): it is looked for until it is back")


def _text(data: bytes) -> str:
    return data.split(b"\0", 1)[0].decode("utf-8", "replace")
