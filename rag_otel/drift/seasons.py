"""The shape of a day and of a week: means by part of the day and by day of the week, in few numbers."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Final

from rag_otel.drift.records import stored

DAY_S: Final = 86_400.0
WEEK_DAYS: Final = 7.0
_PART_S: Final = 10_800.0
_PARTS: Final = 8
_DAYS: Final = 7
_LEAST: Final = 50.0
"""Values that a part has at least: of fewer nothing is known, and they can raise no alarm either."""


@stored
class Seasons:
    """Sums of values by three hours of the day (UTC) and by day of the week; 15 rows of three numbers."""

    __slots__ = ("_sums", "first_s", "last_s")

    def __init__(self) -> None:
        self._sums = array("d", bytes(8 * 3 * (_PARTS + _DAYS)))
        """Of each part of the day, then of each day: how many values, sum of value times weight, sum of weights."""
        self.first_s = self.last_s = 0.0

    def add(self, time_s: float, weighted: float, weight: float) -> None:
        """Take a value times its weight, and its weight."""
        if not self.first_s:
            self.first_s = time_s
        if time_s > self.last_s:
            self.last_s = time_s
        sums = self._sums
        for at in (3 * (int(time_s // _PART_S) % _PARTS), 3 * (_PARTS + int(time_s // DAY_S) % _DAYS)):
            sums[at] += 1.0
            sums[at + 1] += weighted
            sums[at + 2] += weight

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
        weight = sum(self._sums[2 : 3 * _PARTS : 3])
        return sum(self._sums[1 : 3 * _PARTS : 3]) / weight if weight > 0.0 else 0.0

    def margin(self, noise: float) -> float:
        """How far the worst part of the day on the worst day of the week lies below the mean, as far as chance cannot
        explain it; of what has not been seen whole nothing is said. `noise`: the variance of one value, times what
        values depend on each other."""
        margin = 0.0
        if self.days >= 1.0:
            margin += worst_part(self._parts(range(_PARTS)), noise)
        if self.days >= WEEK_DAYS:
            margin += worst_part(self._parts(range(_PARTS, _PARTS + _DAYS)), noise)
        return margin

    def _parts(self, rows: range) -> list[tuple[float, float]]:
        sums, mean, parts = self._sums, self.mean, []
        for row in rows:
            count, weighted, weight = sums[3 * row : 3 * row + 3]
            if count >= _LEAST:
                parts.append(((weighted - mean * weight) / count, count))
        return parts

    def unknown(self) -> tuple[str, ...]:
        """What cannot be known yet."""
        return tuple(f"less than {what} was seen" for days, what in ((1, "a day"), (7, "a week")) if self.days < days)

    def copy(self) -> Seasons:
        seasons = Seasons()
        seasons._sums, seasons.first_s, seasons.last_s = self._sums[:], self.first_s, self.last_s
        return seasons


def worst_part(parts: Sequence[tuple[float, float]], noise: float) -> float:
    """How far the worst of some parts lies below the whole, shrunk; 0 where chance explains their differences.

    `parts` are (mean less the whole mean, count), `noise` is the variance of one value, times what they depend.
    """
    total = sum(count for _, count in parts)
    if len(parts) < 2 or total <= 0.0:
        return 0.0
    free = len(parts) - 1
    spread = sum(count * mean * mean for mean, count in parts) / free
    # In units of one value's variance; chance alone is 1, give or take the root.
    excess = spread - noise * (1.0 + math.sqrt(2.0 / free))
    if excess <= 0.0:
        return 0.0
    between = excess * free / (total - sum(count * count for _, count in parts) / total)
    return max(0.0, max(-mean * between / (between + noise / count) for mean, count in parts))
