"""The budgets that the settings ask for, and the ledger that they are kept in."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final

from rag_otel.budgets.budget_limit import BudgetLimit, Unit
from rag_otel.budgets.budgets import Budgets
from rag_otel.budgets.expected_cost import AskPrice
from rag_otel.budgets.ledger import Ledger, MemoryLedger
from rag_otel.durable.state_folder import DATABASE
from rag_otel.sampling.build import policy_of
from rag_otel.settings import Settings

MEMORY: Final = "memory"
SQLITE: Final = "sqlite:"
_SLACK_S: Final = 60.0


def build_budgets(
    settings: Settings,
    *,
    paid: Collection[str],
    ledger: Ledger | None = None,
    ask_price: AskPrice | None = None,
) -> Budgets | None:
    """The budgets; None without any. `paid` and `ask_price` as for `Budgets`; `ledger` in place of the
    settings' one. Raises ConfigurationError."""
    limits = limits_of(settings)
    if not limits:
        return None
    policy = policy_of(settings)
    return Budgets(
        limits,
        ledger or open_ledger(settings),
        paid=paid,
        coin_share=None if policy is None else policy.budget.coin_share,
        expires_s=settings.judge.timeout + _SLACK_S,
        judge="" if ask_price is None else settings.judge.model,
        ask_price=ask_price,
    )


def limits_of(settings: Settings) -> list[BudgetLimit]:
    """All limits: of the settings, and of the policy. Raises ConfigurationError."""
    limits = [BudgetLimit.parse(text) for text in settings.judge.budgets]
    policy = policy_of(settings)
    if policy is not None and policy.budget.evaluations_per_hour is not None:
        limits.append(BudgetLimit(amount=policy.budget.evaluations_per_hour, unit=Unit.EVALUATIONS, window_s=3_600))
    return limits


def open_ledger(settings: Settings) -> Ledger:
    """The ledger of `budget_store`. None: a file in the state folder, else this process's memory. Raises
    ConfigurationError."""
    store = settings.judge.budget_store
    if store is None and settings.state_folder is not None:
        store = f"{SQLITE}{Path(settings.state_folder) / DATABASE}"
    if store is None or store == MEMORY:
        return MemoryLedger()
    if store.startswith(SQLITE):
        from rag_otel.budgets.sqlite_ledger import SqliteLedger

        path = store.removeprefix(SQLITE)
        return SqliteLedger(path.removeprefix("//") if path.startswith("///") else path)
    from rag_otel.budgets.redis_ledger import RedisLedger

    return RedisLedger(store)
