"""Numbers in sentences: 1 change was lost, 2 changes were lost."""

from collections.abc import Sequence


def how_many(count: int, one: str, many: str | None = None) -> str:
    """The count with what is counted: `one` with all that agrees with it, or `many` (`one` with an s, unless told)."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def times(count: int) -> str:
    """How often: never, once, 2 times."""
    return {0: "never", 1: "once"}.get(count, f"{count} times")


def there_are(names: Sequence[str]) -> str:
    """Which ones there are: there is m1; there are m1, m2."""
    return f"there {'is' if len(names) == 1 else 'are'} {', '.join(names) or 'none'}"
