"""Burn rates of a service-level objective over several windows, from a weighted stream of good and bad answers.

    burn rate = share of bad answers in a window / share that the objective allows

A rate of 1 uses exactly the allowed share. A pair of windows fires when both burn faster than its factor: the long
one shows that it is significant, the short one that it is still going on. Factors and windows are those of the Google
SRE Workbook, chapter 5, "Multiwindow, Multi-Burn-Rate Alerts" (https://sre.google/workbook/alerting-on-slos/).

Answers are weighted with the inverse of the probability with which they were evaluated (Hajek's estimator), so that
suspicious answers, which are evaluated more often, do not count more often. Few answers prove nothing: a window counts
only when it holds enough of them, counted as Kish's effective sample size (sum of weights squared / sum of squared
weights), and the long one must burn too fast at the lower end of its Wilson interval, not just at the estimate.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import field
from itertools import chain
from typing import Any, Final

from rag_otel.alert import AlertSeverity
from rag_otel.alerts.precision import wilson_interval
from rag_otel.lazy_dataclass import dataclass

MINUTE_S: Final = 60
_COARSE_MINUTES: Final = 30
_FINE_MINUTES: Final = 6 * 60
_COARSE_BUCKETS: Final = 3 * 24 * 60 // _COARSE_MINUTES
MIN_LONG: Final = 30.0
"""Effective number of answers below which a long window is ignored."""
MIN_SHORT: Final = 3.0
"""The same for a short window, which only has to show that the burning goes on."""
MIN_CALM: Final = 10.0
"""The same for a short window that has to show that the burning is over."""
_Z: Final = 1.645
"""Of the lower bound: 95% one-sided."""


@dataclass(frozen=True, kw_only=True)
class BurnPair:
    """One row of the Workbook's table. Windows in minutes."""

    factor: float
    long_minutes: int
    short_minutes: int
    severity: AlertSeverity


PAIRS: Final = (
    BurnPair(factor=14.4, long_minutes=60, short_minutes=5, severity=AlertSeverity.CRITICAL),
    BurnPair(factor=6.0, long_minutes=6 * 60, short_minutes=30, severity=AlertSeverity.CRITICAL),
    BurnPair(factor=3.0, long_minutes=24 * 60, short_minutes=2 * 60, severity=AlertSeverity.WARNING),
    BurnPair(factor=1.0, long_minutes=3 * 24 * 60, short_minutes=6 * 60, severity=AlertSeverity.WARNING),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnWindow:
    """Weighted sums over a stretch of time."""

    bad: float = 0.0
    """Sum of the weights of bad answers."""
    total: float = 0.0
    """Sum of all weights."""
    squares: float = 0.0
    """Sum of squared weights."""

    @property
    def effective(self) -> float:
        """Kish's effective sample size."""
        return self.total * self.total / self.squares if self.squares else 0.0

    @property
    def share(self) -> float | None:
        """Estimated share of bad answers, 0..1; None without any answer."""
        return min(1.0, max(0.0, self.bad / self.total)) if self.total > 0 else None

    def share_at_least(self) -> float:
        """Lower end of the one-sided 95% Wilson interval of the share, at the effective sample size."""
        share, count = self.share, self.effective
        if share is None or count <= 0:
            return 0.0
        return max(0.0, wilson_interval(share, count, _Z)[0])


class Ring:
    """Sums per bucket of a fixed length, the last `count` of them; older ones are overwritten."""

    def __init__(self, *, bucket_minutes: int, count: int) -> None:
        self._bucket_minutes = bucket_minutes
        self._count = count
        self._newest = -1
        """Number of the newest bucket since the epoch."""
        self._sums = tuple(array("d", bytes(8 * count)) for _ in range(3))
        """Weights of bad answers, weights, squared weights: each by bucket modulo `count`."""

    def add(self, minute: int, *, bad: float, weight: float) -> None:
        """Count an answer at a minute since the epoch; one older than the ring is ignored."""
        bucket = minute // self._bucket_minutes
        self._advance(bucket)
        if bucket > self._newest - self._count:
            for sums, amount in zip(self._sums, (bad * weight, weight, weight * weight), strict=True):
                sums[bucket % self._count] += amount

    def window(self, minute: int, length_minutes: int) -> BurnWindow:
        """The sums of the last `length_minutes` up to and with `minute`; one partly outside counts whole."""
        newest = minute // self._bucket_minutes
        buckets = min(self._count, math.ceil(length_minutes / self._bucket_minutes))
        first = max(newest - buckets, self._newest - self._count) + 1
        length = min(newest, self._newest) + 1 - first
        if length <= 0:
            return BurnWindow()
        start, end = first % self._count, first % self._count + length
        bad, total, squares = (sum(sums[start:end]) + sum(sums[: max(0, end - self._count)]) for sums in self._sums)
        return BurnWindow(bad=bad, total=total, squares=squares)

    def to_state(self) -> dict[str, Any]:
        return {"newest": self._newest, "sums": [list(sums) for sums in self._sums]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Raises ValueError for a state of another length."""
        restored = tuple(array("d", map(float, sums)) for sums in state["sums"])
        if [len(sums) for sums in restored] != [self._count] * 3 or not all(map(math.isfinite, chain(*restored))):
            raise ValueError("not a ring of this length")
        self._newest, self._sums = int(state["newest"]), restored

    def _advance(self, bucket: int) -> None:
        if bucket <= self._newest:
            return
        for passed in range(max(self._newest + 1, bucket - self._count + 1), bucket + 1):
            for sums in self._sums:
                sums[passed % self._count] = 0.0
        self._newest = bucket


@dataclass(frozen=True, kw_only=True)
class Burning:
    """A pair that fires, with its two windows."""

    pair: BurnPair
    long: BurnWindow
    short: BurnWindow
    rate: float
    """Burn rate over the long window."""


@dataclass(slots=True)
class Budget:
    """The answers of one slice: minutes of the last six hours, half hours of the last three days. About 12 kB."""

    began_s: float | None = None
    """Time of the first answer; seconds since the epoch."""
    fine: Ring = field(default_factory=lambda: Ring(bucket_minutes=1, count=_FINE_MINUTES))
    coarse: Ring = field(default_factory=lambda: Ring(bucket_minutes=_COARSE_MINUTES, count=_COARSE_BUCKETS + 1))

    def add(self, time_s: float, *, bad: bool, weight: float) -> None:
        """Count an answer; `weight` is 1 / the probability with which it was evaluated."""
        if self.began_s is None:
            self.began_s = time_s
        minute = int(time_s // MINUTE_S)
        self.fine.add(minute, bad=float(bad), weight=weight)
        self.coarse.add(minute, bad=float(bad), weight=weight)

    def window(self, time_s: float, minutes: int) -> BurnWindow:
        ring = self.fine if minutes <= _FINE_MINUTES else self.coarse
        return ring.window(int(time_s // MINUTE_S), minutes)

    def burning(self, time_s: float, *, allowed: float, severity: AlertSeverity) -> Burning | None:
        """The fastest pair of this severity that fires; None where none does.

        `allowed` is the share of bad answers that the objective allows. A pair whose short window began before the
        first answer is ignored: after half an hour of traffic, a window of six hours would hold the same answers.
        """
        age_s = time_s - (time_s if self.began_s is None else self.began_s)
        for pair in PAIRS:
            if pair.severity is severity and age_s >= pair.short_minutes * MINUTE_S:
                long, short = self.window(time_s, pair.long_minutes), self.window(time_s, pair.short_minutes)
                enough = long.effective >= MIN_LONG and short.effective >= MIN_SHORT
                limit = pair.factor * allowed
                if enough and long.share_at_least() > limit and (short.share or 0.0) > limit:
                    return Burning(pair=pair, long=long, short=short, rate=(long.share or 0.0) / allowed)
        return None

    def calm(self, time_s: float, *, allowed: float, severity: AlertSeverity) -> bool:
        """True when every pair of this severity has stopped burning.

        Either its short window shows so with enough answers, or its long one holds no answer any more. Too few
        answers in the short window prove nothing.
        """
        for pair in PAIRS:
            if pair.severity is severity:
                short = self.window(time_s, pair.short_minutes)
                if short.effective >= MIN_CALM:
                    if (short.share or 0.0) > pair.factor * allowed:
                        return False
                elif self.window(time_s, pair.long_minutes).total > 0 and self._burns(time_s, pair, allowed):
                    return False
        return True

    def _burns(self, time_s: float, pair: BurnPair, allowed: float) -> bool:
        return (self.window(time_s, pair.long_minutes).share or 0.0) > pair.factor * allowed

    def to_state(self) -> dict[str, Any]:
        return {"began_s": self.began_s, "fine": self.fine.to_state(), "coarse": self.coarse.to_state()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Budget:
        """Raises ValueError, KeyError or TypeError for what is no such state."""
        budget = cls(began_s=state["began_s"])
        budget.fine.restore(state["fine"])
        budget.coarse.restore(state["coarse"])
        return budget
