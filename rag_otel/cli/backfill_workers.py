"""Judging of a backfill in processes of its own: on a machine with cores to spare, the run is as fast as its store.

For judges that compute. One that asks a language model waits most of the time, and does that side by side anyway.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Final

from rag_otel.composition import Parts, compose_pipeline
from rag_otel.errors import PermanentError
from rag_otel.model import EvaluatedTrace, RagTrace, SamplingDecision
from rag_otel.pipeline import Pipeline
from rag_otel.safety.tracing_suppression import suppressed
from rag_otel.settings import Settings
from rag_otel_evaluators.cooperative import time_slice

_SLICE_S: Final = 1.0
"""One answer at a time: there is nobody to give way to."""


class Workers:
    """So many processes, each with the evaluators of the same settings."""

    def __init__(self, settings: Settings, count: int) -> None:
        """Processes start with the first answer."""
        # Not forked: the parent has threads.
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(count, context, initializer=_prepare, initargs=(settings,))

    async def evaluate(self, trace: RagTrace, decision: SamplingDecision) -> EvaluatedTrace:
        """What `Pipeline.evaluate` says, from another process. Raises PermanentError when that one has died."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, _evaluate, trace, decision)
        except BrokenProcessPool:
            raise PermanentError("an evaluation process has died") from None

    def close(self) -> None:
        """End the processes after what they are judging now. Safe to call twice."""
        self._pool.shutdown(wait=True, cancel_futures=True)


# --- in a process ----------------------------------------------------------------------------------------------------

_pipeline: Pipeline
_loop: asyncio.AbstractEventLoop


def _prepare(settings: Settings) -> None:
    global _pipeline, _loop
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, which keeps what is finished
    _pipeline = compose_pipeline(settings, Parts(), default_cap=None)
    _loop = asyncio.new_event_loop()


def _evaluate(trace: RagTrace, decision: SamplingDecision) -> EvaluatedTrace:
    with suppressed(), time_slice(_SLICE_S):
        return _loop.run_until_complete(_pipeline.evaluate(trace, decision))
