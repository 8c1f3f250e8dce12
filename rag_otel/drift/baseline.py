"""What is normal for a series: given as a number, or learned from its first values (see `learner`).

How far below the mean a bound lies, which values make one observation, and how far a mean wanders while nothing is
wrong: all of that is measured (see `dependence`), and no theorem.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from rag_otel.drift.records import stored
from rag_otel.lazy_dataclass import dataclass


@stored
@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The mean of a series while all was well, as goodness in 0..1 (a risk of .1 is a goodness of .9)."""

    mean: float
    """The inverse-probability weighted (Hajek) mean, or the number that was given."""
    lower: float
    """A lower confidence bound of the mean, never above it; the number that was given."""
    count: int = 0
    """How many values it was learned from; 0 where it was given."""
    worth: float = 0.0
    """How many independent ones they are worth, as far as can be told."""
    block: int = 1
    """Values in a row that make one observation."""
    inflation: float = 1.0
    """How many units are worth one independent one."""
    answers: float = 1.0
    """Answers in a unit: more than 1 where there are keys of runs."""
    wander: float = 0.0
    """How far below the mean the worst normal hour or stretch lies."""
    mean_weight: float = 1.0
    """Mean of 1/p of those values."""
    spread: float | None = None
    """Variance of (value - mean) / p; None where unknown: the detector learns it while it watches."""
    source: Literal["learned", "given"] = "learned"
    rare: float | None = None
    """As low as this or lower were hardly any of the values that it was learned from; None where unknown."""
    from_s: float = 0.0
    """Time of the first value, seconds since the epoch."""
    until_s: float = 0.0
    until: int = -1
    """Order of the last value that it was learned from (see `History`); -1 where it was given."""
    unknown: tuple[str, ...] = ()
    """What could not be learned, in words."""
    change_s: float | None = None
    """Where the values that it was learned from hold a drop of their own: when that began."""
    change_from: int | None = None
    """The same as the order of a value."""

    @property
    def floor(self) -> float:
        """What detectors bet that the mean is below."""
        return max(0.0, self.lower - self.wander)

    def second_moment_around(self, floor: float) -> float | None:
        """Mean of ((floor - block mean) / p) squared while nothing has changed; None where unknown."""
        if self.spread is None:
            return None
        return self.spread * self.inflation / self.block + ((self.mean - floor) * self.mean_weight) ** 2

    def at_least_as(self, whole: Baseline) -> Baseline:
        """A slice's own baseline, where all traffic is known to wander and to depend on itself that much."""
        if whole.wander <= self.wander and whole.inflation <= self.inflation:
            return self
        inflation = max(self.inflation, whole.inflation)
        return replace(
            self,
            wander=max(self.wander, whole.wander),
            inflation=inflation,
            block=max(self.block, whole.block),
            worth=self.count / inflation,
            lower=self.mean - (self.mean - self.lower) * math.sqrt(inflation / self.inflation),
        )

    @classmethod
    def given(cls, mean: float, lower: float | None = None) -> Baseline:
        """A number that somebody stands for, or one that was learned elsewhere with its lower bound."""
        return cls(mean=mean, lower=mean if lower is None else min(mean, lower), source="given")

    def same_numbers(self, other: Baseline) -> bool:
        """The same mean and bound, from the same source."""
        return (self.mean, self.lower, self.source) == (other.mean, other.lower, other.source)

    def standing_for(self, given: Baseline) -> Baseline:
        """This one's dependence and wandering, with the means of one that was `given`."""
        return replace(self, mean=given.mean, lower=given.lower, source="given", until=-1)
