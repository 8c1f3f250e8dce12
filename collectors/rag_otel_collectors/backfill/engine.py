"""The loop of a backfill: stored traces in, what has no score of these evaluators judged, results out, some at a time.

While one batch is judged the next one is being read and the one before it written, and no more than these three are in
memory. An interruption costs the answers that are being judged, and no others.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from rag_otel.errors import ConfigurationError, PermanentError
from rag_otel.evaluation.budget import Budget
from rag_otel.model import EvaluatedTrace, Evaluation, RagTrace, SamplingDecision, SpanRecord
from rag_otel.pipeline import Pipeline
from rag_otel.protocols import Evaluator

Spans = Sequence[SpanRecord]
"""All spans of one trace."""


class Store(Protocol):
    """Where traces are stored and scores are kept."""

    def batches(self) -> Iterator[list[Spans]]:
        """Every trace, some at a time."""
        ...

    def missing(self, traces: Sequence[RagTrace]) -> list[tuple[str, ...]]:
        """For each trace, the metrics of which it has no score by this evaluator, version and judge."""
        ...

    def write(self, results: Sequence[EvaluatedTrace]) -> None:
        """Keep the results; all of them are there when `settle` returns."""
        ...

    def settle(self) -> None:
        """Wait until everything that was written is there."""
        ...

    def skip(self, traces: Sequence[RagTrace]) -> None:
        """Take note of traces that cannot be evaluated."""
        ...


@dataclass(kw_only=True)
class Tally:
    """What a backfill did so far."""

    traces: int = 0
    rag_traces: int = 0
    unevaluable: Counter[str] = field(default_factory=Counter)
    not_sampled: int = 0
    already: int = 0
    """RAG traces that have every score."""
    due: int = 0
    """Answers to judge: all of them in a dry run, else those that were begun."""
    characters: int = 0
    """Of the questions, chunks and answers that are due, once for each metric."""
    evaluated: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    """Evaluations that failed, by error type; nothing is written of them, so the next run tries again."""
    scores: dict[str, list[float]] = field(default_factory=dict)
    """Metric -> [how many scores, their sum]."""
    tokens: int = 0
    cost_usd: float | None = 0.0
    """None once a price was unknown."""
    out_of_budget: bool = False

    def count(self, evaluation: Evaluation) -> None:
        """Take one evaluation's result in."""
        if evaluation.error_type is not None:
            self.failed[evaluation.error_type] += 1
        if evaluation.score is not None:
            number, total = self.scores.setdefault(evaluation.name, [0, 0.0])
            self.scores[evaluation.name] = [number + 1, total + evaluation.score]
        usage = evaluation.usage
        if usage is not None and usage.calls:
            self.tokens += usage.input_tokens + usage.output_tokens
            known = self.cost_usd is not None and usage.cost_usd is not None
            self.cost_usd = (self.cost_usd or 0.0) + (usage.cost_usd or 0.0) if known else None


@dataclass(kw_only=True)
class Backfill:
    """One run."""

    store: Store
    pipeline: Pipeline
    budget: Budget
    concurrency: int = 16
    """Answers judged at a time."""
    dry_run: bool = False
    evaluate: Callable[[RagTrace, SamplingDecision], Awaitable[EvaluatedTrace]] | None = None
    """Judges in place of the pipeline, in other processes for example."""
    progress: Callable[[int], object] = lambda traces: None
    """Told how many more traces are dealt with."""

    _writing: asyncio.Task[None] | None = field(default=None, init=False)
    """The writing of the batch before."""

    async def run(self, tally: Tally) -> None:
        """Work until everything has its scores or the budget is spent; `tally` is kept up to date.

        Raises what the store raises. Results that are finished are written also when it is cancelled.
        """
        batches = self.store.batches()
        reading = _next(batches)
        try:
            while not tally.out_of_budget and (batch := await reading) is not None:
                reading = _next(batches)
                await self._batch(batch, tally)
                self.progress(len(batch))
        finally:
            reading.cancel()
            await self._written()
            await asyncio.shield(asyncio.to_thread(self.store.settle))

    async def _batch(self, batch: Sequence[Spans], tally: Tally) -> None:
        due = await self._due(batch, tally)
        if self.dry_run:
            tally.due += len(due)
            tally.characters += sum(_characters(trace) * len(decision.evaluators or ()) for trace, decision in due)
            return
        results: list[EvaluatedTrace] = []
        try:
            await self._judge(due, tally, results)
        finally:
            await self._written()
            self._writing = asyncio.create_task(asyncio.to_thread(self._write, results, tally))

    async def _due(self, batch: Sequence[Spans], tally: Tally) -> list[tuple[RagTrace, SamplingDecision]]:
        """What is to be judged: RAG traces that can be, that the coin picks, and that lack a score."""
        read = [trace for spans in batch for trace in self.pipeline.rag_traces(spans)]
        traces = await asyncio.gather(*(self.pipeline.with_texts(trace) for trace in read))
        tally.traces += len(batch)
        tally.rag_traces += len(traces)
        admitted = [(trace, *self.pipeline.admit(trace, self.pipeline.decide(trace.target))) for trace in traces]
        refused = [trace for trace, _, reason in admitted if reason is not None and reason == trace.unevaluable_reason]
        chosen = [(trace, decision) for trace, decision, reason in admitted if reason is None]
        tally.unevaluable.update(str(trace.unevaluable_reason) for trace in refused)
        tally.not_sampled += len(traces) - len(refused) - len(chosen)
        if refused and not self.dry_run:
            await asyncio.to_thread(self.store.skip, refused)
        missing = await asyncio.to_thread(self.store.missing, [trace for trace, _ in chosen])
        due = [
            (trace, replace(decision, evaluators=names))
            for (trace, decision), names in zip(chosen, missing, strict=True)
            if names
        ]
        tally.already += len(chosen) - len(due)
        return due

    async def _judge(
        self, due: Sequence[tuple[RagTrace, SamplingDecision]], tally: Tally, results: list[EvaluatedTrace]
    ) -> None:
        """Judge, several at a time, until the budget is spent; `results` grows as answers are finished."""
        waiting = iter(due)
        evaluate = self.evaluate or self.pipeline.evaluate

        async def judge() -> None:
            for trace, decision in waiting:
                if tally.out_of_budget or not await self.budget.admit(len(decision.evaluators or ())):
                    tally.out_of_budget = True
                    return
                tally.due += 1
                result = await evaluate(trace, decision)
                for evaluation in result.evaluations:
                    tally.count(evaluation)
                results.append(result)
                self.budget.settle(result.evaluations)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.concurrency, len(due))):
                    group.create_task(judge())
        except* (ConfigurationError, PermanentError) as errors:
            raise errors.exceptions[0] from None

    async def _written(self) -> None:
        """Wait until the batch before has been written."""
        writing, self._writing = self._writing, None
        if writing is not None:
            await asyncio.shield(writing)

    def _write(self, results: Sequence[EvaluatedTrace], tally: Tally) -> None:
        """Write what succeeded. A failure is left unwritten: that is what makes the next run try it again."""
        kept = [
            replace(result, evaluations=succeeded)
            for result in results
            if (succeeded := tuple(each for each in result.evaluations if each.error_type is None))
        ]
        if kept:
            self.store.write(kept)
            tally.evaluated += len(kept)


def _next(batches: Iterator[list[Spans]]) -> asyncio.Task[list[Spans] | None]:
    """The next batch, read on another thread."""
    return asyncio.create_task(asyncio.to_thread(next, batches, None))


def _characters(trace: RagTrace) -> int:
    return len(trace.question or "") + len(trace.response or "") + sum(len(chunk.text) for chunk in trace.chunks)


def is_current(evaluator: Evaluator, stored: Mapping[str, Any]) -> bool:
    """True when a stored score's `version` and `judge` are those of the evaluator."""
    return (stored.get("version"), stored.get("judge")) == (evaluator.version, evaluator.judge_name)
