"""SDK spans: read as `SpanRecord`s, and copied with what we found out about them.

An ended SDK span is frozen and there is no public hook to add to it, so a held span leaves as a copy: same ids, times,
events and links, more attributes, and the dropped counts carried over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Span
from opentelemetry.trace import SpanContext, StatusCode, format_span_id, format_trace_id

from rag_otel import model, semconv
from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import AttributeValue, SpanRecord, SpanRef

_STATUS: Final = {
    StatusCode.UNSET: model.StatusCode.UNSET,
    StatusCode.OK: model.StatusCode.OK,
    StatusCode.ERROR: model.StatusCode.ERROR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanOrigin:
    """Where a span came from and goes to: what a span that follows it needs, to arrive beside it."""

    emit: Callable[[ReadableSpan], None]
    """Sends a finished span to the same exporters."""
    resource: Resource


def span_ref(context: SpanContext) -> SpanRef:
    """The hex ids of a span context."""
    return SpanRef(trace_id=f"{context.trace_id:032x}", span_id=f"{context.span_id:016x}")


def scope_name(span: Span | ReadableSpan) -> str:
    """The name of the instrumentation scope, empty where there is none."""
    scope = span.instrumentation_scope
    return "" if scope is None else scope.name


def attribute_dict(span: ReadableSpan) -> dict[str, Any]:
    """The attributes as a plain dict: half a microsecond, where iterating over the SDK's mapping costs nine."""
    copy = getattr(span.attributes, "copy", None)
    return dict(span.attributes or {}) if copy is None else copy()


def copy_texts(span: ReadableSpan, root: ReadableSpan) -> None:
    """Question and answer of an ended span, on the root of its trace if that is open and has neither."""
    if not isinstance(root, Span) or not root.is_recording():
        return
    there, texts = root.attributes or {}, span.attributes or {}
    if semconv.INPUT_VALUE in there or semconv.OUTPUT_VALUE in there:
        return
    for name in (semconv.INPUT_VALUE, semconv.OUTPUT_VALUE):
        if (text := texts.get(name)) is not None:
            root.set_attribute(name, text)


def span_record(span: ReadableSpan) -> SpanRecord:
    """An ended SDK span as the conventions read it; the attribute values are shared, not copied."""
    context: SpanContext = span.context
    scope = span.instrumentation_scope
    return SpanRecord(
        trace_id=format_trace_id(context.trace_id),
        span_id=format_span_id(context.span_id),
        parent_id=None if span.parent is None else format_span_id(span.parent.span_id),
        name=span.name,
        attributes=attribute_dict(span),
        resource=span.resource.attributes,
        scope=scope.name if scope is not None else "",
        status=_STATUS[span.status.status_code],
        start_ns=span.start_time or 0,
        end_ns=span.end_time or 0,
        events=tuple((event.name, event.attributes or {}) for event in span.events),
        dropped_attributes=span.dropped_attributes,
        trace_state=context.trace_state.to_header() if context.trace_state else "",
    )


def enriched(
    span: ReadableSpan, extra: Mapping[str, AttributeValue], *, resource: Resource | None = None
) -> ReadableSpan:
    """A copy of `span` with `extra` attributes, and another resource where one is given; the attribute limits, which
    have done their work, do not apply."""
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource if resource is None else resource,
        attributes=_merged(span, extra),
        # The public tuples would reset the counts of dropped events and links.
        events=getattr(span, "_events", span.events),
        links=getattr(span, "_links", span.links),
        kind=span.kind,
        # The public property warns of its deprecation, but older exporters still read it.
        instrumentation_info=getattr(span, "_instrumentation_info", None),
        status=span.status,
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def keeps_whole(span: object, attributes: Mapping[str, AttributeValue]) -> bool:
    """False where the span's limit for the length of values would cut one of these texts."""
    longest = getattr(getattr(span, "_limits", None), "max_span_attribute_length", None)
    return longest is None or all(len(value) <= longest for value in attributes.values() if isinstance(value, str))


def _merged(span: ReadableSpan, extra: Mapping[str, AttributeValue]) -> BoundedAttributes:
    both = attribute_dict(span)
    both.update((key, tuple(value) if isinstance(value, list) else value) for key, value in extra.items())
    merged = BoundedAttributes(maxlen=None, immutable=True)
    if isinstance(getattr(merged, "_dict", None), dict):
        # All values are checked already, by the SDK and by our writers: checking them again costs more than the rest.
        merged._dict = both
    else:
        merged = BoundedAttributes(maxlen=None, attributes=both, immutable=True)
    merged.dropped += span.dropped_attributes
    return merged
