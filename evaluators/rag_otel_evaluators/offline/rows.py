"""Evaluates rows with the same evaluators as live traces, several rows at once, and returns results in order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence
from typing import Final, TypeAlias

from rag_otel.budgets.run import RunBudget
from rag_otel.evaluation.evaluate import evaluate
from rag_otel.model import Evaluation
from rag_otel.protocols import Evaluator
from rag_otel_evaluators.offline.datasets import BAD_ROW, Row
from rag_otel_evaluators.offline.results import Result
from rag_otel_evaluators.sync import run_sync

Calibrate: TypeAlias = Callable[[Evaluation], Evaluation]
CONCURRENCY: Final = 20
"""Rows evaluated at once. While one call waits for the network, others can run."""
TIMEOUT_S: Final = 600.0
"""Deadline of an evaluation in seconds. It includes the time spent waiting for the judge's rate limit."""
_AHEAD: Final = 50
"""Maximum number of finished rows that wait for a slow row before them, as a multiple of the concurrency."""


def evaluate_rows(
    rows: Iterable[Row],
    evaluators: Sequence[Evaluator],
    *,
    concurrency: int = CONCURRENCY,
    budget_usd: float | None = None,
    timeout_s: float = TIMEOUT_S,
    calibrate: Calibrate | None = None,
) -> Generator[Result, None, None]:
    """Yields each row with one evaluation per evaluator, in order. A failure becomes a failed evaluation.

    Evaluates `concurrency` rows at once on the event loop of `run_sync`, so it also works in a notebook. Closing the
    iterator cancels running evaluations. Rows that start after `budget_usd` is spent have the reason `budget`. Raises
    ConfigurationError if there is a budget and a price is unknown. `timeout_s` is the deadline of each evaluation.
    `calibrate` is applied to each result (`rag_otel.evaluation.calibration.calibration_of`).
    """
    run = _Run(rows, evaluators, concurrency, RunBudget(usd=budget_usd), timeout_s, calibrate)
    try:
        while (result := run_sync(run.next())) is not None:
            yield result
    finally:
        run_sync(run.close())


async def aevaluate_rows(
    rows: Iterable[Row],
    evaluators: Sequence[Evaluator],
    *,
    concurrency: int = CONCURRENCY,
    budget_usd: float | None = None,
    timeout_s: float = TIMEOUT_S,
    calibrate: Calibrate | None = None,
) -> AsyncGenerator[Result, None]:
    """Like `evaluate_rows`, on the running event loop."""
    run = _Run(rows, evaluators, concurrency, RunBudget(usd=budget_usd), timeout_s, calibrate)
    try:
        while (result := await run.next()) is not None:
            yield result
    finally:
        await run.close()


def column_needs(evaluators: Iterable[Evaluator]) -> dict[str, tuple[str, ...]]:
    """Returns metric -> fields of a data set that it requires.

    It is checked for a whole data set, because a single row does not show whether a column is missing or a cell is
    empty.
    """
    return {
        evaluator.name: tuple(field.replace("chunk", "context") for field in _needs(evaluator))
        for evaluator in evaluators
    }


class _Run:
    """Evaluates rows on one event loop. A new row starts when any row is finished. Results are returned in order."""

    def __init__(
        self,
        rows: Iterable[Row],
        evaluators: Sequence[Evaluator],
        concurrency: int,
        budget: RunBudget,
        timeout_s: float,
        calibrate: Calibrate | None,
    ) -> None:
        self._waiting = iter(rows)
        self._evaluators = evaluators
        self._needs = column_needs(evaluators)
        self._concurrency = concurrency
        self._budget = budget
        self._timeout_s = timeout_s
        self._calibrate = calibrate
        self._running = 0
        self._tasks: deque[asyncio.Task[Result]] = deque()
        """Running and finished rows whose result was not returned yet, in order."""

    async def next(self) -> Result | None:
        """Returns the next result, or None after the last one. If the wait is cancelled, no result is lost."""
        self._start_more()
        if not self._tasks:
            return None
        await asyncio.wait([self._tasks[0]])
        return self._tasks.popleft().result()

    async def close(self) -> None:
        """Cancels running evaluations."""
        self._waiting = iter(())
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start_more(self) -> None:
        while self._running < self._concurrency and len(self._tasks) < self._concurrency * _AHEAD:
            row = next(self._waiting, None)
            if row is None:
                return
            self._running += 1
            self._tasks.append(asyncio.ensure_future(self._evaluate(row)))

    async def _evaluate(self, row: Row) -> Result:
        try:
            return Result(row=row, evaluations=await self._evaluations(row))
        finally:
            self._running -= 1
            self._start_more()

    async def _evaluations(self, row: Row) -> tuple[Evaluation, ...]:
        if (lease := await self._budget.reserve(len(self._evaluators))) is None:
            return tuple(self._budget.refusal(evaluator.name) for evaluator in self._evaluators)
        evaluations = tuple(await asyncio.gather(*(self._evaluate_one(each, row) for each in self._evaluators)))
        self._budget.settle(lease, evaluations)
        return evaluations

    async def _evaluate_one(self, evaluator: Evaluator, row: Row) -> Evaluation:
        if obstacle := row.obstacle(self._needs[evaluator.name]):
            return Evaluation(name=evaluator.name, reason_code=BAD_ROW, explanation=obstacle)
        evaluation = await evaluate(
            evaluator,
            question=row.question,
            chunks=row.chunks,
            response=row.response,
            reference=row.reference,
            further={name: value for name, value in row.further.items() if name in _needs(evaluator)},
            timeout_s=self._timeout_s,
        )
        return evaluation if self._calibrate is None else self._calibrate(evaluation)


def _needs(evaluator: Evaluator) -> tuple[str, ...]:
    """The arguments of `evaluate` that an evaluator requires, by its attribute `needs`. Empty if it has none."""
    return tuple(getattr(evaluator, "needs", ()))
