"""Fits a calibration to labels, and measures on labels that were not used for the fit whether it helps."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rag_otel.errors import InputError
from rag_otel.evaluation.calibration import Calibration, Knot, Labelled, by_question, logit, mapped, sigmoid

LEAST_OF_EACH: Final = 10
"""Bad and good answers that a fit needs at least."""
ISOTONIC_FROM: Final = 1_000
"""Labels from which a curve is fitted, which needs more of them than a slope and an intercept do."""
_STEPS: Final = 50
_RIDGE: Final = 1e-3
"""Keeps the slope finite where the risks separate the labels without an error."""
_FOLDS: Final = 5
_SMALLEST_SHARE: Final = 1e-10
_CONVERGED: Final = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """Mean log-loss (natural logarithm, lower is better) on labels that the fit did not use."""

    before: float
    """Of the judge's own risks."""
    after: float
    """Of the calibrated ones."""

    @property
    def helps(self) -> bool:
        """False for a calibration that does harm."""
        return self.after <= self.before


def threshold_of(*, cost_miss: float, cost_false_alarm: float) -> float:
    """The risk from which an alarm is worth its cost: risk * cost_miss >= (1 - risk) * cost_false_alarm.

    Source: C. Elkan, "The foundations of cost-sensitive learning", 2001. Raises InputError for costs not above 0.
    """
    if not (cost_miss > 0 and cost_false_alarm > 0 and math.isfinite(cost_miss + cost_false_alarm)):
        raise InputError("costs must be numbers above 0")
    return cost_false_alarm / (cost_false_alarm + cost_miss)


def named(metric: str, judge: str, version: str) -> str:
    """Whose results these are, for people."""
    found = f"{metric} by {judge or 'an unnamed judge'}"
    return f"{found}, version {version}" if version else found


def fit(labelled: Sequence[Labelled], *, metric: str, judge: str, threshold: float, version: str = "") -> Calibration:
    """Fits slope and intercept to weighted labels; from `ISOTONIC_FROM` labels on, a curve where that is better.
    `version`: of the evaluator; the calibration is applied to its results alone. Raises InputError for too few labels
    of a kind."""
    bad = sum(each.bad for each in labelled)
    if min(bad, len(labelled) - bad) < LEAST_OF_EACH:
        raise InputError(
            f"{named(metric, judge, version)}: {bad} labels say bad and {len(labelled) - bad} good; a fit "
            f"needs {LEAST_OF_EACH} of each"
        )
    slope, intercept = _platt(labelled)
    return Calibration(
        metric=metric,
        judge=judge,
        version=version,
        slope=slope,
        intercept=intercept,
        knots=isotonic_knots(labelled) if _curve_is_better(labelled) else (),
        threshold=threshold,
        labels=len(labelled),
        bad=bad,
    )


def held_out(labelled: Sequence[Labelled], *, seed: int = 0) -> HeldOut:
    """Five-fold cross-validation: every label is scored by a fit to the labels of other questions, about four fifths of
    them. Labels of a single question are held out one by one."""
    return _held_out(labelled, seed=seed, curve=_curve_is_better(labelled, seed=seed))


def _curve_is_better(labelled: Sequence[Labelled], *, seed: int = 0) -> bool:
    """Whether there are enough labels for a curve, and it does better than slope and intercept on those held out."""
    if len(labelled) < ISOTONIC_FROM:
        return False
    return _held_out(labelled, seed=seed, curve=True).after < _held_out(labelled, seed=seed, curve=False).after


def _held_out(labelled: Sequence[Labelled], *, seed: int, curve: bool) -> HeldOut:
    groups = by_question(labelled)
    if len(groups) < 2:
        groups = [[each] for each in labelled]
    random.Random(seed).shuffle(groups)
    before = after = weight = 0.0
    for fold in range(min(_FOLDS, len(groups))):
        tested = [each for group in groups[fold::_FOLDS] for each in group]
        others = (group for n, group in enumerate(groups) if n % _FOLDS != fold)
        rest = [each for group in others for each in group]
        knots = isotonic_knots(rest) if curve else ()
        slope, intercept = (1.0, 0.0) if knots else _platt(rest)
        for each in tested:
            judged = logit(each.risk)
            risk = sigmoid(mapped(knots, judged) if knots else slope * judged + intercept)
            before += each.weight * log_loss(each.risk, bad=each.bad)
            after += each.weight * log_loss(risk, bad=each.bad)
            weight += each.weight
    return HeldOut(before=before / weight, after=after / weight)


def isotonic_knots(labelled: Sequence[Labelled]) -> tuple[Knot, ...]:
    """Points of a rising curve in logits, from the judge's risk to the share of bad labels.

    Neighbouring risks are pooled until their shares rise (pool adjacent violators); a pool stands at its mean risk, so
    that the curve rises between any two and can be taken back. A pool's share is drawn in by one label of each kind.
    Source: Oron and Flournoy, "Centered Isotonic Regression", 2017. None (empty) where nothing rises.
    """
    pools: list[list[float]] = []  # [weight, weighted risk in logits, weighted bad, labels]
    for each in sorted(labelled, key=lambda each: each.risk):
        pools.append([each.weight, each.weight * logit(each.risk), each.weight * each.bad, 1])
        while len(pools) > 1 and pools[-2][2] * pools[-1][0] >= pools[-1][2] * pools[-2][0]:
            last = pools.pop()
            pools[-1] = [one + other for one, other in zip(pools[-1], last, strict=True)]
    knots: list[Knot] = []
    for weight, risk, bad, labels in pools:
        knot = risk / weight, logit((bad / weight * labels + 1) / (labels + 2))
        if not knots or (knot[0] > knots[-1][0] and knot[1] > knots[-1][1]):
            knots.append(knot)
    return tuple(knots) if len(knots) > 1 else ()


def log_loss(risk: float, *, bad: bool) -> float:
    """-ln of the probability that was given to the label; a risk of 0 or 1 counts as .0001 or .9999."""
    return math.log1p(math.exp(-logit(risk) if bad else logit(risk)))


def _platt(labelled: Sequence[Labelled]) -> tuple[float, float]:
    """Newton's method with backtracking on the weighted log-loss, with Platt's targets instead of 0 and 1.

    These targets prevent overfitting to few labels. Source: Lin, Lin and Weng, "A note on Platt's probabilistic
    outputs", 2007.
    """
    bad = sum(each.bad for each in labelled)
    targets = {True: (bad + 1) / (bad + 2), False: 1 / (len(labelled) - bad + 2)}
    mean_weight = sum(each.weight for each in labelled) / len(labelled)
    rows = [(logit(each.risk), targets[each.bad], each.weight / mean_weight) for each in labelled]
    slope, intercept = 1.0, 0.0
    loss = _loss(rows, slope, intercept)
    for _ in range(_STEPS):
        step_a, step_b = _newton_step(rows, slope, intercept)
        share = 1.0
        while share > _SMALLEST_SHARE:
            tried = _loss(rows, slope - share * step_a, intercept - share * step_b)
            if tried <= loss:
                break
            share /= 2
        slope, intercept, gained = slope - share * step_a, intercept - share * step_b, loss - tried
        loss = tried
        if abs(gained) < _CONVERGED:
            break
    return slope, intercept


_Row: TypeAlias = tuple[float, float, float]
"""(logit of the judge's risk, target, weight)"""


def _loss(rows: Sequence[_Row], slope: float, intercept: float) -> float:
    loss = _RIDGE * (slope - 1.0) ** 2 / 2
    for x, target, weight in rows:
        z = slope * x + intercept
        loss += weight * ((1 - target) * z + (math.log1p(math.exp(-z)) if z > 0 else math.log1p(math.exp(z)) - z))
    return loss


def _newton_step(rows: Sequence[_Row], slope: float, intercept: float) -> tuple[float, float]:
    """The inverse of the matrix of second derivatives, times the gradient."""
    gradient_a, gradient_b = _RIDGE * (slope - 1.0), 0.0
    aa, ab, bb = _RIDGE, 0.0, 1e-12
    for x, target, weight in rows:
        p = sigmoid(slope * x + intercept)
        error, curve = weight * (p - target), weight * max(p * (1 - p), 1e-12)
        gradient_a, gradient_b = gradient_a + error * x, gradient_b + error
        aa, ab, bb = aa + curve * x * x, ab + curve * x, bb + curve
    determinant = aa * bb - ab * ab
    return (bb * gradient_a - ab * gradient_b) / determinant, (aa * gradient_b - ab * gradient_a) / determinant
