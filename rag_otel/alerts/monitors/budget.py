"""Tells when 80% and when all of a budget is spent.

Every process that shares the budget watches it; the first one tells. The problem is over when the hour or day is.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rag_otel.alert import Alert, AlertSeverity, AlertState
from rag_otel.alerts.monitors.monitor import Monitor
from rag_otel.budgets.budgets import ALL, Budgets, Spending
from rag_otel.errors import LedgerError
from rag_otel.model import EvaluatedTrace
from rag_otel.safety.guard import counters

BUDGET_LOW: Final = "budget_low"
BUDGET_SPENT: Final = "budget_spent"
LOW: Final = 0.8
SPENT: Final = 1.0
"""Or less, if what is left was too little for a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """An alert of this process that is not resolved."""

    name: str
    window: int
    of: Spending
    since: float


class BudgetMonitor(Monitor):
    """Of all limits."""

    name = "budget"

    def __init__(self, budgets: Budgets) -> None:
        self._budgets = budgets
        self.forget()

    def forget(self) -> None:
        self._told: dict[tuple[str, str], _Told] = {}
        """(alert's name, scope) -> what was told. Of the next process the ledger knows it."""

    def write(self, batch: Sequence[EvaluatedTrace], now: float) -> None:
        """Results are not looked at: what they cost is in the ledger."""

    def look(self, now: float) -> list[Alert]:
        """Compares what was spent with the limits. May wait for the ledger."""
        try:
            return [*self._over(now), *self._new(now)]
        except LedgerError:
            counters.add("budget.ledger_unreachable")
            return []

    def _over(self, now: float) -> list[Alert]:
        over = [key for key, told in self._told.items() if self._window(told.of) != told.window]
        return [_message(self._told.pop(key), AlertState.RESOLVED, now) for key in over]

    def _new(self, now: float) -> list[Alert]:
        alerts = []
        for each in self._budgets.spending():
            share = each.spent / each.of if each.of else 1.0
            for name, least in ((BUDGET_SPENT, SPENT), (BUDGET_LOW, LOW)):
                if share < least and not (each.refused and name == BUDGET_SPENT):
                    continue
                if (name, each.scope) not in self._told and self._is_first(name, each, window := self._window(each)):
                    told = self._told[(name, each.scope)] = _Told(name=name, window=window, of=each, since=now)
                    alerts.append(_message(told, AlertState.FIRING, now))
                break  # what is spent is low as well, and is told once
        return alerts

    def _window(self, each: Spending) -> int:
        """Number of the present hour or day, by the ledger's clock."""
        return self._budgets.ledger.balance(each.scope, each.limit.window_s).window

    def _is_first(self, name: str, each: Spending, window: int) -> bool:
        """True if no process has told of it; then no other one will."""
        mine, keep_s = uuid.uuid4().hex, 2 * each.limit.window_s
        return self._budgets.ledger.agree(f"told/{name}/{each.scope}@{window}", mine, keep_s) == mine


def _message(told: _Told, state: AlertState, now: float) -> Alert:
    each, limit = told.of, told.of.limit
    whose = "" if each.tenant is None else f" of tenant {each.tenant}"
    part = "" if each.share == ALL else f", share of {each.share} traces"
    if state is AlertState.RESOLVED:
        headline = f"The budget {limit}{whose}{part} begins anew"
    elif told.name == BUDGET_SPENT:
        headline = f"The budget {limit}{whose}{part} is spent: traces that need it are not judged until it begins anew"
    else:
        headline = f"{each.spent / each.of:.0%} of the budget {limit}{whose}{part} is spent"
    return Alert(
        name=told.name,
        fingerprint=f"{told.name}:{each.scope}",
        metric="",
        state=state,
        severity=AlertSeverity.WARNING,
        headline=headline,
        details={"limit": str(limit), "spent_share": each.spent / each.of if each.of else 1.0},
        since_ns=round(told.since * 1e9),
        time_ns=round(now * 1e9),
    )
