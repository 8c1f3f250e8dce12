"""The straight path, readable in one screen.

    spans -> RagTrace -> SamplingDecision -> Evaluation(s) -> written back -> watched

Every deployment shape (in process, collector, backfill, files) runs this; only the two ends differ.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Callable, Sequence

from rag_otel.errors import PermanentError, RetryableError
from rag_otel.evaluation.chunk_texts import ChunkTexts
from rag_otel.evaluation.usage_meter import metered
from rag_otel.model import (
    Chunk,
    EvaluatedTrace,
    Evaluation,
    EvaluationStatus,
    RagTrace,
    ReasonCode,
    SamplingDecision,
    SamplingReason,
    SpanRecord,
    SpanRef,
    UnevaluableReason,
)
from rag_otel.observing.call_snapshot import Snapshot
from rag_otel.protocols import Convention, Evaluator, Sampler
from rag_otel.sampling.cap import EvaluationCap

_CHUNK_REASONS = frozenset({UnevaluableReason.NO_CHUNKS, UnevaluableReason.NO_CHUNK_TEXT, UnevaluableReason.TRUNCATED})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Pipeline:
    """Reads, decides, evaluates. Holds no state of its own but the cap's bucket."""

    conventions: Sequence[Convention]
    """Tried in order; the first that owns the entry span reads the trace."""
    sampler: Sampler
    evaluators: Sequence[Evaluator]
    cap: EvaluationCap | None = None
    timeout_s: float = 60.0
    """For all evaluators of one trace together."""
    project: str | None = None
    texts: ChunkTexts | None = None
    """Fetches the texts of chunks that have ids alone."""

    def decide(self, target: SpanRef) -> SamplingDecision:
        """Flip the coin, then ask the cap. Called on the request path: microseconds."""
        decision = self.sampler.decide(target)
        if decision.sampled and self.cap is not None and not self.cap.admit():
            return dataclasses.replace(decision, sampled=False, reason=SamplingReason.RATE_LIMITED)
        return decision

    def read(self, spans: Sequence[SpanRecord], target: SpanRef, snapshot: Snapshot | None = None) -> RagTrace | None:
        """The RAG trace whose scores belong to `target`; None where no convention finds one."""
        for convention in self.conventions:
            for trace in convention.read(spans):
                if trace.target == target:
                    return trace if snapshot is None else _complete(trace, snapshot)
        return None

    async def with_texts(self, trace: RagTrace) -> RagTrace:
        """The trace with the texts of its chunks, fetched where it names them by id alone; to be asked after `read`,
        and before the trace is given up for its `unevaluable_reason`."""
        return trace if self.texts is None else await self.texts.complete(trace)

    async def evaluate(self, trace: RagTrace, decision: SamplingDecision) -> EvaluatedTrace:
        """Run the chosen evaluators side by side; what fails or runs out of time is a failed `Evaluation`."""
        chosen = [e for e in self.evaluators if decision.evaluators is None or e.name in decision.evaluators]
        evaluations = await asyncio.gather(*(self._evaluate_one(e, trace) for e in chosen))
        failed = bool(evaluations) and all(e.error_type is not None for e in evaluations)
        return EvaluatedTrace(
            trace=trace,
            decision=decision,
            evaluations=tuple(evaluations),
            status=EvaluationStatus.FAILED if failed else EvaluationStatus.EVALUATED,
            project=self.project,
        )

    async def _evaluate_one(self, evaluator: Evaluator, trace: RagTrace) -> Evaluation:
        started = time.perf_counter()
        with metered() as spent:
            try:
                async with asyncio.timeout(self.timeout_s):
                    result = await evaluator.evaluate(
                        question=trace.question,
                        chunks=trace.chunks,
                        response=trace.response or "",
                        reference=trace.reference,
                    )
                if not isinstance(result, Evaluation):
                    raise TypeError(f"evaluate() returned {type(result).__name__}, not an Evaluation")
            except asyncio.CancelledError as error:
                if (task := asyncio.current_task()) is None or task.cancelling():
                    raise  # we are being shut down; else a call inside the evaluator was cancelled
                result = failure(evaluator, RuntimeError(f"cancelled inside the evaluator {error}".rstrip()))
            except Exception as error:  # noqa: BLE001 - any evaluator's failure is data
                result = failure(evaluator, error)
        usage = result.usage if result.usage is not None or result.error_type is None else spent.usage
        return dataclasses.replace(result, usage=usage, duration_s=time.perf_counter() - started)


def failure(evaluator: Evaluator, error: Exception) -> Evaluation:
    """A failed evaluation as data: no score, what went wrong, whether trying again may help."""
    timed_out = isinstance(error, TimeoutError)
    return Evaluation(
        name=evaluator.name,
        reason_code=ReasonCode.TIMEOUT if timed_out else ReasonCode.JUDGE_ERROR,
        explanation=str(error) or type(error).__name__,
        evaluator=type(evaluator).__qualname__,
        version=evaluator.version,
        judge=evaluator.judge_name,
        error_type=f"{type(error).__module__}.{type(error).__qualname__}",
        error_retryable=timed_out or (isinstance(error, RetryableError) and not isinstance(error, PermanentError)),
    )


def _complete(trace: RagTrace, snapshot: Snapshot) -> RagTrace:
    """The trace with the observed call's own strings: attribute limits cannot have cut those."""
    chunks: tuple[Chunk, ...] = trace.chunks if snapshot.chunks is None else snapshot.chunks
    question = snapshot.question if snapshot.question is not None else trace.question
    response = snapshot.response if snapshot.response is not None else trace.response
    return dataclasses.replace(
        trace,
        # Ranks mean the same in both only where nothing was added or left out.
        chunk_span=trace.chunk_span if len(chunks) == len(trace.chunks) else None,
        question=question,
        chunks=chunks,
        response=response,
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


Deliver = Callable[[EvaluatedTrace], None]
"""Hands a result to the writers and the alerts: returns at once, never raises."""
