"""Logistic regression with a ridge penalty by Newton's method, in plain Python.

Plain so that training gives the same bytes everywhere: no linear algebra library whose last digits depend on the
machine. A few thousand rows of a dozen features take well under a second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rag_otel_evaluators.judges.embedded.verdicts import sigmoid

Matrix = list[list[float]]

_MOST_STEPS: Final = 25
_TOLERANCE: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class LogisticFit:
    """sigmoid(weights . x + intercept), on the features' own scales."""

    weights: tuple[float, ...]
    intercept: float


def fit_logistic(
    rows: Sequence[Sequence[float]], labels: Sequence[int], *, penalty: float, weights: Sequence[float] | None = None
) -> LogisticFit:
    """Minimise the log loss plus `penalty`/2 times the squared weights of the standardised features.

    `rows`: one vector per example, all of one length. `labels`: 0 or 1 each. `weights`: how much each example
    counts, 1 by default. The intercept is not penalised.
    Newton's method (iteratively reweighted least squares; Hastie et al., The Elements of Statistical Learning, 4.4.1).
    """
    example_weights = [1.0] * len(rows) if weights is None else weights
    centres, scales = _standardisation(rows)
    standard = [[1.0, *((value - c) / s for value, c, s in zip(row, centres, scales, strict=True))] for row in rows]
    size = len(centres) + 1
    ridge = [0.0] + [penalty] * (size - 1)
    beta = [0.0] * size
    for _ in range(_MOST_STEPS):
        gradient = [ridge[i] * beta[i] for i in range(size)]
        hessian = [[ridge[i] if i == j else 0.0 for j in range(size)] for i in range(size)]
        for row, label, counts in zip(standard, labels, example_weights, strict=True):
            probability = sigmoid(math.fsum(b * x for b, x in zip(beta, row, strict=True)))
            error, spread = counts * (probability - label), counts * probability * (1.0 - probability)
            for i, x in enumerate(row):
                gradient[i] += error * x
                scaled, line = spread * x, hessian[i]
                for j in range(i + 1):
                    line[j] += scaled * row[j]
        step = _solve(hessian, gradient)
        beta = [b - s for b, s in zip(beta, step, strict=True)]
        if max(abs(s) for s in step) < _TOLERANCE:
            break
    raw = tuple(b / s for b, s in zip(beta[1:], scales, strict=True))
    shift = math.fsum(weight * centre for weight, centre in zip(raw, centres, strict=True))
    return LogisticFit(weights=raw, intercept=beta[0] - shift)


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
