"""What the bank of inputs tells the table, in the words of beams, strikes and presses."""

from dataclasses import dataclass
from enum import StrEnum

from appliance.sensing.debounce import Passage
from appliance.sensing.doubt import Doubt
from appliance.sensing.inputs import Beam, Button, Input, StrikeSensor


class Uncounted(StrEnum):
    """Why a passage is no object that fell."""

    HAND = "a hand, or something that lay in the beam"
    NOISE = "the beam was too noisy to be believed"
    DIP = "all beams of the source changed at once: its supply dipped"


@dataclass(frozen=True, slots=True)
class PassageSeen:
    """Something passed a beam, or more is known of the passage with that beam and start.

    `doubt`: it may be more or less than one object. `reason`: it is none, also where it was shown before. `passes`:
    what it can be, where other beams of the same place leave less than this beam alone.
    """

    beam: Beam
    passage: Passage
    doubt: Doubt | None = None
    reason: Uncounted | None = None
    passes: tuple[str, ...] | None = None

    @property
    def candidates(self) -> tuple[str, ...]:
        """What it can be."""
        return self.beam.passes if self.passes is None else self.passes


@dataclass(frozen=True, slots=True)
class ColourSeen:
    """A colour sensor named an object, for the passage that `beam` told and that began at `started_ns`.

    `twice`: two pulses of the passage are each as long as an object takes, so that the same colour again is another.
    """

    beam: Beam
    started_ns: int
    object: str
    twice: bool = False


@dataclass(frozen=True, slots=True)
class StrikeSeen:
    """A stroke began."""

    sensor: StrikeSensor
    at_ns: int


@dataclass(frozen=True, slots=True)
class Pressed:
    """A button was pressed at `at_ns` and let go, `long` after it.

    `amid`: the passages, by beam and start as they were told, that were going on at that moment.
    """

    button: Button
    at_ns: int
    long: bool = False
    amid: frozenset[tuple[str, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class InputBlocked:
    """An input has been active for too long: a blocked beam, a stuck button, a cut wire."""

    input: Input
    since_ns: int


@dataclass(frozen=True, slots=True)
class InputNoisy:
    """An input changes far too often; nothing of it counts until it has been quiet."""

    input: Input
    since_ns: int


@dataclass(frozen=True, slots=True)
class InputWell:
    """A blocked or noisy input counts again."""

    input: Input
    at_ns: int


TableSignal = PassageSeen | ColourSeen | StrikeSeen | Pressed | InputBlocked | InputNoisy | InputWell
