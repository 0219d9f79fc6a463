"""Whatever is wrong with one beam, the others count every disc, in no doubt; and once it is well it counts again."""

from random import Random

import pytest

from appliance.sensing.bank import InputWell
from sim.faults import SENSOR_FAULTS, Where
from sim.parameters import parameters
from tests.sensing.lines import Lines, pocket

POCKETS = tuple(pocket(name, channel) for channel, name in enumerate(("ne", "nw", "se", "sw")))
AT_ONE_BEAM = sorted(set(SENSOR_FAULTS) - {"lamps", "dips"})
"""Lamps and dips are in all beams at once."""


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("fault", AT_ONE_BEAM)
def test_no_fault_of_one_beam_stops_the_others(fault: str, seed: int) -> None:
    rng = Random(f"{fault} {seed}")
    others = ("nw", "se", "sw")
    found = SENSOR_FAULTS[fault](Where(("ne", *others), "ne", 1_000_000, parameters(), rng))
    end_ms = max(end for _, _, end in found) / 1000
    # Somewhere in every two seconds a disc falls in one of the other pockets.
    falls = [
        (others[n % 3], 2000 * n + rng.uniform(0, 1900), rng.uniform(30, 40)) for n in range(int(end_ms / 2000) + 1)
    ]
    lines = Lines(*POCKETS)
    lines.pulses(*((name, start / 1000, (end - start) / 1000) for name, start, end in found), *falls)
    seen = {(each.beam.id, each.passage.started_ns): each for each in lines.final()}
    of_others = [each for (name, _), each in seen.items() if name != "ne"]
    assert [(each.doubt, each.reason) for each in of_others] == [(None, None)] * len(falls)
    assert not [told for told in lines.told(InputWell) if told.input.id != "ne"]  # type: ignore[attr-defined]
    lines.time(end_ms + 10_000)
    lines.pulses(("ne", end_ms + 11_000, 30))
    last = lines.final()[-1]
    assert (last.beam.id, last.doubt, last.reason) == ("ne", None, None), "it counts again"
