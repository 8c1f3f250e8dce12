"""The main loop of a backfill: reads stored traces in batches, evaluates those without scores, and writes the results.

Reading, evaluating and writing go on side by side, so that the slowest of them sets the speed. The evaluation does not
wait for the end of a batch. In memory are at most the batch that is read, the one before it, and some hundred results
that are not yet stored. After an interruption, only the evaluations that were running have to be repeated.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

from rag_otel.budgets.run import RunBudget
from rag_otel.model import EvaluatedTrace, Evaluation, RagTrace, SamplingDecision, SpanRecord
from rag_otel.pipeline import Pipeline
from rag_otel.protocols import Evaluator
from rag_otel_collectors.backfill.writing import AT_ONCE, BatchWriter

Spans = Sequence[SpanRecord]
"""All spans of one trace."""
_Due: TypeAlias = tuple[RagTrace, SamplingDecision]
"""A trace to evaluate; the decision names the metrics."""
_Waiting: TypeAlias = "asyncio.Queue[_Due | None]"
"""Traces to evaluate. None: no more will come."""


class Store(Protocol):
    """A store of traces and scores."""

    def batches(self) -> Iterator[list[Spans]]:
        """Yields all traces in batches."""
        ...

    def missing(self, traces: Sequence[RagTrace]) -> list[tuple[str, ...]]:
        """Returns, for each trace, the metrics without a score by the current evaluator, version and judge."""
        ...

    def write(self, results: Sequence[EvaluatedTrace]) -> None:
        """Writes some results. They are stored when `settle` returns."""
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
    budget: RunBudget
    concurrency: int = 16
    """RAG traces evaluated at a time."""
    dry_run: bool = False
    evaluate: Callable[[RagTrace, SamplingDecision], Awaitable[EvaluatedTrace]] | None = None
    """Evaluates instead of `pipeline.evaluate`, for example in other processes."""
    progress: Callable[[int], object] = lambda traces: None
    """Called with the number of traces of each batch, when the evaluation of its last ones begins."""

    async def run(self, tally: Tally) -> None:
        """Works until all traces have their scores or the budget is spent. Updates `tally`.

        Raises the errors of the store. If it is cancelled, finished results are still written.
        """
        results = BatchWriter(lambda batch: self._write(batch, tally), unwritten=self.concurrency + 2 * AT_ONCE)
        waiting: _Waiting = asyncio.Queue(self.concurrency)
        try:
            async with asyncio.TaskGroup() as group:
                reader = group.create_task(self._read(tally, waiting))
                for _ in range(self.concurrency):
                    group.create_task(self._judge(tally, waiting, results))
            if (error := reader.result()) is not None:
                raise error
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            await asyncio.shield(self._finish(results))

    async def _finish(self, results: BatchWriter) -> None:
        try:
            await results.close()
        finally:
            await asyncio.to_thread(self.store.settle)

    async def _read(self, tally: Tally, waiting: _Waiting) -> Exception | None:
        """Reads batches, the next one ahead, and hands out what is to be evaluated. Returns the error that ended the
        reading: what was handed out before is evaluated all the same."""
        batches, failure = self.store.batches(), None
        reading = _next(batches)
        try:
            while not tally.out_of_budget and (batch := await reading) is not None:
                reading = _next(batches)
                await self._hand_out(await self._due(batch, tally), tally, waiting)
                self.progress(len(batch))
        except Exception as error:  # noqa: BLE001 - raised when the others are done
            failure = error
        finally:
            reading.cancel()
        await waiting.put(None)
        return failure

    async def _hand_out(self, due: Sequence[_Due], tally: Tally, waiting: _Waiting) -> None:
        if self.dry_run:
            tally.due += len(due)
            tally.characters += sum(trace.characters * len(decision.evaluators or ()) for trace, decision in due)
            return
        for each in due:
            if not tally.out_of_budget:
                await waiting.put(each)

    async def _due(self, batch: Sequence[Spans], tally: Tally) -> list[_Due]:
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

    async def _judge(self, tally: Tally, waiting: _Waiting, results: BatchWriter) -> None:
        """Evaluates one trace after the other until none is left. What comes after the budget is spent is left out."""
        evaluate = self.evaluate or self.pipeline.evaluate
        while (each := await waiting.get()) is not None:
            trace, decision = each
            lease = None if tally.out_of_budget else await self.budget.reserve(len(decision.evaluators or ()))
            if lease is None:
                tally.out_of_budget = True
                continue
            await results.room()
            tally.due += 1
            result = await evaluate(trace, decision)
            for evaluation in result.evaluations:
                tally.count(evaluation)
            results.add(result)
            self.budget.settle(lease, result.evaluations)
        waiting.put_nowait(None)  # for the next one; there is room, because nothing else is added any more

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
