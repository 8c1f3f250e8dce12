"""Bounded labels: each label keeps a limited number of values. All other values become `other`."""

from __future__ import annotations

from collections.abc import Mapping
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
