"""Spans of the SDK as OTLP bytes, and back: what is kept on disk is what goes over the network.

Imported only where a state folder is set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.trace.v1 import trace_pb2
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util import BoundedList
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState

_PARENT_IS_REMOTE: Final = 0x200
"""Bit of `Span.flags`, https://github.com/open-telemetry/opentelemetry-proto (trace.proto, SpanFlags)."""


def encode(spans: Sequence[ReadableSpan]) -> bytes:
    """A serialised ExportTraceServiceRequest of these spans."""
    return bytes(encode_spans(spans).SerializeToString())


def decode(request: bytes) -> list[ReadableSpan]:
    """The spans of a serialised request, in its order. Raises DecodeError for anything else."""
    return [span for group in ExportTraceServiceRequest.FromString(request).resource_spans for span in _spans(group)]


def _spans(group: trace_pb2.ResourceSpans) -> Iterator[ReadableSpan]:
    resource = Resource(_attributes(group.resource.attributes), group.schema_url)
    for part in group.scope_spans:
        scope = InstrumentationScope(
            part.scope.name,
            part.scope.version or None,
            part.schema_url or None,
            _attributes(part.scope.attributes) or None,
        )
        for span in part.spans:
            yield _span(span, resource, scope)


def _span(span: trace_pb2.Span, resource: Resource, scope: InstrumentationScope) -> ReadableSpan:
    trace_id = int.from_bytes(span.trace_id, "big")
    attributes = BoundedAttributes(maxlen=None, attributes=_attributes(span.attributes), immutable=True)
    attributes.dropped += span.dropped_attributes_count
    events = _bounded((_event(each) for each in span.events), span.dropped_events_count)
    links = _bounded((_link(each) for each in span.links), span.dropped_links_count)
    return ReadableSpan(
        name=span.name,
        context=_context(trace_id, span.span_id, span.trace_state),
        parent=(
            _context(trace_id, span.parent_span_id, "", remote=bool(span.flags & _PARENT_IS_REMOTE))
            if span.parent_span_id
            else None
        ),
        resource=resource,
        attributes=attributes,
        events=events,
        links=links,
        kind=SpanKind(span.kind - 1) if span.kind else SpanKind.INTERNAL,
        status=Status(StatusCode(span.status.code), span.status.message or None),
        start_time=span.start_time_unix_nano,
        end_time=span.end_time_unix_nano,
        instrumentation_scope=scope,
    )


def _context(trace_id: int, span_id: bytes, state: str, *, remote: bool = False) -> SpanContext:
    return SpanContext(
        trace_id=trace_id,
        span_id=int.from_bytes(span_id, "big"),
        is_remote=remote,
        # Only sampled spans are exported, and so kept.
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
        trace_state=TraceState.from_header([state]) if state else None,
    )


def _event(event: trace_pb2.Span.Event) -> Event:
    return Event(event.name, attributes=_attributes(event.attributes), timestamp=event.time_unix_nano)


def _link(link: trace_pb2.Span.Link) -> Link:
    context = _context(int.from_bytes(link.trace_id, "big"), link.span_id, link.trace_state)
    return Link(context, attributes=_attributes(link.attributes))


def _bounded(items: Iterable[Any], dropped: int) -> Any:
    found = list(items)
    kept: Any = BoundedList.from_seq(max(1, len(found)), found)
    kept.dropped = dropped
    return kept


def _attributes(pairs: Iterable[common_pb2.KeyValue]) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: common_pb2.AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return tuple(_value(item) for item in value.array_value.values)
    if kind == "kvlist_value":
        return {pair.key: _value(pair.value) for pair in value.kvlist_value.values}
    return None if kind is None else getattr(value, kind)
