"""How much to bet, and on what: the payoffs that a detector and a baseline are made of.

A value lies in 0..1, higher is better; it was picked with probability p and weighs 1/p. Against "the mean is at least
`floor`" the payoff of a bet b is

    1 + b * (floor - value) / p

Its expectation is at most 1 while the mean of ALL traffic is at least `floor`, whatever was picked and why: given that
a value was picked, its expected (floor - value) / p is (floor - mean) / P(picked). It is never negative while
b * (1 - floor) <= the least p. Source: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by
betting", JRSS-B 86 (2024), with the inverse-probability increments of Waudby-Smith et al., "Anytime-valid off-policy
inference for contextual bandits", ACM/IMS J. Data Sci. 1 (2024).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, TypeAlias

Bets: TypeAlias = tuple[float, float, float, float]
_DROPS: Final = (0.03, 0.06, 0.12, 0.25)
"""The drops of the mean that the bets are tuned for: money is split evenly over them."""
_MOST: Final = 0.9
"""Share of what may be lost at once; all of it could never be won back."""
_LEAST_ROOM: Final = 1e-6


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


def lower_bound(
    values: Sequence[float],
    weights: Sequence[float],
    *,
    error: float,
    least_probability: float = 1.0,
    room: float = 0.0,
) -> float:
    """A number that the mean of all traffic is above, wrong with probability `error` at most.

    `weights` are 1/p, p at least `least_probability`; values lie in -`room` .. 1 + `room`. Bets that the mean is above
    m, one value after the other, each bet tuned by the values before it; the bound is the largest m at which the money
    is 1/`error` or more in the end (Markov's inequality: at its highest it may have been where a shape was highest). 0
    without values.

    The theorem assumes that the mean of the next value, whatever came before, is the mean, and that `least_probability`
    holds: a bet is capped by what was promised and by the weights before it, never by those to come. A weight that
    breaks the promise lowers the cap from the next value on.
    """
    bets = _predictable_bets(values, weights, error)
    caps = _predictable_caps(weights, least_probability)
    target = 1.0 / error
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        if _reaches(values, weights, bets, caps, middle, room, target):
            low = middle
        else:
            high = middle
    return low


def _predictable_bets(values: Sequence[float], weights: Sequence[float], error: float) -> list[float]:
    """sqrt(2 ln(1/error) / (n v)), v the variance of what came before: best for n values of that variance."""
    wanted = 2.0 * math.log(1.0 / error) / max(len(values), 1)
    total, weighted, squares, bets = 1.0, 0.5, 0.25, []
    for count, (value, weight) in enumerate(zip(values, weights, strict=True), start=1):
        bets.append(math.sqrt(wanted * count / squares))
        total += weight
        weighted += weight * value
        squares += ((value - weighted / total) * weight) ** 2
    return bets


def _predictable_caps(weights: Sequence[float], least_probability: float) -> list[float]:
    """What a bet may be at most, times the distance from the mean that can be lost: three quarters of the money."""
    heaviest, caps = 1.0 / least_probability, []
    for weight in weights:
        caps.append(0.75 / heaviest)
        heaviest = max(heaviest, weight)
    return caps


def _reaches(
    values: Sequence[float],
    weights: Sequence[float],
    bets: Sequence[float],
    caps: Sequence[float],
    mean: float,
    room: float,
    target: float,
) -> bool:
    money, lost = 1.0, 1.0 / (mean + room)
    for value, weight, bet, cap in zip(values, weights, bets, caps, strict=True):
        most = cap * lost
        payoff = 1.0 + (bet if bet < most else most) * (value - mean) * weight
        if payoff <= 0.0:
            return False
        money *= payoff
    return money >= target
