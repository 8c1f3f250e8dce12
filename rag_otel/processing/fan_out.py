"""Calls to the span processors behind ours: what one of them raises reaches neither the application nor the others.

Plain try blocks, which cost nothing until something is raised: every span of the application comes by here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Final
from weakref import WeakKeyDictionary

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor

from rag_otel.safety.guard import counters, logger
from rag_otel.safety.time_limit import LimitedCall
from rag_otel.safety.tracing_suppression import unsuppressed

_LOGGED: Final = 5
"""Tracebacks logged for each kind of processor; after that only the counter grows."""


def told_of_starts(processors: Sequence[SpanProcessor]) -> tuple[SpanProcessor, ...]:
    """Those that do something when a span starts. The SDK's exporting processors do not."""
    return tuple(each for each in processors if not _does_nothing(each, "on_start"))


def told_of_endings(processors: Sequence[SpanProcessor]) -> tuple[SpanProcessor, ...]:
    """Those that do something when a span is about to end."""
    return tuple(each for each in processors if not _does_nothing(each, "_on_ending"))


_NOTHING: Final = (
    SpanProcessor.on_start,
    BatchSpanProcessor.on_start,
    SimpleSpanProcessor.on_start,
    *(getattr(each, "_on_ending", None) for each in (SpanProcessor, BatchSpanProcessor, SimpleSpanProcessor)),
)


def _does_nothing(processor: SpanProcessor, method: str) -> bool:
    return method not in vars(processor) and getattr(type(processor), method, None) in _NOTHING


def start(processors: Sequence[SpanProcessor], span: Span, parent_context: Context | None) -> None:
    """Tell every processor of a span's start."""
    for processor in processors:
        try:
            processor.on_start(span, parent_context)
        except Exception as error:  # noqa: BLE001 - theirs
            _report(processor, error)


def ending(processors: Sequence[SpanProcessor], span: Span) -> None:
    """Tell every processor that a span is about to end."""
    for processor in processors:
        try:
            processor._on_ending(span)
        except Exception as error:  # noqa: BLE001 - theirs
            _report(processor, error)


def end(processors: Sequence[SpanProcessor], span: ReadableSpan) -> None:
    """Hand every processor an ended span."""
    for processor in processors:
        try:
            processor.on_end(span)
        except Exception as error:  # noqa: BLE001 - theirs
            _report(processor, error)


def end_later(processors: Sequence[SpanProcessor], span: ReadableSpan) -> None:
    """Hand every processor a span that ended before, from a thread of ours."""
    with unsuppressed():
        end(processors, span)


def flush(processors: Sequence[SpanProcessor], deadline: float) -> bool:
    """Flush one after the other until `deadline` (`time.monotonic` seconds); False when one failed or took longer, or
    none was left time for. Batch processors of the SDK ignore the time that they are given: it is kept here."""
    flushed = True
    for processor in processors:
        remaining_s = deadline - time.monotonic()
        if int(remaining_s * 1000) <= 0:
            return False
        flushed = _flush_of(processor).within(remaining_s, partial(_flush, processor, remaining_s)) and flushed
    return flushed


def _flush(processor: SpanProcessor, timeout_s: float) -> bool:
    try:
        return processor.force_flush(int(timeout_s * 1000)) is not False
    except Exception as error:  # noqa: BLE001 - theirs
        _report(processor, error)
        return False


_flushes: Final[WeakKeyDictionary[SpanProcessor, LimitedCall]] = WeakKeyDictionary()


def _flush_of(processor: SpanProcessor) -> LimitedCall:
    # Not at exit where no thread can be started: the provider's own shutdown exports then.
    call = LimitedCall("fan_out.flush", here_at_exit=False)
    try:
        return _flushes.setdefault(processor, call)
    except TypeError:  # a processor that cannot be a key
        return call


def shutdown(processors: Sequence[SpanProcessor]) -> None:
    """Shut every processor down."""
    for processor in processors:
        try:
            processor.shutdown()
        except Exception as error:  # noqa: BLE001 - theirs
            _report(processor, error)


def smallest_queue(processors: Sequence[SpanProcessor]) -> int | None:
    """Spans that the smallest batching queue takes; None when none is known.

    Private to the SDK; where it is not found (another SDK, another kind of processor) no bound is derived from it.
    """
    sizes = [getattr(getattr(each, "_batch_processor", None), "_max_queue_size", None) for each in processors]
    return min((size for size in sizes if isinstance(size, int)), default=None)


def _report(processor: SpanProcessor, error: Exception) -> None:
    if counters.add(f"next.{type(processor).__name__}.raised") <= _LOGGED:
        logger.error("rag-otel: span processor %r raised", processor, exc_info=error)
