"""The main loop of a backfill: reads stored traces in batches, evaluates those without scores, and writes the results.

While one batch is evaluated, the next one is read and the previous one is written. At most these three batches are in
memory. After an interruption, only the evaluations that were running have to be repeated.
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
    """A store of traces and scores."""

    def batches(self) -> Iterator[list[Spans]]:
        """Yields all traces in batches."""
        ...

    def missing(self, traces: Sequence[RagTrace]) -> list[tuple[str, ...]]:
        """Returns, for each trace, the metrics without a score by the current evaluator, version and judge."""
        ...

    def write(self, results: Sequence[EvaluatedTrace]) -> None:
        """Writes the results. They are stored when `settle` returns."""
        ...

    def settle(self) -> None:
        """Waits until all written results are stored."""
        ...

    def skip(self, traces: Sequence[RagTrace]) -> None:
        """Records traces that cannot be evaluated."""
        ...


@dataclass(kw_only=True)
class Tally:
    """The counts of a backfill so far."""

    traces: int = 0
    rag_traces: int = 0
    unevaluable: Counter[str] = field(default_factory=Counter)
    not_sampled: int = 0
    already: int = 0
    """RAG traces that already have all scores."""
    due: int = 0
    """RAG traces to evaluate: all of them in a dry run, else those whose evaluation has started."""
    characters: int = 0
    """Characters of the questions, chunks and answers to evaluate, counted once for each metric."""
    evaluated: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    """Failed evaluations by error type. They are not written, so the next run repeats them."""
    scores: dict[str, list[float]] = field(default_factory=dict)
    """Metric -> [number of scores, sum of scores]."""
    tokens: int = 0
    cost_usd: float | None = 0.0
    """US dollars. None if the price of any call was unknown."""
    out_of_budget: bool = False

    def count(self, evaluation: Evaluation) -> None:
        """Adds the result of one evaluation."""
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
    """One run of a backfill."""

    store: Store
    pipeline: Pipeline
    budget: Budget
    concurrency: int = 16
    """RAG traces evaluated at a time."""
    dry_run: bool = False
    evaluate: Callable[[RagTrace, SamplingDecision], Awaitable[EvaluatedTrace]] | None = None
    """Evaluates instead of `pipeline.evaluate`, for example in other processes."""
    progress: Callable[[int], object] = lambda traces: None
    """Called after each batch with its number of traces."""

    _writing: asyncio.Task[None] | None = field(default=None, init=False)
    """The task that writes the previous batch."""

    async def run(self, tally: Tally) -> None:
        """Works until all traces have their scores or the budget is spent. Updates `tally`.

        Raises the errors of the store. If it is cancelled, finished results are still written.
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
            tally.characters += sum(trace.characters * len(decision.evaluators or ()) for trace, decision in due)
            return
        results: list[EvaluatedTrace] = []
        try:
            await self._judge(due, tally, results)
        finally:
            await self._written()
            self._writing = asyncio.create_task(asyncio.to_thread(self._write, results, tally))

    async def _due(self, batch: Sequence[Spans], tally: Tally) -> list[tuple[RagTrace, SamplingDecision]]:
        """Returns the RAG traces to evaluate: those that are evaluable, are sampled, and lack a score."""
        read = [trace for spans in batch for trace in self.pipeline.rag_traces(spans)]
        traces = await asyncio.gather(*(self.pipeline.with_texts(trace) for trace in read))
        tally.traces += len(batch)
        tally.rag_traces += len(traces)
        admitted = [(trace, *await self.pipeline.admit(trace, self.pipeline.decide(trace.target))) for trace in traces]
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
        """Evaluates, several at a time, until the budget is spent. Appends finished results to `results`."""
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
        """Waits until the previous batch has been written."""
        writing, self._writing = self._writing, None
        if writing is not None:
            await asyncio.shield(writing)

    def _write(self, results: Sequence[EvaluatedTrace], tally: Tally) -> None:
        """Writes successful evaluations. Failed ones are not written, so that the next run repeats them."""
        kept = [
            replace(result, evaluations=succeeded)
            for result in results
            if (succeeded := tuple(each for each in result.evaluations if each.error_type is None))
        ]
        if kept:
            self.store.write(kept)
            tally.evaluated += len(kept)


def _next(batches: Iterator[list[Spans]]) -> asyncio.Task[list[Spans] | None]:
    """Reads the next batch on another thread."""
    return asyncio.create_task(asyncio.to_thread(next, batches, None))


def is_current(evaluator: Evaluator, stored: Mapping[str, Any]) -> bool:
    """True if `version` and `judge` of a stored score are those of the evaluator."""
    return (stored.get("version"), stored.get("judge")) == (evaluator.version, evaluator.judge_name)
