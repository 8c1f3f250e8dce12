"""Which metrics are better when they are lower. All others are better when they are higher.

An evaluator says so once, with an attribute `lower_is_better = True`. Its name is known here from the moment that a
pipeline or an evaluation is set up with it, and everything that compares scores asks here: alert rules, drift, charts,
exports, gates. Results that are stored say it too (`rag.evaluation.<metric>.lower_is_better`), for readers of stored
scores that do not have the evaluator.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

LOWER_IS_BETTER: Final = "lower_is_better"
"""The attribute of an evaluator, and the field of a stored result: true, or absent."""
_lower_is_better = {"noise_sensitivity", "noise_sensitivity_irrelevant"}


def learn_directions(evaluators: Iterable[Any]) -> None:
    """Take in the metrics of evaluators that say `lower_is_better`."""
    for evaluator in evaluators:
        if getattr(evaluator, LOWER_IS_BETTER, False) is True:
            declare_lower_is_better(evaluator.name)


def declare_lower_is_better(metric: str) -> None:
    """From now on, a lower score of this metric is better, in this process."""
    _lower_is_better.add(metric)


def lower_is_better(metric: str) -> bool:
    """True if a lower score of this metric is better."""
    return metric in _lower_is_better


def lower_is_better_metrics() -> frozenset[str]:
    """All metrics of which that is known."""
    return frozenset(_lower_is_better)


def goodness(metric: str, score: float) -> float:
    """A score in 0..1 as a number in 0..1 of which higher is better: 1 minus the score where lower is better."""
    return 1.0 - score if metric in _lower_is_better else score


def is_worse(metric: str, score: float, than: float) -> bool:
    """True if `score` is worse than `than`."""
    return goodness(metric, score) < goodness(metric, than)
