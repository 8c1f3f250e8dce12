"""Evaluation in separate processes, for judges that run on this machine and need its CPU.

`rag-otel collect` and `rag-otel traces backfill --workers` start this module as a program, through one pool
(`rag_otel_collectors.otlp.evaluation.pool`).
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from typing import Final

from rag_otel.model import EvaluatedTrace, Evaluation, EvaluationStatus, RagTrace, SamplingDecision
from rag_otel.safety import privacy, redaction
from rag_otel.settings import Settings
from rag_otel.settings.rows import secrets_of
from rag_otel.setup.judging import compose_pipeline
from rag_otel_collectors.otlp.evaluation.messages import Job, JobResults
from rag_otel_collectors.otlp.evaluation.pool import WORKER_DIED, EvaluationPool
from rag_otel_collectors.otlp.evaluation.trace_evaluator import TraceEvaluator
from rag_otel_collectors.otlp.evaluation.worker_process import Evaluate, serve
from rag_otel_evaluators.cooperative import time_slice

COLLECTOR_WORKER: Final = ("-m", "rag_otel.cli.worker")
_BACKFILL: Final = "backfill"
_COLLECTOR_SLICE_S: Final = 0.005
"""An evaluation yields to the event loop after this time, so that other traces meet their deadlines."""
_BACKFILL_SLICE_S: Final = 1.0
"""A process of a backfill evaluates one answer at a time, so nothing else waits."""
_BACKFILL_JOBS: Final = 2
"""Answers that a process has at a time: one that is evaluated, and the next one."""
_PATIENCE_S: Final = 60.0
"""Beyond the time that the evaluations of a process may take."""


def build(setup: tuple[Settings, int]) -> Evaluate:
    """What a process of the collector does. `setup` is (settings, number of processes). The limit of evaluations per
    minute is divided among the processes."""
    settings, processes = setup
    privacy.configure(capture_content=settings.capture_content)
    redaction.remember(secrets_of(settings))
    if settings.evaluations_per_minute is not None:
        settings = dataclasses.replace(settings, evaluations_per_minute=settings.evaluations_per_minute / processes)
    return TraceEvaluator(
        pipeline=compose_pipeline(settings),
        capture_content=settings.capture_content,
        hold_s=settings.spans.hold,
        publishes=settings.judge.job_queue_url is not None,
    ).evaluate


def build_for_backfill(settings: Settings) -> Evaluate:
    """What a process of a backfill does: it evaluates one stored trace after the other."""
    redaction.remember(secrets_of(settings))
    pipeline = compose_pipeline(settings, budgeted=False)

    async def evaluate(job: Job, reply: Callable[[JobResults], None]) -> None:
        trace, decision = job.work
        result = await pipeline.evaluate(trace, decision)
        # Without the trace's texts, which the parent has.
        light = dataclasses.replace(result, trace=RagTrace(target=trace.target))
        reply(JobResults(number=job.number, results=(light,)))

    return evaluate


class Workers:
    """The processes of a backfill, each with the evaluators of the same settings, inside an `async with` block."""

    def __init__(self, settings: Settings, count: int) -> None:
        self._metrics = settings.metrics
        self._pool = EvaluationPool(
            (*COLLECTOR_WORKER, _BACKFILL),
            settings,
            workers=count,
            concurrency=_BACKFILL_JOBS,
            patience_s=_BACKFILL_JOBS * settings.judge.timeout + _PATIENCE_S,
        )

    async def __aenter__(self) -> Workers:
        """Raises ConfigurationError if a process cannot start."""
        await self._pool.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.close()

    async def evaluate(self, trace: RagTrace, decision: SamplingDecision) -> EvaluatedTrace:
        """Runs `Pipeline.evaluate` in another process. If that process dies, all metrics of the trace have failed."""
        reply = await self._pool.evaluate((trace, decision))
        if reply.results:
            return dataclasses.replace(reply.results[0], trace=trace)
        failed = tuple(
            Evaluation(name=name, error_type=WORKER_DIED, explanation="The evaluation process died or hung.")
            for name in decision.evaluators or self._metrics
        )
        return EvaluatedTrace(trace=trace, decision=decision, evaluations=failed, status=EvaluationStatus.FAILED)


if __name__ == "__main__":
    redaction.redact_logs_of_process()
    if _BACKFILL in sys.argv:
        with time_slice(_BACKFILL_SLICE_S):
            serve(build_for_backfill)
    else:
        with time_slice(_COLLECTOR_SLICE_S):
            serve(build)
