"""Our own work is never traced as the application's: judge calls, annotations, webhooks.

No single switch silences every instrumentation (OpenTelemetry's, OpenInference's and Traceloop's each know some, the
official OpenAI ones obey only an unsampled parent), so all are thrown at once. The unsampled parent has a trace id
that no application trace can have: a span that was recorded all the same (a sampler that ignores its parent) is
recognised by it, even in a thread that has lost the context.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from opentelemetry import context as context_api
from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

_KEYS: Final = (
    # OpenTelemetry and OpenInference: created keys, whose names carry a random part.
    getattr(context_api, "_SUPPRESS_INSTRUMENTATION_KEY", "suppress_instrumentation"),
    getattr(context_api, "_SUPPRESS_HTTP_INSTRUMENTATION_KEY", "suppress_http_instrumentation"),
    # The plain key of older OpenTelemetry instrumentations, and Traceloop's.
    "suppress_instrumentation",
    "suppress_language_model_instrumentation",
)
_OURS: Final = context_api.create_key("rag_otel_suppressed")

# The SDK draws ids of 128 random bits; one that is taken for ours would need the very same 128.
_PARENT: Final = SpanContext(
    trace_id=random.SystemRandom().getrandbits(128) | 1,
    span_id=random.SystemRandom().getrandbits(64) | 1,
    is_remote=False,
    trace_flags=TraceFlags(TraceFlags.DEFAULT),
)


def suppressed_context(context: Context | None = None) -> Context:
    """`context` (the current one by default) with every switch thrown."""
    context = set_span_in_context(NonRecordingSpan(_PARENT), context)
    for key in (*_KEYS, _OURS):
        context = context_api.set_value(key, True, context)
    return context


@contextmanager
def suppressed() -> Iterator[None]:
    """`with suppressed():` - what is called inside makes no spans in the application's tracing."""
    token = context_api.attach(suppressed_context())
    try:
        yield
    finally:
        context_api.detach(token)


@contextmanager
def unsuppressed() -> Iterator[None]:
    """`with unsuppressed():` - what is handed to the application's own pipeline inside counts as the application's.

    Logfire drops spans and logs that arrive in a suppressed context.
    """
    token = context_api.attach(Context())
    try:
        yield
    finally:
        context_api.detach(token)


def is_suppressed(context: Context | None = None) -> bool:
    """True inside `suppressed()`."""
    return (context_api.get_current() if context is None else context).get(_OURS) is True


def is_own(context: SpanContext) -> bool:
    """True for a span that was started below our suppressed parent. One comparison: fit for the request path."""
    return context.trace_id == _PARENT.trace_id
