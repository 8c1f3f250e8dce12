"""What judging a data set may cost: beyond it rows are left unjudged, with the reason `budget`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from rag_otel.errors import ConfigurationError
from rag_otel.model import Evaluation, ReasonCode


class Budget:
    """US dollars for one run."""

    def __init__(self, usd: float) -> None:
        self._usd = usd
        self._spent = 0.0
        self._begun = 0
        self._done = 0
        self._exhausted = False
        self._first_is_done = asyncio.Event()

    async def admit(self) -> bool:
        """Whether another row may begin; counts it if so. After the first one that may not, none may.

        The first row is waited for, because its price is the first that is known; from then on rows under way are
        reckoned with at the mean price so far, so the budget is overdrawn by little.
        """
        if self._begun:
            await self._first_is_done.wait()
        mean = self._spent / self._done if self._done else 0.0
        self._exhausted = self._exhausted or self._spent + (self._begun - self._done) * mean >= self._usd
        self._begun += not self._exhausted
        return not self._exhausted

    def settle(self, evaluations: Iterable[Evaluation]) -> None:
        """Count what a row that was let in has cost. Raises ConfigurationError where a price is unknown."""
        self._done += 1
        self._first_is_done.set()
        for evaluation in evaluations:
            usage = evaluation.usage
            if usage is None or not usage.calls:
                continue
            if usage.cost_usd is None:
                raise ConfigurationError(
                    f"budget_usd cannot be kept: the price of {evaluation.judge!r} is unknown; give the judge's "
                    "parameters input_cost_per_token and output_cost_per_token"
                )
            self._spent += usage.cost_usd

    def refusal(self, metric: str) -> Evaluation:
        """The result of a row that was not let in."""
        return Evaluation(
            name=metric,
            reason_code=ReasonCode.BUDGET,
            explanation=f"Not judged: the budget of ${self._usd:g} was spent before.",
        )
