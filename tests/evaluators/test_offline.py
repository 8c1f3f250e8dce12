"""Rows of a file under evaluation: every row ends with a result, in order, whatever the evaluator does."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from rag_otel.errors import RetryableError
from rag_otel.model import Chunk, Evaluation
from rag_otel_evaluators.datasets import Row
from rag_otel_evaluators.offline import as_columns, evaluate_rows


class Echo:
    """Scores a row by its response, the later rows first."""

    name = "echo"
    version = "1"
    judge_name = "none"

    def __init__(self) -> None:
        self.under_way = 0
        self.most_under_way = 0

    async def evaluate(
        self, *, question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
    ) -> Evaluation:
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        for _ in range(20 - int(response)):
            await asyncio.sleep(0)
        self.under_way -= 1
        if response == "3":
            raise RetryableError("try later")
        return Evaluation(name=self.name, score=int(response) / 20)


def test_order_and_failures() -> None:
    """Rows that finish out of order come back in order; a failure is a result that can be retried."""
    echo = Echo()
    rows = [Row(number=n, values={}, response=str(n)) for n in range(12)]
    results = list(evaluate_rows(rows, [echo], concurrency=4))
    assert [row.number for row, _ in results] == list(range(12))
    assert [evaluation.score for _, (evaluation,) in results] == [None if n == 3 else n / 20 for n in range(12)]
    failure = results[3][1][0]
    assert (failure.error_type, failure.error_retryable) == ("rag_otel.errors.RetryableError", True)
    assert as_columns([failure])["echo_detail"]["error_type"] == failure.error_type
    assert 1 < echo.most_under_way <= 4


def test_rows_with_problems_are_not_evaluated() -> None:
    """A row that could not be read has its problem as explanation, for each metric."""
    row = Row(number=1, values={}, problem="line 1 is not JSON")
    ((_, (evaluation,)),) = evaluate_rows([row], [Echo()])
    assert (evaluation.score, evaluation.reason_code, evaluation.explanation) == (None, "bad_row", row.problem)


def test_no_rows() -> None:
    """An empty file gives no results."""
    assert list(evaluate_rows([], [Echo()])) == []
