"""What is reserved for a trace, who pays, and what a refusal says."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_otel.budgets.budget_limit import BudgetLimit
from rag_otel.budgets.budgets import Budgets
from rag_otel.budgets.ledger import Entry, Line, MemoryLedger
from rag_otel.errors import LedgerError
from rag_otel.model import Evaluation, ReasonCode, SamplingDecision, SamplingReason, Usage
from rag_otel.pipeline import Pipeline
from rag_otel.sampling.amount import RatioSampler
from tests.sampling.traces import a_trace

ALWAYS = SamplingDecision(sampled=True, reason=SamplingReason.ALWAYS, probability=1.0)
FORCED = SamplingDecision(sampled=True, reason=SamplingReason.FORCED, probability=1.0, rule="slow", rate=0.1, coin=True)


class Judge:
    """Costs what it is told to."""

    version = "1"

    def __init__(self, name: str, *, usd: float | None = 0.0, seconds: float = 0.0, judge: str = "openai/m") -> None:
        self.name, self.judge_name = name, judge
        self.usd, self.seconds, self.calls = usd, seconds, 0

    async def evaluate(self, **given: object) -> Evaluation:
        self.calls += 1
        await asyncio.sleep(self.seconds)
        usage = Usage(input_tokens=900, output_tokens=100, cost_usd=self.usd, calls=1)
        return Evaluation(name=self.name, score=1.0, usage=usage, judge=self.judge_name)


def _budgets(*limits: str, paid: Sequence[str] = ("paid",), **options: Any) -> Budgets:
    return Budgets([BudgetLimit.parse(text) for text in limits], MemoryLedger(), paid=paid, **options)


def _pipeline(budgets: Budgets, *judges: Judge, timeout_s: float = 60.0) -> Pipeline:
    return Pipeline(conventions=(), sampler=RatioSampler(1.0), evaluators=judges, budgets=budgets, timeout_s=timeout_s)


async def _evaluated(pipeline: Pipeline) -> tuple[SamplingDecision, tuple[Evaluation, ...]]:
    trace = a_trace()
    decision, reason = await pipeline.admit(trace, pipeline.decide(trace.target))
    return (decision, ()) if reason else (decision, (await pipeline.evaluate(trace, decision)).evaluations)


async def test_a_tenants_budget_is_the_tenants_own() -> None:
    """One tenant's is spent, another's is not."""
    budgets = _budgets("1 evaluations/day/tenant")
    acme, other = a_trace(tags={"tenant": "acme"}), a_trace(tags={"tenant": "other"})
    for _ in range(2):
        decision, _ = await budgets.admit(acme, ALWAYS, ["paid"])
    assert (decision.sampled, decision.reason) == (False, SamplingReason.BUDGET)
    assert decision.refused == "the budget of 1 evaluations/day/tenant is spent"
    assert (await budgets.admit(other, ALWAYS, ["paid"]))[0].sampled


async def test_what_costs_nothing_is_judged_without_a_budget() -> None:
    """Of two metrics the paid one is refused, and its result says why."""
    pipeline = _pipeline(_budgets("0.01 usd/day"), Judge("paid", usd=0.02), Judge("free", judge="embedded"))
    await _evaluated(pipeline)
    decision, (free, paid) = await _evaluated(pipeline)
    assert decision.sampled
    assert (free.name, free.score) == ("free", 1.0)
    assert (paid.name, paid.score, paid.reason_code) == ("paid", None, ReasonCode.BUDGET)
    assert paid.explanation == "Not judged: the budget of 0.01 usd/day is spent."


async def test_forced_traces_never_use_the_coins_share() -> None:
    """Two of four are the coin's. The third forced trace that the coin selected is paid for by the coin, with the
    coin's probability; one that it did not select is refused."""
    budgets = _budgets("4 evaluations/day", coin_share=0.5)
    decisions = [(await budgets.admit(a_trace(), FORCED, ["paid"]))[0] for _ in range(3)]
    assert [(each.reason, each.probability) for each in decisions] == [("forced", 1.0)] * 2 + [("ratio", 0.1)]
    not_selected = SamplingDecision(**{**_fields(FORCED), "coin": False})
    refused, _ = await budgets.admit(a_trace(), not_selected, ["paid"])
    assert refused.refused == "the budget of 4 evaluations/day is spent (share of forced traces)"
    by_coin = SamplingDecision(sampled=True, reason=SamplingReason.RATIO, probability=0.1, rate=0.1, coin=True)
    assert (await budgets.admit(a_trace(), by_coin, ["paid"]))[0].sampled
    assert not (await budgets.admit(a_trace(), by_coin, ["paid"]))[0].sampled


async def test_forced_traces_are_no_part_of_the_sample_while_the_coins_share_is_spent() -> None:
    """Neither is one of which only free metrics are evaluated. A tenant's own limit is about its traces."""
    budgets = _budgets("4 evaluations/day", "2 evaluations/day/tenant=acme", coin_share=0.5)
    by_coin = SamplingDecision(sampled=True, reason=SamplingReason.RATIO, probability=0.1, rate=0.1, coin=True)
    acme = a_trace(tags={"tenant": "acme"})
    assert (await budgets.admit(acme, by_coin, ["paid"]))[0].in_sample
    assert (await budgets.admit(acme, FORCED, ["paid"]))[0].reason == "extra"
    assert (await budgets.admit(a_trace(), FORCED, ["paid"]))[0].reason == "forced"
    paid_out = _budgets("0.01 usd/day", coin_share=0.01)
    decision, lease = await paid_out.admit(a_trace(), by_coin, ["paid", "free"])
    assert decision.in_sample
    assert lease is not None
    await paid_out.settle(lease, [Evaluation(name="paid", usage=Usage(input_tokens=900, cost_usd=0.001, calls=1))])
    decision, _ = await paid_out.admit(a_trace(), by_coin, ["paid", "free"])
    assert (decision.reason, decision.evaluators) == ("extra", ("free",))


def _fields(decision: SamplingDecision) -> dict[str, object]:
    return {name: getattr(decision, name) for name in decision.__dataclass_fields__}


async def test_a_judge_without_a_price_is_not_called_again() -> None:
    """A budget in dollars cannot be kept with it; the span says so."""
    judge = Judge("paid", usd=None)
    pipeline = _pipeline(_budgets("5 usd/day"), judge)
    await _evaluated(pipeline)
    decision, _ = await _evaluated(pipeline)
    assert judge.calls == 1
    assert decision.refused is not None
    assert "the price of judge 'openai/m' is unknown" in decision.refused


async def test_a_price_is_asked_before_the_first_call() -> None:
    """Once, on another thread; where nobody knows it the judge is never called, not even by those who came first."""
    asked = []

    def ask_price() -> None:
        asked.append(threading.current_thread())

    judge = Judge("paid", usd=None)
    budgets = _budgets("5 usd/day", judge="openai/m", ask_price=ask_price)
    results = await asyncio.gather(*(_evaluated(_pipeline(budgets, judge)) for _ in range(10)))
    assert judge.calls == 0
    assert {decision.refused for decision, _ in results} == {
        "the budget of 5 usd/day cannot be kept: the price of judge 'openai/m' is unknown"
    }
    await _evaluated(_pipeline(budgets, judge))
    assert threading.main_thread() not in asked
    assert len(asked) <= 10


async def test_a_judge_of_ones_own_is_asked_once_where_its_price_is_unknown() -> None:
    """Nobody can say its price before: ten traces wait for the first answer, which says none."""
    judge = Judge("paid", usd=None, seconds=0.05)
    budgets = _budgets("5 usd/day")
    results = await asyncio.gather(*(_evaluated(_pipeline(budgets, judge)) for _ in range(10)))
    assert judge.calls == 1
    assert sum(decision.refused is None for decision, _ in results) == 1


async def test_a_first_evaluation_that_ends_badly_holds_nobody_up() -> None:
    """It runs into its deadline, and so says no price; the next one does."""
    budgets = _budgets("5 usd/day")
    slow, judge = Judge("paid", seconds=60), Judge("paid", usd=0.001)
    first = asyncio.create_task(_evaluated(_pipeline(budgets, slow, timeout_s=0.05)))
    while not slow.calls:
        await asyncio.sleep(0)
    async with asyncio.timeout(30):
        await asyncio.gather(first, *(_evaluated(_pipeline(budgets, judge)) for _ in range(10)))
    assert judge.calls == 10


async def test_the_first_reservation_is_made_at_the_known_price() -> None:
    """A dollar for a million tokens in, two for a million out: text, prompt and answer, as one call is estimated."""
    budgets = _budgets("5 usd/day", ask_price=lambda: (1.0, 2.0))
    trace = a_trace()
    _, lease = await budgets.admit(trace, ALWAYS, ["paid"])
    assert lease is not None
    expected = (trace.characters / 4 + 2_100 + 2 * 220) * 1_000
    assert lease.entries[0].amount == pytest.approx(expected, abs=1)


async def test_what_is_only_reserved_is_waited_for() -> None:
    """Room for two reservations and for twenty answers: all are judged, a few at a time, and none is called spent."""
    judge = Judge("paid", usd=0.0002, seconds=0.02)
    budgets = _budgets("0.005 usd/day", ask_price=lambda: (1.0, 1.0))
    results = await asyncio.gather(*(_evaluated(_pipeline(budgets, judge)) for _ in range(20)))
    assert [decision.refused for decision, _ in results] == [None] * 20
    assert judge.calls == 20


async def test_what_is_spent_is_not_waited_for() -> None:
    """Refused at once, also while other evaluations are under way."""
    budgets = _budgets("0.01 usd/day", ask_price=lambda: (1.0, 1.0))
    await _evaluated(_pipeline(budgets, Judge("paid", usd=0.008)))
    slow = asyncio.create_task(_evaluated(_pipeline(budgets, Judge("paid", usd=0.0, seconds=60))))
    async with asyncio.timeout(30):
        decision, _ = await _evaluated(_pipeline(budgets, Judge("paid", usd=0.008)))
    assert decision.refused == "the budget of 0.01 usd/day is spent"
    slow.cancel()
    await asyncio.gather(slow, return_exceptions=True)


async def test_what_stays_reserved_is_not_called_spent() -> None:
    """Another process holds all of it for longer than an evaluation lasts. No alert says that it is spent."""
    budgets = _budgets("0.01 usd/day", ask_price=lambda: (1.0, 1.0), expires_s=0.1)
    others = Line(scope="usd/86400/all", window_s=86_400, amount=9_999_000, limit=10_000_000)
    assert isinstance(budgets.ledger.reserve("others", [others], 600.0), list)
    decision, _ = await _evaluated(_pipeline(budgets, judge := Judge("paid")))
    assert decision.refused == "the budget of 0.01 usd/day is reserved by evaluations under way"
    assert judge.calls == 0
    assert budgets.spending() == []


async def test_calls_of_which_nothing_is_known_cost_what_was_reserved() -> None:
    """An evaluator that counts its calls and nothing else."""

    class Silent(Judge):
        async def evaluate(self, **given: object) -> Evaluation:
            result = await super().evaluate(**given)
            return dataclasses.replace(result, usage=Usage(cost_usd=None, calls=1))

    budgets = _budgets("20000 tokens/day")
    reserved = (a_trace().characters / 4) + 2_100 + 220
    await _evaluated(_pipeline(budgets, Silent("paid")))
    assert budgets.ledger.balance("tokens/86400/all", 86_400).spent == pytest.approx(reserved, abs=1)


async def test_a_call_that_ran_out_of_time_is_booked_with_its_estimate() -> None:
    """Nobody knows whether it is on the bill."""
    budgets = _budgets("20000 tokens/day")
    await _evaluated(_pipeline(budgets, Judge("paid", seconds=60), timeout_s=0.05))
    balance = budgets.ledger.balance("tokens/86400/all", 86_400)
    assert balance.spent == pytest.approx(a_trace().characters / 4 + 2_100 + 220, abs=1)
    assert balance.reserved == 0


async def test_an_evaluation_that_is_cut_off_is_settled_too() -> None:
    """A deadline and a cancellation leave no reservation behind."""
    budgets = _budgets("10 evaluations/day")
    await _evaluated(_pipeline(budgets, Judge("paid", seconds=60), timeout_s=0.05))
    slow = asyncio.create_task(_evaluated(_pipeline(budgets, judge := Judge("paid", seconds=60))))
    while not judge.calls:
        await asyncio.sleep(0)
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow
    balance = budgets.ledger.balance("evaluations/86400/all", 86_400)
    assert (balance.spent, balance.reserved) == (2, 0)


async def test_a_ledger_that_is_away_stops_what_costs_money() -> None:
    """And says so; what is free goes on."""

    class Away(MemoryLedger):
        def reserve(self, lease: str, lines: Sequence[Line], expires_s: float) -> list[Entry] | int:
            raise LedgerError("Redis: connection refused")

    budgets = Budgets([BudgetLimit.parse("5 usd/day")], Away(), paid=["paid"])
    decision, evaluations = await _evaluated(_pipeline(budgets, Judge("paid"), Judge("free", judge="embedded")))
    assert decision.refused == "the budget of 5 usd/day cannot be checked: its ledger cannot be reached"
    assert [each.score for each in evaluations] == [1.0, None]


@given(
    costs=st.lists(st.floats(0, 0.02), min_size=1, max_size=60),
    concurrency=st.integers(1, 10),
    slow=st.lists(st.booleans(), min_size=60, max_size=60),
)
async def test_dollars_are_overspent_by_no_more_than_the_calls_under_way(
    costs: list[float], concurrency: int, slow: list[bool]
) -> None:
    """Whatever calls cost and however many run at once, some of them into their deadline."""
    limit, spent, waiting = 0.05, [0.0], iter(zip(costs, slow, strict=False))
    budgets = _budgets(f"{limit} usd/day")

    async def work() -> None:
        for cost, hangs in waiting:
            judge = Judge("paid", usd=cost, seconds=60 if hangs else 0)
            _, evaluations = await _evaluated(_pipeline(budgets, judge, timeout_s=0.001 if hangs else 60))
            if evaluations and not hangs:
                spent[0] += cost

    await asyncio.gather(*(work() for _ in range(concurrency)))
    assert spent[0] <= limit + concurrency * 0.02 + 1e-9
