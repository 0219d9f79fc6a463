"""The parameters: each kind of distribution is what its name says, and a wrong name is no silent zero."""

import math
from random import Random
from statistics import mean, median
from typing import Any

import pytest

from sim.parameters import Parameters, parameters

GIVEN = Parameters(
    {
        "a": {
            "chance": 0.25,
            "uniform": {"uniform": [2.0, 4.0]},
            "clipped": {"lognormal": [1.0, 2.0], "clip": [0.5, 3.0]},
            "lognormal": {"lognormal": [5.0, 0.5]},
            "exponential": {"exponential": 0.5},
            "normal": {"normal": [1.0, 0.1]},
            "mixture": {"mixture": [[0.25, 0.0], [0.75, {"uniform": [10.0, 20.0]}]]},
            "nonsense": {"triangle": [1, 2]},
        }
    }
)


def drawn(name: str, count: int = 4000) -> list[float]:
    rng = Random(1)
    return [GIVEN.draw(f"a.{name}", rng) for _ in range(count)]


def test_each_distribution_is_what_its_name_says() -> None:
    assert 2 <= min(drawn("uniform")) < 2.1 < 3.9 < max(drawn("uniform")) <= 4
    assert (min(drawn("clipped")), max(drawn("clipped"))) == (0.5, 3.0)
    assert median(drawn("lognormal")) == pytest.approx(5, rel=0.05)
    logs = [math.log(value / 5) for value in drawn("lognormal")]
    assert math.sqrt(mean(each * each for each in logs)) == pytest.approx(0.5, rel=0.05)
    assert mean(drawn("exponential")) == pytest.approx(0.5, rel=0.05)
    assert mean(drawn("normal")) == pytest.approx(1, abs=0.01)
    assert sum(value == 0 for value in drawn("mixture")) / 4000 == pytest.approx(0.25, abs=0.03)
    assert mean(map(float, (GIVEN.happens("a.chance", rng) for rng in [Random(2)] for _ in range(4000)))) == (
        pytest.approx(0.25, abs=0.03)
    )


@pytest.mark.parametrize(("name", "error"), [("a.none", KeyError), ("b.a", KeyError), ("a.nonsense", ValueError)])
def test_a_wrong_name_or_kind_is_an_error(name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        GIVEN.draw(name, Random(1))


def test_a_distribution_is_no_number() -> None:
    with pytest.raises(TypeError, match="throat\\.depth_mm"):
        parameters().number("throat.depth_mm")


def test_every_parameter_of_the_file_can_be_drawn() -> None:
    def leaves(table: dict[str, Any], prefix: str) -> list[str]:
        return [f"{prefix}.{key}" for key, value in table.items() if not isinstance(value, list)]

    names = [name for table, values in parameters().values.items() for name in leaves(values, table)]
    assert len(names) > 80
    for name in names:
        assert math.isfinite(parameters().draw(name, Random(3))), name
