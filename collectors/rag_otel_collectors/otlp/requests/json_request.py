"""OTLP/JSON to OTLP protobuf: hex ids, integers as numbers or strings, enums as numbers or names.

Written out for traces alone: protobuf's own JSON reader takes ids for base64 and is several times slower. Unknown
fields are ignored, as the specification asks. Requests and files are read by this one reader.
Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
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
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {str(error)[:200]}") from None
    return request_from(request)


def request_from(request: Any) -> ExportTraceServiceRequest:
    """A parsed OTLP/JSON export request (an object with `resourceSpans`) as a message.

    Ids that are no hex are left empty. Raises InputError that names the span and what was expected.
    """
    if not isinstance(request, dict):
        raise InputError("expected an object with resourceSpans")
    return ExportTraceServiceRequest(resource_spans=map(_resource_spans, _objects(request, "resourceSpans")))


def span_from(item: Mapping[str, Any]) -> Span:
    """One span. Raises InputError that names it and what was expected."""
    try:
        return _span(item)
    except (ValueError, TypeError, InputError) as error:  # protobuf's own bounds of numbers
        raise InputError(f"span {item.get('name')!r}: {str(error)[:200]}") from None


def value_from(value: Any, depth: int = 0) -> AnyValue:
    """An attribute's value; empty for what is none. Raises InputError."""
    if not isinstance(value, dict):
        return AnyValue()
    if "stringValue" in value:  # nearly all are
        return AnyValue(string_value=_text(value, "stringValue"))
    if depth > _MAX_DEPTH:
        raise InputError("attribute values are nested too deeply")
    if "intValue" in value:
        return AnyValue(int_value=_integer(value, "intValue"))
    if "boolValue" in value:
        return AnyValue(bool_value=bool(value["boolValue"]))
    if "doubleValue" in value:
        return AnyValue(double_value=_double(value["doubleValue"]))
    if "arrayValue" in value:
        items = _objects(_object(value, "arrayValue"), "values")
        return AnyValue(array_value=ArrayValue(values=[value_from(item, depth + 1) for item in items]))
    if "kvlistValue" in value:
        pairs = _pairs(_objects(_object(value, "kvlistValue"), "values"), depth + 1)
        return AnyValue(kvlist_value=KeyValueList(values=pairs))
    if "bytesValue" in value:
        return AnyValue(bytes_value=_bytes(value["bytesValue"]))
    return AnyValue()


def _resource_spans(item: Mapping[str, Any]) -> ResourceSpans:
    resource = _object(item, "resource")
    return ResourceSpans(
        resource=Resource(
            attributes=_attributes(resource), dropped_attributes_count=_integer(resource, "droppedAttributesCount")
        ),
        scope_spans=map(_scope_spans, _objects(item, "scopeSpans")),
        schema_url=_text(item, "schemaUrl"),
    )


def _scope_spans(item: Mapping[str, Any]) -> ScopeSpans:
    scope = _object(item, "scope")
    return ScopeSpans(
        scope=InstrumentationScope(
            name=_text(scope, "name"),
            version=_text(scope, "version"),
            attributes=_attributes(scope),
            dropped_attributes_count=_integer(scope, "droppedAttributesCount"),
        ),
        spans=map(span_from, _objects(item, "spans")),
        schema_url=_text(item, "schemaUrl"),
    )


def _span(item: Mapping[str, Any]) -> Span:
    status = _object(item, "status")
    return Span(
        trace_id=_id(item, "traceId"),
        span_id=_id(item, "spanId"),
        trace_state=_text(item, "traceState"),
        parent_span_id=_id(item, "parentSpanId"),
        flags=_integer(item, "flags"),
        name=_text(item, "name"),
        kind=_enum(item.get("kind"), Span.SpanKind),
        start_time_unix_nano=_integer(item, "startTimeUnixNano"),
        end_time_unix_nano=_integer(item, "endTimeUnixNano"),
        attributes=_attributes(item),
        dropped_attributes_count=_integer(item, "droppedAttributesCount"),
        events=map(_event, _objects(item, "events")),
        dropped_events_count=_integer(item, "droppedEventsCount"),
        links=map(_link, _objects(item, "links")),
        dropped_links_count=_integer(item, "droppedLinksCount"),
        status=Status(message=_text(status, "message"), code=_enum(status.get("code"), Status.StatusCode))
        if status
        else None,
    )


def _event(item: Mapping[str, Any]) -> Span.Event:
    return Span.Event(
        time_unix_nano=_integer(item, "timeUnixNano"),
        name=_text(item, "name"),
        attributes=_attributes(item),
        dropped_attributes_count=_integer(item, "droppedAttributesCount"),
    )


def _link(item: Mapping[str, Any]) -> Span.Link:
    return Span.Link(
        trace_id=_id(item, "traceId"),
        span_id=_id(item, "spanId"),
        trace_state=_text(item, "traceState"),
        attributes=_attributes(item),
        dropped_attributes_count=_integer(item, "droppedAttributesCount"),
        flags=_integer(item, "flags"),
    )


def _attributes(owner: Mapping[str, Any]) -> list[KeyValue]:
    return _pairs(_objects(owner, "attributes"), 0)


def _pairs(items: Iterable[Mapping[str, Any]], depth: int) -> list[KeyValue]:
    return [KeyValue(key=_text(item, "key"), value=value_from(item.get("value"), depth)) for item in items]


def _text(owner: Mapping[str, Any], key: str) -> str:
    """Text that UTF-8 can carry: a JavaScript string that was cut may end in half a character."""
    value = owner.get(key)
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if value is not None:
        raise InputError(f"{key} must be a string; it is {value!r}")
    return ""


def _integer(owner: Mapping[str, Any], key: str) -> int:
    value = owner.get(key)
    if value is None:
        return 0
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{key} must be an integer, as a number or a string; it is {value!r}") from None


def _double(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"doubleValue must be a number; it is {value!r}") from None


def _bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (TypeError, ValueError):
        raise InputError(f"bytesValue must be base64; it is {value!r}") from None


def _enum(value: Any, kind: Any) -> Any:
    """The number of an enum's value; 0, unspecified, for what is none."""
    try:
        return kind.Value(value) if isinstance(value, str) else int(value or 0)
    except (ValueError, TypeError):
        return 0


def _id(owner: Mapping[str, Any], key: str) -> bytes:
    """The bytes of an id; one that is no hex is left empty, so that its span alone is refused."""
    try:
        return bytes.fromhex(owner.get(key) or "")
    except (ValueError, TypeError):
        return b""


def _object(owner: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = owner.get(key)
    if value is not None and not isinstance(value, dict):
        raise InputError(f"{key} must be an object; it is {value!r}")
    return value or {}


def _objects(owner: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    items = owner.get(key)
    if items is None:
        return ()
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise InputError(f"{key} must be a list of objects")
    return items
