"""`RagSpanProcessor`: stands before the exporting processors, holds the span that is evaluated, releases it enriched.

    span ends -> candidate? -> sampled? -> a slot free? -> held -> evaluated -> one enriched copy -> exporters
                 no: passes    no: passes with its status             deadline: passes as `late`, the result follows

Children and everything else pass at once, in order. An observed call hands its snapshot over before its span ends
(`call_ending`): one that is not evaluated gets its status then, and passes without a copy. Whatever goes wrong in here,
the span still reaches the exporters, once.
"""

from __future__ import annotations

import dataclasses
import functools
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from opentelemetry import trace as trace_api
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import SpanContext

from rag_otel import semconv
from rag_otel.model import (
    QUEUED,
    AttributeValue,
    EvaluatedTrace,
    EvaluationStatus,
    RagTrace,
    SamplingDecision,
    SamplingReason,
)
from rag_otel.observing.call_snapshot import Snapshot, watch
from rag_otel.pipeline import Pipeline, queue_full, rate_limited
from rag_otel.processing import fan_out, trace_reading
from rag_otel.processing.hold import Hold, Slot
from rag_otel.processing.open_spans import Decided
from rag_otel.processing.sdk_spans import SpanOrigin, copy_texts, enriched, keeps_whole, span_ref
from rag_otel.processing.span_tracker import SpanTracker, is_sure_candidate, scope_name
from rag_otel.processing.trace_reading import yield_to_event_loop
from rag_otel.ratings.recent import recent_ratings
from rag_otel.runtime import JobSink, Runtime, default_runtime
from rag_otel.safety.fork import after_fork_in_child
from rag_otel.safety.guard import counters, guarded, report_internal_error
from rag_otel.safety.time_limit import exit_budget
from rag_otel.safety.tracing_suppression import is_own, is_suppressed

if TYPE_CHECKING:  # only imported where a state folder is set
    from rag_otel.durable.trace_records import KeptTrace
    from rag_otel.processing.keeping import Keeper

SHUTDOWN_S: Final = 5.0
"""How long `shutdown()` waits for evaluations: an exiting process must not hang on a slow judge."""
_EVALUATION_SHARE: Final = 2 / 3
"""Of a flush's time; the rest is for exporting."""
KEEP_S: Final = 2.0
"""How long a shutdown waits until the disk knows what is done."""
DEADLINE: Final = "deadline"
FLUSHED: Final = "flush"
SHUT_DOWN: Final = "shutdown"


class RagSpanProcessor(SpanProcessor):
    """Evaluates RAG traces as they end and writes the scores on their spans, before those are exported.

        provider.add_span_processor(RagSpanProcessor(OTLPSpanExporter()))

    `next` is what the spans go on to: an exporter (which gets a BatchSpanProcessor), a processor, or several of them.
    Do not also add those to the provider, or every span is exported twice. `runtime` is the composed set-up, by
    default that of the process, also when `instrument()` changes it later; raises ConfigurationError where there is
    none.
    """

    def __init__(
        self,
        next: SpanExporter | SpanProcessor | Sequence[SpanExporter | SpanProcessor],
        *,
        runtime: Runtime | None = None,
    ) -> None:
        several = next if isinstance(next, Sequence) else (next,)
        self._runtime = runtime or default_runtime()
        # A handful of different ones, asked for on the request path.
        self._status_attributes = functools.lru_cache(256)(self._runtime.status_attributes)
        settings = self._runtime.settings
        self._tracker = SpanTracker(self._runtime.pipeline.conventions, max_bytes=settings.spans.max_held_bytes)
        self._hold = Hold(
            seconds=settings.spans.hold,
            max_items=settings.spans.max_held,
            max_bytes=settings.spans.max_held_bytes,
            on_deadline=lambda slot: self._release_unscored(slot, EvaluationStatus.LATE, DEADLINE),
        )
        self._active = settings.enabled
        self._delivering = False
        """True once this process has told the delivery that traces come."""
        self._shut_down = False
        self._closing = False
        """It evaluated until it was shut down: what ends now says why it has no scores."""
        if runtime is None:
            _following.add(self)
        self._inner: tuple[SpanProcessor, ...] = ()
        self._keeper = self._new_keeper()
        self.replace_next([BatchSpanProcessor(each) if isinstance(each, SpanExporter) else each for each in several])
        after_fork_in_child(self._after_fork)

    @property
    def next(self) -> tuple[SpanProcessor, ...]:
        """The processors that spans go on to, in order."""
        return self._inner

    def replace_next(self, processors: Sequence[SpanProcessor]) -> None:
        """Send spans to `processors` from now on; a held span goes to those of its own that are still among them.

        With none, nothing can be held: results are always late.
        """
        self._inner = tuple(processors)
        settings, room = self._runtime.settings, fan_out.smallest_queue(self._inner)
        # A flush may release every slot at once: that must never overrun a queue that holds other spans as well.
        self._hold.max_items = (
            settings.spans.max_held if room is None else max(1, min(settings.spans.max_held, room // 2))
        )
        self._hold.seconds = settings.spans.hold if self._inner else 0.0

    def _new_keeper(self) -> Keeper | None:
        """What keeps admitted traces on disk; None where no state folder is set."""
        if self._runtime.kept_traces is None:
            return None
        from rag_otel.processing.keeping import Keeper

        return Keeper(self._runtime.kept_traces, self._take_up)

    def use(self, runtime: Runtime) -> None:
        """Evaluate with another set-up from now on. The one before must be flushed: what it has left is given up."""
        self._release_all(EvaluationStatus.LATE, FLUSHED, time.monotonic())
        self._hold.give_up()
        if self._keeper is not None:
            self._keeper.stop()
        self._runtime, self._delivering = runtime, False
        self._keeper = self._new_keeper()
        self._status_attributes = functools.lru_cache(256)(runtime.status_attributes)
        self._tracker.change(runtime.pipeline.conventions, max_bytes=runtime.settings.spans.max_held_bytes)
        self._hold.max_bytes = runtime.settings.spans.max_held_bytes
        self.replace_next(self._inner)
        self._active = runtime.settings.enabled and not self._shut_down

    def pause(self, timeout_s: float) -> None:
        """Evaluate nothing until the next `use`; what is held goes out within `timeout_s`."""
        self._active = False
        self.flush(timeout_s)

    def stop(self) -> None:
        """Evaluate nothing new; spans go on passing, and those that are held still get their scores."""
        self._active = False
        self._hold.close()
        if self._keeper is not None:
            self._keeper.stop()

    # --- the span's way ---------------------------------------------------------------------------------------------

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        own = False
        try:
            own = self._tracker.started(span, own=_is_own(span, parent_context))
            if not own and scope_name(span) == semconv.SCOPE:
                watch(span, self)
        except Exception as error:
            if not report_internal_error("processor.on_start", error):
                raise
        if not own:
            fan_out.start(self._inner, span, parent_context)

    def _on_ending(self, span: Span) -> None:
        fan_out.ending(self._inner, span)

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
        fan_out.end_later(self._inner, span)

    def _consider(self, span: ReadableSpan, downstream: tuple[SpanProcessor, ...]) -> ReadableSpan | None:
        """The span to pass on now: itself, or a copy that says what became of it; None when it is held or ours."""
        record = self._tracker.ending(span)
        if record.own:
            return None
        snapshot = record.snapshot
        tree = self._tracker.ended(record, span)
        if tree is None or not (self._active or self._closing) or not span.context.trace_flags.sampled:
            return span
        root = record.root()
        if root is not None and self._runtime.settings.spans.texts_on_root:
            copy_texts(span, root)
        target, decision, reason, written = record.decided or self._decide(span.context, snapshot)
        if not self._active and reason is None:
            reason = SHUT_DOWN
        if not self._delivering:
            self._delivering = True
            self._runtime.delivery.start()
        if written:
            _count(EvaluationStatus.SKIPPED, reason)
            return span
        if reason is not None:
            return self.unscored(span, EvaluationStatus.SKIPPED, reason, decision)
        slot = Slot(
            span=span,
            target=target,
            tree=tree,
            snapshot=snapshot,
            decision=decision,
            root=None if root is None or root is record.span else span_ref(root.context),
            downstream=downstream,
        )
        if not self._hold.admit(slot):
            return self._turned_away(slot)
        if self._keeper is not None:
            self._keeper.admitted(slot)
        held = slot.deadline > 0
        if not self._runtime.worker.submit(lambda: self._evaluate(slot)):
            self._hold.finish(slot)
            if held and not self._hold.claim(slot):  # a flush was quicker
                return None
            self._hold.gone(slot)
            if self._keeper is not None:
                self._keeper.forget(slot)
            return self._turned_away(slot)
        return None if held else self.passing_late(slot)

    def is_evaluating(self, trace_id: str, span_id: str | None = None) -> bool:
        """True while an answer of this trace waits for its evaluation here or is being evaluated. Any thread."""
        return any(
            span_id in (None, slot.target.span_id)
            for slot in self._hold.find(trace_id)
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
        if not self._active or not context.trace_flags.sampled or not is_sure_candidate(record, snapshot):
            return {}
        try:
            record.decided = decided = self._decide(context, snapshot)
            if decided.reason is None:
                return {}
            attributes = self._status_attributes(EvaluationStatus.SKIPPED, decided.reason, decided.decision)
            if (room is not None and len(attributes) > room) or not keeps_whole(span, attributes):
                return {}
        except Exception as error:
            if not report_internal_error("processor.call_ending", error):
                raise
            return {}
        record.decided = decided._replace(written=True)
        return attributes

    def _decide(self, context: SpanContext, snapshot: Snapshot | None) -> Decided:
        """The decision, and why the trace is not evaluated as far as that is known before its spans are read."""
        pipeline, target = self._runtime.pipeline, span_ref(context)
        unevaluable = None if snapshot is None else snapshot.unevaluable_reason
        if snapshot is not None and snapshot.judging is not None:  # begun already, whatever the coin says
            return Decided(target, snapshot.judging.decision, unevaluable)
        decision = pipeline.decide(target)
        if not decision.sampled:
            return Decided(target, decision, decision.reason)
        if unevaluable is not None:
            return Decided(target, decision, unevaluable)
        if pipeline.cap is not None and pipeline.cap.is_empty():  # reading the spans costs time as well
            return Decided(target, rate_limited(decision), SamplingReason.RATE_LIMITED)
        return Decided(target, decision, None)

    def passing_late(self, slot: Slot) -> ReadableSpan:
        """The span of a trace that is not held, as it goes out before its scores."""
        going = self.unscored(slot.span, EvaluationStatus.LATE, None, slot.decision)
        if self._keeper is not None:
            self._keeper.released(slot)
        return going

    def _take_up(self, kept: KeptTrace) -> bool:
        """Evaluate a trace that an earlier process had admitted; False where there is no room for it now. Where the
        worker has ended, it stays for the next process."""
        from rag_otel.processing.keeping import is_given_up, slot_of

        if self._keeper is None or not self._inner or not self._active:
            return False
        slot, given_up = slot_of(kept, self._inner), is_given_up(kept)
        if not given_up and not self._admits_again(slot, held=not kept.released):
            return False
        job = self._give_up if given_up else self._evaluate_again
        if not self._runtime.worker.submit(lambda: job(slot, released=kept.released)) and not given_up:
            self._hold.finish(slot)
            if self._hold.claim(slot):
                self._hold.gone(slot)
        return True

    def _admits_again(self, slot: Slot, *, held: bool) -> bool:
        """True when there is a slot and a place under the cap."""
        cap = self._runtime.pipeline.cap
        if (cap is not None and cap.is_empty()) or not self._hold.admit(slot, held=held):
            return False
        if cap is not None:
            cap.admit()
        return True

    def _turned_away(self, slot: Slot) -> ReadableSpan:
        decision = queue_full(slot.decision)
        return self.unscored(slot.span, EvaluationStatus.SKIPPED, decision.reason, decision)

    # --- on the worker ----------------------------------------------------------------------------------------------

    async def _evaluate(self, slot: Slot) -> None:
        """Read, evaluate, release, deliver. However it ends, the span is out and the slot is free."""
        try:
            trace, reason = await trace_reading.read(slot, self._runtime, self._keeper.read if self._keeper else None)
            if trace is not None and await self._release_guarded(slot, trace):
                return
            if trace is not None:
                slot.decision, reason = await self._pipeline_of(slot).admit(trace, slot.decision)
            if trace is None or reason is not None:
                self._release_skipped(slot, str(reason))
                return
            if self._runtime.jobs is not None:
                self._hand_over(slot, trace, self._runtime.jobs)
                return
            await self._release_evaluated(slot, await self._runtime.pipeline.evaluate(trace, slot.decision))
        except Exception:
            self._nothing_to_write(slot)  # the next process would fare no better
            raise
        finally:
            self._release_unscored(slot, EvaluationStatus.FAILED, "internal_error")
            self._hold.finish(slot)

    async def _evaluate_again(self, slot: Slot, *, released: bool) -> None:
        """The same for a trace that an earlier process had admitted."""
        if not released and not slot.deadline:  # nothing is held here
            fan_out.end_later(slot.downstream, self.passing_late(slot))
        if self._keeper is not None:
            self._keeper.begun(slot)
        await self._evaluate(slot)

    async def _give_up(self, slot: Slot, *, released: bool) -> None:
        """Let the span of such a trace go without scores: its evaluation has ended one process after the other."""
        from rag_otel.processing.keeping import GIVEN_UP

        if not released:
            fan_out.end_later(
                slot.downstream, self.unscored(slot.span, EvaluationStatus.FAILED, GIVEN_UP, slot.decision)
            )
        self._nothing_to_write(slot)

    async def _release_evaluated(self, slot: Slot, result: EvaluatedTrace) -> None:
        rated = recent_ratings.rated(result.trace)  # a user may have said something while the judge was at work
        result = dataclasses.replace(result, trace=rated, origin=self._origin(slot))
        await yield_to_event_loop()
        scored = enriched(slot.span, self._runtime.attributes(result))
        await yield_to_event_loop()
        self._release_scored(slot, result, scored)

    async def _release_guarded(self, slot: Slot, trace: RagTrace) -> bool:
        """Release a trace whose evaluation a guard has begun; False where none came of it."""
        judging = None if slot.snapshot is None else slot.snapshot.judging
        if judging is None or trace.unevaluable_reason is not None:
            return False
        with self._runtime.worker.release_slot():
            judged = await judging.result()
        if judged is None:
            slot.decision = self._runtime.pipeline.decide(slot.target)
            return False
        slot.decision = judged.decision
        await self._release_evaluated(slot, await self._runtime.pipeline.evaluate_others(trace, judged))
        return True

    def _hand_over(self, slot: Slot, trace: RagTrace, jobs: JobSink) -> None:
        """Publish the trace as a job. The span goes on at once, and its results follow from a worker."""
        published = None if self._keeper is None else self._keeper.when_written(slot)
        reason = jobs.submit(trace, slot.decision, slot.span.resource.attributes, published)
        if reason is None:
            self._release_unscored(slot, EvaluationStatus.LATE, QUEUED)
            return
        if reason == SamplingReason.QUEUE_FULL:
            slot.decision = dataclasses.replace(slot.decision, sampled=False, reason=reason)
        self._release_skipped(slot, reason)

    def _release_skipped(self, slot: Slot, reason: str) -> None:
        """Let the span go unscored; what tells why follows it when it has gone already."""
        if not self._release_unscored(slot, EvaluationStatus.SKIPPED, reason) and not slot.scored:
            counters.add(f"late.skipped.{reason}")  # the trace itself was counted as late
            self._submit(slot, trace_reading.late_skipped_result(slot, reason, self._origin(slot)))
        else:
            self._nothing_to_write(slot)

    def _release_scored(self, slot: Slot, result: EvaluatedTrace, scored: ReadableSpan) -> None:
        """Let the span go with its scores and deliver the result, marked late when the span had already gone."""
        if not self._hold.claim(slot):
            self._submit(slot, result if slot.scored else trace_reading.late(result))
            return
        counters.add(f"trace.{result.status}")
        try:
            # First the result, then the span: whoever waits for the spans finds every result queued.
            self._submit(slot, result)
        finally:
            self._let_go(slot, scored, scored=True)

    def _pipeline_of(self, slot: Slot) -> Pipeline:
        pipeline = self._runtime.pipeline
        return dataclasses.replace(pipeline, cap=None) if slot.taken_up else pipeline

    def _submit(self, slot: Slot, result: EvaluatedTrace) -> None:
        written = None if self._keeper is None else self._keeper.when_written(slot)
        if written is None:
            self._runtime.delivery.submit(result)
        else:
            self._runtime.delivery.submit(result, written)

    def _nothing_to_write(self, slot: Slot) -> None:
        if self._keeper is not None and (written := self._keeper.when_written(slot)) is not None:
            written()

    def _origin(self, slot: Slot) -> SpanOrigin | None:
        """Where what follows a span that has gone is sent."""
        return SpanOrigin(emit=self.emit, resource=slot.span.resource) if self._inner else None

    def _release_unscored(self, slot: Slot, status: EvaluationStatus, reason: str | None) -> bool:
        """Let the span go with its status; False when it has gone already."""
        if not self._hold.claim(slot):
            return False
        going = slot.span
        if slot.kept and reason == SHUT_DOWN:
            status = EvaluationStatus.LATE  # the next process evaluates it
        with guarded("processor.status"):
            going = self.unscored(slot.span, status, reason, slot.decision)
        self._let_go(slot, going)
        return True

    def _let_go(self, slot: Slot, span: ReadableSpan, *, scored: bool = False) -> None:
        try:
            if self._keeper is not None:
                self._keeper.released(slot, scored=scored)
            fan_out.end_later(self._still_there(slot.downstream), span)
        finally:
            self._hold.gone(slot)

    def unscored(
        self, span: ReadableSpan, status: EvaluationStatus, reason: str | None, decision: SamplingDecision
    ) -> ReadableSpan:
        """The span as it goes out without scores."""
        _count(status, reason)
        return enriched(span, self._status_attributes(status, reason, decision))

    def _still_there(self, downstream: tuple[SpanProcessor, ...]) -> tuple[SpanProcessor, ...]:
        """Where a held span goes: to its processors, less those that the application has taken away since."""
        if downstream is self._inner:
            return downstream
        return tuple(processor for processor in downstream if processor in self._inner) or self._inner

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
        with guarded("processor.release"):
            if evaluate_s > 0:
                with self._runtime.worker.without_throttling():
                    self._hold.wait_until_released(evaluate_s)
            self._release_all(EvaluationStatus.LATE, FLUSHED, deadline)
            self._hold.wait_until_released(deadline - time.monotonic())

    def wait_until_evaluated(self, timeout_s: float) -> bool:
        """Wait for every admitted trace, those that went out late included; False when time ran out."""
        with self._runtime.worker.without_throttling():
            return self._hold.wait_until_finished(timeout_s)

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
        if self._keeper is not None:
            self._keeper.flush(KEEP_S)

    def _let_all_go(self, limit_s: float) -> None:
        deadline = time.monotonic() + limit_s
        with self._runtime.worker.without_throttling():
            self._hold.wait_until_finished(limit_s * _EVALUATION_SHARE)
        self._release_all(EvaluationStatus.SKIPPED, SHUT_DOWN, deadline)
        self._hold.wait_until_released(deadline - time.monotonic())
        self._runtime.delivery.flush(max(0.0, deadline - time.monotonic()))

    def _release_all(self, status: EvaluationStatus, reason: str, deadline: float) -> None:
        """Let go in portions that the exporters' queues can take, while there is time for portions."""
        room = fan_out.smallest_queue(self._inner)
        portion = self._hold.max_items if room is None else max(1, room // 4)
        for count, slot in enumerate(self._hold.held(), start=1):
            self._release_unscored(slot, status, reason)
            if count % portion == 0:
                fan_out.flush(self._inner, deadline)

    def _after_fork(self) -> None:
        self._delivering = False
        self._hold.after_fork()
        self._tracker.after_fork()


_following: Final[weakref.WeakSet[RagSpanProcessor]] = weakref.WeakSet()
"""Those that were given no runtime of their own."""


def following() -> tuple[RagSpanProcessor, ...]:
    """The processors that evaluate with the set-up of the process, whatever that is."""
    return tuple(_following)


def _count(status: EvaluationStatus, reason: str | None) -> None:
    counters.add(f"trace.{status}" if reason is None else f"trace.{status}.{reason}")


def _is_own(span: Span, parent_context: Context | None) -> bool:
    """True for a span of our own traffic: even a root with a context of its own, started inside a suppressed call."""
    if span.parent is not None:
        return is_own(span.context)
    return is_suppressed() or (parent_context is not None and is_suppressed(parent_context))
