"""What stands behind a held span: its trace, or why there is none, and the result that follows a span already gone."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Final

from rag_otel.model import (
    EvaluatedTrace,
    EvaluationStatus,
    RagTrace,
    SamplingReason,
    UnevaluableReason,
)
from rag_otel.observing.call_snapshot import Snapshot
from rag_otel.processing.hold import Slot
from rag_otel.processing.sdk_spans import SpanOrigin, span_record
from rag_otel.runtime import Runtime

_LATE_S: Final = 1.0
"""How long spans are waited for that end after the candidate that they belong to."""


async def yield_to_event_loop() -> None:
    """Between two steps of work on the worker, the interpreter may go to whoever waits for it."""
    await asyncio.sleep(0)


def unevaluable_reason(snapshot: Snapshot | None) -> UnevaluableReason | None:
    """Why an observed call cannot be evaluated, whatever its spans hold; None where that must be read first."""
    if snapshot is None:
        return None
    if snapshot.failed:
        return UnevaluableReason.ERROR
    return UnevaluableReason.INCOMPLETE if snapshot.incomplete else None


async def read(slot: Slot, runtime: Runtime) -> tuple[RagTrace | None, str | None]:
    """The trace, or None and why it cannot be evaluated. On the worker."""
    if not slot.tree.complete and (slot.snapshot is None or slot.snapshot.chunks is None):
        return None, UnevaluableReason.TRUNCATED
    spans = slot.tree.spans
    if slot.tree.waits:
        try:
            with runtime.worker.release_slot():
                spans = await slot.tree.whole(late_s=_LATE_S, stream_s=runtime.settings.evaluation_timeout)
        except TimeoutError:
            return None, UnevaluableReason.INCOMPLETE
    records = [span_record(span) for span in spans]
    await yield_to_event_loop()
    trace = runtime.pipeline.read(records, slot.target, slot.snapshot)
    await yield_to_event_loop()
    if trace is None:
        return None, SamplingReason.UNEVALUABLE
    trace = await runtime.pipeline.with_texts(trace)
    return (trace, None) if trace.evaluable else (None, trace.unevaluable_reason)


def late(result: EvaluatedTrace, origin: SpanOrigin | None) -> EvaluatedTrace:
    """The result of a span that has gone, to follow it from where it came."""
    return dataclasses.replace(result, status=EvaluationStatus.LATE, origin=origin)


def late_skipped_result(slot: Slot, reason: str, origin: SpanOrigin | None) -> EvaluatedTrace:
    """What follows a span that left as late, and for which there is nothing to evaluate after all."""
    start_ns, end_ns = slot.span.start_time or 0, slot.span.end_time or 0
    known = UnevaluableReason(reason) if reason != SamplingReason.UNEVALUABLE else None
    trace = RagTrace(
        target=slot.target,
        route=slot.span.name,
        start_ns=start_ns,
        duration_ns=max(0, end_ns - start_ns),
        unevaluable_reason=known,
    )
    decision = slot.decision if known else dataclasses.replace(slot.decision, reason=reason)
    return EvaluatedTrace(
        trace=trace, decision=decision, evaluations=(), status=EvaluationStatus.SKIPPED, origin=origin
    )
