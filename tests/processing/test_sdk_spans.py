"""SDK spans as records, and copies of them."""

from __future__ import annotations

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.trace import Status, StatusCode, format_span_id, format_trace_id

from rag_otel import model
from rag_otel.processing.sdk_spans import enriched, span_record
from tests.processing.kit import Direct, Exported


def ended_span() -> ReadableSpan:
    """A child span with a bit of everything, cut by its limits."""
    exported = Exported()
    provider = TracerProvider(
        shutdown_on_exit=False, resource=Resource({"service.name": "shop"}), span_limits=SpanLimits(max_attributes=4)
    )
    provider.add_span_processor(Direct(exported))
    tracer = provider.get_tracer("scope", "1.2")
    with tracer.start_as_current_span("parent"), tracer.start_as_current_span("child") as span:
        for n in range(6):
            span.set_attribute(f"key.{n}", ["a", "b"] if n == 5 else n)
        span.add_event("cache", {"hit": True})
        span.set_status(Status(StatusCode.ERROR, "no"))
    return exported.one("child")


def test_a_record_says_what_the_span_says() -> None:
    """Ids in hex, parent, scope, resource, status, times, events and how much was dropped."""
    span = ended_span()
    record = span_record(span)
    assert record.trace_id == format_trace_id(span.context.trace_id)
    assert record.span_id == format_span_id(span.context.span_id)
    assert span.parent is not None
    assert record.parent_id == format_span_id(span.parent.span_id)
    assert record.name == "child"
    assert record.scope == "scope"
    assert record.resource["service.name"] == "shop"
    assert record.status is model.StatusCode.ERROR
    assert (record.start_ns, record.end_ns) == (span.start_time, span.end_time)
    assert dict(record.attributes) == {"key.2": 2, "key.3": 3, "key.4": 4, "key.5": ("a", "b")}
    assert [(name, dict(attributes)) for name, attributes in record.events] == [("cache", {"hit": True})]
    assert record.dropped_attributes == 2


def test_a_copy_encodes_like_the_original_and_more() -> None:
    """On the wire the copy is the original plus the extra attributes, limits or not."""
    span = ended_span()
    copy = enriched(span, {"score": 0.5, "claims": ["x", "y"], "key.2": 7})
    (before,), (after,) = (encode_spans([each]).resource_spans[0].scope_spans[0].spans for each in (span, copy))
    added = {item.key for item in after.attributes} - {item.key for item in before.attributes}
    assert added == {"score", "claims"}
    assert copy.attributes is not None
    assert copy.attributes["key.2"] == 7
    assert copy.attributes["claims"] == ("x", "y")
    del before.attributes[:], after.attributes[:]
    assert after == before
