"""Metrics and events over OTLP, received by a real OTLP server."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest
from opentelemetry.instrumentation.requests import RequestsInstrumentor
from opentelemetry.sdk.trace import TracerProvider

import rag_otel
from rag_otel.errors import ConfigurationError
from testkit.http_receiver import Receiver
from tests.telemetry.kit import (
    a_provider,
    answer,
    attributes,
    evaluate_answers,
    exported_events,
    exported_metrics,
    ids,
    instance_ids,
)


def test_scores_arrive_with_the_trace_that_they_belong_to(receiver: Receiver) -> None:
    """The histogram's exemplar has the ids of the evaluated span."""
    provider, exporter = a_provider()
    rag_otel.instrument(provider, telemetry=rag_otel.TelemetrySettings(exporter="otlp"))
    answer()
    assert rag_otel.flush(timeout=60)
    metric = exported_metrics(receiver)["rag_otel.evaluation.score"]
    (span,) = exporter.get_finished_spans()
    (point,) = metric.histogram.data_points
    (exemplar,) = point.exemplars
    assert (exemplar.trace_id.hex(), exemplar.span_id.hex()) == ids(span)
    assert exemplar.as_double == pytest.approx(0.5)


def test_counts_and_readings_of_the_process_arrive_too(receiver: Receiver) -> None:
    """Counts of traces, the queue and held spans are exported too."""
    evaluate_answers(telemetry_exporter="otlp")
    found = exported_metrics(receiver)
    statuses = {attributes(point)["status"] for point in found["rag_otel.traces"].sum.data_points}
    assert "evaluated" in statuses
    assert found["rag_otel.traces"].sum.is_monotonic
    for name in ("rag_otel.held_spans", "rag_otel.queue_items", "rag_otel.queue.age", "rag_otel.judge.breaker_open"):
        assert len(found[name].gauge.data_points) == 1, name


def test_an_event_belongs_to_the_evaluated_span(receiver: Receiver) -> None:
    """`gen_ai.evaluation.result` for the score and for the risk, with the ids of the span."""
    provider, exporter = a_provider()
    rag_otel.instrument(provider, telemetry=rag_otel.TelemetrySettings(exporter="otlp"))
    answer()
    assert rag_otel.flush(timeout=60)
    events = exported_events(receiver)
    (span,) = exporter.get_finished_spans()
    assert {(event.trace_id.hex(), event.span_id.hex()) for event in events} == {ids(span)}
    assert {event.event_name for event in events} == {"gen_ai.evaluation.result"}
    found = {attributes(event)["gen_ai.evaluation.name"]: attributes(event) for event in events}
    assert set(found) == {"faithfulness", "hallucination_risk"}
    assert found["faithfulness"]["gen_ai.evaluation.score.value"] == pytest.approx(0.5)
    assert found["faithfulness"]["gen_ai.evaluation.score.label"] in ("faithful", "unfaithful")
    assert "green cheese" in found["faithfulness"]["gen_ai.evaluation.explanation"]
    assert found["faithfulness"]["rag.sampling.probability"] == 1.0


def test_hidden_content_is_in_no_event(receiver: Receiver) -> None:
    """The explanation only counts claims and contains no text."""
    evaluate_answers(telemetry_exporter="otlp", capture_content=False)
    events = exported_events(receiver)
    sent = b"".join(request.body for request in receiver.requests)
    assert attributes(events[0])["gen_ai.evaluation.explanation"] == "1 of 2 claims unsupported"
    assert b"cheese" not in sent


def test_exporting_is_not_traced(receiver: Receiver) -> None:
    """An application that traces its HTTP calls gets no spans of rag-otel's exports."""
    provider, exporter = a_provider()
    RequestsInstrumentor().instrument(tracer_provider=provider)
    try:
        rag_otel.instrument(
            provider,
            telemetry=rag_otel.TelemetrySettings(exporter="otlp"),
        )
        answer()
        assert rag_otel.flush(timeout=60)
        assert {request.path for request in receiver.requests} >= {"/v1/metrics", "/v1/logs"}
    finally:
        RequestsInstrumentor().uninstrument()
    assert [span.name for span in exporter.get_finished_spans()] == ["answer"]


def test_what_is_left_goes_out_when_the_set_up_is_taken_down(receiver: Receiver) -> None:
    """`uninstrument()` exports once more and ends the exporter's thread."""
    provider, _ = a_provider()
    rag_otel.instrument(provider, telemetry=rag_otel.TelemetrySettings(exporter="otlp"))
    answer()
    rag_otel.uninstrument()
    assert "rag_otel.evaluation.score" in exported_metrics(receiver)
    before = len(receiver.requests)
    answer()
    assert rag_otel.flush(timeout=60)
    assert len(receiver.requests) == before


def test_a_forked_child_reports_its_own_numbers_under_its_own_name(receiver: Receiver) -> None:
    """The parent evaluates twice and the child once. Each reports only its own evaluations."""
    evaluate_answers(2, telemetry_exporter="otlp")
    parent = _evaluations(receiver)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(50)
            answer()
            status = 0 if rag_otel.flush(timeout=40) else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (parent, _evaluations(receiver)) == (2, 1)
    assert len(instance_ids(receiver)) == 2


def test_a_protocol_that_cannot_be_spoken_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error for an unsupported protocol names the variable to change."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "carrier-pigeon")
    with pytest.raises(ConfigurationError, match="OTEL_EXPORTER_OTLP_PROTOCOL"):
        rag_otel.instrument(TracerProvider(), telemetry=rag_otel.TelemetrySettings(exporter="otlp"))


def _evaluations(receiver: Any) -> float:
    (point,) = exported_metrics(receiver)["rag_otel.evaluations"].sum.data_points
    return float(point.as_int or point.as_double)
