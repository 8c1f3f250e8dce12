"""What one run may cost: a backfill, or the evaluation of a file. Beyond it nothing more is begun."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rag_otel.budgets.ledger import Entry, Line, MemoryLedger
from rag_otel.errors import ConfigurationError
from rag_otel.model import Evaluation, ReasonCode

_EVALUATIONS: Final = "evaluations"
_USD: Final = "usd"
_FOR_THE_RUN_S: Final = 1e9
"""A reservation does not expire: it ends with the process, as the run does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLease:
    """What was reserved for the evaluation of an answer."""

    name: str
    entries: tuple[Entry, ...]


class RunBudget:
    """How much one run may judge: evaluations (one metric of one answer) and US dollars; None is no limit.

    For one event loop.
    """

    def __init__(self, *, evaluations: int | None = None, usd: float | None = None) -> None:
        limits = {_EVALUATIONS: evaluations, _USD: usd}
        self._limits = {unit: limit for unit, limit in limits.items() if limit is not None}
        self._ledger = MemoryLedger()
        self._evaluated, self._cost_usd = 0, 0.0
        self._begun = self._exhausted = False
        self._first_is_settled = asyncio.Event()

    async def reserve(self, evaluations: int = 1) -> RunLease | None:
        """Room for so many evaluations of an answer; None where there is none, and from then on.

        With a limit in dollars the first answer is waited for, because its price is the first that is known. From then
        on an answer is taken to cost the mean so far, and what is left pays for one more, whatever it costs: the limit
        is exceeded by little.
        """
        if _USD in self._limits and self._begun:
            await self._first_is_settled.wait()
        self._begun = True
        left = {unit: self._left(unit) for unit in self._limits}
        if left.get(_EVALUATIONS, evaluations) < evaluations or left.get(_USD, 1.0) <= 0:
            self._exhausted = True
        if self._exhausted:
            return None
        usd = evaluations * self._cost_usd / max(1, self._evaluated)
        wanted = {_EVALUATIONS: float(evaluations), _USD: min(usd, left.get(_USD, 0.0))}
        lines = [Line(scope=unit, amount=wanted[unit], limit=limit) for unit, limit in self._limits.items()]
        name = uuid.uuid4().hex
        entries = self._ledger.reserve(name, lines, _FOR_THE_RUN_S)
        return RunLease(name=name, entries=tuple(entries)) if isinstance(entries, list) else None

    def settle(self, lease: RunLease, evaluations: Sequence[Evaluation]) -> None:
        """Books what the evaluations have cost. Raises ConfigurationError where dollars are limited and a price is
        unknown."""
        self._first_is_settled.set()
        usages = [(each.judge, each.usage) for each in evaluations if each.usage is not None and each.usage.calls]
        cost_usd = sum(usage.cost_usd or 0.0 for _, usage in usages)
        self._evaluated += len(evaluations)
        self._cost_usd += cost_usd
        self._ledger.settle(lease.name, lease.entries, [self._spent(entry, cost_usd) for entry in lease.entries])
        unpriced = [judge for judge, usage in usages if usage.cost_usd is None]
        if unpriced and _USD in self._limits:
            raise ConfigurationError(
                f"the budget of ${self._limits[_USD]:g} cannot be kept: the price of judge {unpriced[0]!r} is unknown; "
                "give the judge's parameters input_cost_per_token and output_cost_per_token, or limit the number "
                "of evaluations (rag-otel traces backfill --budget N)"
            )

    def refusal(self, metric: str) -> Evaluation:
        """The result of a metric for which there was no room."""
        usd = self._limits.get(_USD)
        limit = f"{self._limits[_EVALUATIONS]:,} evaluations" if usd is None else f"${usd:g}"
        return Evaluation(
            name=metric,
            reason_code=ReasonCode.BUDGET,
            explanation=f"Not judged: the budget of {limit} was spent before.",
        )

    def _left(self, unit: str) -> float:
        balance = self._ledger.balance(unit, 0)
        return self._limits[unit] - balance.spent - balance.reserved

    def _spent(self, entry: Entry, cost_usd: float) -> float:
        """What was begun counts among the evaluations, whatever came of it."""
        return cost_usd if entry.account.startswith(_USD) else entry.amount
