"""Groups interleaved spans by trace, with bounded memory.

The spans of a trace may come in several batches and in any order. They are kept until the end of the files, or until a
bound is reached. Then the trace that has received no span for the longest time is released, because it is the most
likely to be complete.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rag_otel.model import SpanRecord

_SPAN_BYTES = 1024
"""Approximate memory of a span without its texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledTrace:
    """The spans of one trace id, in the order in which they arrived."""

    trace_id: str
    spans: tuple[SpanRecord, ...]
    cut: bool = False
    """True if a bound released it. Spans that come later become a separate trace."""


@dataclass(slots=True, kw_only=True)
class _Open:
    rank: int
    """The position of this trace in the order of first spans."""
    spans: list[SpanRecord] = field(default_factory=list)
    size: int = 0


class TraceAssembler:
    """Groups spans by trace id. Not thread-safe."""

    def __init__(self, *, max_spans: int = 500_000, max_bytes: int = 512 * 2**20) -> None:
        """Keeps at most `max_spans` spans and about `max_bytes` of text, in all traces together."""
        if max_spans < 1 or max_bytes < 1:
            raise ValueError("max_spans and max_bytes must be at least 1")
        self._max_spans = max_spans
        self._max_bytes = max_bytes
        self._open: OrderedDict[str, _Open] = OrderedDict()
        """The trace without a new span for the longest time comes first."""
        self._seen = 0
        self._spans = 0
        self._size = 0

    def add(self, span: SpanRecord) -> list[AssembledTrace]:
        """Adds a span. Returns the traces that were released because of a bound (`cut`), in order of their last
        span."""
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

    def assembled(self, spans: Iterable[SpanRecord]) -> Iterator[AssembledTrace]:
        """Yields the traces of all these spans: each when a bound releases it, or at the end."""
        for span in spans:
            yield from self.add(span)
        yield from self.flush()

    def flush(self) -> Iterator[AssembledTrace]:
        """Releases all traces at the end of the input, in order of their first span."""
        for trace_id in sorted(self._open, key=lambda each: self._open[each].rank):
            yield self._release(trace_id, cut=False)

    def _release(self, trace_id: str, *, cut: bool) -> AssembledTrace:
        trace = self._open.pop(trace_id)
        self._spans -= len(trace.spans)
        self._size -= trace.size
        return AssembledTrace(trace_id=trace_id, spans=tuple(trace.spans), cut=cut)


def _size(span: SpanRecord) -> int:
    return _SPAN_BYTES + sum(len(value) for value in span.attributes.values() if isinstance(value, str | bytes))
