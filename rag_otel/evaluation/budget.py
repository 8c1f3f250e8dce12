"""What a run may cost: a backfill, or the evaluation of a file. Beyond it nothing more is begun."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from rag_otel.errors import ConfigurationError
from rag_otel.model import Evaluation, ReasonCode


class Budget:
    """How much one run may judge: evaluations (one metric of one answer) and US dollars; None is no limit.

    For one event loop.
    """

    def __init__(self, *, evaluations: int | None = None, usd: float | None = None) -> None:
        self._evaluations = evaluations
        self._usd = usd
        self._begun = 0
        self._done = 0
        self._spent_usd = 0.0
        self._exhausted = False
        self._first_is_done = asyncio.Event()

    async def admit(self, count: int = 1) -> bool:
        """Whether `count` more evaluations may begin; counts them if so. After the first refusal all are refused.

        With a limit in dollars the first answer is waited for, because its price is the first that is known. From then
        on evaluations under way are counted at the mean price so far: the limit is exceeded by little.
        """
        if self._usd is not None and self._begun:
            await self._first_is_done.wait()
        self._exhausted = self._exhausted or self._is_spent(count)
        self._begun += 0 if self._exhausted else count
        return not self._exhausted

    def _is_spent(self, count: int) -> bool:
        if self._evaluations is not None and self._begun + count > self._evaluations:
            return True
        if self._usd is None:
            return False
        mean = self._spent_usd / self._done if self._done else 0.0
        return self._spent_usd + (self._begun - self._done) * mean >= self._usd

    def settle(self, evaluations: Iterable[Evaluation]) -> None:
        """Count what evaluations that were admitted have cost.

        Raises ConfigurationError where dollars are limited and a price is unknown.
        """
        self._first_is_done.set()
        for evaluation in evaluations:
            self._done += 1
            usage = evaluation.usage
            if usage is None or not usage.calls:
                continue
            if usage.cost_usd is None and self._usd is not None:
                raise ConfigurationError(
                    f"the budget of ${self._usd:g} cannot be kept: the price of judge {evaluation.judge!r} is unknown; "
                    "give the judge's parameters input_cost_per_token and output_cost_per_token, or limit the number "
                    "of evaluations (rag-otel backfill --budget N)"
                )
            self._spent_usd += usage.cost_usd or 0.0

    def refusal(self, metric: str) -> Evaluation:
        """The result of a metric that was not admitted."""
        limit = f"{self._evaluations:,} evaluations" if self._usd is None else f"${self._usd:g}"
        return Evaluation(
            name=metric,
            reason_code=ReasonCode.BUDGET,
            explanation=f"Not judged: the budget of {limit} was spent before.",
        )
