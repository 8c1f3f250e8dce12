"""OTLP/JSON to OTLP protobuf: hex ids, integers as numbers or strings, enums as numbers or names.

Written out for traces alone: protobuf's own JSON reader takes ids for base64 and is several times slower. Unknown
fields are ignored, as the specification asks.
Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from rag_otel.errors import InputError

_MAX_DEPTH: Final = 64
"""Of nested attribute values; protobuf itself gives up at 100 messages."""


def parse_json(body: bytes) -> ExportTraceServiceRequest:
    """An OTLP/JSON export request as a message. Raises InputError for anything else."""
    try:
        request = json.loads(body)
        if not isinstance(request, Mapping):
            raise InputError("expected an object with resourceSpans")
        return ExportTraceServiceRequest(resource_spans=map(_resource_spans, _list(request, "resourceSpans")))
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError, RecursionError) as error:
        raise InputError(f"not an OTLP/JSON export request: {str(error)[:200]}") from None


def _resource_spans(item: Mapping[str, Any]) -> ResourceSpans:
    resource = item.get("resource") or {}
    return ResourceSpans(
        resource=Resource(
            attributes=_attributes(resource), dropped_attributes_count=int(resource.get("droppedAttributesCount") or 0)
        ),
        scope_spans=map(_scope_spans, _list(item, "scopeSpans")),
        schema_url=item.get("schemaUrl") or "",
    )


def _scope_spans(item: Mapping[str, Any]) -> ScopeSpans:
    scope = item.get("scope") or {}
    return ScopeSpans(
        scope=InstrumentationScope(
            name=scope.get("name") or "",
            version=scope.get("version") or "",
            attributes=_attributes(scope),
            dropped_attributes_count=int(scope.get("droppedAttributesCount") or 0),
        ),
        spans=map(_span, _list(item, "spans")),
        schema_url=item.get("schemaUrl") or "",
    )


def _span(item: Mapping[str, Any]) -> Span:
    status = item.get("status") or {}
    return Span(
        trace_id=_id(item, "traceId"),
        span_id=_id(item, "spanId"),
        trace_state=item.get("traceState") or "",
        parent_span_id=_id(item, "parentSpanId"),
        flags=int(item.get("flags") or 0),
        name=_text(item.get("name")),
        kind=_enum(item.get("kind"), Span.SpanKind),
        start_time_unix_nano=int(item.get("startTimeUnixNano") or 0),
        end_time_unix_nano=int(item.get("endTimeUnixNano") or 0),
        attributes=_attributes(item),
        dropped_attributes_count=int(item.get("droppedAttributesCount") or 0),
        events=map(_event, _list(item, "events")),
        dropped_events_count=int(item.get("droppedEventsCount") or 0),
        links=map(_link, _list(item, "links")),
        dropped_links_count=int(item.get("droppedLinksCount") or 0),
        status=Status(message=_text(status.get("message")), code=_enum(status.get("code"), Status.StatusCode))
        if status
        else None,
    )


def _event(item: Mapping[str, Any]) -> Span.Event:
    return Span.Event(
        time_unix_nano=int(item.get("timeUnixNano") or 0),
        name=_text(item.get("name")),
        attributes=_attributes(item),
        dropped_attributes_count=int(item.get("droppedAttributesCount") or 0),
    )


def _link(item: Mapping[str, Any]) -> Span.Link:
    return Span.Link(
        trace_id=_id(item, "traceId"),
        span_id=_id(item, "spanId"),
        trace_state=item.get("traceState") or "",
        attributes=_attributes(item),
        dropped_attributes_count=int(item.get("droppedAttributesCount") or 0),
        flags=int(item.get("flags") or 0),
    )


def _attributes(owner: Mapping[str, Any]) -> Iterable[KeyValue]:
    return _pairs(_list(owner, "attributes"), 0)


def _pairs(items: Iterable[Mapping[str, Any]], depth: int) -> list[KeyValue]:
    return [KeyValue(key=_text(item.get("key")), value=_value(item.get("value") or {}, depth)) for item in items]


def _value(value: Mapping[str, Any], depth: int) -> AnyValue:
    if depth > _MAX_DEPTH:
        raise ValueError("attribute values nested too deeply")
    if "stringValue" in value:
        return AnyValue(string_value=_text(value["stringValue"]))
    if "intValue" in value:
        return AnyValue(int_value=int(value["intValue"]))
    if "boolValue" in value:
        return AnyValue(bool_value=value["boolValue"])
    if "doubleValue" in value:
        return AnyValue(double_value=float(value["doubleValue"]))
    if "arrayValue" in value:
        items = _list(value["arrayValue"] or {}, "values")
        return AnyValue(array_value=ArrayValue(values=[_value(item, depth + 1) for item in items]))
    if "kvlistValue" in value:
        pairs = _pairs(_list(value["kvlistValue"] or {}, "values"), depth + 1)
        return AnyValue(kvlist_value=KeyValueList(values=pairs))
    if "bytesValue" in value:
        return AnyValue(bytes_value=base64.b64decode(value["bytesValue"], validate=True))
    return AnyValue()


def _text(value: Any) -> str:
    """Text that UTF-8 can carry: a JavaScript string that was cut may end in half a character."""
    text: str = value or ""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _enum(value: Any, kind: Any) -> Any:
    """The number of an enum's value; 0, unspecified, for what is none."""
    return kind.Value(value) if isinstance(value, str) else int(value or 0)


def _id(owner: Mapping[str, Any], key: str) -> bytes:
    """The bytes of an id; one that is no hex is left empty, so that its span alone is refused."""
    try:
        return bytes.fromhex(owner.get(key) or "")
    except (ValueError, TypeError):
        return b""


def _list(owner: Mapping[str, Any], key: str) -> Iterable[Mapping[str, Any]]:
    items = owner.get(key)
    if items is None:
        return ()
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise InputError(f"{key} must be a list of objects")
    return items
