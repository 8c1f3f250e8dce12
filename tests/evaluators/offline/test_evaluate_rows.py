"""Rows of a file under evaluation: every row ends with a result, in order, whatever the evaluator does."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from rag_otel.errors import RetryableError
from rag_otel.model import Chunk, Evaluation
from rag_otel_evaluators.offline.datasets import Row
from rag_otel_evaluators.offline.results import as_columns
from rag_otel_evaluators.offline.rows import evaluate_rows


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
    assert [result.row.number for result in results] == list(range(12))
    assert [result.evaluations[0].score for result in results] == [None if n == 3 else n / 20 for n in range(12)]
    failure = results[3].evaluations[0]
    assert (failure.error_type, failure.error_retryable) == ("rag_otel.errors.RetryableError", True)
    assert as_columns([failure])["echo_detail"]["error_type"] == failure.error_type
    assert 1 < echo.most_under_way <= 4


def test_rows_with_problems_are_not_evaluated() -> None:
    """A row that could not be read has its problem as explanation, for each metric."""
    row = Row(number=1, values={}, problem="line 1 is not JSON")
    (result,) = evaluate_rows([row], [Echo()])
    (evaluation,) = result.evaluations
    assert (evaluation.score, evaluation.reason_code, evaluation.explanation) == (None, "bad_row", row.problem)


class Gate(Echo):
    """The row "0" goes on when the row "11" is done; the row "hang" never."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = asyncio.Event()
        self.cancelled = False

    async def evaluate(
        self, *, question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
    ) -> Evaluation:
        try:
            if response == "hang":
                await asyncio.Event().wait()
            if response == "0":
                await asyncio.wait_for(self.opened.wait(), timeout=60)
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        if response == "11":
            self.opened.set()
        return Evaluation(name=self.name, score=1.0)


def test_a_slow_row_keeps_no_other_waiting() -> None:
    """While the first row waits all the others are judged, two at a time; then all come out in order."""
    rows = [Row(number=n, values={}, response=str(n)) for n in range(12)]
    results = list(evaluate_rows(rows, [Gate()], concurrency=2))
    assert [(result.row.number, result.evaluations[0].score) for result in results] == [(n, 1.0) for n in range(12)]


def test_what_is_under_way_stops_with_the_iterator() -> None:
    """Whoever closes the iterator waits for nothing and leaves nothing running."""
    gate = Gate()
    rows = [Row(number=n, values={}, response=response) for n, response in enumerate(("1", "hang", "2"))]
    results = evaluate_rows(rows, [gate], concurrency=2)
    assert next(results).row.number == 0
    results.close()
    assert gate.cancelled


async def test_inside_a_running_loop() -> None:
    """A notebook has a loop running already."""
    assert len(list(evaluate_rows([Row(number=1, values={}, response="1")], [Echo()]))) == 1


def test_no_rows() -> None:
    """An empty file gives no results."""
    assert list(evaluate_rows([], [Echo()])) == []
