"""Bounded labels: each label keeps a limited number of values, all others become `other`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OTHER: Final = "other"
_MAX_LENGTH: Final = 128
"""Characters. A longer value is not a name and may be a user's text."""


class BoundedLabels:
    """Keeps the first `max_values` different values of each label; later ones become `other`.

    First come, first kept: a value that has a series keeps it for as long as the process lives, so no series breaks
    off. Threads that meet a new value at the same moment may each add theirs: a few more than `max_values`, at most.
    """

    def __init__(self, max_values: int) -> None:
        self._max_values = max_values
        self._known: dict[str, set[str]] = {}

    def bounded(self, labels: Mapping[str, str | None]) -> dict[str, str]:
        """The labels that have a value, each a known one or `other`."""
        return {label: self._value(label, value) for label, value in labels.items() if value}

    def _value(self, label: str, value: str) -> str:
        known = self._known.setdefault(label, set())
        if value in known:
            return value
        if len(value) > _MAX_LENGTH or len(known) >= self._max_values:
            return OTHER
        known.add(value)
        return value
