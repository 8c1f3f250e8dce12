"""Learns what is normal for a series from its first values, in stages: it watches from the first one on."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Final

from rag_otel.drift.baseline import Baseline
from rag_otel.drift.dependence import Dependence, around_parts, dependence, drop_inside, wandering
from rag_otel.drift.records import stored
from rag_otel.drift.seasons import DAY_S, WEEK_DAYS, Seasons

DEFAULT_COUNT: Final = 500
STAGES: Final = (1, 2, 4, 6, 10)
"""A baseline is learned from so many times `count` values: it watches from the first stage on and is learned better at
the next ones; after the last, 5,000 answers by default, it is frozen."""
GAIN_STAGES: Final = (2,)
"""The same of a baseline that is learned where the mean has risen."""
_SHAPE_DAYS: Final = (1.0, 2.0, WEEK_DAYS)
"""Days after which the shape of a day, of a week is known, and a baseline is learned again."""
_LEAST_BLOCKS: Final = 8
_LEAST_DOUBT: Final = 1.9
"""Answers may depend on each other so far, as the design effect of their mean, though nothing was found."""
_DOUBT_OF_MIX: Final = 2.4
"""The same where kinds of answers differ: what each usually is, is an estimate too."""
_ENOUGH: Final = 4
"""Times `count`: of so many answers the dependence is known well enough to be taken as it was measured."""
_EPISODE: Final = 0.5
"""An alarm that was over after fewer answers than this, as a share of `count`, was a run: that is normal."""
_RARE: Final = 0.02
"""So many values tell how such values come, as a share of `count`; three at least."""
_FEW: Final = 0.5
"""Answers that are worth less than this share of their number are said to be."""


@stored
class Learner:
    """Collects the first values of a series; 4 bytes a value, 8 where they weigh differently. After the last stage the
    shape of the days goes on being learned until a week was seen, where `days` are wanted."""

    __slots__ = (
        "_answers", "_before", "_days", "_from_s", "_mark", "_seasons", "_shape_s", "_stages", "_until", "_until_s",
        "_values", "_weights", "count", "owed", "stage",
    )  # fmt: skip

    def __init__(self, count: int = DEFAULT_COUNT, *, stages: Sequence[int] = STAGES, days: bool = False) -> None:
        self.count = count
        self.stage = 0
        """How many stages were learned."""
        self.owed = False
        """What was seen since the last stage has to be learned now: a run was over, a day was seen."""
        self._stages = tuple(stages)
        self._days = days
        self._before = 0
        """How many values there were when it was learned last."""
        self._shape_s = math.inf
        """When the shape of another day will be known."""
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
    def _full(self) -> bool:
        return self.stage >= len(self._stages)

    @property
    def ended(self) -> bool:
        """Nothing more is learned: all stages were, or what is suspected has kept the last one from being learned for
        as long again."""
        if self._full:
            return not self._days or self._seasons.days >= WEEK_DAYS
        return self._answers >= 2 * self.count * self._stages[-1]

    @property
    def due(self) -> bool:
        """True when there is enough for the next stage, or something is owed."""
        return self.owed or (
            not self._full
            and self._answers >= self.count * self._stages[self.stage]
            and len(self._values) >= _LEAST_BLOCKS
        )

    def fell_below(self, floor: float, *, surely: float = 0.0) -> bool:
        """The mean of what came since it was learned last is lower than `floor`, by so many standard errors of
        independent values."""
        values, weights = self._values[self._before :].tolist(), self._listed_weights()[self._before :]
        if not values:
            return False
        mean = _mean(values, weights)
        squares = sum(((value - mean) * weight) ** 2 for value, weight in zip(values, weights, strict=True))
        return mean + surely * math.sqrt(squares) / sum(weights) < floor

    def advance(self, *, taken: bool = True) -> None:
        """Go on after learning. `taken`: what came since the last time is normal."""
        if taken:
            self._before = len(self._values)
        if not self.owed or (not self._full and self._answers >= self.count * self._stages[self.stage]):
            self.stage += 1
        self.owed = False

    def add(self, time_s: float, value: float, weight: float, order: int = -1, answers: int = 1) -> bool:
        """Take one value, the one of that order, for so many answers; True once there are enough."""
        if not self._values:
            self._from_s, self._shape_s = time_s, time_s + _SHAPE_DAYS[0] * DAY_S
        self._seasons.add(time_s, value * weight, weight)
        if time_s >= self._shape_s:
            self._shape_s = self._seasons.next_s(_SHAPE_DAYS)
            self.owed = self.stage > 0
        if self._full:
            return self.owed
        self._until = order
        self._until_s = max(self._until_s, time_s)
        self._answers += answers
        self._values.append(value)
        if self._weights is not None:
            self._weights.append(weight)
        elif weight != 1.0:
            self._weights = array("f", [1.0]) * (len(self._values) - 1)
            self._weights.append(weight)
        return self.due

    @property
    def in_episode(self) -> bool:
        """What came since the mark may still be a run."""
        return self._mark is None or self._answers - self._mark[1] <= _EPISODE * self.count

    def mark(self) -> None:
        """An alarm begins: what comes may have to be forgotten."""
        self._mark = len(self._values), self._answers, self._seasons.copy()

    def learn_again(self) -> None:
        """Something is known now that was not at the last stage."""
        self.owed = len(self._values) >= _LEAST_BLOCKS

    def settle(self) -> None:
        """The alarm is over: it was a run, which is normal, or what came is forgotten."""
        if self._mark is None:
            return
        if self.in_episode:
            self.learn_again()
        else:
            count, self._answers, self._seasons = self._mark
            del self._values[count:]
            self._before = min(self._before, count)
            if self._weights is not None:
                del self._weights[count:]
        self._mark = None

    def learn(self, *, sure: float, wander: float = 0.0, mixed: bool = False) -> Baseline:
        """The baseline, with a lower bound `sure` standard errors below the mean. `wander` is what is known from
        elsewhere of how far the mean wanders; `mixed`: values were taken less what their kind usually is."""
        values, weights = self._values.tolist(), self._listed_weights()
        count, total, mean = len(values), sum(weights), _mean(values, weights)
        residuals = [(value - mean) * weight for value, weight in zip(values, weights, strict=True)]
        spread = sum(each * each for each in residuals) / count
        inside = drop_inside(residuals) if self.stage == 0 else None
        found = dependence(residuals if inside is None else around_parts(residuals, inside))
        noise, seasons = found.inflation * spread, self._seasons
        shape = seasons.margin(noise)
        if shape > 0.0:
            shape += (mean - seasons.mean) * total / count
        doubt = _DOUBT_OF_MIX if mixed else _LEAST_DOUBT
        worth_one = found.most if found.block > 1 else doubt
        if self._answers < _ENOUGH * self.count:  # few answers tell little of how far they depend on each other
            worth_one = max(worth_one, found.most)
        # As if one value had been all wrong: a variance of nothing is not known to be nothing.
        spread_at_most = spread + (total / count) ** 2 / count
        error = math.sqrt(spread_at_most * worth_one / count) * count / total
        return Baseline(
            mean=mean,
            lower=max(0.0, mean - sure * error),
            count=self._answers,
            worth=count / found.inflation,
            block=found.block,
            inflation=found.inflation,
            answers=self._answers / count,
            wander=max(wander, max(wandering(residuals, found), shape) * count / total),
            mean_weight=total / count,
            spread=spread,
            rare=self._rare(values),
            from_s=self._from_s,
            until_s=self._until_s,
            until=self._until,
            change_from=None if inside is None else self._until - round((count - inside) * self._answers / count) + 1,
            unknown=(*seasons.unknown(), *_unknown(found, self._answers, count)),
        )

    def _rare(self, values: Sequence[float]) -> float | None:
        few = max(3, round(_RARE * self.count))
        return sorted(values)[few - 1] if len(values) >= few else None

    def _listed_weights(self) -> list[float]:
        return [1.0] * len(self._values) if self._weights is None else self._weights.tolist()


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    return sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)


def _unknown(found: Dependence, answers: int, units: int) -> tuple[str, ...]:
    if not found.known:
        return ("answers depend on each other over longer than was seen",)
    worth = units / found.inflation
    return (f"{answers} answers are worth {worth:.0f}",) if worth < _FEW * answers else ()
