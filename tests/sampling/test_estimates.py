"""What a policy does to the mean of all traffic. `benchmarks/sampling_policy.py` is the long form, with budgets."""

from __future__ import annotations

import random
import statistics

from rag_otel.drift.history import moments
from rag_otel.model import RagTrace
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
