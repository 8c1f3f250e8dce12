"""What a policy does to the mean of all traffic. `benchmarks/sampling_policy.py` is the long form, with budgets."""

from __future__ import annotations

import random
import statistics

import pytest

from rag_otel.budgets.budget_limit import BudgetLimit
from rag_otel.budgets.budgets import Budgets
from rag_otel.budgets.ledger import MemoryLedger
from rag_otel.drift.history import moments
from rag_otel.model import RagTrace
from rag_otel.pipeline import Pipeline
from rag_otel.protocols import Sampler
from rag_otel.sampling.amount import RatioSampler
from rag_otel.sampling.policy import Coin, ForceRule, SamplingPolicy
from rag_otel.sampling.policy_sampler import PolicySampler
from tests.sampling.traces import a_trace

POLICY = SamplingPolicy(coin=Coin(rate=0.2), force=[ForceRule(name="suspicious", risk_above=0.5)])


async def _run(seed: int) -> tuple[float, float, tuple[float, float], float]:
    """(truth, weighted mean, its interval, plain mean) of one run; a tenth of the answers is bad and suspicious."""
    rng, risks, seen, scores = random.Random(seed), {}, [], []

    async def prescore(trace: RagTrace) -> float | None:
        return risks[trace.target]

    sampler = PolicySampler(POLICY, seed=seed, prescore=prescore)
    for _ in range(500):
        trace, bad = a_trace(rng), rng.random() < 0.1
        score = rng.betavariate(2, 5) if bad else min(1.0, rng.betavariate(9, 1))
        risks[trace.target] = 0.9 if bad else 0.1
        scores.append(score)
        decision = await sampler.select(trace)
        assert decision.sampled or not bad, "a suspicious trace was not judged"
        if decision.sampled:
            seen.append((0.0, score, 1.0 / decision.probability))
    found = moments(seen)
    assert found.mean is not None
    assert found.interval is not None
    plain = statistics.fmean(score for _, score, _ in seen)
    return statistics.fmean(scores), found.mean, found.interval, plain


async def test_the_weighted_mean_is_unbiased_and_its_interval_true() -> None:
    """Over 100 runs: no bias beyond four standard errors, the interval holds the truth in at least 93, the plain mean
    is far off."""
    runs = [await _run(seed) for seed in range(100)]
    errors = [mean - truth for truth, mean, _, _ in runs]
    assert abs(statistics.fmean(errors)) < 4 * statistics.stdev(errors) / len(runs) ** 0.5
    assert sum(low <= truth <= high for truth, _, (low, high), _ in runs) >= 93
    assert statistics.fmean(truth - plain for truth, _, _, plain in runs) > 0.1


def _sampler(kind: str, seed: int) -> Sampler:
    if kind == "ratio":
        return RatioSampler(0.2, seed=seed)
    return PolicySampler(SamplingPolicy(coin=Coin(rate=0.2)), seed=seed)


@pytest.mark.parametrize("kind", ["ratio", "policy"])
async def test_a_complaint_weighs_one_whatever_the_coin_said(kind: str) -> None:
    """Half of the bad answers are complained about, and all of these are evaluated: one by one they stand for
    themselves, those that the coin selects as well."""
    errors = []
    for seed in range(60):
        rng, seen, scores = random.Random(seed), [], []
        pipeline = Pipeline(conventions=(), sampler=_sampler(kind, seed), evaluators=())
        for _ in range(400):
            bad = rng.random() < 0.2
            trace = a_trace(rng, rating=0.0 if bad and rng.random() < 0.5 else None)
            scores.append(0.0 if bad else 1.0)
            decision, refused = await pipeline.admit(trace, pipeline.decide(trace.target))
            assert trace.rating is None or (refused, decision.probability) == (None, 1.0)
            if refused is None:
                seen.append((0.0, scores[-1], 1.0 / decision.probability))
        errors.append((moments(seen).mean or 0.0) - statistics.fmean(scores))
    assert abs(statistics.fmean(errors)) < 4 * statistics.stdev(errors) / len(errors) ** 0.5


async def test_once_the_coins_share_is_spent_forced_traces_are_no_part_of_the_estimate() -> None:
    """They are still evaluated. The mean stands for the traces that came while the coin could still pay."""
    errors, extra = [], 0
    for seed in range(60):
        rng, risks, seen, scores = random.Random(seed), {}, [], []

        async def prescore(trace: RagTrace, risks: dict[object, float] = risks) -> float | None:
            return risks[trace.target]

        budgets = Budgets([BudgetLimit.parse("150 evaluations/day")], MemoryLedger(), coin_share=0.2)
        sampler = PolicySampler(POLICY, seed=seed, prescore=prescore)
        pipeline = Pipeline(conventions=(), sampler=sampler, evaluators=(), budgets=budgets)
        coin_pays = True
        for _ in range(600):
            trace, bad = a_trace(rng), rng.random() < 0.1
            score = rng.betavariate(2, 5) if bad else min(1.0, rng.betavariate(9, 1))
            risks[trace.target] = 0.9 if bad else 0.1
            decision, refused = await pipeline.admit(trace, pipeline.decide(trace.target))
            assert not bad or refused is None
            if refused is not None and refused != "not_sampled":
                coin_pays = False
            if refused is None:
                await pipeline.evaluate(trace, decision)
            if refused is None and decision.in_sample:
                seen.append((0.0, score, 1.0 / decision.probability))
            extra += refused is None and not decision.in_sample
            if coin_pays:
                scores.append(score)
        assert not coin_pays
        errors.append((moments(seen).mean or 0.0) - statistics.fmean(scores))
    assert extra > 60
    assert abs(statistics.fmean(errors)) < 4 * statistics.stdev(errors) / len(errors) ** 0.5
