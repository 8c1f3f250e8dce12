"""Reads recorded telemetry: from an SDK reader, and from a real OTLP receiver."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.sdk.metrics.export import MetricsData
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import rag_otel
from testkit.http_receiver import Receiver
from testkit.settings import grouped

CHUNK = "The moon orbits the earth once a month."
ANSWER = "The moon orbits the earth. It is made of green cheese from Wisconsin."


def points(data: MetricsData | None, name: str) -> list[Any]:
    """The data points of one instrument. Empty if it has none."""
    return [
        point
        for resource in (data.resource_metrics if data else ())
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == name
        for point in metric.data.data_points
    ]


def exported_metrics(receiver: Receiver) -> dict[str, Any]:
    """The newest protobuf metric of each name that the receiver got."""
    return {
        metric.name: metric
        for body in _bodies(receiver, "/v1/metrics")
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }


def exported_events(receiver: Receiver) -> list[Any]:
    """Every protobuf log record that the receiver got."""
    return [
        record
        for body in _bodies(receiver, "/v1/logs")
        for resource in ExportLogsServiceRequest.FromString(body).resource_logs
        for scope in resource.scope_logs
        for record in scope.log_records
    ]


def instance_ids(receiver: Receiver) -> set[str]:
    """`service.instance.id` of everything that exported metrics."""
    return {
        attribute.value.string_value
        for body in _bodies(receiver, "/v1/metrics")
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics
        for attribute in resource.resource.attributes
        if attribute.key == "service.instance.id"
    }


def attributes(record: Any) -> dict[str, Any]:
    """Attributes of a protobuf record as plain values."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in record.attributes}


@rag_otel.observe(name="answer")
def answer(question: str = "What does the moon orbit?") -> str:
    """Returns an answer with one supported claim and one unsupported claim."""
    rag_otel.record_chunks([CHUNK])
    return ANSWER


def a_provider(**resource: str) -> tuple[TracerProvider, InMemorySpanExporter]:
    """A tracer provider and its exporter. Without an exporter, spans would not be held for their scores."""
    provider, exporter = TracerProvider(resource=Resource(dict(resource))), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider, exporter


def evaluate_answers(count: int = 1, **settings: Any) -> list[ReadableSpan]:
    """Calls `instrument()` with these settings, answers `count` questions and flushes. Returns the exported spans."""
    provider, exporter = a_provider()
    rag_otel.instrument(provider, **grouped(**settings))
    for _ in range(count):
        answer()
    assert rag_otel.flush(timeout=60)
    return list(exporter.get_finished_spans())


def ids(span: ReadableSpan) -> tuple[str, str]:
    """(trace id, span id) in hex."""
    assert span.context is not None
    return f"{span.context.trace_id:032x}", f"{span.context.span_id:016x}"


def _bodies(receiver: Receiver, path: str) -> Iterable[bytes]:
    for request in list(receiver.requests):
        if request.path == path:
            yield gzip.decompress(request.body) if request.headers.get("content-encoding") == "gzip" else request.body
