"""Converts spans of an OTLP/JSON request to `SpanRecord`.

Source: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rag_otel.errors import InputError
from rag_otel.model import SpanRecord, StatusCode

_HEX: Final = re.compile(r"[0-9a-f]+")
_STATUS: Final = {
    1: StatusCode.OK,
    2: StatusCode.ERROR,
    "STATUS_CODE_OK": StatusCode.OK,
    "STATUS_CODE_ERROR": StatusCode.ERROR,
}


def span_records(request: Mapping[str, Any]) -> Iterator[SpanRecord]:
    """Yields the spans of one OTLP/JSON export request (an object with `resourceSpans`) in order.

    Raises InputError that names the span and what was expected.
    """
    for resource_spans in _objects(request, "resourceSpans"):
        resource = attributes_from(_object(resource_spans, "resource"))
        for scope_spans in _objects(resource_spans, "scopeSpans"):
            scope = _string(_object(scope_spans, "scope"), "name")
            for span in _objects(scope_spans, "spans"):
                yield span_record(span, resource=resource, scope=scope)


def span_record(span: Mapping[str, Any], *, resource: Mapping[str, Any], scope: str) -> SpanRecord:
    """Converts one span. Raises InputError if ids, times or attributes cannot be read."""
    name = _string(span, "name")
    try:
        return SpanRecord(
            trace_id=_id(span, "traceId", 32),
            span_id=_id(span, "spanId", 16),
            parent_id=_id(span, "parentSpanId", 16) if _string(span, "parentSpanId").strip("0") else None,
            name=name,
            attributes=attributes_from(span),
            resource=resource,
            scope=scope,
            status=_STATUS.get(_object(span, "status").get("code", 0), StatusCode.UNSET),
            start_ns=_integer(span, "startTimeUnixNano"),
            end_ns=_integer(span, "endTimeUnixNano"),
            events=tuple((_string(event, "name"), attributes_from(event)) for event in _objects(span, "events")),
            dropped_attributes=_integer(span, "droppedAttributesCount"),
            trace_state=_string(span, "traceState"),
        )
    except InputError as error:
        raise InputError(f"span {name!r}: {error}") from None


def attributes_from(owner: Mapping[str, Any]) -> dict[str, Any]:
    """The `attributes` list of a span, an event or a resource as a mapping. Empty values are left out."""
    values = {_string(pair, "key"): any_value(pair.get("value")) for pair in _objects(owner, "attributes")}
    return {key: value for key, value in values.items() if value is not None}


def any_value(value: Any) -> Any:
    """An OTLP `AnyValue` as str, bool, int, float, bytes, list or dict. None for an empty value, NaN and infinity."""
    if not isinstance(value, Mapping):
        return None
    if "stringValue" in value:
        return _string(value, "stringValue")
    if "boolValue" in value:
        return bool(value["boolValue"])
    if "intValue" in value:
        return _integer(value, "intValue")
    if "doubleValue" in value:
        return _double(value["doubleValue"])
    if "bytesValue" in value:
        return _bytes(value["bytesValue"])
    if "arrayValue" in value:
        return [any_value(item) for item in _objects(_object(value, "arrayValue"), "values")]
    if "kvlistValue" in value:
        pairs = _objects(_object(value, "kvlistValue"), "values")
        return {_string(pair, "key"): any_value(pair.get("value")) for pair in pairs}
    return None


def _id(owner: Mapping[str, Any], key: str, digits: int) -> str:
    text = _string(owner, key).lower()
    if len(text) != digits or not _HEX.fullmatch(text) or not text.strip("0"):
        raise InputError(f"{key} must be {digits} hex digits, not all zero; it is {owner.get(key)!r}")
    return text


def _integer(owner: Mapping[str, Any], key: str) -> int:
    value = owner.get(key, 0)
    try:
        return 0 if value is None else int(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{key} must be an integer, as a number or a string; it is {value!r}") from None


def _double(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"doubleValue must be a number; it is {value!r}") from None
    return number if math.isfinite(number) else None


def _bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (TypeError, ValueError):
        raise InputError(f"bytesValue must be base64; it is {value!r}") from None


def _string(owner: Mapping[str, Any], key: str) -> str:
    value = owner.get(key)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{key} must be a string; it is {value!r}")
    return value or ""


def _object(owner: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = owner.get(key)
    if value is not None and not isinstance(value, Mapping):
        raise InputError(f"{key} must be an object; it is {value!r}")
    return value or {}


def _objects(owner: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    value = owner.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise InputError(f"{key} must be a list of objects")
    return value
