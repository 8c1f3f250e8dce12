"""How well a judge agrees with people: kappa, AUROC, precision and recall, each with a 95% interval.

Intervals are percentiles of a bootstrap over labels (B. Efron, 1979) with a fixed seed. Labels are weighted by the
inverse of the probability with which they were picked, so that the figures hold for the traffic and not for the queue.
Answers to one question are drawn together: they are bad together.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rag_otel.evaluation.calibration import Labelled, by_question

_RESAMPLES: Final = 500
_OFTEN: Final = 2_000_000
"""Labels times resamples at most: more labels need fewer resamples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure with its 95% interval; NaN where it is not defined."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return "-" if math.isnan(self.value) else f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Of one judge, or of one slice of its answers."""

    labels: int
    bad: int
    kappa: Estimate
    """Cohen's kappa at the threshold: 1 is full agreement, 0 is chance. Source: J. Cohen, 1960."""
    auroc: Estimate
    """Probability that an unfaithful answer has a higher risk than a faithful one."""
    precision: Estimate
    """Share of answers at or above the threshold that people call unfaithful."""
    recall: Estimate
    """Share of answers that people call unfaithful that are at or above the threshold."""


def agreement(labelled: Sequence[Labelled], *, threshold: float, seed: int = 0) -> Agreement:
    """The agreement of risks with labels; `threshold` is the risk from which an answer is told as unfaithful."""
    figures: dict[str, Callable[[Sequence[Labelled]], float]] = {
        "kappa": lambda rows: _kappa(rows, threshold),
        "auroc": auroc,
        "precision": lambda rows: _share([each for each in rows if each.risk >= threshold], lambda each: each.bad),
        "recall": lambda rows: _share([each for each in rows if each.bad], lambda each: each.risk >= threshold),
    }
    rng = random.Random(seed)
    count = max(50, min(_RESAMPLES, _OFTEN // max(1, len(labelled))))
    groups = by_question(labelled)
    drawn = [rng.choices(groups, k=len(groups)) for _ in range(count)] if labelled else []
    resamples = [[each for group in found for each in group] for found in drawn]
    return Agreement(
        labels=len(labelled),
        bad=sum(each.bad for each in labelled),
        **{name: _estimate(figure, labelled, resamples) for name, figure in figures.items()},
    )


def auroc(labelled: Sequence[Labelled]) -> float:
    """Weighted Mann-Whitney statistic; ties count half. NaN without labels of both kinds."""
    bad_total = sum(each.weight for each in labelled if each.bad)
    good_total = sum(each.weight for each in labelled if not each.bad)
    if not bad_total or not good_total:
        return math.nan
    by_risk: dict[float, tuple[float, float]] = {}
    for each in labelled:
        bad, good = by_risk.get(each.risk, (0.0, 0.0))
        by_risk[each.risk] = (bad + each.weight, good) if each.bad else (bad, good + each.weight)
    below = won = 0.0
    for risk in sorted(by_risk):
        bad, good = by_risk[risk]
        won += bad * (below + good / 2)
        below += good
    return won / (bad_total * good_total)


def calibration_z(labelled: Sequence[Labelled]) -> float:
    """How far the labels are from what the risks say, in standard deviations: beyond 3 in either direction the judge no
    longer means what its calibration says. 0 without labels.

    Spiegelhalter's statistic of the Brier score. Source: D. Spiegelhalter, Statistics in Medicine 5, 1986.
    """
    excess = sum(each.weight * (float(each.bad) - each.risk) * (1 - 2 * each.risk) for each in labelled)
    variance = sum((each.weight * (1 - 2 * each.risk)) ** 2 * each.risk * (1 - each.risk) for each in labelled)
    return excess / math.sqrt(variance) if variance > 0 else 0.0


def prevalence_z(labelled: Sequence[Labelled]) -> float:
    """How far the number of unfaithful answers is from the sum of the risks, in standard deviations; positive if there
    are more than the risks say."""
    excess = sum(each.weight * (float(each.bad) - each.risk) for each in labelled)
    variance = sum(each.weight**2 * each.risk * (1 - each.risk) for each in labelled)
    return excess / math.sqrt(variance) if variance > 0 else 0.0


def _kappa(labelled: Sequence[Labelled], threshold: float) -> float:
    total = sum(each.weight for each in labelled)
    same = sum(each.weight for each in labelled if each.bad == (each.risk >= threshold)) / total
    bad = sum(each.weight for each in labelled if each.bad) / total
    told = sum(each.weight for each in labelled if each.risk >= threshold) / total
    chance = bad * told + (1 - bad) * (1 - told)
    return (same - chance) / (1 - chance) if chance < 1 else math.nan


def _share(labelled: Sequence[Labelled], wanted: Callable[[Labelled], bool]) -> float:
    total = sum(each.weight for each in labelled)
    return sum(each.weight for each in labelled if wanted(each)) / total if total else math.nan


def _estimate(
    figure: Callable[[Sequence[Labelled]], float],
    labelled: Sequence[Labelled],
    resamples: Sequence[Sequence[Labelled]],
) -> Estimate:
    value = figure(labelled) if labelled else math.nan
    drawn = sorted(found for rows in resamples if not math.isnan(found := figure(rows)))
    if math.isnan(value) or not drawn:
        return Estimate(value=math.nan, low=math.nan, high=math.nan)
    last = len(drawn) - 1
    return Estimate(value=value, low=drawn[round(0.025 * last)], high=drawn[round(0.975 * last)])
