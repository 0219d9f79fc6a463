"""The numbers of `parameters.toml`, by name: `number("throat.double")`, `draw("throat.depth_mm", rng)`.

A name that is not there, or is of another kind, is a mistake of the program and raises at once.
"""

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

FILE = "parameters.toml"


@dataclass(frozen=True, slots=True)
class Parameters:
    """Every parameter, as the file gives it; `values` are tables of tables."""

    values: dict[str, Any]

    def number(self, name: str) -> float:
        """A chance or a size."""
        value = self._value(name)
        if not isinstance(value, int | float):
            raise TypeError(f"{name} is no plain number")
        return float(value)

    def weights(self, name: str) -> list[float]:
        """The chances of 0, 1, 2 …"""
        return [float(each) for each in self._value(name)]

    def draw(self, name: str, rng: Random) -> float:
        """One value of a distribution; a plain number is always itself."""
        return _draw(self._value(name), rng)

    def happens(self, name: str, rng: Random) -> bool:
        """Whether something of that chance comes about."""
        return rng.random() < self.number(name)

    def _value(self, name: str) -> Any:
        table, _, key = name.partition(".")
        return self.values[table][key]


@cache
def parameters() -> Parameters:
    """Those of the file."""
    text = files("sim").joinpath(FILE).read_text("utf-8")
    return Parameters(tomllib.loads(text))


def _draw(given: Any, rng: Random) -> float:
    if isinstance(given, int | float):
        return float(given)
    if "mixture" in given:
        parts = given["mixture"]
        chosen = rng.choices([part[1] for part in parts], [part[0] for part in parts])[0]
        return _draw(chosen, rng)
    value = _unclipped(given, rng)
    least, most = given.get("clip", (-math.inf, math.inf))
    return float(min(max(value, least), most))


def _unclipped(given: Any, rng: Random) -> float:
    match given:
        case {"uniform": [least, most]}:
            return rng.uniform(least, most)
        case {"normal": [mean, sigma]}:
            return rng.gauss(mean, sigma)
        case {"lognormal": [median, sigma]}:
            return float(median * math.exp(rng.gauss(0, sigma)))
        case {"exponential": mean}:
            return rng.expovariate(1 / mean)
        case _:
            raise ValueError(f"{given} is no distribution")
