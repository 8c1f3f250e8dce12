"""A metric's figures, worked by hand."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_otel.model import Evaluation, Usage
from rag_otel.rendering.svg_charts import BINS, bin_counts
from rag_otel_evaluators.offline.datasets import Row
from rag_otel_evaluators.offline.results import Result, Results
from rag_otel_evaluators.offline.statistics import bootstrap_interval, summarise


def results_of(*evaluations: Evaluation, questions: list[str] | None = None) -> Results:
    """One row for each evaluation."""
    rows = [
        Row(number=number, values={}, question=questions[number - 1] if questions else None)
        for number in range(1, len(evaluations) + 1)
    ]
    results = tuple(Result(row=row, evaluations=(each,)) for row, each in zip(rows, evaluations, strict=True))
    return Results(results=results, metrics=("m",))


def evaluation(score: float | None, **changes: Any) -> Evaluation:
    return Evaluation(name="m", score=score, **changes)


def test_figures() -> None:
    """Means are over the rows with a score; the others are counted by their reason."""
    usage = Usage(input_tokens=10, output_tokens=2, cost_usd=0.5, calls=1)
    summary = summarise(
        "m",
        results_of(
            *(evaluation(score, risk=0.5, usage=usage) for score in (0.0, 0.25, 0.75, 1.0)),
            evaluation(0.0, reason_code="no_context"),
            evaluation(None, reason_code="timeout", error_type="x"),
            evaluation(None, reason_code="abstained"),
            evaluation(None, reason_code="timeout", error_type="x"),
        ),
    )
    assert (summary.rows, summary.scored, summary.failures) == (8, 5, 2)
    assert list(summary.nulls.items()) == [("timeout", 2), ("abstained", 1)]
    assert dict(summary.flags) == {"no_context": 1}
    assert (summary.mean, summary.median, summary.minimum, summary.maximum) == (0.4, 0.25, 0.0, 1.0)
    assert (summary.lower_quartile, summary.upper_quartile) == (0.0, 0.75)
    assert summary.std == pytest.approx((0.825 / 4) ** 0.5)
    assert summary.mean_risk == 0.5
    assert summary.usage == Usage(input_tokens=40, output_tokens=8, cost_usd=2.0, calls=4)


@pytest.mark.parametrize(("scores", "mean"), [([], None), ([None, None], None), ([0.5], 0.5), ([None, 0.25], 0.25)])
def test_too_few_for_a_figure(scores: list[float | None], mean: float | None) -> None:
    """What cannot be told is None, never NaN and never an error."""
    summary = summarise("m", results_of(*(evaluation(score) for score in scores)))
    assert (summary.mean, summary.std, summary.interval) == (mean, None, None)


def test_the_interval_of_a_coin() -> None:
    """400 fair coins: the mean's standard error is 0.025, so the interval is about 0.05 on each side."""
    low, high = bootstrap_interval([[float(n % 2)] for n in range(400)]) or (0.0, 0.0)
    assert low == pytest.approx(0.451, abs=0.01)
    assert high == pytest.approx(0.549, abs=0.01)


def test_answers_to_one_question_are_not_independent() -> None:
    """Ten answers to each of twenty questions that agree tell as much as twenty answers."""
    scores = [float(question % 2) for question in range(20) for _ in range(10)]
    questions = [f"q{question}" for question in range(20) for _ in range(10)]
    evaluations = [evaluation(score) for score in scores]
    together = summarise("m", results_of(*evaluations, questions=questions)).interval or (0.0, 0.0)
    alone = summarise("m", results_of(*evaluations)).interval or (0.0, 0.0)
    assert together[1] - together[0] > 2.5 * (alone[1] - alone[0])


scores = st.lists(st.floats(0.0, 1.0), min_size=2, max_size=30)


@settings(deadline=None)
@given(scores)
def test_figures_lie_where_they_must(values: list[float]) -> None:
    """In order, within 0..1, and the same for the same data."""
    results = results_of(*(evaluation(value) for value in values))
    summary = summarise("m", results)
    assert summary.interval is not None
    five = (summary.minimum, summary.lower_quartile, summary.median, summary.upper_quartile, summary.maximum)
    assert all(a <= b + 1e-12 for a, b in itertools.pairwise(five))  # type: ignore[operator]
    assert min(values) - 1e-12 <= summary.interval[0] <= summary.interval[1] <= max(values) + 1e-12
    assert summary == summarise("m", results)


@settings(deadline=None)
@given(scores)
def test_every_score_is_in_one_bin(values: list[float]) -> None:
    """None is lost at the borders; 1 is in the last bin."""
    counts = bin_counts(values)
    assert (sum(counts), len(counts)) == (len(values), BINS)


@pytest.mark.parametrize(("score", "position"), [(0.0, 0), (0.05, 1), (0.15, 3), (0.1499, 2), (0.95, 19), (1.0, 19)])
def test_borders_of_bins(score: float, position: int) -> None:
    """A bin begins at its border, whatever floating point makes of it."""
    assert bin_counts([score])[position] == 1
