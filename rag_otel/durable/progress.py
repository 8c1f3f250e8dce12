"""How far each kept trace has come: which of its spans are still on their way to which exporter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

_REMEMBERED: Final = 16_384
"""Exported spans that are remembered, because their trace may be admitted after them; twice as many at most."""
_DROPPED_S: Final = 10.0
"""A span that an exporter has not had, while it has had one that was handed over so much later, was dropped."""

Sent = tuple[int, int]
"""(number of an exporter, span id): each exporter has to take each span."""


@dataclass(slots=True, eq=False)
class TraceProgress:
    """A trace that is not done."""

    waiting: set[Sent] = field(default_factory=set)
    """Spans on their way to an exporter."""
    failed: set[Sent] = field(default_factory=set)
    """Of these, the ones that the exporter could not send."""
    released: bool = False
    """The target has been let go."""
    written: bool = False
    """The results are written everywhere, or there are none."""
    marked: bool = False
    """The journal knows that everything so far is exported."""
    handed_at: float = 0.0
    """When the last span was handed to the exporters, monotonic seconds."""

    @property
    def exported(self) -> bool:
        """The target has been let go, and every exporter has taken every span."""
        return self.released and not self.waiting


class Progress:
    """Of all traces that are not done, by key. Not thread-safe: the spool holds its lock."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._traces: dict[bytes, TraceProgress] = {}
        self._by_span: dict[int, bytes] = {}
        """Id of a span on its way -> the trace's key."""
        self._recent: set[Sent] = set()
        self._older: set[Sent] = set()
        self._any_failed = False
        self._front: dict[int, float] = {}
        """Exporter -> when the latest span that it has taken was handed over."""
        self.taken = 0
        """How many spans of kept traces exporters have taken so far."""

    def __len__(self) -> int:
        return len(self._traces)

    def of(self, key: bytes) -> TraceProgress | None:
        """The trace of a key; None where it is done, or was never kept."""
        return self._traces.get(key)

    def begin(self, key: bytes, *, released: bool = False, written: bool = False) -> TraceProgress:
        """A trace is under way, or again."""
        trace = self._traces[key] = TraceProgress(released=released, written=written)
        return trace

    def end(self, key: bytes) -> None:
        """It is done, or given up."""
        trace = self._traces.pop(key, None)
        for _, span_id in () if trace is None else trace.waiting:
            self._by_span.pop(span_id, None)

    def expect(self, key: bytes, span_ids: Iterable[int], exporters: Sequence[int]) -> None:
        """These spans of a trace go to these exporters, unless they were there before."""
        trace = self._traces[key]
        trace.handed_at = self._clock()
        for span_id in span_ids:
            ways = {(each, span_id) for each in exporters} - self._recent - self._older
            if ways:
                trace.waiting |= ways
                self._by_span[span_id] = key

    def exported(self, exporter: int, span_id: int, *, taken: bool) -> bytes | None:
        """An exporter is through with a span: taken by the backend, or not. The key of the trace that came further."""
        sent = (exporter, span_id)
        key = self._by_span.get(span_id)
        trace = None if key is None else self._traces.get(key)
        if trace is None or sent not in trace.waiting:
            if taken:
                self._remember(sent)
            return None
        if not taken:
            trace.failed.add(sent)
            self._any_failed = True
            return None
        self.taken += 1
        trace.waiting.discard(sent)
        trace.failed.discard(sent)
        self._front[exporter] = max(self._front.get(exporter, 0.0), trace.handed_at)
        if not any(span == span_id for _, span in trace.waiting):
            del self._by_span[span_id]
        return key

    def send_again(self, exporters: Sequence[int], most: int) -> list[tuple[bytes, set[Sent]]]:
        """At most so many traces with spans that one of these exporters could not send, and these: they are on their
        way again."""
        again: list[tuple[bytes, set[Sent]]] = []
        if not self._any_failed:
            return again
        for key, trace in self._traces.items():
            sent = {each for each in trace.failed if each[0] in exporters}
            if sent:
                if len(again) == most:
                    return again
                trace.failed -= sent
                trace.handed_at = self._clock()
                again.append((key, sent))
        self._any_failed = any(trace.failed for trace in self._traces.values())
        return again

    def on_the_way(self, keys: Sequence[bytes]) -> int:
        """How many spans of these traces are not exported yet."""
        return sum(len(self._traces[key].waiting) for key in keys if key in self._traces)

    def find_dropped(self) -> None:
        """A batching queue that is full drops spans without a word; it is first in, first out."""
        for trace in self._traces.values():
            for sent in trace.waiting - trace.failed if trace.released else ():
                if self._front.get(sent[0], 0.0) > trace.handed_at + _DROPPED_S:
                    trace.failed.add(sent)
                    self._any_failed = True

    def _remember(self, sent: Sent) -> None:
        if len(self._recent) >= _REMEMBERED:
            self._older, self._recent = self._recent, set()
        self._recent.add(sent)
