"""The short part of the soak; the long one is `python -m tests.soak`."""

import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance import rules
from appliance.mqtt.outbox import QUEUE_LIMIT
from tests.soak.__main__ import MEGABYTE, report
from tests.soak.conftest import FIGURES
from tests.soak.year import KEPT, Club

EVENINGS = 10
MOST_ROWS_A_MATCH = 2_000
EVIDENCE_BYTES = MEGABYTE // 2
BYTES_A_STROKE = 1_500
"""Of facts alone, which stay for ever. What is kept besides is no more after a year than after an evening."""
FAULTS = {
    "cable pull",
    "bad wire",
    "board reboot at rest",
    "board swapped",
    "daemon killed",
    "host reboot at rest",
    "broker away",
    "wall step",
    "disk stall",
    "disk refuses",
    "request repeated",
    "request hostile",
}


@pytest.fixture
def _quiet() -> Iterator[None]:
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(before)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("_quiet")
@pytest.mark.parametrize("seed", [1, 2])
def test_evenings_with_faults_from_all_sides_come_to_what_the_players_did(
    seed: int, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Nothing lost, doubled or invented (an `UntrueError` says what), and nothing grows but the facts."""
    club, began_s = Club(seed, tmp_path), time.monotonic()
    try:
        for _ in range(EVENINGS):
            club.evening()
    finally:
        club.close()
    figures = club.figures
    record_property(FIGURES, report(figures, time.monotonic() - began_s))
    assert set(figures.matches) == set(rules.GAMES)
    assert set(figures.faults) >= FAULTS
    assert figures.hurt > 0, "nothing began anew while something fell"
    assert figures.slowest_s["cable"] <= 1.0
    assert figures.slowest_s["broker"] <= 0.02
    assert figures.queued <= QUEUE_LIMIT
    assert figures.memory[-1] - figures.memory[EVENINGS // 2] < 12 * MEGABYTE
    for sizes in figures.sizes.values():
        assert max(rows for _, _, rows in sizes) <= KEPT.rows + MOST_ROWS_A_MATCH
        strokes, size, _ = sizes[-1]
        assert size < EVIDENCE_BYTES + BYTES_A_STROKE * strokes
