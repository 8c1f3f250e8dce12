"""RAG traces as OTLP requests, to be sent to a collector."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from rag_otel import semconv
from rag_otel_collectors.otlp.requests.wire import attribute_bytes

QUESTION = "When was the lighthouse of Kap Arkona built?"
ANSWER = "The lighthouse of Kap Arkona was built in 1827."
CHUNK = "The lighthouse of Kap Arkona was built in 1827 and is 19.3 metres high."
LANGCHAIN = "openinference.instrumentation.langchain"


def a_span(
    trace_id: bytes,
    name: str = "span",
    *,
    span_id: bytes | None = None,
    parent: bytes = b"",
    attributes: Mapping[str, Any] | None = None,
) -> Span:
    now = time.time_ns()
    span = Span(
        trace_id=trace_id,
        span_id=span_id or os.urandom(8),
        parent_span_id=parent,
        name=name,
        start_time_unix_nano=now - 1_000_000,
        end_time_unix_nano=now,
    )
    span.MergeFromString(attribute_bytes(attributes or {}))
    return span


def a_rag_trace(trace_id: bytes | None = None, *, answer: str = ANSWER, chunk: str = CHUNK) -> list[Span]:
    """A chain over a retriever, in OpenInference: the child first, as exporters send it."""
    trace_id = trace_id or os.urandom(16)
    root = os.urandom(8)
    documents = {
        semconv.SPAN_KIND: semconv.KIND_RETRIEVER,
        semconv.INPUT_VALUE: QUESTION,
        f"{semconv.DOCUMENTS}.0.{semconv.DOCUMENT_CONTENT}": chunk,
        f"{semconv.DOCUMENTS}.0.{semconv.DOCUMENT_ID}": "kap-arkona",
    }
    texts = {
        semconv.SPAN_KIND: semconv.KIND_CHAIN,
        semconv.INPUT_VALUE: QUESTION,
        semconv.OUTPUT_VALUE: answer,
    }
    return [
        a_span(trace_id, "retrieve", parent=root, attributes=documents),
        a_span(trace_id, "answer", span_id=root, attributes=texts),
    ]


def a_request(*spans: Span, scope: str = LANGCHAIN) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    resource_spans = request.resource_spans.add()
    resource_spans.resource.attributes.add(key=semconv.SERVICE_NAME).value.string_value = "shop"
    scope_spans = resource_spans.scope_spans.add()
    scope_spans.scope.name = scope
    scope_spans.spans.extend(spans)
    return request
