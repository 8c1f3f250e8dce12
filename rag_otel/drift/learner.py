"""Learns what is normal for a series from its first values, in stages, with one error of all bounds together."""

from __future__ import annotations

import math
import statistics
from array import array
from collections.abc import Sequence
from typing import Final

from rag_otel.drift.baseline import SHAPES, Baseline
from rag_otel.drift.bets import lower_bound
from rag_otel.drift.dependence import Dependence, around_parts, dependence, drop_inside, wandering
from rag_otel.drift.records import stored
from rag_otel.drift.seasons import DAY_S, Seasons

DEFAULT_COUNT: Final = 500
DEFAULT_ERROR: Final = 0.15
"""Probability that the bound of any series is too high, over all series together."""
STAGES: Final = (1, 2, 4, 6, 10)
"""A baseline is learned from so many times `count` values: it watches from the first stage on and is learned better at
the next ones; after the last, 5,000 answers by default, it is frozen."""
ERRORS: Final = (0.1, 0.1, 0.4, 0.1, 0.2)
"""Each stage's share of the error."""
ERRORS_OF_FEW: Final = (0.6, 0.1, 0.1, 0.05, 0.05)
"""The same where `count` was set below the default: the first bound is wanted to tell a drop. With a small share of
the error a bound of few answers lies too far below their mean for an alarm."""
_AGAIN: Final = 0.1
"""Share of the error of all that is learned between stages: the n-th time it has the 2**n-th part of it."""
_MOST_AGAIN: Final = 12
_HARDLY: Final = 0.25
_LEAST_BLOCKS: Final = 8
_ENOUGH: Final = 4
"""Times `count`: of so many answers the dependence is known well enough to be taken as it was measured."""
_RARE: Final = 0.02
"""So many values tell how such values come, as a share of `count`; three at least."""
LATELY: Final = 5
"""Values that tell what is usual just now."""
_FELL: Final = 1.36
"""Of what is lower than the floor already one in 20 is enough to call it a drop (Kolmogorov), not one in 1,000."""
_MIXED_UP: Final = 0.75
"""A drop may be dated a little too early."""
_FEW: Final = 0.5
"""Answers that are worth less than this share of their number are said to be."""


@stored
class BaselineLearner:
    """Collects the first values of a series; 4 bytes a value, 8 where they weigh differently."""

    __slots__ = (
        "_again", "_answers", "_before", "_from_s", "_mark", "_seasons", "_shape_s", "_stages", "_until", "_until_s",
        "_values", "_weights", "count", "owed", "stage",
    )  # fmt: skip

    def __init__(self, count: int = DEFAULT_COUNT, *, stages: int = len(STAGES), stage: int = 0) -> None:
        """`stages`: how often it is learned anew, from more answers each time; `stage`: the first one."""
        self.count = count
        self.stage = stage
        self.owed = False
        """What was seen since the last stage has to be learned now."""
        self._again = 0
        self._before = 0
        """How many values there were when it was learned last."""
        self._shape_s = math.inf
        """When the shape of a day, of a week will be known."""
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
        return self._reached or self.owed

    @property
    def _reached(self) -> bool:
        return self._answers >= self.count * STAGES[self.stage] and len(self._values) >= _LEAST_BLOCKS

    @property
    def late(self) -> bool:
        """True where what was suspected has kept the last stage from being learned for as long again."""
        return self._answers >= 2 * self.count * STAGES[self._stages - 1]

    @property
    def error_share(self) -> float:
        """This time's share of the error; the shares sum up to 1 at most, however often it is learned."""
        errors = ERRORS if self.count >= DEFAULT_COUNT else ERRORS_OF_FEW
        share = errors[self.stage] if self._reached else _AGAIN / 2.0 ** (self._again + 1)
        return share / (sum(errors[: self._stages]) + _AGAIN)

    @property
    def hardly_more(self) -> bool:
        """Hardly anything has come since the last stage: its bound stays, which has more of the error."""
        return not self._reached and len(self._values) <= (1.0 + _HARDLY) * self._before

    @property
    def lately_mean(self) -> float:
        """The mean of what came since it was learned last; 1 without values."""
        values = self._values[self._before :].tolist()
        return _mean(values, self._listed_weights()[self._before :]) if values else 1.0

    @property
    def fell_lately(self) -> bool:
        """What came since it was learned last is lower than what came before, beyond chance."""
        mean = _mean(values := self._values.tolist(), weights := self._listed_weights())
        residuals = [(value - mean) * weight for value, weight in zip(values, weights, strict=True)]
        at = drop_inside(residuals, beyond=_FELL)
        return at is not None and at >= _MIXED_UP * self._before

    def learn_again(self) -> None:
        """Something is known now that was not at the last stage: a run, a whole day."""
        self.owed = self._again < _MOST_AGAIN and len(self._values) >= _LEAST_BLOCKS

    def advance(self, *, taken: bool = True) -> bool:
        """Go on after learning; False where the last stage was learned, and what was learned is frozen. `taken`: what
        came since the last time is normal."""
        if taken:
            self._before = len(self._values)
        if self._reached:
            self.stage += 1
        else:
            self._again += 1
        self.owed = False
        return self.stage < self._stages

    def add(self, time_s: float, value: float, weight: float, order: int = -1, answers: int = 1) -> bool:
        """Take one value, the one of that order, for so many answers; True once there are enough."""
        self._until = order
        if not self._values:
            self._from_s, self._shape_s = time_s, time_s + SHAPES[0] * DAY_S
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
        if time_s >= self._shape_s:
            self._shape_s = self._seasons.next_s(SHAPES)
            if self.stage:
                self.learn_again()
        return self.owed or self._reached

    @property
    def rare(self) -> float | None:
        """What hardly any of the values but the latest were as low as; None of few values."""
        known = sorted(self._values[:-LATELY])
        few = max(3, round(_RARE * self.count))
        return known[few - 1] if len(known) >= few else None

    def lately(self) -> float:
        """The middle one of the latest values."""
        return statistics.median(self._values[-LATELY:])

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
            self._before = min(self._before, count)
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
        values, weights = self._values.tolist(), self._listed_weights()
        count, total, mean = len(values), sum(weights), _mean(values, weights)
        residuals = [(value - mean) * weight for value, weight in zip(values, weights, strict=True)]
        spread = sum(each * each for each in residuals) / count
        inside = drop_inside(residuals) if self.stage == 0 else None
        mixed = inside is not None and _are_mixed(values, inside)
        if inside is not None and mixed:
            residuals = around_parts(residuals, inside)
        found = dependence(residuals)
        own = max(wandering(residuals, found), self._seasons.margin(mean, found.inflation * spread))
        if found.block > 1:
            # A normal approximation for means of blocks, with the most that their variance may be.
            z = statistics.NormalDist().inv_cdf(1.0 - error)
            lower = mean - z * math.sqrt(spread * found.most / count) * count / total
        else:
            bound = lower_bound(values, weights, error=error, least_probability=least_probability, room=room)
            doubt = math.sqrt(max(1.0, found.most)) if self._answers < _ENOUGH * self.count else 1.0
            lower = mean - (mean - min(mean, bound)) * doubt
        lower = max(0.0, lower)
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
            rare=self.rare,
            from_s=self._from_s,
            until_s=self._until_s,
            until=self._until,
            change_from=None if inside is None else self._until - round((count - inside) * self._answers / count) + 1,
            unknown=(*self._seasons.unknown(), *_unknown(found, self._answers, count)),
        )

    def _listed_weights(self) -> list[float]:
        return [1.0] * len(self._values) if self._weights is None else self._weights.tolist()


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    return sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)


def _are_mixed(values: Sequence[float], at: int) -> bool:
    """Whether the usual values from `at` on came before too: else they may be one run of answers on a hard document."""
    before = sorted(values[:at])
    return statistics.median(values[at:]) >= before[len(before) // 20]


def _unknown(found: Dependence, answers: int, units: int) -> tuple[str, ...]:
    if not found.known:
        return ("answers depend on each other over longer than was seen",)
    worth = units / found.inflation
    return (f"{answers} answers are worth {worth:.0f}",) if worth < _FEW * answers else ()
