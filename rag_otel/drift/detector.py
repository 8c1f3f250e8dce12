"""The betting Shiryaev-Roberts e-detector: tells that a mean has dropped, seldom in vain, at any rate of traffic.

At every value the money on each bet is topped up by 1 and multiplied by the bet's payoff:

    M = (M + 1) * (1 + bet * (floor - value) / p)

While the mean is at least `floor`, the expectation of M at any time one may stop at is at most the number of values so
far. So an alarm when M reaches A comes, on average, after A values at the earliest: the average run length is at least
A, whatever the distribution. The same holds for the mean of several M, one for each bet, and for the sum over slices
that share the values among them. Source: Shin, Ramdas and Rinaldo, "E-detectors: a nonparametric framework for
sequential change detection", New England Journal of Statistics in Data Science 2 (2024), sections 2 to 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from rag_otel.drift.baseline import Baseline
from rag_otel.drift.bets import DROPS, tuned_bets

_RETUNE_UNTIL: Final = 512
_MOST_MONEY: Final = 1e30
_PRIOR_COUNT: Final = 16.0


class DropDetector:
    """Watches one series of values in 0..1, higher is better, for a drop of its mean below the baseline.

    About a microsecond and half a kilobyte. After an alarm it turns around and watches for the recovery: the money
    that a bet on the drop has made, no more than the alarm took, must be lost again.
    """

    __slots__ = (
        "_bets", "_count", "_least_probability", "_mean_weight", "_money", "_recovery", "_second_moment",
        "_threshold", "_tuning", "baseline", "floor",
    )  # fmt: skip

    def __init__(
        self, baseline: Baseline, *, threshold: float, margin: float = 0.0, least_probability: float = 1.0
    ) -> None:
        """`threshold` is the guaranteed average run length, in values; drops of the mean of less than `margin` below
        the baseline's lower bound do not matter; `least_probability` is the smallest p to be expected."""
        self.baseline = baseline
        self.floor = max(0.0, baseline.lower - margin)
        self._threshold = threshold
        self._least_probability = least_probability
        self._count = 0
        self._tuning = baseline.second_moment is None
        self._mean_weight = baseline.mean_weight
        # Bernoulli's is the largest spread of a value in 0..1: bets start small where nothing is known.
        self._second_moment = baseline.second_moment or self.floor * (1.0 - self.floor) * baseline.mean_weight**2
        if baseline.second_moment is not None:
            # The margin moves the floor; the spread around it moves along: E(f-x)^2 = var + (f-mean)^2.
            shift = (baseline.mean - self.floor) ** 2 - (baseline.mean - baseline.lower) ** 2
            self._second_moment = max(1e-9, baseline.second_moment + shift * baseline.mean_weight**2)
        self._money = [0.0] * len(DROPS)
        self._recovery: float | None = None
        self._tune()

    def _tune(self) -> None:
        self._bets = tuned_bets(
            self.floor,
            mean_weight=self._mean_weight,
            second_moment=self._second_moment,
            least_probability=self._least_probability,
        )

    @property
    def firing(self) -> bool:
        return self._recovery is not None

    @property
    def count(self) -> int:
        """Values seen since it started."""
        return self._count

    @property
    def evidence(self) -> float:
        """log10 of the money over the threshold: an alarm at 0 and above, -99 with no evidence at all."""
        if self._recovery is not None:
            return self._recovery / math.log(10.0)
        money = sum(self._money) / len(self._money)
        return math.log10(money / self._threshold) if money > 0.0 else -99.0

    def observe(self, value: float, probability: float = 1.0) -> bool:
        """Take one value that was picked with `probability`; True when the alarm begins or ends with it."""
        if probability < self._least_probability:
            # The bet is lowered before it is placed, to the next power of two: that happens a few times at most.
            self._least_probability = 2.0 ** math.floor(math.log2(probability))
            self._tune()
        payoff = (self.floor - value) / probability
        self._count += 1
        if self._tuning:
            self._learn_spread(payoff, 1.0 / probability)
        if self._recovery is not None:
            return self._recover(payoff)
        total, money = 0.0, self._money
        for index, bet in enumerate(self._bets):
            held = (money[index] + 1.0) * (1.0 + bet * payoff)
            money[index] = held
            total += held
        if total < self._threshold * len(money):
            return False
        self._recovery = math.log(self._threshold)
        return True

    def _recover(self, payoff: float) -> bool:
        """A CUSUM of the bet that had won most, held between nothing and what the alarm took."""
        money = self._money
        bet = self._bets[max(range(len(money)), key=money.__getitem__)]
        left = (self._recovery or 0.0) + math.log(max(1e-12, 1.0 + bet * payoff))
        if left > 0.0:
            self._recovery = min(left, math.log(self._threshold))
            return False
        self._recovery = None
        self._money = [0.0] * len(money)
        return True

    def _learn_spread(self, payoff: float, weight: float) -> None:
        """For a baseline that is a number: bets may depend on all that came before, so they learn on the way.

        Takes effect from the next value on, at doubling counts."""
        share = 1.0 / (_PRIOR_COUNT + self._count)
        self._second_moment += share * (payoff * payoff - self._second_moment)
        self._mean_weight += share * (weight - self._mean_weight)
        if self._count >= 32 and self._count & (self._count - 1) == 0:
            self._tuning = self._count < _RETUNE_UNTIL
            self._tune()

    def to_state(self) -> dict[str, Any]:
        return {
            "money": [min(each, _MOST_MONEY) for each in self._money],
            "count": self._count,
            "recovery": self._recovery,
            "least_probability": self._least_probability,
            "second_moment": self._second_moment,
            "mean_weight": self._mean_weight,
            "tuning": self._tuning,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where `to_state` was called, with this detector's own threshold and margin."""
        if len(state["money"]) == len(self._money):
            self._money = [float(each) for each in state["money"]]
        self._count = int(state["count"])
        self._recovery = None if state["recovery"] is None else float(state["recovery"])
        self._least_probability = min(self._least_probability, float(state["least_probability"]))
        self._second_moment, self._mean_weight = float(state["second_moment"]), float(state["mean_weight"])
        self._tuning = bool(state["tuning"])
        self._tune()
