"""`/metrics` of the collector: what it evaluates, beside what it moves."""

from __future__ import annotations

import urllib.request
from typing import Any

from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain_text

from tests.collect.kit import Backend, CollectorProcess, a_backend, a_collector, a_rag_trace, a_request, eventually


def _samples(collector: CollectorProcess, name: str) -> list[Any]:
    text = collector.get("/metrics")[1]
    return [sample for family in plain_text(text) for sample in family.samples if sample.name == name]


def _total(collector: CollectorProcess, name: str, **labels: str) -> float:
    found = [sample for sample in _samples(collector, name) if labels.items() <= sample.labels.items()]
    return float(sum(sample.value for sample in found))


def test_scores_of_what_passed_are_shown_with_their_traces(backend: Backend, collector: CollectorProcess) -> None:
    """An evaluation in another process is counted here, and its bucket names the trace."""
    spans = a_rag_trace()
    collector.export(a_request(*spans))
    eventually(lambda: _total(collector, "rag_otel_evaluations_total", outcome="scored", service="shop") >= 1)
    assert _total(collector, "rag_otel_traces_total", status="evaluated") >= 1
    assert _total(collector, "rag_otel_claims_total", verdict="supported", route="answer") >= 1
    assert _total(collector, "rag_otel_judge_duration_seconds_count", metric="faithfulness") >= 1
    assert _total(collector, "rag_otel_collector_received_spans_total") >= len(spans)
    for name in ("rag_otel_judge_breaker_open", "rag_otel_queue_items", "rag_otel_held_spans"):
        assert [sample.value for sample in eventually(lambda name=name: _zero(collector, name))] == [0]
    request = urllib.request.Request(
        f"{collector.http_address}/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"}
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        families = list(open_metrics(answer.read().decode()))
    named = {
        sample.exemplar.labels["trace_id"]
        for family in families
        for sample in family.samples
        if sample.name == "rag_otel_evaluation_score_bucket" and sample.exemplar
    }
    assert spans[0].trace_id.hex() in named
    assert "rag_otel_collector_requests" in {family.name for family in families}


def _zero(collector: CollectorProcess, name: str) -> list[Any]:
    return [sample for sample in _samples(collector, name) if sample.value == 0]


def test_what_an_evaluation_process_counts_is_told(tmp_path: Any) -> None:
    """A judge that cannot be reached: failures, retries and the open breaker show on the collector's own page."""
    with (
        a_backend() as backend,
        a_collector(
            tmp_path,
            "--backend",
            backend.address,
            *("--set", "judge=openai/gpt-4o-mini", "--set", "judge_api_base=http://127.0.0.1:9/v1"),
            *("--set", "evaluations_per_minute=600", "--set", "hold=2", "--set", "evaluation_timeout=3"),
            env={"OPENAI_API_KEY": "no-key"},
        ) as collector,
    ):

        def fails() -> bool:
            collector.export(a_request(*a_rag_trace()))
            return _total(collector, "rag_otel_judge_breaker_open") == 1

        eventually(fails, within_s=90)
        eventually(lambda: _total(collector, "rag_otel_evaluations_total", outcome="failed") >= 1)
