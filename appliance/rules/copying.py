"""Making a changed copy of a frozen value, quickly: what `dataclasses.replace` does, without its look-ups."""

from typing import TypeVar

T = TypeVar("T")
_set = object.__setattr__


def changed(value: T, **changes: object) -> T:
    """Return a copy of a frozen, slotted value with some fields changed; the names must be its own."""
    kind = type(value)
    copy = object.__new__(kind)
    for name in kind.__slots__:  # type: ignore[attr-defined]
        _set(copy, name, changes[name] if name in changes else getattr(value, name))
    return copy
