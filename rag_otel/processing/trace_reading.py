"""What stands behind a held span: its trace, or why there is none, and the result that follows a span already gone."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan

from rag_otel import semconv
from rag_otel.evaluation.conversation import ConversationContext, named_conversation, turns_of
from rag_otel.model import (
    Chunk,
    EvaluatedTrace,
    EvaluationStatus,
    RagTrace,
    SamplingReason,
    SpanRef,
    UnevaluableReason,
)
from rag_otel.observing.call_snapshot import Snapshot
from rag_otel.processing.hold import Slot
from rag_otel.processing.sdk_spans import SpanOrigin, span_record
from rag_otel.ratings.rating import recent_ratings
from rag_otel.sampling.upstream import upstream_probability
from rag_otel.setup.runtime import Runtime

_CHUNK_REASONS: Final = frozenset(
    {UnevaluableReason.NO_CHUNKS, UnevaluableReason.NO_CHUNK_TEXT, UnevaluableReason.TRUNCATED}
)
_FIRST_DOCUMENT: Final = f"{semconv.DOCUMENTS}.0.{semconv.DOCUMENT_CONTENT}"
_LATE_S: Final = 1.0
"""How long spans are waited for that end after the candidate that they belong to."""


async def yield_to_event_loop() -> None:
    """Between two steps of work on the worker, the interpreter may go to whoever waits for it."""
    await asyncio.sleep(0)


async def read(slot: Slot, runtime: Runtime) -> tuple[RagTrace | None, str | None]:
    """The trace, evaluable or not; or None and why there is nothing to read. On the worker."""
    if not slot.tree.complete and (slot.snapshot is None or slot.snapshot.chunks is None):
        return None, UnevaluableReason.TRUNCATED
    spans = slot.tree.spans
    if slot.tree.waits:
        try:
            with runtime.worker.release_slot():
                spans = await slot.tree.whole(late_s=_LATE_S, stream_s=runtime.settings.judge.timeout)
        except TimeoutError:
            return None, UnevaluableReason.INCOMPLETE
        known = {id(span) for span in slot.tree.spans}
        if slot.kept_by is not None and (later := [span for span in spans if id(span) not in known]):
            slot.kept_by.found(slot.span, later)
    snapshot = slot.snapshot
    if snapshot is not None and snapshot.whole and len(spans) == 1:
        trace: RagTrace | None = _of_one_span(slot.span, slot.target)
    else:
        records = [span_record(span) for span in spans]
        await yield_to_event_loop()
        trace = runtime.pipeline.read(records, slot.target)
        await yield_to_event_loop()
    if trace is None:
        return None, SamplingReason.UNEVALUABLE
    if snapshot is not None:
        trace = completed(trace, snapshot, counts=runtime.settings.spans.conversation_context)
    # The spans that were kept are those below the entry point; the root of the trace may stand above it.
    trace = await runtime.pipeline.with_texts(dataclasses.replace(trace, root=slot.root))
    return recent_ratings.rated(trace), None


def _of_one_span(span: ReadableSpan, target: SpanRef) -> RagTrace:
    """What the span of an observed call says beside the call's snapshot, where there is no other span to read."""
    context, attributes = span.context, span.attributes or {}
    service = span.resource.attributes.get(semconv.SERVICE_NAME)
    documented = _FIRST_DOCUMENT in attributes and semconv.OMITTED_DOCUMENTS not in attributes
    return RagTrace(
        target=target,
        chunk_span=target if documented else None,
        service=None if service is None else str(service),
        route=span.name or None,
        start_ns=span.start_time or 0,
        duration_ns=max(0, (span.end_time or 0) - (span.start_time or 0)),
        convention=semconv.SCOPE,
        upstream_probability=upstream_probability(context.trace_state.to_header()) if context.trace_state else 1.0,
        unevaluable_reason=None if documented else UnevaluableReason.NO_CHUNKS,
    )


def late(result: EvaluatedTrace) -> EvaluatedTrace:
    """The result of a span that has left without it."""
    return dataclasses.replace(result, status=EvaluationStatus.LATE)


def late_skipped_result(slot: Slot, reason: str, origin: SpanOrigin | None) -> EvaluatedTrace:
    """What follows a span that left as late, and for which there is nothing to evaluate after all."""
    start_ns, end_ns = slot.span.start_time or 0, slot.span.end_time or 0
    known = UnevaluableReason(reason) if reason in set(UnevaluableReason) else None
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


def completed(trace: RagTrace, snapshot: Snapshot, *, counts: ConversationContext = "none") -> RagTrace:
    """The trace with the observed call's own strings: attribute limits cannot have cut those. `counts`: which earlier
    messages count as context."""
    chunks: tuple[Chunk, ...] = trace.chunks if snapshot.chunks is None else snapshot.chunks
    question = snapshot.question if snapshot.question is not None else trace.question
    response = snapshot.response if snapshot.response is not None else trace.response
    return dataclasses.replace(
        trace,
        # Ranks mean the same in both only where nothing was added or left out.
        chunk_span=trace.chunk_span if not trace.chunks or len(chunks) == len(trace.chunks) else None,
        question=question,
        chunks=chunks,
        response=response,
        conversation=named_conversation(
            trace.conversation,
            memory=snapshot.memory,
            history=turns_of(snapshot.history),
            question=question,
            chunks=chunks,
            counts=counts,
        ),
        reference=snapshot.reference or trace.reference,
        session_id=snapshot.session_id or trace.session_id,
        user_id=snapshot.user_id or trace.user_id,
        tags={**trace.tags, **snapshot.tags},
        capture_content=trace.capture_content and snapshot.capture_content,
        unevaluable_reason=_reason(trace, snapshot, question, response),
    )


def _reason(
    trace: RagTrace, snapshot: Snapshot, question: str | None, response: str | None
) -> UnevaluableReason | None:
    if snapshot.failed:
        return UnevaluableReason.ERROR
    if snapshot.incomplete:
        return UnevaluableReason.INCOMPLETE
    if question is None:
        return UnevaluableReason.NO_QUESTION
    if not response:
        return UnevaluableReason.NO_RESPONSE
    return None if snapshot.chunks is not None else _chunk_reason(trace)


def _chunk_reason(trace: RagTrace) -> UnevaluableReason | None:
    """What is wrong with chunks that were read from spans; the texts that the snapshot has cannot mend those.

    A hidden question or answer makes a trace redacted too: then the chunks are fine when all of them have text.
    """
    if trace.unevaluable_reason is UnevaluableReason.REDACTED:
        readable = bool(trace.chunks) and all(chunk.text for chunk in trace.chunks)
        return None if readable else UnevaluableReason.REDACTED
    return trace.unevaluable_reason if trace.unevaluable_reason in _CHUNK_REASONS else None
