"""OTLP/JSON as the OpenTelemetry Collector's file exporter writes it."""

from __future__ import annotations

from typing import Any

from rag_otel import semconv
from tests.collectors.conventions.spans import ANSWER, PARIS, QUESTION

RETRIEVED = f"{semconv.DOCUMENTS}.0.{semconv.DOCUMENT_CONTENT}"


def text_attributes(fields: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in fields.items()]


def a_json_span(trace_id: str = "b" * 32, span_id: str = "c" * 16, **changes: Any) -> dict[str, Any]:
    """An observed call with an answer and one document."""
    fields = {semconv.INPUT_VALUE: QUESTION, semconv.OUTPUT_VALUE: ANSWER, RETRIEVED: PARIS}
    return {"traceId": trace_id, "spanId": span_id, "name": "answer", "attributes": text_attributes(fields)} | changes


def a_request(*spans: dict[str, Any], scope: str = semconv.SCOPE) -> dict[str, Any]:
    """An export request with these spans. Without spans, with one observed call."""
    scope_spans = [{"scope": {"name": scope}, "spans": list(spans or [a_json_span()])}]
    resource = {"attributes": text_attributes({semconv.SERVICE_NAME: "shop"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": scope_spans}]}
