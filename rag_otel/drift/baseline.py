"""What is normal for a series: given as a number, or learned from its first values and then frozen."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from rag_otel.drift.bets import lower_bound

DEFAULT_COUNT: Final = 500
DEFAULT_ERROR: Final = 0.075


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The mean of a series while all was well, as goodness in 0..1 (a risk of .1 is a goodness of .9)."""

    mean: float
    """The inverse-probability weighted (Hajek) mean, or the number that was given."""
    lower: float
    """What detectors bet against: a lower confidence bound of the mean, never above it; the number that was given."""
    count: int = 0
    """How many values it was learned from; 0 where it was given."""
    mean_weight: float = 1.0
    """Mean of 1/p of those values."""
    second_moment: float | None = None
    """Mean of ((lower - value) / p) squared; None where unknown: the detector learns it while it watches."""
    source: Literal["learned", "given"] = "learned"
    from_s: float = 0.0
    """Time of the first value, seconds since the epoch."""
    until_s: float = 0.0
    until: int = -1
    """Order of the last value that it was learned from (see `History`); -1 where it was given."""

    def second_moment_around(self, floor: float) -> float | None:
        """`second_moment`, were the floor another one: E(f-x)^2 is the variance and (f-mean)^2."""
        if self.second_moment is None:
            return None
        shift = (self.mean - floor) ** 2 - (self.mean - self.lower) ** 2
        return max(0.0, self.second_moment + shift * self.mean_weight**2)

    @classmethod
    def given(cls, mean: float, lower: float | None = None) -> Baseline:
        """A number that somebody stands for, or one that was learned elsewhere with its lower bound."""
        return cls(mean=mean, lower=mean if lower is None else min(mean, lower), source="given")

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Baseline:
        return cls(**state)

    def to_state(self) -> dict[str, Any]:
        return asdict(self)


class BaselineLearner:
    """Collects the first `count` values of a series; 8 bytes a value."""

    __slots__ = ("_from_s", "_until", "_until_s", "_values", "_weights", "count")

    def __init__(self, count: int = DEFAULT_COUNT) -> None:
        self.count = count
        self._values = array("f")
        self._weights = array("f")
        self._from_s = self._until_s = 0.0
        self._until = -1

    def __len__(self) -> int:
        return len(self._values)

    def add(self, time_s: float, value: float, weight: float, order: int = -1) -> bool:
        """Take one value, the one of that order; True once there are enough."""
        self._until = order
        if not self._values:
            self._from_s = time_s
        self._until_s = max(self._until_s, time_s)
        self._values.append(value)
        self._weights.append(weight)
        return len(self._values) >= self.count

    def learn(self, *, error: float = DEFAULT_ERROR) -> Baseline:
        """The baseline; its lower bound is above the true mean with probability `error` at most."""
        values, weights = self._values.tolist(), self._weights.tolist()
        total = sum(weights)
        mean = sum(value * weight for value, weight in zip(values, weights, strict=True)) / total
        lower = min(mean, lower_bound(values, weights, error=error))
        squares = sum(((lower - value) * weight) ** 2 for value, weight in zip(values, weights, strict=True))
        return Baseline(
            mean=mean,
            lower=lower,
            count=len(values),
            mean_weight=total / len(values),
            second_moment=squares / len(values),
            from_s=self._from_s,
            until_s=self._until_s,
            until=self._until,
        )

    def to_state(self) -> dict[str, Any]:
        return {
            "count": self.count,
            "values": [round(value, 6) for value in self._values],
            "weights": [round(weight, 4) for weight in self._weights],
            "from_s": self._from_s,
            "until_s": self._until_s,
            "until": self._until,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> BaselineLearner:
        learner = cls(int(state["count"]))
        learner._values = array("f", state["values"])
        learner._weights = array("f", state["weights"])
        learner._from_s, learner._until_s = float(state["from_s"]), float(state["until_s"])
        learner._until = int(state["until"])
        return learner
