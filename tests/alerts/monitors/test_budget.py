"""80% and 100% of a budget are told, once, by whichever process is first."""

from __future__ import annotations

from rag_otel.alert import Alert, AlertState
from rag_otel.alerts.monitors.budget import BUDGET_LOW, BUDGET_SPENT, BudgetMonitor
from rag_otel.budgets.budget_limit import BudgetLimit
from rag_otel.budgets.budgets import Budgets
from rag_otel.budgets.ledger import MemoryLedger
from rag_otel.model import Evaluation, SamplingDecision, SamplingReason, Usage
from tests.sampling.traces import a_trace

DECISION = SamplingDecision(sampled=True, reason=SamplingReason.ALWAYS, probability=1.0)


class _Day:
    """A budget of a dollar a day and for each tenant, and two processes that watch it."""

    def __init__(self) -> None:
        self.now = 1_790_000_000.0
        limits = [BudgetLimit.parse(text) for text in ("1 usd/day", "0.5 usd/day/tenant")]
        self.budgets = Budgets(limits, MemoryLedger(lambda: self.now), paid=["faithfulness"])
        self.monitors = [BudgetMonitor(self.budgets) for _ in range(2)]

    async def spend(self, usd: float, tenant: str) -> bool:
        trace = a_trace(tags={"tenant": tenant})
        decision, lease = await self.budgets.admit(trace, DECISION, ["faithfulness"])
        if lease is not None:
            usage = Usage(input_tokens=1_000_000, cost_usd=usd, calls=1)
            await self.budgets.settle(lease, [Evaluation(name="faithfulness", usage=usage)])
        return decision.sampled

    def told(self) -> list[tuple[str, AlertState, str]]:
        return [(each.name, each.state, each.fingerprint.partition(":")[2]) for each in self.looks()]

    def looks(self) -> list[Alert]:
        return [alert for monitor in self.monitors for alert in monitor.look(self.now)]


async def test_80_and_100_percent_are_told_once() -> None:
    """By one of two processes, for the whole and for a tenant; with the new day it is over."""
    day = _Day()
    assert [await day.spend(0.05, "acme") for _ in range(7)] == [True] * 7
    assert day.told() == []
    assert await day.spend(0.05, "acme")
    assert day.told() == [(BUDGET_LOW, AlertState.FIRING, "usd/86400/tenant=acme/all")]
    assert [await day.spend(0.05, "other") for _ in range(8)] == [True] * 8
    assert {each[2] for each in day.told()} == {"usd/86400/all", "usd/86400/tenant=other/all"}
    while await day.spend(0.05, "third"):
        pass
    assert day.told() == [(BUDGET_SPENT, AlertState.FIRING, "usd/86400/all")]
    assert not await day.spend(0.05, "fourth")
    assert day.told() == []
    day.now += 86_400
    assert {each[1] for each in day.told()} == {AlertState.RESOLVED}
    assert await day.spend(0.05, "fourth")


async def test_a_message_names_the_limit_and_whose_it_is() -> None:
    """In words that need no manual."""
    day = _Day()
    await day.spend(0.9, "acme")
    headlines = {each.headline for each in day.looks()}
    assert "90% of the budget 1 usd/day is spent" in headlines
    assert any(line.startswith("The budget 0.5 usd/day/tenant of tenant acme is spent") for line in headlines)
