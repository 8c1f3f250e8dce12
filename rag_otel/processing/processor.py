"""`RagSpanProcessor`: delays the answer's span until its scores are ready, then exports it once.

    span ends -> candidate? -> sampled? -> a slot free? -> held -> evaluated -> one enriched copy -> exporters
                 no: passes    no: passes with its status             deadline: passes as `late`, the result follows

Children and everything else pass at once, in order. An observed call hands its snapshot over before its span ends
(`call_ending`): one that is not evaluated gets its status then, and passes without a copy. Whatever goes wrong in here,
the span still reaches the exporters, once.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Mapping, Sequence
from typing import Final

from opentelemetry import trace as trace_api
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import SpanContext

from rag_otel.model import AttributeValue, EvaluationStatus, SamplingReason
from rag_otel.observing.call_snapshot import Snapshot, watch
from rag_otel.pipeline import queue_full, rate_limited
from rag_otel.processing import fan_out
from rag_otel.processing.held_traces import SHUT_DOWN, HeldTraces, count
from rag_otel.processing.hold import Slot
from rag_otel.processing.open_spans import Decided, OpenSpan
from rag_otel.processing.sdk_spans import copy_texts, keeps_whole, span_ref
from rag_otel.processing.span_tracker import SpanTracker
from rag_otel.safety.fork import after_fork_in_child
from rag_otel.safety.guard import guarded, report_internal_error
from rag_otel.safety.time_limit import exit_budget
from rag_otel.safety.tracing_suppression import is_own, is_suppressed
from rag_otel.setup.runtime import Runtime, default_runtime

SHUTDOWN_S: Final = 5.0
"""How long `shutdown()` waits for evaluations: an exiting process must not hang on a slow judge."""
_EVALUATION_SHARE: Final = 2 / 3
"""Of a flush's time; the rest is for exporting."""
KEEP_S: Final = 2.0
"""How long a shutdown waits until the disk knows what is done."""


class RagSpanProcessor(SpanProcessor):
    """Evaluates RAG traces as they end and writes the scores on their spans, before those are exported.

        provider.add_span_processor(RagSpanProcessor(OTLPSpanExporter()))

    `next` is what the spans go on to: an exporter (which gets a BatchSpanProcessor), a processor, or several of them.
    Do not also add those to the provider, or every span is exported twice. `runtime` is the composed set-up, by
    default that of the process, also when `instrument()` changes it later. Raises ConfigurationError.
    """

    def __init__(
        self,
        next: SpanExporter | SpanProcessor | Sequence[SpanExporter | SpanProcessor],
        *,
        runtime: Runtime | None = None,
    ) -> None:
        several = next if isinstance(next, Sequence) else (next,)
        self._runtime = runtime or default_runtime()
        self._inner: tuple[SpanProcessor, ...] = ()
        settings = self._runtime.settings
        self._tracker = SpanTracker(self._runtime.pipeline.conventions)
        self._held = HeldTraces(self._runtime, self._exporting)
        self._active = settings.enabled
        self._delivering = False  # the delivery is still to be told that traces come
        self._shut_down = False
        self._closing = False
        """It evaluated until it was shut down: what ends now says why it has no scores."""
        if runtime is None:
            _following.add(self)
        self.replace_next([BatchSpanProcessor(each) if isinstance(each, SpanExporter) else each for each in several])
        after_fork_in_child(self._after_fork)

    @property
    def next(self) -> tuple[SpanProcessor, ...]:
        """The processors that spans go on to, in order."""
        return self._inner

    def _exporting(self) -> tuple[SpanProcessor, ...]:
        return self._inner

    def replace_next(self, processors: Sequence[SpanProcessor]) -> None:
        """Send spans to `processors` from now on; a held span goes to those of its own that are still among them.

        With none, nothing can be held: results are always late.
        """
        self._inner = tuple(processors)
        self._starting, self._ending = fan_out.told_of_starts(self._inner), fan_out.told_of_endings(self._inner)
        self._held.fit()

    def use(self, runtime: Runtime) -> None:
        """Evaluate with another set-up from now on. The one before must be flushed: what it has left is given up."""
        self._held.give_up()
        self._runtime, self._delivering = runtime, False
        self._held = HeldTraces(runtime, self._exporting)
        self._tracker.change(runtime.pipeline.conventions)
        self._active = runtime.settings.enabled and not self._shut_down
        if not self._active:
            self._held.stop()

    def pause(self, timeout_s: float) -> None:
        """Evaluate nothing until the next `use`; what is held goes out within `timeout_s`."""
        self.stop()
        self.flush(timeout_s)

    def stop(self) -> None:
        """Evaluate nothing new; spans go on passing, and those that are held still get their scores."""
        self._active = False
        self._held.stop()

    # --- the span's way ---------------------------------------------------------------------------------------------

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        own = False
        try:
            own = self._tracker.started(span, own=_is_own(span, parent_context))
            if not own:
                watch(span, self)  # every span: to find out whether an observed call made it takes as long
        except Exception as error:
            if not report_internal_error("processor.on_start", error):
                raise
        if not own and self._starting:
            fan_out.start(self._starting, span, parent_context)

    def _on_ending(self, span: Span) -> None:
        if self._ending:
            fan_out.ending(self._ending, span)

    def on_end(self, span: ReadableSpan) -> None:
        downstream = self._inner
        going: ReadableSpan | None = span
        try:
            going = self._consider(span, downstream)
        except Exception as error:
            if not report_internal_error("processor.on_end", error):
                raise
        if going is not None:
            fan_out.end(downstream, going)

    def emit(self, span: ReadableSpan) -> None:
        """Send a span of our own making (an evaluation span) straight to the exporters."""
        self._held.emit(span)

    def _consider(self, span: ReadableSpan, downstream: tuple[SpanProcessor, ...]) -> ReadableSpan | None:
        """The span to pass on now: itself, or a copy that says what became of it; None when it is held or ours."""
        record = self._tracker.ending(span)
        if record.own:
            return None
        tree = self._tracker.ended(record, span)
        if tree is None and record.written is None:
            return span
        if not (self._active or self._closing) or not span.context.trace_flags.sampled:
            return span
        root = _root_above(record)
        if root is not None and self._runtime.settings.spans.texts_on_root:
            copy_texts(span, root)
        if not self._delivering:
            self._delivering = self._runtime.delivery.start()
        if tree is None:  # its status stands on it already
            count(EvaluationStatus.SKIPPED, record.written)
            return span
        target, decision, reason = record.decided or self._decide(span.context, record.snapshot)
        if not self._active and reason is None:
            reason = SHUT_DOWN
        if reason is not None:
            return self._held.unscored(span, EvaluationStatus.SKIPPED, reason, decision)
        slot = Slot(
            span=span,
            target=target,
            tree=tree,
            snapshot=record.snapshot,
            decision=decision,
            root=None if root is None or root is record.span else span_ref(root.context),
            downstream=downstream,
        )
        if not self._held.admit(slot):
            decision = queue_full(slot.decision)
            return self._held.unscored(span, EvaluationStatus.SKIPPED, decision.reason, decision)
        return None if slot.deadline else self._held.passing_late(slot)

    def is_evaluating(self, trace_id: str, span_id: str | None = None) -> bool:
        """True while an answer of this trace waits for its evaluation here or is being evaluated. Any thread."""
        return any(
            span_id in (None, slot.target.span_id)
            for slot in self._held.hold.find(trace_id)
            if slot.decision.sampled  # else its spans are about to go
        )

    def ended_below(self, span: trace_api.Span) -> Sequence[ReadableSpan]:
        """What has ended so far below an open span, as far as it was kept."""
        try:
            return self._tracker.ended_below(span)
        except Exception as error:
            if not report_internal_error("processor.ended_below", error):
                raise
            return ()

    def call_ending(self, span: trace_api.Span, snapshot: Snapshot, room: int | None) -> Mapping[str, AttributeValue]:
        """Take the snapshot of an observed call; see `WatchesCalls`.

        Where the call has an answer and chunks, nothing that ends before it can change what `on_end` would decide.
        """
        record, context = self._tracker.opened(span), span.get_span_context()
        if record is None or record.own:
            return {}
        record.snapshot = snapshot
        if not self._active or not context.trace_flags.sampled or not _is_sure_candidate(record, snapshot):
            return {}
        try:
            record.decided = decided = self._decide(context, snapshot)
            if decided.reason is None:
                return {}
            attributes = self._held.status_attributes(EvaluationStatus.SKIPPED, decided.reason, decided.decision)
            if (room is not None and len(attributes) > room) or not keeps_whole(span, attributes):
                return {}
        except Exception as error:
            if not report_internal_error("processor.call_ending", error):
                raise
            return {}
        record.written = decided.reason
        return attributes

    def _decide(self, context: SpanContext, snapshot: Snapshot | None) -> Decided:
        """The decision, and why the trace is not evaluated as far as that is known before its spans are read."""
        pipeline, target = self._runtime.pipeline, span_ref(context)
        unevaluable = None if snapshot is None else snapshot.unevaluable_reason
        if snapshot is not None and snapshot.judging is not None:  # begun already, whatever the coin says
            return Decided(target, snapshot.judging.decision, unevaluable)
        decision = pipeline.sampler.decide(target)
        if not decision.sampled:
            return Decided(target, decision, decision.reason)
        if unevaluable is not None:
            return Decided(target, decision, unevaluable)
        if pipeline.cap is not None and pipeline.cap.is_empty():  # reading the spans costs time as well
            return Decided(target, rate_limited(decision), SamplingReason.RATE_LIMITED)
        if self._held.hold.is_full:
            return Decided(target, queue_full(decision), SamplingReason.QUEUE_FULL)
        return Decided(target, decision, None)

    # --- flush, shutdown, fork --------------------------------------------------------------------------------------

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Let every held span go, evaluated where that can be waited for, and export; False when time ran out."""
        return self.flush(timeout_millis / 1000)

    def flush(self, timeout_s: float, *, evaluate: bool = True) -> bool:
        """The same in seconds; with `evaluate=False` nothing is waited for and results follow late."""
        deadline = time.monotonic() + timeout_s
        self.release(timeout_s * _EVALUATION_SHARE if evaluate else 0.0, deadline)
        return fan_out.flush(self._inner, deadline)

    def release(self, evaluate_s: float, deadline: float) -> None:
        """Hand every held span to the exporters, which need not export it yet: within `evaluate_s` with its scores,
        until `deadline` (`time.monotonic` seconds) as late."""
        self._held.release(evaluate_s, deadline)

    def wait_until_evaluated(self, timeout_s: float) -> bool:
        """Wait for every admitted trace, those that went out late included; False when time ran out."""
        return self._held.wait_until_evaluated(timeout_s)

    def shutdown(self) -> None:
        """Let every span go, deliver what is finished, and shut the exporters down. Safe to call twice."""
        if self._shut_down:
            return
        self._shut_down, self._closing = True, self._active
        with guarded("processor.shutdown"):
            self.stop()
            with exit_budget.limited(SHUTDOWN_S) as limit_s:
                self._let_all_go(limit_s)
        fan_out.shutdown(self._inner)
        self._held.flush_disk(KEEP_S)

    def _let_all_go(self, limit_s: float) -> None:
        deadline = time.monotonic() + limit_s
        self._held.wait_until_evaluated(limit_s * _EVALUATION_SHARE)
        self._held.release_all(EvaluationStatus.SKIPPED, SHUT_DOWN, deadline)
        self._held.hold.wait_until_released(deadline - time.monotonic())
        self._runtime.delivery.flush(max(0.0, deadline - time.monotonic()))

    def _after_fork(self) -> None:
        self._delivering = False
        self._held.hold.after_fork()
        self._tracker.after_fork()


_following: Final[weakref.WeakSet[RagSpanProcessor]] = weakref.WeakSet()
"""Those that were given no runtime of their own."""


def following() -> tuple[RagSpanProcessor, ...]:
    """The processors that evaluate with the set-up of the process, whatever that is."""
    return tuple(_following)


def _is_sure_candidate(record: OpenSpan, snapshot: Snapshot) -> bool:
    """True for an observed call that will be a candidate whatever else ends before it: one with an answer, which is no
    search, and with chunks."""
    return snapshot.response is not None and (snapshot.chunks is not None or record.retrieved)


def _root_above(record: OpenSpan) -> ReadableSpan | None:
    """The root span of the trace; None where that is in another process or was not seen."""
    top = record
    while top.parent is not None:
        top = top.parent
    return top.span if top.span.parent is None else None


def _is_own(span: Span, parent_context: Context | None) -> bool:
    """True for a span of our own traffic: even a root with a context of its own, started inside a suppressed call."""
    if span.parent is not None:
        return is_own(span.context)
    return is_suppressed() or (parent_context is not None and is_suppressed(parent_context))
