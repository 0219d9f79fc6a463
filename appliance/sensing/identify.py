"""From a passage to an object, by narrowing.

A fallen object starts with every candidate that its beam can pass, loses those that a colour sensor excludes,
and those of which none is left on the table. One left: known. None left: nothing that counts. More: somebody
is asked, or the most likely one is assumed and marked.
"""

from collections.abc import Iterable, Mapping, Sequence

CARROM_OBJECTS = ("white", "black", "queen", "striker")
CARPETBALL_OBJECTS = ("ball", "cue")


def objects_of(game: str) -> tuple[str, ...]:
    """Every object that can fall in `game`."""
    return CARPETBALL_OBJECTS if game == "carpetball" else CARROM_OBJECTS


def exclude_by_colour(candidates: Sequence[str], seen: str) -> tuple[str, ...]:
    """What the colour sensor leaves of `candidates`.

    A reading that contradicts the beam (white in a chute that only the striker can pass) tells nothing: the
    narrower geometry is trusted, not the light.
    """
    return (seen,) if seen in candidates else tuple(candidates)


def narrow(candidates: Iterable[str], left: Mapping[str, int]) -> tuple[str, ...]:
    """The candidates of which at least one is `left` on the table."""
    return tuple(candidate for candidate in candidates if left.get(candidate, 0) > 0)


def take(left: Mapping[str, int], taken: str) -> dict[str, int]:
    """`left` without one `taken`; never below zero."""
    return {name: max(0, count - (name == taken)) for name, count in left.items()}
