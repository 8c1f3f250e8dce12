"""Evaluation in separate processes, for judges that run on this machine and need its CPU.

`rag-otel collect` starts this module as a program. `rag-otel backfill --workers` uses a pool of processes (`Workers`).
"""

from __future__ import annotations

import asyncio
import dataclasses
import multiprocessing
import signal
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Final

from rag_otel.composition import Parts, compose_attributes, compose_pipeline
from rag_otel.errors import PermanentError
from rag_otel.model import EvaluatedTrace, RagTrace, SamplingDecision
from rag_otel.pipeline import Pipeline
from rag_otel.safety import privacy, redaction
from rag_otel.safety.tracing_suppression import suppressed
from rag_otel.settings import Settings
from rag_otel.settings.rows import secrets_of
from rag_otel.writers.attributes import status_attributes
from rag_otel_evaluators.cooperative import time_slice

if TYPE_CHECKING:
    from rag_otel_collectors.otlp.evaluation.trace_evaluator import TraceEvaluator

_COLLECTOR_SLICE_S: Final = 0.005
"""An evaluation yields to the event loop after this time, so that other traces meet their deadlines."""
_BACKFILL_SLICE_S: Final = 1.0
"""A process of a backfill evaluates one answer at a time, so nothing else waits."""


def build(setup: tuple[Settings, int]) -> TraceEvaluator:
    """Returns the evaluator of one process. `setup` is (settings, number of processes). The limit of evaluations per
    minute is divided among the processes."""
    from rag_otel_collectors.otlp.evaluation.trace_evaluator import TraceEvaluator  # needs the extra `collector`

    settings, processes = setup
    privacy.configure(capture_content=settings.capture_content)
    redaction.remember(secrets_of(settings))
    if settings.evaluations_per_minute is not None:
        settings = dataclasses.replace(settings, evaluations_per_minute=settings.evaluations_per_minute / processes)
    return TraceEvaluator(
        pipeline=compose_pipeline(settings, Parts(), default_cap=None),
        attributes=compose_attributes(settings),
        status_attributes=status_attributes,
        hold_s=settings.hold,
        publishes=settings.job_queue_url is not None,
    )


class Workers:
    """A pool of processes, each with the evaluators of the same settings."""

    def __init__(self, settings: Settings, count: int) -> None:
        """Creates `count` processes with the first evaluation."""
        # "spawn", because it is not safe to fork a process that has threads.
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(count, context, initializer=_prepare, initargs=(settings,))

    async def evaluate(self, trace: RagTrace, decision: SamplingDecision) -> EvaluatedTrace:
        """Runs `Pipeline.evaluate` in another process. Raises PermanentError if that process died."""
        try:
            result = await asyncio.get_running_loop().run_in_executor(self._pool, _evaluate, trace, decision)
        except BrokenProcessPool:
            raise PermanentError("an evaluation process died") from None
        return dataclasses.replace(result, trace=trace)

    def close(self) -> None:
        """Ends the processes after their current evaluation. Safe to call twice."""
        self._pool.shutdown(wait=True, cancel_futures=True)


# --- in a process of a backfill ---------------------------------------------------------------------------------------

_pipeline: Pipeline
_loop: asyncio.AbstractEventLoop


def _prepare(settings: Settings) -> None:
    global _pipeline, _loop
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C the parent writes finished results, then ends the pool
    _pipeline = compose_pipeline(settings, Parts(), default_cap=None, budgeted=False)
    _loop = asyncio.new_event_loop()


def _evaluate(trace: RagTrace, decision: SamplingDecision) -> EvaluatedTrace:
    """The result without the trace's texts, which the parent has."""
    with suppressed(), time_slice(_BACKFILL_SLICE_S):
        result = _loop.run_until_complete(_pipeline.evaluate(trace, decision))
    return dataclasses.replace(result, trace=RagTrace(target=trace.target))


if __name__ == "__main__":
    from rag_otel_collectors.otlp.evaluation.worker_process import serve

    redaction.redact_logs_of_process()
    with time_slice(_COLLECTOR_SLICE_S):
        serve(build)
