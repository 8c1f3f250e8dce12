"""What one run may cost: a backfill, or the evaluation of a file. Beyond it nothing more is begun."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from rag_otel.errors import ConfigurationError
from rag_otel.model import Evaluation, ReasonCode


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLease:
    """What was reserved for the evaluation of an answer."""

    usd: float


class RunBudget:
    """How much one run may judge: evaluations (one metric of one answer) and US dollars; None is no limit.

    For one event loop.
    """

    def __init__(self, *, evaluations: int | None = None, usd: float | None = None) -> None:
        self._most_evaluations, self._most_usd = evaluations, usd
        self._begun, self._settled = 0, 0
        """Evaluations. What was begun counts, whatever came of it."""
        self._usd_spent = self._usd_reserved = 0.0
        self._exhausted = False
        self._first_is_settled = asyncio.Event()

    async def reserve(self, evaluations: int = 1) -> RunLease | None:
        """Room for so many evaluations of an answer; None where there is none, and from then on.

        With a limit in dollars the first answer is waited for, because its price is the first that is known. From then
        on an answer is taken to cost the mean so far, and what is left pays for one more, whatever it costs: the limit
        is exceeded by little.
        """
        if self._most_usd is not None and self._begun:
            await self._first_is_settled.wait()
        usd_left = None if self._most_usd is None else self._most_usd - self._usd_spent - self._usd_reserved
        too_many = self._most_evaluations is not None and self._begun + evaluations > self._most_evaluations
        if too_many or (usd_left is not None and usd_left <= 0):
            self._exhausted = True
        if self._exhausted:
            return None
        usd = min(evaluations * self._usd_spent / max(1, self._settled), usd_left or 0.0)
        self._begun += evaluations
        self._usd_reserved += usd
        return RunLease(usd=usd)

    def settle(self, lease: RunLease, evaluations: Sequence[Evaluation]) -> None:
        """Books what the evaluations have cost. Raises ConfigurationError where dollars are limited and a price is
        unknown."""
        self._first_is_settled.set()
        usages = [(each.judge, each.usage) for each in evaluations if each.usage is not None and each.usage.calls]
        self._settled += len(evaluations)
        self._usd_reserved -= lease.usd
        self._usd_spent += sum(usage.cost_usd or 0.0 for _, usage in usages)
        unpriced = [judge for judge, usage in usages if usage.cost_usd is None]
        if unpriced and self._most_usd is not None:
            raise ConfigurationError(
                f"the budget of ${self._most_usd:g} cannot be kept: the price of judge {unpriced[0]!r} is unknown; "
                "give the judge's parameters input_cost_per_token and output_cost_per_token, or limit the number "
                "of evaluations (rag-otel traces backfill --budget N)"
            )

    def refusal(self, metric: str) -> Evaluation:
        """The result of a metric for which there was no room."""
        limit = f"{self._most_evaluations:,} evaluations" if self._most_usd is None else f"${self._most_usd:g}"
        return Evaluation(
            name=metric,
            reason_code=ReasonCode.BUDGET,
            explanation=f"Not judged: the budget of {limit} was spent before.",
        )
