"""Which spans belong to a RAG call: open spans, the ended ones below them, and which span is a candidate.

An *entry* is the topmost span that a convention owns; the ended spans below it are kept, as references, until it ends.
A span is a candidate for evaluation when it ends and

- it is an observed call with chunks of its own, or with a retrieval below it, unless it is itself a retrieval (an
  observed search function that returned documents and no answer) inside another call; or
- it is an entry with a retrieval below it; or
- it is an observed entry below which nothing else was a candidate (the reader then says what is missing); or
- it is an entry that called a model, beside retrievals under the same span of nobody's dialect (`Siblings`).

What is retrieved below an observed call with chunks belongs to that call, not to the ones around it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from opentelemetry import trace as trace_api
from opentelemetry.sdk.trace import ReadableSpan, Span

from rag_otel import semconv
from rag_otel.observing.call_snapshot import Snapshot, documents_written
from rag_otel.processing.hold import MAX_HELD_BYTES
from rag_otel.processing.open_spans import OWNED, LateSpans, OpenSpan, Siblings, SubTree
from rag_otel.processing.sdk_spans import attribute_dict, scope_name
from rag_otel.protocols import Convention, KnowsCalls
from rag_otel.safety.guard import counters
from rag_otel.safety.tracing_suppression import is_own

MAX_OPEN: Final = 10_000
"""Open spans remembered; an application that never ends its spans loses the oldest."""
MAX_SPANS_BELOW: Final = 1_000
"""Ended spans kept below one entry."""
_FIRST_DOCUMENT: Final = f"{semconv.DOCUMENTS}.0.{semconv.DOCUMENT_CONTENT}"
_Ask: TypeAlias = Callable[[str, Mapping[str, Any]], bool]


class _Dialect(NamedTuple):
    """What a convention is asked of a span's scope and attributes."""

    owns: _Ask
    retrieves: _Ask
    calls: _Ask


class SpanTracker:
    """Watches starts and ends of one provider's spans. Thread-safe; a few microseconds a span."""

    def __init__(self, conventions: Sequence[Convention], *, max_open: int = MAX_OPEN) -> None:
        self._max_open = max_open
        self.change(conventions)
        self.after_fork()

    def change(self, conventions: Sequence[Convention]) -> None:
        """Ask other conventions from now on."""
        self._dialects = [
            _Dialect(each.owns, each.retrieves, each.calls if isinstance(each, KnowsCalls) else _never)
            for each in conventions
        ]

    def after_fork(self) -> None:
        """Start empty in a forked child."""
        self._lock = threading.RLock()
        self._open: dict[int, OpenSpan] = {}
        self._bytes = 0

    def started(self, span: Span, *, own: bool) -> bool:
        """Remember an open span. True for a span of our own traffic (`own`, or below one that is)."""
        above = self._above(span)
        record = OpenSpan(span, above, own=own or (above is not None and above.own))
        self._open[span.context.span_id] = record
        if above is not None:
            if above.children is None:
                above.children = set()
            above.children.add(record)
        if len(self._open) > self._max_open:
            self._forget_oldest()
        return record.own

    def opened(self, span: trace_api.Span) -> OpenSpan | None:
        """What is known of a span while it is open. `span` may be a proxy of the one that was started."""
        return self._open.get(span.get_span_context().span_id)

    def ended_below(self, span: trace_api.Span) -> tuple[ReadableSpan, ...]:
        """The ended spans that are kept for an open span: those below it, or below the entry that it is part of."""
        record = self.opened(span)
        if record is None:
            return ()
        return tuple((self._entry_above(record) or record).below)

    def ending(self, span: ReadableSpan) -> OpenSpan:
        """What is known of a span that is ending, which is forgotten thereby."""
        record = self._open.pop(span.context.span_id, None)
        if record is None:  # started before us, or forgotten
            record = OpenSpan(span, self._above(span), own=is_own(span.context))
        record.ended = True
        if record.parent is not None and record.parent.children is not None:
            record.parent.children.discard(record)
        return record

    def ended(self, record: OpenSpan, span: ReadableSpan) -> SubTree | None:
        """The sub-tree of an ended span that is a candidate for evaluation; None for every other span."""
        if record.waiting is not None:
            record.waiting.ended(record, span)
        entry = self._entry_above(record)
        if record.snapshot is not None:
            return self._call_ended(record, span, record.snapshot, entry)
        scope, attributes = scope_name(span), attribute_dict(span)
        dialect = self._dialect(scope, attributes)
        foreign = entry is None and dialect is None
        if record.siblings is not None:
            self._end_siblings(record, span, take_over=not foreign)
        if foreign or attributes.get(semconv.SPAN_KIND) == semconv.KIND_EVALUATOR:
            return None
        retrieves = dialect is not None and dialect.retrieves(scope, attributes)
        if retrieves:
            record.retrieved = True
            if _FIRST_DOCUMENT in attributes:
                documents_written(attributes)
        elif dialect is not None and dialect.calls(scope, attributes):
            record.called = True
        size = sum(len(value) for value in attributes.values() if type(value) is str)
        if entry is None and (siblings := self._siblings_of(record, span, retrieves)) is not None:
            self._keep_beside(siblings, record, span, size)
            return None if retrieves else _answer_of(siblings, record, span)
        return self._sub_tree(record, span, entry, size, candidate=entry is None and record.retrieved)

    def _call_ended(
        self, record: OpenSpan, span: ReadableSpan, snapshot: Snapshot, entry: OpenSpan | None
    ) -> SubTree | None:
        """`ended` for an observed call, which knows by itself what it is."""
        if record.siblings is not None:
            self._end_siblings(record, span, take_over=True)
        searched = snapshot.response is None and bool(snapshot.chunks)
        if searched:
            record.retrieved = True
            if _FIRST_DOCUMENT in (attributes := attribute_dict(span)):
                documents_written(attributes)
        candidate = not (searched and entry is not None) and (
            snapshot.chunks is not None or record.retrieved or (entry is None and not record.candidate_below)
        )
        size = 0 if record.written and entry is None else snapshot.characters  # else nobody keeps it
        return self._sub_tree(record, span, entry, size, candidate=candidate)

    def _sub_tree(
        self, record: OpenSpan, span: ReadableSpan, entry: OpenSpan | None, size: int, *, candidate: bool
    ) -> SubTree | None:
        if record.parent is not None:
            _tell(record.parent, record, candidate=candidate)
        holder = record if entry is None else entry
        tree = None
        if candidate and not record.written:
            # An observed call knows by itself what it answered, and whether its stream was left.
            still_open = _open_below(record) if record.snapshot is None and record.children else []
            late, streaming = self._wait_for(still_open) if still_open else (None, False)
            tree = SubTree(
                spans=(*holder.below, span),
                size=holder.size + size,
                complete=holder.complete,
                late=late,
                streaming=streaming,
            )
        if entry is not None:
            self._keep(entry, span, size)
        elif record.below:
            self._release(record)
        return tree

    def _wait_for(self, still_open: Sequence[OpenSpan]) -> tuple[LateSpans | None, bool]:
        """(what waits for those that a dialect owns, True where they are calls of a model and only those count)."""
        owned = [below for below in still_open if self._owns(below)]
        calls = [below for below in owned if self._is_call(below)]
        if not owned:
            return None, False
        late_spans = LateSpans(calls or owned)
        for below in calls or owned:
            below.waiting = late_spans
            if below.ended:  # meanwhile, on its own thread
                late_spans.ended(below, below.span)
        return late_spans, bool(calls)

    def _is_call(self, record: OpenSpan) -> bool:
        scope, attributes = scope_name(record.span), attribute_dict(record.span)
        dialect = self._dialect(scope, attributes)
        return dialect is not None and dialect.calls(scope, attributes)

    # --- side by side -----------------------------------------------------------------------------------------------

    def _siblings_of(self, record: OpenSpan, span: ReadableSpan, retrieves: bool) -> Siblings | None:
        """Those that an entry belongs to: as a retrieval, or as a call of a model after that."""
        around = record.parent
        if around is None or around.ended or around.own:
            return None
        siblings = around.siblings
        if retrieves:
            if siblings is not None and not siblings.answered:
                return siblings
            self._end_siblings(around, span, take_over=False)
            around.siblings = Siblings()
            return around.siblings
        return siblings if siblings is not None and record.called and not record.retrieved else None

    def _keep_beside(self, siblings: Siblings, record: OpenSpan, span: ReadableSpan, size: int) -> None:
        with self._lock:
            room = len(siblings.spans) + len(record.below) < MAX_SPANS_BELOW and self._bytes + size <= MAX_HELD_BYTES
            if room:
                siblings.spans += [*record.below, span]
                siblings.size += record.size + size
                self._bytes += size
                record.below, record.size = [], 0
            siblings.complete = siblings.complete and room and record.complete
        self._release(record)

    def _end_siblings(self, around: OpenSpan, span: ReadableSpan, *, take_over: bool) -> None:
        """The span around them has ended, or others begin; `take_over`: the retrievals were below that span itself."""
        siblings, around.siblings = around.siblings, None
        if siblings is None:
            return
        siblings.over(span)
        if take_over and not siblings.answered:  # known for a dialect's span by attributes that were set last
            around.retrieved = True
            around.below, around.size = [*around.below, *siblings.spans], around.size + siblings.size
            return
        if not siblings.answered:
            counters.add("retrieval.unanswered")
        with self._lock:
            self._bytes -= siblings.size

    # --- what is above ----------------------------------------------------------------------------------------------

    def _above(self, span: Span | ReadableSpan) -> OpenSpan | None:
        parent = span.parent
        return None if parent is None or parent.is_remote else self._open.get(parent.span_id)

    def _entry_above(self, record: OpenSpan) -> OpenSpan | None:
        """The topmost owned span above this one that is still open."""
        entry, above = None, record.parent
        while above is not None and not above.ended:
            if above.owned == OWNED or self._owns(above):
                entry = above
            above = above.parent
        return entry

    def _dialect(self, scope: str, attributes: Mapping[str, Any]) -> _Dialect | None:
        """The first dialect that owns such a span; None: nobody's."""
        for dialect in self._dialects:
            if dialect.owns(scope, attributes):
                return dialect
        return None

    def _owns(self, record: OpenSpan) -> bool:
        """Whether an open span is owned; asked again only when it has got new attributes since."""
        # The public mapping is made anew at every look, in Python; this happens for every span below an unowned one.
        count = len(getattr(record.span, "_attributes", None) or ())
        if count != record.owned:
            dialect = self._dialect(scope_name(record.span), attribute_dict(record.span))
            record.owned = count if dialect is None else OWNED
        return record.owned == OWNED

    def _keep(self, entry: OpenSpan, span: ReadableSpan, size: int) -> None:
        with self._lock:
            if len(entry.below) >= MAX_SPANS_BELOW or self._bytes + size > MAX_HELD_BYTES:
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
            self._end_siblings(oldest, oldest.span, take_over=False)
            self._release(oldest)
            counters.add("spans.forgotten")


def _tell(parent: OpenSpan, record: OpenSpan, *, candidate: bool) -> None:
    """Let the span above know what this one, which has ended, was."""
    if candidate or record.candidate_below:
        parent.candidate_below = True
    if record.retrieved and not candidate:
        parent.retrieved = True
    if record.called:
        parent.called = True


def _open_below(record: OpenSpan) -> list[OpenSpan]:
    """Everything below that has not ended."""
    found: list[OpenSpan] = []
    to_visit = [record]
    while to_visit:
        children = tuple(to_visit.pop().children or ())
        found += children
        to_visit += children
    return found


def _answer_of(siblings: Siblings, record: OpenSpan, span: ReadableSpan) -> SubTree:
    siblings.answered = True
    return SubTree(
        spans=(span,), size=siblings.size, complete=siblings.complete, siblings=siblings, around=record.parent
    )


def _never(scope: str, attributes: Mapping[str, Any]) -> bool:
    return False
