"""What adapted rates and strata do to a mean at an equal budget: `python benchmarks/sampling_strata.py [--runs 80]`.

Two hours of the traffic of `sampling_policy.py`, 100 evaluations an hour, no forced traces. Printed for each policy:
the root mean square error of the weighted mean score, of all traffic, of a route with a tenth and of one with a
fiftieth of it, and of the last twenty minutes of each hour; and in how many runs nothing was seen of them.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import statistics
from collections.abc import Callable

from sampling_policy import START_S, Answer, Truth, traffic

from rag_otel.budgets.budget_limit import BudgetLimit
from rag_otel.budgets.budgets import Budgets
from rag_otel.budgets.ledger import MemoryLedger
from rag_otel.pipeline import Pipeline
from rag_otel.sampling.policy import Coin, CoinRate, PolicyBudget, SamplingPolicy
from rag_otel.sampling.policy_sampler import PolicySampler
from rag_otel.sampling.rates import CoinRates

PER_HOUR = 100
PARTS: dict[str, Callable[[Answer], bool]] = {
    "all": lambda answer: True,
    "/search": lambda answer: answer.trace.route == "/search",
    "/rare": lambda answer: answer.trace.route == "/rare",
    "late": lambda answer: (answer.trace.start_ns / 1e9 - START_S) % 3_600 > 2_400,
}
COINS = {
    "rate that fits, known beforehand": Coin(rate=0.13, adaptive=False),
    "rate three times too high": Coin(rate=0.4, adaptive=False),
    "the same, adapted": Coin(rate=0.4),
    "the same, adapted, /rare at 1": Coin(rate=0.4, rates=(CoinRate(route="/rare", rate=1.0),)),
    "the same, adapted, strata of 2": Coin(rate=0.4, strata=("route",), minimum=2),
}


async def errors(seed: int, coin: Coin) -> dict[str, float | None]:
    """The error of the weighted mean of each part; None where nothing of it was evaluated."""
    rng, now = random.Random(seed), [START_S]
    budgets = Budgets([BudgetLimit.parse(f"{PER_HOUR} evaluations/hour")], MemoryLedger(lambda: now[0]), coin_share=1.0)
    policy = SamplingPolicy(coin=coin, budget=PolicyBudget(evaluations_per_hour=PER_HOUR, coin_share=1.0))
    rates = CoinRates(coin, window_s=policy.window, allowance=budgets.allowance, clock=lambda: now[0])
    sampler = PolicySampler(policy, seed=seed, rates=rates)
    pipeline = Pipeline(conventions=(), sampler=sampler, evaluators=(Truth(),), budgets=budgets)
    answers, seen = traffic(rng), []
    for answer in answers:
        now[0] = answer.trace.start_ns / 1e9
        decision, refused = await pipeline.admit(answer.trace, pipeline.decide(answer.trace.target))
        if refused is None:
            await pipeline.evaluate(answer.trace, decision)
            seen.append((answer, 1.0 / (decision.rate or 1.0)))
    found: dict[str, float | None] = {}
    for name, belongs in PARTS.items():
        mine = [(answer.score, weight) for answer, weight in seen if belongs(answer)]
        truth = statistics.fmean(answer.score for answer in answers if belongs(answer))
        mean = sum(score * weight for score, weight in mine) / sum(weight for _, weight in mine) if mine else None
        found[name] = None if mean is None else mean - truth
    return found


def main(runs: int) -> None:
    for name, coin in COINS.items():
        found = [asyncio.run(errors(seed, coin)) for seed in range(runs)]
        line = []
        for part in PARTS:
            known = [error for each in found if (error := each[part]) is not None]
            error = f"{math.sqrt(statistics.fmean(error**2 for error in known)):.3f}" if known else "-"
            line.append(f"{part} {error} ({runs - len(known)} unseen)")
        print(f"{name:34}", "  ".join(line))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=80)
    main(parser.parse_args().runs)
