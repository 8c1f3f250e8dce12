"""Splits an export request into spans and joins spans to a request. The bytes stay the same, so unknown fields are
kept.

A protobuf message is a sequence of fields, and the concatenation of two serialised messages is their merged message. So
attributes are added to a span by appending them, and two requests are joined by concatenating them.
Source: https://protobuf.dev/programming-guides/encoding/ (message structure, "Last One Wins", concatenation).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

_RESOURCE_SPANS: Final = 1
"""Field of ExportTraceServiceRequest."""
_SCOPE_SPANS: Final = 2
"""Field of ResourceSpans."""
_SPANS: Final = 2
"""Field of ScopeSpans."""
_TRACE_ID: Final = 1
"""Field of Span."""
_SPAN_ID: Final = 2
"""Field of Span."""
_ATTRIBUTES: Final = 9
"""Field of Span."""
_KEY: Final = 1
"""Field of KeyValue."""
_VARINT, _FIXED64, _BYTES, _GROUP, _END_GROUP, _FIXED32 = range(6)


class SpanSlice(NamedTuple):
    """One span of a request, with the fields of its resource and of its scope."""

    resource: bytes
    """The fields of its ResourceSpans other than the spans."""
    scope: bytes
    """The fields of its ScopeSpans other than the spans."""
    span: bytes
    """The serialised Span."""


def split(request: bytes) -> list[SpanSlice]:
    """Returns every span of a serialised ExportTraceServiceRequest in order. The request should have been validated
    (`is_request`): invalid bytes raise ValueError or IndexError."""
    slices: list[SpanSlice] = []
    for resource_spans in _parts(request, _RESOURCE_SPANS)[0]:
        scopes, resource = _parts(resource_spans, _SCOPE_SPANS)
        for scope_spans in scopes:
            spans, scope = _parts(scope_spans, _SPANS)
            slices.extend(SpanSlice(resource, scope, span) for span in spans)
    return slices


def join(slices: Iterable[SpanSlice]) -> bytes:
    """Returns a serialised ExportTraceServiceRequest of these spans. Consecutive spans with the same resource and scope
    share them."""
    written: list[bytes] = []
    scopes: list[bytes] = []
    spans: list[bytes] = []
    resource: bytes | None = None
    scope = b""

    def end_scope() -> None:
        if spans:
            scopes.append(_field(_SCOPE_SPANS, scope + b"".join(spans)))
            spans.clear()

    def end_resource() -> None:
        end_scope()
        if scopes:
            written.append(_field(_RESOURCE_SPANS, (resource or b"") + b"".join(scopes)))
            scopes.clear()

    for item in slices:
        if item.resource != resource:
            end_resource()
        elif item.scope != scope:
            end_scope()
        resource, scope = item.resource, item.scope
        spans.append(_field(_SPANS, item.span))
    end_resource()
    return b"".join(written)


def is_request(data: bytes) -> bool:
    """True for a serialised ExportTraceServiceRequest."""
    try:
        ExportTraceServiceRequest.FromString(data)
    except DecodeError:
        return False
    return True


def halves(request: bytes) -> tuple[bytes, bytes] | None:
    """Splits the request into two with about half its spans each. None for a single span and for invalid bytes."""
    try:
        slices = split(request)
    except (ValueError, IndexError):
        return None
    if len(slices) < 2:
        return None
    middle = len(slices) // 2
    return join(slices[:middle]), join(slices[middle:])


def by_trace(request: bytes) -> dict[bytes, bytes]:
    """Splits a valid request into one for each trace id, in the order in which the traces begin."""
    slices: dict[bytes, list[SpanSlice]] = {}
    for item in split(request):
        slices.setdefault(_value(item.span, _TRACE_ID), []).append(item)
    return {trace_id: join(items) for trace_id, items in slices.items()}


def without_repeats(slices: Sequence[SpanSlice]) -> list[SpanSlice]:
    """The spans without those that occur twice byte for byte: they were delivered twice."""
    return list({item.span: item for item in slices}.values())


def with_additions(slices: Sequence[SpanSlice], added: Mapping[int, bytes]) -> list[SpanSlice]:
    """The spans, with these bytes appended to those at these places. Nothing of them is decoded."""
    return [item._replace(span=item.span + added.get(place, b"")) for place, item in enumerate(slices)]


def without_attributes(request: bytes, prefixes: Sequence[str]) -> bytes:
    """The request without the spans' attributes whose names begin so; the same bytes where there are none. The request
    should have been validated (`is_request`)."""
    begins = tuple(prefix.encode() for prefix in prefixes)
    if not any(begin in request for begin in begins):
        return request
    return join(item._replace(span=_without_attributes(item.span, begins)) for item in split(request))


def last_span_id(request: bytes) -> bytes:
    """The id of the last span of a serialised request. Raises ValueError or IndexError if there is none."""
    return _value(split(request)[-1].span, _SPAN_ID)


def attribute_bytes(attributes: Mapping[str, Any]) -> bytes:
    """Returns the bytes that add these attributes when they are appended to a serialised span. Values may be text,
    numbers, booleans and lists of text."""
    span = Span()
    add = span.attributes.add
    for key, value in attributes.items():
        pair = add()
        pair.key = key
        _fill(pair.value, value)
    return bytes(span.SerializeToString())


def _value(message: bytes, wanted: int) -> bytes:
    """The first value of a length-delimited field of a message; empty if there is none."""
    return next((message[value:end] for number, _, _, value, end in _fields(message) if number == wanted), b"")


def _without_attributes(span: bytes, begins: tuple[bytes, ...]) -> bytes:
    kept: list[bytes] = []
    for number, wire_type, start, value, end in _fields(span):
        if number == _ATTRIBUTES and wire_type == _BYTES:
            pair = span[value:end]
            if any(key.startswith(begins) for key in _parts(pair, _KEY)[0]):
                continue
        kept.append(span[start:end])
    return b"".join(kept)


def _fill(target: AnyValue, value: Any) -> None:
    # Filling an existing message takes a third of the time of creating a message and copying it.
    if isinstance(value, str):
        target.string_value = value
    elif isinstance(value, bool):
        target.bool_value = value
    elif isinstance(value, int):
        target.int_value = value
    elif isinstance(value, float):
        target.double_value = value
    else:
        target.array_value.SetInParent()
        for item in value:
            _fill(target.array_value.values.add(), item)


def _parts(message: bytes, number: int) -> tuple[list[bytes], bytes]:
    """The values of field `number` of a message, and the unchanged bytes of all its other fields."""
    values: list[bytes] = []
    others: list[bytes] = []
    for found, wire_type, start, value, end in _fields(message):
        if found == number and wire_type == _BYTES:
            values.append(message[value:end])
        else:
            others.append(message[start:end])
    return values, b"".join(others)


def _fields(message: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Yields (number, wire type, start of the field, start of its value, end) of each field. Offsets in bytes."""
    at, length = 0, len(message)
    while at < length:
        start = at
        tag, at = _varint(message, at)
        wire_type = tag & 7
        value = at
        if wire_type == _BYTES:
            size, value = _varint(message, at)
            at = value + size
        else:
            at = _skip(message, at, wire_type)
        if at > length:
            raise ValueError("a field is longer than its message")
        yield tag >> 3, wire_type, start, value, at


def _skip(message: bytes, at: int, wire_type: int) -> int:
    """Returns the end of a value that is not length-delimited."""
    if wire_type == _VARINT:
        return _varint(message, at)[1]
    if wire_type == _FIXED64:
        return at + 8
    if wire_type == _FIXED32:
        return at + 4
    if wire_type != _GROUP:
        raise ValueError(f"wire type {wire_type}")
    depth = 1
    while depth:
        tag, at = _varint(message, at)
        inner = tag & 7
        if inner == _BYTES:
            size, at = _varint(message, at)
            at += size
        elif inner in (_GROUP, _END_GROUP):
            depth += 1 if inner == _GROUP else -1
        else:
            at = _skip(message, at, inner)
    return at


def _varint(message: bytes, at: int) -> tuple[int, int]:
    byte = message[at]
    if byte < 0x80:
        return byte, at + 1
    number, shift = byte & 0x7F, 7
    while True:
        at += 1
        byte = message[at]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at + 1
        shift += 7


def _field(number: int, value: bytes) -> bytes:
    return bytes([number << 3 | _BYTES]) + _varint_bytes(len(value)) + value


def _varint_bytes(number: int) -> bytes:
    written = bytearray()
    while number >= 0x80:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)
