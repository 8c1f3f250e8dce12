"""The shape of a day and of a week: means by part of the day and by day of the week, in few numbers."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Final

from rag_otel.drift.dependence import worst_part
from rag_otel.drift.records import stored

_PART_S: Final = 10_800.0
_PARTS: Final = 8
_DAYS: Final = 7
DAY_S: Final = 86_400.0
_LEAST: Final = 50.0
"""Values that a part has at least: of fewer nothing is known, and they can raise no alarm either."""


@stored
class Seasons:
    """Sums of values by three hours of the day (UTC) and by day of the week; 15 rows of three numbers."""

    __slots__ = ("_begin_s", "_count", "_end_s", "_sums", "_weight", "_weighted", "first_s", "last_s")

    def __init__(self) -> None:
        self._sums = array("d", bytes(8 * 3 * (_PARTS + _DAYS)))
        self.first_s = self.last_s = 0.0
        self._begin_s = self._end_s = 0.0
        """The three hours that values are of just now: they are summed up apart, for this runs for every value."""
        self._count = self._weighted = self._weight = 0.0

    def add(self, time_s: float, weighted: float, weight: float) -> None:
        """Take a value times its weight, and its weight."""
        if not self.first_s:
            self.first_s = time_s
        if time_s > self.last_s:
            self.last_s = time_s
        if not self._begin_s <= time_s < self._end_s:
            self._close_part()
            self._begin_s = time_s // _PART_S * _PART_S
            self._end_s = self._begin_s + _PART_S
        self._count += 1.0
        self._weighted += weighted
        self._weight += weight

    def _close_part(self) -> None:
        sums, at_s = self._sums, self._begin_s
        for row in (int(at_s // _PART_S) % _PARTS, _PARTS + int(at_s // DAY_S) % _DAYS):
            sums[3 * row] += self._count
            sums[3 * row + 1] += self._weighted
            sums[3 * row + 2] += self._weight
        self._count = self._weighted = self._weight = 0.0

    @property
    def days(self) -> float:
        """How long it has been watching."""
        return (self.last_s - self.first_s) / DAY_S

    def next_s(self, days: Sequence[float]) -> float:
        """When it will have been watching for the next of so many `days`; never, after the last."""
        left = [day for day in days if day > self.days]
        return self.first_s + left[0] * DAY_S if left else math.inf

    @property
    def mean(self) -> float:
        """Of all values; 0 without any."""
        self._close_part()
        weight = sum(self._sums[2 : 3 * _PARTS : 3])
        return sum(self._sums[1 : 3 * _PARTS : 3]) / weight if weight > 0.0 else 0.0

    def margin(self, mean: float, noise: float) -> float:
        """How far the worst part of the day on the worst day of the week lies below `mean`, as far as chance cannot
        explain it; of what has not been seen whole nothing is said. `noise`: the variance of one value, times what
        values depend on each other."""
        self._close_part()
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
        self._close_part()
        seasons = Seasons()
        seasons._sums, seasons.first_s, seasons.last_s = self._sums[:], self.first_s, self.last_s
        return seasons
