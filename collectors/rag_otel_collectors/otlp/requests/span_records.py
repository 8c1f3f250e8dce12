"""Converts OTLP protobuf to the types that conventions read: attributes to a mapping, spans to `SpanRecord`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from rag_otel import semconv
from rag_otel.errors import InputError
from rag_otel.model import SpanRecord, StatusCode
from rag_otel_collectors.otlp.requests.wire import SpanSlice

_OF_EVALUATORS: Final = (semconv.SPAN_KIND, semconv.FEEDBACK_RATING)
_STATUS: Final = {1: StatusCode.OK, 2: StatusCode.ERROR}


class Outline(NamedTuple):
    """The place in the trace of a span that was already forwarded, without its content. Of an evaluator's span the kind
    is known, and of a feedback span its rating: what is below the one is no traffic, the other is about the trace."""

    span_id: str
    parent_id: str | None
    name: str
    scope: str
    start_ns: int
    end_ns: int
    attributes: Mapping[str, Any] = {}


def attributes_from(pairs: Iterable[KeyValue]) -> dict[str, Any]:
    """Attributes as a mapping. Empty values, NaN and infinity are left out."""
    values = {pair.key: any_value(pair.value) for pair in pairs}
    return {key: value for key, value in values.items() if value is not None}


def any_value(value: AnyValue) -> Any:
    """An `AnyValue` as str, bool, int, float, bytes, list or dict. None for an empty value, NaN and infinity."""
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return value.string_value
    if kind == "double_value":
        return value.double_value if math.isfinite(value.double_value) else None
    if kind == "array_value":
        return [any_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return {pair.key: any_value(pair.value) for pair in value.kvlist_value.values}
    return None if kind is None else getattr(value, kind)


def outline(span: Span, scope: str, attributes: Mapping[str, Any]) -> Outline:
    """The place of a span in its trace; `attributes` are those of the span."""
    evaluator = attributes.get(semconv.SPAN_KIND) == semconv.KIND_EVALUATOR
    return Outline(
        span_id=span.span_id.hex(),
        parent_id=_parent(span),
        name=span.name,
        scope=scope,
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        attributes={name: attributes[name] for name in _OF_EVALUATORS if name in attributes} if evaluator else {},
    )


def span_records(trace_id: str, slices: Sequence[SpanSlice], outlines: Iterable[Outline] = ()) -> list[SpanRecord]:
    """The spans of one trace as `SpanRecord`. The spans of `outlines` have no attributes but those."""
    resources: dict[bytes, Mapping[str, Any]] = {}
    scopes: dict[bytes, str] = {}
    records = []
    for item in slices:
        if item.resource not in resources:
            resources[item.resource] = resource_attributes(item.resource)
        if item.scope not in scopes:
            scopes[item.scope] = ScopeSpans.FromString(item.scope).scope.name
        records.append(_record(Span.FromString(item.span), trace_id, resources[item.resource], scopes[item.scope]))
    return records + [SpanRecord(trace_id=trace_id, **forwarded._asdict()) for forwarded in outlines]


def resource_attributes(resource: bytes) -> dict[str, Any]:
    """The attributes of a `SpanSlice.resource`."""
    return attributes_from(ResourceSpans.FromString(resource).resource.attributes)


def records_of(request: ExportTraceServiceRequest) -> Iterator[SpanRecord]:
    """The spans of a request in order. Raises InputError that names a span whose ids are malformed."""
    for resource_spans in request.resource_spans:
        resource = attributes_from(resource_spans.resource.attributes)
        for scope_spans in resource_spans.scope_spans:
            for span in scope_spans.spans:
                yield record_of(span, resource, scope_spans.scope.name)


def record_of(span: Span, resource: Mapping[str, Any], scope: str) -> SpanRecord:
    """One span. Raises InputError if its ids are malformed."""
    for name, value, size in (("traceId", span.trace_id, 16), ("spanId", span.span_id, 8)):
        if len(value) != size or not value.strip(b"\0"):
            raise InputError(f"span {span.name!r}: {name} must be {2 * size} hex digits, not all zero")
    return _record(span, span.trace_id.hex(), resource, scope)


def _record(span: Span, trace_id: str, resource: Mapping[str, Any], scope: str) -> SpanRecord:
    return SpanRecord(
        trace_id=trace_id,
        span_id=span.span_id.hex(),
        parent_id=_parent(span),
        name=span.name,
        attributes=attributes_from(span.attributes),
        resource=resource,
        scope=scope,
        status=_STATUS.get(span.status.code, StatusCode.UNSET),
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        events=tuple((event.name, attributes_from(event.attributes)) for event in span.events),
        dropped_attributes=span.dropped_attributes_count,
        trace_state=span.trace_state,
    )


def _parent(span: Span) -> str | None:
    return span.parent_span_id.hex() if span.parent_span_id.strip(b"\0") else None
