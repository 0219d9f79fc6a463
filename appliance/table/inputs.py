"""What the session at the table is asked to take: what the sensors saw, and what people want.

All times are nanoseconds of the host's monotonic clock. A request's fields have been checked for being JSON;
their meaning is checked where they are decided.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from appliance.sensing.doubt import Doubt
from appliance.table.model import MatchStarted


@dataclass(frozen=True, slots=True)
class Begin:
    """The very first match of a table."""

    started: MatchStarted


@dataclass(frozen=True, slots=True)
class Passed:
    """A passage at a pocket or pit; the same `beam` and `started_ns` again is the same passage, revised.

    `reason`: it is none, and why; `told_ns` is when that, or the rest, was known (None: when it ended).
    """

    beam: str
    place: str
    candidates: tuple[str, ...]
    started_ns: int
    ended_ns: int
    doubt: Doubt | None = None
    reason: str | None = None
    told_ns: int | None = None

    @property
    def known_ns(self) -> int:
        """When this was known."""
        return self.ended_ns if self.told_ns is None else self.told_ns


@dataclass(frozen=True, slots=True)
class Coloured:
    """The colour sensor of `beam` named the object of the passage that began at `started_ns`.

    `twice`: two pulses of that passage are each as long as an object takes, so that the same colour again is another.
    """

    beam: str
    started_ns: int
    object: str
    twice: bool = False


@dataclass(frozen=True, slots=True)
class Strike:
    """The strike sensor felt a stroke begin; `end` is the thrower's (carpetball).

    A sensor `across` the throwing line also sees the ball that arrives there.
    """

    end: str | None
    at_ns: int
    across: bool = False


@dataclass(frozen=True, slots=True)
class ClockPassed:
    """Every source that matters has told all it saw up to `at_ns`."""

    at_ns: int


@dataclass(frozen=True, slots=True)
class Rebooted:
    """The host or a source began anew at `at_ns`; what was measured before has no meaning any more."""

    at_ns: int


@dataclass(frozen=True, slots=True)
class Request:
    """What a person wants, by button (`button` is its id), page or message.

    `amid`: the passages, by beam and start, that were going on as the button was pressed.
    """

    command: str
    at_ns: int
    fields: Mapping[str, Any] = field(default_factory=dict)
    expected_seq: int | None = None
    button: str | None = None
    amid: frozenset[tuple[str, int]] = frozenset()


TableInput = Begin | Passed | Coloured | Strike | ClockPassed | Rebooted | Request


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a request is not done; nothing has changed. `stroke` is the number of the stroke in its way."""

    code: str
    message: str
    stroke: int | None = None
