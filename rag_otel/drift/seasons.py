"""The shape of a day and of a week: means by part of the day and by day of the week, in few numbers."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any, Final

from rag_otel.drift.dependence import worst_part

_PART_S: Final = 10_800.0
_PARTS: Final = 8
_DAYS: Final = 7
DAY_S: Final = 86_400.0
_LEAST: Final = 50.0
"""Values that a part has at least: of fewer nothing is known, and they can raise no alarm either."""


class Seasons:
    """Sums of values by three hours of the day (UTC) and by day of the week; 15 rows of three numbers."""

    __slots__ = ("_sums", "first_s", "last_s")

    def __init__(self) -> None:
        self._sums = array("d", bytes(8 * 3 * (_PARTS + _DAYS)))
        self.first_s = self.last_s = 0.0

    def add(self, time_s: float, weighted: float, weight: float) -> None:
        """Take a value times its weight, and its weight."""
        if not self.first_s:
            self.first_s = time_s
        if time_s > self.last_s:
            self.last_s = time_s
        sums = self._sums
        for row in (int(time_s // _PART_S) % _PARTS, _PARTS + int(time_s // DAY_S) % _DAYS):
            at = 3 * row
            sums[at] += 1.0
            sums[at + 1] += weighted
            sums[at + 2] += weight

    @property
    def days(self) -> float:
        """How long it has been watching."""
        return (self.last_s - self.first_s) / DAY_S

    @property
    def mean(self) -> float:
        """Of all values; 0 without any."""
        weight = sum(self._sums[2 : 3 * _PARTS : 3])
        return sum(self._sums[1 : 3 * _PARTS : 3]) / weight if weight > 0.0 else 0.0

    def margin(self, mean: float, noise: float) -> float:
        """How far the worst part of the day on the worst day of the week lies below `mean`, as far as chance cannot
        explain it; of what has not been seen whole nothing is said. `noise`: the variance of one value, times what
        values depend on each other."""
        margin = 0.0
        if self.days >= 1.0:
            margin += worst_part(self._parts(mean, range(_PARTS)), noise)
        if self.days >= _DAYS:
            margin += worst_part(self._parts(mean, range(_PARTS, _PARTS + _DAYS)), noise)
        return margin

    def _parts(self, mean: float, rows: range) -> list[tuple[float, float]]:
        sums, parts = self._sums, []
        for row in rows:
            count, weighted, weight = sums[3 * row : 3 * row + 3]
            if count >= _LEAST:
                parts.append(((weighted - mean * weight) / count, count))
        return parts

    def unknown(self) -> tuple[str, ...]:
        """What cannot be known yet."""
        return tuple(f"less than {what} was seen" for days, what in ((1, "a day"), (7, "a week")) if self.days < days)

    def copy(self) -> Seasons:
        return Seasons.from_state(self.to_state())

    def to_state(self) -> dict[str, Any]:
        return {"sums": list(self._sums), "first_s": self.first_s, "last_s": self.last_s}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Seasons:
        """Raises ValueError for what `to_state` has not written."""
        seasons = cls()
        if len(state["sums"]) != len(seasons._sums):
            raise ValueError("seasons that do not fit")
        seasons._sums = array("d", state["sums"])
        seasons.first_s, seasons.last_s = float(state["first_s"]), float(state["last_s"])
        return seasons
