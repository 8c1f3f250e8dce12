"""What is normal for a series: given as a number, or learned from its first values.

What a bound promises is a theorem for observations whose mean does not depend on what came before. Which values make
one observation, and how far a mean wanders while nothing is wrong, is measured (see `dependence`) and no theorem.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from rag_otel.drift.bets import lower_bound
from rag_otel.drift.dependence import Dependence, dependence, drop_inside, wandering
from rag_otel.drift.seasons import Seasons

DEFAULT_COUNT: Final = 500
DEFAULT_ERROR: Final = 0.15
"""Probability that the bound of any series is too high, over all series together."""
STAGES: Final = (1, 2, 4, 10)
"""A baseline is learned from so many times `count` values: it watches from the first stage on and is learned better at
the next ones; after the last, 5,000 answers by default, it is frozen."""
ERRORS: Final = (0.4, 0.2, 0.2, 0.2)
"""Each stage's share of the error."""
_LEAST_BLOCKS: Final = 8
_FEW: Final = 0.5
"""Answers that are worth less than this share of their number are said to be."""


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
    """How far below the mean the worst normal hour or stretch lies: detectors bet against `lower - wander`."""
    mean_weight: float = 1.0
    """Mean of 1/p of those values."""
    spread: float | None = None
    """Variance of (value - mean) / p; None where unknown: the detector learns it while it watches."""
    source: Literal["learned", "given"] = "learned"
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
        """What detectors bet that the mean is below, before a margin of one's own."""
        return max(0.0, self.lower - self.wander)

    def second_moment_around(self, floor: float) -> float | None:
        """Mean of ((floor - block mean) / p) squared while nothing has changed; None where unknown."""
        if self.spread is None:
            return None
        return self.spread * self.inflation / self.block + ((self.mean - floor) * self.mean_weight) ** 2

    def wandering_like(self, seasons: Seasons) -> Baseline:
        """This one with the shape of the days that went by since it was learned, where they have one."""
        noise = (self.spread or 0.0) * self.inflation
        margin = seasons.margin(seasons.mean, noise) / self.mean_weight
        wander = self.mean - seasons.mean + margin if margin > 0.0 else 0.0
        return replace(self, wander=max(self.wander, wander), unknown=seasons.unknown())

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

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Baseline:
        return cls(**{**state, "unknown": tuple(state["unknown"])})

    def to_state(self) -> dict[str, Any]:
        return asdict(self)


class BaselineLearner:
    """Collects the first values of a series; 4 bytes a value, 8 where they weigh differently."""

    __slots__ = (
        "_answers", "_from_s", "_mark", "_seasons", "_stages", "_until", "_until_s", "_values", "_weights", "count",
        "stage",
    )  # fmt: skip

    def __init__(self, count: int = DEFAULT_COUNT, *, stages: int = len(STAGES)) -> None:
        """`stages`: how often it is learned anew, from more answers each time."""
        self.count = count
        self.stage = 0
        self._stages = stages
        self._values = array("f")
        self._weights: array[float] | None = None
        self._seasons = Seasons()
        self._answers = 0
        self._from_s = self._until_s = 0.0
        self._until = -1
        self._mark: tuple[int, int, Seasons] | None = None

    def __len__(self) -> int:
        """Answers so far."""
        return self._answers

    @property
    def due(self) -> bool:
        """True when there is enough for the next stage."""
        return self._answers >= self.count * STAGES[self.stage] and len(self._values) >= _LEAST_BLOCKS

    @property
    def last(self) -> bool:
        """True in the last stage: what is learned then is frozen."""
        return self.stage >= self._stages - 1

    @property
    def error_share(self) -> float:
        """This stage's share of the error; the shares sum up to 1."""
        return ERRORS[self.stage] / sum(ERRORS[: self._stages])

    def add(self, time_s: float, value: float, weight: float, order: int = -1, answers: int = 1) -> bool:
        """Take one value, the one of that order, for so many answers; True once there are enough."""
        self._until = order
        if not self._values:
            self._from_s = time_s
        if time_s > self._until_s:
            self._until_s = time_s
        self._answers += answers
        self._values.append(value)
        if self._weights is not None:
            self._weights.append(weight)
        elif weight != 1.0:
            self._weights = array("f", [1.0]) * (len(self._values) - 1)
            self._weights.append(weight)
        self._seasons.add(time_s, value * weight, weight)
        return self.due

    def below(self, value: float, latest: int) -> int:
        """How many values were that low or lower, but for the `latest`."""
        return sum(each <= value for each in self._values[: max(0, len(self._values) - latest)])

    @property
    def seasons(self) -> Seasons:
        """The shape of the days so far."""
        return self._seasons

    def mark(self) -> None:
        """Something is suspected: what comes may have to be forgotten."""
        self._mark = len(self._values), self._answers, self._seasons.copy()

    def settle(self, *, normal: bool) -> None:
        """What came since the mark was normal after all, or is forgotten."""
        if self._mark is not None and not normal:
            count, self._answers, self._seasons = self._mark
            del self._values[count:]
            if self._weights is not None:
                del self._weights[count:]
        self._mark = None

    @property
    def since_mark(self) -> int:
        """Answers since the mark."""
        return 0 if self._mark is None else self._answers - self._mark[1]

    def learn(
        self, *, error: float = DEFAULT_ERROR, least_probability: float = 1.0, room: float = 0.0, wander: float = 0.0
    ) -> Baseline:
        """The baseline; its lower bound is above the true mean with probability `error` at most (see `lower_bound`).

        `wander` is what is known from elsewhere of how far the mean wanders.
        """
        values = self._values.tolist()
        weights = [1.0] * len(values) if self._weights is None else self._weights.tolist()
        count, total = len(values), sum(weights)
        mean = sum(value * weight for value, weight in zip(values, weights, strict=True)) / total
        residuals = [(value - mean) * weight for value, weight in zip(values, weights, strict=True)]
        spread = sum(each * each for each in residuals) / count
        found = dependence(residuals)
        inside = drop_inside(residuals) if self.stage == 0 else None
        own = max(wandering(residuals, found), self._seasons.margin(mean, found.inflation * spread))
        bound = min(mean, lower_bound(values, weights, error=error, least_probability=least_probability, room=room))
        # Of values that depend on each other fewer are known, and how few is not known well either.
        few = found.inflation * (1.0 + math.sqrt(_LEAST_BLOCKS * found.block / count)) if found.block > 1 else 1.0
        lower = max(0.0, mean - (mean - bound) * math.sqrt(few))
        return Baseline(
            mean=mean,
            lower=lower,
            count=self._answers,
            worth=count / found.inflation,
            block=found.block,
            inflation=found.inflation,
            answers=self._answers / count,
            wander=max(wander, own * count / total),
            mean_weight=total / count,
            spread=spread,
            from_s=self._from_s,
            until_s=self._until_s,
            until=self._until,
            change_from=None if inside is None else self._until - round((count - inside) * self._answers / count) + 1,
            unknown=(*self._seasons.unknown(), *_unknown(found, self._answers, count)),
        )

    def advance(self) -> None:
        """Go on to the next stage."""
        self.stage += 1

    def to_state(self) -> dict[str, Any]:
        mark = self._mark
        return {
            "count": self.count,
            "stage": self.stage,
            "stages": self._stages,
            "answers": self._answers,
            "values": [round(value, 6) for value in self._values],
            "weights": None if self._weights is None else [round(weight, 4) for weight in self._weights],
            "seasons": self._seasons.to_state(),
            "from_s": self._from_s,
            "until_s": self._until_s,
            "until": self._until,
            "mark": None if mark is None else [mark[0], mark[1], mark[2].to_state()],
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> BaselineLearner:
        learner = cls(int(state["count"]), stages=int(state["stages"]))
        learner.stage, learner._answers = int(state["stage"]), int(state["answers"])
        learner._values = array("f", state["values"])
        learner._weights = None if state["weights"] is None else array("f", state["weights"])
        learner._seasons = Seasons.from_state(state["seasons"])
        learner._from_s, learner._until_s = float(state["from_s"]), float(state["until_s"])
        learner._until = int(state["until"])
        if (mark := state["mark"]) is not None:
            learner._mark = int(mark[0]), int(mark[1]), Seasons.from_state(mark[2])
        return learner


def _unknown(found: Dependence, answers: int, units: int) -> tuple[str, ...]:
    if not found.known:
        return ("answers depend on each other over longer than was seen",)
    worth = units / found.inflation
    return (f"{answers} answers are worth {worth:.0f}",) if worth < _FEW * answers else ()
