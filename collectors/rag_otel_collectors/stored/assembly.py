"""Groups interleaved spans by trace, within bounds.

Spans of a trace arrive in several batches and in any order. They are kept until the end of the file, or until
the bounds are reached. Then the trace whose last span is oldest is released first: it is most likely complete.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

from rag_otel.model import SpanRecord

_SPAN_BYTES = 1024
"""What a span costs beside its texts, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledTrace:
    """The spans of one trace id, in the order in which they arrived."""

    trace_id: str
    spans: tuple[SpanRecord, ...]
    cut: bool = False
    """True when the bounds released it: spans of it may still come, and would make a trace of their own."""


@dataclass(slots=True, kw_only=True)
class _Open:
    rank: int
    """Which trace this was to be seen first."""
    spans: list[SpanRecord] = field(default_factory=list)
    size: int = 0


class TraceAssembler:
    """Groups spans by trace id. Not safe for use by several threads at once."""

    def __init__(self, *, max_spans: int = 500_000, max_bytes: int = 512 * 2**20) -> None:
        """At most `max_spans` and about `max_bytes` of text are kept, over all traces together."""
        if max_spans < 1 or max_bytes < 1:
            raise ValueError("max_spans and max_bytes must be at least 1")
        self._max_spans = max_spans
        self._max_bytes = max_bytes
        self._open: OrderedDict[str, _Open] = OrderedDict()
        """The trace that has been quiet for longest first."""
        self._seen = 0
        self._spans = 0
        self._size = 0

    def add(self, span: SpanRecord) -> list[AssembledTrace]:
        """Take a span in; returns the traces that had to make room, cut, the one quiet for longest first."""
        trace = self._open.get(span.trace_id)
        if trace is None:
            self._seen += 1
            trace = self._open[span.trace_id] = _Open(rank=self._seen)
        self._open.move_to_end(span.trace_id)
        size = _size(span)
        trace.spans.append(span)
        trace.size += size
        self._spans += 1
        self._size += size
        released = []
        while self._spans > self._max_spans or self._size > self._max_bytes:
            released.append(self._release(next(iter(self._open)), cut=True))
        return released

    def flush(self) -> Iterator[AssembledTrace]:
        """Release everything, since no more spans will come: traces in the order in which they were first seen."""
        for trace_id in sorted(self._open, key=lambda each: self._open[each].rank):
            yield self._release(trace_id, cut=False)

    def _release(self, trace_id: str, *, cut: bool) -> AssembledTrace:
        trace = self._open.pop(trace_id)
        self._spans -= len(trace.spans)
        self._size -= trace.size
        return AssembledTrace(trace_id=trace_id, spans=tuple(trace.spans), cut=cut)


def _size(span: SpanRecord) -> int:
    return _SPAN_BYTES + sum(len(value) for value in span.attributes.values() if isinstance(value, str | bytes))
