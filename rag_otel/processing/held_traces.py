"""Admitted traces: evaluated on the worker, their spans released once, their results handed on.

    admitted -> read -> evaluated -> released with scores -> delivered
                deadline, flush, shutdown: released with a status; the result follows

Whoever claims a slot first (the worker, the deadline, a flush) releases its span.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor

from rag_otel.model import QUEUED, EvaluatedTrace, EvaluationStatus, RagTrace, SamplingDecision, SamplingReason
from rag_otel.processing import fan_out, trace_reading
from rag_otel.processing.hold import MAX_HELD, MAX_HELD_BYTES, Hold, Slot
from rag_otel.processing.open_spans import SubTree
from rag_otel.processing.sdk_spans import SpanOrigin, enriched, span_ref
from rag_otel.processing.trace_reading import yield_to_event_loop
from rag_otel.ratings.rating import recent_ratings
from rag_otel.safety.guard import counters, guarded
from rag_otel.safety.privacy import hidden_now
from rag_otel.setup.runtime import Runtime
from rag_otel.writers.attributes import evaluation_attributes, status_attributes

if TYPE_CHECKING:  # only imported where a state folder is set
    from rag_otel.durable.kept_traces import KeptTraces
    from rag_otel.durable.trace_records import KeptTrace

Exporting: TypeAlias = Callable[[], tuple[SpanProcessor, ...]]
"""The processors that spans go on to, now."""
DEADLINE: Final = "deadline"
FLUSHED: Final = "flush"
SHUT_DOWN: Final = "shutdown"
GIVEN_UP: Final = "given_up"
"""Why a trace has no scores whose evaluation ended the process, again and again."""
_TRIES: Final = 3


class HeldTraces:
    """The admitted traces of one processor, with one runtime."""

    def __init__(self, runtime: Runtime, exporting: Exporting) -> None:
        settings = runtime.settings.spans
        self._runtime = runtime
        self._exporting = exporting
        # A handful of different ones, asked for on the request path.
        self.status_attributes = functools.lru_cache(256)(status_attributes)
        """What is written on a span without scores."""
        self.hold = Hold(
            seconds=settings.hold,
            max_items=MAX_HELD,
            max_bytes=MAX_HELD_BYTES,
            on_deadline=lambda slot: self.release_unscored(slot, EvaluationStatus.LATE, DEADLINE),
        )
        self._kept_traces = runtime.kept_traces
        if self._kept_traces is not None:
            self._kept_traces.left.hand_out_to(self._take_up)
        self.fit()

    def fit(self) -> None:
        """Hold no more than the exporters' queues can take. Called when spans go on to other processors."""
        room = fan_out.smallest_queue(self._exporting())
        # A flush may release every slot at once: that must never overrun a queue that holds other spans as well.
        self.hold.max_items = MAX_HELD if room is None else max(1, min(MAX_HELD, room // 2))
        self.hold.seconds = self._runtime.settings.spans.hold if self._exporting() else 0.0

    def admit(self, slot: Slot) -> bool:
        """Take a trace and have it evaluated. False where there is no room: its span passes."""
        if not self.hold.admit(slot):
            return False
        if self._kept_traces is not None:
            self.keep(slot, self._kept_traces)
        if self._runtime.worker.submit(lambda: self._evaluate(slot)):
            return True
        self.hold.finish(slot)
        if slot.deadline and not self.hold.claim(slot):  # a flush was quicker
            return True
        self.hold.gone(slot)
        if slot.kept_by is not None:
            slot.kept_by.written(slot.span)
            slot.kept_by = None
        return False

    def keep(self, slot: Slot, kept_traces: KeptTraces) -> None:
        """Keep an admitted trace on disk until its results are written. What must not be written anywhere is not kept
        either."""
        captured = slot.snapshot is None or slot.snapshot.capture_content
        if captured and not hidden_now().anything:
            about = (slot.decision, slot.snapshot, slot.root)
            if kept_traces.admitted(slot.span, slot.tree.spans, slot.tree.size, about):
                slot.kept_by = kept_traces

    def passing_late(self, slot: Slot) -> ReadableSpan:
        """The span of a trace that is not held, as it goes out before its scores."""
        if slot.kept_by is not None:
            slot.kept_by.released(slot.span, scored=False)
        return self.unscored(slot.span, EvaluationStatus.LATE, None, slot.decision)

    def unscored(
        self, span: ReadableSpan, status: EvaluationStatus, reason: str | None, decision: SamplingDecision
    ) -> ReadableSpan:
        """The span as it goes out without scores."""
        count(status, reason)
        return enriched(span, self.status_attributes(status, reason, decision))

    def emit(self, span: ReadableSpan) -> None:
        """Send a span of our own making (an evaluation span) straight to the exporters."""
        fan_out.end_later(self._exporting(), span)

    # --- on the worker ----------------------------------------------------------------------------------------------

    async def _evaluate(self, slot: Slot) -> None:
        """Read, evaluate, release, deliver. However it ends, the span is out and the slot is free."""
        pipeline = self._runtime.pipeline
        try:
            trace, reason = await trace_reading.read(slot, self._runtime)
            if trace is not None and await self._release_guarded(slot, trace):
                return
            if trace is not None:
                capped = dataclasses.replace(pipeline, cap=None) if slot.taken_up else pipeline
                slot.decision, reason = await capped.admit(trace, slot.decision)
            if trace is None or reason is not None:
                self._release_skipped(slot, str(reason))
            elif self._runtime.jobs is not None:
                written = _when_written(slot)
                resource = slot.span.resource.attributes
                self._published(slot, self._runtime.jobs.submit(trace, slot.decision, resource, written))
            else:
                await self._release_evaluated(slot, await pipeline.evaluate(trace, slot.decision))
        except Exception:
            self._nothing_to_write(slot)  # the next process would fare no better
            raise
        finally:
            self.release_unscored(slot, EvaluationStatus.FAILED, "internal_error")
            self.hold.finish(slot)

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

    def _published(self, slot: Slot, reason: str | None) -> None:
        """The trace is a job, or `reason` says why not. Its span goes on at once; the results follow from a worker."""
        if reason is None:
            self.release_unscored(slot, EvaluationStatus.LATE, QUEUED)
            return
        if reason == SamplingReason.QUEUE_FULL:
            slot.decision = dataclasses.replace(slot.decision, sampled=False, reason=reason)
        self._release_skipped(slot, reason)

    # --- traces that an earlier process had admitted ----------------------------------------------------------------

    def _take_up(self, kept: KeptTrace) -> bool:
        """Evaluate such a trace; False where there is no room for it now. Where the worker has ended, it stays for the
        next process."""
        exporting = self._exporting()
        if not exporting or self.hold.closed:
            return False
        slot, given_up = self._slot_of(kept, exporting), kept.begun >= _TRIES
        if not given_up and not self._admits_again(slot, held=not kept.released):
            return False
        job = self._give_up if given_up else self._evaluate_again
        if not self._runtime.worker.submit(lambda: job(slot, released=kept.released)) and not given_up:
            self.hold.finish(slot)
            if self.hold.claim(slot):
                self.hold.gone(slot)
        return True

    def _slot_of(self, kept: KeptTrace, downstream: tuple[SpanProcessor, ...]) -> Slot:
        spans = tuple(kept.read.values())
        texts = (value for span in spans for value in (span.attributes or {}).values() if isinstance(value, str))
        return Slot(
            span=kept.target,
            target=span_ref(kept.target.context),
            tree=SubTree(spans=spans, size=sum(map(len, texts)), complete=True),
            snapshot=kept.snapshot,
            decision=kept.decision,
            root=kept.root,
            downstream=downstream,
            kept_by=self._kept_traces,
            taken_up=True,
            scored=kept.scored,
        )

    def _admits_again(self, slot: Slot, *, held: bool) -> bool:
        """True when there is a slot and a place under the cap."""
        cap = self._runtime.pipeline.cap
        if (cap is not None and cap.is_empty()) or not self.hold.admit(slot, held=held):
            return False
        if cap is not None:
            cap.admit()
        return True

    async def _evaluate_again(self, slot: Slot, *, released: bool) -> None:
        if not released and not slot.deadline:  # nothing is held here
            fan_out.end_later(slot.downstream, self.passing_late(slot))
        if slot.kept_by is not None:
            slot.kept_by.begun(slot.span)
        await self._evaluate(slot)

    async def _give_up(self, slot: Slot, *, released: bool) -> None:
        """Let the span go without scores: its evaluation has ended one process after the other."""
        if not released:
            going = self.unscored(slot.span, EvaluationStatus.FAILED, GIVEN_UP, slot.decision)
            fan_out.end_later(slot.downstream, going)
        self._nothing_to_write(slot)

    # --- releasing --------------------------------------------------------------------------------------------------

    async def _release_evaluated(self, slot: Slot, result: EvaluatedTrace) -> None:
        """Let the span go with its scores and deliver the result, marked late when the span had already gone."""
        rated = recent_ratings.rated(result.trace)  # a user may have said something while the judge was at work
        result = dataclasses.replace(result, trace=rated, origin=self._origin(slot))
        await yield_to_event_loop()
        content = self._runtime.settings.capture_content
        scored = enriched(slot.span, evaluation_attributes(result, capture_content=content))
        await yield_to_event_loop()
        if not self.hold.claim(slot):
            self._deliver(slot, result if slot.scored else trace_reading.late(result))
            return
        counters.add(f"trace.{result.status}")
        try:
            # First the result, then the span: whoever waits for the spans finds every result queued.
            self._deliver(slot, result)
        finally:
            self._let_go(slot, scored, scored=True)

    def _release_skipped(self, slot: Slot, reason: str) -> None:
        """Let the span go unscored; what tells why follows it when it has gone already."""
        if not self.release_unscored(slot, EvaluationStatus.SKIPPED, reason) and not slot.scored:
            counters.add(f"late.skipped.{reason}")  # the trace itself was counted as late
            self._deliver(slot, trace_reading.late_skipped_result(slot, reason, self._origin(slot)))
        else:
            self._nothing_to_write(slot)

    def release_unscored(self, slot: Slot, status: EvaluationStatus, reason: str | None) -> bool:
        """Let the span go with its status; False when it has gone already."""
        if not self.hold.claim(slot):
            return False
        going = slot.span
        if slot.kept_by is not None and reason == SHUT_DOWN:
            status = EvaluationStatus.LATE  # the next process evaluates it
        with guarded("processor.status"):
            going = self.unscored(slot.span, status, reason, slot.decision)
        self._let_go(slot, going)
        return True

    def _let_go(self, slot: Slot, span: ReadableSpan, *, scored: bool = False) -> None:
        """Export the span by its processors, less those that the application has taken away since."""
        exporting = self._exporting()
        try:
            if slot.kept_by is not None:
                slot.kept_by.released(slot.span, scored=scored)
            there = tuple(each for each in slot.downstream if each in exporting)
            fan_out.end_later(there or exporting, span)
        finally:
            self.hold.gone(slot)

    def _deliver(self, slot: Slot, result: EvaluatedTrace) -> None:
        written = _when_written(slot)
        if written is None:
            self._runtime.delivery.submit(result)
        else:
            self._runtime.delivery.submit(result, written)

    def _nothing_to_write(self, slot: Slot) -> None:
        if (written := _when_written(slot)) is not None:
            written()

    def _origin(self, slot: Slot) -> SpanOrigin | None:
        """Where what follows a span that has gone is sent."""
        return SpanOrigin(emit=self.emit, resource=slot.span.resource) if self._exporting() else None

    # --- letting all go ---------------------------------------------------------------------------------------------

    def release(self, evaluate_s: float, deadline: float) -> None:
        """Hand every held span to the exporters, which need not export it yet: within `evaluate_s` with its scores,
        until `deadline` (`time.monotonic` seconds) as late."""
        with guarded("processor.release"):
            if evaluate_s > 0:
                with self._runtime.worker.without_throttling():
                    self.hold.wait_until_released(evaluate_s)
            self.release_all(EvaluationStatus.LATE, FLUSHED, deadline)
            self.hold.wait_until_released(deadline - time.monotonic())

    def release_all(self, status: EvaluationStatus, reason: str, deadline: float) -> None:
        """Let go in portions that the exporters' queues can take, while there is time for portions."""
        exporting = self._exporting()
        room = fan_out.smallest_queue(exporting)
        portion = self.hold.max_items if room is None else max(1, room // 4)
        for number, slot in enumerate(self.hold.held(), start=1):
            self.release_unscored(slot, status, reason)
            if number % portion == 0:
                fan_out.flush(exporting, deadline)

    def wait_until_evaluated(self, timeout_s: float) -> bool:
        """Wait for every admitted trace, those that went out late included; False when time ran out."""
        with self._runtime.worker.without_throttling():
            return self.hold.wait_until_finished(timeout_s)

    def stop(self) -> None:
        """Admit nothing more; those that are held still get their scores. Safe to call twice."""
        self.hold.close()
        if self._kept_traces is not None:
            self._kept_traces.left.hand_out_no_more(self._take_up)

    def give_up(self) -> None:
        """Release everything now; what is not evaluated is given up."""
        self.release_all(EvaluationStatus.LATE, FLUSHED, time.monotonic())
        self.stop()
        self.hold.give_up()

    def flush_disk(self, timeout_s: float) -> None:
        """Wait until the disk knows what is done."""
        if self._kept_traces is not None:
            self._kept_traces.flush(timeout_s)


def _when_written(slot: Slot) -> Callable[[], None] | None:
    """A trace is evaluated, or has nothing to evaluate: what to call when its results are written."""
    if slot.kept_by is None:
        return None
    if slot.taken_up:
        slot.kept_by.evaluated(slot.span)
    return functools.partial(slot.kept_by.written, slot.span)


def count(status: EvaluationStatus, reason: str | None) -> None:
    """Count what became of a trace."""
    counters.add(f"trace.{status}" if reason is None else f"trace.{status}.{reason}")
