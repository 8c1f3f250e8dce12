"""Bounded labels: values of one label, and combinations of all, keep a limited number; what is beyond is `other`.

Which values are kept is decided by traffic, not by who came first: half of the room is given at once, the rest only to
what keeps coming. A scanner that asks for ten thousand routes once takes no place from the route that
customers use. What is kept is kept for the life of the process, so that no series ends early.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

OTHER: Final = "other"
_MAX_LENGTH: Final = 128
"""Characters. A longer value is probably not a name, and may be a user's text."""
_OFTEN: Final = 20
"""So often has come what is kept although half of the room is taken."""
_WAITING: Final = 1000
"""How many are counted at a time that are not kept yet."""


class _Kept:
    """What is kept, and counts of what is not (Misra and Gries, "Finding repeated elements", 1982: a frequent one is
    found however many others come)."""

    def __init__(self, often: int) -> None:
        self.kept: set[str] = set()
        self._often = often
        self._waiting: dict[str, int] = {}

    def keeps(self, key: str, room: int) -> bool:
        """Whether it is kept, now that it came once more; `room`: of how many."""
        if key in self.kept:
            return True
        if len(self.kept) >= room:
            return False
        if 2 * len(self.kept) >= room and not self._came_often(key):
            return False
        self.kept.add(key)
        return True

    def _came_often(self, key: str) -> bool:
        count = self._waiting.pop(key, 0) + 1
        if count >= self._often:
            return True
        if len(self._waiting) >= _WAITING:
            self._waiting = {other: seen - 1 for other, seen in self._waiting.items() if seen > 1}
        self._waiting[key] = count
        return False


class BoundedLabels:
    """Keeps at most `max_values` different values of each label. Others are `other`.

    If several threads add new values at the same moment, a label may get a few more than `max_values` values.
    """

    def __init__(self, max_values: int, *, often: int = _OFTEN) -> None:
        """`often`: how often a value must come while more than half is taken; 1 where totals are read, not recorded:
        a total must not move from `other` to a series of its own."""
        self._max_values = max_values
        self._often = often
        self._known: dict[str, _Kept] = {}

    def bounded(self, labels: Mapping[str, str | None]) -> dict[str, str]:
        """Returns the labels that have a value. Each value is a kept one or `other`."""
        return {label: self._value(label, value) for label, value in labels.items() if value}

    def _value(self, label: str, value: str) -> str:
        known = self._known.setdefault(label, _Kept(self._often))
        return value if len(value) <= _MAX_LENGTH and known.keeps(value, self._max_values) else OTHER


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
            room = self._max_sets * (lost + len(self._fading)) // (2 * len(self._fading))
            key = tuple(sorted(found.items()))
            if key in self._known:
                return found
            if len(self._known) < room:
                self._known.add(key)
                return found
        return _without(labels, labels)


def _without(labels: Mapping[str, str], lost: Iterable[str]) -> dict[str, str]:
    gone = frozenset(lost)
    return {label: OTHER if label in gone else value for label, value in labels.items()}
