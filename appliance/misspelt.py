"""Which name was meant by a word that is none of those that there are."""

from collections.abc import Sequence


def meant(word: str, names: Sequence[str], *, alike: float = 0.6) -> str | None:
    """The name that is `word`, or is nearest to it and at least so much `alike` (0 to 1); None where none is."""
    if word in names:
        return word
    from difflib import get_close_matches  # nobody needs it, or the memory that it takes, before the first mistake

    return next(iter(get_close_matches(word, names, n=1, cutoff=alike)), None)
