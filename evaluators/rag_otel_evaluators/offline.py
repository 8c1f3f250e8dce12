"""Evaluate rows of a file with the evaluators that judge live traces: the rows come back in order, with results."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from rag_otel.model import ClaimVerdict, Evaluation
from rag_otel.protocols import Evaluator
from rag_otel_evaluators.datasets import Row
from rag_otel_evaluators.outcomes import failed

BAD_ROW: Final = "bad_row"
"""Reason code of a row that could not be read."""
CONCURRENCY: Final = 8
"""Rows under way at once: a judge that waits for a network has others to go on with."""


def evaluate_rows(
    rows: Iterable[Row], evaluators: Sequence[Evaluator], *, concurrency: int = CONCURRENCY
) -> Iterator[tuple[Row, tuple[Evaluation, ...]]]:
    """Each row with one evaluation per evaluator, in order. A failure is a result; nothing is raised for a row.

    Runs its own event loop, so it is not for use inside a coroutine.
    """
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        under_way: deque[tuple[Row, asyncio.Task[tuple[Evaluation, ...]]]] = deque()
        for row in rows:
            under_way.append((row, loop.create_task(_evaluate_row(row, evaluators))))
            if len(under_way) >= concurrency:
                oldest, task = under_way.popleft()
                yield oldest, runner.run(_result(task))
        for oldest, task in under_way:
            yield oldest, runner.run(_result(task))


async def _result(task: asyncio.Task[tuple[Evaluation, ...]]) -> tuple[Evaluation, ...]:
    return await task


async def _evaluate_row(row: Row, evaluators: Sequence[Evaluator]) -> tuple[Evaluation, ...]:
    if row.problem is not None:
        return tuple(
            Evaluation(name=evaluator.name, reason_code=BAD_ROW, explanation=row.problem) for evaluator in evaluators
        )
    return tuple(await asyncio.gather(*(_evaluate(evaluator, row) for evaluator in evaluators)))


async def _evaluate(evaluator: Evaluator, row: Row) -> Evaluation:
    try:
        return await evaluator.evaluate(
            question=row.question, chunks=row.chunks, response=row.response, reference=row.reference
        )
    except Exception as error:  # noqa: BLE001 - any evaluator's failure is data
        return failed(evaluator.name, error)


def as_columns(evaluations: Iterable[Evaluation]) -> dict[str, Any]:
    """`<metric>` and `<metric>_detail` for each evaluation, as plain JSON values."""
    columns: dict[str, Any] = {}
    for evaluation in evaluations:
        columns[evaluation.name] = evaluation.score
        columns[f"{evaluation.name}_detail"] = detail(evaluation)
    return columns


def detail(evaluation: Evaluation) -> dict[str, Any]:
    """Everything about one result. `label` is absent where there is none, as are empty chunk scores and errors."""
    values: dict[str, Any] = {"score": evaluation.score, "risk": evaluation.risk}
    if evaluation.label is not None:
        values["label"] = evaluation.label
    values |= {
        "reason_code": None if evaluation.reason_code is None else str(evaluation.reason_code),
        "explanation": evaluation.explanation,
        "claims": [_claim(verdict) for verdict in evaluation.claims],
        "judge": evaluation.judge,
        "version": evaluation.version,
    }
    if evaluation.chunk_scores:
        values["chunk_scores"] = list(evaluation.chunk_scores)
    if evaluation.error_type is not None:
        values["error_type"] = evaluation.error_type
    return values


def _claim(verdict: ClaimVerdict) -> dict[str, Any]:
    return {
        "text": verdict.claim.text,
        "sentence_index": verdict.claim.sentence_index,
        "start": verdict.claim.start,
        "end": verdict.claim.end,
        "verdict": str(verdict.verdict),
        "confidence": verdict.confidence,
        "chunk_ids": list(verdict.chunk_ids),
        "quotes": [
            {"chunk_id": quote.chunk_id, "start": quote.start, "end": quote.end, "text": quote.text}
            for quote in verdict.quotes
        ],
        "explanation": verdict.explanation,
    }
