"""Which metrics are better when they are lower. All others are better when they are higher."""

from __future__ import annotations

from typing import Final

LOWER_IS_BETTER: Final = frozenset({"noise_sensitivity", "noise_sensitivity_irrelevant"})


def goodness(metric: str, score: float) -> float:
    """A score in 0..1 as a number in 0..1 of which higher is better: 1 minus the score where lower is better."""
    return 1.0 - score if metric in LOWER_IS_BETTER else score


def is_worse(metric: str, score: float, than: float) -> bool:
    """True if `score` is worse than `than`."""
    return goodness(metric, score) < goodness(metric, than)
