"""How a line is, in one word and in a sentence that says what to do about it.

Pure: follows from what the line's watchers know at a moment. The words are `ok`, `blocked`, `noisy`, `dark` (not
clear once since the start), `polarity_suspect` (upside down, by the look of it) and `unknown`.
"""

from dataclasses import dataclass
from typing import Literal

from appliance.sensing.bank import Button, Line
from appliance.sensing.debounce import SECOND, Condition

DARK_AFTER_NS = 60 * SECOND

State = Literal["ok", "blocked", "noisy", "dark", "polarity_suspect", "unknown"]


@dataclass(frozen=True, slots=True)
class LineHealth:
    """The state of a line, since when (None: not known), and what a person should know and do."""

    state: State
    since_ns: int | None
    reason: str | None = None


_LAMP = (
    "Ambient IR interference: it flickers as often as lamps do, about {hz} times a second. Shade the receiver, "
    "put a short tube over it, or turn the lamp away."
)
_NOISY = (
    "It changes far too often to be believed: a loose wire, sunlight in the receiver, or an input to which nothing "
    "is connected. It counts again once it has been quiet for 3 seconds."
)
_POLARITY = (
    "It looks upside down: broken all the time, but for moments as short as a passage. Give it the other "
    "blocked_level, or look which way its sensor switches."
)
_DARK = (
    "It has not been clear once since the start: its emitter is out, too dim or points elsewhere, its wire is cut, "
    "or its blocked_level is the wrong one."
)
_AT_START = (
    "Blocked at start, {seconds} s: something lies in the beam, its emitter or wire is out, or its blocked_level is "
    "the wrong one."
)
_BLOCKED = "Something lies in the beam, or its emitter or wire is out: look at the pocket and empty its net."
_STUCK = "The button is down, or was until now, for too long; it asks for nothing until it has been up for a second."
_SETTLING = "Clear again; it counts once it has been quiet for a second."
_UNHEARD = "Its source has not told its level yet."


def health_of(line: Line, now_ns: int) -> LineHealth:
    """How `line` is at `now_ns`."""
    debouncer, since_ns = line.debouncer, line.debouncer.since_ns
    if isinstance(line.input, Button):
        return LineHealth("blocked", since_ns, _STUCK) if line.is_out else LineHealth("ok", since_ns)
    flickers = line.noise.breaks_in_last_second(now_ns)
    lamp = _LAMP.format(hz=flickers) if line.noise.flickers_like_a_lamp(now_ns) else None
    if line.is_noisy:
        return LineHealth("noisy", line.noise.since_ns, lamp or _NOISY)
    match debouncer.condition:
        case Condition.UNKNOWN:
            return LineHealth("unknown", None, _UNHEARD)
        case Condition.OK:
            return LineHealth("ok", since_ns, lamp)
        case Condition.BLOCKED | Condition.SETTLING if line.polarity.is_suspect:
            return LineHealth("polarity_suspect", since_ns, _POLARITY)
        case Condition.SETTLING:
            return LineHealth("blocked", since_ns, _SETTLING)
        case _:
            return _blocked(line, now_ns)


def _blocked(line: Line, now_ns: int) -> LineHealth:
    since_ns = line.debouncer.since_ns
    if line.debouncer.has_been_clear:
        return LineHealth("blocked", since_ns, _BLOCKED)
    if now_ns - since_ns >= DARK_AFTER_NS:
        return LineHealth("dark", since_ns, _DARK)
    return LineHealth("blocked", since_ns, _AT_START.format(seconds=max(0, now_ns - since_ns) // SECOND))
