"""The worker's guard around a job: read, evaluate, deliver the results, acknowledge.

Whatever goes wrong is a failed start, and a job is started `max_starts` times: a message that cannot be read, an
exception, a judge that is away, a backend that takes no results. Then it is a dead letter, with the reason.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from rag_otel.errors import PermanentError, RetryableError
from rag_otel.model import EvaluatedTrace, EvaluationStatus
from rag_otel.pipeline import Pipeline
from rag_otel.safety.guard import counters, logger
from rag_otel.safety.redaction import redacted_text
from rag_otel.safety.tracing_suppression import suppressed
from rag_otel_collectors.jobs.delivery import Delivery
from rag_otel_collectors.jobs.job import EvaluationJob, decode

WriteResult: TypeAlias = Callable[[EvaluationJob, EvaluatedTrace], Awaitable[None]]
"""Delivers a result. Returns when it is delivered. Raises RetryableError or PermanentError."""
_CAP_LOOK_S: Final = 0.1


class JobWorker:
    """Handles the deliveries of a job queue; see `Handle`."""

    def __init__(
        self,
        pipeline: Pipeline,
        write: WriteResult,
        *,
        max_starts: int,
        watch: Callable[[EvaluatedTrace], object] = lambda result: None,
    ) -> None:
        """`watch` gets every result, also of starts that failed: metrics, alerts, drift."""
        self._pipeline = pipeline
        self._write = write
        self._max_starts = max_starts
        self._watch = watch

    async def handle(self, delivery: Delivery) -> None:
        """Evaluates one job and settles its delivery. Never raises."""
        reason = None
        try:
            with suppressed():
                reason = await self._work(delivery.body)
        except Exception as error:  # noqa: BLE001 - whatever a job raises is a failed start of this job
            reason = redacted_text(f"{type(error).__name__}: {error}")
        if reason is None:
            counters.add("jobs.done")
            await delivery.ack()
        elif delivery.starts + 1 < self._max_starts:
            counters.add("jobs.retried")
            await delivery.retry_later(reason)
        else:
            counters.add("jobs.dead")
            logger.error("rag-otel: job %s is given up after %d starts: %s", delivery.key, self._max_starts, reason)
            await delivery.dead_letter(reason)

    async def _work(self, body: bytes) -> str | None:
        """None when the results are delivered, else why not."""
        job = decode(body)
        while self._pipeline.cap is not None and not self._pipeline.cap.admit():
            await asyncio.sleep(_CAP_LOOK_S)
        decision = await self._pipeline.within_budget(job.trace, job.decision)
        if decision.sampled:
            result = await self._pipeline.evaluate(job.trace, decision)
        else:
            result = self._pipeline.refused(job.trace, decision)
        if (failure := _passing_failure(result)) is not None:
            self._watch(result)
            return failure
        late = dataclasses.replace(result, status=EvaluationStatus.LATE, project=job.project or result.project)
        try:
            await self._write(job, late)
        except (RetryableError, PermanentError) as error:
            return f"the results cannot be delivered: {error}"
        self._watch(late)
        return None


def _passing_failure(result: EvaluatedTrace) -> str | None:
    """Why evaluating once more may succeed; None where it succeeded, or where it would fail again."""
    failed = [each for each in result.evaluations if each.error_type is not None and each.error_retryable]
    return f"{failed[0].name}: {failed[0].explanation}" if failed else None
