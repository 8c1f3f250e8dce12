"""Spans that are made of data instead of being started and ended: evaluation spans and feedback spans."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, TraceFlags

from rag_otel import semconv
from rag_otel.model import AttributeValue


def made_span(
    name: str,
    *,
    trace_id: str,
    span_id: int,
    below: str | None,
    resource: Resource,
    attributes: Mapping[str, AttributeValue],
    time_ns: int,
) -> ReadableSpan:
    """A span that starts and ends at `time_ns`, a child of the span `below` and linked to it.

    It counts as sampled: what it is about was sampled, and exporting processors drop spans without the flag.
    """
    parent = None if below is None else _context(trace_id, int(below, 16))
    return ReadableSpan(
        name=name,
        context=_context(trace_id, span_id),
        parent=parent,
        resource=resource,
        attributes=attributes,
        links=(Link(parent),) if parent is not None else (),
        start_time=time_ns,
        end_time=time_ns,
        instrumentation_scope=InstrumentationScope(semconv.SCOPE),
    )


def span_id_of(*parts: str) -> int:
    """A valid span id (64 bits, not 0) that is a hash of these texts: made again, the span is recognised."""
    digest = hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=8)
    return int.from_bytes(digest.digest(), "big") or 1


def _context(trace_id: str, span_id: int) -> SpanContext:
    return SpanContext(
        trace_id=int(trace_id, 16), span_id=span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED)
    )
