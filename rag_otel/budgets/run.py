"""What one run may cost: a backfill, or the evaluation of a file. Beyond it nothing more is begun."""

from __future__ import annotations

import asyncio
import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rag_otel.budgets.budget_limit import NANO, Unit
from rag_otel.budgets.ledger import Entry, Line, MemoryLedger
from rag_otel.errors import ConfigurationError
from rag_otel.model import Evaluation, ReasonCode

_EVALUATIONS: Final = str(Unit.EVALUATIONS)
_USD: Final = str(Unit.USD)
"""Names of the accounts. Dollars are counted in billionths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLease:
    """What was reserved for the evaluation of an answer."""

    name: str
    entries: Sequence[Entry]


class RunBudget:
    """How much one run may judge: evaluations (one metric of one answer) and US dollars; None is no limit.

    For one event loop. The accounts are those of a ledger in memory, without windows.
    """

    def __init__(self, *, evaluations: int | None = None, usd: float | None = None) -> None:
        self._most_evaluations, self._most_usd = evaluations, usd
        self._ledger = MemoryLedger()
        self._begun = self._exhausted = False
        self._settled = 0
        """Evaluations."""
        self._first_is_settled = asyncio.Event()

    async def reserve(self, evaluations: int = 1) -> RunLease | None:
        """Room for so many evaluations of an answer; None where there is none, and from then on.

        With a limit in dollars the first answer is waited for, because its price is the first that is known. From then
        on an answer is taken to cost the mean so far, and what is left pays for one more, whatever it costs: the limit
        is exceeded by little.
        """
        if self._most_usd is not None and self._begun:
            await self._first_is_settled.wait()
        name, lines = uuid.uuid4().hex, self._lines(evaluations)
        entries = None if self._exhausted or lines is None else self._ledger.reserve(name, lines, math.inf)
        if entries is None or isinstance(entries, int):
            self._exhausted = True
            return None
        self._begun = True
        return RunLease(name=name, entries=entries)

    def settle(self, lease: RunLease, evaluations: Sequence[Evaluation]) -> None:
        """Books what the evaluations have cost; what was begun counts, whatever came of it. Raises ConfigurationError
        where dollars are limited and a price is unknown."""
        self._first_is_settled.set()
        usages = [(each.judge, each.usage) for each in evaluations if each.usage is not None and each.usage.calls]
        self._settled += len(evaluations)
        usd = round(sum(usage.cost_usd or 0.0 for _, usage in usages) * NANO)
        spent = [usd if each.account.startswith(_USD) else each.amount for each in lease.entries]
        self._ledger.settle(lease.name, lease.entries, spent)
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

    def _lines(self, evaluations: int) -> list[Line] | None:
        """What an answer needs; None where even a part of it is too much."""
        lines = []
        if (most := self._most_evaluations) is not None:
            if evaluations > most:  # the ledger would let an empty account pay for it
                return None
            lines.append(Line(scope=_EVALUATIONS, amount=evaluations, limit=most))
        if self._most_usd is not None:
            limit, account = math.ceil(self._most_usd * NANO), self._ledger.balance(_USD, 0)
            left = limit - account.spent - account.reserved
            if left <= 0:
                return None
            mean = account.spent // max(1, self._settled)
            lines.append(Line(scope=_USD, amount=min(evaluations * mean, left), limit=limit))
        return lines
