"""The budget of a backfill, its failures, and what waits for what."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from rag_otel.budgets.run import RunBudget
from rag_otel.errors import ConfigurationError, PermanentError, RetryableError
from rag_otel.model import Chunk, EvaluatedTrace, Evaluation, RagTrace, Usage
from rag_otel.pipeline import Pipeline
from rag_otel.protocols import Evaluator
from rag_otel.sampling.amount import RatioSampler
from rag_otel_collectors.backfill.engine import Backfill, Spans, Tally
from rag_otel_collectors.conventions import default_conventions
from tests.collectors.conventions.spans import a_chain, a_retriever


class Memory:
    """A store of some traces without scores."""

    def __init__(self, traces: int, *, at_once: int = 4) -> None:
        self._traces = traces
        self._at_once = at_once
        self.written: list[EvaluatedTrace] = []

    def batches(self) -> Iterator[list[Spans]]:
        spans = [self._trace(number) for number in range(self._traces)]
        yield from (spans[first : first + self._at_once] for first in range(0, len(spans), self._at_once))

    @staticmethod
    def _trace(number: int) -> Spans:
        trace_id = f"{number + 1:032x}"
        root = a_chain(trace_id=trace_id)
        return [root, a_retriever("Paris is the capital of France.", parent=root, trace_id=trace_id)]

    def missing(self, traces: Sequence[RagTrace]) -> list[tuple[str, ...]]:
        return [("faithfulness",) for _ in traces]

    def write(self, results: Sequence[EvaluatedTrace]) -> None:
        self.written += results

    def settle(self) -> None:
        pass

    def skip(self, traces: Sequence[RagTrace]) -> None:
        raise AssertionError("every trace here can be evaluated")


class Priced:
    """An evaluator with a given cost per answer. None: unknown. `failing` answers raise errors."""

    name = "faithfulness"
    version = "1"
    judge_name = "openai/some"

    def __init__(self, cost_usd: float | None, *, failing: int = 0) -> None:
        self._usage = Usage(calls=1, input_tokens=10, cost_usd=cost_usd)
        self._failing = failing

    async def evaluate(
        self, *, question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
    ) -> Evaluation:
        if self._failing:
            self._failing -= 1
            raise PermanentError("no")
        return Evaluation(name=self.name, score=1.0, judge=self.judge_name, version=self.version, usage=self._usage)


async def run(store: Memory, evaluator: Evaluator, **budget: float) -> Tally:
    pipeline = Pipeline(conventions=default_conventions(), sampler=RatioSampler(), evaluators=[evaluator])
    tally = Tally()
    await Backfill(store=store, pipeline=pipeline, budget=RunBudget(**budget), concurrency=2).run(tally)  # type: ignore[arg-type]
    return tally


async def test_everything_is_judged_without_a_budget() -> None:
    """Every batch, also the last one, is written before the run ends."""
    store = Memory(11)
    tally = await run(store, Priced(0.5))
    assert (tally.evaluated, tally.traces, tally.cost_usd) == (11, 11, 5.5)
    assert len({result.trace.target for result in store.written}) == 11


async def test_evaluations_are_never_more_than_the_budget() -> None:
    """The run makes exactly as many evaluations as the budget allows, and reports that it stopped because of it."""
    tally = await run(Memory(11), Priced(0.5), evaluations=6)
    assert (tally.evaluated, tally.out_of_budget) == (6, True)


async def test_dollars_are_overdrawn_by_no_more_than_what_is_being_judged() -> None:
    """With a concurrency of two, at most one answer exceeds the limit."""
    tally = await run(Memory(20), Priced(1.0), usd=5.0)
    assert 5 <= tally.evaluated <= 6
    assert tally.out_of_budget


async def test_dollars_cannot_be_kept_where_the_price_is_unknown() -> None:
    """The run stops at the first answer, keeps its result, and the error names the remedy."""
    store = Memory(20)
    with pytest.raises(ConfigurationError, match="limit the number of evaluations"):
        await run(store, Priced(None), usd=5.0)
    assert 1 <= len(store.written) <= 2


async def test_failures_are_counted_and_left_to_the_next_run() -> None:
    """Failed evaluations are not written, so they do not count as done."""
    store = Memory(6)
    tally = await run(store, Priced(0.0, failing=2))
    assert (tally.evaluated, dict(tally.failed)) == (4, {"rag_otel.errors.PermanentError": 2})
    assert len(store.written) == 4


class Waits:
    """Judges of which the first waits until five others have judged."""

    name = "faithfulness"
    version = "1"
    judge_name = "openai/some"

    def __init__(self) -> None:
        self._judged = 0
        self._enough = asyncio.Event()

    async def evaluate(
        self, *, question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
    ) -> Evaluation:
        self._judged += 1
        if self._judged == 1:
            await self._enough.wait()
        elif self._judged == 6:
            self._enough.set()
        return Evaluation(name=self.name, score=1.0, judge=self.judge_name, version=self.version)


async def test_a_slow_answer_does_not_hold_up_the_next_batch() -> None:
    """Batches are of four traces, two judges work: the second one goes on in the next batch."""
    async with asyncio.timeout(60):
        tally = await run(Memory(11), Waits())
    assert tally.evaluated == 11


class Broken(Memory):
    """A store that cannot be read beyond its first batch, or not written."""

    def __init__(self, *, reads: bool) -> None:
        super().__init__(8)
        self._reads = reads

    def batches(self) -> Iterator[list[Spans]]:
        batches = super().batches()
        yield next(batches)
        if not self._reads:
            raise RetryableError("no answer")
        yield from batches

    def write(self, results: Sequence[EvaluatedTrace]) -> None:
        if self._reads:
            raise RetryableError("no answer")
        super().write(results)


@pytest.mark.parametrize("reads", [True, False])
async def test_the_error_of_the_store_is_raised(reads: bool) -> None:
    """As the store raised it. What was read before is evaluated and written all the same."""
    store = Broken(reads=reads)
    with pytest.raises(RetryableError, match="no answer"):
        await run(store, Priced(0.0))
    assert len(store.written) == (0 if reads else 4)


async def test_finished_results_are_written_where_the_run_is_cancelled() -> None:
    """As on Ctrl-C: seven traces are judged when the eighth, which never ends, is cancelled."""
    begun = asyncio.Event()

    class Last(Priced):
        judged = 0

        async def evaluate(self, **given: Any) -> Evaluation:
            self.judged += 1
            if self.judged == 8:
                begun.set()
                await asyncio.Event().wait()
            return await super().evaluate(**given)

    store = Memory(8)
    running = asyncio.create_task(run(store, Last(0.0)))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(store.written) == 7
