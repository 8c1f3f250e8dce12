"""Which metrics are better when they are lower. All others are better when they are higher."""

from __future__ import annotations

from typing import Final

LOWER_IS_BETTER: Final = frozenset({"noise_sensitivity", "noise_sensitivity_irrelevant"})


def goodness(metric: str, score: float) -> float:
    """Returns the score, or its negative for a metric that is better when it is lower: a number to sort and to compare
    by, higher is better."""
    return -score if metric in LOWER_IS_BETTER else score


def is_worse(metric: str, score: float, than: float) -> bool:
    """True if `score` is worse than `than`."""
    return goodness(metric, score) < goodness(metric, than)
