"""What happens at a simulated table, as values: the script between the players and the device.

Times are whole microseconds from the beginning of the match, in order. The players write a script of actions;
the device turns strikes and falls into edges, the driver sends the calls as an umpire would.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Strike:
    """A striker or a cue ball is sent off; carpetball: from `end`, which is the thrower's."""

    at_us: int
    end: str | None
    dwell_us: int


@dataclass(frozen=True, slots=True)
class Fall:
    """`object` falls at `place` and breaks the beam from `at_us` for `dwell_us`."""

    at_us: int
    place: str
    object: str
    dwell_us: int

    @property
    def end_us(self) -> int:
        """When the beam is whole again."""
        return self.at_us + self.dwell_us


@dataclass(frozen=True, slots=True)
class Call:
    """The umpire sends `request`, which lacks only the transaction."""

    at_us: int
    request: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Over:
    """Nothing more will come; by now the last stroke has closed by quiet time."""

    at_us: int


Action = Strike | Fall | Call | Over
