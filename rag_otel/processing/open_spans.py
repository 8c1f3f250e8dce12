"""Spans between their start and their end, and what is handed over when one of them is a candidate for evaluation."""

from __future__ import annotations

from typing import Final, NamedTuple

from opentelemetry.sdk.trace import ReadableSpan, Span

from rag_otel.lazy_dataclass import dataclass
from rag_otel.model import SamplingDecision, SpanRef
from rag_otel.observing.call_snapshot import Snapshot
from rag_otel.processing.late_spans import LateSpans, Turn

NOT_ASKED: Final = -2


class Decided(NamedTuple):
    """Whether a candidate is evaluated, as far as that is known when its span ends."""

    target: SpanRef
    decision: SamplingDecision
    reason: str | None
    """Why it is not; None where it may be."""
    written: bool = False
    """True where the span has its status already."""


class OpenSpan:
    """A span between its start and its end, and what has ended below it."""

    __slots__ = (
        *("below", "called", "candidate_below", "children", "complete", "decided", "ended", "own", "owned", "parent"),
        *("retrieved", "size", "snapshot", "span", "turn", "waiting"),
    )

    def __init__(self, span: Span | ReadableSpan, parent: OpenSpan | None, own: bool) -> None:
        self.span = span
        self.parent = parent
        self.own = own
        self.owned = NOT_ASKED
        """`_YES` of `span_tracker.py`, `NOT_ASKED`, or how many attributes it had when the answer was no."""
        self.children: set[OpenSpan] | None = None
        """Those that have not ended; None where there have been none."""
        self.ended = False
        self.retrieved = False
        self.called = False
        """A model was called here or below."""
        self.candidate_below = False
        self.below: list[ReadableSpan] = []
        self.size = 0
        self.complete = True
        self.turn: Turn | None = None
        """What ended side by side under this span of nobody's dialect."""
        self.waiting: LateSpans | None = None
        """Of a candidate above this span that has ended before it."""
        self.snapshot: Snapshot | None = None
        """Of an observed call: what it has handed over, just before its span ended."""
        self.decided: Decided | None = None
        """What was decided then."""

    def root(self) -> ReadableSpan | None:
        """The root span of the trace; None where that is in another process or was not seen."""
        top = self
        while top.parent is not None:
            top = top.parent
        return top.span if top.span.parent is None else None

    def is_sure_candidate(self, snapshot: Snapshot) -> bool:
        """True for an observed call that will be a candidate whatever else ends before it: one with an answer, which
        is no search, and with chunks."""
        return snapshot.response is not None and (snapshot.chunks is not None or self.retrieved)

    def tell_parent(self, *, candidate: bool) -> None:
        """Let the span above know what this one, which has ended, was."""
        parent = self.parent
        if parent is None:
            return
        if candidate or self.candidate_below:
            parent.candidate_below = True
        if self.retrieved and not candidate:
            parent.retrieved = True
        if self.called:
            parent.called = True

    def open_below(self) -> list[OpenSpan]:
        """Everything below that has not ended."""
        found: list[OpenSpan] = []
        to_visit = [self]
        while to_visit:
            children = tuple(to_visit.pop().children or ())
            found += children
            to_visit += children
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class SubTree:
    """A candidate's ended spans."""

    spans: tuple[ReadableSpan, ...]
    """The candidate, its descendants and, for a nested call, other spans of the same entry."""
    size: int
    """Characters of text in them, as a measure of bytes."""
    complete: bool
    """False when there were too many to keep."""
    late: LateSpans | None = None
    """Spans below the candidate that were still open when it ended."""
    streaming: bool = False
    """True where those are calls of a model, whose stream may go on for long, and has the answer."""
    turn: Turn | None = None
    """What ended beside the candidate, where its retrieval does."""
    around: OpenSpan | None = None
    """The span around the turn."""

    @property
    def waits(self) -> bool:
        """True where something that belongs to it may still be under way."""
        return self.late is not None or self.turn is not None

    async def whole(self, *, late_s: float, stream_s: float) -> tuple[ReadableSpan, ...]:
        """All its spans, with those that end within the time. Raises TimeoutError where the answer was not among them:
        a stream that goes on, a later call beside the candidate."""
        if self.turn is not None and self.around is not None:
            if not await self.turn.wait_until_over(late_s) and self.around.children:
                raise TimeoutError("another call of the turn is under way")
            return tuple(self.turn.spans)
        if self.late is None:
            return self.spans
        ended = await self.late.wait(stream_s if self.streaming else late_s)
        if self.streaming and not self.late.all_ended:
            raise TimeoutError("the stream goes on")
        return (*self.spans, *ended)
