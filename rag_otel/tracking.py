"""Which spans belong to a RAG call: open spans, the ended ones below them, and which span is a candidate.

An *entry* is the topmost span that a convention owns; the ended spans below it are kept, as references, until it ends.
A span is a candidate for evaluation when it ends and

- it is an observed call with chunks of its own, or with a retrieval below it, unless it is itself a retrieval (an
  observed search function that returned documents and no answer) inside another call; or
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
from rag_otel.suppression import is_own

MAX_OPEN: Final = 10_000
"""Open spans remembered; an application that never ends its spans loses the oldest."""
MAX_SPANS_BELOW: Final = 1_000
"""Ended spans kept below one entry."""
_YES: Final = -1
_NOT_ASKED: Final = -2
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


class OpenSpan:
    """A span between its start and its end, and what has ended below it."""

    __slots__ = ("below", "candidate_below", "complete", "ended", "own", "owned", "parent", "retrieved", "size", "span")

    def __init__(self, span: Span | ReadableSpan, parent: OpenSpan | None, own: bool) -> None:
        self.span = span
        self.parent = parent
        self.own = own
        self.owned = _NOT_ASKED
        """`_YES`, `_NOT_ASKED`, or how many attributes it had when the answer was no."""
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

    def change(self, conventions: Sequence[Convention], *, max_bytes: int) -> None:
        """Ask other conventions from now on."""
        self._conventions = tuple(conventions)
        self._max_bytes = max_bytes

    def after_fork(self) -> None:
        """Start empty in a forked child."""
        self._lock = threading.RLock()
        self._open: dict[int, OpenSpan] = {}
        self._bytes = 0

    def started(self, span: Span, *, own: bool) -> bool:
        """Remember an open span. True for a span of our own traffic (`own`, or below one that is)."""
        above = self._above(span)
        record = OpenSpan(span, above, own or (above is not None and above.own))
        self._open[span.context.span_id] = record
        if len(self._open) > self._max_open:
            self._forget_oldest()
        return record.own

    def ending(self, span: ReadableSpan) -> OpenSpan:
        """What is known of a span that is ending, which is forgotten thereby."""
        record = self._open.pop(span.context.span_id, None)
        if record is None:  # started before us, or forgotten
            record = OpenSpan(span, self._above(span), own=is_own(span.context))
        record.ended = True
        return record

    def ended(self, record: OpenSpan, span: ReadableSpan, snapshot: Snapshot | None) -> SubTree | None:
        """The sub-tree of an ended span that is a candidate for evaluation; None for every other span."""
        entry = self._entry_above(record)
        scope, attributes = scope_name(span), attribute_dict(span)
        if entry is None and snapshot is None and not self._owned_by_any(scope, attributes):
            return None
        if attributes.get(semconv.SPAN_KIND) == semconv.KIND_EVALUATOR:
            return None
        retrieves = self._retrieves(scope, attributes)
        if retrieves:
            record.retrieved = True
            if _FIRST_DOCUMENT in attributes:
                documents_written(attributes)
        searched = retrieves and entry is not None
        candidate = not searched and _is_candidate(record, snapshot, is_entry=entry is None)
        _tell_parent(record, candidate)
        size = _text_size(attributes, snapshot)
        tree = _sub_tree(record if entry is None else entry, span, size) if candidate else None
        if entry is not None:
            self._keep(entry, span, size)
        else:
            self._release(record)
        return tree

    def _above(self, span: Span | ReadableSpan) -> OpenSpan | None:
        parent = span.parent
        return None if parent is None or parent.is_remote else self._open.get(parent.span_id)

    def _entry_above(self, record: OpenSpan) -> OpenSpan | None:
        """The topmost owned span above this one that is still open."""
        entry, above = None, record.parent
        while above is not None and not above.ended:
            if above.owned == _YES or self._owns(above):
                entry = above
            above = above.parent
        return entry

    def _owned_by_any(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        for convention in self._conventions:  # noqa: SIM110 - any() costs as much as the question itself
            if convention.owns(scope, attributes):
                return True
        return False

    def _retrieves(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return any(convention.retrieves(scope, attributes) for convention in self._conventions)

    def _owns(self, record: OpenSpan) -> bool:
        """Whether an open span is owned; asked again only when it has got new attributes since."""
        # The public mapping is made anew at every look, in Python; this happens for every span below an unowned one.
        count = len(getattr(record.span, "_attributes", None) or ())
        if count != record.owned:
            owned = self._owned_by_any(scope_name(record.span), attribute_dict(record.span))
            record.owned = _YES if owned else count
        return record.owned == _YES

    def _keep(self, entry: OpenSpan, span: ReadableSpan, size: int) -> None:
        with self._lock:
            if len(entry.below) >= MAX_SPANS_BELOW or self._bytes + size > self._max_bytes:
                entry.complete = False
            else:
                entry.below.append(span)
                entry.size += size
                self._bytes += size
                return
        counters.add("spans.not_kept")

    def _release(self, record: OpenSpan) -> None:
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


def _is_candidate(record: OpenSpan, snapshot: Snapshot | None, *, is_entry: bool) -> bool:
    if snapshot is None:
        return is_entry and record.retrieved
    return snapshot.chunks is not None or record.retrieved or (is_entry and not record.candidate_below)


def _tell_parent(record: OpenSpan, candidate: bool) -> None:
    parent = record.parent
    if parent is None:
        return
    if candidate or record.candidate_below:
        parent.candidate_below = True
    if record.retrieved and not candidate:
        parent.retrieved = True


def _sub_tree(holder: OpenSpan, span: ReadableSpan, size: int) -> SubTree:
    return SubTree(spans=(*holder.below, span), size=holder.size + size, complete=holder.complete)


def scope_name(span: Span | ReadableSpan) -> str:
    """The name of the instrumentation scope, empty where there is none."""
    scope = span.instrumentation_scope
    return "" if scope is None else scope.name


def _text_size(attributes: Mapping[str, Any], snapshot: Snapshot | None) -> int:
    size = sum(len(value) for value in attributes.values() if type(value) is str)
    if snapshot is not None:
        size += len(snapshot.question or "") + len(snapshot.response or "")
        size += sum(len(chunk.text) for chunk in snapshot.chunks or ())
    return size
