"""What is noise, and what is only more than a throw or stroke brings."""

from dataclasses import replace

import pytest

from appliance.sensing.bank import Beam, InputNoisy
from tests.sensing.lines import Lines, pit, pocket

PIT = pit("north", 0)
ASKING = replace(PIT, settings=replace(PIT.settings, crowd=1))
STRIKER = pocket("chute", 0, passes=("striker",))
ONE_STRIKER = replace(STRIKER, settings=replace(STRIKER.settings, crowd=1))


@pytest.mark.parametrize(
    ("beam", "passages", "noisy"),
    [(ASKING, 6, False), (ASKING, 11, False), (ASKING, 12, True), (ONE_STRIKER, 5, False), (ONE_STRIKER, 6, True)],
    ids=["a whole throw", "two crowds of four", "three crowds of four", "two crowds of two", "three crowds of two"],
)
def test_three_crowds_are_noise(beam: Beam, passages: int, noisy: bool) -> None:
    lines = Lines(beam)
    lines.pulses(*((beam.id, 1000 + 400 * n, 30) for n in range(passages)))
    assert bool(lines.told(InputNoisy)) is noisy
