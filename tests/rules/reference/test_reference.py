"""The naive reference against the worked scenarios: what it is compared with must be right itself."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.rules import reference

FOLDER = Path(__file__).parents[2] / "scenarios"
SCENARIOS = [
    json.loads(line) for path in sorted(FOLDER.glob("*.jsonl")) for line in path.read_text().splitlines()
]


def stands_in(listed: Any, told: Any) -> bool:
    """Whether everything listed stands in what was told with the same value."""
    if isinstance(listed, dict):
        return isinstance(told, dict) and all(
            key in told and stands_in(listed[key], told[key]) for key in listed
        )
    if isinstance(listed, list):
        return (
            isinstance(told, list)
            and len(listed) == len(told)
            and all(stands_in(one, other) for one, other in zip(listed, told, strict=True))
        )
    return type(listed) is type(told) and listed == told


def test_all_scenarios_are_here() -> None:
    assert len(SCENARIOS) == 160


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[scenario["id"] for scenario in SCENARIOS])
def test_scenario(scenario: dict[str, Any]) -> None:
    steps = scenario["steps"]
    answers = reference.play(
        scenario["start"]["game"], scenario["setup"], [step["observation"] for step in steps]
    )
    expected = [scenario["start"], *(step["state"] for step in steps)]
    for listed, told in zip(expected, answers, strict=True):
        assert "refused" not in told
        assert stands_in(listed, told["state"]), (listed, told["state"])
