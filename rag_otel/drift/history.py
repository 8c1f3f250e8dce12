"""A series remembered in few numbers: fine-grained lately, coarser the longer ago.

An exponential histogram (Datar, Gionis, Indyk, Motwani, "Maintaining stream statistics over sliding windows", SIAM J.
Comput. 31, 2002): buckets of 8 values, of 16, of 32 ..., at most `_PER_SIZE` of each. Each keeps the sums that a
weighted mean, its interval and the moment of a change can be told from; 11 numbers a bucket, about 5 kB for a million
values.

Values are told apart by their order, a number that only grows and that all series of a stream share, never by their
times: results come in bursts, late, and from clocks that jump. Times are kept to be shown.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, Final

from rag_otel.drift.records import stored
from rag_otel.lazy_dataclass import dataclass

_BUCKET: Final = 8
_PER_SIZE: Final = 8
_FIELDS: Final = 11
_Z95: Final = 1.959964


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """Sums over some values x that weigh w = 1/p."""

    start_s: float = 0.0
    """The earliest time of a value, seconds since the epoch."""
    end_s: float = 0.0
    first: int = 0
    """Order of the first value in the stream that it came with."""
    last: int = 0
    count: int = 0
    weight: float = 0.0
    """Sum of w: about how many traces of all the traffic these stand for."""
    x: float = 0.0
    """Sum of w*x."""
    weight2: float = 0.0
    """Sum of w*w; `x1` and `x2` are the sums of w*w*x and w*w*x*x."""
    x1: float = 0.0
    x2: float = 0.0
    bad: float = 0.0
    """Sum of w of what is bad by itself: an unfaithful answer."""

    @property
    def mean(self) -> float | None:
        """The Hajek mean: sum of w*x over sum of w, in 0..1; None without values."""
        return min(1.0, max(0.0, self.x / self.weight)) if self.weight > 0.0 else None

    @property
    def bad_share(self) -> float | None:
        """Which share is bad, 0..1; None without values."""
        return self.bad / self.weight if self.weight > 0.0 else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """About 95% for the mean, for independent values and a time that was not chosen; None without values."""
        return self.bounds()

    def bounds(
        self, *, inflation: float = 1.0, low_z: float = _Z95, high_z: float = _Z95
    ) -> tuple[float, float] | None:
        """The mean less `low_z` and more `high_z` standard errors; `inflation`: how many values are worth one
        independent one. The linearised variance of the Hajek mean, with two values added, one 0 and one 1, so that it
        does not vanish where all values are the same. None without values."""
        mean = self.mean
        if mean is None:
            return None
        heavy = self.weight2 / self.weight
        squares = max(0.0, self.x2 - 2 * mean * self.x1 + mean * mean * self.weight2)
        squares += heavy * heavy * (mean * mean + (1.0 - mean) ** 2)
        error = math.sqrt(squares * inflation) / (self.weight + 2 * heavy)
        return max(0.0, mean - low_z * error), min(1.0, mean + high_z * error)


_NAMES: Final = tuple(Moments.__annotations__)
_row = attrgetter(*_NAMES)


def _made(row: Iterable[Any]) -> Moments:
    return Moments(**dict(zip(_NAMES, row, strict=True)))


def total(parts: Iterable[Moments]) -> Moments:
    """The sums of several buckets together."""
    parts = list(parts)
    if not parts:
        return Moments()
    start_s, end_s, first, last, *sums = zip(*map(_row, parts), strict=True)
    return _made((min(start_s), max(end_s), min(first), max(last), *map(sum, sums)))


def moments(values: Sequence[tuple[float, float, float]]) -> Moments:
    """The sums of some (time, value, weight); their order is their place among these."""
    known = [(time_s, value, weight, False) for time_s, value, weight in values]
    return _moments(_sums(known, 0, len(known) - 1), 0) if known else Moments()


@stored
class History:
    """The histogram: rows of `Moments` as plain doubles, oldest first."""

    __slots__ = ("_first", "_full", "_last", "_open", "_rows")

    def __init__(self) -> None:
        self._rows = array("d")
        self._open: list[tuple[float, float, float, bool]] = []
        """(time, value, weight, bad) of the values that do not fill a bucket yet: sums are made eight at a time."""
        self._first = self._last = -1
        """Orders of the first and the last of these."""
        self._full = [0]
        """How many closed buckets there are of each size, smallest first."""

    def add(self, time_s: float, value: float, weight: float, order: int | None = None, *, bad: bool = False) -> None:
        """Take one value in 0..1 of weight 1/p. `order` is its place in the stream, by default one after the last;
        `bad`: the answer is bad by itself."""
        self._last = self._last + 1 if order is None else order
        if not self._open:
            self._first = self._last
        self._open.append((time_s, value, weight, bad))
        if len(self._open) >= _BUCKET:
            self._rows.extend(_sums(self._open, self._first, self._last))
            self._open.clear()
            self._close_bucket()

    def _close_bucket(self) -> None:
        full = self._full
        full[0] += 1
        size = 0
        while full[size] > _PER_SIZE:
            if size + 1 == len(full):
                full.append(0)
            self._merge(sum(full[size + 1 :]))
            full[size] -= 2
            full[size + 1] += 1
            size += 1

    def _merge(self, index: int) -> None:
        """Add the bucket after `index` to it."""
        rows, at = self._rows, index * _FIELDS
        rows[at] = min(rows[at], rows[at + _FIELDS])
        rows[at + 1] = max(rows[at + 1], rows[at + _FIELDS + 1])
        rows[at + 3] = rows[at + _FIELDS + 3]
        for field in range(4, _FIELDS):
            rows[at + field] += rows[at + _FIELDS + field]
        del rows[at + _FIELDS : at + 2 * _FIELDS]

    @property
    def last(self) -> int:
        """Order of the last value; -1 without one."""
        return self._last

    @property
    def buckets(self) -> list[Moments]:
        """Oldest first."""
        rows = self._rows[:]
        if self._open:
            rows.extend(_sums(self._open, self._first, self._last))
        return [_moments(rows, at) for at in range(0, len(rows), _FIELDS)]

    def between(self, first: float, end: float = math.inf) -> Moments:
        """The buckets whose middle is within [first, end), by order."""
        return total(bucket for bucket in self.buckets if first <= (bucket.first + bucket.last) / 2 < end)


def _moments(rows: Sequence[float], at: int) -> Moments:
    start_s, end_s, first, last, count, *sums = rows[at : at + _FIELDS]
    return _made((start_s, end_s, int(first), int(last), int(count), *sums))


def _sums(values: Sequence[tuple[float, float, float, bool]], first: int, last: int) -> tuple[float, ...]:
    """The fields of `Moments` of some values."""
    start_s, end_s = math.inf, -math.inf
    total_weight = x = weight2 = x1 = x2 = bad_weight = 0.0
    for time_s, value, weight, bad in values:
        if time_s < start_s:
            start_s = time_s
        if time_s > end_s:
            end_s = time_s
        weighted = weight * value
        total_weight += weight
        x += weighted
        weight2 += weight * weight
        x1 += weight * weighted
        x2 += weighted * weighted
        if bad:
            bad_weight += weight
    return start_s, end_s, float(first), float(last), float(len(values)), total_weight, x, weight2, x1, x2, bad_weight
