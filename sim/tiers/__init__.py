"""The install tiers: ready configurations, and what each of them has.

The files beside this one are what the owner of a table copies; `settings_of` reads them for a game of their family.
"""

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from appliance.config import Settings, from_document

Geometry = Literal["throat", "chute", "pit_edge", "trough"]

CARROM = ("club_carrom", "new_carrom", "money_carrom")
CARPETBALL = ("carpetball",)


@dataclass(frozen=True, slots=True)
class Tier:
    """One way to build a table.

    `names_objects`: players press what fell, because nothing else tells it. `has_done`: they press `done` after a
    miss, since nothing else shows it. `has_strikes`: a sensor feels each shot. `has_colours`: a sensor tells colours.
    """

    name: str
    what: str
    file: str
    games: tuple[str, ...]
    geometry: Geometry
    names_objects: bool = False
    has_done: bool = False
    has_strikes: bool = False
    has_colours: bool = False


TIERS = {
    tier.name: tier
    for tier in (
        Tier("T1", "one beam a pocket, object keys", "t1.toml", CARROM, "throat", names_objects=True, has_done=True),
        Tier("T2", "striker chutes with crossed beams", "t2.toml", CARROM, "chute", has_done=True),
        Tier(
            "T3",
            "colour chutes and a strike sensor",
            "t3.toml",
            CARROM,
            "chute",
            has_strikes=True,
            has_colours=True,
        ),
        Tier("C1", "a beam at each pit's edge", "c1.toml", CARPETBALL, "pit_edge", names_objects=True, has_done=True),
        Tier("C2", "troughs with a magnet sensor, strike beams", "c2.toml", CARPETBALL, "trough", has_strikes=True),
    )
}


def settings_of(tier: Tier, game: str) -> Settings:
    """The tier's configuration for `game`, which must be one of its own."""
    if game not in tier.games:
        raise ValueError(f"{tier.name} is no tier of {game}")
    document = tomllib.loads(files("sim.tiers").joinpath(tier.file).read_text("utf-8"))
    document["table"]["game"] = game
    return from_document(document)
