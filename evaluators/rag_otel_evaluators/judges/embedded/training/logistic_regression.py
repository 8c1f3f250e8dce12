"""Logistic regression with a ridge penalty by Newton's method, in plain Python.

Plain so that training gives the same bytes everywhere: no linear algebra library whose last digits depend on the
machine. A few thousand rows of a dozen features take well under a second.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from rag_otel_evaluators.judges.embedded.coefficients import sigmoid

Matrix = list[list[float]]

_MOST_STEPS: Final = 25
_TOLERANCE: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class LogisticFit:
    """sigmoid(weights . x + intercept), on the features' own scales."""

    weights: tuple[float, ...]
    intercept: float


def fit_logistic(
    rows: Sequence[Sequence[float]],
    labels: Sequence[int],
    *,
    penalty: float,
    weights: Sequence[float] | None = None,
    pairs: Sequence[Sequence[float]] = (),
    pair_weight: float = 1.0,
    pair_counts: Sequence[float] = (),
    at_least_zero: Collection[int] = (),
    towards: Sequence[float] = (),
) -> LogisticFit:
    """Minimise the log loss plus `penalty`/2 times the squared weights of the standardised features.

    `rows`: a vector per example, all of one length; none where there are only pairs. `labels`: 0 or 1 each. `weights`:
    how much each example counts, 1 by default. `pairs`: of two examples of which the second is the more likely 1, its
    vector minus the first one's; each counts `pair_weight`, times its own of `pair_counts` where given.
    They say nothing of the intercept, which is not penalised.
    `at_least_zero`: columns whose weight is left out where it would be negative. `towards`: weights that the penalty
    pulls to, instead of 0.
    Newton's method (iteratively reweighted least squares; Hastie et al., The Elements of Statistical Learning, 4.4.1);
    pairs as in Joachims, Optimizing Search Engines using Clickthrough Data, 2002, with the logistic loss.
    """
    example_weights = [1.0] * len(rows) if weights is None else weights
    centres, scales = _standardisation(rows) if rows else ([0.0] * len(pairs[0]), _standardisation(pairs)[1])
    if pairs and rows:  # a feature that hardly varies among the rows may among the pairs
        scales = [max(one, two / 2) for one, two in zip(scales, _standardisation(pairs)[1], strict=True)]
    standard = [[1.0, *((value - c) / s for value, c, s in zip(row, centres, scales, strict=True))] for row in rows]
    standard += [[0.0, *(value / s for value, s in zip(pair, scales, strict=True))] for pair in pairs]
    counts = [*example_weights, *(pair_weight * count for count in pair_counts or [1.0] * len(pairs))]
    wanted = [*labels, *(1 for _ in pairs)]
    pull = [weight * s for weight, s in zip(towards, scales, strict=True)] if towards else [0.0] * len(scales)
    ridge = [0.0 if rows else penalty, *(penalty for _ in scales)]  # pairs say nothing of the intercept: keep it 0
    columns = list(range(len(centres)))
    while True:
        kept = [0, *(c + 1 for c in columns)]
        reduced = [[row[c] for c in kept] for row in standard]
        beta = _newton(reduced, wanted, counts, [ridge[c] for c in kept], [0.0, *(pull[c] for c in columns)])
        negative = {c for c, weight in zip(columns, beta[1:], strict=True) if weight < 0.0 and c in at_least_zero}
        if not negative:
            break
        columns = [c for c in columns if c not in negative]
    found = dict(zip(columns, beta[1:], strict=True))
    raw = tuple(found.get(c, 0.0) / s for c, s in enumerate(scales))
    shift = math.fsum(weight * centre for weight, centre in zip(raw, centres, strict=True))
    return LogisticFit(weights=raw, intercept=beta[0] - shift)


def _newton(
    rows: Sequence[Sequence[float]],
    labels: Sequence[int],
    counts: Sequence[float],
    ridge: Sequence[float],
    pull: Sequence[float],
) -> list[float]:
    """The weights, the intercept first, that minimise the penalised log loss. `pull`: where the penalty is 0."""
    size = len(rows[0])
    beta = [0.0] * size
    for _ in range(_MOST_STEPS):
        gradient = [ridge[i] * (beta[i] - pull[i]) for i in range(size)]
        hessian = [[ridge[i] if i == j else 0.0 for j in range(size)] for i in range(size)]
        for row, label, count in zip(rows, labels, counts, strict=True):
            probability = sigmoid(math.fsum(b * x for b, x in zip(beta, row, strict=True)))
            error, spread = count * (probability - label), count * probability * (1.0 - probability)
            filled = [(i, x) for i, x in enumerate(row) if x]
            for place, (i, x) in enumerate(filled):
                gradient[i] += error * x
                scaled, line = spread * x, hessian[i]
                for j, other in filled[: place + 1]:
                    line[j] += scaled * other
        step = _solve(hessian, gradient)
        beta = [b - s for b, s in zip(beta, step, strict=True)]
        if max(abs(s) for s in step) < _TOLERANCE:
            break
    return beta


def _standardisation(rows: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    """Mean and standard deviation of each column; 1 for a column that never varies."""
    centres, scales = [], []
    for column in zip(*rows, strict=True):
        mean = math.fsum(column) / len(column)
        deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in column) / len(column))
        centres.append(mean)
        scales.append(deviation if deviation > 0.0 else 1.0)
    return centres, scales


def _solve(matrix: Matrix, right: list[float]) -> list[float]:
    """Solve a symmetric positive definite system (only the lower triangle is read) by Cholesky decomposition."""
    size = len(right)
    lower: Matrix = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            rest = matrix[i][j] - math.fsum(lower[i][k] * lower[j][k] for k in range(j))
            lower[i][j] = math.sqrt(rest) if i == j else rest / lower[j][j]
    forward: list[float] = []
    for i in range(size):
        forward.append((right[i] - math.fsum(lower[i][k] * forward[k] for k in range(i))) / lower[i][i])
    solution = [0.0] * size
    for i in reversed(range(size)):
        tail = math.fsum(lower[k][i] * solution[k] for k in range(i + 1, size))
        solution[i] = (forward[i] - tail) / lower[i][i]
    return solution
