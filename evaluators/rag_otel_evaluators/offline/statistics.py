"""Statistics of one metric over a data set: counts, reasons for missing scores, and the distribution of scores."""

from __future__ import annotations

import dataclasses
import math
import random
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rag_otel.evaluation.current_evaluation import add_usage
from rag_otel.model import WITHOUT_SCORE_BY_NATURE, Evaluation, Usage
from rag_otel_evaluators.offline.datasets import BAD_ROW

_RESAMPLES: Final = 2000
_FEWEST_RESAMPLES: Final = 200
_DRAWS: Final = 4_000_000
"""Approximate number of draws of one bootstrap. It bounds the time for large data sets to a few seconds."""
_NOT_LOST: Final = WITHOUT_SCORE_BY_NATURE | {BAD_ROW}
_TAIL: Final = 0.025
"""Share on each side of the interval, which contains 95%."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSummary:
    """The statistics of one metric. Scores are in 0..1. A figure is None if there are too few scores (`std` needs
    two)."""

    metric: str
    rows: int
    scored: int
    """Rows with a score. The figures below refer to these rows."""
    nulls: Mapping[str, int]
    """Reason code -> rows without a score, most frequent first."""
    flags: Mapping[str, int]
    """Reason code -> rows whose score has this caveat (`no_context`)."""
    mean: float | None
    interval: tuple[float, float] | None
    """95% bootstrap interval of the mean."""
    median: float | None
    std: float | None
    """Sample standard deviation (n - 1)."""
    minimum: float | None
    lower_quartile: float | None
    upper_quartile: float | None
    maximum: float | None
    mean_risk: float | None
    claims: int
    judged_claims: int
    usage: Usage
    failures: int
    """Rows on which the evaluator failed."""
    lost: int
    """Rows without a score because judging failed or stopped: failures, and answers of the judge that could not be
    used. Not those that could not be read, and answers that have no score by nature, such as abstentions."""

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values."""
        return dataclasses.asdict(self) | {"interval": None if self.interval is None else list(self.interval)}


def summarise(
    metric: str, evaluations: Sequence[Evaluation], questions: Sequence[str | None] | None = None
) -> MetricSummary:
    """Computes the statistics of one metric. `evaluations` and `questions` have one entry per row, in the same order.
    Without questions, the interval is None."""
    scores = [evaluation.score for evaluation in evaluations if evaluation.score is not None]
    risks = [evaluation.risk for evaluation in evaluations if evaluation.risk is not None]
    quartiles = statistics.quantiles(scores, n=4, method="inclusive") if len(scores) > 1 else scores * 3
    usage = Usage()
    for evaluation in evaluations:
        usage = add_usage(usage, evaluation.usage)
    return MetricSummary(
        metric=metric,
        rows=len(evaluations),
        scored=len(scores),
        nulls=_reasons(evaluation for evaluation in evaluations if evaluation.score is None),
        flags=_reasons(evaluation for evaluation in evaluations if evaluation.score is not None),
        mean=statistics.fmean(scores) if scores else None,
        interval=None if questions is None else bootstrap_interval(_by_question(evaluations, questions)),
        median=statistics.median(scores) if scores else None,
        std=statistics.stdev(scores) if len(scores) > 1 else None,
        minimum=min(scores, default=None),
        lower_quartile=quartiles[0] if quartiles else None,
        upper_quartile=quartiles[2] if quartiles else None,
        maximum=max(scores, default=None),
        mean_risk=statistics.fmean(risks) if risks else None,
        claims=sum(len(evaluation.claims) for evaluation in evaluations),
        judged_claims=sum(evaluation.judged_claims for evaluation in evaluations),
        usage=usage,
        failures=sum(evaluation.error_type is not None for evaluation in evaluations),
        lost=sum(evaluation.score is None and evaluation.reason_code not in _NOT_LOST for evaluation in evaluations),
    )


def bootstrap_interval(
    groups: Sequence[Sequence[float]], *, seed: int = 0, tail: float = _TAIL
) -> tuple[float, float] | None:
    """Returns the percentile bootstrap interval of the mean of all values: 95%, unless `tail`, the share on each side,
    is another. None for fewer than two groups.

    Whole groups are resampled, because values of one group (several answers to one question) are correlated. Resampling
    single values would make the interval too narrow. Source: Efron and Tibshirani, "An Introduction to the Bootstrap",
    1993, chapters 8 and 13.
    """
    if len(groups) < 2:
        return None
    totals = [(sum(group), len(group)) for group in groups]
    resamples = max(_FEWEST_RESAMPLES, min(_RESAMPLES, _DRAWS // len(groups)))
    draw = random.Random(seed).choices
    means = []
    for _ in range(resamples):
        drawn = draw(totals, k=len(totals))
        means.append(sum(total for total, _ in drawn) / sum(count for _, count in drawn))
    means.sort()
    return means[int(tail * resamples)], means[min(resamples - 1, int((1 - tail) * resamples))]


def expanded_tail(groups: int) -> float:
    """Returns the tail with which a percentile interval over so few groups contains 95%. At most 0.025.

    The percentile interval is too narrow by the factor sqrt((n - 1) / n) * z / t. Source: Hesterberg, "What Teachers
    Should Know About the Bootstrap", 2015 (expanded percentile interval), with the quantile of Student's t by the
    expansion in Abramowitz and Stegun, 26.7.5.

    >>> round(expanded_tail(10), 4), round(expanded_tail(1000), 4)
    (0.0086, 0.0248)
    """
    if groups < 2:
        return _TAIL
    normal, freedom = statistics.NormalDist(), groups - 1
    z = -normal.inv_cdf(_TAIL)
    t = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    t += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    return normal.cdf(-math.sqrt(groups / freedom) * t)


def _by_question(evaluations: Sequence[Evaluation], questions: Sequence[str | None]) -> list[list[float]]:
    """The scores grouped by question. A row without a question is a group."""
    groups: defaultdict[object, list[float]] = defaultdict(list)
    for position, (evaluation, question) in enumerate(zip(evaluations, questions, strict=True)):
        if evaluation.score is not None:
            groups[question or position].append(evaluation.score)
    return list(groups.values())


def _reasons(evaluations: Iterable[Evaluation]) -> dict[str, int]:
    return dict(Counter(str(each.reason_code) for each in evaluations if each.reason_code is not None).most_common())
