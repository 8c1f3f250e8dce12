"""What a sampling policy does to a mean: `python benchmarks/sampling_policy.py [--runs 1000]`.

Each run is two hours of simulated traffic through the product's own pipeline: three routes of different quality, a
burst, one service of which an upstream sampler has kept a half, suspicious answers that score low and that the cheap
judge mostly recognises, and a budget that the coin's own rate would exceed. Printed: how many suspicious traces were
judged, and how often the 95% interval of the weighted mean holds the mean of all traffic. In the last scenario rates do
not adapt, so that the coin's share is spent before the hour is over: there, it is the mean of the traffic until then.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from rag_otel.budgets.budget_limit import BudgetLimit
from rag_otel.budgets.budgets import Budgets
from rag_otel.budgets.ledger import MemoryLedger
from rag_otel.drift.history import moments
from rag_otel.model import Chunk, Evaluation, RagTrace, SamplingReason, SpanRef
from rag_otel.pipeline import Pipeline
from rag_otel.sampling.policy import Coin, CoinRate, ForceRule, PolicyBudget, SamplingPolicy
from rag_otel.sampling.policy_sampler import PolicySampler
from rag_otel.sampling.rates import CoinRates

START_S = 1_790_002_800.0
TRACES = 1_500
SECONDS = 7_200.0


class Truth:
    """An evaluator that knows the score of every answer: it is the answer."""

    name = "faithfulness"
    version = "1"
    judge_name = "truth"

    async def evaluate(
        self, *, question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
    ) -> Evaluation:
        return Evaluation(name=self.name, score=float(response))


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer of the traffic, before any sampling."""

    trace: RagTrace
    score: float
    risk: float
    suspicious: bool
    upstream: float


def traffic(rng: random.Random) -> list[Answer]:
    """Two hours, with three times the traffic in the second half hour."""
    found = []
    for _ in range(TRACES):
        at = rng.uniform(0, SECONDS) if rng.random() < 0.7 else rng.uniform(1_800, 3_600)
        route = rng.choices(("/ask", "/search", "/rare"), (88, 10, 2))[0]
        bad = rng.random() < {"/ask": 0.05, "/search": 0.15, "/rare": 0.3}[route]
        score = rng.betavariate(2, 5) if bad else (1.0 if rng.random() < 0.7 else rng.betavariate(8, 2))
        risk = rng.betavariate(6, 2) if bad else rng.betavariate(1, 8)
        mobile = rng.random() < 0.3
        trace = RagTrace(
            target=SpanRef(trace_id=f"{rng.getrandbits(128):032x}", span_id="1" * 16),
            question="q",
            response=repr(score),
            chunks=(Chunk(id="1", text="text", position=0, score=0.9),),
            route=route,
            service="mobile" if mobile else "web",
            start_ns=round((START_S + at) * 1e9),
            duration_ns=round(rng.expovariate(0.5) * 1e9),
            upstream_probability=0.5 if mobile else 1.0,
        )
        suspicious = risk > 0.7 or trace.duration_ns > 12e9
        found.append(
            Answer(trace=trace, score=score, risk=risk, suspicious=suspicious, upstream=0.5 if mobile else 1.0)
        )
    return sorted(found, key=lambda each: each.trace.start_ns)


@dataclass(kw_only=True)
class Totals:
    """What the runs came to."""

    errors: list[float] = field(default_factory=list)
    naive: list[float] = field(default_factory=list)
    held: int = 0
    suspicious: int = 0
    judged_suspicious: int = 0
    evaluated: list[int] = field(default_factory=list)
    changed_rates: int = 0


def policy(per_hour: float, coin_share: float, *, adaptive: bool = True) -> SamplingPolicy:
    search = CoinRate(route="/search", rate=0.5)
    return SamplingPolicy(
        coin=Coin(rate=0.4, strata=("route",), minimum=2 if adaptive else 0, rates=(search,), adaptive=adaptive),
        force=(ForceRule(name="suspicious", risk_above=0.7), ForceRule(name="slow", latency_above=12)),
        budget=PolicyBudget(evaluations_per_hour=per_hour, coin_share=coin_share),
    )


async def run(seed: int, chosen: SamplingPolicy, totals: Totals) -> None:
    rng = random.Random(seed)
    now = [START_S]
    limit = BudgetLimit.parse(f"{chosen.budget.evaluations_per_hour:g} evaluations/hour")
    budgets = Budgets([limit], MemoryLedger(lambda: now[0]), coin_share=chosen.budget.coin_share)
    risks: dict[str, float] = {}

    async def prescore(trace: RagTrace) -> float | None:
        return risks[trace.target.trace_id]

    rates = CoinRates(chosen.coin, window_s=chosen.window, allowance=budgets.allowance, clock=lambda: now[0])
    sampler = PolicySampler(chosen, seed=seed, rates=rates, prescore=prescore)
    pipeline = Pipeline(conventions=(), sampler=sampler, evaluators=(Truth(),), budgets=budgets)
    answers = traffic(rng)
    seen, rates_used = [], set()
    estimated: list[float] = []
    spent_in: int | None = None
    """The hour in which the coin's share is spent."""
    for each in answers:
        now[0] = each.trace.start_ns / 1e9
        hour = int(now[0] // 3600)
        if chosen.coin.adaptive or hour != spent_in:
            estimated.append(each.score)
        if rng.random() >= each.upstream:
            continue
        risks[each.trace.target.trace_id] = each.risk
        totals.suspicious += each.suspicious
        decision, refused = await pipeline.admit(each.trace, pipeline.decide(each.trace.target))
        rates_used.add(decision.rate)
        spent_in = hour if decision.reason == SamplingReason.BUDGET and decision.coin else spent_in
        if refused is None:
            result = await pipeline.evaluate(each.trace, decision)
            totals.judged_suspicious += each.suspicious
            if decision.in_sample:
                seen.append((now[0], result.evaluations[0].score or 0.0, 1.0 / decision.probability))
    truth = statistics.fmean(estimated)
    found = moments(seen)
    low, high = found.interval or (0.0, 1.0)
    totals.held += low <= truth <= high
    totals.errors.append((found.mean or 0.0) - truth)
    totals.naive.append(statistics.fmean(score for _, score, _ in seen) - truth)
    totals.evaluated.append(len(seen))
    totals.changed_rates += len(rates_used) > 3


async def main(runs: int) -> None:
    scenarios = {
        "budget for all suspicious traces": policy(200, 0.5),
        "budget of forced traces too small": policy(120, 0.8),
        "coin's share spent before the hour is over": policy(200, 0.4, adaptive=False),
    }
    print(f"{runs} runs of {TRACES} traces in two hours; errors of the mean score\n")
    for name, chosen in scenarios.items():
        totals = Totals()
        for seed in range(runs):
            await run(seed, chosen, totals)
        bias = statistics.fmean(totals.errors)
        standard = statistics.stdev(totals.errors) / math.sqrt(runs)
        print(f"{name} ({chosen.budget.evaluations_per_hour:g} an hour, {chosen.budget.coin_share:.0%} for the coin)")
        print(f"  suspicious traces judged     {totals.judged_suspicious:,} of {totals.suspicious:,}")
        print(f"  evaluated traces, mean       {statistics.fmean(totals.evaluated):.0f}")
        print(f"  runs whose rates adapted     {totals.changed_rates}")
        print(f"  weighted mean, bias          {bias:+.4f} (standard error {standard:.4f})")
        print(f"  plain mean, bias             {statistics.fmean(totals.naive):+.4f}")
        print(f"  95% interval holds the truth {totals.held / runs:.1%}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000)
    asyncio.run(main(parser.parse_args().runs))
