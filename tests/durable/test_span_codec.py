"""A span is the same after it was written and read."""

from __future__ import annotations

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Link, SpanKind, Status, StatusCode

from rag_otel.durable.span_codec import decode, encode


def spans() -> tuple[ReadableSpan, ...]:
    """A parent and a child with everything that a span can have."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(
        resource=Resource({"service.name": "shop"}, "https://opentelemetry.io/schemas/1.30.0"),
        span_limits=SpanLimits(max_span_attributes=6, max_events=1, max_links=1),
    )
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("app", "1.2", "https://example.com/schema", {"scope": "yes"})
    with tracer.start_as_current_span("parent") as parent:
        parent.set_attribute("text", "Zürich")
        links = [Link(parent.get_span_context(), {"n": number}) for number in range(2)]
        child = tracer.start_span("child", kind=SpanKind.CLIENT, links=links)
        for key, value in {
            "dropped": 1,
            "flag": True,
            "number": -(2**40),
            "score": 0.25,
            "list": ["a", "b"],
            "empty": "",
            "bytes": b"\xff\x00",
        }.items():
            child.set_attribute(key, value)  # type: ignore[arg-type]
        child.add_event("first", {"a": 1})
        child.add_event("second", {"b": [1.5, 2.5]})
        child.set_status(Status(StatusCode.ERROR, "it broke"))
        child.end()
    return exporter.get_finished_spans()


def test_what_is_read_is_what_was_written() -> None:
    """Also the counts of what the limits have dropped; and what is encoded again is the same to the byte."""
    written = spans()
    request = encode(written)
    read = decode(request)
    assert encode(read) == request
    for before, after in zip(written, read, strict=True):
        assert after.name == before.name
        assert after.context.span_id == before.context.span_id
        assert after.context.trace_id == before.context.trace_id
        assert dict(after.attributes or {}) == dict(before.attributes or {})
        assert (after.parent is None) == (before.parent is None)
        assert after.kind == before.kind
        assert after.status.status_code == before.status.status_code
        assert after.status.description == before.status.description
        assert (after.start_time, after.end_time) == (before.start_time, before.end_time)
        assert [(each.name, dict(each.attributes or {})) for each in after.events] == [
            (each.name, dict(each.attributes or {})) for each in before.events
        ]
        assert len(after.links) == len(before.links)
        assert after.resource == before.resource
        assert after.instrumentation_scope == before.instrumentation_scope
        assert (after.dropped_attributes, after.dropped_events, after.dropped_links) == (
            before.dropped_attributes,
            before.dropped_events,
            before.dropped_links,
        )
