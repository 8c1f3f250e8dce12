"""Bounded labels: values of one label, and combinations of all, keep a limited number; what is beyond is `other`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

OTHER: Final = "other"
_MAX_LENGTH: Final = 128
"""Characters. A longer value is probably not a name, and may be a user's text."""


class BoundedLabels:
    """Keeps the first `max_values` different values of each label. Later values become `other`.

    A kept value is kept for the life of the process, so no series ends early. If several threads add new values at the
    same moment, a label may get a few more than `max_values` values.
    """

    def __init__(self, max_values: int) -> None:
        self._max_values = max_values
        self._known: dict[str, set[str]] = {}

    def bounded(self, labels: Mapping[str, str | None]) -> dict[str, str]:
        """Returns the labels that have a value. Each value is a kept one or `other`."""
        return {label: self._value(label, value) for label, value in labels.items() if value}

    def _value(self, label: str, value: str) -> str:
        known = self._known.setdefault(label, set())
        if value in known:
            return value
        if len(value) > _MAX_LENGTH or len(known) >= self._max_values:
            return OTHER
        known.add(value)
        return value


class BoundedSets:
    """Keeps at most `max_sets` combinations of labels, because every combination is a series of its own.

    As the bound comes near, the labels in `fading` become `other` one after the other: a new combination first loses
    the first of them, then the second. One combination more, with all of them `other`, is the last resort.
    """

    def __init__(self, max_sets: int, *, fading: Sequence[str]) -> None:
        self._max_sets = max_sets
        self._fading = tuple(fading)
        self._known: set[tuple[tuple[str, str], ...]] = set()

    def bounded(self, labels: Mapping[str, str]) -> dict[str, str]:
        """The labels, or as many of them as there is room for."""
        for lost in range(len(self._fading) + 1):
            found = _without(labels, self._fading[:lost])
            key = tuple(sorted(found.items()))
            room = self._max_sets * (lost + len(self._fading)) // (2 * len(self._fading))
            if key in self._known:
                return found
            if len(self._known) < room:
                self._known.add(key)
                return found
        return _without(labels, labels)


def _without(labels: Mapping[str, str], lost: Iterable[str]) -> dict[str, str]:
    gone = frozenset(lost)
    return {label: OTHER if label in gone else value for label, value in labels.items()}
