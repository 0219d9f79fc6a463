"""The values that layers hand to each other; the leaf that everybody may import.

Upwards: a source yields edges, colour readings, its levels and the passing of its own clock. Sensing
turns edges into passages, strikes and presses. All of them are frozen and carry their time as integer
nanoseconds of the host's monotonic clock (`at_ns`), into which a source maps its own clock. Two words are
kept apart everywhere: a *level* is electrical (0 or 1), *active* means the beam is broken.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EdgeId:
    """What makes an edge of a source unique: the source's boot and the edge's number in it, not wrapped."""

    boot_id: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Edge:
    """One change of an electrical level at one channel of a source.

    `identity` is None where the source cannot repeat an edge (GPIO, a recording).
    """

    source: str
    channel: int
    level: int
    at_ns: int
    identity: EdgeId | None = None


@dataclass(frozen=True, slots=True)
class ColourReading:
    """What a colour or tag sensor saw: `object` names a game object; it belongs to the channel's newest passage."""

    source: str
    channel: int
    object: str
    at_ns: int
    identity: EdgeId | None = None


@dataclass(frozen=True, slots=True)
class Brightness:
    """What a colour sensor read, 0 to 254 of its supply, while it is being calibrated; it says nothing of the game."""

    source: str
    channel: int
    reading: int
    at_ns: int


@dataclass(frozen=True, slots=True)
class Levels:
    """The true levels of a source's channels at `at_ns`, and the word that its own clock has reached `at_ns`.

    Sent once when a source begins (before its first edge) and with every heartbeat. Everything that the
    source saw before `at_ns` has been handed over before this.
    """

    source: str
    levels: tuple[tuple[int, int], ...]
    at_ns: int


@dataclass(frozen=True, slots=True)
class SourceBack:
    """A source is connected. `boot_id` is the source's own; None where it has none (GPIO)."""

    source: str
    boot_id: int | None
    at_ns: int


@dataclass(frozen=True, slots=True)
class SourceLost:
    """A source is gone; `reason` is a sentence for the table's owner."""

    source: str
    reason: str
    at_ns: int


@dataclass(frozen=True, slots=True)
class EdgesLost:
    """The source itself says that `count` edges were lost in its ring before they could be handed over.

    `identity` is that of the entry in its ring which says so, where there is one.
    """

    source: str
    count: int
    at_ns: int
    identity: EdgeId | None = None


@dataclass(frozen=True, slots=True)
class Chatter:
    """Changes of a quarantined beam, none of which counted, as a sum: it stands where each of them would.

    The first was at `at_ns`, the last, which left `level` and bears `identity`, at `until_ns`. `shortest_ns` and
    `longest_ns` are those of the breaks that ended in it (None: none did). For a restart in the middle: the beam is
    noisy since `noisy_ns`, and was last broken for longer than a spike until `pulse_ns`.
    """

    source: str
    channel: int
    level: int
    at_ns: int
    until_ns: int
    edges: int
    shortest_ns: int | None
    longest_ns: int | None
    noisy_ns: int
    pulse_ns: int
    identity: EdgeId | None = None


SourceInput = Edge | Chatter | ColourReading | Brightness | Levels | SourceBack | SourceLost | EdgesLost
