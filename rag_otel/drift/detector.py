"""The betting Shiryaev-Roberts e-detector: tells that a mean has dropped, seldom in vain, at any rate of traffic.

A value lies in 0..1, higher is better; it was picked with probability p and weighs 1/p. Against "the mean is at least
`floor`" the payoff of a bet b is

    1 + b * (floor - value) / p

Its expectation is at most 1 while the mean of ALL traffic is at least `floor`, whatever was picked and why: given that
a value was picked, its expected (floor - value) / p is (floor - mean) / P(picked). It is never negative while
b * (1 - floor) <= the least p. At every value the money on each bet is topped up by 1 and multiplied by the payoff:

    M = (M + 1) * (1 + bet * (floor - value) / p)

While the mean of the next value is at least `floor`, whatever came before, the expectation of M at any time one may
stop at is at most the number of values so far. So an alarm when M reaches A comes, on average, after A values at the
earliest: the average run length is at least A, whatever the distribution. The same holds for the mean of several M, one
for each bet, and for the sum over slices that share the values among them. This is a theorem; where answers depend on
each other its assumption is met as far as blocks of them do not (see `dependence`).

Sources: Shin, Ramdas and Rinaldo, "E-detectors: a nonparametric framework for sequential change detection", New England
Journal of Statistics in Data Science 2 (2024), sections 2 to 4; Waudby-Smith and Ramdas, "Estimating means of bounded
random variables by betting", JRSS-B 86 (2024), with the inverse-probability increments of Waudby-Smith et al.,
"Anytime-valid off-policy inference for contextual bandits", ACM/IMS J. Data Sci. 1 (2024).
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

from rag_otel.drift.records import stored

Bets: TypeAlias = tuple[float, float, float, float]
NO_EVIDENCE: Final = -99.0
_DROPS: Final = (0.03, 0.06, 0.12, 0.25)
"""The drops of the mean that the bets are tuned for: money is split evenly over them."""
_MOST: Final = 0.9
"""Share of what may be lost at once; all of it could never be won back."""
_LEAST_ROOM: Final = 1e-6
_RETUNE_FROM: Final = 32
_RETUNE_UNTIL: Final = 512
_MOST_MONEY: Final = 1e30
_PRIOR_COUNT: Final = 16.0
_HELD_BACK: Final = 10.0
_NOTHING: Final = (0.0, 0.0, 0.0, 0.0)


def tuned_bets(
    floor: float, *, mean_weight: float, second_moment: float, least_probability: float, room: float = 0.0
) -> Bets:
    """One bet for each of `_DROPS`: near the one under which money grows fastest once the mean has dropped that far.

    `floor` is what the mean is bet to be below, `mean_weight` the mean of 1/p, `second_moment` that of
    ((floor - value) / p) squared while nothing has dropped, `room` how far values may lie outside of 0..1. For a gain g
    and a second moment s a payoff's expected logarithm is about b*g - b*b*(s + g*g)/2, greatest at g / (s + g*g).
    """
    most = _MOST * least_probability / max(1.0 - floor + room, _LEAST_ROOM)

    def bet(drop: float) -> float:
        gain = drop * mean_weight
        return min(most, gain / (second_moment + gain * gain))

    first, second, third, fourth = _DROPS
    return bet(first), bet(second), bet(third), bet(fourth)


@stored
class DropDetector:
    """Bets on a mean of values in 0..1 being below `floor`. About a microsecond a value, half a kilobyte."""

    __slots__ = (
        "_bets", "_learning", "_least_probability", "_mean_weight", "_money", "_room", "_second_moment", "count",
        "floor", "held", "threshold",
    )  # fmt: skip

    def __init__(
        self,
        floor: float,
        *,
        threshold: float,
        mean_weight: float = 1.0,
        second_moment: float | None = None,
        least_probability: float = 1.0,
        room: float = 0.0,
    ) -> None:
        """`threshold` is the guaranteed average run length, in values, while the mean is at least `floor`.

        `mean_weight` and `second_moment` are what `tuned_bets` takes, from values before the first one; without a
        `second_moment` the detector learns both while it watches. `least_probability` is the smallest p expected,
        `room` how far values may lie outside of 0..1.
        """
        self.floor = floor
        self.threshold = threshold
        self.count = 0
        """Values seen since it started."""
        self.held = 0
        """For how many values there has been evidence that is not told."""
        self._least_probability = least_probability
        self._room = room
        self._learning = second_moment is None
        self._mean_weight = mean_weight
        # Bernoulli's is the largest spread of a value in 0..1: bets start small where nothing is known.
        self._second_moment = floor * (1.0 - floor) * mean_weight**2 if second_moment is None else second_moment
        self._money = _NOTHING
        self._tune()

    def _tune(self) -> None:
        """Bet what suits the floor, from the next value on."""
        self._bets = tuned_bets(
            self.floor,
            mean_weight=self._mean_weight,
            second_moment=max(1e-9, self._second_moment),
            least_probability=self._least_probability,
            room=self._room,
        )

    @property
    def money(self) -> float:
        """The e-detector: the mean of what all bets hold."""
        return float(sum(self._money)) / 4.0

    @property
    def evidence(self) -> float:
        """log10 of the money over the threshold: an alarm at 0 and above."""
        money = self.money
        return math.log10(money / self.threshold) if money > 0.0 else NO_EVIDENCE

    def observe(self, value: float, probability: float = 1.0) -> bool:
        """Take one value that was picked with `probability`; True while the money is at the threshold or above."""
        if probability < self._least_probability:
            # The bet is lowered before it is placed, to the next power of two: that happens a few times at most.
            self._least_probability = 2.0 ** math.floor(math.log2(probability))
            self._tune()
        payoff = (self.floor - value) / probability
        bet_0, bet_1, bet_2, bet_3 = self._bets  # written out: this runs for every value of every slice
        money_0, money_1, money_2, money_3 = self._money
        money_0 = (money_0 + 1.0) * (1.0 + bet_0 * payoff)
        money_1 = (money_1 + 1.0) * (1.0 + bet_1 * payoff)
        money_2 = (money_2 + 1.0) * (1.0 + bet_2 * payoff)
        money_3 = (money_3 + 1.0) * (1.0 + bet_3 * payoff)
        self._money = (money_0, money_1, money_2, money_3)
        self.count += 1
        if self._learning:
            self._learn_spread(payoff, 1.0 / probability)
        total = money_0 + money_1 + money_2 + money_3
        if total < 4.0 * self.threshold:
            return False
        if total > _MOST_MONEY:
            self.restart(_MOST_MONEY)
        return True

    def _learn_spread(self, payoff: float, weight: float) -> None:
        """Bets may depend on all that came before: from the next value on they are tuned anew, at doubling counts."""
        share = 1.0 / (_PRIOR_COUNT + self.count)
        self._second_moment += share * (payoff * payoff - self._second_moment)
        self._mean_weight += share * (weight - self._mean_weight)
        if self.count >= _RETUNE_FROM and self.count & (self.count - 1) == 0:
            self._learning = self.count < _RETUNE_UNTIL
            self._tune()

    def hold(self, values: int) -> None:
        """Enough evidence is not told yet, for so many more values. It holds little more than an alarm takes: what
        comes next decides."""
        self.held += values
        share = min(1.0, _HELD_BACK * self.threshold / max(self.money, 1.0))
        money_0, money_1, money_2, money_3 = self._money
        self._money = (money_0 * share, money_1 * share, money_2 * share, money_3 * share)

    def restart(self, money: float = 0.0) -> None:
        """Hold so much money on each bet, and keep what was learned of the spread."""
        self._money, self.held = (money, money, money, money), 0
