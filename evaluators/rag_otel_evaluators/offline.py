"""Evaluate rows with the evaluators that judge live traces: the rows come back in order, with results."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterable, Mapping, Sequence
from typing import Final

from rag_otel.model import Evaluation
from rag_otel.protocols import Evaluator
from rag_otel_evaluators.datasets import Row
from rag_otel_evaluators.inputs import needed_fields
from rag_otel_evaluators.outcomes import failed
from rag_otel_evaluators.results import Result
from rag_otel_evaluators.sync import run_sync

BAD_ROW: Final = "bad_row"
"""Reason code of a row that could not be read."""
CONCURRENCY: Final = 20
"""Rows under way at once: a judge that waits for a network has others to go on with."""
_AHEAD: Final = 50
"""Rows judged ahead of one that takes long, as a multiple of the concurrency: bounds what waits to be handed out."""


def evaluate_rows(
    rows: Iterable[Row], evaluators: Sequence[Evaluator], *, concurrency: int = CONCURRENCY
) -> Generator[Result, None, None]:
    """Each row with one evaluation per evaluator, in order. A failure is a result; nothing is raised for a row.

    Judges `concurrency` rows at once, on the event loop of `run_sync`: usable in a notebook too. Closing the iterator
    stops what is under way.
    """
    results = _in_order(rows, evaluators, concurrency)
    try:
        while (result := run_sync(_next(results))) is not None:
            yield result
    finally:
        run_sync(results.aclose())


def column_needs(evaluators: Iterable[Evaluator]) -> dict[str, tuple[str, ...]]:
    """Metric -> fields of a data set that it cannot do without."""
    return {
        evaluator.name: tuple("contexts" if field == "chunks" else field for field in needed_fields(evaluator))
        for evaluator in evaluators
    }


async def _next(results: AsyncIterator[Result]) -> Result | None:
    return await anext(results, None)


async def _in_order(
    rows: Iterable[Row], evaluators: Sequence[Evaluator], concurrency: int
) -> AsyncGenerator[Result, None]:
    """Starts the next row as soon as any is done, and hands out the oldest."""
    needs = column_needs(evaluators)
    free = asyncio.Semaphore(concurrency)
    under_way: deque[asyncio.Task[Result]] = deque()

    async def evaluate(row: Row) -> Result:
        try:
            return Result(row=row, evaluations=await _evaluate_row(row, evaluators, needs))
        finally:
            free.release()

    try:
        for row in rows:
            await free.acquire()
            under_way.append(asyncio.ensure_future(evaluate(row)))
            while under_way and (under_way[0].done() or len(under_way) >= concurrency * _AHEAD):
                yield await under_way.popleft()
        while under_way:
            yield await under_way.popleft()
    finally:
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


async def _evaluate_row(
    row: Row, evaluators: Sequence[Evaluator], needs: Mapping[str, Sequence[str]]
) -> tuple[Evaluation, ...]:
    return tuple(await asyncio.gather(*(_evaluate(evaluator, row, needs[evaluator.name]) for evaluator in evaluators)))


async def _evaluate(evaluator: Evaluator, row: Row, needs: Sequence[str]) -> Evaluation:
    if obstacle := row.obstacle(needs):
        return Evaluation(name=evaluator.name, reason_code=BAD_ROW, explanation=obstacle)
    try:
        return await evaluator.evaluate(
            question=row.question, chunks=row.chunks, response=row.response, reference=row.reference
        )
    except Exception as error:  # noqa: BLE001 - any evaluator's failure is data
        return failed(evaluator.name, error)
