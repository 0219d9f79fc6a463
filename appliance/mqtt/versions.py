"""In which version of MQTT to speak to a broker: 5 where it can, 3.1.1 where it cannot.

Version 5 brings two things that a table uses: a client may say where it wants its answer, and a request that is
retained is marked so even when it is published while the table listens. Everything else is the same in both. A
broker that does not know version 5 should say so, and some just hang up, or answer in a way that nobody understands.
Therefore what is tried next follows from how the last attempt ended, and from nothing older: a broker that was
replaced by a newer one is spoken to in version 5 with the next connection. Pure.
"""

from enum import Enum, auto

MQTT_311, MQTT_5 = 4, 5
"""The levels of the protocol, as they go over the wire."""


class Outcome(Enum):
    """How an attempt to connect ended."""

    WELCOMED = auto()
    """The connection stood, however it ended later."""
    REFUSED = auto()
    """The broker said no, and why."""
    WRONG_VERSION = auto()
    """It said that it does not know this version."""
    NO_ANSWER = auto()
    """It hung up, said nothing, or nothing that can be understood."""
    NOT_REACHED = auto()
    """Nobody was there, or not the one who should be."""


def next_attempt(level: int, outcome: Outcome) -> tuple[int, bool]:
    """The level of the next attempt after one at `level`, and whether to make it at once, without a wait."""
    if level == MQTT_5:
        unknown = outcome in (Outcome.WRONG_VERSION, Outcome.NO_ANSWER)
        return (MQTT_311 if unknown else MQTT_5), outcome is Outcome.WRONG_VERSION
    # Whoever gives a reason in 3.1.1 has understood it; it need not be confused with version 5 again.
    return (MQTT_311 if outcome is Outcome.REFUSED else MQTT_5), False
