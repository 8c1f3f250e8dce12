"""An evaluation process without a judge: its first job misses a cache and opens a breaker, the others hit the cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rag_otel.safety.guard import counters
from rag_otel_collectors.otlp.evaluation.messages import Job, JobResults
from rag_otel_collectors.otlp.evaluation.worker_process import Evaluate, serve
from rag_otel_evaluators.llm.circuit_breaker import CircuitBreaker
from rag_otel_evaluators.llm.failures import CallError, FailureKind


class Counting:
    """Answers every job with an empty reply."""

    def __init__(self) -> None:
        self._breaker = CircuitBreaker("a judge")

    async def evaluate(self, job: Job, reply: Callable[[JobResults], None]) -> None:
        first = job.number == 1
        counters.add("judge.cache.miss" if first else "judge.cache.hit")
        if first:
            self._breaker.failed(CallError(FailureKind.AUTH, "wrong key"))
        reply(JobResults(number=job.number))


def build(setup: Any) -> Evaluate:
    return Counting().evaluate


if __name__ == "__main__":
    serve(build)
