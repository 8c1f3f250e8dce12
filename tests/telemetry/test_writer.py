"""What a result records in the instruments."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from rag_otel.model import EvaluatedTrace, Usage
from rag_otel.telemetry import names
from rag_otel.telemetry.instruments import Instruments
from rag_otel.telemetry.labels import OTHER
from rag_otel.telemetry.writer import TelemetryWriter
from tests.support.results import SECRET_TEXTS, a_result, an_evaluation
from tests.telemetry.kit import points


class Recorded:
    """A writer on an SDK meter, with access to the recorded data."""

    def __init__(self, max_values: int = 50) -> None:
        self.reader = InMemoryMetricReader()
        instruments = Instruments(MeterProvider([self.reader]))
        self.writer = TelemetryWriter(lambda: instruments, max_values=max_values)

    def write(self, *results: EvaluatedTrace) -> Recorded:
        self.writer.write(results)
        return self

    def points(self, row: names.Instrument) -> list[Any]:
        return points(self.reader.get_metrics_data(), row.name)


def test_scores_fall_into_buckets_whose_edges_are_thresholds() -> None:
    """A score at an edge belongs to the bucket below it. Scores of exactly 1 have a separate bucket."""
    recorded = Recorded().write(*(a_result(an_evaluation(score=score)) for score in (0.7, 0.71, 0.999, 1.0)))
    (point,) = recorded.points(names.SCORE)
    assert point.explicit_bounds == names.SCORE_EDGES
    assert list(point.bucket_counts) == [0, 0, 0, 1, 1, 0, 0, 1, 1]
    assert recorded.points(names.RISK)[0].count == 4


def test_an_exemplar_points_to_the_evaluated_span() -> None:
    """Histograms and counters have the ids of the evaluated span, which has already ended."""
    result = a_result()
    data = Recorded().write(result).reader.get_metrics_data()  # once: the SDK hands out each exemplar once
    for row in (names.SCORE, names.CLAIMS, names.EVALUATIONS):
        exemplar = points(data, row.name)[0].exemplars[0]
        assert f"{exemplar.trace_id:032x}" == result.trace.target.trace_id
        assert f"{exemplar.span_id:016x}" == result.trace.target.span_id


def test_claims_are_counted_by_verdict_for_whom_they_were_made() -> None:
    """Metric, judge, service, route, tenant and model are labels."""
    recorded = Recorded().write(a_result(tags={"tenant": "acme", "mood": "good"}, model="gpt-4o-mini"))
    found = {point.attributes["verdict"]: point for point in recorded.points(names.CLAIMS)}
    assert {verdict: point.value for verdict, point in found.items()} == {
        "supported": 1,
        "not_enough_info": 1,
        "contradicted": 1,
    }
    assert dict(found["contradicted"].attributes) == {
        "verdict": "contradicted",
        "metric": "faithfulness",
        "judge": "embedded",
        "service": "observatory",
        "route": "answer",
        "tenant": "acme",
        "model": "gpt-4o-mini",
    }


@pytest.mark.parametrize(
    ("changes", "outcome", "reason"),
    [
        ({}, "scored", None),
        ({"score": None, "reason_code": "abstained"}, "unscored", "abstained"),
        ({"score": None, "reason_code": "timeout", "error_type": "builtins.TimeoutError"}, "failed", "timeout"),
    ],
)
def test_every_evaluation_has_an_outcome(changes: dict[str, Any], outcome: str, reason: str | None) -> None:
    """Scored, unscored with a reason, or failed."""
    (point,) = Recorded().write(a_result(an_evaluation(**changes))).points(names.EVALUATIONS)
    assert (point.attributes["outcome"], point.attributes.get("reason"), point.value) == (outcome, reason, 1)


def test_an_evaluation_without_a_score_leaves_the_histogram_alone() -> None:
    """A missing score is not recorded as a number."""
    recorded = Recorded().write(a_result(an_evaluation(score=None, risk=None, reason_code="abstained")))
    assert recorded.points(names.SCORE) == recorded.points(names.RISK) == []


def test_what_a_judge_takes_is_added_up() -> None:
    """Seconds, tokens by direction, and dollars. An unknown cost is not recorded as 0."""
    priced = an_evaluation(duration_s=2.0, usage=Usage(input_tokens=100, output_tokens=20, cost_usd=0.5, calls=1))
    unpriced = an_evaluation(judge="mine", duration_s=1.0, usage=Usage(input_tokens=7, calls=1))
    recorded = Recorded().write(a_result(priced), a_result(priced), a_result(unpriced))
    tokens = {(p.attributes["judge"], p.attributes["direction"]): p.value for p in recorded.points(names.JUDGE_TOKENS)}
    assert tokens == {("embedded", "input"): 200, ("embedded", "output"): 40, ("mine", "input"): 7}
    assert {p.attributes["judge"]: p.value for p in recorded.points(names.JUDGE_COST)} == {"embedded": 1.0}
    assert {p.attributes["judge"]: p.sum for p in recorded.points(names.JUDGE_DURATION)} == {"embedded": 4, "mine": 1}


def test_labels_stay_few() -> None:
    """Values beyond the maximum become `other`. Earlier values keep their series; half of the places are for values
    that keep coming, however many others come once."""
    recorded = Recorded(max_values=4)
    for n in (*range(10), 0):
        recorded.write(a_result(tags={"tenant": f"t{n}"}))
    by_tenant = {point.attributes["tenant"]: point.count for point in recorded.points(names.SCORE)}
    assert by_tenant == {"t0": 2, "t1": 1, OTHER: 8}
    for n in range(2000):
        recorded.write(a_result(tags={"tenant": "customer" if n % 40 == 0 else f"scanned-{n}"}))
    by_tenant = {point.attributes["tenant"]: point.count for point in recorded.points(names.SCORE)}
    assert by_tenant.keys() == {"t0", "t1", "customer", OTHER}
    assert by_tenant["customer"] == 31


def test_content_is_no_label() -> None:
    """No text of question, answer or chunks is in any series. A tenant that is a long text becomes `other`."""
    recorded = Recorded().write(a_result(tags={"tenant": "What does the moon orbit? " * 10}))
    data = recorded.reader.get_metrics_data()
    assert data is not None
    told = data.to_json()
    assert '"tenant": "other"' in told
    assert [text for text in SECRET_TEXTS if text in told] == []


def test_series_are_bounded_by_their_combinations() -> None:
    """50 routes, 20 tenants and 5 models would be 5,000 combinations of about 30 series each."""
    recorded = Recorded()
    recorded.write(
        *(
            a_result(
                an_evaluation(score=0.5), route=f"route-{n % 50}", tags={"tenant": f"t-{n % 20}"}, model=f"m-{n % 7}"
            )
            for n in range(7000)
        )
    )
    data = recorded.reader.get_metrics_data()
    assert len(points(data, names.SCORE.name)) <= 101
    assert len(points(data, names.CLAIMS.name)) <= 3 * 101
    assert sum(point.count for point in points(data, names.SCORE.name)) == 7000
    services = {point.attributes["service"] for point in points(data, names.SCORE.name)}
    assert services == {"observatory"}


def test_the_rarest_detail_is_lost_first() -> None:
    """Tenants go before models, models before routes."""
    recorded = Recorded()
    recorded.write(*(a_result(route="a", tags={"tenant": f"t-{n % 49}"}, model="m") for n in range(20 * 49)))
    recorded.write(*(a_result(route=f"r-{n}", tags={"tenant": "t-0"}, model="m") for n in range(10)))
    kept = {(point.attributes["route"], point.attributes["tenant"]) for point in recorded.points(names.SCORE)}
    assert {("a", f"t-{n}") for n in range(49)} <= kept
    assert {("r-0", OTHER), ("r-9", OTHER)} <= kept
