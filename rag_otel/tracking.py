"""Which spans belong to a RAG call: open spans, the ended ones below them, and which span is a candidate.

An *entry* is the topmost span that a convention owns; the ended spans below it are kept, as references, until it ends.
A span is a candidate for evaluation when it ends and

- it is an observed call with chunks of its own, or with a retrieval below it; or
- it is an entry with a retrieval below it; or
- it is an observed entry below which nothing else was a candidate (the reader then says what is missing).

What is retrieved below an observed call with chunks belongs to that call, not to the ones around it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.sdk.trace import ReadableSpan, Span

from rag_otel import semconv
from rag_otel.guard import counters
from rag_otel.protocols import Convention
from rag_otel.records import attribute_dict
from rag_otel.snapshot import Snapshot, documents_written

MAX_OPEN: Final = 10_000
"""Open spans remembered; an application that never ends its spans loses the oldest."""
MAX_SPANS_BELOW: Final = 1_000
"""Ended spans kept below one entry."""
_FIRST_DOCUMENT: Final = f"{semconv.DOCUMENTS}.0.{semconv.DOCUMENT_CONTENT}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubTree:
    """A candidate's ended spans."""

    spans: tuple[ReadableSpan, ...]
    """The candidate, its descendants and, for a nested call, other spans of the same entry."""
    size: int
    """Characters of text in them, as a measure of bytes."""
    complete: bool
    """False when there were too many to keep."""


class _OpenSpan:
    """A span between its start and its end, and what has ended below it."""

    __slots__ = ("below", "candidate_below", "complete", "ended", "own", "owned", "parent", "retrieved", "size", "span")

    def __init__(self, span: Span | ReadableSpan, parent: _OpenSpan | None, own: bool) -> None:
        self.span = span
        self.parent = parent
        self.own = own
        self.owned = -1
        """0 is yes; a positive number is no, as of so many attributes; -1 is not asked yet."""
        self.ended = False
        self.retrieved = False
        self.candidate_below = False
        self.below: list[ReadableSpan] = []
        self.size = 0
        self.complete = True


class SpanTracker:
    """Watches starts and ends of one provider's spans. Thread-safe; a few microseconds a span."""

    def __init__(self, conventions: Sequence[Convention], *, max_bytes: int, max_open: int = MAX_OPEN) -> None:
        self._conventions = tuple(conventions)
        self._max_bytes = max_bytes
        self._max_open = max_open
        self.after_fork()

    def after_fork(self) -> None:
        """Start empty in a forked child."""
        self._lock = threading.Lock()
        self._open: dict[int, _OpenSpan] = {}
        self._bytes = 0

    def started(self, span: Span, *, own: bool) -> bool:
        """Remember an open span. True for a span of our own traffic (`own`, or below one that is)."""
        parent = span.parent
        above = None if parent is None or parent.is_remote else self._open.get(parent.span_id)
        record = _OpenSpan(span, above, own or (above is not None and above.own))
        self._open[span.context.span_id] = record
        if len(self._open) > self._max_open:
            self._forget_oldest()
        return record.own

    def is_own(self, span: ReadableSpan) -> bool:
        """True for an ending span of our own traffic, which is then forgotten."""
        record = self._open.get(span.context.span_id)
        if record is None or not record.own:
            return False
        del self._open[span.context.span_id]
        return True

    def ended(self, span: ReadableSpan, snapshot: Snapshot | None) -> SubTree | None:
        """The sub-tree of an ended span that is a candidate for evaluation; None for every other span."""
        record = self._open.pop(span.context.span_id, None)
        if record is None:  # started before us, or forgotten
            parent = span.parent
            record = _OpenSpan(span, self._open.get(parent.span_id) if parent and not parent.is_remote else None, False)
        record.ended = True
        attributes = attribute_dict(span)
        scope = _scope(span)
        entry = self._entry_above(record)
        owned = any(convention.owns(scope, attributes) for convention in self._conventions)
        if not owned and entry is None and snapshot is None:
            return None
        if attributes.get(semconv.SPAN_KIND) == semconv.KIND_EVALUATOR:
            return None
        if any(convention.retrieves(scope, attributes) for convention in self._conventions):
            record.retrieved = True
            if _FIRST_DOCUMENT in attributes:
                documents_written()
        candidate = _is_candidate(record, snapshot, is_entry=entry is None)
        self._tell_parent(record, candidate)
        size = _text_size(attributes, snapshot)
        tree = self._take(record, entry, span, size) if candidate else None
        if entry is not None:
            self._keep(entry, span, size)
        else:
            self._release(record)
        return tree

    def _entry_above(self, record: _OpenSpan) -> _OpenSpan | None:
        """The topmost owned span above this one that is still open."""
        entry, above = None, record.parent
        while above is not None and not above.ended:
            if self._owns(above):
                entry = above
            above = above.parent
        return entry

    def _owns(self, record: _OpenSpan) -> bool:
        """Whether an open span is owned; asked again only when it has got new attributes since."""
        if record.owned != 0:
            count = len(record.span.attributes or ()) + 1
            if count != record.owned:
                scope, attributes = _scope(record.span), attribute_dict(record.span)
                owned = any(convention.owns(scope, attributes) for convention in self._conventions)
                record.owned = 0 if owned else count
        return record.owned == 0

    def _tell_parent(self, record: _OpenSpan, candidate: bool) -> None:
        parent = record.parent
        if parent is None:
            return
        if candidate or record.candidate_below:
            parent.candidate_below = True
        if record.retrieved and not candidate:
            parent.retrieved = True

    def _take(self, record: _OpenSpan, entry: _OpenSpan | None, span: ReadableSpan, size: int) -> SubTree:
        holder = record if entry is None else entry
        return SubTree(spans=(*holder.below, span), size=holder.size + size, complete=holder.complete)

    def _keep(self, entry: _OpenSpan, span: ReadableSpan, size: int) -> None:
        with self._lock:
            if len(entry.below) >= MAX_SPANS_BELOW or self._bytes + size > self._max_bytes:
                entry.complete = False
            else:
                entry.below.append(span)
                entry.size += size
                self._bytes += size
                return
        counters.add("spans.not_kept")

    def _release(self, record: _OpenSpan) -> None:
        """Let go of what was kept below an entry."""
        if record.below:
            with self._lock:
                self._bytes -= record.size
                record.below, record.size = [], 0

    def _forget_oldest(self) -> None:
        with self._lock:
            try:
                oldest = self._open.pop(next(iter(self._open)), None)
            except RuntimeError:  # another thread's span came in between: its start forgets one too
                return
        if oldest is not None:
            oldest.ended = True
            self._release(oldest)
            counters.add("spans.forgotten")


def _is_candidate(record: _OpenSpan, snapshot: Snapshot | None, *, is_entry: bool) -> bool:
    if snapshot is None:
        return is_entry and record.retrieved
    return snapshot.chunks is not None or record.retrieved or (is_entry and not record.candidate_below)


def _scope(span: ReadableSpan) -> str:
    scope = span.instrumentation_scope
    return "" if scope is None else scope.name


def _text_size(attributes: Mapping[str, Any], snapshot: Snapshot | None) -> int:
    size = sum(len(value) for value in attributes.values() if type(value) is str)
    if snapshot is not None:
        size += len(snapshot.question or "") + len(snapshot.response or "")
        size += sum(len(chunk.text) for chunk in snapshot.chunks or ())
    return size
