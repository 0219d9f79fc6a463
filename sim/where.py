"""Where a stroke went wrong: what fell, what counted, and how the beams were broken around it, in words.

For whoever looks for the cause: the same seed plays the same match again.
"""

from collections import Counter
from collections.abc import Iterable

from sim.physics import US_PER_MS, US_PER_S
from sim.rig import Rig
from sim.truth import TrueStroke

AROUND_US = 4 * US_PER_S
MOST_PULSES = 40


def where(seed: int, index: int, strokes: list[TrueStroke], counted: Iterable[tuple[str, str]], rig: Rig) -> str:
    """One stroke of the match that `seed` plays."""
    stroke, following = strokes[index], strokes[index + 1 : index + 2]
    start_us = stroke.start_us
    end_us = following[0].start_us if following else start_us + AROUND_US
    fell = [f"{drop.object} {drop.place}" for drop in stroke.drops]
    made = [f"{name} {place}".strip() for place, name in counted]
    minutes, seconds = divmod(start_us // US_PER_S, 60)
    pulses = [p for p in rig.pulses if p[1] < end_us + AROUND_US and p[2] > start_us - AROUND_US]
    busy = {name for name, count in Counter(name for name, _, _ in pulses).items() if count > MOST_PULSES}
    lines = [
        f"seed {seed}, stroke {index}, {minutes}:{seconds:02d} after the beginning, player {stroke.player}: "
        f"fell {', '.join(fell) or 'nothing'}; counted {', '.join(made) or 'nothing'}",
        *(f"    {name} broken more than {MOST_PULSES} times" for name in sorted(busy)),
        *(
            f"    {name} at {(start - start_us) / US_PER_MS:+.1f} ms for {(end - start) / US_PER_MS:.1f} ms"
            for name, start, end in sorted(pulses, key=lambda pulse: pulse[1])
            if name not in busy
        ),
    ]
    return "\n".join(lines)
