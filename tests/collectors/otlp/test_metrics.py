"""`/metrics` of the collector: evaluations, and the collector's queues."""

from __future__ import annotations

import urllib.request
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain_text

from rag_otel.safety.guard import counters
from rag_otel.telemetry.instruments import gauge_samples
from rag_otel.telemetry.names import BREAKER_OPEN
from rag_otel_collectors.otlp.evaluation.pool import EvaluationPool
from testkit.collector import Backend, CollectorProcess, a_backend, a_collector
from testkit.http_receiver import http_receiver
from testkit.otlp_requests import a_rag_trace, a_request
from testkit.polling import eventually
from tests.telemetry.kit import exported_events, exported_metrics

pytestmark = pytest.mark.server


def _samples(collector: CollectorProcess, name: str) -> list[Any]:
    text = collector.get("/metrics")[1]
    return [sample for family in plain_text(text) for sample in family.samples if sample.name == name]


def _total(collector: CollectorProcess, name: str, **labels: str) -> float:
    found = [sample for sample in _samples(collector, name) if labels.items() <= sample.labels.items()]
    return float(sum(sample.value for sample in found))


def test_scores_of_what_passed_are_shown_with_their_traces(backend: Backend, collector: CollectorProcess) -> None:
    """An evaluation in another process is counted here, and its bucket has the trace id."""
    spans = a_rag_trace()
    collector.export(a_request(*spans))
    eventually(lambda: _total(collector, "rag_otel_evaluations_total", outcome="scored", service="shop") >= 1)
    eventually(lambda: _total(collector, "rag_otel_traces_total", status="evaluated") >= 1)
    eventually(lambda: _total(collector, "rag_otel_claims_total", verdict="supported", route="answer") >= 1)
    eventually(lambda: _total(collector, "rag_otel_judge_duration_seconds_count", metric="faithfulness") >= 1)
    assert _total(collector, "rag_otel_collector_received_spans_total") >= len(spans)
    for name in ("rag_otel_judge_breaker_open", "rag_otel_queue_items", "rag_otel_held_spans"):
        assert [sample.value for sample in eventually(lambda name=name: _zero(collector, name))] == [0]
    request = urllib.request.Request(
        f"{collector.http_address}/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        families = list(open_metrics(answer.read().decode()))
    named = {
        sample.exemplar.labels["trace_id"]
        for family in families
        for sample in family.samples
        if sample.name == "rag_otel_evaluation_score_bucket" and sample.exemplar
    }
    assert spans[0].trace_id.hex() in named
    names = {family.name for family in families}
    assert "rag_otel_collector_requests" in names
    assert {name for name in names if not name.startswith("rag_otel_")} <= {"target"}  # OpenMetrics' own target_info


def _zero(collector: CollectorProcess, name: str) -> list[Any]:
    return [sample for sample in _samples(collector, name) if sample.value == 0]


async def test_what_an_evaluation_process_counts_and_reads_is_told() -> None:
    """Cache hits and an open breaker of an evaluation process are in the collector's metrics while it runs."""
    hits, misses = counters.get("judge.cache.hit"), counters.get("judge.cache.miss")
    pool = EvaluationPool(
        ("-m", "tests.collectors.otlp.counting_worker"),
        "",
        workers=1,
        concurrency=1,
        patience_s=60,
    )
    try:
        await pool.start()
        for _ in range(3):
            await pool.evaluate(None)
        assert counters.get("judge.cache.hit") == hits + 2
        assert counters.get("judge.cache.miss") == misses + 1
        assert gauge_samples(BREAKER_OPEN) == [(1.0, {})]
    finally:
        await pool.close()


def test_metrics_and_events_go_out_before_the_collector_ends(tmp_path: Path) -> None:
    """With OTLP export, pending data are exported at SIGTERM."""
    with http_receiver() as receiver, a_backend() as backend:
        signals = {"METRICS": "metrics", "LOGS": "logs"}
        env = {f"OTEL_EXPORTER_OTLP_{name}_ENDPOINT": f"{receiver.url}/v1/{path}" for name, path in signals.items()}
        options = ("--set", "telemetry_exporter=otlp")
        with a_collector(tmp_path, "--backend", backend.address, *options, env=env) as collector:
            spans = a_rag_trace()
            collector.export(a_request(*spans))
            eventually(lambda: backend.attributes("answer"))
            assert collector.stop() == 0
        (point,) = exported_metrics(receiver)["rag_otel.evaluation.score"].histogram.data_points
        assert [exemplar.trace_id for exemplar in point.exemplars] == [spans[0].trace_id]
        assert {event.trace_id for event in exported_events(receiver)} == {spans[0].trace_id}
